"""Arrow's types in plain words, and as the types that learners take."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cape._tables import TableError, TableWriter, read_table, table_kinds
from cape._tables._convert import (
    arrow_type,
    kind_of_type,
    to_frame,
    to_verbatim_frame,
)

KINDS = {
    "number": [
        pa.int8(),
        pa.uint64(),
        pa.float16(),
        pa.float64(),
        pa.decimal128(5, 2),
        pa.null(),
    ],
    "text": [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.time32("s"),
        pa.time64("us"),
        pa.dictionary(pa.int32(), pa.string()),
    ],
    "date": [
        pa.date32(),
        pa.date64(),
        pa.timestamp("s"),
        pa.timestamp("ns", "UTC"),
        pa.dictionary(pa.int8(), pa.date32()),
    ],
    "flag": [pa.bool_()],
    "other": [
        pa.binary(),
        pa.list_(pa.int64()),
        pa.struct([("a", pa.int64())]),
        pa.duration("s"),
        pa.map_(pa.string(), pa.int64()),
    ],
}
CASES = [(kind, type_) for kind, types in KINDS.items() for type_ in types]


@pytest.mark.parametrize(("kind", "type_"), CASES, ids=str)
def test_every_type_has_a_word(kind, type_):
    assert kind_of_type(type_) == kind


@pytest.mark.parametrize("kind", ["text", "number", "date", "flag"])
def test_a_word_is_read_as_a_type_of_that_word(kind):
    assert kind_of_type(arrow_type(kind)) == kind


@pytest.mark.parametrize(
    ("values", "type_", "dtype", "first"),
    [
        ([decimal.Decimal("1.50"), None], None, "float64", 1.5),
        ([None, None], pa.null(), "float64", np.nan),
        ([datetime.time(12, 30), None], None, "str", "12:30:00.000000"),
        (
            [datetime.date(2024, 2, 29), None],
            None,
            "datetime64[us]",
            pd.Timestamp("2024-02-29"),
        ),
        (
            [datetime.datetime(2024, 2, 29, 1), None],
            pa.timestamp("s"),
            "datetime64[us]",
            pd.Timestamp("2024-02-29 01:00"),
        ),
        (
            [datetime.datetime(2024, 2, 29, 1), None],
            pa.timestamp("s", "Europe/Berlin"),
            "datetime64[us, Europe/Berlin]",
            pd.Timestamp("2024-02-29 02:00", tz="Europe/Berlin"),
        ),
        ([1, 2], pa.int16(), "int16", 1),
        ([True, False], None, "bool", True),
    ],
)
def test_values_become_what_learners_take(values, type_, dtype, first):
    table = pa.table({"a": pa.array(values, type_), "b": pa.array([1, 2])})
    frame = to_frame(table)
    assert list(frame) == ["a", "b"]
    assert str(frame["a"].dtype) == dtype
    if first is np.nan:
        assert np.isnan(frame["a"].iloc[0])
    else:
        assert frame["a"].iloc[0] == first


def test_a_copy_keeps_the_types_of_arrow():
    table = pa.table(
        {
            "n": pa.array([1, None], pa.int8()),
            "price": pa.array([decimal.Decimal("1.50"), None]),
            "day": pa.array([datetime.date(2024, 2, 29), None]),
        }
    )
    frame = to_verbatim_frame(table)
    again = pa.Table.from_pandas(frame, preserve_index=False)
    assert again.replace_schema_metadata(None).equals(table)


def test_the_index_of_the_writer_is_not_restored(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index([10, 20], name="id"))
    frame.to_parquet(tmp_path / "t.parquet")
    back = read_table(tmp_path / "t.parquet")
    assert list(back.index) == [0, 1]
    assert back["id"].tolist() == [10, 20]


def test_kinds_survive_writing_and_reading(tmp_path):
    frame = pd.DataFrame(
        {
            "n": [1.5, None],
            "t": ["a", None],
            "d": pd.to_datetime(["2024-02-29", None]),
            "f": [True, False],
        }
    )
    expected = {"n": "number", "t": "text", "d": "date", "f": "flag"}
    for suffix in ("csv", "csv.gz", "parquet", "feather", "arrow"):
        path = tmp_path / f"t.{suffix}"
        with TableWriter(path) as writer:
            writer.write(frame)
        assert table_kinds(path) == expected


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_names_that_occur_twice_in_a_typed_table_are_refused(tmp_path, suffix):
    table = pa.table([pa.array([1]), pa.array([2])], names=["x", "x"])
    path = tmp_path / f"t.{suffix}"
    if suffix == "parquet":
        pa.parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as sink:
            sink.write_table(table)
    for read in (read_table, table_kinds):
        with pytest.raises(TableError, match="several columns called 'x'"):
            read(path)
