"""Is it a prior shift? Level and power with classifiers, and how the result reads."""

import json

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, Evidence
from cape.datasets import make_synthetic
from cape.diagnostics import prior_shift_test


def data(n, prevalences, seed):
    d = make_synthetic(n, prevalences=prevalences, random_state=seed)
    return d.data.to_numpy(), d.target.to_numpy(), d.sensitive_features.to_numpy()


def test_level_and_power_on_the_papers_generator():
    """Logistic regression, refitted; 5 is half the deviation of V within a class."""
    level, power = [], []
    for seed in range(24):
        X, y, z = data(1600, (0.5, 0.5), seed)
        clf = CapeClassifier(
            LogisticRegression(), pool="threshold", cv=5, random_state=seed
        )
        clf.fit(X, y, sensitive_features=z)
        for prevalences in ((0.2, 0.8), (0.5, 0.3)):
            X, _, z = data(1000, prevalences, 1000 + seed)
            level += (
                prior_shift_test(clf, X, sensitive_features=z)
                .table()["p_value"]
                .tolist()
            )
            power += (
                prior_shift_test(clf, X + np.array([0, 5]), sensitive_features=z)
                .table()["p_value"]
                .tolist()
            )
    assert 0 < np.mean(np.array(level) < 0.05) < 0.13  # 96 tests
    assert np.mean(np.array(power) < 0.05) > 0.5


def test_level_of_boosting_with_folds():
    learner = HistGradientBoostingClassifier(
        max_iter=15, max_leaf_nodes=6, min_samples_leaf=10
    )
    folds, refit = [], []
    for seed in range(14):
        X, y, z = data(400, (0.5, 0.5), seed)
        X_new, _, z_new = data(600, (0.3, 0.7), 1000 + seed)
        for found, scores in ((folds, "folds"), (refit, "refit")):
            clf = CapeClassifier(
                learner, pool="threshold", cv=5, scores=scores, random_state=seed
            )
            clf.fit(X, y, sensitive_features=z)
            tested = prior_shift_test(clf, X_new, sensitive_features=z_new)
            assert tested.sound == (scores == "folds")
            found += tested.table()["p_value"].tolist()
    assert (
        np.mean(np.array(folds) < 0.05) < 0.2
    )  # 28 tests; the long run is benchmarks/shift_test.py
    assert np.mean(np.array(refit) < 0.05) > np.mean(np.array(folds) < 0.05)


@pytest.fixture
def tested(fitted, batch):
    return prior_shift_test(
        fitted(pool="threshold"),
        batch.X + np.array([25, 0]),
        sensitive_features=batch.z,
    )


def test_the_table_and_the_dict_say_the_same(tested):
    table, content = (
        tested.table(),
        json.loads(json.dumps(tested.to_dict(), allow_nan=False)),
    )
    assert list(table.columns) == [
        "rows",
        "p_value",
        "p_adjusted",
        "effect",
        "rejected",
        "tested",
        "sound",
    ]
    assert table["p_value"].tolist() == [
        entry["p_value"] for entry in content["groups"]
    ]
    assert content["rejected"] and content["sound"] and tested.rejected
    assert (table["p_adjusted"] >= table["p_value"]).all()
    assert (table["effect"] > 0.1).all()


def test_it_reads_well(tested, fitted, batch):
    assert "0: not a prior shift (p = " in repr(tested)
    assert "of 100 rows unexplained" in repr(tested)
    calm = prior_shift_test(
        fitted(pool="threshold"), batch.X, sensitive_features=batch.z
    )
    assert "no sign against a prior shift" in repr(calm)
    few = prior_shift_test(
        fitted(pool="threshold"), batch.X[:9], sensitive_features=batch.z[:9]
    )
    assert (
        "too few to test" in repr(few)
        and not few.rejected
        and not few.table()["tested"].any()
    )


def test_a_test_that_is_not_sound_says_what_to_do(train, batch):
    clf = CapeClassifier(
        HistGradientBoostingClassifier(max_iter=3),
        scores="refit",
        cv=2,
        random_state=0,
    )
    clf.fit(train.X, train.y, sensitive_features=train.z)
    found = prior_shift_test(clf, batch.X, sensitive_features=batch.z)
    assert not found.sound and not found.table()["sound"].any()
    assert "scores='folds'" in found.advice and found.advice in repr(found)
    assert found.to_dict()["advice"] == found.advice


def test_evidence_serves_as_well_as_rows(fitted, batch):
    clf = fitted(pool="threshold")
    evidence = clf.evidence(batch.X, sensitive_features=batch.z)
    assert prior_shift_test(clf, evidence=evidence) == prior_shift_test(
        clf, batch.X, sensitive_features=batch.z
    )


def test_wrong_calls_are_named(fitted, batch):
    clf = fitted(pool="threshold")
    evidence = clf.evidence(batch.X, sensitive_features=batch.z)
    with pytest.raises(ValueError, match="exactly one of X and evidence"):
        prior_shift_test(clf)
    with pytest.raises(ValueError, match="exactly one of X and evidence"):
        prior_shift_test(clf, batch.X, evidence=evidence)
    with pytest.raises(ValueError, match="sensitive_features must be None"):
        prior_shift_test(clf, evidence=evidence, sensitive_features=batch.z)
    with pytest.raises(ValueError, match="must come from this model"):
        prior_shift_test(clf, evidence=Evidence("another"))
    with pytest.raises(ValueError, match="alpha must be"):
        prior_shift_test(clf, evidence=evidence, alpha=1.5)


def test_no_rows_give_no_test(fitted):
    clf = fitted(pool="threshold")
    found = prior_shift_test(clf, evidence=Evidence(clf.fingerprint_))
    assert not found.rejected and len(found.table()) == 0
