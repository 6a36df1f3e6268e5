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

from cape.base._table import (
    MISSING,
)
from cape_app.tables._source import Dialect, TableError, distinct, is_gzip, shortened
from cape_app.tables._table import Table, Wanted
from cape_app.tables._text import (
    KindFinder,
    arrow_type,
    converted,
    without_missing,
)

_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

_BLOCK = 8 << 20  # bytes that pyarrow parses at a time
_IN_WORDS = {
    "number": "numbers",
    "flag": "true or false",
    "date": "dates such as 2024-03-01 or 01.03.2024",
}
_WITH_THOUSANDS = re.compile(r"[+-]?\d{1,3}([,.' ]\d{3})+[,.]\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[,.]\d{3}")
_WITH_DECIMALS = re.compile(r"[+-]?\d+([.,])\d+")
_ROWS_TO_EXPLAIN = 2_000
_ROWS_TO_GUESS = 20
_NOT_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)


class CsvTable(Table):
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
        is_given = separator == dialect.separator
        dialect = replace(dialect, separator=separator)
        header = _first_rows(path, dialect, 1)[0]
        super().__init__(path, distinct(header), [path])
        self.dialect = dialect
        self._found: dict[int, dict[str, str]] = {}
        self._quotes_checked = False
        if not is_given:
            self.remarks.append(("separator", {"separator": _SEPARATORS[separator]}))

    def kinds(self) -> dict[str, str]:
        """Say what each column holds, after reading the whole file."""
        kinds = self._find_kinds(MISSING)
        return {
            name: "number" if kind == "integer" else kind
            for name, kind in kinds.items()
        }

    def dialect_to_write(self) -> Dialect:
        """Return the dialect, with the byte order mark that the file has.

        Excel takes UTF-8 without it for another encoding, so that what is written
        beside such a file needs it, too.
        """
        if not self.dialect.is_utf8:
            return self.dialect
        with _open_binary(self.path) as binary:
            has_mark = binary.read(3) == codecs.BOM_UTF8
        encoding = "utf-8-sig" if has_mark else self.dialect.encoding
        return replace(self.dialect, encoding=encoding)

    def _find_kinds(self, missing: list[str]) -> dict[str, str]:
        """Read the file as text and find what each column holds."""
        finder = KindFinder(self.dialect.decimal)
        try:
            for batch in self._reader(self.names, {}, missing):
                for name in self.names:
                    finder.add(name, batch.column(name))
        except (ValueError, OSError) as error:
            raise self._explained(error, {}) from error
        # A column without any value is of every kind.
        return {name: finder.kinds.get(name, "number") for name in self.names}

    def batches(self, wanted: Wanted, rows: int) -> Iterator[pa.RecordBatch]:
        kinds = self._kinds_to_read(wanted)
        try:
            yield from self._read(wanted, kinds)
        except (ValueError, OSError) as error:
            raise self._explained(error, kinds) from error

    def schema(self, wanted: Wanted) -> pa.Schema:
        """Return names and types of the batches."""
        kinds = self._kinds_to_read(wanted)
        return pa.schema({name: arrow_type(kind) for name, kind in kinds.items()})

    def _kinds_to_read(self, wanted: Wanted) -> dict[str, str]:
        """Return what to read columns as: kinds given, or else those found."""
        if wanted.verbatim and not wanted.typed:
            return dict.fromkeys(wanted.columns, "text")
        found: dict[str, str] = {}
        # Finding kinds reads the whole file, which is not needed if all are given.
        if not wanted.types.keys() >= set(wanted.columns):
            # "NA" may be a name where text is copied.
            missing = [""] if wanted.verbatim else MISSING
            key = len(missing)
            if key not in self._found:
                self._found[key] = self._find_kinds(missing)
            found = self._found[key]
        return {name: wanted.types.get(name) or found[name] for name in wanted.columns}

    def _read(
        self, wanted: Wanted, kinds: Mapping[str, str]
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows in blocks, front to back and once."""
        as_they_are = wanted.verbatim or bool(wanted.known)
        # pyarrow knows neither zones beside none, nor the day first, nor that a word is
        # missing in one column and a value in another.
        later = {}
        for name, kind in kinds.items():
            if kind == "date" or wanted.known:
                later[name] = kind
        read = {**kinds, **dict.fromkeys(later, "text")}
        missing = [""] if as_they_are else MISSING
        for batch in self._reader(wanted.columns, read, missing):
            for name, kind in later.items():
                texts = batch.column(name)
                if wanted.known:
                    texts = without_missing(texts, wanted.known.get(name, ()))
                values = converted(texts, kind, self.dialect.decimal)
                if values is None:
                    raise ValueError(f"{name} holds text that is no {kind}.")
                place = batch.schema.get_field_index(name)
                field = pa.field(name, values.type)
                batch = batch.set_column(place, field, values)
            yield batch

    def _reader(
        self, columns: list[str], kinds: Mapping[str, str], missing: list[str]
    ) -> Any:
        """Open the file with pyarrow."""
        compression = "gzip" if is_gzip(self.path) else None
        stream = pa.input_stream(self.path, compression=compression)
        if not self.dialect.is_utf8:
            stream = pa.transcoding_input_stream(stream, self.dialect.encoding, "utf-8")
        return pacsv.open_csv(
            _CheckedQuotes(stream, self),
            read_options=pacsv.ReadOptions(
                column_names=self.names,
                skip_rows_after_names=1,
                block_size=_BLOCK,
            ),
            parse_options=pacsv.ParseOptions(
                delimiter=self.dialect.separator, newlines_in_values=True
            ),
            convert_options=pacsv.ConvertOptions(
                column_types={name: arrow_type(kinds.get(name)) for name in columns},
                null_values=missing,
                strings_can_be_null=True,
                include_columns=columns,
                decimal_point=self.dialect.decimal,
            ),
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

    def _explained(self, error: Exception, kinds: Mapping[str, str]) -> TableError:
        """Find out why pyarrow could not read the file, and say it in a sentence.

        The file is read again, by Python, which takes longer and knows lines.
        """
        if isinstance(error, TableError):
            return error
        self._quotes_checked = False
        try:
            with _explaining(self.path, self.dialect):
                self.check_quotes()
                with _as_text(self.path, self.dialect) as text:
                    rows = _numbered(csv.reader(text, delimiter=self.dialect.separator))
                    while chunk := list(islice(rows, _ROWS_TO_EXPLAIN)):
                        self._check_rows(chunk, kinds)
        except TableError as found:
            return found
        # pyarrow takes nothing behind the end of a gzip file; Python takes zeros.
        if isinstance(error, OSError) and is_gzip(self.path):
            return _not_gzip(self.path, error)
        reason = shortened(str(error), 200)
        return TableError(f"{self.path} cannot be read as CSV: {reason}")

    def _check_rows(
        self, rows: list[tuple[int, list[str]]], kinds: Mapping[str, str]
    ) -> None:
        """Raise if a row has too many or too few fields, or one of another kind."""
        for line, fields in rows:
            if len(fields) != len(self.names):
                raise TableError(
                    f"{self.path}, line {line}: {len(fields)} fields where the header "
                    f"has {len(self.names)} (a separator within a field must be in "
                    "quotes)."
                )
        for name, kind in kinds.items():
            place = self.names.index(name)
            decimal = self.dialect.decimal
            if _fits([fields[place] for _, fields in rows], kind, decimal):
                continue
            for line, fields in rows:
                field = fields[place]
                if not _fits([field], kind, decimal):
                    raise TableError(
                        f"{self.path}, line {line}, column {name!r}: expected "
                        f"{_IN_WORDS.get(kind, kind)}, got {shortened(field)}"
                        f"{_decimal_hint(field, kind)}.",
                        field,
                    )


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


def _numbered(rows: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield line and fields of each row of a ``csv.reader`` after the header."""
    next(rows, None)
    begin = rows.line_num + 1
    for fields in rows:
        if fields:  # pyarrow leaves empty lines out
            yield begin, fields
        begin = rows.line_num + 1


def _fits(fields: list[str], kind: str, decimal: str) -> bool:
    """Tell whether pyarrow reads fields as a kind; missing ones fit all."""
    present = pa.array([field for field in fields if field not in MISSING], pa.string())
    return converted(present, kind, decimal) is not None


def _decimal_hint(field: str, kind: str) -> str:
    """Say how to name the other decimal sign, if a field is a number that has it."""
    if kind == "number" and _WITH_THOUSANDS.fullmatch(field.strip()):
        return ": write numbers without marks between the thousands"
    number = _WITH_DECIMALS.fullmatch(field.strip())
    if kind != "number" or number is None:
        return ""
    hint = f": if {number[1]!r} is the decimal sign, say so (--decimal {number[1]})"
    if _THOUSANDS.fullmatch(field.strip()):
        hint += ", and if it stands between thousands, leave it out"
    return hint


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
