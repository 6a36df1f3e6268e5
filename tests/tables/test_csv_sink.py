"""Fields of a CSV: text of any Arrow type is quoted and harmless, numbers stay."""

import csv
import datetime
import decimal
import io

import pandas as pd
import pyarrow as pa
import pytest

from cape._tables import Dialect
from cape._tables._csv_sink import CsvSink

DANGEROUS = "=1+1"
WITH_COMMA = 'a, "b"'


def fields_of(columns, dialect=None, folder=None):
    """The fields that Python's csv module reads, and how many were disarmed."""
    dialect = dialect or Dialect()
    path = folder / "t.csv"
    table = pa.table(columns)
    sink = CsvSink(path, table.column_names, dialect, gzipped=False)
    sink.write(table)
    sink.close()
    text = path.read_bytes().decode(dialect.encoding)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.separator)
    return list(lines), sink.disarmed


@pytest.mark.parametrize(
    "type_",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.dictionary(pa.int32(), pa.string()),
    ],
    ids=str,
)
def test_text_of_every_type_is_quoted_and_disarmed(tmp_path, type_):
    values = pa.array([DANGEROUS, WITH_COMMA, None]).cast(type_)
    lines, disarmed = fields_of({"a": values, "b": [1, 2, 3]}, folder=tmp_path)
    assert lines == [["a", "b"], [f"'{DANGEROUS}", "1"], [WITH_COMMA, "2"], ["", "3"]]
    assert disarmed == 1


def test_lists_are_written_as_python_shows_them(tmp_path):
    lines, _ = fields_of({"a": [[1, 2], None], "b": [1, 2]}, folder=tmp_path)
    assert lines[1:] == [["[1, 2]", "1"], ["", "2"]]


def test_numbers_dates_and_flags_are_never_disarmed(tmp_path):
    columns = {
        "i": [-1, 2],
        "x": [-1.5, 2e-30],
        "price": [decimal.Decimal("-1.50"), None],
        "f": [True, False],
        "day": [datetime.date(2024, 2, 29), None],
        "nothing": pa.nulls(2),
    }
    lines, disarmed = fields_of(columns, folder=tmp_path)
    assert disarmed == 0
    assert lines[1] == ["-1", "-1.5", "-1.50", "true", "2024-02-29", ""]
    assert lines[2] == ["2", "2e-30", "", "false", "", ""]


def test_every_part_adds_to_what_was_disarmed(tmp_path):
    sink = CsvSink(tmp_path / "t.csv", ["a"], Dialect(), gzipped=False)
    for _ in range(3):
        sink.write(pa.table({"a": [DANGEROUS, "fine", "@x"]}))
    sink.close()
    assert sink.disarmed == 6


def test_a_part_without_rows_writes_no_line(tmp_path):
    sink = CsvSink(tmp_path / "t.csv", ["a", "b"], Dialect(), gzipped=False)
    sink.write(pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int8())}))
    sink.close()
    assert (tmp_path / "t.csv").read_text() == "a,b\n"


def test_a_dangerous_name_of_a_column_is_disarmed(tmp_path):
    lines, disarmed = fields_of({"=x": [1], "b": [2]}, folder=tmp_path)
    assert lines[0] == ["'=x", "b"]
    assert disarmed == 1


@pytest.mark.parametrize("separator", list(",;|\t^]-.: \\"))
def test_fields_with_the_separator_are_quoted(tmp_path, separator):
    text = f"a{separator}b"
    columns = {"t": [text, "plain"], "x": [1.5, -2.0]}
    lines, _ = fields_of(columns, Dialect(separator), tmp_path)
    assert lines[1:] == [[text, "1.5"], ["plain", "-2"]]


def test_a_gzipped_file_is_what_pandas_reads(tmp_path):
    sink = CsvSink(tmp_path / "t.csv.gz", ["a", "b"], Dialect(), gzipped=True)
    sink.write(pa.table({"a": [1, 2], "b": ["x", "y"]}))
    sink.close()
    frame = pd.read_csv(tmp_path / "t.csv.gz")
    assert frame.to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}
