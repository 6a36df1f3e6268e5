"""The header of a CSV: distinct names, and mistakes that the first line reveals."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._tables import Dialect, TableError, iter_table, read_table, table_columns
from cape._tables._csv_header import _distinct, csv_names


def distinct_by_trying(header):
    """The rule in its plainest form: the first number that is free."""
    names = []
    for place, field in enumerate(header, 1):
        base = field.strip() or f"column {place}"
        name, copies = base, 0
        while name in names:
            copies += 1
            name = f"{base}.{copies}"
        names.append(name)
    return names


def test_four_thousand_equal_names_become_distinct(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(["a"] * 4000) + "\n" + ",".join(["1"] * 4000) + "\n")
    names = table_columns(path)
    assert len(set(names)) == 4000
    assert names[:3] == ["a", "a.1", "a.2"]
    assert names[-1] == "a.3999"


def test_thousands_of_names_of_two_kinds_become_distinct():
    names = _distinct(["a", "a.1", "a"] * 2000)
    assert len(set(names)) == 6000


@given(st.lists(st.sampled_from(["a", " a", "a.1", "a.2", "a.1.1", "", "column 2"])))
def test_names_are_numbered_by_the_first_number_that_is_free(header):
    names = _distinct(header)
    assert names == distinct_by_trying(header)
    assert len(set(names)) == len(header)


@given(st.lists(st.text(max_size=4), unique_by=str.strip))
def test_distinct_names_stay_as_they_are(header):
    named = [field for field in header if field.strip()]
    assert _distinct(named) == [field.strip() for field in named]


def test_columns_are_picked_by_their_distinct_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,a,,a\n1,2,3,4\n")
    frame = read_table(path, columns=["a.2", "column 3"])
    assert frame.to_dict("list") == {"a.2": [4], "column 3": [3]}


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", b"\xef", b"\xef\xbb"])
def test_a_file_of_a_byte_order_mark_is_empty(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match=r"t\.csv is empty"):
        table_columns(path)


def test_a_byte_order_mark_is_not_part_of_the_first_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfage,race\n1,2\n")
    for encoding in ("utf-8", "utf_8", "UTF8", "utf-8-sig"):
        dialect = Dialect(encoding=encoding)
        assert csv_names(path, dialect) == ["age", "race"]
        assert list(read_table(path, dialect=dialect)) == ["age", "race"]


def test_a_name_too_long_for_a_name_is_an_error_of_one_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"' + "x" * 200_000 + '",b\n1,2\n')
    with pytest.raises(TableError, match=r"t\.csv cannot be read as CSV: field larger"):
        table_columns(path)


def damaged(content, start, length):
    """Bytes of a gzip file of which some are overwritten."""
    packed = bytearray(gzip.compress(content, mtime=0))
    packed[start : start + length] = b"\xaa" * length
    return bytes(packed)


ROWS = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(50_000))


@pytest.mark.parametrize(
    "content",
    [
        damaged(ROWS, 10, 100),
        damaged(ROWS, 100_000, 100),
        gzip.compress(ROWS)[:50],
        gzip.compress(ROWS)[:100_000],
        gzip.compress(b"a,b\n1,2\n") + b"\x00" * 50,
    ],
    ids=["start damaged", "middle damaged", "start cut", "middle cut", "rest added"],
)
def test_a_damaged_gzip_file_is_named(tmp_path, content):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(content)
    for read in (read_table, lambda path: list(iter_table(path, verbatim=True))):
        with pytest.raises(TableError, match="is not a whole gzip file") as caught:
            read(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_gzip_files_in_several_members_are_one_table(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"))
    assert read_table(path).to_numpy().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("separator", "called"),
    [(",", "a comma"), (";", "a semicolon"), ("\t", "a tab"), ("|", "a bar")],
)
def test_another_separator_is_suggested(tmp_path, separator, called):
    path = tmp_path / "t.csv"
    path.write_text(f"age{separator}race\n1{separator}2\n")
    used = "^"
    with pytest.raises(TableError, match=f"seems to be separated by {called}") as error:
        table_columns(path, dialect=Dialect(used))
    assert f"separator {separator!r}" in str(error.value)
    assert table_columns(path, dialect=Dialect(separator)) == ["age", "race"]


def test_one_column_without_a_separator_is_a_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age\n30\n40\n")
    assert read_table(path)["age"].tolist() == [30, 40]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_wide_encodings_are_read_when_named(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes("größe,n\n1,2\n".encode(encoding))
    dialect = Dialect(encoding=encoding)
    assert table_columns(path, dialect=dialect) == ["größe", "n"]
    with pytest.raises(TableError, match="is not utf-8 text"):
        table_columns(path)


def test_the_other_encoding_is_suggested(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("größe\n1\n".encode("latin-1"))
    with pytest.raises(TableError, match=r"perhaps latin-1 \(--encoding\)"):
        table_columns(path)
    path.write_bytes("größe\n1\n".encode())
    with pytest.raises(TableError, match=r"perhaps utf-8 \(--encoding\)"):
        table_columns(path, dialect=Dialect(encoding="ascii"))
