"""CSV files: dialect, header, kinds of columns, rows, and what is wrong with them.

A CSV has no types of its own. pyarrow reads the rows; the header is read without it,
since pyarrow reads no header that has repeated or empty names. What pyarrow cannot read
is read again by Python, which knows lines, to say what is wrong.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import numpy as np
import pyarrow as pa
from pyarrow import csv as pacsv

from cape.base._table import MISSING
from cape_app.tables._source import Dialect, TableError, distinct, is_gzip, shortened
from cape_app.tables._table import FileTable, Wanted
from cape_app.tables._text import KindFinder, converted

_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

_BLOCK = 8 << 20  # bytes that pyarrow parses at a time
_IN_WORDS = {
    "number": "numbers",
    "flag": "true or false",
    "date": "dates such as 2024-03-01 or 01.03.2024",
}
_IS_MARKED = re.compile(r"[+-]?\d+([,.' ]\d{3})*[,.]\d+")
_MARKS = re.compile(r"(?<=\d)[,.' ](?=\d)")
_WRONG_FIELDS = re.compile(
    r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", re.DOTALL
)
_ROWS_TO_GUESS = 20
_NOT_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)


class CsvTable(FileTable):
    """A CSV file, gzipped or not.

    Its columns get distinct names: a second column ``age`` is called ``age.1``, and the
    third column, if it has no name, ``column 3``.

    Parameters
    ----------
    path : Path
    dialect : Dialect
        How it is written. Where the header has no such separator, and it is plain which
        one it has, that is taken, with a remark.

    Attributes
    ----------
    dialect : Dialect
        How it was found to be written.

    Raises
    ------
    TableError
        If the file is empty, has another encoding or separator, or is damaged.
    """

    is_csv = True
    by_hand = True

    def __init__(self, path: Path, dialect: Dialect):
        separator = _separator(path, dialect)
        found = replace(dialect, separator=separator)
        if dialect.is_utf8:
            with _open_binary(path) as binary:
                # Excel takes UTF-8 without the mark for another encoding, so that what
                # is written beside such a file needs it, too.
                has_mark = binary.read(3) == codecs.BOM_UTF8
            found = replace(found, encoding="utf-8-sig" if has_mark else "utf-8")
        names = distinct(_first_rows(path, found, 1)[0])
        super().__init__(path, names, path, [pa.string()] * len(names))
        self.dialect = found
        self._found: dict[bool, dict[str, str]] = {}
        self._quotes_checked = False
        if found.separator != dialect.separator:
            self.remarks.append(("separator", {"separator": _SEPARATORS[separator]}))

    def kinds(self) -> dict[str, str]:
        """Say what each column holds, after reading the whole file."""
        kinds = self._find_kinds(verbatim=False)
        return {
            name: "number" if kind == "integer" else kind
            for name, kind in kinds.items()
        }

    def kinds_of_text(self, wanted: Wanted) -> Mapping[str, str]:
        """Return what to read columns as: kinds given, or else those found."""
        if wanted.verbatim and not wanted.typed:
            return {}
        # Finding kinds reads the whole file, which is not needed if all are given.
        found: dict[str, str] = {}
        if not wanted.types.keys() >= set(wanted.columns):
            found = self._find_kinds(wanted.verbatim)
        return {name: wanted.types.get(name) or found[name] for name in wanted.columns}

    def _find_kinds(self, verbatim: bool) -> dict[str, str]:
        """Read the file and find what each column holds; verbatim, "NA" is a word."""
        if verbatim in self._found:
            return self._found[verbatim]
        finder = KindFinder(self.dialect)
        wanted = Wanted(self.names, verbatim=verbatim)
        for batch in self.read(wanted, 0):
            for name, texts in zip(self.names, batch.columns, strict=True):
                finder.add(name, texts)
        # A column without any value is of every kind.
        kinds = {name: finder.kinds.get(name, "number") for name in self.names}
        self._found[verbatim] = kinds
        return kinds

    def read(self, wanted: Wanted, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield columns of text, front to back and once; empty fields are missing."""
        names = wanted.columns
        missing = [*MISSING, *self.dialect.missing]
        if wanted.verbatim or wanted.known:
            missing = [""]
        convert = pacsv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=missing,
            strings_can_be_null=True,
            include_columns=names,
        )
        try:
            yield from self._open(convert)
        except (ValueError, OSError) as error:
            raise self._explained(error, convert) from error

    def _open(self, convert: pacsv.ConvertOptions, *, threads: bool = True) -> Any:
        """Open the file by pyarrow, which counts rows only if it has one thread."""
        compression = "gzip" if is_gzip(self.path) else None
        stream = pa.input_stream(self.path, compression=compression)
        if not self.dialect.is_utf8:
            encoding = self.dialect.encoding
            stream = pa.transcoding_input_stream(stream, encoding, "utf-8")
        return pacsv.open_csv(
            _CheckedQuotes(stream, self),
            read_options=pacsv.ReadOptions(
                column_names=self.names,
                skip_rows_after_names=1,
                block_size=_BLOCK,
                use_threads=threads,
            ),
            parse_options=pacsv.ParseOptions(
                delimiter=self.dialect.separator, newlines_in_values=True
            ),
            convert_options=convert,
        )

    def texts(self, name: str, column: pa.Array, wanted: Wanted) -> pa.Array:
        """Return a column without words that mean that a value is missing."""
        # If no column has such words for values, they were left out already.
        return super().texts(name, column, wanted) if wanted.known else column

    def misfit(
        self, name: str, kind: str, texts: pa.Array, n_before: int
    ) -> TableError:
        """Make the error for a field that is not of the kind that was asked for."""
        fields = texts.to_pylist()
        each = [texts[n : n + 1] for n in range(len(fields))]
        fits = [converted(text, kind, self.dialect) for text in each]
        place = fits.index(None)
        text = fields[place]
        line = n_before + place + 2
        return TableError(
            f"{self.path}, line {line}, column {name!r}: expected "
            f"{_IN_WORDS.get(kind, kind)}, got {shortened(text)}"
            f"{_decimal_hint(text, kind)}.",
            text,
        )

    def check_quotes(self) -> None:
        """Raise if a quote is not closed, so that lines would be lost in a field."""
        if self._quotes_checked:
            return
        with _as_text(self.path, self.dialect) as text:
            line = _unclosed_quote(text, self.dialect.separator)
        self._quotes_checked = True
        if line is not None:
            raise TableError(
                f"{self.path}, line {line}: a quote begins a field and is not closed: "
                "close it, or double it if it belongs to the text."
            )

    def _explained(self, error: Exception, convert: pacsv.ConvertOptions) -> TableError:
        """Find out why pyarrow could not read the file, and say it in a sentence.

        Quotes and encoding are looked at again, by Python, which knows lines.
        """
        if isinstance(error, TableError):
            return error
        self._quotes_checked = False
        try:
            with _explaining(self.path, self.dialect):
                self.check_quotes()
        except TableError as found:
            return found
        wrong = None
        if "Expected" in str(error):
            try:
                for _ in self._open(convert, threads=False):
                    pass
            except ValueError as counted:
                wrong = _WRONG_FIELDS.search(str(counted))
        if wrong is not None:
            line, expected, n_fields, text = wrong.groups()
            return TableError(
                f"{self.path}, line {line}: {n_fields} fields where the header has "
                f"{expected} (a separator within a field must be in quotes): "
                f"{shortened(text)}."
            )
        # pyarrow takes nothing behind the end of a gzip file; Python takes zeros.
        if isinstance(error, OSError) and is_gzip(self.path):
            return _not_gzip(self.path, error)
        reason = shortened(str(error), 200)
        return TableError(f"{self.path} cannot be read as CSV: {reason}")


@contextmanager
def _explaining(path: Path, dialect: Dialect) -> Iterator[None]:
    """Turn errors of reading a CSV by Python into sentences that name the file."""
    try:
        yield
    except UnicodeError as error:
        other = "latin-1" if dialect.is_utf8 else "utf-8"
        raise TableError(
            f"{path} is not {dialect.encoding} text. Save it as UTF-8, or name its "
            f"encoding, perhaps {other} (--encoding)."
        ) from error
    except _NOT_GZIP as error:
        raise _not_gzip(path, error) from error
    except (csv.Error, OSError) as error:
        raise TableError(f"{path} cannot be read as CSV: {error}.") from error


def _not_gzip(path: Path, error: Exception) -> TableError:
    """The error for a gzip file that is damaged or cut."""
    return TableError(f"{path} is not a complete gzip file: {error}.")


def _first_rows(path: Path, dialect: Dialect, n: int) -> list[list[str]]:
    """The header, which may be quoted and go over several lines, and the next rows."""
    with _explaining(path, dialect):
        with _open_binary(path) as binary:
            _check_text(path, dialect, binary.read(4096))
        with _as_text(path, dialect) as text:
            rows = list(islice(csv.reader(text, delimiter=dialect.separator), n))
    if not rows:  # nothing but a byte order mark
        raise TableError(f"{path} is empty.")
    return rows


def _as_text(path: Path, dialect: Dialect) -> io.TextIOWrapper:
    """Open a file as text, without the byte order mark that spreadsheets write."""
    encoding = "utf-8-sig" if dialect.is_utf8 else dialect.encoding
    return io.TextIOWrapper(_open_binary(path), encoding=encoding, newline="")


def _open_binary(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked if it is gzipped."""
    if is_gzip(path):
        return cast(BinaryIO, gzip.open(path))
    return path.open("rb")


def _check_text(path: Path, dialect: Dialect, start: bytes) -> None:
    """Raise an error if the first bytes of a file are blank or not text."""
    if not start.strip():
        raise TableError(f"{path} is empty.")
    # Text has no zero bytes, except in the wide encodings.
    if b"\x00" not in start or dialect.is_wide:
        return
    advice = ": it holds zero bytes. Save it as CSV, Parquet or .xlsx."
    if start.startswith(_UTF16_MARKS):
        advice = ": it seems to be UTF-16. Say so with encoding 'utf-16' (--encoding)."
    raise TableError(f"{path} is not {dialect.encoding} text{advice}")


def _separator(path: Path, dialect: Dialect) -> str:
    """Return the separator of a file: another one only if the header has one column.

    It is plain if it cuts the first rows into as many fields each, and no other does.
    """
    header = _first_rows(path, dialect, 1)[0]
    if len(header) != 1:
        return dialect.separator
    name = header[0]
    candidates = []
    for separator in _SEPARATORS:
        if separator == dialect.separator or separator not in name:
            continue
        rows = _first_rows(path, replace(dialect, separator=separator), _ROWS_TO_GUESS)
        if len({len(row) for row in rows if row}) == 1:
            candidates.append(separator)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        called = " or ".join(_SEPARATORS[separator] for separator in candidates)
        raise TableError(
            f"{path} has one column called {shortened(name)}: it seems to be separated "
            f"by {called}. If so, pass separator {candidates[0]!r} (--separator)."
        )
    return dialect.separator


def _decimal_hint(field: str, kind: str) -> str:
    """Say what to do about the marks of a number of another country."""
    marks = _MARKS.findall(field)
    if kind != "number" or not _IS_MARKED.fullmatch(field.strip()):
        return ""
    if len(marks) > 1:
        return ": write numbers without marks between the thousands"
    return (
        f": if {marks[0]!r} is the decimal sign, say so (--decimal {marks[0]}), and if "
        "it stands between thousands, leave it out"
    )


class _CheckedQuotes:
    """Text for pyarrow whose quotes are looked at on the way.

    In a well-formed file every second quote ends a field, or is followed by another
    quote, and the other ones begin a field, or follow a quote. If that is not so, the
    table is asked to look closely, which takes longer.

    Parameters
    ----------
    stream : pyarrow stream
        The text in UTF-8.
    table : CsvTable
    """

    def __init__(self, stream: Any, table: CsvTable):
        self._stream = stream
        self._table = table
        self._ends = np.frombuffer(f'{table.dialect.separator}\r\n"'.encode(), np.uint8)
        self._before = b"\n"
        self._n_quotes = 0

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        # A quote is judged when the byte after it is known.
        data = self._before + (block or b"\n")
        self._before = data[-2:]
        has_quotes = b'"' in data or not block
        if has_quotes and not self._is_well_formed(data, last=not block):
            self._table.check_quotes()
        return block

    def _is_well_formed(self, data: bytes, *, last: bool) -> bool:
        """Look at the quotes of a block, all but its first and last byte."""
        codes = np.frombuffer(data, np.uint8)
        places = np.flatnonzero(codes[1:-1] == ord('"')) + 1
        first = self._n_quotes % 2
        self._n_quotes += len(places)
        begins = places[first::2]
        ends = places[1 - first :: 2]
        neighbours = np.concatenate([codes[begins - 1], codes[ends + 1]])
        all_closed = self._n_quotes % 2 == 0 or not last
        return all_closed and bool(np.isin(neighbours, self._ends).all())

    @property
    def closed(self) -> bool:
        return self._stream.closed

    def close(self) -> None:
        self._stream.close()


def _unclosed_quote(text: TextIO, separator: str) -> int | None:
    """Return the line of a quoted field that goes on for lines, and has no proper end.

    A quote within a field, as in 5" pipe, is a sign like any other.
    """
    begin = re.compile(f'(?:^|{re.escape(separator)})"')
    opened = 0  # line of the quote that is open
    for number, line in enumerate(text, 1):
        place = 0
        while True:
            if not opened:
                found = begin.search(line, place)
                if found is None:
                    break
                place = found.end()
                opened = number
            place = line.find('"', place) + 1
            if not place:
                break
            after = line[place : place + 1]
            if after == '"':  # two quotes stand for one
                place += 1
                continue
            if number > opened and after not in f"{separator}\r\n":
                return opened
            opened = 0
    return opened or None
