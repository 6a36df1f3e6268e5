"""Rates expected without labels are observed as often as their intervals say."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.diagnostics import compare_expected, expected_performance
from cape.metrics import proportional_equality_matrix

METRICS = ("fpr", "fnr", "accuracy")


def look(clf, X, z):
    evidence = clf.evidence(X, sensitive_features=z)
    return evidence, clf.adapt(evidence=evidence)


@pytest.mark.parametrize(
    ("pool", "quantifier"), [("threshold", "spa"), ("resampled", "histogram")]
)
@pytest.mark.slow
def test_intervals_hold_their_level_on_labels_that_come_later(pool, quantifier):
    inside = {metric: [] for metric in METRICS}
    pairs = []
    for seed in range(8):
        d = make_synthetic(900, random_state=seed)
        clf = CapeClassifier(
            LogisticRegression(),
            pool=pool,
            quantifier=quantifier,
            cv=5,
            random_state=seed,
        )
        clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
        for n, prevalences in ((120, (0.2, 0.7)), (600, (0.5, 0.35))):
            for k in range(3):
                new = make_synthetic(
                    n, prevalences=prevalences, random_state=1000 * k + seed
                )
                evidence = clf.evidence(
                    new.data, sensitive_features=new.sensitive_features
                )
                adaptation = (
                    clf.adapt(evidence=evidence) if k == 0 else quietly(clf, evidence)
                )
                y_pred = clf.predict(
                    new.data,
                    sensitive_features=new.sensitive_features,
                    adaptation=adaptation,
                )
                expected = expected_performance(clf, evidence, adaptation, n_draws=400)
                both = compare_expected(
                    expected,
                    new.target,
                    y_pred,
                    sensitive_features=new.sensitive_features,
                )
                for metric in METRICS:
                    inside[metric] += both.xs(metric, level="metric")["inside"].tolist()
                pe = proportional_equality_matrix(
                    new.target, y_pred, sensitive_features=new.sensitive_features
                )
                low, high = expected.pairs().loc[(0, 1), ["pe_low", "pe_high"]]
                pairs.append(low <= pe.loc[0, 1] <= high)
    for metric, values in inside.items():
        assert np.mean(values) > 0.86, metric  # 96 rates of 8 models
    assert 0.9 < np.mean(list(inside.values())) < 0.995
    assert np.mean(pairs) > 0.85


def quietly(clf, evidence):
    """Adapt without the warning that one batch in a hundred gives."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clf.adapt(evidence=evidence)


def test_table_pairs_and_dict(fitted, batch):
    clf = fitted(pool="threshold")
    expected = expected_performance(clf, *look(clf, batch.X, batch.z))
    table = expected.table()
    for metric in METRICS:
        assert (table[f"{metric}_low"] <= table[metric]).all() and (
            table[metric] <= table[f"{metric}_high"]
        ).all()
    assert table["known"].all() and table["rows"].tolist() == [100, 100]
    assert list(expected.pairs().index) == [(0, 1), (1, 0)]
    content = json.loads(json.dumps(expected.to_dict(), allow_nan=False))
    assert content["groups"][0]["fpr"] == table["fpr"].iloc[0]
    assert len(content["pairs"]) == 2 and content["level"] == 0.95
    again = expected_performance(clf, *look(clf, batch.X, batch.z))
    assert again == expected  # seeded


def test_unknown_rates_are_nan_between_0_and_1(fitted, batch):
    """With three rows a class left out of the bag, nothing is known of a member."""
    d = make_synthetic(60, random_state=0)
    clf = CapeClassifier(
        LogisticRegression(),
        pool="resampled",
        prevalences=[0.02, 0.98],
        cv=2,
        scores="folds",
        random_state=0,
    ).fit(d.data, d.target)
    evidence = clf.evidence(d.data)
    rates = clf.models_["everyone"].pool.rates
    adaptation = clf.adapt(evidence=evidence)
    member = adaptation.groups["everyone"].member
    assert np.isnan(rates.fpr[member]) or np.isnan(rates.tpr[member])
    found = expected_performance(clf, evidence, adaptation).groups["everyone"]
    assert not found.known and np.isnan(found.accuracy)
    assert (found.accuracy_low, found.accuracy_high) == (0.0, 1.0)
    unknown = "fpr" if np.isnan(rates.fpr[member]) else "fnr"
    assert (getattr(found, f"{unknown}_low"), getattr(found, f"{unknown}_high")) == (
        0.0,
        1.0,
    )
    assert json.dumps(
        expected_performance(clf, evidence, adaptation).to_dict(), allow_nan=False
    )


def test_a_rate_without_rows_of_its_class_is_undefined_and_not_outside(fitted, batch):
    clf = fitted(pool="threshold")
    evidence, adaptation = look(clf, batch.X, batch.z)
    expected = expected_performance(clf, evidence, adaptation, n_draws=50)
    all_positive = np.ones(len(batch.z), dtype=int)
    y_pred = clf.predict(batch.X, sensitive_features=batch.z, adaptation=adaptation)
    both = compare_expected(
        expected, all_positive, y_pred, sensitive_features=batch.z, pos_label=1
    )
    fpr = both.xs("fpr", level="metric")
    assert fpr["observed"].isna().all()
    assert fpr["inside"].all()
    fnr = both.xs("fnr", level="metric")
    assert not fnr["observed"].isna().any()


def test_labels_must_have_the_expected_groups(fitted, batch):
    clf = fitted(pool="threshold")
    expected = expected_performance(clf, *look(clf, batch.X, batch.z))
    with pytest.raises(ValueError, match="without 1"):
        compare_expected(expected, [0, 1], [0, 1], sensitive_features=[0, 0])


def test_foreign_evidence_is_refused(fitted, batch):
    clf, other = fitted(pool="threshold"), fitted(pool="resampled")
    evidence, adaptation = look(other, batch.X, batch.z)
    with pytest.raises(ValueError, match="must come from this model"):
        expected_performance(clf, evidence, adaptation)
