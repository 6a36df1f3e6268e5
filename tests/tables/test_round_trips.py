"""Tables written and read back, and CSV as people and spreadsheets write it."""

import csv
import gzip
import io
import tempfile
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape._tables import (
    Dialect,
    TableError,
    TableWriter,
    iter_table,
    read_table,
    table_columns,
    table_kinds,
)

NULLS = {
    "",
    "NA",
    "N/A",
    "NULL",
    "null",
    "NaN",
    "nan",
    "n/a",
    "#N/A",
    "#NA",
    "-nan",
    "-NaN",
    "1.#IND",
    "1.#QNAN",
}
text = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff"),
    max_size=8,
)
harmless = text.filter(
    lambda t: t not in NULLS and not t.startswith(tuple("=+-@\t\r\n＝＋－＠"))
)
KINDS = {
    "t": (st.none() | harmless, "str", "text"),
    "n": (
        st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "float64",
        "number",
    ),
    "i": (st.integers(-(2**53), 2**53), "int64", "number"),
    "f": (st.booleans(), "bool", "flag"),
    "d": (
        st.none() | st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)),
        "datetime64[us]",
        "date",
    ),
}


@st.composite
def frames(draw):
    n = draw(st.integers(1, 8))
    columns = {
        name: pd.Series(draw(st.lists(values, min_size=n, max_size=n)), dtype=dtype)
        for name, (values, dtype, _) in KINDS.items()
    }
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def write(path, frame, cuts=(), dialect=None):
    with TableWriter(path, overwrite=True, dialect=dialect) as writer:
        for part in np.split(np.arange(len(frame)), sorted(cuts)):
            writer.write(frame.iloc[part])
    return path


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "parquet", "feather"])
@settings(max_examples=25)
@given(
    frame=frames(), cuts=st.lists(st.integers(0, 8), max_size=3), rows=st.integers(1, 9)
)
def test_any_table_cut_anyhow_comes_back(folder, suffix, frame, cuts, rows):
    cuts = [min(cut, len(frame)) for cut in cuts]
    path = write(folder / f"t.{suffix}", frame, cuts)
    types = {name: kind for name, (_, _, kind) in KINDS.items()}
    dialect = Dialect("\t") if suffix == "tsv" else None
    parts = list(iter_table(path, rows, types=types, dialect=dialect))
    assert [len(part) for part in parts[:-1]] == [rows] * (len(parts) - 1)
    result = pd.concat(parts, ignore_index=True)
    expected = frame.astype({"i": "float64"}) if "sv" in suffix else frame
    pd.testing.assert_frame_equal(result, expected, check_dtype="sv" in suffix)
    if suffix in ("parquet", "feather"):
        assert table_kinds(path) == types


@pytest.mark.parametrize(
    "encoding", ["utf-8", "latin-1", "cp1252", "utf-16-le", "cp1251"]
)
@pytest.mark.parametrize("separator", [",", ";", "|", "\t"])
def test_every_dialect_written_is_read(folder, encoding, separator):
    letters = b"\xe0\xe9\xfc".decode("cp1251" if encoding == "cp1251" else "latin-1")
    frame = pd.DataFrame(
        {
            "id": [1, 2, 3],
            letters: [letters, f"a{separator}b\r\n", f'"{letters}"'],
            "x": [-0.5, None, 2],
        }
    )
    dialect = Dialect(separator, encoding)
    path = write(folder / "d.csv", frame, [1, 2], dialect)
    text = path.read_bytes().decode(encoding)
    assert text.startswith(f"id{separator}{letters}{separator}x\n1{separator}")
    pd.testing.assert_frame_equal(read_table(path, dialect=dialect), frame)
    assert table_columns(path, dialect=dialect) == list(frame)


def test_a_letter_that_the_encoding_lacks_is_an_error_and_leaves_nothing(tmp_path):
    with (
        pytest.raises(UnicodeEncodeError),
        TableWriter(tmp_path / "t.csv", dialect=Dialect(",", "latin-1")) as writer,
    ):
        writer.write(pd.DataFrame({"a": ["fine"]}))
        writer.write(pd.DataFrame({"a": ["\u4f60"]}))
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=40)
@given(
    st.lists(
        st.lists(text.filter(lambda t: "\r" not in t), min_size=2, max_size=2),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.booleans(),
)
def test_what_pythons_csv_writes_is_read_field_by_field(
    folder, rows, newline, quoting, zipped
):
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator=newline, quoting=quoting)
    writer.writerows([["a", "b"], *rows])
    content = sink.getvalue().encode()
    path = folder / "p.csv"  # gzip is told by the content, not by the name
    path.write_bytes(gzip.compress(content) if zipped else content)
    rows_read = []
    for part in iter_table(path, 4, verbatim=True):
        rows_read += part.fillna("").to_numpy(dtype=object).tolist()
    assert rows_read == rows


@settings(max_examples=60)
@given(
    st.binary(min_size=1, max_size=60)
    | st.text(alphabet='ab",;\n\r\t1 ', min_size=1, max_size=30).map(str.encode)
)
def test_any_bytes_are_a_table_or_an_error_of_one_line_that_names_the_file(
    folder, content
):
    path = folder / "hostile.csv"
    path.write_bytes(content)
    try:
        frame = read_table(path)
    except TableError as error:
        assert "hostile.csv" in str(error) and "\n" not in str(error)
    else:
        assert list(frame) == table_columns(path) and len(set(frame)) == len(
            list(frame)
        )


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (["1", "2"], "int64"),
        (["1", "2.5"], "float64"),
        (["1", "99999999999999999999"], "float64"),
        (["1", ""], "float64"),
        (["1e3", "-.5"], "float64"),
        (["inf", "-inf"], "float64"),
        (["1", "x"], "str"),
        (["1,5", "2,5"], "str"),
        (["true", "False"], "bool"),
        (["true", "7"], "str"),
        (["2024-02-29", "2024-03-01"], "datetime64[us]"),
        (["2024-02-29T10:00:00", "2024-03-01 11:00"], "datetime64[us]"),
        (["2023-02-29", "2024-03-01"], "str"),
        (["29.02.2024", "01.03.2024"], "datetime64[us]"),
        (["29.02.2023", "01.03.2024"], "str"),
        (["10:00:00", "11:30:00"], "str"),
        (["007", "8"], "int64"),
        ([" 1", "2 "], "int64"),
        (["", ""], "float64"),
    ],
)
@pytest.mark.parametrize("quoted", [False, True])
def test_what_a_column_of_fields_is_taken_for(tmp_path, fields, expected, quoted):
    path = tmp_path / "t.csv"
    quote = '"' if quoted or any("," in field for field in fields) else ""
    path.write_text("".join(f"{quote}{field}{quote},z\n" for field in ["a", *fields]))
    result = read_table(path)["a"]
    assert str(result.dtype) == expected
    assert result.isna().tolist() == [field == "" for field in fields]
    kind = {"i": "number", "f": "number", "b": "flag", "d": "date", "s": "text"}[
        expected[0]
    ]
    assert table_kinds(path)["a"] == kind


def test_lines_without_an_end_without_fields_or_with_a_return_are_lines(tmp_path):
    path = tmp_path / "t.csv"
    for content in (
        "a,b\n1,2\n3,4",
        "a,b\r\n1,2\r\n3,4\r\n",
        "a,b\n\n1,2\n\n3,4\n\n",
        '"a","b"\n"1","2"\n"3","4"',
    ):
        path.write_text(content, newline="")
        assert read_table(path).to_numpy().tolist() == [[1, 2], [3, 4]]


def test_a_header_may_be_long_or_go_over_lines(tmp_path):
    path = tmp_path / "t.csv"
    names = [
        f"column number {i}" for i in range(2000)
    ]  # longer than what is looked at first
    path.write_text(",".join(names) + "\n" + ",".join("1" * 2000) + "\n")
    assert table_columns(path) == names and read_table(path).shape == (1, 2000)
    path.write_text('"over\ntwo, lines",b\n1,2\n3,4\n')
    assert read_table(path).to_dict("list") == {"over\ntwo, lines": [1, 3], "b": [2, 4]}


def test_types_of_parquet_and_arrow_come_as_learners_take_them(tmp_path):
    table = pa.table(
        {
            "dictionary": pa.array(["u", "v", "u"]).dictionary_encode(),
            "int8": pa.array([1, None, 3], pa.int8()),
            "unsigned": pa.array([1, 2, 3], pa.uint64()),
            "single": pa.array([0.5, None, 1.5], pa.float32()),
            "view": pa.array(["a", None, "c"], pa.string_view()),
            "large": pa.array(["a", None, "c"], pa.large_string()),
            "zoned": pa.array([datetime(2024, 1, 1)] * 3, pa.timestamp("s", "UTC")),
            "nothing": pa.nulls(3),
            "duration": pa.array([1, 2, 3], pa.duration("s")),
            "bytes": pa.array([b"a", b"b", None]),
        }
    )
    kinds = [
        "text",
        "number",
        "number",
        "number",
        "text",
        "text",
        "date",
        "number",
        "other",
        "other",
    ]
    pa.parquet.write_table(table.drop(["view"]), tmp_path / "t.parquet")
    with pa.ipc.new_file(str(tmp_path / "t.arrow"), table.schema) as sink:
        sink.write_table(table)
    for name in ("t.parquet", "t.arrow"):
        result = table_kinds(tmp_path / name)
        assert result == {
            column: kind
            for column, kind in zip(table.column_names, kinds, strict=True)
            if column in result
        }
        frame = read_table(tmp_path / name)
        assert frame["dictionary"].astype(str).tolist() == ["u", "v", "u"]
        assert frame["nothing"].dtype == np.float64 and frame["nothing"].isna().all()
        assert frame["zoned"].tolist() == [pd.Timestamp("2024-01-01", tz="UTC")] * 3


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])
def test_a_file_cut_anywhere_is_refused_or_shorter_but_never_made_up(tmp_path, suffix):
    frame = pd.DataFrame({"a": np.arange(300), "b": [f"text {i}" for i in range(300)]})
    content = write(tmp_path / f"whole.{suffix}", frame, [100, 200]).read_bytes()
    path = tmp_path / f"cut.{suffix}"
    for size in np.linspace(1, len(content) - 1, 12).astype(int):
        path.write_bytes(content[:size])
        try:
            result = read_table(path)
        except TableError as error:
            assert f"cut.{suffix}" in str(error)
        else:
            assert suffix == "csv" and result["a"].iloc[:-1].tolist() == list(
                range(len(result) - 1)
            )


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_parts_of_other_columns_or_types_leave_no_file(tmp_path, suffix):
    first = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    for other in (
        first[["b", "a"]],
        first.rename(columns={"a": "c"}),
        first.assign(c=1),
    ):
        with (
            pytest.raises(
                ValueError, match=r"frame must have the columns \['a', 'b'\]"
            ),
            TableWriter(tmp_path / f"t.{suffix}") as writer,
        ):
            writer.write(first)
            writer.write(other)
    if suffix != "csv":
        with pytest.raises(ValueError), TableWriter(tmp_path / f"t.{suffix}") as writer:
            writer.write(first)
            writer.write(first.assign(a=[1.5, 2.5]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("separator", ["", ",,", "::"])
def test_a_separator_is_one_character(separator):
    with pytest.raises(TableError, match="separator must be one character"):
        Dialect(separator)


def test_an_encoding_must_exist():
    with pytest.raises(
        TableError,
        match="encoding must be a known one such as utf-8 or latin-1, got 'klingon'",
    ):
        Dialect(encoding="klingon")
