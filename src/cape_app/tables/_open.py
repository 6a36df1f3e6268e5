"""Open a table, whatever a person names: a file, a part of one, a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from cape_app.tables._csv import CsvTable
from cape_app.tables._pour import open_json_lines, open_sheet, open_sqlite
from cape_app.tables._source import Dialect, Source, TableError, resolve, table_format
from cape_app.tables._table import ArrowTable, Table, Wanted, kind_of_type, naming

_EMPTY_PARTITION = "__HIVE_DEFAULT_PARTITION__"


FILE = "(file)"
"""Column with the name of the file that a row is from, of several files."""


def open_table(
    source: Source | Sequence[Source], dialect: Dialect | None = None
) -> Table:
    r"""Find out what a source is, and read the names of its columns.

    Parameters
    ----------
    source : str or Path
        CSV and JSON lines (also gzipped), Parquet, Arrow/Feather: told apart by the
        content and not by the name. ``data.sqlite::loans`` and ``data.xlsx::May`` are a
        table and a sheet, ``march/`` or ``march/*.parquet`` the parts of one table.
        Several sources are parts, too, and the column ``FILE`` tells which.
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
    if not isinstance(source, (str, Path)):
        files = [file for one in source for file in resolve(Path(one))[0]]
        tables = [open_table(one, dialect) for one in source]
        names: list[dict[str, str | None]] = []
        for table in tables:
            names.append({FILE: table.path.name.partition(".")[0]})
        return PartsTable(tables[0].path, files, tables, names)
    table = _open(source, dialect)
    if not table.is_csv:
        table.dialect = dialect
    return table


def _open(source: Source, dialect: Dialect) -> Table:
    """Open a table; see `open_table`."""
    path = Path(source)
    files, inner = resolve(path)
    if path.is_dir() or len(files) > 1 or (files != [path] and inner is None):
        return PartsTable(path, files, [open_table(file, dialect) for file in files])
    file = files[0]
    kind = table_format(file)
    if kind == "sqlite":
        return open_sqlite(path, file, inner, dialect)
    if kind == "sheet":
        return open_sheet(path, file, inner, dialect)
    if inner is not None:
        raise TableError(f"{file} has only one table: name it without ::{inner}.")
    if kind == "csv":
        return CsvTable(file, dialect)
    if kind == "json":
        with naming(file):
            return open_json_lines(file, dialect)
    return ArrowTable(file, kind)


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
    folders : sequence of dict, optional
        Columns of one value in each table; None reads them from the names of folders.
    """

    def __init__(
        self,
        path: Path,
        files: Sequence[Path],
        tables: Sequence[Table],
        folders: Sequence[dict[str, str | None]] | None = None,
    ):
        first = set(tables[0].names)
        for table in tables:
            if first.isdisjoint(table.names):
                raise TableError(
                    f"{table.path} has no column in common with {tables[0].path}. If "
                    "one of them does not belong to the table, move it, or name the "
                    "others with a pattern such as 'march/*.csv'."
                )
        self._tables = tables
        if folders is None:
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
        self.by_hand = any(table.by_hand for table in tables)
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

    def add_to_hash(self, hasher: Any) -> None:
        """Hash the files, in their order."""
        for table in self._tables:
            table.add_to_hash(hasher)

    def schema(self, wanted: Wanted) -> pa.Schema:
        """Return names and types that the files have in common."""
        of_columns: dict[str, list[pa.DataType]] = {name: [] for name in wanted.columns}
        for name in set(wanted.columns).intersection(self._in_folders):
            of_columns[name] = [self._folder_type(name)]
        for table in self._tables:
            for field in table.schema(_own(wanted, table)):
                of_columns[field.name].append(field.type)
        return pa.schema({name: _common(found) for name, found in of_columns.items()})

    def batches(self, wanted: Wanted, rows: int) -> Iterator[pa.RecordBatch]:
        schema = self.schema(wanted)
        for table, folder in zip(self._tables, self._folders, strict=True):
            own = _own(wanted, table)
            for batch in table.batches(own, rows):
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
        if name == FILE:
            return pa.string()
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
    if len(set(types)) == 1:
        return types[0]
    schemas = [pa.schema({"": type_}) for type_ in types]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowTypeError:
        return pa.string()
