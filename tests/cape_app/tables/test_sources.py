"""Every source of a table: the same rows, or one sentence that says what is wrong."""

import bz2
import csv
import errno
import gzip
import hashlib
import json
import os
import sqlite3
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape_app.tables import Dialect, TableError, source_files
from cape_app.tables._open import open_table

TABLE = pd.DataFrame(
    {
        "age": [30, 41, 52, 63, 74],
        "score": [0.5, None, -1.5, 2e-3, 7.25],
        "race": ["a", "b", None, "ä, ö", 'said "x"'],
        "day": pd.to_datetime(
            ["2013-01-01", "2013-02-01", None, "2014-01-05", "2014-01-06"]
        ),
        "free": [True, False, True, True, False],
        "zip": ["01234", "56789", "00001", "10000", "02000"],
    }
)
KINDS = dict(
    zip(TABLE, ["number", "number", "text", "date", "flag", "text"], strict=True)
)


def read(source, dialect=None, **options):
    """Read a whole table."""
    return pd.concat(
        list(open_table(source, dialect).parts(**options)), ignore_index=True
    )


def json_lines(folder, frame=TABLE, name="t.jsonl"):
    text = frame.to_json(orient="records", lines=True, date_format="iso")
    path = folder / name
    path.write_bytes(
        gzip.compress(text.encode()) if name.endswith("gz") else text.encode()
    )
    return path


def sqlite(folder, frame=TABLE, name="t.sqlite", table="loans"):
    with sqlite3.connect(folder / name) as connection:
        # SQLite has no type for true and false.
        texts = frame.assign(free=frame["free"].map({True: "true", False: "false"}))
        texts.to_sql(table, connection, index=False, if_exists="replace")
    connection.close()
    return folder / f"{name}::{table}"


def sheet(folder, frame=TABLE, name="t.xlsx", sheet_name="March"):
    frame.to_excel(folder / name, index=False, sheet_name=sheet_name)
    return folder / name


def parts(folder, frame=TABLE):
    (folder / "parts").mkdir()
    frame[:2].to_csv(folder / "parts" / "1.csv", index=False)
    frame[2:].to_parquet(folder / "parts" / "2.parquet")
    return folder / "parts"


SOURCES = [
    json_lines,
    lambda folder: json_lines(folder, name="t.ndjson.gz"),
    sqlite,
    sheet,
    parts,
]
NAMES = ["json lines", "gzipped", "sqlite", "sheet", "folder"]


@pytest.mark.parametrize("make", SOURCES, ids=NAMES)
@pytest.mark.parametrize("rows", [2, 100])
def test_every_source_gives_the_rows_and_kinds_of_the_table(tmp_path, make, rows):
    source = make(tmp_path)
    found = open_table(source).kinds()
    assert found == KINDS
    expected = TABLE.assign(day=TABLE["day"].astype("datetime64[us]"))
    frame = read(source, rows=rows, columns=list(TABLE)[::-1])[list(TABLE)]
    for name in TABLE:
        pd.testing.assert_series_equal(
            frame[name], expected[name], check_dtype=False, check_names=False
        )


@pytest.mark.parametrize("make", SOURCES, ids=NAMES)
def test_a_hash_is_that_of_the_same_rows(tmp_path, make):
    source = make(tmp_path)
    digests = [open_table(source).sha256() for _ in range(2)]
    assert digests[0] == digests[1] != hashlib.sha256().hexdigest()


MISTAKES = [
    ("t.sqlite::loan", r"has no table 'loan'; did you mean 'loans'\?"),
    ("t.sqlite::x", r"has no table 'x'; its tables are 'loans', 'more'"),
    ("t.sqlite", r"has 2 tables: say which one, such as t\.sqlite::loans"),
    ("t.xlsx::Marhc", r"has no sheet 'Marhc'; did you mean 'March'\?"),
    ("t.csv::x", r"t\.csv has only one table: name it without ::x"),
    ("list.json", r"list\.json, line 1: each line must be a JSON object"),
    ("bare.csv", r"If its first line is data, put a line with names above it"),
    ("title.csv", r"If a title stands above the names, delete it"),
    ("bad.jsonl", r"bad\.jsonl, line 2: each line must be a JSON object"),
    ("deep.jsonl", r"deep\.jsonl, line 1: each line must be a JSON object"),
    ("half.jsonl", r"half\.jsonl cannot be read: .*surrogate"),
    ("cut.sqlite::loans", r"cut\.sqlite.* cannot be read"),
    ("cut.xlsx", r"cut\.xlsx is a spreadsheet or a zip file, and cannot be read"),
    ("cut.arrow", r"cut\.arrow cannot be read"),
    ("one.csv", r"If a title stands above the names, delete it"),
    ("blanks.csv", r"If blanks stand between its fields, say so"),
    ("t.duckdb", r"t\.duckdb is a DuckDB database: let DuckDB write the table"),
    ("page.xls", r"page\.xls is HTML or XML: .* save it as \.xlsx or CSV"),
    ("t.csv.bz2", r"t\.csv\.bz2 is compressed: unpack it, or pack it with gzip"),
    (
        "zeros.csv",
        r"zeros\.csv is not utf-8 text: it holds zero bytes\. Save it as CSV",
    ),
    ("odd", r"README\.txt has no column in common.*1\.csv|1\.csv has no column in"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    sqlite(folder)
    sqlite(folder, table="more")
    sheet(folder)
    TABLE.to_csv(folder / "t.csv", index=False)
    (folder / "list.json").write_text('[{"a": 1}, {"a": 2}]')
    (folder / "bare.csv").write_text("31,a,2.5\n32,b,1.5\n")
    (folder / "title.csv").write_text("Loans,,\nage,race,score\n32,b,1.5\n")
    (folder / "bad.jsonl").write_text('{"a": 1}\n{"a": \n')
    (folder / "deep.jsonl").write_text('{"age": ' + 100_000 * "[")
    # Half of a character that takes two.
    (folder / "half.jsonl").write_text('{"age": "\\ud800"}\n')
    (folder / "cut.sqlite").write_bytes((folder / "t.sqlite").read_bytes()[:3000])
    (folder / "cut.xlsx").write_bytes((folder / "t.xlsx").read_bytes()[:3000])
    arrow = pa.Table.from_pandas(TABLE)
    with pa.ipc.new_stream(str(folder / "cut.arrow"), arrow.schema) as sink:
        sink.write_table(arrow)
    (folder / "cut.arrow").write_bytes((folder / "cut.arrow").read_bytes()[:-100])
    (folder / "one.csv").write_text("Loans of March\nage,race\n32,b\n")
    (folder / "blanks.csv").write_text("age race\n32 b\n")
    (folder / "page.xls").write_text("<table><tr><td>age</td></tr></table>")
    (folder / "t.csv.bz2").write_bytes(bz2.compress(b"age\n32\n"))
    (folder / "zeros.csv").write_bytes(b"age,race\n32,b\x00\n")
    (folder / "t.duckdb").write_bytes(b"12345678DUCK5678")
    (folder / "odd").mkdir()
    (folder / "odd" / "1.csv").write_text("age,race\n32,b\n")
    (folder / "odd" / "README.txt").write_text("The loans of March.\nAll of them.\n")
    return folder


@pytest.mark.parametrize(("source", "message"), MISTAKES)
def test_mistakes_are_one_line_with_near_names(folder, source, message):
    with pytest.raises(TableError, match=message) as caught:
        read(folder / source, columns=["age"])
    assert "\n" not in str(caught.value)


def test_json_lines_are_recognised_by_their_content(tmp_path):
    for name, mark in [("a.jsonl", b"\xef\xbb\xbf"), ("a.txt", b"")]:
        (tmp_path / name).write_bytes(mark + b'{"age": 1}\r\n{"age": 2}\r\n')
        assert read(tmp_path / name)["age"].tolist() == [1, 2]


def test_a_file_is_taken_by_its_name_whatever_signs_that_has(tmp_path):
    for name in ("a[1].csv", "*.csv", "a::b.csv", "a1.csv"):
        (tmp_path / name).write_text(f"x\n{name}\n")
    for name in ("a[1].csv", "*.csv", "a::b.csv"):
        assert source_files(tmp_path / name) == [tmp_path / name]
        assert read(tmp_path / name)["x"].tolist() == [name]
    assert read(tmp_path / "a?.csv")["x"].tolist() == ["a1.csv"]
    with pytest.raises(FileNotFoundError, match="no file matches"):
        open_table(tmp_path / "b*.csv")
    assert read(sqlite(tmp_path, table="a::b"))["age"].tolist() == [30, 41, 52, 63, 74]


def test_a_folder_that_may_not_be_listed_is_not_left_out_in_silence(
    tmp_path, monkeypatch
):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.csv").write_text("x\n1\n")
    scandir = os.scandir

    def guarded(path):
        if Path(path).name == "b":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    with pytest.raises(PermissionError):
        open_table(tmp_path)


def test_names_of_folders_are_columns_and_what_differs_is_brought_together(tmp_path):
    for year, values in {"2023": ["1", "2"], "2024": ["2.5", "x"]}.items():
        part = tmp_path / f"year={year}" / "state=N%20Y"
        part.mkdir(parents=True)
        pd.DataFrame({"a": values}).to_csv(part / "a.csv", index=False)
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "notes.md").write_text("# no table")
    pd.DataFrame({"a": [3], "b": [True]}).to_parquet(
        tmp_path / "year=2024" / "b.parquet"
    )
    table = open_table(tmp_path)
    assert table.kinds() == {
        "a": "text",
        "b": "flag",
        "year": "number",
        "state": "text",
    }
    frame = read(tmp_path)
    assert frame["a"].tolist() == ["1", "2", "3", "2.5", "x"]
    assert frame["year"].tolist() == [2023, 2023, 2024, 2024, 2024]
    assert frame["state"].isna().sum() == 1
    assert ("missing_in_parts", {"column": "b", "n": 2, "parts": 3}) in table.remarks
    # A pattern means the same files.
    pd.testing.assert_frame_equal(read(tmp_path / "year=*" / "**" / "*.*"), frame)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2.5], "number"),
        ([1, None], "number"),
        (["1", "2"], "number"),
        (["007", "8"], "text"),
        ([1, "x"], "text"),
        ([True, False], "flag"),
        ([True, 1], "text"),
        (["NA", "", "null"], "number"),
        ([10**30, 1], "number"),
        ([[1], None], "other"),
        (["2024-01-01", "2024-01-02T10:00Z"], "date"),
    ],
)
def test_values_of_json_are_what_they_are_and_text_what_a_csv_takes_it_for(
    tmp_path, values, kind
):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"a": value}) + "\n" for value in values))
    assert open_table(path).kinds() == {"a": kind}
    assert len(read(path)) == len(read(path, verbatim=True)) == len(values)


@settings(max_examples=40, deadline=None)
@given(
    fields=st.lists(
        st.tuples(*[st.text('a1,"\n; é', max_size=6)] * 2), min_size=1, max_size=8
    ),
    cut=st.integers(1, 200),
    separator=st.sampled_from(",;"),
)
def test_rows_are_read_as_they_were_written_and_a_cut_file_has_no_more(
    tmp_path_factory, fields, cut, separator
):
    path = tmp_path_factory.mktemp("quotes") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        writer.writerows([("x", "y"), *fields])
    rows = read(path, Dialect(separator), verbatim=True).fillna("")
    assert list(rows.itertuples(index=False, name=None)) == fields
    whole = path.read_bytes()
    path.write_bytes(whole[: -(cut % len(whole)) or None])
    try:
        left = list(open_table(path, Dialect(separator)).parts(verbatim=True))
    except TableError:
        return
    assert sum(map(len, left)) <= len(fields)


def test_a_quote_within_a_field_is_a_sign_like_any_other(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('x,y\n5" pipe,1\n"6"" pipe",2\n7" pipe,3\n')
    assert read(path)["x"].tolist() == ['5" pipe', '6" pipe', '7" pipe']
