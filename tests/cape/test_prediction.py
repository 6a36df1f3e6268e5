"""The one road, step by step: pieces, threads and layouts do not show in answers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from cape import AdaptationWarning, CapeClassifier

FEATURES = list("abcd")
SETTINGS = [
    ("threshold", "refit"),
    ("threshold", "folds"),
    ("resampled", "refit"),
    ("resampled", "folds"),
]


# A flexible learner that is refitted is said to be untested.
pytestmark = pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")


def table(n, groups, seed):
    random = np.random.default_rng(seed)
    z = random.integers(0, groups, n)
    y = (random.random(n) < 0.3 + 0.4 * z / groups).astype(int)
    return random.normal(size=(n, 4)) + y[:, None], y, z


def fit(learner, pool, groups, scores="refit", kind=np.asarray):
    X, y, z = table(300 * groups, groups, 0)
    # The quantifier is no matter here, and SPA is the quickest row by row.
    clf = CapeClassifier(
        learner, quantifier="spa", pool=pool, cv=3, scores=scores, random_state=0
    )
    return clf.fit(kind(X), y, sensitive_features=z)


def tree():
    return DecisionTreeClassifier(max_depth=3, random_state=0)


@pytest.fixture
def in_pieces(monkeypatch):
    """Cut batches into pieces of so many rows, for several threads."""

    def use(rows, threads=3):
        for limit in ("_MOST_ROWS", "_MOST_ROWS_LINEAR", "_FEWEST_ROWS"):
            monkeypatch.setattr(f"cape.training._threads.{limit}", rows)
        available = "cape.training._threads.available_threads"
        monkeypatch.setattr(available, lambda: threads)

    return use


# Pieces, threads and layouts


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


@pytest.mark.parametrize("pool", ["threshold", "resampled"])
@pytest.mark.parametrize("learner", [LogisticRegression(), tree()], ids=str)
def test_pieces_and_threads_do_not_show(learner, pool, in_pieces):
    clf = fit(learner, pool, 3)
    X, _, z = table(901, 3, 1)
    whole = answers(clf, X, z)
    in_pieces(90)
    for expected, answer in zip(whole, answers(clf, X, z), strict=True):
        if isinstance(expected, np.ndarray):
            np.testing.assert_array_equal(answer, expected)
        else:
            assert answer == expected


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
    ids=["columns first", "pandas", "columns", "rows", "part", "single precision"],
)
def test_tables_of_any_layout_give_the_same(kind, in_pieces):
    X, _, z = table(2000, 7, 1)
    clf = fit(LogisticRegression(), "threshold", 7, "folds", kind)
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


def test_a_group_may_be_missing_from_a_piece(in_pieces):
    clf = fit(LogisticRegression(), "resampled", 2)
    X, _, z = table(1000, 2, 1)
    z = np.sort(z)
    expected = clf.predict(X, sensitive_features=z)
    in_pieces(50)
    np.testing.assert_array_equal(clf.predict(X, sensitive_features=z), expected)
    assert list(clf.evidence(X[:0], sensitive_features=z[:0]).groups) == []


def test_predictions_of_a_learner_that_returns_its_input_survive_the_next_piece(
    in_pieces,
):
    class Echo(DecisionTreeClassifier):
        def predict_proba(self, X):
            return X[:, :2]

    random = np.random.default_rng(0)
    p = random.random(500)
    X = np.column_stack([1 - p, p])
    z = np.arange(500) % 2
    clf = CapeClassifier(Echo(), pool="threshold", cv=3, random_state=0)
    clf.fit(X, (random.random(500) < p).astype(int), sensitive_features=z)
    alone = clf.evidence(X[z == 0], sensitive_features=z[z == 0])
    assert clf.evidence(X, sensitive_features=z).groups[0] == alone.groups[0]
    in_pieces(60)
    assert clf.evidence(X, sensitive_features=z).groups[0] == alone.groups[0]


@pytest.fixture(scope="module", params=SETTINGS, ids="-".join)
def clf(request):
    return fit(tree(), request.param[0], 2, request.param[1])


@pytest.fixture(scope="module")
def new():
    return table(150, 2, 1)


def test_a_group_is_adapted_the_same_alone_or_among_others(clf, new):
    X, _, z = new
    together = clf.adapt(X, sensitive_features=z, drift="ignore")
    for group in (0, 1):
        own = z == group
        alone = clf.adapt(X[own], sensitive_features=z[own], drift="ignore")
        assert alone.groups[group] == together.groups[group]


@pytest.mark.parametrize("rows_at_once", [1, 7])
def test_single_rows_are_decided_in_blocks_of_any_size(
    clf, new, rows_at_once, monkeypatch
):
    X, _, z = new
    expected = clf.predict_individually(X, sensitive_features=z)
    monkeypatch.setattr("cape.rules._deciding._ROWS_AT_ONCE", rows_at_once)
    blocks = clf.predict_individually(X, sensitive_features=z)
    np.testing.assert_array_equal(blocks, expected)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_a_column_at_fault_is_warned_of(fitted, batch, method):
    clf = fitted(pool="threshold")
    groups = {"sensitive_features": batch.z}
    far = batch.X * [1, 100]
    with pytest.warns(AdaptationWarning, match="not what they were") as caught:
        getattr(clf, method)(far, **groups)
    # Here, where the user called, and once for all groups.
    (warning,) = caught
    assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(clf, method)(batch.X, **groups)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdaptationWarning)
            adaptation = clf.adapt(far, **groups)
        getattr(clf, method)(far, adaptation=adaptation, **groups)
