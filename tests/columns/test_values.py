"""Values of a column are read alike, whatever library and type hold them."""

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from cape._columns._cells import Column, column_names, take_column

KINDS = {
    "integers": ([1, 2, 3], "number"),
    "floats": ([1.5, np.nan, np.inf], "number"),
    "booleans": ([True, False], "number"),
    "booleans and gaps": ([True, None], "number"),
    "nullable integers": (pd.array([1, None], dtype="Int64"), "number"),
    "nullable booleans": (pd.array([True, None], dtype="boolean"), "number"),
    "decimals": ([Decimal("1.5"), None], "number"),
    "dates": ([date(2020, 1, 1), None], "date"),
    "times": (pd.to_datetime(["2020-01-01", None]), "date"),
    "texts": (["a", None, "b"], "text"),
    "bytes": ([b"a", b"b"], "text"),
    "categories": (pd.Categorical(["a", None, "b"]), "text"),
    "categories of numbers": (pd.Categorical([1, 2]), "mixed"),
    "texts and numbers": (["a", 1, None], "mixed"),
    "nothing": ([None, np.nan], "empty"),
    "no rows": ([], "empty"),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_a_column(name):
    values, kind = KINDS[name]
    column = Column(pd.Series(values))
    assert column.kind == kind
    assert len(column) == len(values)
    np.testing.assert_array_equal(column.missing, pd.isna(pd.Series(values)))


@pytest.mark.parametrize("name", [name for name in KINDS if KINDS[name][1] == "number"])
def test_numbers_are_floats_and_gaps_are_nan(name):
    column = Column(pd.Series(KINDS[name][0]))
    numbers = column.numbers
    assert numbers.dtype == np.float32
    np.testing.assert_array_equal(np.isnan(numbers), column.missing)


def test_dates_are_seconds_in_any_zone_and_precision():
    moment = datetime(2020, 1, 1, 12, tzinfo=UTC)
    naive = pd.Series([moment.replace(tzinfo=None), None])
    zoned = pd.Series(pd.to_datetime([moment, None]).tz_convert("Asia/Tokyo"))
    coarse = naive.astype("datetime64[s]")
    for values in (naive, zoned, coarse, pl.Series([moment, None])):
        numbers = Column(values).numbers
        assert numbers[0] == moment.timestamp()
        assert np.isnan(numbers[1])


def test_equal_texts_are_one_level():
    place, distinct = Column(pd.Series([1, "1", None, "b"], dtype=object)).levels()
    assert distinct == ["1", "b"]
    assert place.tolist() == [0, 0, -1, 1]


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, None],
        [1.5, None],
        [True, None, False],
        ["a", None, "b"],
        [date(2020, 1, 1), None],
        [datetime(2020, 1, 1, 5), None],
        [None, None],
    ],
)
def test_polars_and_pandas_read_the_same(values):
    ours = Column(pl.Series("x", values))
    theirs = Column(pd.Series(values))
    assert ours.kind == theirs.kind
    np.testing.assert_array_equal(ours.missing, theirs.missing)
    if ours.kind in ("number", "date"):
        np.testing.assert_array_equal(ours.numbers, theirs.numbers)
    else:
        assert ours.levels()[1] == theirs.levels()[1]


def test_categories_of_polars_are_texts():
    column = Column(pl.Series(["b", None, "a"], dtype=pl.Categorical))
    assert column.kind == "text"
    assert column.levels()[1] == ["b", "a"]


def test_columns_have_names_or_places():
    frame = pd.DataFrame([[1, 2]], columns=["a", 5])
    assert column_names(frame) == ["a", "5"]
    assert column_names(pl.DataFrame({"b": [1]})) == ["b"]
    assert column_names(np.zeros((2, 3))) == ["x0", "x1", "x2"]


def test_what_is_no_table_of_columns_has_none():
    sparse = pytest.importorskip("scipy.sparse")
    assert column_names(sparse.csr_array((3, 2))) == []
    assert column_names(["a text", "another"]) == []
    assert column_names(np.zeros(3)) == []


def test_columns_of_the_same_name_are_told_apart_by_place():
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert take_column(frame, 1).numbers.tolist() == [2]
