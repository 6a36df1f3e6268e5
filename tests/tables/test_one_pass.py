"""The header is read once, and a file is hashed while its rows are read."""

import gzip
import hashlib

import numpy as np
import pandas as pd
import pytest

from cape._tables import (
    Dialect,
    TableError,
    TableWriter,
    _csv,
    _read,
    iter_table,
    table_columns,
    table_kinds,
)

FRAME = pd.DataFrame(
    {"age": np.arange(1000), "race": ["a", "b"] * 500, "x": np.linspace(-1, 1, 1000)}
)
FORMATS = ["csv", "csv.gz", "tsv", "parquet", "feather", "arrow"]


@pytest.fixture(params=FORMATS)
def path(request, tmp_path):
    path = tmp_path / f"t.{request.param}"
    with TableWriter(path) as writer:
        writer.write(FRAME.iloc[:300])
        writer.write(FRAME.iloc[300:])
    return path


def dialect_of(path):
    if path.name.endswith(".tsv"):
        return Dialect("\t")
    return Dialect()


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("verbatim", [False, True])
@pytest.mark.parametrize("rows", [7, 300, 5000])
def test_the_digest_is_that_of_the_file(path, verbatim, rows):
    hasher = hashlib.sha256()
    parts = list(
        iter_table(
            path, rows, verbatim=verbatim, dialect=dialect_of(path), hasher=hasher
        )
    )
    assert sum(len(part) for part in parts) == len(FRAME)
    assert hasher.hexdigest() == digest_of(path)


def test_hashing_changes_no_row(path):
    plain = pd.concat(iter_table(path, 90, dialect=dialect_of(path)))
    hashed = pd.concat(
        iter_table(path, 90, dialect=dialect_of(path), hasher=hashlib.md5())
    )
    pd.testing.assert_frame_equal(plain, hashed)


def test_the_digest_does_not_depend_on_the_columns_that_are_read(path):
    hasher = hashlib.sha256()
    parts = iter_table(path, columns=["race"], dialect=dialect_of(path), hasher=hasher)
    assert [list(part) for part in parts] == [["race"]]
    assert hasher.hexdigest() == digest_of(path)


def test_every_byte_of_a_csv_of_many_blocks_is_hashed_once(tmp_path, monkeypatch):
    monkeypatch.setattr(_csv, "_BLOCK", 1024)
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)
    assert path.stat().st_size > 10 * 1024
    hashed = []

    class Recorder:
        def update(self, data):
            hashed.append(bytes(data))

    for _ in iter_table(path, 100, hasher=Recorder()):
        pass
    assert len(hashed) > 10
    assert b"".join(hashed) == path.read_bytes()


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_the_digest_is_that_of_the_bytes_and_not_of_the_text(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes("größe,n\nä,1\nö,2\n".encode(encoding))
    hasher = hashlib.sha256()
    (part,) = iter_table(path, dialect=Dialect(encoding=encoding), hasher=hasher)
    assert part["größe"].tolist() == ["ä", "ö"]
    assert hasher.hexdigest() == digest_of(path)


def test_a_gzip_file_is_hashed_as_it_is_and_not_unpacked(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"))
    hasher = hashlib.sha256()
    (part,) = iter_table(path, hasher=hasher)
    assert len(part) == 2
    assert hasher.hexdigest() == digest_of(path)


def test_a_table_without_rows_is_hashed_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n")
    hasher = hashlib.sha256()
    assert list(iter_table(path, hasher=hasher)) == []
    assert hasher.hexdigest() == digest_of(path)


def test_a_reader_that_is_left_early_does_no_harm(tmp_path, monkeypatch):
    monkeypatch.setattr(_csv, "_BLOCK", 1024)
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)
    hasher = hashlib.sha256()
    parts = iter_table(path, 10, hasher=hasher)
    next(parts)
    parts.close()
    path.unlink()


def test_an_error_while_hashing_is_one_line_that_names_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(TableError, match=r"t\.csv, .*3 fields where the header has 2"):
        list(iter_table(path, hasher=hashlib.sha256()))


@pytest.fixture
def headers_read(monkeypatch):
    """Paths whose header has been read, in order."""
    paths = []
    original = _read.csv_names

    def counting(path, dialect):
        paths.append(path)
        return original(path, dialect)

    monkeypatch.setattr(_read, "csv_names", counting)
    monkeypatch.setattr(_csv, "csv_names", counting)
    return paths


@pytest.mark.parametrize("columns", [None, ["race"]])
@pytest.mark.parametrize("verbatim", [False, True])
def test_the_header_is_read_once(tmp_path, headers_read, columns, verbatim):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)
    for _ in iter_table(path, columns=columns, verbatim=verbatim):
        pass
    assert headers_read == [path]
    headers_read.clear()
    table_kinds(path)
    assert headers_read == [path]


def test_a_header_that_is_known_is_not_read_again(tmp_path, headers_read):
    path = tmp_path / "t.csv"
    path.write_text("a,a,b\n1,2,x\n3,4,y\n")
    names = table_columns(path)
    assert headers_read == [path]
    headers_read.clear()
    (known,) = iter_table(path, names=names)
    (picked,) = iter_table(path, names=tuple(names), columns=["b", "a.1"])
    assert headers_read == []
    (plain,) = iter_table(path)
    pd.testing.assert_frame_equal(known, plain)
    pd.testing.assert_frame_equal(picked, plain[["b", "a.1"]])


def test_errors_know_the_names_without_reading_the_header_again(tmp_path, headers_read):
    path = tmp_path / "t.csv"
    path.write_text("a,a\n1,2\n3,x\n")
    names = table_columns(path)
    headers_read.clear()
    types = {"a": "number", "a.1": "number"}
    with pytest.raises(TableError, match=r"column 'a\.1': expected numbers, got 'x'"):
        list(iter_table(path, names=names, types=types))
    with pytest.raises(
        TableError, match=r"has no column 'c'; its columns are 'a', 'a\.1'"
    ):
        list(iter_table(path, names=names, columns=["c"]))
    assert headers_read == []


def test_names_of_typed_tables_may_be_given_too(path):
    names = table_columns(path, dialect=dialect_of(path))
    assert names == list(FRAME)
    parts = iter_table(path, names=names, dialect=dialect_of(path))
    assert sum(len(part) for part in parts) == len(FRAME)


def test_given_types_of_all_columns_need_no_pass_to_find_them(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)

    def forbidden(file):
        raise AssertionError("the file was read to find types")

    monkeypatch.setattr(_read, "csv_types", forbidden)
    types = {"age": "number", "race": "text", "x": "number"}
    (part,) = iter_table(path, types=types)
    assert part["age"].dtype == float
    (part,) = iter_table(path, types={"race": "text"}, columns=["race"])
    assert part["race"].tolist() == FRAME["race"].tolist()
    with pytest.raises(AssertionError, match="to find types"):
        list(iter_table(path, types={"race": "text"}))
