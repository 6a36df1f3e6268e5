"""Bad input: the error names the parameter, what came and what is accepted.

A fit that fails leaves nothing half done.
"""

import traceback

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from cape import CapeClassifier
from cape.quantify import QUANTIFIERS

N = 600


def with_three(column, value, dtype=float):
    """A column in which the first three values are ``value``."""
    column = pd.Series(column).astype(dtype)
    column[:3] = value
    return column


def one_class_in_group_1(d):
    return {"y": np.where(d.z == 1, 0, d.y)}


def folds_that_test_positives_only(d):
    return {"set": {"cv": [(np.arange(N), np.flatnonzero(d.y == 1))]}}


def prefit_on_other_labels(d):
    learner = LogisticRegression().fit(d.X, d.y)
    settings = {"cv": "prefit", "pool": "threshold", "estimator": learner}
    return {"y": d.y + 1, "set": settings}


# What is changed, and what the error says. A callable gets the data; settings of the
# classifier are under "set". Several messages are parts of one.
CASES = {
    "one class only": (
        {"y": np.zeros(N)},
        "y must hold two classes, got 1 class: [0.0]",
    ),
    "three classes": (
        {"y": np.arange(N) % 3},
        "y must hold two classes, got 3 classes (0, 1, 2)",
    ),
    "many classes": ({"y": np.arange(N) % 9}, "got 9 classes (0, 1, 2, 3, 4, ...)"),
    "continuous labels": (
        {"y": np.linspace(0, 1, N)},
        "y must hold two classes of one type, got continuous values",
    ),
    "mixed labels": (
        {"y": np.array([1, "a"] * 300, dtype=object)},
        "two classes of one type, got unknown values",
    ),
    "no labels": ({"y": None}, "y is None: y must be a column of labels"),
    "labels of two columns": (
        {"y": np.ones((N, 2))},
        "y should be a 1d array, got an array of shape (600, 2)",
    ),
    "NaN labels": (
        lambda d: {"y": with_three(d.y, np.nan)},
        "y must have a label in every row, got 3 missing",
    ),
    "None labels": (
        lambda d: {"y": with_three(d.y, None, object)},
        "y must have a label in every row, got 3 missing",
    ),
    "NA labels": (
        lambda d: {"y": with_three(d.y, pd.NA, object)},
        "y must have a label in every row, got 3 missing",
    ),
    "NA integers": (
        lambda d: {"y": with_three(d.y, pd.NA, "Int64")},
        "y must have a label in every row, got 3 missing",
    ),
    "infinite labels": (
        lambda d: {"y": with_three(d.y, np.inf)},
        "y must have a label in every row, got an infinity",
    ),
    "a group with one class": (
        one_class_in_group_1,
        "'1' has 300 rows of one class only",
    ),
    "a small group": (
        {"set": {"min_group_size": 400}},
        "min_group_size=400 rows and enough of each class, got: '0' has",
    ),
    "missing groups": (
        lambda d: {"z": with_three(d.z, np.nan)},
        "must name a group in every row, got 3 missing of 600",
    ),
    "lengths of y": (
        {"y": [0, 1]},
        "must have the same number of rows, but X has 600, y has 2",
    ),
    "lengths of groups": (
        {"z": ["a"]},
        "X has 600, y has 600, sensitive_features has 1",
    ),
    "lengths of weights": (
        {"w": [1.0]},
        "X has 600, y has 600, sensitive_features has 600, sample_weight has 1",
    ),
    "groups of one value": (
        {"z": 3},
        "sensitive_features must be a column or a table of columns, got an array "
        "of shape ()",
    ),
    "ragged groups": (
        {"z": [["a"], ["b", "c"]] * 300},
        "sensitive_features must hold one value a row and column",
    ),
    "groups without columns": (
        {"z": pd.DataFrame(index=range(N))},
        "must have at least one column, got a table with none",
    ),
    "negative weights": (
        {"w": -np.ones(N)},
        "sample_weight must be at least 0 in every row, got -1.0",
    ),
    "weights of zero": (
        {"w": np.zeros(N)},
        "sample_weight must be positive in some row, got all zeros",
    ),
    "weights of two columns": (
        {"w": np.ones((N, 2))},
        "sample_weight must be a number for each of 600 rows, got an array of "
        "shape (600, 2)",
    ),
    "missing weights": ({"w": np.full(N, np.nan)}, "Input sample_weight contains NaN"),
    "weights for none": (
        {"w": np.ones(N), "set": {"estimator": KNeighborsClassifier()}},
        "sample_weight must be None for a learner whose fit takes no weights, got "
        "weights for KNeighborsClassifier()",
    ),
    "many small groups": (
        lambda d: {"z": np.arange(N)},
        "'9' has 1 row; 590 more. Lower min_group_size",
    ),
    "no table": ({"X": 3}, "X must be a table of rows and columns, got 3"),
    "a text for a table": (
        {"X": "data.csv"},
        "X must be a table of rows and columns, got 'data.csv'",
    ),
    "an empty table": (
        {"X": np.empty((0, 2)), "y": [], "z": []},
        "y must have at least one row of each of two classes, got 0 rows",
    ),
    "an empty frame": (
        {"X": pd.DataFrame({"U": []}), "y": [], "z": []},
        "y must have at least one row of each of two classes, got 0 rows",
    ),
    "prevalence 0": (
        {"set": {"prevalences": [0, 0.5]}},
        "prevalences must be in (0, 1), got 0",
    ),
    "prevalence 1": (
        {"set": {"prevalences": [0.5, 1.0]}},
        "prevalences must be in (0, 1), got 1.0",
    ),
    "prevalence of text": (
        {"set": {"prevalences": ["half"]}},
        "prevalences must be in (0, 1), got 'half'",
    ),
    "prevalence NaN": (
        {"set": {"prevalences": [np.nan]}},
        "prevalences must be in (0, 1), got nan",
    ),
    "no prevalences": (
        {"set": {"prevalences": []}},
        "prevalences must hold at least one value in (0, 1), got []",
    ),
    "zero prevalences": (
        {"set": {"prevalences": 0}},
        "'prevalences' parameter of CapeClassifier must be an int in the range",
    ),
    "a wrong quantifier": (
        {"set": {"quantifier": "spaa"}},
        (
            "'quantifier' parameter of CapeClassifier must be a str among",
            *map(repr, QUANTIFIERS),
            "Got 'spaa' instead",
        ),
    ),
    "a quantifier that is none": (
        {"set": {"quantifier": 3}},
        "'quantifier' parameter of CapeClassifier must be",
    ),
    "a wrong pool": (
        {"set": {"pool": "treshold"}},
        (
            "'pool' parameter of CapeClassifier must be a str among",
            "'resampled'",
            "'threshold'",
            "Got 'treshold'",
        ),
    ),
    "wrong scores": (
        {"set": {"scores": "fold"}},
        ("'scores' parameter", "'folds'", "'refit'", "Got 'fold' instead"),
    ),
    "wrong small_groups": (
        {"set": {"small_groups": "drop"}},
        ("'small_groups' parameter", "'error'", "'pooled'", "Got 'drop'"),
    ),
    "one fold": (
        {"set": {"cv": 1}},
        "'cv' parameter of CapeClassifier must be an int in the range [2, inf)",
    ),
    "splits that are none": (
        {"set": {"cv": [1, 2]}},
        "cv must be a number of folds, a splitter or pairs of row numbers",
    ),
    "no splits": ({"set": {"cv": []}}, "pairs of row numbers from 0 to 599, got []"),
    "splits of other rows": (
        {"set": {"cv": [([0, 1], [600])]}},
        "pairs of row numbers from 0 to 599",
    ),
    "splits of one class": (
        folds_that_test_positives_only,
        "cv must test rows of both classes in every group",
    ),
    "a learner without probabilities": (
        {"set": {"estimator": LinearSVC()}},
        "must be an object implementing 'fit' and 'predict_proba' or "
        "None. Got LinearSVC() instead",
    ),
    "no group columns": (
        {"z": None, "set": {"group_columns": []}},
        "group_columns must name at least one column, got none",
    ),
    "unknown group columns": (
        {"z": None, "set": {"group_columns": ["race"]}},
        "group_columns must be columns of X, among [0, 1], got ['race']",
    ),
    "group columns out of range": (
        {"z": None, "set": {"group_columns": 2}},
        "among [0, 1], got [2]",
    ),
    "groups given twice": (
        {"set": {"group_columns": 0}},
        "sensitive_features must be None when group_columns names",
    ),
    "prefit, not fitted": (
        {"set": {"cv": "prefit", "pool": "threshold"}},
        "This LogisticRegression instance is not fitted yet",
    ),
    "prefit, nothing given": (
        {"set": {"cv": "prefit", "pool": "threshold", "estimator": None}},
        "estimator must be a fitted classifier with cv='prefit', got None",
    ),
    "prefit, resampled": (
        {"set": {"cv": "prefit", "pool": "resampled"}},
        "pool must be 'threshold' with cv='prefit', got 'resampled'",
    ),
    "prefit, folds": (
        {"set": {"cv": "prefit", "pool": "threshold", "scores": "folds"}},
        "scores must be 'refit' with cv='prefit', got 'folds'",
    ),
    "prefit, other labels": (
        prefit_on_other_labels,
        "y must hold the two classes of the fitted estimator, [0, 1], "
        "got [1, 2] (cv='prefit')",
    ),
}


def fit(clf, d, **changes):
    """Fit on the data, with ``X``, ``y``, ``z`` or weights ``w`` changed."""
    columns = {"X": d.X, "y": d.y, "z": d.z, "w": None, **changes}
    return clf.fit(
        columns["X"],
        columns["y"],
        sensitive_features=columns["z"],
        sample_weight=columns["w"],
    )


def changes_of(case, d):
    """What a case changes in the data and in the settings."""
    change = CASES[case][0]
    if callable(change):
        change = change(d)
    return dict(change)


def is_from_numpy(error):
    """Whether numpy raised the error, which then names none of our parameters."""
    return "/numpy/" in traceback.extract_tb(error.__traceback__)[-1].filename


def fitted_attributes(clf):
    return [name for name in vars(clf) if name.endswith("_")]


@pytest.mark.parametrize("case", CASES)
def test_fit_refuses_and_leaves_nothing_behind(train, case):
    changes = changes_of(case, train)
    settings = {"estimator": LogisticRegression(), "cv": 2, "prevalences": 2}
    settings.update(changes.pop("set", {}))
    clf = CapeClassifier(**settings)
    with pytest.raises((ValueError, TypeError)) as caught:
        fit(clf, train, **changes)
    messages = CASES[case][1]
    if isinstance(messages, str):
        messages = [messages]
    for message in messages:
        assert message in str(caught.value)
    assert not is_from_numpy(caught.value)
    assert fitted_attributes(clf) == []
    with pytest.raises(NotFittedError):
        clf.predict(train.X)


@pytest.mark.parametrize(
    "name",
    ["one class only", "three classes", "lengths of y", "NaN labels", "an empty table"],
)
def test_a_fit_that_fails_leaves_the_old_one_as_it_was(train, batch, name):
    clf = CapeClassifier(LogisticRegression(), cv=2, prevalences=2, random_state=0)
    fit(clf, train)
    attributes = dict(vars(clf))
    y_pred = clf.predict(batch.X, sensitive_features=batch.z)
    with pytest.raises(ValueError, match="must"):
        fit(clf, train, **changes_of(name, train))
    assert vars(clf) == attributes
    np.testing.assert_array_equal(
        clf.predict(batch.X, sensitive_features=batch.z), y_pred
    )


def test_a_learner_that_fails_leaves_nothing_behind(train):
    X = train.X.copy()
    X[0, 0] = np.nan
    clf = CapeClassifier(LogisticRegression(), cv=2)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        clf.fit(X, train.y)
    assert fitted_attributes(clf) == []


@pytest.mark.parametrize(
    "method",
    ["predict", "predict_proba", "predict_individually", "adapt", "evidence", "score"],
)
def test_using_before_fitting(train, method):
    clf = CapeClassifier(LogisticRegression())
    y = (train.y,) if method == "score" else ()
    with pytest.raises(
        NotFittedError, match="This CapeClassifier instance is not fitted yet"
    ):
        getattr(clf, method)(train.X, *y)


def test_a_table_of_other_columns_is_refused(fitted, batch):
    clf = fitted()
    message = "X has 1 features, but CapeClassifier is expecting 2 features"
    with pytest.raises(ValueError, match=message):
        clf.predict(batch.X[:, :1], sensitive_features=batch.z)
    message = (
        r"X must be a table of shape \(n_samples, 2\), got an array of shape \(2,\)"
    )
    with pytest.raises(ValueError, match=message):
        clf.predict(batch.X[0], sensitive_features=batch.z[:1])
    message = "X must be a table of rows and columns, got None"
    with pytest.raises(ValueError, match=message):
        clf.predict(None, sensitive_features=batch.z)


def test_columns_of_other_lengths_are_refused(fitted, batch):
    clf = fitted()
    message = "the same number of rows, but X has 200, sensitive_features has 3"
    with pytest.raises(ValueError, match=message):
        clf.predict(batch.X, sensitive_features=batch.z[:3])
    message = "the same number of rows, but X has 200, y has 3"
    with pytest.raises(ValueError, match=message):
        clf.score(batch.X, batch.y[:3], sensitive_features=batch.z)


def test_labels_that_are_missing_are_refused_by_score(fitted, batch):
    message = "y must have a label in every row, got 200 missing"
    with pytest.raises(ValueError, match=message):
        fitted().score(batch.X, np.full(200, np.nan), sensitive_features=batch.z)


@pytest.mark.parametrize("level", [0, 1, 2, -0.5, np.nan, "high"])
def test_a_confidence_level_is_a_share(fitted, batch, level):
    with pytest.raises(ValueError, match=r"level must be in \(0, 1\), got"):
        fitted().adapt(batch.X, sensitive_features=batch.z, level=level)


class Doubled(LogisticRegression):
    """Gives numbers above 1 for probabilities."""

    def predict_proba(self, X):
        return super().predict_proba(X) * 2


class Flat(LogisticRegression):
    """Gives the probabilities of one class only."""

    def predict_proba(self, X):
        return super().predict_proba(X)[:, 1]


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (Doubled(), "scores must be probabilities in [0, 1], got"),
        (Flat(), "estimator must give probabilities of 2 classes"),
    ],
)
def test_a_learner_whose_probabilities_are_not_probabilities(train, learner, message):
    clf = CapeClassifier(learner, cv=2)
    with pytest.raises(ValueError, match="must") as caught:
        clf.fit(train.X, train.y)
    assert message in str(caught.value)
    assert not hasattr(clf, "classes_")
