"""Tables of pandas, polars, pyarrow, numpy and scipy go in by one door, or none."""

import sys

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from skrub import tabular_pipeline

from cape import AdaptationWarning, CapeClassifier, examine
from cape.base._validation import admit
from cape.metrics import audit

COLUMNS = ["a", "b"]


def make_classifier(**settings):
    return CapeClassifier(LogisticRegression(), cv=2, random_state=0, **settings)


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(300, 2)), columns=COLUMNS)
    y = random.integers(0, 2, 300)
    z = random.choice(["u", "v"], 300)
    return frame.assign(a=frame["a"] + 2 * y, z=z, y=y)


@pytest.fixture(scope="module")
def expected(frame):
    """What a data frame gives."""
    X = frame[[*COLUMNS, "z"]]
    return make_classifier(group_columns=["z"]).fit(X, frame["y"]).predict(X)


@pytest.mark.parametrize("kind", [pa.Table, pa.RecordBatch])
def test_tables_of_pyarrow_are_served(frame, expected, kind):
    X = kind.from_pandas(frame[[*COLUMNS, "z"]])
    clf = make_classifier(group_columns=["z"]).fit(X, frame["y"])
    np.testing.assert_array_equal(clf.predict(X), expected)
    features = X.select(COLUMNS)
    z = X.select(["z"])
    clf = make_classifier().fit(features, frame["y"], sensitive_features=z)
    labels = clf.predict(features, sensitive_features=z)
    np.testing.assert_array_equal(labels, expected)


def test_lists_of_mixed_types_are_served(frame, expected):
    X = frame[[*COLUMNS, "z"]].to_numpy(dtype=object).tolist()
    clf = make_classifier(group_columns=[2]).fit(X, frame["y"])
    assert clf.groups_ == ["u", "v"]
    np.testing.assert_array_equal(clf.predict(X), expected)


@pytest.mark.parametrize(
    ("make", "call"),
    [
        (lambda frame: pl.from_pandas(frame).lazy(), "collect"),
        (lambda frame: dd.from_pandas(frame, npartitions=2), "compute"),
    ],
)
def test_tables_that_are_not_in_memory_say_what_to_call(frame, make, call):
    lazy = make(frame[COLUMNS])
    groups = make(frame[["z"]])
    clf = make_classifier().fit(frame[COLUMNS], frame["y"])
    for method in (clf.predict, clf.predict_proba, clf.adapt, clf.evidence):
        with pytest.raises(TypeError, match=rf"X\.{call}\(\)"):
            method(lazy)
    with pytest.raises(TypeError, match=rf"X\.{call}\(\)"):
        make_classifier().fit(lazy, frame["y"])
    with pytest.raises(TypeError, match=rf"sensitive_features\.{call}\(\)"):
        make_classifier().fit(frame[COLUMNS], frame["y"], sensitive_features=groups)
    with pytest.raises(ValueError, match=r"got a dict: call pandas\.DataFrame"):
        clf.predict(frame[COLUMNS].to_dict("list"))


PACKAGES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
}


@pytest.fixture(scope="module")
def mixed(frame):
    """Numbers with gaps, text, a category, dates and flags; and the groups."""
    random = np.random.default_rng(1)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        random.integers(0, 99, 300), "D"
    )
    X = frame[COLUMNS].assign(
        text=random.choice(["red", "blue", "green"], 300),
        level=pd.Categorical(random.choice(["low", "high"], 300)),
        day=days,
        flag=random.random(300) < 0.5,
    )
    X.loc[::9, "b"] = np.nan
    X.loc[::11, "text"] = None
    return X


def answers(clf, X, z):
    """All that comes out of the doors."""
    return [
        clf.predict(X, sensitive_features=z).tolist(),
        clf.predict_proba(X, sensitive_features=z).tolist(),
        clf.evidence(X, sensitive_features=z).to_json(),
        clf.adapt(X, sensitive_features=z).to_json(),
        examine(clf, X, sensitive_features=z).table().to_csv(),
    ]


def fit_tables(mixed, frame, convert):
    """Fit a model to the tables of a package."""
    # skrub, which the default learner has in front, refuses tables of another package.
    learner = tabular_pipeline(LogisticRegression())
    labels = convert(pd.DataFrame({"y": np.where(frame["y"] == 1, "yes", "no")}))
    clf = CapeClassifier(learner, cv=2, random_state=0)
    groups = convert(frame[["z"]])
    return clf.fit(convert(mixed), labels["y"], sensitive_features=groups)


@pytest.fixture(scope="module")
def of_pandas(frame, mixed):
    """Fit a model to pandas' tables; gives its fingerprint and answers, too."""
    clf = fit_tables(mixed, frame, PACKAGES["pandas"])
    return clf, clf.fingerprint_, answers(clf, mixed, frame["z"])


@pytest.mark.parametrize("package", PACKAGES)
def test_a_model_of_pandas_takes_tables_of_all(frame, mixed, of_pandas, package):
    clf, _, expected = of_pandas
    convert = PACKAGES[package]
    assert answers(clf, convert(mixed), convert(frame[["z"]])) == expected


@pytest.mark.parametrize("package", [name for name in PACKAGES if name != "pandas"])
def test_a_model_of_any_package_is_that_of_pandas(frame, mixed, of_pandas, package):
    _, fingerprint, expected = of_pandas
    clf = fit_tables(mixed, frame, PACKAGES[package])
    assert clf.fingerprint_ == fingerprint
    # And takes tables of its own package, and of pandas.
    for convert in (PACKAGES[package], PACKAGES["pandas"]):
        assert answers(clf, convert(mixed), convert(frame[["z"]])) == expected


@pytest.mark.parametrize("package", PACKAGES)
def test_metrics_take_columns_of_all_packages(frame, package):
    y = PACKAGES[package](frame)["y"]
    z = PACKAGES[package](frame[["z"]])
    expected = audit(frame["y"], frame["y"], sensitive_features=frame[["z"]])
    found = audit(y, y, sensitive_features=z)
    assert found.to_dict() == expected.to_dict()


def test_polars_needs_no_pyarrow(monkeypatch, mixed):
    # As if it were not installed.
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    table = pl.DataFrame({"n": [1, None], "text": ["a", None], "flag": [True, False]})
    monkeypatch.setattr(type(table), "to_pandas", _no_pyarrow)
    monkeypatch.setattr(pl.Series, "to_pandas", _no_pyarrow)
    admitted = admit("X", table)
    expected = pd.DataFrame(
        {"n": [1, None], "text": ["a", None], "flag": [True, False]}
    )
    pd.testing.assert_frame_equal(admitted, expected)


def _no_pyarrow(self):
    raise ModuleNotFoundError("pyarrow")


# Forms of a table of numbers, all of which mean the same.
FORMS = {
    "list": lambda X: X.tolist(),
    "csr_array": sparse.csr_array,
    "coo_array": sparse.coo_array,
    "matrix": np.matrix,
    "big-endian": lambda X: X.astype(">f8"),
    "not masked": np.ma.masked_array,
    "big-endian columns": lambda X: pd.DataFrame(X, columns=COLUMNS).astype(">f8"),
    "Float64": lambda X: pd.DataFrame(X, columns=COLUMNS).astype("Float64"),
    "Float64 of pyarrow": lambda X: pd.DataFrame(X, columns=COLUMNS).astype(
        "double[pyarrow]"
    ),
    "named fields": lambda X: pd.DataFrame(X, columns=COLUMNS).to_records(index=False),
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_numbers_gives_the_same_answer(frame, form):
    X = frame[COLUMNS].to_numpy()
    given = FORMS[form](X)
    plain = make_classifier().fit(X, frame["y"], sensitive_features=frame["z"])
    expected = plain.predict(X, sensitive_features=frame["z"])
    own = make_classifier().fit(given, frame["y"], sensitive_features=frame["z"])
    found = own.predict(given, sensitive_features=frame["z"])
    np.testing.assert_array_equal(found, expected)
    if not hasattr(given, "columns") and form != "named fields":
        found = plain.predict(given, sensitive_features=frame["z"])
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "labels",
    [
        lambda y: y.astype("Int64"),
        lambda y: y.astype(">i4").to_numpy(),
        lambda y: pa.chunked_array([y.tolist()]),
        lambda y: np.ma.masked_array(y.to_numpy()),
        pl.Series,
    ],
    ids=["Int64", "big-endian", "pyarrow", "not masked", "polars"],
)
def test_labels_of_any_form_stay_whole_numbers(frame, labels):
    X = frame[COLUMNS]
    clf = make_classifier().fit(X, labels(frame["y"]))
    assert clf.classes_.tolist() == [0, 1]
    assert clf.predict(X).dtype.kind == "i"


def _masked(values):
    return np.ma.masked_array(values, mask=np.arange(values.size) % 50 == 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": lambda f: _masked(f["y"].to_numpy())}, "y .* got 6 missing"),
        ({"z": lambda f: _masked(f["z"].to_numpy(object))}, "got 6 missing of 300"),
        ({"z": lambda f: {"z": f["z"]}}, r"call pandas\.DataFrame\(sensitive_features"),
        ({"X": lambda f: f[COLUMNS].to_dict("records")}, r"call pandas\.DataFrame"),
        ({"X": lambda f: [[1, 2]] * 299 + [[1]]}, "same number of values in every row"),
        ({"X": lambda f: b"a,b\n1,2\n"}, "got b'a,b"),
        ({"X": lambda f: "q" * 10**4}, "X must be a table"),
        ({"X": lambda f: f[COLUMNS].assign(b="q" * 10**4)}, "could not convert"),
        ({"y": lambda f: ["q" * 10**4, "r", "s"] * 100}, "two classes, got 3"),
        ({"w": lambda f: ["q" * 10**4] * 300}, "sample_weight must be numbers"),
    ],
)
def test_what_is_refused_is_refused_in_a_few_words(frame, change, message):
    given = {"X": frame[COLUMNS], "y": frame["y"], "z": frame["z"], "w": None}
    for name, make in change.items():
        given[name] = make(frame)
    groups = {"sensitive_features": given["z"], "sample_weight": given["w"]}
    with pytest.raises(ValueError, match=message) as error:
        make_classifier().fit(given["X"], given["y"], **groups)
    assert len(str(error.value)) < 2000


@pytest.mark.parametrize(
    "cell", [pd.Timestamp("2024-01-01"), [1, 2]], ids=["date", "list"]
)
def test_cells_that_a_learner_cannot_read_are_named(frame, cell):
    X = frame[COLUMNS].assign(odd=[cell] * 300)
    with pytest.raises((TypeError, ValueError)) as error:
        make_classifier().fit(X, frame["y"])
    notes = getattr(error.value, "__notes__", [])
    assert "'odd'" in " ".join([str(error.value), *notes])


def test_a_batch_with_a_long_text_is_refused_in_a_few_words(frame):
    clf = make_classifier().fit(frame[COLUMNS], frame["y"])
    with pytest.raises(ValueError) as error:
        clf.predict(frame[COLUMNS].assign(b="q" * 10**4))
    assert len(str(error.value)) < 2000


ENCODERS = {
    "skrub": tabular_pipeline(LogisticRegression()),
    "scikit-learn": make_pipeline(
        OneHotEncoder(drop="first", handle_unknown="ignore"), LogisticRegression()
    ),
}


@pytest.mark.parametrize("encoder", ENCODERS)
def test_of_new_levels_cape_alone_warns(frame, encoder):
    text = pd.DataFrame({"text": np.where(frame["y"] == 1, "good", "bad")})
    text.iloc[::3] = "fair"
    learner = ENCODERS[encoder]
    clf = CapeClassifier(learner, cv=2, random_state=0).fit(text, frame["y"])
    with pytest.warns() as caught:
        clf.adapt(text.replace("fair", "new"))
    assert {warning.category for warning in caught} == {AdaptationWarning}


def test_the_group_is_added_to_many_columns_in_silence(frame):
    wide = pd.DataFrame({f"c{i}": frame["a"] + i for i in range(120)}).astype("Float64")
    learner = HistGradientBoostingClassifier(max_iter=2)
    clf = CapeClassifier(learner, share_estimator=True, cv=2, random_state=0)
    clf.fit(wide, frame["y"], sensitive_features=frame["z"])
    assert len(clf.predict(wide, sensitive_features=frame["z"])) == 300
