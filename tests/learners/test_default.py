"""The learner of a user who names none."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier
from sklearn.metrics import log_loss

from cape._learners._choice import columns_to_encode, default_candidates, tabular


@pytest.mark.parametrize(("n_rows", "n_candidates"), [(100, 1), (2999, 1), (3000, 2)])
def test_small_tables_have_one_candidate(n_rows, n_candidates):
    assert len(default_candidates(n_rows)) == n_candidates


def test_default_boosting_is_a_candidate_where_rows_are_plenty():
    assert "boosting, default" in default_candidates(20_000)


def test_the_first_candidate_is_the_mean_probability_of_its_members():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 2))
    y = (X[:, 0] + random.normal(size=400) > 0).astype(int)
    vote = clone(next(iter(default_candidates(400).values())))
    assert isinstance(vote, VotingClassifier)
    vote.set_params(boosting__random_state=0).fit(X, y)
    means = np.mean([member.predict_proba(X) for member in vote.estimators_], axis=0)
    np.testing.assert_allclose(vote.predict_proba(X), means)


def test_missing_numbers_do_not_stop_it():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int)
    X[::3, 1] = np.nan
    vote = clone(next(iter(default_candidates(300).values())))
    vote.fit(X, y)
    assert log_loss(y, vote.predict_proba(X)) < 0.4


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


def test_without_skrub_the_error_names_the_columns_and_the_extra(monkeypatch):
    import builtins

    original = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "skrub":
            raise ImportError("no skrub")
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"'race'.*cape-fair\[app\]"):
        tabular(None, ["race"])
