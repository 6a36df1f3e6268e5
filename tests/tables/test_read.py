"""Reading tables: every format in parts, and every mistake in one line."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape._tables import (
    Dialect,
    TableError,
    iter_table,
    read_table,
    table_columns,
    table_length,
)

TABLE = pd.DataFrame(
    {
        "age": [30, 41, 52, 63, 74],
        "score": [0.5, None, -1.5, 2e-3, 7.0],
        "race": ["a", "b", None, "ä, ö", 'said "x"\nand left'],
        "day": pd.to_datetime(
            ["2013-01-01", "2013-02-01", None, "2014-01-05", "2014-01-06"]
        ),
        "free": [True, False, True, True, False],
    }
)
FORMATS = ["csv", "csv.gz", "parquet", "feather", "arrow", "stream.arrow"]


def save(path, frame=TABLE):
    name = path.name
    if name.endswith((".csv", ".csv.gz")):
        frame.to_csv(path, index=False)
    elif name.endswith(".parquet"):
        frame.to_parquet(path, row_group_size=2)
    elif name.endswith(".stream.arrow"):
        table = pa.Table.from_pandas(frame)
        with pa.ipc.new_stream(str(path), table.schema) as sink:
            sink.write_table(table, max_chunksize=2)
    else:
        frame.to_feather(path)
    return path


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_every_format_gives_the_same_rows_in_parts_of_the_length_asked_for(
    tmp_path, suffix, rows
):
    path = save(tmp_path / f"t.{suffix}")
    parts = list(iter_table(path, rows))
    assert [len(part) for part in parts] == [
        min(rows, 5 - start) for start in range(0, 5, rows)
    ]
    whole = pd.concat(parts, ignore_index=True)
    pd.testing.assert_frame_equal(whole, TABLE, check_dtype=False)
    pd.testing.assert_frame_equal(read_table(path), TABLE, check_dtype=False)
    assert table_columns(path) == list(TABLE)
    assert table_length(path) == (None if "csv" in suffix or "stream" in suffix else 5)


@pytest.mark.parametrize("suffix", FORMATS)
def test_columns_are_picked_in_the_order_asked_for(tmp_path, suffix):
    path = save(tmp_path / f"t.{suffix}")
    assert list(read_table(path, columns=["race", "age"])) == ["race", "age"]
    with pytest.raises(TableError, match=r"has no column 'rage'; did you mean 'age'"):
        read_table(path, columns=["rage"])


def test_verbatim_fields_are_what_the_file_holds(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('code,when,amount\n007,01/02/2013,1.50\nNA,"",1e3\n')
    (part,) = iter_table(path, verbatim=True)
    assert part["code"].tolist() == ["007", "NA"]
    assert part["amount"].tolist() == ["1.50", "1e3"]
    assert part["when"].isna().tolist() == [False, True]
    parquet = save(
        tmp_path / "t.parquet", pd.DataFrame({"n": pd.array([1, None], dtype="Int64")})
    )
    (part,) = iter_table(parquet, verbatim=True)
    assert str(part["n"].dtype) == "int64[pyarrow]"


def test_types_can_be_given_where_a_csv_leaves_them_open(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("zip,when,yes,n\n007,2013-01-02,1,5\n010,2013-01-03 10:00:00,0,6\n")
    assert read_table(path)["zip"].tolist() == [7, 10]
    frame = read_table(
        path, types={"zip": "text", "when": "date", "yes": "flag", "n": "number"}
    )
    assert frame["zip"].tolist() == ["007", "010"]
    assert frame["when"].dtype.kind == "M"
    assert frame["yes"].tolist() == [True, False]
    assert frame["n"].dtype == float
    for kind, words in (
        ("number", "numbers"),
        ("date", "dates such as 2024-03-01 or 01.03.2024"),
        ("flag", "true or false"),
    ):
        path.write_text("n\nseven\n")
        with pytest.raises(
            TableError, match=rf"column 'n': expected {words}, got .*seven"
        ):
            read_table(path, types={"n": kind})


@pytest.mark.parametrize(
    ("first", "last", "kind"),
    [
        ("1", "x", "text"),
        ("1", "2.5", "float64"),
        ("", "3", "float64"),
        ("2013-01-01", "soon", "text"),
        ("true", "7", "text"),
    ],
)
def test_a_type_is_that_of_the_whole_file_not_of_its_first_block(
    tmp_path, monkeypatch, first, last, kind
):
    monkeypatch.setattr("cape._tables._csv._BLOCK", 4096)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + f"{first},0\n" * 5000 + f"{last},0\n")
    parts = list(iter_table(path, 1000))
    assert sum(map(len, parts)) == 5001
    dtypes = {str(part["a"].dtype) for part in parts}
    assert dtypes <= ({"str", "object"} if kind == "text" else {"float64", "int64"})
    result = parts[-1]["a"].iloc[-1]
    assert result == (last if kind == "text" else float(last))


def test_names_are_made_distinct_and_never_empty(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\ufeffa,a, b ,,a.1\n1,2,3,4,5\n", encoding="utf-8")
    assert table_columns(path) == ["a", "a.1", "b", "column 4", "a.1.1"]
    assert read_table(path).iloc[0].tolist() == [1, 2, 3, 4, 5]
    double = pa.table([pa.array([1]), pa.array([2])], names=["x", "x"])
    pa.parquet.write_table(double, tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"several columns called 'x'"):
        read_table(tmp_path / "t.parquet")


MISTAKES = {
    "empty": (b"", r"t\.csv is empty"),
    "blank": (b"\n \n", r"t\.csv is empty"),
    "header only": (b"a,b\n", r"has a header but no rows"),
    "separator": (b"a;b;c\n1;2;3\n", r"separated by a semicolon.*--separator"),
    "tab": (b"a\tb\n1\t2\n", r"separated by a tab"),
    "latin-1": (
        "name,n\ncafé,1\n".encode("latin-1"),
        r"is not utf-8 text.*latin-1 \(--encoding\)",
    ),
    "latin-1 header": ("café,n\n1,1\n".encode("latin-1"), r"is not utf-8 text"),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), r"seems to be UTF-16"),
    "binary": (b"\x00\x01\x02\x03" * 10, r"is not utf-8 text"),
    "ragged": (b"a,b\n1,2\n1,2,3\n", r"3 fields where the header has 2"),
    "zip": (b"PK\x03\x04rest", r"spreadsheet or a zip"),
    "cut parquet": (b"PAR1 and then nothing", r"not a whole Parquet file"),
    "cut arrow": (b"ARROW1\x00\x00 and then nothing", r"not a whole Arrow file"),
    "cut gzip": (
        gzip.compress(b"a,b\n" + bytes(range(32, 127)) * 99)[:60],
        r"not a whole gzip|cannot be read",
    ),
    "feather 1": (b"FEA1 and more", r"Feather of version 1"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_one_line_that_names_the_file(tmp_path, mistake):
    content, message = MISTAKES[mistake]
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match=message) as caught:
        read_table(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_no_file_and_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nothing\.csv"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(ValueError, match="rows must be at least 1, got 0"):
        next(iter_table(tmp_path, 0))


def test_separator_and_encoding_can_be_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name;n\ncafé;1\n", encoding="latin-1")
    frame = read_table(path, dialect=Dialect(";", "latin-1"))
    assert frame["name"].tolist() == ["café"]
    with pytest.raises(TableError, match="separator must be one character, got '::'"):
        Dialect("::")
    with pytest.raises(TableError, match="encoding must be a known one"):
        Dialect(encoding="klingon")


def test_unusual_types_become_what_learners_take(tmp_path):
    from datetime import date, time
    from decimal import Decimal

    table = pa.table(
        {
            "price": pa.array([Decimal("1.50"), None]),
            "day": pa.array([date(2020, 1, 1), None]),
            "at": pa.array([time(12, 30), None]),
            "nothing": pa.nulls(2),
            "level": pa.array(["x", "y"]).dictionary_encode(),
        }
    )
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    frame = read_table(tmp_path / "t.parquet")
    assert frame["price"].dtype == float and frame["nothing"].dtype == float
    assert frame["day"].dtype.kind == "M"
    assert frame["at"].iloc[0].startswith("12:30")
    assert str(frame["level"].dtype) == "category"


@settings(max_examples=40, deadline=None)
@given(lengths=st.lists(st.integers(0, 7), max_size=8), rows=st.integers(1, 9))
def test_parts_hold_every_row_once_and_in_order(lengths, rows):
    from cape._tables._read import _exact_parts

    numbers = np.arange(sum(lengths))
    cut = np.split(numbers, np.cumsum(lengths)[:-1]) if lengths else []
    batches = [pa.record_batch({"n": pa.array(part)}) for part in cut]
    parts = list(_exact_parts(batches, rows))
    assert [n for part in parts for n in part["n"].to_pylist()] == numbers.tolist()
    assert all(len(part) == rows for part in parts[:-1])


def test_a_parquet_file_is_not_read_ahead(tmp_path):
    import pyarrow.parquet as pq

    random = np.random.default_rng(0)
    table = pa.table({f"x{i}": random.normal(size=400_000) for i in range(5)})
    pq.write_table(table, tmp_path / "long.parquet", row_group_size=10_000)
    before = pa.total_allocated_bytes()
    held = [
        pa.total_allocated_bytes() - before
        for _ in iter_table(tmp_path / "long.parquet", 10_000)
    ]
    assert len(held) == 40 and max(held) < table.nbytes / 4
