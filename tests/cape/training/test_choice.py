"""Learners by name, and for a user who names none."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, persist
from cape.training._choice import (
    LEARNERS,
    columns_to_encode,
    default_candidates,
    make_learner,
)

every_name = pytest.mark.parametrize("name", LEARNERS)


@every_name
def test_a_tabular_learner_takes_text_dates_and_missing_values(name):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 80)
    table = pd.DataFrame(
        {
            "age": np.where(random.random(80) < 0.2, np.nan, 40 + 20 * y),
            "job": random.choice(["nurse", "clerk"], 80),
            "when": pd.Timestamp("2020-01-01"),
        }
    )
    accuracy = make_learner(name).fit(table, y).score(table, y)
    assert accuracy > 0.7


def test_another_name_is_an_error():
    message = "learner must be one of 'boosting', 'logistic', got 'forest'"
    with pytest.raises(ValueError, match=message):
        make_learner("forest")


@pytest.mark.parametrize(
    ("n_rows", "n_candidates"), [(100, 1), (19_999, 1), (20_000, 2)]
)
def test_small_tables_have_one_candidate(n_rows, n_candidates):
    assert len(default_candidates(n_rows)) == n_candidates


def test_the_first_candidate_is_the_mean_probability_of_its_members():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 2))
    y = (X[:, 0] + random.normal(size=400) > 0).astype(int)
    vote = clone(next(iter(default_candidates(400).values())))
    assert isinstance(vote, VotingClassifier)
    vote.set_params(boosting__random_state=0).fit(X, y)
    means = np.mean([member.predict_proba(X) for member in vote.estimators_], axis=0)
    np.testing.assert_allclose(vote.predict_proba(X), means)


def test_columns_to_encode_are_text_categories_dates_and_gaps():
    table = pd.DataFrame(
        {
            "age": [1.0, 2.0],
            "free": [True, False],
            "race": ["a", "b"],
            "level": pd.Categorical(["x", "y"]),
            "day": pd.to_datetime(["2024-01-01", "2024-01-02"]),
            "gap": [1.0, np.nan],
        }
    )
    assert columns_to_encode(table) == ["race", "level", "day", "gap"]
    assert columns_to_encode(table[["age", "free"]]) == []
    assert columns_to_encode(table[["age"]].to_numpy()) == []


def boosting(**settings):
    return HistGradientBoostingClassifier(max_iter=5, **settings)


def labelled_rows(n, labels=("no", "yes"), seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    X = random.normal(size=(n, 3)) + y[:, None]
    return X, np.array(labels)[y], random.integers(0, 2, n)


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes")])
def test_the_better_of_two_candidates_is_chosen(labels, monkeypatch):
    """The logistic member knows nothing here, so that boosting alone is better."""
    X, y, z = labelled_rows(600, labels)
    middle = np.abs(X[:, 0]) < 0.7
    y = np.array(labels)[middle.astype(int)]
    members = [("line", LogisticRegression()), ("trees", boosting(learning_rate=0.5))]
    candidates = {
        "vote": VotingClassifier(members, voting="soft"),
        "trees": boosting(learning_rate=0.5),
    }
    monkeypatch.setattr(
        "cape.training._train.default_candidates", lambda *shape, **settings: candidates
    )
    clf = CapeClassifier(random_state=0).fit(X, y, sensitive_features=z)
    assert clf.candidates_["chosen"].to_dict() == {"vote": False, "trees": True}
    assert clf.candidates_["log_loss"].notna().all()
    for model in clf.models_.values():
        assert type(model.scoring_models[0]) is HistGradientBoostingClassifier
    assert clf.score(X, y, sensitive_features=z) > 0.9


@pytest.mark.parametrize("few_matter", [True, False])
def test_with_many_columns_boosting_reads_some_and_logistic_regression_all(
    few_matter, tmp_path
):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 400)
    z = random.choice(["a", "b"], 400)
    X = random.normal(size=(400, 1001))
    if few_matter:
        # In the middle of its range, where no straight line finds it.
        X[:, :5] *= np.where(y, 0.2, 1.5)[:, None]
        X[:, 5] += 1.5 * y
    else:
        X += 0.12 * y[:, None]
    clf = CapeClassifier(cv=2, random_state=0).fit(X, y, sensitive_features=z)
    mean, logistic = clf.candidates_.index
    assert mean == "mean of three (boosting: 300 columns)"
    chosen = mean if few_matter else logistic
    assert clf.candidates_.index[clf.candidates_["chosen"]].tolist() == [chosen]
    # A model file holds it without any type that a user has to vouch for.
    persist.save(clf, tmp_path / "wide.cape")
    again = persist.load(tmp_path / "wide.cape")
    groups = {"sensitive_features": z}
    np.testing.assert_array_equal(again.predict(X, **groups), clf.predict(X, **groups))
