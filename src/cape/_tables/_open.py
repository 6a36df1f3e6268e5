"""Open a table, whatever a person names: a file, a part of one, a folder, a query."""

from __future__ import annotations

import codecs
import fnmatch
import glob
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from cape._tables._arrow import ArrowTable
from cape._tables._csv import CsvTable, is_gzip
from cape._tables._rows import open_json_lines, open_sheet, open_sqlite
from cape._tables._sql import Query, open_duckdb, run_query, tables_in_quotes
from cape._tables._table import Dialect, Table, TableError, Wanted, kind_of_type

if TYPE_CHECKING:
    import pyarrow as pa

_TEXT = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson")
_GZIPPED = tuple(f"{suffix}.gz" for suffix in _TEXT)
_SUFFIXES = (*_TEXT, *_GZIPPED, ".parquet", ".feather", ".arrow")
_JSON = re.compile(r"\.(json|jsonl|ndjson)(\.gz)?$", re.IGNORECASE)
_COMPRESSED = re.compile(rb"BZh\d1AY|\xfd7zXZ|\x28\xb5\x2f\xfd|7z\xbc\xaf|Rar!\x1a")
_MARKUP = re.compile(rb"<(\?xml|!doctype|html|table)", re.IGNORECASE)
_EMPTY_PARTITION = "__HIVE_DEFAULT_PARTITION__"

Source = str | Path | Query
"""What a table may be opened from."""


def open_table(source: Source, dialect: Dialect | None = None) -> Table:
    r"""Find out what a source is, and read the names of its columns.

    Parameters
    ----------
    source : str, Path or Query
        CSV and JSON lines (also gzipped), Parquet, Arrow/Feather: told apart by the
        content and not by the name. ``data.sqlite::loans`` and ``data.xlsx::May`` are a
        table and a sheet, ``march/`` or ``march/*.parquet`` the parts of one table.
    dialect : Dialect, default=None
        How a CSV is written; None is a comma, UTF-8 and decimal points.

    Returns
    -------
    Table

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TableError
        If it cannot be read as a table.

    Examples
    --------
    >>> file = folder / "a.csv"
    >>> _ = file.write_text("age,race,age\n30,a,30\n40,b,40\n50,a,50\n")
    >>> table = open_table(file)
    >>> table.names
    ['age', 'race', 'age.1']
    >>> table.kinds()
    {'age': 'number', 'race': 'text', 'age.1': 'number'}
    >>> [part["age"].tolist() for part in table.parts(2)]
    [[30, 40], [50]]
    """
    dialect = dialect or Dialect()
    table = _open(source, dialect)
    if not table.is_csv:
        table.dialect = dialect
    return table


def _open(source: Source, dialect: Dialect) -> Table:
    """Open a table; see `open_table`."""
    if isinstance(source, Query):
        names = _files_of_query(source)
        return run_query(source, {name: open_table(name, dialect) for name in names})
    path = Path(source)
    files, inner = _resolve(path)
    if path.is_dir() or len(files) > 1 or (files != [path] and inner is None):
        return PartsTable(path, files, [open_table(file, dialect) for file in files])
    file = files[0]
    kind = table_format(file)
    if kind == "sqlite":
        return open_sqlite(path, file, inner)
    if kind == "sheet":
        return open_sheet(path, file, inner)
    if kind == "duckdb":
        return open_duckdb(path, file, inner)
    if inner is not None:
        raise TableError(f"{file} is one table: name it without ::{inner}.")
    if kind == "csv":
        return CsvTable(file, dialect)
    if kind == "json":
        return open_json_lines(file)
    return ArrowTable(file, kind)


def source_files(source: Source) -> list[Path]:
    """Return the files that a source is read from, before they are opened.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    if isinstance(source, Query):
        named = [] if source.database is None else [source.database]
        return sum(_files_of_query(source).values(), named)
    return _resolve(Path(source))[0]


def check_outside(output: str | Path, source: Source) -> None:
    """Raise if a table to be written would be a part of the one that is read.

    It would be read with the others the next time.
    """
    if isinstance(source, Query):
        return
    written, read = Path(output).resolve(), Path(source).resolve()
    inside = read.is_dir() and read in written.parents
    if not read.exists() and glob.has_magic(str(read)):
        alike = "**" in read.parts or len(written.parts) == len(read.parts)
        inside = alike and fnmatch.fnmatch(str(written), str(read))
    if inside:
        raise TableError(
            f"{output} would be a part of {source}, which is read: write it elsewhere."
        )


def _files_of_query(query: Query) -> dict[str, list[Path]]:
    """Return the files that a query names, if what stands beside it is a database."""
    file = query.database
    if file is not None and (
        _resolve(file)[0] != [file] or table_format(file) != "duckdb"
    ):
        raise TableError(
            f"{file} is no DuckDB database: name it within the query, after FROM and "
            "in quotes, and not beside it."
        )
    files: dict[str, list[Path]] = {}
    for name in tables_in_quotes(query):
        if name.lower() in map(str.lower, files):
            raise TableError(
                f"{query} names {name!r} in small letters and in capitals, which is "
                "one name in SQL: rename one of the files."
            )
        try:
            files[name] = source_files(name)
        except FileNotFoundError:
            # It may be a table of the database, or of a WITH.
            if file is None and ("." in name or "/" in name):
                raise
    return files


def _resolve(path: Path) -> tuple[list[Path], str | None]:
    """Return the files that a name means, and what it names within the file."""
    # A file is taken by its name, whatever signs that has.
    if path.is_dir():
        return _parts_of(path), None
    if path.exists():
        return [path], None
    # The name of a table may hold colons, too.
    for colons in re.finditer("::", str(path)):
        file = Path(str(path)[: colons.start()])
        if file.is_file():
            return [file], str(path)[colons.end() :]
    if glob.has_magic(str(path)):
        found = [Path(name) for name in glob.glob(str(path), recursive=True)]
        files = sorted(file for file in found if file.is_file())
        if files:
            return files, None
        raise FileNotFoundError(f"no file is called {path}.")
    raise FileNotFoundError(f"there is no file {path}.")


def _parts_of(folder: Path) -> list[Path]:
    """Return the tables in a folder and its folders, in the order of their names."""

    def refuse(error: OSError) -> None:
        raise error

    found = []
    # Not rglob, which leaves out in silence what it may not list.
    for place, _, names in os.walk(folder, onerror=refuse):
        found += [Path(place, name) for name in names]
    files = []
    for file in sorted(found):
        hidden = any(
            part.startswith((".", "_")) for part in file.relative_to(folder).parts
        )
        if not hidden and file.is_file() and file.name.lower().endswith(_SUFFIXES):
            files.append(file)
    if not files:
        raise TableError(
            f"{folder} is a folder without tables: its files must end in one of "
            f"{', '.join(_SUFFIXES)}."
        )
    return files


def table_format(path: Path) -> str:
    """Tell the format of a file by its first bytes; "csv" is what no other is."""
    # Tables are read several times, and a pipe gives its bytes once. Opening one would
    # wait for somebody to write to it.
    if not path.is_file():
        raise TableError(
            f"{path} is a pipe or a device, which can be read once only: save the "
            "table as a file."
        )
    with path.open("rb") as file:
        start = file.read(16)
    if not start:
        raise TableError(f"{path} is empty.")
    if start.startswith(b"FEA1"):
        raise TableError(
            f"{path} is Feather of version 1, which is no longer read: save it again "
            "as version 2."
        )
    if _COMPRESSED.match(start):
        raise TableError(f"{path} is compressed: unpack it, or pack it with gzip.")
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if _MARKUP.match(text):
        raise TableError(
            f"{path} is HTML or XML: open it in a spreadsheet, and save it as .xlsx or "
            "CSV."
        )
    # .xlsx and .ods are zip archives, the older .xls is an OLE file. An Arrow stream
    # has no magic number; it begins with a continuation marker.
    magic = {
        b"PK\x03\x04": "sheet",
        b"\xd0\xcf\x11\xe0": "sheet",
        b"PAR1": "parquet",
        b"ARROW1": "arrow",
        b"\xff\xff\xff\xff": "arrow stream",
        b"SQLite format 3\x00": "sqlite",
    }
    for bytes_, kind in magic.items():
        if start.startswith(bytes_):
            return kind
    if start[8:12] == b"DUCK":
        return "duckdb"
    named = _JSON.search(path.name)
    if text.startswith(b'{"') or (
        named and (text.startswith((b"{", b"[")) or is_gzip(path))
    ):
        return "json"
    return "csv"


class PartsTable(Table):
    """A table in several files, in the order of their names.

    What differs between them is brought together: a column of numbers here and text
    there is text, and one that a file lacks is missing there, with a remark. Folders
    called ``year=2024`` are columns.

    Parameters
    ----------
    path : Path
        The folder, or the pattern.
    files : sequence of Path
    tables : sequence of Table
        The files, opened.
    """

    def __init__(self, path: Path, files: Sequence[Path], tables: Sequence[Table]):
        first = set(tables[0].names)
        for table in tables:
            if first.isdisjoint(table.names):
                raise TableError(
                    f"{table.path} has no column that {tables[0].path} has: if one is "
                    "no part of the table, move it, or name the others with a pattern "
                    "such as 'march/*.csv'."
                )
        self._tables = tables
        folders = [_folder_values(file, path) for file in files]
        names: dict[str, None] = {}
        for table in tables:
            names.update(dict.fromkeys(table.names))
        # What a file says itself counts.
        in_folders = dict.fromkeys(
            name for values in folders for name in values if name not in names
        )
        super().__init__(path, [*names, *in_folders], list(files))
        self._folders = folders
        self._in_folders = list(in_folders)
        self.is_csv = all(table.is_csv for table in tables)
        self.dialect = tables[0].dialect
        for name in names:
            lacking = [table for table in tables if name not in table.names]
            if lacking:
                remark = {"column": name, "n": len(lacking), "parts": len(tables)}
                self.remarks.append(("missing_in_parts", remark))
        for table in tables:
            self.remarks += [one for one in table.remarks if one not in self.remarks]

    def kinds(self) -> dict[str, str]:
        """Say what each column holds; all rows of CSVs are read to tell."""
        found: dict[str, set[str]] = {name: set() for name in self.names}
        for table in self._tables:
            for name, kind in table.kinds().items():
                found[name].add(kind)
        for name in self._in_folders:
            found[name] = {kind_of_type(self._folder_type(name))}
        kinds = {}
        for name, of_parts in found.items():
            mixed = "other" if "other" in of_parts else "text"
            kinds[name] = of_parts.pop() if len(of_parts) == 1 else mixed
        return kinds

    def length(self) -> int | None:
        """Return the number of rows, if all files tell it."""
        lengths = [table.length() for table in self._tables]
        known = [length for length in lengths if length is not None]
        return sum(known) if len(known) == len(lengths) else None

    def dialect_to_write(self) -> Dialect:
        """Return how the first file is written."""
        return self._tables[0].dialect_to_write()

    def dataset(self) -> Any:
        """Return the files as a dataset of pyarrow, if they are Parquet, all alike."""
        datasets = [table.dataset() for table in self._tables]
        if self._in_folders or None in datasets:
            return None
        first = datasets[0]
        if any(one.schema != first.schema for one in datasets):
            return None
        import pyarrow.dataset

        return pyarrow.dataset.dataset(datasets)

    def schema(self, wanted: Wanted) -> pa.Schema:
        """Return names and types that the files have in common."""
        import pyarrow as pa

        of_columns: dict[str, list[pa.DataType]] = {name: [] for name in wanted.columns}
        for name in set(wanted.columns).intersection(self._in_folders):
            of_columns[name] = [self._folder_type(name)]
        for table in self._tables:
            for field in table.schema(_own(wanted, table)):
                of_columns[field.name].append(field.type)
        return pa.schema({name: _common(found) for name, found in of_columns.items()})

    def batches(
        self, wanted: Wanted, rows: int, hasher: Any
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        schema = self.schema(wanted)
        for table, folder in zip(self._tables, self._folders, strict=True):
            own = _own(wanted, table)
            for batch in table.batches(own, rows, hasher):
                arrays = []
                for name, type_ in zip(schema.names, schema.types, strict=True):
                    if name in own.columns:
                        arrays.append(batch.column(name).cast(type_))
                    else:
                        value = pa.scalar(folder.get(name), pa.string()).cast(type_)
                        arrays.append(pa.repeat(value, batch.num_rows))
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _folder_type(self, name: str) -> pa.DataType:
        """Return what a column holds that folders tell: whole numbers, or text."""
        import pyarrow as pa

        values = [folder.get(name) for folder in self._folders]
        plain = all(re.fullmatch(r"0|-?[1-9]\d{0,17}", one) for one in values if one)
        return pa.int64() if plain else pa.string()


def _own(wanted: Wanted, table: Table) -> Wanted:
    """Return what is wanted, without columns that a table does not have."""
    columns = [name for name in wanted.columns if name in table.names]
    return wanted._replace(columns=columns)


def _folder_values(file: Path, path: Path) -> dict[str, str | None]:
    """Return what the names of folders below a folder, or in a pattern, tell."""
    folders = file.relative_to(path).parts if path.is_dir() else file.parts
    values: dict[str, str | None] = {}
    for folder in folders[:-1]:
        name, sign, value = folder.partition("=")
        if sign and name:
            values[unquote(name)] = (
                None if value == _EMPTY_PARTITION else unquote(value)
            )
    return values


def _common(types: Sequence[pa.DataType]) -> pa.DataType:
    """Return the type that all values fit; text, if there is no other."""
    import pyarrow as pa

    if len(set(types)) == 1:
        return types[0]
    schemas = [pa.schema({"": type_}) for type_ in types]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowTypeError:
        return pa.string()
