"""A sheet that was filled in: what spreadsheet programs and people do to it."""

import pandas as pd
import pytest

from cape._tables import TableError
from cape.examination import LabelPlan
from cape.files import Columns
from cape.files._sheet import Draw, read_sheet

DRAW = Draw(LabelPlan(100), 7)
KEYS = [DRAW.key(row, "file", "model") for row in (5, 12, 30)]
NUMBERS = Columns("y", ("0", "1"), "number", (), {})
FLAGS = Columns("y", ("False", "True"), "flag", (), {})
WORDS = Columns("y", ("gesund", "krank"), "text", (), {})


@pytest.fixture
def read(tmp_path):
    """Write a sheet and read it: rows and whether they are positive."""

    def call(text, columns=NUMBERS, encoding="utf-8"):
        path = tmp_path / "sheet.csv"
        path.write_bytes(text.encode(encoding))
        return [(label.row, label.positive) for label in read_sheet(path, columns)]

    return call


def sheet(*labels, separator=",", end="\n"):
    """Write lines with an age, a key and a label."""
    lines = [separator.join(["age", "cape_key", "y"])]
    for key, label in zip(KEYS, labels, strict=False):
        lines.append(separator.join(["40", key, label]))
    return end.join(lines) + end


EXPECTED = [(5, True), (12, False), (30, True)]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_separators_ends_of_lines_and_encodings(read, separator, end, encoding):
    text = sheet("1", "0", "1", separator=separator, end=end)
    text = text.replace("age", "Größe")
    assert read(text, encoding=encoding) == EXPECTED


@pytest.mark.parametrize(
    ("columns", "labels"),
    [
        (NUMBERS, ("1.0", "0.00", "1")),
        (NUMBERS, (" 1 ", "0 ", "\t1")),
        (FLAGS, ("TRUE", "false", "True")),
        (WORDS, ("krank ", "GESUND", "Krank")),
    ],
)
def test_spellings_of_labels(read, columns, labels):
    assert read(sheet(*labels), columns) == EXPECTED


def test_decimal_commas_come_with_semicolons(read):
    assert read(sheet("1,0", "0,0", "1,00", separator=";")) == EXPECTED


def test_capitals_count_where_they_tell_labels_apart(read):
    columns = Columns("y", ("a", "A"), "text", (), {})
    assert read(sheet("A", "a", "A"), columns) == EXPECTED


def test_empty_lines_and_rows_without_a_label_are_left_out(read):
    assert read("\n" + sheet("1", "", " ").replace("\n", "\n\n,,\n")) == [(5, True)]
    assert read(sheet("", "", "")) == []


def test_other_columns_are_ignored_and_may_be_added(read):
    header, *lines = sheet("1", "0", "1").splitlines()
    noted = [f'{line},"=1/0, see above"' for line in lines]
    assert read("\n".join([f"{header},remark", *noted])) == EXPECTED


def test_short_lines_have_empty_fields(read):
    text = f"cape_key,y,remark\n{KEYS[0]},1\n{KEYS[1]}\n{KEYS[2]},0,done\n"
    assert read(text) == [(5, True), (30, False)]


def test_rows_may_be_sorted_and_deleted(read):
    header, *lines = sheet("1", "0", "1").splitlines()
    assert read("\n".join([header, lines[2], lines[0]])) == [(30, True), (5, True)]


def test_a_row_may_stand_twice_with_one_label_only(read):
    header, *lines = sheet("1", "0", "1").splitlines()
    assert read("\n".join([header, *lines, lines[0] + ".0"])) == EXPECTED
    with pytest.raises(TableError, match="line 5.*has another label in line 2"):
        read("\n".join([header, *lines, lines[0][:-1] + "0"]))


@pytest.mark.parametrize("label", ["2", "?", "yes", "NA", "1.5", "10"])
def test_an_unknown_label_is_named_with_its_line(read, label):
    with pytest.raises(TableError, match=r"line 3: .*'0' or '1'.*got '") as error:
        read(sheet("1", label, "1"))
    assert repr(label) in str(error.value)


@pytest.mark.parametrize(
    "key", ["", "12", "1e16", KEYS[0][:-1], KEYS[0].upper(), "100-best-0-5-" + "0" * 16]
)
def test_a_label_needs_a_key(read, key):
    with pytest.raises(TableError, match="line 2: a row with a label must have the"):
        read(sheet("1").replace(KEYS[0], key))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("age,y\n1,2\n", "has no column 'cape_key'"),
        ("age;y\n1;2\n", "has no column 'cape_key'; its columns are 'age', 'y'."),
        ("age,cape_key\n1,2\n", "has no column 'y'"),
        ("y,cape_key,y\n1,2,3\n", "has 2 columns 'y'"),
    ],
)
def test_a_sheet_must_have_both_columns_once(read, text, says):
    with pytest.raises(TableError, match=says):
        read(text)


@pytest.mark.parametrize(
    "plan",
    [LabelPlan(100), LabelPlan(8, "proportional"), LabelPlan(width=0.05)],
)
def test_the_draw_can_be_read_from_a_key(tmp_path, plan):
    draw = Draw(plan, 3)
    path = tmp_path / "sheet.csv"
    path.write_text(f"cape_key,y\n{draw.key(9, 'f', 'm')},1\n")
    (label,) = read_sheet(path, NUMBERS)
    assert (label.draw, label.row) == (draw, 9)


def test_everything_that_matters_changes_a_key():
    other_draws = [Draw(LabelPlan(101), 7), Draw(LabelPlan(100), 8)]
    keys = [draw.key(5, "file", "model") for draw in other_draws]
    keys += [DRAW.key(5, "other", "model"), DRAW.key(5, "file", "other"), *KEYS]
    hashes = {key.rsplit("-", 1)[1] for key in keys}
    assert len(hashes) == len(keys)


def test_what_is_no_text_file_is_refused_in_words(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file .*nowhere.csv"):
        read_sheet(tmp_path / "nowhere.csv", NUMBERS)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_sheet(tmp_path, NUMBERS)
    pd.DataFrame({"cape_key": ["x"], "y": [1]}).to_parquet(tmp_path / "sheet.parquet")
    with pytest.raises(TableError, match="must be a text file: save the sheet as CSV"):
        read_sheet(tmp_path / "sheet.parquet", NUMBERS)
