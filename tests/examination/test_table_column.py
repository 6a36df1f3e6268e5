"""A column of any table is read as numbers, dates or text."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from cape.examination._suspicious import read_column

DAYS = [datetime.date(2013, 8, 14), None, datetime.date(2014, 1, 2)]


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.0, np.nan, 3.0]),
        np.array([1, None, 3], dtype=object),
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype="float32"),
        pd.Series([1, None, 3], index=[7, 7, 7]),
        pl.Series([1, None, 3]),
        pd.Series(pd.to_timedelta([1, None, 3], unit="s")),
    ],
)
def test_numbers(values):
    column = read_column(values)
    assert column.kind == "number"
    np.testing.assert_array_equal(column.values, [1.0, np.nan, 3.0])
    assert column.missing.tolist() == [False, True, False]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["a", None, "b"]),
        pd.Series(["a", None, "b"], dtype=object),
        pd.Series(["a", None, "b"], dtype="category"),
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        np.array(["a", None, "b"], dtype=object),
        pl.Series(["a", None, "b"]),
        pl.Series(["a", None, "b"], dtype=pl.Categorical),
    ],
)
def test_text(values):
    column = read_column(values)
    assert column.kind == "text"
    assert column.values.tolist() == ["a", None, "b"]
    assert column.missing.tolist() == [False, True, False]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(pd.to_datetime(DAYS)),
        pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("Europe/Berlin"),
        pd.Series(pd.to_datetime(DAYS)).dt.to_period("D"),
        pd.Series(DAYS, dtype=object),
        pl.Series(DAYS),
    ],
)
def test_dates_keep_their_order(values):
    column = read_column(values)
    assert column.kind == "date"
    assert column.missing.tolist() == [False, True, False]
    assert column.values[0] < column.values[2]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.Series([True, False]), ["True", "False"]),
        (pd.Series([True, None], dtype="boolean"), ["True", None]),
        (pd.Series([1, "a"], dtype=object), ["1", "a"]),
        (pd.Series([[1, 2], None], dtype=object), ["[1, 2]", None]),
        (pd.Series([1, 2], dtype="category"), ["1", "2"]),
    ],
)
def test_everything_else_is_text(values, expected):
    column = read_column(values)
    assert column.kind == "text"
    assert column.values.tolist() == expected


def test_a_column_without_values_is_a_column_of_missing_numbers():
    column = read_column(pd.Series([None, None], dtype=object))
    assert column.kind == "number"
    assert column.missing.all()
