"""Writing tables: complete or not at all, and never over another file."""

import csv
import io
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape._tables import Dialect, TableError, TableWriter, iter_table, read_table
from cape._tables._csv_header import csv_names

FRAME = pd.DataFrame(
    {
        "n": [1, -2, 3],
        "x": [0.1, None, -2.5],
        "text": ["a", "b,c", None],
        "flag": [True, False, True],
    }
)


@pytest.mark.parametrize(
    "suffix", ["csv", "csv.gz", "tsv", "parquet", "feather", "arrow"]
)
def test_parts_written_are_the_rows_read(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    dialect = Dialect("\t") if suffix == "tsv" else None
    with TableWriter(path) as writer:
        writer.write(FRAME.iloc[:1])
        writer.write(FRAME.iloc[1:])
        assert not path.exists()
    pd.testing.assert_frame_equal(
        read_table(path, dialect=dialect), FRAME, check_dtype=False
    )
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_after_an_error_nothing_is_left(tmp_path):
    with (
        pytest.raises(RuntimeError, match="stop"),
        TableWriter(tmp_path / "t.csv") as writer,
    ):
        writer.write(FRAME)
        raise RuntimeError("stop")
    with (
        pytest.raises(ValueError, match=r"frame must have the columns \['n'"),
        TableWriter(tmp_path / "t.csv") as writer,
    ):
        writer.write(FRAME)
        writer.write(FRAME[["n"]])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("background", [False, True])
def test_an_error_in_writing_names_the_file_and_nothing_is_left(
    tmp_path, parts, background
):
    odd = pd.DataFrame({"x": [1.0]})
    with (
        pytest.raises(TableError, match=r"t\.parquet cannot be written: disk full"),
        TableWriter(tmp_path / "t.parquet", background=background) as writer,
    ):
        writer.write(odd)
        writer._sink = FullDisk(writer._sink)
        for _ in range(parts):
            writer.write(odd)
    assert list(tmp_path.iterdir()) == []


class FullDisk:
    def __init__(self, sink):
        self.close = sink.close

    def write(self, table):
        raise OSError("disk full")


def test_a_frame_that_is_used_again_was_written_as_it_was(tmp_path):
    frame = pd.DataFrame({"x": np.zeros(200_000)})
    with TableWriter(tmp_path / "t.parquet") as writer:
        for i in range(3):
            frame.loc[:, "x"] = float(i)
            writer.write(frame)
    assert read_table(tmp_path / "t.parquet")[
        "x"
    ].value_counts().to_dict() == dict.fromkeys([0.0, 1.0, 2.0], 200_000)


def test_text_in_lists_has_a_dictionary(tmp_path):
    with TableWriter(tmp_path / "t.parquet") as writer:
        writer.write(pd.DataFrame({"words": [["a", "b"], ["a"]], "x": [0.5, 1.5]}))
    group = pyarrow.parquet.ParquetFile(tmp_path / "t.parquet").metadata.row_group(0)
    assert any("DICTIONARY" in encoding for encoding in group.column(0).encodings)


def test_floats_have_no_dictionary_and_words_do(tmp_path):
    with TableWriter(tmp_path / "t.parquet") as writer:
        writer.write(FRAME)
    group = pyarrow.parquet.ParquetFile(tmp_path / "t.parquet").metadata.row_group(0)
    by_dictionary = {
        group.column(i).path_in_schema: any(
            "DICTIONARY" in e for e in group.column(i).encodings
        )
        for i in range(4)
    }
    assert by_dictionary["text"] and not by_dictionary["x"]


def test_a_file_is_replaced_only_on_request(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("precious")
    with (
        pytest.raises(FileExistsError, match=r"t\.csv exists already.*--force"),
        TableWriter(path),
    ):
        pass
    assert path.read_text() == "precious"
    with TableWriter(path, overwrite=True) as writer:
        writer.write(FRAME)
        assert path.read_text() == "precious"
    assert path.read_text().startswith("n,x,text,flag\n1,0.1,a,true\n")


def test_a_file_that_came_meanwhile_is_kept(tmp_path):
    path = tmp_path / "t.csv"
    with pytest.raises(FileExistsError), TableWriter(path) as writer:
        writer.write(FRAME)
        path.write_text("precious")
    assert path.read_text() == "precious" and len(list(tmp_path.iterdir())) == 1


def test_bad_places(tmp_path):
    with pytest.raises(TableError, match=r"must end in one of \.csv"):
        TableWriter(tmp_path / "t.xlsx")
    with (
        pytest.raises(
            FileNotFoundError, match=r"the folder .*nowhere of t\.csv does not exist"
        ),
        TableWriter(tmp_path / "nowhere" / "t.csv"),
    ):
        pass
    (tmp_path / "t.csv").mkdir()
    with (
        pytest.raises(IsADirectoryError, match="is a folder"),
        TableWriter(tmp_path / "t.csv"),
    ):
        pass


DANGEROUS = [
    "=1+1",
    "+cmd",
    "-cmd",
    "@sum",
    "\t=1",
    "\r=1",
    "-1-1",
    "+1-555-0100",
    "\uff1d1",
    '=HYPERLINK("http://x")',
    "-",
]
HARMLESS = ["a=b", "1", "-1", "+1.5", "-.5e-3", "1e5", "", " =1", "x", "3-4", "'=1"]


def fields_of(values, name="v"):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        with TableWriter(path) as writer:
            writer.write(pd.DataFrame({name: pd.Series(values, dtype="str")}))
        return [
            row[0]
            for row in csv.reader(io.StringIO(path.read_bytes().decode(), newline=""))
        ][1:]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_parts_in_any_encoding_are_one_text(tmp_path, encoding):
    dialect = Dialect(",", encoding)
    with TableWriter(tmp_path / "t.csv", dialect=dialect) as writer:
        for _ in range(2):
            writer.write(pd.DataFrame({"a": ["x", "é"], "b": [1, 2]}))
    assert (
        read_table(tmp_path / "t.csv", dialect=dialect)["a"].tolist() == ["x", "é"] * 2
    )


def test_a_missing_value_in_the_only_column_is_a_row(tmp_path):
    with TableWriter(tmp_path / "t.csv") as writer:
        writer.write(pd.DataFrame({"a": ["x", None, "y"]}))
    assert len(read_table(tmp_path / "t.csv")) == 3


@pytest.mark.parametrize("separator", [".", "-", ":", " "])
def test_numbers_and_dates_that_hold_the_separator_are_quoted(tmp_path, separator):
    frame = pd.DataFrame(
        {
            "n": [1.5, -2.0],
            "day": pd.to_datetime(["2024-01-02 03:04", "2025-06-07 08:09"]),
        }
    )
    with TableWriter(tmp_path / "t.csv", dialect=Dialect(separator)) as writer:
        writer.write(frame)
    back = read_table(tmp_path / "t.csv", dialect=Dialect(separator))
    pd.testing.assert_frame_equal(back, frame, check_dtype=False)


@pytest.mark.parametrize("separator", ["\n", "\r", '"', "é", "", ";;"])
def test_what_cannot_separate_is_refused(separator):
    with pytest.raises(TableError, match="separator must be one character, got"):
        Dialect(separator)


@pytest.mark.parametrize("value", DANGEROUS)
def test_text_that_a_spreadsheet_would_run_is_written_as_text(value):
    assert fields_of([value]) == [f"'{value}"]


@pytest.mark.parametrize("value", HARMLESS)
def test_numbers_and_other_text_stay_as_they_are(value):
    assert fields_of([value]) == [value]


def test_a_column_name_is_a_field_too(tmp_path):
    with TableWriter(tmp_path / "t.csv") as writer:
        writer.write(pd.DataFrame({"=cmd()": [1], "a,b": [2]}))
    assert csv_names(tmp_path / "t.csv", Dialect()) == ["'=cmd()", "a,b"]


def test_numbers_of_a_number_column_are_never_touched(tmp_path):
    frame = pd.DataFrame({"x": [-1.5, -2e-30, 1e300], "i": [-1, 0, 2**62]})
    with TableWriter(tmp_path / "t.csv") as writer:
        writer.write(frame)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), frame)


printable = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8
)


@settings(max_examples=150, deadline=None)
@given(st.lists(printable, min_size=1, max_size=6))
def test_any_text_comes_back_but_for_the_apostrophe(values):
    got = fields_of(["x", *values])[1:]
    assert [
        g.removeprefix("'") if g != v else g for g, v in zip(got, values, strict=True)
    ] == values
    assert not any(g[:1] in set("=@\t\r\n") for g in got)


def test_copying_a_file_keeps_its_fields(tmp_path):
    source = 'code,amount,note\n007,1.50,"a, b"\nNA,-3,\n00,1e3,x\n'
    (tmp_path / "a.csv").write_text(source)
    with TableWriter(tmp_path / "b.csv") as writer:
        for part in iter_table(tmp_path / "a.csv", 2, verbatim=True):
            writer.write(part)
    assert (tmp_path / "b.csv").read_text() == source


def test_other_separators_are_quoted_for(tmp_path):
    for separator in ";|\t^]-":
        path = tmp_path / "t.csv"
        frame = pd.DataFrame({"a": [f"x{separator}y", "z"], "b": [1, 2]})
        with TableWriter(path, overwrite=True, dialect=Dialect(separator)) as writer:
            writer.write(frame)
        pd.testing.assert_frame_equal(
            read_table(path, dialect=Dialect(separator)), frame
        )
