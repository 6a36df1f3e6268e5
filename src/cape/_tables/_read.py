"""Reading tables: every format in parts of a fixed number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cape._tables._convert import (
    arrow_type,
    kind_of_type,
    to_frame,
    to_verbatim_frame,
)
from cape._tables._csv import CsvFile, Hasher, csv_batches, csv_types, hash_rest
from cape._tables._csv_header import csv_names, with_mark
from cape._tables._dialect import Dialect
from cape._tables._error import TableError
from cape._tables._formats import (
    check_distinct,
    open_arrow,
    open_parquet,
    table_format,
    typed_schema,
)
from cape._tables._missing import missing_column

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = [
    "file_version",
    "is_csv",
    "iter_table",
    "read_table",
    "same_dialect",
    "table_columns",
    "table_kinds",
    "table_length",
]

_ROWS_OF_A_PART = 50_000


def iter_table(
    path: str | Path,
    rows: int = _ROWS_OF_A_PART,
    *,
    columns: Iterable[str] | None = None,
    types: Mapping[str, str] | None = None,
    verbatim: bool = False,
    dialect: Dialect | None = None,
    names: Sequence[str] | None = None,
    hasher: Hasher | None = None,
) -> Iterator[pd.DataFrame]:
    r"""Read a table in parts, with only a few of them in memory at a time.

    Parameters
    ----------
    path : str or Path
        CSV (also gzipped), Parquet, or Arrow/Feather, told apart by the content and not
        by the name.
    rows : int, default=50000
        Number of rows of each part; the last part may have fewer.
    columns : iterable of str, default=None
        Names of the columns to read, in this order; None reads all.
    types : mapping from column to {"text", "number", "date", "flag"}, default=None
        Types of columns of a CSV, where "007" may be text or a number. A column that is
        not named is numbers, dates or true/false if all its fields are, and text
        otherwise. To find out, the whole file is read once more.
    verbatim : bool, default=False
        Whether to return columns as they are in the file, for copying: text in CSV,
        Arrow types otherwise.
    dialect : Dialect, default=None
        How a CSV is written; None is a comma, UTF-8 and decimal points.
    names : sequence of str, default=None
        What `table_columns` returned for this file, if it has been called. The header
        of a CSV is then not read again.
    hasher : hashlib object, default=None
        Its ``update`` gets all bytes of the file, and its digest is complete after the
        last part. A CSV is hashed while it is read; other formats are not read front to
        back and take one more pass over the file.

    Yields
    ------
    DataFrame
        Nothing for a table without rows.

    Raises
    ------
    TableError
        If the file cannot be read as a table or lacks a column.

    Examples
    --------
    >>> file = folder / "a.csv"
    >>> _ = file.write_text("age,race\n30,a\n40,b\n50,a\n")
    >>> [part["age"].tolist() for part in iter_table(file, rows=2)]
    [[30, 40], [50]]
    """
    if rows < 1:
        raise ValueError(f"rows must be at least 1, got {rows!r}.")
    batches = _batches(
        Path(path),
        rows,
        columns=columns,
        types=types,
        verbatim=verbatim,
        dialect=dialect or Dialect(),
        names=names,
        hasher=hasher,
    )
    convert = to_verbatim_frame if verbatim else to_frame
    for part in _exact_parts(batches, rows):
        yield convert(part)


def read_table(
    path: str | Path,
    *,
    columns: Iterable[str] | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | None = None,
) -> pd.DataFrame:
    r"""Read a whole table.

    Parameters
    ----------
    path : str or Path
        CSV (also gzipped), Parquet, or Arrow/Feather.
    columns : iterable of str, default=None
        Names of the columns to read, in this order; None reads all.
    types : mapping from column to {"text", "number", "date", "flag"}, default=None
        Types of columns of a CSV; see `iter_table`.
    dialect : Dialect, default=None
        How a CSV is written; None is a comma, UTF-8 and decimal points.

    Returns
    -------
    DataFrame

    Raises
    ------
    TableError
        If the file cannot be read as a table, lacks a column or has no rows.

    Examples
    --------
    >>> file = folder / "a.csv"
    >>> _ = file.write_text("age,race\n30,a\n,b\n")
    >>> read_table(file).dtypes.astype(str).to_dict()
    {'age': 'float64', 'race': 'str'}
    """
    import pyarrow as pa

    batches = _batches(
        Path(path),
        _ROWS_OF_A_PART,
        columns=columns,
        types=types,
        dialect=dialect or Dialect(),
    )
    # Joined as Arrow's tables: frames of parts may differ in type, for example where a
    # column of whole numbers lacks a value in one of them.
    parts = list(_exact_parts(batches, _ROWS_OF_A_PART))
    if not parts:
        raise TableError(f"{path} has a header but no rows.")
    return to_frame(pa.concat_tables(parts))


def table_columns(path: str | Path, *, dialect: Dialect | None = None) -> list[str]:
    r"""Return the names of a table's columns without reading its rows.

    Parameters
    ----------
    path : str or Path
        CSV (also gzipped), Parquet, or Arrow/Feather.
    dialect : Dialect, default=None
        How a CSV is written; None is a comma, UTF-8 and decimal points.

    Returns
    -------
    list of str
        Distinct names. In a CSV a second ``age`` is called ``age.1``, and a third
        column without a name ``column 3``.

    Examples
    --------
    >>> file = folder / "a.csv"
    >>> _ = file.write_text("age,race,age\n30,a,30\n")
    >>> table_columns(file)
    ['age', 'race', 'age.1']
    """
    path = Path(path)
    kind = table_format(path)
    if kind == "csv":
        return csv_names(path, dialect or Dialect())
    names = typed_schema(path, kind).names
    check_distinct(path, names)
    return names


def table_kinds(path: str | Path, *, dialect: Dialect | None = None) -> dict[str, str]:
    r"""Say what each column of a table holds.

    Parameters
    ----------
    path : str or Path
        CSV (also gzipped), Parquet, or Arrow/Feather. All rows of a CSV are read to
        tell.
    dialect : Dialect, default=None
        How a CSV is written; None is a comma, UTF-8 and decimal points.

    Returns
    -------
    dict from column to {"number", "text", "date", "flag", "other"}
        Columns in the order of the file. "flag" is true or false, and "other" something
        that no learner takes, such as lists.

    Examples
    --------
    >>> file = folder / "a.csv"
    >>> _ = file.write_text("age,race,day\n30,a,2024-01-31\n40,b,2024-02-28\n")
    >>> table_kinds(file)
    {'age': 'number', 'race': 'text', 'day': 'date'}
    """
    path = Path(path)
    kind = table_format(path)
    if kind == "csv":
        # Unlike the other formats a CSV has no types that could be looked up.
        types = csv_types(CsvFile.open(path, dialect or Dialect()))
    else:
        schema = typed_schema(path, kind)
        check_distinct(path, schema.names)
        types = dict(zip(schema.names, schema.types, strict=True))
    return {name: kind_of_type(type_) for name, type_ in types.items()}


def is_csv(path: str | Path) -> bool:
    r"""Whether a table is a CSV, whose columns have no types.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    bool

    Examples
    --------
    >>> file = folder / "a.csv"
    >>> _ = file.write_text("age,race\n30,a\n")
    >>> is_csv(file)
    True
    """
    return table_format(Path(path)) == "csv"


def same_dialect(path: str | Path, dialect: Dialect) -> Dialect:
    r"""Return how to write a CSV that shall be like a file.

    Parameters
    ----------
    path : str or Path
        The file, of any format.
    dialect : Dialect
        How the file is read if it is a CSV.

    Returns
    -------
    Dialect
        With a byte order mark if the file has one, as Excel writes it.

    Examples
    --------
    >>> file = folder / "a.csv"
    >>> _ = file.write_bytes(b"\xef\xbb\xbfage,race\n30,a\n")
    >>> same_dialect(file, Dialect()).encoding
    'utf-8-sig'
    """
    if not is_csv(path):
        return dialect
    return with_mark(Path(path), dialect)


def table_length(path: str | Path) -> int | None:
    """Return the number of rows where the format tells it.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    int or None
        None for CSV and Arrow streams, which would have to be read to the end.

    Examples
    --------
    >>> pd.DataFrame({"age": [30, 40]}).to_parquet(folder / "a.parquet")
    >>> table_length(folder / "a.parquet")
    2
    """
    path = Path(path)
    kind = table_format(path)
    if kind == "parquet":
        return open_parquet(path).metadata.num_rows
    if kind == "arrow":
        # The file is mapped into memory, so its batches are found but not read.
        reader = open_arrow(path, kind)
        n_rows = 0
        for place in range(reader.num_record_batches):
            n_rows += reader.get_batch(place).num_rows
        return n_rows
    return None


def _batches(
    path: Path,
    rows: int,
    *,
    columns: Iterable[str] | None,
    types: Mapping[str, str] | None,
    dialect: Dialect,
    verbatim: bool = False,
    names: Sequence[str] | None = None,
    hasher: Hasher | None = None,
) -> Iterator[pa.RecordBatch]:
    """Read a table of any format in batches of any length.

    The parameters are those of `iter_table`.
    """
    kind = table_format(path)
    # Read once here, and handed on to everything that needs names.
    if names is None:
        names = table_columns(path, dialect=dialect)
    if columns is not None:
        columns = list(columns)
        _check_columns(path, columns, names)
    if kind == "csv":
        file = CsvFile(path, dialect, list(names))
        arrow_types = None
        if not verbatim:
            arrow_types = _types_to_read(file, columns, types or {})
        yield from csv_batches(file, arrow_types, columns=columns, hasher=hasher)
        return
    if hasher is None:
        yield from _typed_batches(path, kind, rows, columns)
        return
    # Parquet has its index at the end, so its bytes do not pass in order.
    with path.open("rb") as binary:
        opened = file_version(path)
        yield from _typed_batches(path, kind, rows, columns)
        hash_rest(binary, hasher)
    # Otherwise the hash would be that of a file from which no row was read.
    if file_version(path) != opened:
        raise TableError(f"{path} has changed while it was read.")


def file_version(path: str | Path) -> tuple[int, ...]:
    """Return numbers that change when a file does."""
    status = Path(path).stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _check_columns(path: Path, columns: list[str], names: Sequence[str]) -> None:
    """Raise an error if a column that is asked for is not in the file."""
    known = set(names)
    for column in columns:
        if column not in known:
            raise missing_column(column, names, path)


def _types_to_read(
    file: CsvFile, columns: list[str] | None, types: Mapping[str, str]
) -> dict[str, pa.DataType]:
    """Arrow types of the columns of a CSV: those given, or else those found."""
    given = {name: arrow_type(kind) for name, kind in types.items()}
    to_read = file.names if columns is None else columns
    # Finding types reads the whole file, which is not needed if all are given.
    if given.keys() >= set(to_read):
        return given
    return csv_types(file) | given


def _typed_batches(
    path: Path, kind: str, rows: int, columns: list[str] | None
) -> Iterator[pa.RecordBatch]:
    """Batches of a Parquet file, of ``rows`` rows, or of Arrow, as it was written."""
    if kind == "parquet":
        yield from open_parquet(path).iter_batches(batch_size=rows, columns=columns)
        return
    reader = open_arrow(path, kind)
    batches = iter(reader) if kind == "arrow stream" else _batches_of_file(reader)
    for batch in batches:
        if columns is not None:
            batch = batch.select(columns)
        yield batch


def _batches_of_file(reader: pa.ipc.RecordBatchFileReader) -> Iterator[pa.RecordBatch]:
    """Batches of an Arrow file, which cannot be iterated over as a stream can."""
    for place in range(reader.num_record_batches):
        yield reader.get_batch(place)


def _exact_parts(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """Cut batches of any length into tables of ``rows`` rows; the last may be short."""
    import pyarrow as pa

    # Slices share the memory of their batch: nothing is copied before a part is made.
    held: list[pa.RecordBatch] = []
    n_held = 0
    for batch in batches:
        while batch.num_rows:
            head = batch.slice(0, rows - n_held)
            batch = batch.slice(head.num_rows)
            held.append(head)
            n_held += head.num_rows
            if n_held == rows:
                yield pa.Table.from_batches(held)
                held = []
                n_held = 0
    if held:
        yield pa.Table.from_batches(held)
