"""Many logistic regressions as one product give the scores and votes of each alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from cape._histogram import HALF, round_scores
from cape._learners._scoring import (
    LinearStack,
    Rows,
    SharedProducts,
    as_array,
    score_one_by_one,
    score_rows,
    score_with_models,
    stack_of_groups,
    vote_on_rows,
)


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
    scores, votes = score_with_models(
        Rows(X, rows), 1, scoring=models[:1], voting=models[1:]
    )
    assert scores.shape == (1, len(part)) and votes.shape == (2, len(part))
    if len(part):
        # The order of additions in a product may change the last bit of a score, and
        # so its rounding once in a million.
        assert np.abs(scores[0] - plain_scores(models[0], part)).max() <= 1
        for vote, model in zip(votes, models[1:], strict=True):
            np.testing.assert_array_equal(vote, plain_scores(model, part) > HALF)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["numpy", "pandas"])
def test_tables_of_numbers_take_the_fast_path(data, dtype, kind):
    X, y, _ = data
    table = X.astype(dtype)
    if kind == "pandas":
        table = pd.DataFrame(table, columns=list("abcdef"))
    model = LogisticRegression().fit(table, y)
    assert as_array(table) is not None
    scores = score_rows(model, table, 1)
    # The learner itself computes in single precision if X is; the stack never does.
    assert np.abs(scores - plain_scores(model, table)).max() <= (
        1 if dtype == np.float64 else 2**12
    )
    parts = [
        score_rows(model, part, 1) for part in (table[:7], table[7:3000], table[3000:])
    ]
    np.testing.assert_array_equal(np.concatenate(parts), scores)


def test_bad_numbers_get_the_message_of_the_learner(data):
    X, _, models = data
    for bad in (np.nan, np.inf, -np.inf):
        spoilt = X.copy()
        spoilt[1234, 3] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            score_with_models(spoilt, 1, scoring=models[:1], voting=models)
    with pytest.raises(ValueError, match="features"):
        score_rows(models[0], X[:, :3], 1)


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
    assert (score_rows(mine, X, 1) == round_scores(0.75)).all()


@given(st.one_of(st.floats(-1e-8, 1e-8), st.floats(-50, 50)))
@settings(max_examples=300, deadline=None)
def test_a_vote_is_a_rounded_score_above_one_half(decision):
    model = LogisticRegression()
    model.classes_ = np.array([0, 1])
    model.coef_ = np.array([[1.0]])
    model.intercept_ = np.array([0.0])
    votes = vote_on_rows(model, np.array([[decision]]), 1)
    if abs(decision - 2.0**-31) > 1e-15:
        assert votes[0] == (round_scores(expit(decision)) > HALF)


@pytest.mark.parametrize("n_scoring", [0, 1, 2, 3])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_product_and_its_plain_twin_agree(data, n_scoring, order):
    X, _, models = data
    rows = Rows(np.asarray(X, order=order), np.arange(3, 4999, 2))
    fast = LinearStack.of(models, 1).read(rows, n_scoring=n_scoring)
    plain = score_one_by_one(rows, 1, models[:n_scoring], models[n_scoring:])
    assert fast[0].shape == plain[0].shape
    assert np.abs(fast[0] - plain[0]).max(initial=0) <= 1
    np.testing.assert_array_equal(fast[1], plain[1])


@pytest.mark.parametrize("numbers", [1, 64 * 6, 1000])
def test_blocks_of_rows_do_not_show(data, numbers, monkeypatch):
    X, _, models = data
    stack = LinearStack.of(models, 1)
    expected = stack.read(Rows(X), n_scoring=2)
    monkeypatch.setattr("cape._learners._scoring._NUMBERS_IN_A_BLOCK", numbers)
    for one, other in zip(stack.read(Rows(X), n_scoring=2), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_weights_are_kept_in_double_precision(data):
    X, y, _ = data
    model = LogisticRegression().fit(X.astype(np.float32), y)
    # Before scikit-learn 1.9 they are double anyway.
    model.coef_ = model.coef_.astype(np.float32)
    assert LinearStack.of([model], 1).weights.dtype == np.float64


def test_the_first_of_two_classes_is_not_stacked_as_the_positive_one(data):
    X, _, models = data
    assert LinearStack.of(models, 0) is None
    np.testing.assert_array_equal(
        score_rows(models[0], X, 0), round_scores(models[0].predict_proba(X)[:, 0])
    )


def joined(models_of_groups, array):
    stacks = [LinearStack.of(models, 1) for models in models_of_groups]
    return stack_of_groups(stacks, array)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("step", [2, 7])
def test_shared_products_and_copied_rows_agree(data, order, step):
    X, _, models = data
    array = np.asarray(X, order=order)
    stack = joined([models[:1], models[1:]], array)
    piece = slice(1000, 4000)
    shared = SharedProducts(array, piece, stack)
    for own, first in ((models[:1], 1000), (models[1:], 1003)):
        index = np.arange(first, piece.stop, step)
        picked = Rows(array, index, shared=shared)
        fast, _ = score_with_models(picked, 1, scoring=own)
        plain, _ = score_one_by_one(Rows(array, index), 1, own, [])
        assert fast.shape == plain.shape
        assert np.abs(fast - plain).max() <= 1
        votes = score_with_models(picked, 1, voting=own)[1]
        np.testing.assert_array_equal(votes, plain > HALF)


def test_products_are_shared_only_where_that_pays(data):
    X, _, models = data
    model = models[0]
    two_groups = joined([[model], [models[1]]], X)
    np.testing.assert_array_equal(
        two_groups.weights, np.vstack([model.coef_, models[1].coef_])
    )
    # One group lies side by side, and many groups waste products on each other's rows.
    assert joined([], X) is None
    assert joined([[model]], X) is None
    assert joined([[model]] * 20, X) is None
    assert joined([[model] * 11] * 2, X) is None
    # Other tables are not multiplied.
    assert joined([[model]] * 2, None) is None
    assert joined([[model]] * 2, X[:, :2]) is None


def test_a_bad_number_stops_only_the_group_that_has_it(data):
    X, _, models = data
    spoilt = X.copy()
    spoilt[1, 3] = np.nan
    stack = joined([models[:1], models[1:2]], spoilt)
    shared = SharedProducts(spoilt, slice(0, 100), stack)
    even = Rows(spoilt, np.arange(0, 100, 2), shared=shared)
    odd = Rows(spoilt, np.arange(1, 100, 2), shared=shared)
    scores = score_rows(models[0], even, 1)
    assert np.abs(scores - plain_scores(models[0], X[:100:2])).max() <= 1
    with pytest.raises(ValueError, match="NaN"):
        score_rows(models[1], odd, 1)
