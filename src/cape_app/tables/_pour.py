"""JSON lines, SQLite and spreadsheets: poured into an Arrow file, and read as one.

Their rows come as Python values. They are read once to find what each column holds, and
once more to pour them.
"""

from __future__ import annotations

import datetime
import gzip
import json
import math
import re
import sqlite3
import tempfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from cape.base._table import MISSING
from cape_app.tables._source import (
    Dialect,
    TableError,
    distinct,
    is_gzip,
    nearest_of,
    shortened,
)
from cape_app.tables._table import ArrowTable
from cape_app.tables._text import KindFinder, arrow_type

_ROWS_AT_ONCE = 10_000
_MOST_TITLES = 10
_FEWEST_COLUMNS = 3
_KINDS: dict[type, str] = {
    bool: "flag",
    int: "number",
    float: "number",
    datetime.time: "text",
    datetime.timedelta: "text",
    datetime.date: "date",
    datetime.datetime: "date",
}

_NO_KIND = {str, type(None)}

_CELL = re.compile(rb'<c\s[^>]*?\br="([A-Z]{1,3})([0-9]{1,7})"')
_LONGEST_CELL = 200
_MOST_CELLS = 50_000_000
"""The reader of spreadsheets keeps all cells up to the last one, empty ones, too."""

Row = Sequence[Any]
ReadRows = Callable[[], Iterator[Row]]


class PouredTable(ArrowTable):
    """A table whose rows came as Python values, in an Arrow file without a name.

    Numbers, dates and flags are what they are; text is kept as it is, and read as what
    a CSV would take it for. A column that mixes kinds is text.

    Parameters
    ----------
    path : Path
        What the user named.
    file : Path
        The file.
    names : mapping from str to None
        It may grow while rows are read.
    read : callable
        Returns an iterator over the rows, each with a value or None for each column
        that is known by then.
    dialect : Dialect
        How numbers are written where they are text.
    is_part : bool, default=True
        Whether the file may hold other tables: the hash is then that of the rows.
    """

    by_hand = True

    def __init__(
        self,
        path: Path,
        file: Path,
        names: Mapping[str, None],
        read: ReadRows,
        dialect: Dialect,
        *,
        is_part: bool = True,
    ):
        self._is_part = is_part
        types, held = _find_types(names, read, dialect)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            poured = str(Path(folder, "rows.arrow"))
            with pa.ipc.new_file(poured, pa.schema(types)) as sink:
                for columns in _in_columns(names, read):
                    arrays = [
                        _array(columns[name], type_, dialect.decimal)
                        for name, type_ in types.items()
                    ]
                    sink.write_batch(pa.record_batch(arrays, names=list(types)))
            # What is mapped stays when the file loses its name: nothing is left behind,
            # however the process ends.
            self._rows = pa.memory_map(poured).read_buffer()
        super().__init__(path, "arrow", file)
        self.dialect = dialect
        self._held = {
            name: held[raw] for name, raw in zip(self.names, held, strict=True)
        }

    def add_to_hash(self, hasher: Any) -> None:
        """Hash the rows where the file may hold others, too."""
        if self._is_part:
            hasher.update(self._rows)
        else:
            super().add_to_hash(hasher)

    def _open(self) -> Any:
        return pa.ipc.open_file(pa.BufferReader(self._rows))


def _find_types(
    names: Mapping[str, None], read: ReadRows, dialect: Dialect
) -> tuple[dict[str, pa.DataType], dict[str, str]]:
    """Find the types of columns, and what those of text hold."""
    types: dict[str, set[type]] = defaultdict(set)
    finder = KindFinder(dialect)
    missing = {*MISSING, *dialect.missing}
    for columns in _in_columns(names, read):
        for name, values in columns.items():
            types[name].update(map(type, values))
            words = [value for value in values if isinstance(value, str)]
            words = [word for word in words if word not in missing]
            finder.add(name, pa.array(words, pa.string()))
    arrow_types = {}
    held = {}
    for name in names:
        kinds = {_KINDS.get(type_, "other") for type_ in types[name] - _NO_KIND}
        if kinds == {"number"} and float not in types[name]:
            kinds = {"integer"}
        if name in finder.kinds:
            kinds.add(finder.kinds[name])
        if kinds == {"integer", "number"}:
            kinds = {"number"}
        # A column without any value is of every kind.
        kind = kinds.pop() if len(kinds) == 1 else "text" if kinds else "number"
        if "other" in kinds:
            kind = "other"
        held[name] = kind
        arrow_types[name] = arrow_type("text" if str in types[name] else kind)
    return arrow_types, held


def _in_columns(
    names: Mapping[str, None], read: ReadRows
) -> Iterator[dict[str, tuple[Any, ...]]]:
    """Read all rows, and yield the values of each column, some rows at a time."""
    rows = read()
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        yield dict(zip(names, zip_longest(*some), strict=False))


def _array(values: Sequence[Any], type_: pa.DataType, decimal: str) -> pa.Array:
    """Make an array of values, which text is written for as a CSV would."""
    if pa.types.is_floating(type_):
        # Arrow refuses integers that a float rounds.
        values = [None if value is None else float(value) for value in values]
    elif pa.types.is_string(type_):
        values = [None if value is None else _text(value, decimal) for value in values]
    return pa.array(values, type_)


def _text(value: Any, decimal: str) -> str:
    """Write a value as text, as the text beside it is written."""
    if isinstance(value, float):
        return str(value).replace(".", decimal)
    return json.dumps(value) if isinstance(value, (list, dict)) else str(value)


def open_json_lines(path: Path, dialect: Dialect) -> PouredTable:
    """Open a file with a JSON object on each line, gzipped or not.

    Parameters
    ----------
    path : Path

    Returns
    -------
    PouredTable
        Its columns are the keys of all objects, in the order in which they come.
    """
    names: dict[str, None] = {}

    def read() -> Iterator[Row]:
        for record in _json_records(path):
            names.update(dict.fromkeys(record))
            yield [record.get(name) for name in names]

    return PouredTable(path, path, names, read, dialect, is_part=False)


def _json_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file, or raise an error that names the line."""
    open_file: Any = gzip.open if is_gzip(path) else open
    decode = json.JSONDecoder(parse_int=_integer).decode  # made once, which is faster
    try:
        with open_file(path, "rt", encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    record = decode(line)
                except (ValueError, RecursionError):
                    record = None
                if not isinstance(record, dict):
                    raise TableError(
                        f"{path}, line {number}: each line must be a JSON object such "
                        f'as {{"age": 31}}, got {shortened(line)}.'
                    )
                yield record
    except (EOFError, OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path} cannot be read as JSON lines: {error}.") from error


def _integer(digits: str) -> int | float:
    """Read a number without decimals; Arrow has none of more than 64 bits."""
    number = int(digits) if len(digits) < 400 else math.inf
    return number if abs(number) < 1 << 63 else float(number)


def open_sqlite(
    path: Path, file: Path, table: str | None, dialect: Dialect
) -> PouredTable:
    """Open a table or view of an SQLite database, for reading only.

    Parameters
    ----------
    path : Path
        What the user named.
    file : Path
        The database.
    table : str or None
        None is the only table that there is.

    Returns
    -------
    PouredTable
    """
    with _connected(path, file) as connection:
        found = connection.execute(
            "select name from sqlite_schema where type in ('table', 'view') "
            "and name not like 'sqlite!_%' escape '!' order by name"
        )
        tables = [name for (name,) in found]
        chosen = choose(path, file, "table", table, tables)
        identifier = chosen.replace('"', '""')
        query = f'select * from "{identifier}"'
        cursor = connection.execute(f"{query} limit 0")
        names = [column[0] for column in cursor.description]

    def read() -> Iterator[Row]:
        with _connected(path, file) as connection:
            yield from connection.execute(query)

    return PouredTable(path, file, dict.fromkeys(distinct(names)), read, dialect)


@contextmanager
def _connected(path: Path, file: Path) -> Iterator[sqlite3.Connection]:
    """Connect to a database without the right to write; errors name it."""
    address = f"file:{quote(str(file.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise TableError(f"{path} cannot be read: {error}.") from error


def open_sheet(
    path: Path, file: Path, sheet: str | None, dialect: Dialect
) -> PouredTable:
    """Open a sheet of a spreadsheet, whose first row has the names of the columns.

    Parameters
    ----------
    path : Path
        What the user named.
    file : Path
        The workbook: .xlsx, .xls or .ods.
    sheet : str or None
        None is the only sheet that there is.

    Returns
    -------
    PouredTable
        Without rows that are empty.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError as error:
        raise TableError(
            f"{file} is a spreadsheet: install what reads it (pip install "
            "'cape-fair[excel]'), or save it as CSV."
        ) from error
    try:
        _check_dimensions(file)
        with CalamineWorkbook.from_path(file) as book:
            chosen = choose(path, file, "sheet", sheet, book.sheet_names)
            # A sheet has at most 1,048,576 rows.
            cells = book.get_sheet_by_name(chosen).to_python(skip_empty_area=True)
    except (CalamineError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise TableError(
            f"{file} is a spreadsheet or a zip file, and cannot be read: {error}."
        ) from error
    rows = [[_cell(value) for value in row] for row in cells]
    rows = [row for row in rows if any(value is not None for value in row)]
    if not rows:
        raise TableError(f"{path} is empty.")
    n_titles = _titles_above(rows)
    header = ["" if name is None else str(name) for name in rows[n_titles]]
    names = dict.fromkeys(distinct(header))
    below = rows[n_titles + 1 :]
    table = PouredTable(path, file, names, lambda: iter(below), dialect)
    if n_titles:
        table.remarks.append(("titles", {"n": n_titles}))
    return table


def _titles_above(rows: Sequence[Row]) -> int:
    """Count the first rows of a single cell, above a table of three columns or more."""
    filled = [sum(value is not None for value in row) for row in rows[:_MOST_TITLES]]
    if max(filled) < _FEWEST_COLUMNS:
        return 0
    return next(place for place, n in enumerate(filled) if n > 1)


def _check_dimensions(file: Path) -> None:
    """Raise if a cell far from the others would make a sheet that no memory holds.

    The reader would end the process. What a sheet says of its own size may be wrong.
    """
    if not zipfile.is_zipfile(file):
        return
    with zipfile.ZipFile(file) as book:
        for name in book.namelist():
            if not name.startswith("xl/worksheets/"):
                continue
            n_rows = n_columns = 0
            rest = b""
            with book.open(name) as sheet:
                while block := sheet.read(1 << 20):
                    for letters, digits in set(_CELL.findall(rest + block)):
                        n_columns = max(n_columns, _column_number(letters))
                        n_rows = max(n_rows, int(digits))
                    rest = block[-_LONGEST_CELL:]
                    if n_rows * n_columns > _MOST_CELLS:
                        raise TableError(
                            f"{file} has cells as far as row {n_rows:,} and column "
                            f"{n_columns:,}, which is more than memory holds: delete "
                            "what stands outside the table, or save it as CSV."
                        )


def _column_number(letters: bytes) -> int:
    """Return the place of a column: A is 1, and AA is 27."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def _cell(value: Any) -> Any:
    """Return the value of a cell: empty is missing, 2.0 is 2, a date has a time."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        return int(value)
    if type(value) is datetime.date:
        return datetime.datetime(value.year, value.month, value.day)
    return None if value == "" else value


def choose(
    path: Path, file: Path, what: str, name: str | None, names: Sequence[str]
) -> str:
    """Return the table or sheet that is meant.

    Parameters
    ----------
    path : Path
        What the user named, for messages.
    file : Path
        The file.
    what : {"table", "sheet"}
    name : str or None
        What stands behind ``::``; None is the only one.
    names : sequence of str
        Those that there are.

    Returns
    -------
    str

    Raises
    ------
    TableError
        If there is none of that name, or several and none was named.
    """
    if name in names:
        return str(name)
    if name is None and len(names) == 1:
        return names[0]
    if not names:
        raise TableError(f"{file} has no {what}.")
    if name is None:
        raise TableError(
            f"{path} has {len(names)} {what}s: say which one, such as "
            f"{file.name}::{names[0]}; {nearest_of('', names, what)}"
        )
    raise TableError(f"{file} has no {what} {name!r}; {nearest_of(name, names, what)}")
