"""One way to read every format: parts of a fixed number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cape._tables._csv import Dialect, csv_batches, csv_names, csv_types
from cape._tables._error import TableError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = [
    "is_csv",
    "iter_table",
    "read_table",
    "table_columns",
    "table_kinds",
    "table_length",
]

_ROWS = 50_000


def iter_table(
    path: str | Path,
    rows: int = _ROWS,
    *,
    columns: Iterable[str] | None = None,
    types: Mapping[str, str] | None = None,
    verbatim: bool = False,
    dialect: Dialect | None = None,
) -> Iterator[pd.DataFrame]:
    r"""Read a table in parts, never more than a few of them in memory.

    Parameters
    ----------
    path : str or Path
        CSV (also gzipped), Parquet, or Arrow/Feather: told by the content, not by the name.
    rows : int, default=50000
        Of each part; the last may have fewer.
    columns : iterable of str, optional
        Only these.
    types : mapping from column to {"text", "number", "date", "flag"}, optional
        How to read columns of a CSV, where "007" may be text or a number. By default a column is numbers, dates or
        true/false if all its fields are (in the whole file, which is then read once more), and text otherwise.
    verbatim : bool, default=False
        Columns as they stand in the file: text in CSV, Arrow types otherwise. For copying.
    dialect : Dialect, optional
        Of a CSV; by default UTF-8 and commas.

    Yields
    ------
    DataFrame
        None for a table without rows.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("age,race\n30,a\n40,b\n50,a\n")
    >>> [part["age"].tolist() for part in iter_table(file, rows=2)]
    [[30, 40], [50]]
    """
    if rows < 1:
        raise ValueError(f"rows must be at least 1, got {rows!r}.")
    for part in _tables(
        Path(path), rows, _listed(columns), types, verbatim, dialect or Dialect()
    ):
        yield _verbatim_frame(part) if verbatim else _frame(part)


def read_table(
    path: str | Path,
    *,
    columns: Iterable[str] | None = None,
    types: Mapping[str, str] | None = None,
    dialect: Dialect | None = None,
) -> pd.DataFrame:
    r"""Read a whole table; parameters are those of `iter_table`.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("age,race\n30,a\n,b\n")
    >>> read_table(file).dtypes.astype(str).to_dict()
    {'age': 'float64', 'race': 'str'}
    """
    import pyarrow as pa

    parts = list(
        _tables(Path(path), _ROWS, _listed(columns), types, False, dialect or Dialect())
    )
    if not parts:
        raise TableError(f"{path} has a header but no rows.")
    return _frame(pa.concat_tables(parts))


def table_columns(path: str | Path, *, dialect: Dialect | None = None) -> list[str]:
    r"""Names of a table's columns, without reading its rows.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("age,race,age\n30,a,30\n")
    >>> table_columns(file)
    ['age', 'race', 'age.1']
    """
    path = Path(path)
    kind = _format(path)
    if kind == "csv":
        return csv_names(path, dialect or Dialect())
    names = (
        _open_parquet(path).schema_arrow.names
        if kind == "parquet"
        else _open_arrow(path, kind).schema.names
    )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(
            f"{path} has several columns called {twice!r}: names must be distinct."
        )
    return names


def table_kinds(path: str | Path, *, dialect: Dialect | None = None) -> dict[str, str]:
    r"""What each column holds: "number", "text", "date", "flag" (true or false), or "other" such as lists.

    The rows of a CSV are read through to tell.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("age,race,day\n30,a,2024-01-31\n40,b,2024-02-28\n")
    >>> table_kinds(file)
    {'age': 'number', 'race': 'text', 'day': 'date'}
    """
    path, dialect = Path(path), dialect or Dialect()
    names, kind = table_columns(path, dialect=dialect), _format(path)
    if kind == "csv":
        types = csv_types(path, dialect)
    else:
        schema = (
            _open_parquet(path).schema_arrow
            if kind == "parquet"
            else _open_arrow(path, kind).schema
        )
        types = dict(zip(schema.names, schema.types, strict=True))
    return {name: _kind_of(types[name]) for name in names}


def _kind_of(type_: pa.DataType) -> str:
    import pyarrow as pa

    is_ = pa.types
    if is_.is_dictionary(type_):
        return _kind_of(type_.value_type)
    if is_.is_boolean(type_):
        return "flag"
    if (
        is_.is_integer(type_)
        or is_.is_floating(type_)
        or is_.is_decimal(type_)
        or is_.is_null(type_)
    ):
        return "number"
    if is_.is_date(type_) or is_.is_timestamp(type_):
        return "date"
    text = (
        is_.is_string(type_)
        or is_.is_large_string(type_)
        or is_.is_string_view(type_)
        or is_.is_time(type_)
    )
    return "text" if text else "other"


def is_csv(path: str | Path) -> bool:
    """Whether a table is text without types."""
    return _format(Path(path)) == "csv"


def table_length(path: str | Path) -> int | None:
    """Number of rows where the format tells it; None for CSV and Arrow streams, which would have to be read.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> file = Path(tempfile.mkdtemp()) / "a.parquet"
    >>> pd.DataFrame({"age": [30, 40]}).to_parquet(file)
    >>> table_length(file)
    2
    """
    path = Path(path)
    kind = _format(path)
    if kind == "parquet":
        return _open_parquet(path).metadata.num_rows
    if kind == "arrow":
        reader = _open_arrow(path, kind)
        return sum(
            reader.get_batch(i).num_rows for i in range(reader.num_record_batches)
        )
    return None


def _listed(columns: Iterable[str] | None) -> list[str] | None:
    return None if columns is None else list(columns)


def _tables(path, rows, columns, types, verbatim, dialect) -> Iterator[pa.Table]:
    kind = _format(path)
    known = table_columns(path, dialect=dialect)
    unknown = [name for name in columns or [] if name not in known]
    if unknown:
        raise TableError(
            f"{path} has no column {unknown[0]!r}; its columns are {', '.join(known[:20])}."
        )
    return _exact_parts(
        _batches(path, kind, rows, columns, types, verbatim, dialect), rows
    )


def _batches(
    path, kind, rows, columns, types, verbatim, dialect
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    if kind == "csv":
        if verbatim:
            return csv_batches(path, dialect, None, columns=columns)
        arrow = {
            "text": pa.string(),
            "number": pa.float64(),
            "date": pa.timestamp("us"),
            "flag": pa.bool_(),
        }
        given = {name: arrow[type_] for name, type_ in (types or {}).items()}
        wanted = csv_names(path, dialect) if columns is None else columns
        if not set(wanted) <= set(given):
            given = csv_types(path, dialect) | given
        return csv_batches(path, dialect, given, columns=columns)
    if kind == "parquet":
        return _open_parquet(path).iter_batches(batch_size=rows, columns=columns)
    reader = _open_arrow(path, kind)
    every = (
        (reader.get_batch(i) for i in range(reader.num_record_batches))
        if kind == "arrow"
        else iter(reader)
    )
    return (batch if columns is None else batch.select(columns) for batch in every)


def _exact_parts(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """Cut batches of any length into tables of ``rows`` rows."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        while batch.num_rows:
            head = batch.slice(0, rows - count)
            batch = batch.slice(head.num_rows)
            held.append(head)
            count += head.num_rows
            if count == rows:
                yield pa.Table.from_batches(held)
                held, count = [], 0
    if held:
        yield pa.Table.from_batches(held)


def _format(path: Path) -> str:
    """What the file holds, by its first bytes."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file.")
    with path.open("rb") as file:
        start = file.read(8)
    if not start:
        raise TableError(f"{path} is empty.")
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"ARROW1"):
        return "arrow"
    if start.startswith(b"\xff\xff\xff\xff"):
        return "arrow stream"
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise TableError(
            f"{path} is a spreadsheet or a zip file: save the table as CSV or Parquet."
        )
    if start.startswith(b"FEA1"):
        raise TableError(
            f"{path} is Feather of version 1, which is no longer read: save it again as version 2."
        )
    return "csv"


def _open_parquet(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(
            path, pre_buffer=False
        )  # which would read the whole file ahead, and keep it
    except (pa.ArrowException, OSError) as error:
        raise TableError(
            f"{path} is not a whole Parquet file: {_first_line(error)}"
        ) from error


def _open_arrow(path: Path, kind: str) -> Any:
    import pyarrow as pa

    try:
        file = pa.memory_map(str(path))
        return pa.ipc.open_file(file) if kind == "arrow" else pa.ipc.open_stream(file)
    except (pa.ArrowException, OSError) as error:
        raise TableError(
            f"{path} is not a whole Arrow file: {_first_line(error)}"
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]


def _frame(table: pa.Table) -> pd.DataFrame:
    """As pandas, without types that learners cannot take: decimals are floats, dates timestamps, times text."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        wanted = None
        if pa.types.is_decimal(field.type) or pa.types.is_null(field.type):
            wanted = pa.float64()
        elif pa.types.is_time(field.type):
            wanted = pa.string()
        elif pa.types.is_date(field.type) or (
            pa.types.is_timestamp(field.type) and field.type.unit == "s"
        ):
            wanted = pa.timestamp("us", getattr(field.type, "tz", None))
        if wanted is not None:
            table = table.set_column(
                place, field.name, table.column(place).cast(wanted)
            )
    return table.replace_schema_metadata(None).to_pandas()


def _verbatim_frame(table: pa.Table) -> pd.DataFrame:
    import pandas as pd

    return table.replace_schema_metadata(None).to_pandas(types_mapper=pd.ArrowDtype)
