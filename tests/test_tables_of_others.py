"""Tables of pyarrow, lists of mixed types, and tables that are not in memory."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier

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
