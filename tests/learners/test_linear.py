"""Many logistic regressions as one product give the scores and votes of each alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from cape._learners import LinearStack
from cape._learners import RowsOf, as_array, read_rows
from cape.histogram import HALF, round_scores


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(5000, 6))
    y = (X @ random.normal(size=6) + random.normal(size=5000) > 0).astype(int)
    return (
        X,
        y,
        [LogisticRegression(C=c).fit(X[:500], y[:500]) for c in (0.01, 1.0, 100.0)],
    )


def plain_scores(model, X):
    return round_scores(model.predict_proba(X)[:, 1])


@pytest.mark.parametrize(
    "rows",
    [
        None,
        slice(9, 4000),
        np.arange(0, 5000, 3),
        np.array([4999, 0, 7]),
        np.array([], dtype=int),
    ],
)
def test_the_stack_gives_what_predict_proba_gives(data, rows):
    X, _, models = data
    part = X if rows is None else X[rows]
    scores, votes = read_rows(RowsOf(X, rows), 1, scoring=models[:1], voting=models[1:])
    assert scores.shape == (1, len(part)) and votes.shape == (2, len(part))
    if len(part):
        # The order of additions in a product may change the last bit of a score, and so its rounding once in a million.
        assert np.abs(scores[0] - plain_scores(models[0], part)).max() <= 1
        for vote, model in zip(votes, models[1:], strict=True):
            np.testing.assert_array_equal(vote, plain_scores(model, part) > HALF)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["numpy", "pandas"])
def test_tables_of_numbers_take_the_fast_path(data, dtype, kind):
    X, y, _ = data
    table = (
        X.astype(dtype)
        if kind == "numpy"
        else pd.DataFrame(X.astype(dtype), columns=list("abcdef"))
    )
    model = LogisticRegression().fit(table, y)
    assert as_array(table) is not None
    scores = read_rows(table, 1, scoring=[model])[0][0]
    # The learner itself computes in single precision if X is; the stack never does.
    assert np.abs(scores - plain_scores(model, table)).max() <= (
        1 if dtype == np.float64 else 2**12
    )
    parts = [
        read_rows(part, 1, scoring=[model])[0][0]
        for part in (table[:7], table[7:3000], table[3000:])
    ]
    np.testing.assert_array_equal(np.concatenate(parts), scores)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"a": pd.Categorical(["x", "y"])}),
        pd.Series([1.0, 2.0]),
        np.array([[1, 2]]),
        np.array([["1"]], dtype=object),
        [[1.0, 2.0]],
    ],
)
def test_other_tables_do_not(table):
    assert as_array(table) is None


def test_a_table_with_integers_among_floats_is_one_of_numbers():
    table = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    np.testing.assert_array_equal(as_array(table), [[1, 0.5], [2, 1.5]])


def test_bad_numbers_get_the_message_of_the_learner(data):
    X, _, models = data
    for bad in (np.nan, np.inf, -np.inf):
        spoilt = X.copy()
        spoilt[1234, 3] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            read_rows(spoilt, 1, scoring=models[:1], voting=models)
    with pytest.raises(ValueError, match="features"):
        read_rows(X[:, :3], 1, scoring=models[:1])


def test_models_of_another_kind_are_not_stacked(data):
    X, y, models = data
    assert LinearStack.of([models[0], GaussianNB().fit(X, y)], 1) is None
    assert LinearStack.of([LogisticRegression().fit(X, y + 5)], 1) is None
    assert (
        LinearStack.of([LogisticRegression().fit(X, np.arange(len(y)) % 3)], 1) is None
    )
    assert LinearStack.of([models[0], LogisticRegression().fit(X[:, :2], y)], 1) is None

    class Mine(LogisticRegression):
        def predict_proba(self, X):
            return np.tile([0.25, 0.75], (len(X), 1))

    mine = Mine().fit(X, y)
    assert LinearStack.of([mine], 1) is None
    assert (read_rows(X, 1, scoring=[mine])[0] == round_scores(0.75)).all()


@given(st.one_of(st.floats(-1e-8, 1e-8), st.floats(-50, 50)))
@settings(max_examples=300, deadline=None)
def test_a_vote_is_a_rounded_score_above_one_half(decision):
    model = LogisticRegression()
    model.classes_, model.coef_, model.intercept_ = (
        np.array([0, 1]),
        np.array([[1.0]]),
        np.array([0.0]),
    )
    _, votes = read_rows(np.array([[decision]]), 1, voting=[model])
    if abs(decision - 2.0**-31) > 1e-15:
        assert votes[0, 0] == (round_scores(expit(decision)) > HALF)
