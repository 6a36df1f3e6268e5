"""Reading the scores of fitted learners."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cape.quantify import round_scores
from cape.training._scoring import (
    LinearStack,
    Rows,
    as_array,
    score_one_by_one,
    score_rows,
    score_with_models,
    vote_on_rows,
)

ONE = 2**32  # the unit of rounded scores
HALF = ONE // 2


@pytest.mark.parametrize("positive", [0, 1])
def test_scores_are_the_probabilities_of_the_positive_label(train, positive):
    model = GaussianNB().fit(train.X, train.y)
    expected = round_scores(model.predict_proba(train.X)[:, positive])
    np.testing.assert_array_equal(score_rows(model, train.X, positive), expected)
    assert score_rows(model, train.X[:0], positive).shape == (0,)


def test_a_model_that_never_saw_a_positive_scores_zero(train):
    only = train.y == 0
    model = DecisionTreeClassifier().fit(train.X[only], train.y[only])
    assert score_rows(model, train.X, 1).tolist() == [0] * 600
    assert (score_rows(model, train.X, 0) == 2**32).all()


class Returns:
    """A model that returns whatever it was told to."""

    def __init__(self, probabilities, classes=(0, 1)):
        self.probabilities = probabilities
        self.classes_ = np.array(classes)

    def predict_proba(self, X):
        return self.probabilities


@pytest.mark.parametrize(
    "probabilities", [np.ones(3), np.ones((3, 1)), np.ones((3, 3)) / 3]
)
def test_probabilities_of_another_shape_are_refused(probabilities):
    with pytest.raises(
        ValueError, match="must give probabilities of 2 classes, got an array of shape"
    ):
        score_rows(Returns(probabilities), np.zeros((3, 1)), 1)


@pytest.mark.parametrize("bad", [1.5, -0.5, np.nan])
def test_probabilities_outside_the_unit_interval_are_refused(bad):
    model = Returns(np.array([[0.5, 0.5], [1 - bad, bad]]))
    with pytest.raises(ValueError):
        score_rows(model, np.zeros((2, 1)), 1)


def test_a_model_without_classes_has_the_positive_one_second():
    class Bare:
        def predict_proba(self, X):
            return np.tile([0.75, 0.25], (len(X), 1))

    assert score_rows(Bare(), np.zeros((2, 1)), "yes").tolist() == [ONE // 4] * 2


class _OneRow:
    """A learner that says the same of all rows, once."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        return np.array([[0.25, 0.75]])


@pytest.mark.parametrize("reading", [score_rows, vote_on_rows])
def test_probabilities_of_another_number_of_rows_are_refused(reading):
    with pytest.raises(ValueError, match="probabilities of 3 rows, got 1"):
        reading(_OneRow(), np.zeros((3, 2)), 1)
    assert len(reading(_OneRow(), np.zeros((1, 2)), 1)) == 1


# Rows of a table: picked without a copy where that can be, and never changed.


X = np.arange(24.0).reshape(8, 3)
KINDS = {
    "numpy": np.asarray,
    "columns first": np.asfortranarray,
    "pandas": lambda X: pd.DataFrame(X, columns=list("abc")),
    "polars": lambda X: pl.DataFrame(X, schema=list("abc")),
    "sparse": sparse.csr_array,
    "list": lambda X: X.tolist(),
}
INDICES = {
    "all": None,
    "slice": slice(2, 6),
    "empty slice": slice(3, 3),
    "numbers": np.array([0, 2, 7]),
    "no numbers": np.array([], dtype=int),
}


def to_numbers(table):
    if sparse.issparse(table):
        return table.toarray()
    return np.asarray(table, dtype=float).reshape(-1, 3)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_rows_of_any_table_are_a_table_of_that_kind(kind, index):
    table = kind(X)
    rows = Rows(table, index)
    expected = X if index is None else X[index]
    assert len(rows) == len(expected)
    assert type(rows.table()) is type(table)
    np.testing.assert_array_equal(to_numbers(rows.table()), expected)


def test_all_rows_and_slices_are_not_copied():
    assert Rows(X).table() is X
    assert np.shares_memory(Rows(X, slice(1, 5)).table(), X)


# The numbers of a table


def test_integers_among_floats_are_numbers():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    np.testing.assert_array_equal(as_array(frame), [[1, 0.5], [2, 1.5]])


@pytest.mark.parametrize(
    "table",
    [
        X.astype(int),
        X.astype(bool),
        X.astype(object),
        X[:, 0],
        X[None],
        np.ma.array(X),
        sparse.csr_array(X),
        X.tolist(),
        pd.DataFrame({"a": [True, False]}),
        pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}),
        pd.DataFrame({"a": [1.0], "b": ["x"]}),
        pd.DataFrame({"a": [1, 2]}),
        pd.DataFrame({"a": pd.array([1.5, 2.5], dtype="Float64")}),
        pl.DataFrame({"a": [1.5, 2.5]}),
        None,
    ],
)
def test_everything_else_goes_to_the_learner_as_it_came(table):
    assert as_array(table) is None


# Many logistic regressions as one product give the scores and votes of each alone.


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


@pytest.mark.parametrize(
    "parameters", [{}, {"with_mean": False}, {"with_std": False}], ids=str
)
def test_a_scaler_is_part_of_the_weights(data, parameters):
    X, y, _ = data
    X = 100 * X + 2000
    model = make_pipeline(StandardScaler(**parameters), LogisticRegression(C=1e-4))
    model.fit(X, y)
    assert LinearStack.of([model], 1) is not None
    scores = score_rows(model, X, 1)
    assert np.abs(scores - plain_scores(model, X)).max() <= 1


def test_a_scaler_that_shifts_far_is_left_to_itself(data):
    X, y, _ = data
    # The product of the weights and a row would have no exact digits left.
    far = X + 1e12
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(far, y)
    assert LinearStack.of([model], 1) is None
    assert (score_rows(model, far, 1) == plain_scores(model, far)).all()


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


@pytest.mark.parametrize("numbers", [1, 64 * 6, 1000])
def test_blocks_of_rows_do_not_show(data, numbers, monkeypatch):
    X, _, models = data
    stack = LinearStack.of(models, 1)
    expected = stack.read(Rows(X), n_scoring=2)
    monkeypatch.setattr("cape.training._scoring._NUMBERS_IN_A_BLOCK", numbers)
    for one, other in zip(stack.read(Rows(X), n_scoring=2), expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_features", [9, 12, 64, 65])
@pytest.mark.parametrize("n_models", [1, 4, 5])
def test_products_are_the_same_whatever_comes_first(n_features, n_models):
    X = np.random.default_rng(0).normal(size=(5000, n_features))
    y = X[:, 0] > 0
    models = [LogisticRegression(C=0.01 * 2**i).fit(X, y) for i in range(n_models)]
    stack = LinearStack.of(models, True)
    plain, _ = score_one_by_one(Rows(X), True, models, [])
    for array in (X, np.asfortranarray(X)):
        fast, _ = stack.read(Rows(array), n_scoring=n_models)
        assert np.abs(fast - plain).max() <= 1
