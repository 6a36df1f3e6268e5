"""Bad input: the error names the parameter, what came and what is accepted.

A fit that fails leaves nothing half done.
"""

import traceback

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from cape import CapeClassifier, examine
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


def prefit_on_the_group(d):
    learner = LogisticRegression().fit(np.column_stack([d.X, d.z]), d.y)
    X = np.column_stack([d.X, d.z])
    settings = {"cv": "prefit", "estimator": learner, "group_columns": 2}
    return {"X": X, "z": None, "set": settings}


def table(d, extra=None):
    """The data as a frame, with a third column whose last cell holds something odd."""
    frame = pd.DataFrame(d.X, columns=["U", "V"])
    if extra is None:
        return frame
    cells = np.full(N, None)
    cells[:] = "plain"
    cells[-1] = extra
    return frame.assign(extra=cells)


def huge_number(d):
    frame = table(d)
    frame.iloc[3, 0] = 1e300
    return {"X": frame, "set": {"estimator": None}}


def fitted_already(d):
    fitted = FrozenEstimator(LogisticRegression().fit(d.X, d.y))
    return {"set": {"estimator": make_pipeline(StandardScaler(), fitted)}}


NO_LABEL = "y must have a label in every row, got "
SPLITS = "pairs of row numbers from 0 to 599"
PREFIT = {"cv": "prefit", "pool": "threshold"}

# What is changed, and what the error says. A callable gets the data.
COLUMNS = [
    ({"y": np.zeros(N)}, "y must hold two classes, got 1 class: [0.0]"),
    ({"y": np.arange(N) % 3}, "y must hold two classes, got 3 classes (0, 1, 2)"),
    ({"y": np.arange(N) % 9}, "got 9 classes (0, 1, 2, 3, 4, ...)"),
    ({"y": np.linspace(0, 1, N)}, "classes of one type, got continuous values"),
    ({"y": np.array([1, "a"] * 300, dtype=object)}, "a mix of label input types"),
    ({"y": None}, "y is None: y must be a column of labels"),
    ({"y": np.ones((N, 2))}, "y should be a 1d array, got an array of shape (600, 2)"),
    (lambda d: {"y": with_three(d.y, np.nan)}, NO_LABEL + "3 missing"),
    (lambda d: {"y": with_three(d.y, None, object)}, NO_LABEL + "3 missing"),
    (lambda d: {"y": with_three(d.y, pd.NA, "Int64")}, NO_LABEL + "3 missing"),
    (lambda d: {"y": with_three(d.y, np.inf)}, NO_LABEL + "an infinity"),
    (one_class_in_group_1, "'1' has 300 rows of one class only"),
    (lambda d: {"z": with_three(d.z, np.nan)}, "every row, got 3 missing of 600"),
    ({"y": [0, 1]}, "must have the same number of rows, but X has 600, y has 2"),
    ({"z": ["a"]}, "X has 600, y has 600, sensitive_features has 1"),
    ({"w": [1.0]}, "sensitive_features has 600, sample_weight has 1"),
    ({"z": 3}, "sensitive_features must be a column or a table of columns, got"),
    ({"z": [["a"], ["b", "c"]] * 300}, "must hold one value per row and column"),
    ({"z": pd.DataFrame(index=range(N))}, "at least one column, got a table with"),
    ({"z": np.arange(N)}, "'9' has 1 row; 590 more. Lower min_group_size"),
    ({"w": -np.ones(N)}, "sample_weight must be at least 0 in every row, got -1.0"),
    ({"w": np.zeros(N)}, "sample_weight must be positive in some row, got all zeros"),
    ({"w": np.ones((N, 2))}, "sample_weight must be a number for each of 600 rows"),
    (
        {"w": np.full(N, np.nan)},
        "sample_weight must be at least 0 in every row, got nan",
    ),
    ({"X": 3}, "X must be a table of rows and columns, got 3"),
    ({"X": "data.csv"}, "X must be a table of rows and columns, got 'data.csv'"),
    ({"X": np.empty((0, 2)), "y": [], "z": []}, "y must have at least one row of each"),
    ({"X": np.empty((N, 0))}, "X must have a column besides those of the groups"),
    (lambda d: {"X": d.X + 0j}, "X must hold real numbers"),
    (lambda d: {"X": table(d).astype(complex)}, "X must hold real numbers"),
    (
        lambda d: {"X": pd.concat([table(d), table(d)[["U"]]], axis=1)},
        "X must have columns of different names, got 'U' twice",
    ),
    (lambda d: {"X": table(d, [1, 2])}, "got [1, 2] in column 'extra'. Make columns"),
    (lambda d: {"X": table(d, (1, 2))}, "got (1, 2) in column 'extra'. Make columns"),
    (lambda d: {"X": table(d, {"a": 1})}, "got {'a': 1} in column 'extra'"),
    (lambda d: {"X": table(d, 1j)}, "got 1j in column 'extra'"),
    (lambda d: {"X": table(d, [1, 2]).to_numpy()}, "got [1, 2] in column 2"),
]
SETTINGS = [
    ({"min_group_size": 400}, "min_group_size=400 rows and enough of each class, got"),
    ({"prevalences": [0, 0.5]}, "prevalences must be in (0, 1), got 0"),
    ({"prevalences": ["half"]}, "prevalences must be in (0, 1), got 'half'"),
    ({"prevalences": [np.nan]}, "prevalences must be in (0, 1), got nan"),
    ({"prevalences": []}, "prevalences must hold at least one value in (0, 1), got []"),
    ({"prevalences": 0}, "'prevalences' parameter of CapeClassifier must be an int"),
    (
        {"quantifier": "spaa"},
        ("must be a str among", *map(repr, QUANTIFIERS), "'spaa'"),
    ),
    ({"quantifier": 3}, "'quantifier' parameter of CapeClassifier must be"),
    ({"pool": "treshold"}, ("a str among", "'resampled'", "'threshold'", "'treshold'")),
    ({"scores": "fold"}, ("'scores' parameter", "'folds'", "'refit'", "Got 'fold'")),
    ({"small_groups": "drop"}, ("'borrow'", "'error'", "'pooled'", "Got 'drop'")),
    (
        {"cv": 1},
        "'cv' parameter of CapeClassifier must be an int in the range [2, inf)",
    ),
    (
        {"cv": [1, 2]},
        "cv must be a number of folds, a splitter or pairs of row numbers",
    ),
    ({"cv": []}, "pairs of row numbers from 0 to 599, got []"),
    ({"cv": [([0, 1], [600])]}, SPLITS),
    ({"cv": [([0, 1], [-1, 5])]}, SPLITS),
    ({"cv": [(np.arange(N) < 200, np.arange(N) >= 200)]}, SPLITS),
    ({"cv": [(np.arange(5.0), np.arange(5.0))]}, SPLITS),
    ({"estimator": LinearSVC()}, "'fit' and 'predict_proba' or None. Got LinearSVC()"),
    ({"group_columns": 0}, "sensitive_features must be None when group_columns names"),
    (PREFIT, "This LogisticRegression instance is not fitted yet"),
    ({**PREFIT, "estimator": None}, "estimator must be a fitted classifier with cv="),
    (
        {**PREFIT, "pool": "resampled"},
        "pool must be 'threshold' with cv='prefit' and with Scores, got",
    ),
    (
        {**PREFIT, "scores": "folds"},
        "scores must be 'refit' with cv='prefit' and with Scores, got",
    ),
]
# Some need both.
TOGETHER = [
    (folds_that_test_positives_only, "cv must test rows of both classes in every"),
    (prefit_on_the_group, "set group_columns=None and give the groups as"),
    (prefit_on_other_labels, "two classes of the fitted estimator, [0, 1], got [1, 2]"),
    (
        {"w": np.arange(N), "set": {"estimator": KNeighborsClassifier()}},
        "sample_weight must be None for a learner whose fit takes no weights, got",
    ),
    ({"z": None, "set": {"group_columns": []}}, "group_columns must name at least one"),
    ({"z": None, "set": {"group_columns": ["race"]}}, "among [0, 1], got ['race']"),
    ({"z": None, "set": {"group_columns": 2}}, "among [0, 1], got [2]"),
    (
        lambda d: {"X": d.z[:, None], "z": None, "set": {"group_columns": 0}},
        "X must have a column besides those of the groups",
    ),
    (huge_number, "numbers of at most 3.4e+38, got 1e+300 in column 'U'"),
    (fitted_already, ("must be one that can be trained", "cv='prefit'", "cape.Scores")),
]
CASES = [
    *COLUMNS,
    *[({"set": settings}, message) for settings, message in SETTINGS],
    *TOGETHER,
]


def fit(clf, d, **changes):
    """Fit on the data, with ``X``, ``y``, ``z`` or weights ``w`` changed."""
    columns = {"X": d.X, "y": d.y, "z": d.z, "w": None, **changes}
    return clf.fit(
        columns["X"],
        columns["y"],
        sensitive_features=columns["z"],
        sample_weight=columns["w"],
    )


def changes_of(change, d):
    """What a case changes in the data and in the settings."""
    return dict(change(d) if callable(change) else change)


def is_from_numpy(error):
    """Whether numpy raised the error, which then names none of our parameters."""
    return "/numpy/" in traceback.extract_tb(error.__traceback__)[-1].filename


def fitted_attributes(clf):
    return [name for name in vars(clf) if name.endswith("_")]


@pytest.mark.parametrize(
    ("change", "messages"), CASES, ids=[str(c[1])[:50] for c in CASES]
)
def test_fit_refuses_and_leaves_nothing_behind(train, change, messages):
    changes = changes_of(change, train)
    settings = {"estimator": LogisticRegression(), "cv": 2, "prevalences": 2}
    settings["small_groups"] = "error"
    settings.update(changes.pop("set", {}))
    clf = CapeClassifier(**settings)
    with pytest.raises((ValueError, TypeError)) as caught:
        fit(clf, train, **changes)
    for message in [messages] if isinstance(messages, str) else messages:
        assert message in str(caught.value)
    assert not is_from_numpy(caught.value)
    assert fitted_attributes(clf) == []
    with pytest.raises(NotFittedError):
        clf.predict(train.X)


def test_a_fit_that_fails_leaves_the_old_one_as_it_was(train, batch):
    clf = CapeClassifier(
        LogisticRegression(), cv=2, small_groups="error", random_state=0
    )
    fit(clf, train)
    attributes = dict(vars(clf))
    y_pred = clf.predict(batch.X, sensitive_features=batch.z)
    for change, _ in COLUMNS:
        with pytest.raises((ValueError, TypeError)):
            fit(clf, train, **changes_of(change, train))
        assert vars(clf) == attributes
    again = clf.predict(batch.X, sensitive_features=batch.z)
    np.testing.assert_array_equal(again, y_pred)


def test_a_class_is_no_estimator(train):
    with pytest.raises(TypeError, match="estimator must be an instance, got <class"):
        CapeClassifier(LogisticRegression).fit(train.X, train.y)


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


def test_text_in_a_column_of_numbers_is_told_with_the_column(train, batch):
    names = ["age", "income"]
    clf = CapeClassifier(LogisticRegression(), cv=2, random_state=0)
    clf.fit(pd.DataFrame(train.X, columns=names), train.y)
    new = pd.DataFrame(batch.X, columns=names).astype({"income": object})
    new.loc[3, "income"] = "none yet"
    with pytest.raises(ValueError, match="could not convert") as caught:
        clf.predict(new)
    assert caught.value.__notes__ == ["X has the text 'none yet' in 'income'."]


def test_columns_of_other_lengths_are_refused(fitted, batch):
    clf = fitted()
    message = "the same number of rows, but X has 200, sensitive_features has 3"
    with pytest.raises(ValueError, match=message):
        clf.predict(batch.X, sensitive_features=batch.z[:3])
    message = "the same number of rows, but X has 200, y has 3"
    with pytest.raises(ValueError, match=message):
        clf.score(batch.X, batch.y[:3], sensitive_features=batch.z)


@pytest.mark.parametrize("clf", [None, LogisticRegression(), CapeClassifier().fit])
def test_what_is_no_cape_classifier_is_refused_by_name(batch, clf):
    with pytest.raises(TypeError, match="clf must be a fitted CapeClassifier, got"):
        examine(clf, batch.X)


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
