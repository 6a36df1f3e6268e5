"""Tables whose rows come as Python values: JSON lines, SQLite and spreadsheets.

They are read once to find what each column holds, and once more for their rows.
"""

from __future__ import annotations

import datetime
import gzip
import json
import math
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from cape_app.tables._csv import distinct
from cape_app.tables._source import TableError, is_gzip, nearest_of, shortened
from cape_app.tables._table import Table, Wanted, kind_of_type
from cape_app.tables._text import MISSING, KindFinder, arrow_type, converted

_ROWS_AT_ONCE = 10_000
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

Row = Sequence[Any]


class RowTable(Table):
    """A table whose rows come as Python values.

    Numbers, dates and flags are what they are; text is taken for what a CSV would take
    it for, but "007" stays text. A column that mixes kinds is text.

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
    """

    def __init__(
        self,
        path: Path,
        file: Path,
        names: Mapping[str, None],
        read: Callable[[], Iterator[Row]],
    ):
        super().__init__(path, list(names), [file])
        self._found = names
        self._rows = read
        self._kinds: dict[str, str] = {}
        self._with_text: set[str] = set()
        self._whole: set[str] = set()

    def kinds(self) -> dict[str, str]:
        """Say what each column holds, after reading all rows."""
        if self._kinds:
            return self._kinds
        types: dict[str, set[type]] = defaultdict(set)
        finder = KindFinder(for_copy=True)
        for columns in self._columns():
            for name, values in columns.items():
                types[name].update(map(type, values))
                finder.add(name, pa.array(map(_word, values), pa.string()))
        self.names = list(self._found)
        for name in self.names:
            found = {_KINDS.get(type_, "other") for type_ in types[name] - _NO_KIND}
            of_text = finder.kinds.get(name)
            if str in types[name]:
                self._with_text.add(name)
            if of_text is not None:
                found.add("number" if of_text == "integer" else of_text)
            if float not in types[name] and of_text in (None, "integer"):
                self._whole.add(name)
            if len(found) < 2:
                self._kinds[name] = next(iter(found), "number")
            else:
                self._kinds[name] = "other" if "other" in found else "text"
        return self._kinds

    def schema(self, wanted: Wanted) -> pa.Schema:
        """Return names and types of the batches."""
        kinds = self.kinds()
        fields = {}
        for name in wanted.columns:
            kind = kinds[name]
            if wanted.verbatim and name in self._with_text:
                kind = "text"
            elif kind == "number" and name in self._whole:
                kind = "integer"
            fields[name] = arrow_type(kind)
        return pa.schema(fields)

    def _columns(self) -> Iterator[dict[str, tuple[Any, ...]]]:
        """Read all rows, and yield the values of each column, some rows at a time."""
        rows = self._rows()
        while some := list(islice(rows, _ROWS_AT_ONCE)):
            yield dict(zip(self._found, zip_longest(*some), strict=False))

    def batches(self, wanted: Wanted, rows: int) -> Iterator[pa.RecordBatch]:
        schema = self.schema(wanted)
        for columns in self._columns():
            arrays = []
            for field in schema:
                of_column = columns[field.name]
                if field.name in self._with_text or pa.types.is_string(field.type):
                    texts = _texts(of_column, verbatim=wanted.verbatim)
                    kind = kind_of_type(field.type)
                    fields: Any = converted(texts, kind)
                    arrays.append(fields.cast(field.type))
                elif pa.types.is_floating(field.type):
                    numbers = [None if one is None else float(one) for one in of_column]
                    arrays.append(pa.array(numbers, field.type))
                else:
                    arrays.append(pa.array(of_column, field.type))
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _word(value: Any) -> str | None:
    """Return a text that is a value; None for anything else."""
    return value if isinstance(value, str) and value not in MISSING else None


def _texts(values: Sequence[Any], *, verbatim: bool) -> pa.Array:
    """Write values as a CSV would; what it reads as missing is missing."""
    missing = [""] if verbatim else MISSING
    texts: list[str | None] = []
    for value in values:
        text = None if value is None else str(value)
        if isinstance(value, (list, dict)):
            text = json.dumps(value)
        if text is not None and text in missing:
            text = None
        texts.append(text)
    return pa.array(texts, pa.string())


def open_json_lines(path: Path) -> RowTable:
    """Open a file with a JSON object on each line, gzipped or not.

    Parameters
    ----------
    path : Path

    Returns
    -------
    RowTable
        Its columns are the keys of all objects, in the order in which they come.
    """
    names: dict[str, None] = {}

    def read() -> Iterator[Row]:
        for record in _json_records(path):
            names.update(dict.fromkeys(record))
            yield [record.get(name) for name in names]

    table = RowTable(path, path, names, read)
    # All keys are known when all objects were read, and so is what they hold.
    table.kinds()
    return table


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
                except ValueError:
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


def open_sqlite(path: Path, file: Path, table: str | None) -> RowTable:
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
    RowTable
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

    return RowTable(path, file, dict.fromkeys(distinct(names)), read)


@contextmanager
def _connected(path: Path, file: Path) -> Iterator[sqlite3.Connection]:
    """Connect to a database without the right to write; errors name it."""
    address = f"file:{quote(str(file.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise TableError(f"{path} cannot be read: {error}.") from error


def open_sheet(path: Path, file: Path, sheet: str | None) -> RowTable:
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
    RowTable
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
        with CalamineWorkbook.from_path(file) as book:
            chosen = choose(path, file, "sheet", sheet, book.sheet_names)
            # A sheet has at most 1,048,576 rows.
            cells = book.get_sheet_by_name(chosen).to_python(skip_empty_area=True)
    except (CalamineError, OSError) as error:
        raise TableError(
            f"{file} is a spreadsheet or a zip file, and cannot be read: {error}."
        ) from error
    rows = [[_cell(value) for value in row] for row in cells]
    rows = [row for row in rows if any(value is not None for value in row)]
    if not rows:
        raise TableError(f"{path} is empty.")
    header = ["" if name is None else str(name) for name in rows[0]]
    names = dict.fromkeys(distinct(header))
    return RowTable(path, file, names, lambda: iter(rows[1:]))


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
