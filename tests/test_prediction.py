"""A batch may be read in pieces, by threads and by shared products: nothing of that shows in the answers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from cape import CapeClassifier
from cape import _prediction as deciding
from cape._learners import RowsOf, Scratch

FEATURES = list("abcd")


def table(n, groups, seed):
    random = np.random.default_rng(seed)
    z = random.integers(0, groups, n)
    y = (random.random(n) < 0.3 + 0.4 * z / groups).astype(int)
    return random.normal(size=(n, 4)) + y[:, None], y, z


def fit(learner, pool, groups, scores="refit", kind=np.asarray):
    X, y, z = table(300 * groups, groups, 0)
    clf = CapeClassifier(learner, pool=pool, cv=3, scores=scores, random_state=0)
    return clf.fit(kind(X), y, sensitive_features=z)


@pytest.fixture
def in_pieces(monkeypatch):
    def use(rows, threads=3):
        monkeypatch.setattr(deciding, "_MOST_ROWS", {"linear": rows, "other": rows})
        monkeypatch.setattr(deciding, "_LEAST_ROWS", rows)
        monkeypatch.setattr(deciding, "available_threads", lambda: threads)

    return use


def answers(clf, X, z):
    adaptation = clf.adapt(X, sensitive_features=z)
    return [
        clf.evidence(X, sensitive_features=z),
        adaptation,
        clf.predict(X, sensitive_features=z),
        clf.predict_proba(X, sensitive_features=z),
        clf.predict(X, sensitive_features=z, adaptation=adaptation),
        clf.predict_proba(X, sensitive_features=z, adaptation=adaptation),
        clf.predict_individually(X, sensitive_features=z),
    ]


@pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")
@pytest.mark.parametrize("groups", [1, 2, 3, 7])
@pytest.mark.parametrize("pool", ["threshold", "resampled"])
@pytest.mark.parametrize(
    "learner",
    [LogisticRegression(), DecisionTreeClassifier(max_depth=3)],
    ids=["linear", "tree"],
)
def test_pieces_and_threads_do_not_show(learner, pool, groups, in_pieces):
    clf = fit(learner, pool, groups)
    X, _, z = table(1501, groups, 1)
    whole = answers(clf, X, z)
    for rows in (90, 800):
        in_pieces(rows)
        for expected, found in zip(whole, answers(clf, X, z), strict=True):
            if isinstance(expected, np.ndarray):
                np.testing.assert_array_equal(found, expected)
            else:
                assert found == expected


@pytest.mark.parametrize("groups", [2, 7])
@pytest.mark.parametrize("scores", ["refit", "folds"])
@pytest.mark.parametrize(
    "kind",
    [
        np.asfortranarray,
        lambda X: pd.DataFrame(X, columns=FEATURES),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.column_stack([X, X])[:, : X.shape[1]],
        lambda X: X.astype(np.float32),
    ],
    ids=[
        "columns first",
        "pandas",
        "every second column",
        "every second row",
        "part of wider",
        "single precision",
    ],
)
def test_tables_of_any_layout_give_the_same(kind, scores, groups, in_pieces):
    X, _, z = table(2000, groups, 1)
    clf = fit(LogisticRegression(), "threshold", groups, scores, kind)
    expected = clf.predict_proba(kind(X), sensitive_features=z)
    in_pieces(300)
    np.testing.assert_array_equal(
        clf.predict_proba(kind(X), sensitive_features=z), expected
    )


def test_a_wrong_number_is_found_in_every_piece(in_pieces):
    clf = fit(LogisticRegression(), "threshold", 2)
    X, _, z = table(2000, 2, 1)
    in_pieces(100)
    for bad in (np.nan, np.inf):
        spoilt = X.copy()
        spoilt[1234, 2] = bad
        with pytest.raises(ValueError, match="NaN|infinity"):
            clf.predict(spoilt, sensitive_features=z)


def test_a_group_that_is_missing_from_a_piece_is_none_the_worse(in_pieces):
    clf = fit(LogisticRegression(), "resampled", 2)
    X, _, z = table(1000, 2, 1)
    z = np.sort(z)
    expected = clf.predict(X, sensitive_features=z)
    in_pieces(50)
    np.testing.assert_array_equal(clf.predict(X, sensitive_features=z), expected)
    assert list(clf.evidence(X[:0], sensitive_features=z[:0]).groups) == []


def test_scratch_memory_is_used_again():
    X, scratch = np.arange(40.0).reshape(10, 4), Scratch()
    first = RowsOf(X, np.array([1, 2, 3]), scratch=scratch).table()
    np.testing.assert_array_equal(first, X[1:4])
    second = RowsOf(X, np.array([7, 9]), scratch=scratch).table()
    np.testing.assert_array_equal(second, X[[7, 9]])
    assert np.shares_memory(first, second)
    other = RowsOf(X[:, :2].astype(np.float32), np.array([0]), scratch=scratch).table()
    np.testing.assert_array_equal(other, X[:1, :2])
    frame = RowsOf(pd.DataFrame(X), np.array([0, 5]), scratch=scratch).table()
    assert isinstance(frame, pd.DataFrame)


def test_scratch_memory_is_for_rows_that_are_read_not_kept():
    """Predictions by a learner that gives out its very input must survive the next piece."""

    class Echo(DecisionTreeClassifier):
        def predict_proba(self, X):
            return X[:, :2]

    random = np.random.default_rng(0)
    p = random.random(500)
    X, z = np.column_stack([1 - p, p]), np.arange(500) % 2
    clf = CapeClassifier(Echo(), pool="threshold", cv=3, random_state=0)
    clf.fit(X, (random.random(500) < p).astype(int), sensitive_features=z)
    alone = clf.evidence(X[z == 0], sensitive_features=z[z == 0])
    assert clf.evidence(X, sensitive_features=z).groups[0] == alone.groups[0]
