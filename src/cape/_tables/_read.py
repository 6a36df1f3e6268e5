"""Reading tables: every format in parts of a fixed number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cape._tables._csv import Dialect, csv_batches, csv_names, csv_types, with_mark
from cape._tables._error import TableError, missing_column

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_ROWS_OF_A_PART = 50_000


def open_table(path: str | Path, dialect: Dialect | None = None) -> Table:
    r"""Find out the format of a table, and read the names of its columns.

    Parameters
    ----------
    path : str or Path
        CSV (also gzipped), Parquet, or Arrow/Feather, told apart by the content and not
        by the name.
    dialect : Dialect, default=None
        How a CSV is written; None is a comma, UTF-8 and decimal points.

    Returns
    -------
    Table

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If the path is not a file.
    TableError
        If the file cannot be read as a table.

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
    path = Path(path)
    kind = table_format(path)
    version = _version_of(path)
    dialect = dialect or Dialect()
    if kind == "csv":
        names = csv_names(path, dialect)
    else:
        names = _schema(path, kind).names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise TableError(
                f"{path} has several columns called {twice!r}: names must be distinct."
            )
    return Table(path, kind, dialect, names, version)


@dataclass(frozen=True)
class Table:
    """A table in a file, whose names of columns have been read.

    Parameters
    ----------
    path : Path
    format : {"csv", "parquet", "arrow", "arrow stream"}
    dialect : Dialect
        How it is written, if it is a CSV.
    names : list of str
        Distinct names of all columns.
    version : tuple of int
        Numbers that change when the file does.
    """

    path: Path
    format: str
    dialect: Dialect
    names: list[str]
    version: tuple[int, ...]

    @property
    def is_csv(self) -> bool:
        """Whether the table is a CSV, whose columns have no types."""
        return self.format == "csv"

    def kinds(self) -> dict[str, str]:
        """Say what each column holds; all rows of a CSV are read to tell.

        Returns
        -------
        dict from column to {"number", "text", "date", "flag", "other"}
            Columns in the order of the file. "flag" is true or false, and "other"
            something that no learner takes, such as lists.
        """
        if self.is_csv:
            types = csv_types(self)
        else:
            schema = _schema(self.path, self.format)
            types = dict(zip(schema.names, schema.types, strict=True))
        return {name: kind_of_type(type_) for name, type_ in types.items()}

    def parts(
        self,
        rows: int = _ROWS_OF_A_PART,
        *,
        columns: Iterable[str] | None = None,
        types: Mapping[str, str] | None = None,
        verbatim: bool = False,
        hasher: Any = None,
    ) -> Iterator[pd.DataFrame]:
        """Read the table in parts, with only a few of them in memory at a time.

        Parameters
        ----------
        rows : int, default=50000
            Number of rows of each part; the last part may have fewer.
        columns : iterable of str, default=None
            Names of the columns to read, in this order; None reads all.
        types : mapping from column to {"text", "number", "date", "flag"}, default=None
            Types of columns of a CSV, where "007" may be text or a number. A column
            that is not named is numbers, dates or true/false if all its fields are, and
            text otherwise. To find out, the whole file is read once more.
        verbatim : bool, default=False
            Whether to return columns as they are in the file, for copying: text in CSV,
            Arrow types otherwise.
        hasher : hashlib object, default=None
            Its ``update`` gets all bytes of the file, and its digest is complete after
            the last part. A CSV is hashed while it is read; other formats are not read
            front to back and take one more pass over the file.

        Yields
        ------
        DataFrame
            Nothing for a table without rows.

        Raises
        ------
        TableError
            If the file cannot be read as a table or lacks a column.
        """
        if rows < 1:
            raise ValueError(f"rows must be at least 1, got {rows!r}.")
        if columns is not None:
            columns = list(columns)
            check_columns_exist(columns, self.names, self.path)
        if self.is_csv:
            arrow_types = None
            if not verbatim:
                arrow_types = self._types_to_read(columns, types or {})
            batches = csv_batches(self, arrow_types, columns=columns, hasher=hasher)
        else:
            batches = self._typed_batches(rows, columns, hasher)
        convert = to_verbatim_frame if verbatim else to_frame
        for part in exact_parts(batches, rows):
            yield convert(part)

    def _types_to_read(
        self, columns: list[str] | None, types: Mapping[str, str]
    ) -> dict[str, pa.DataType]:
        """Arrow types of the columns of a CSV: those given, or else those found."""
        import pyarrow as pa

        as_read = {
            "text": pa.string(),
            "number": pa.float64(),
            "date": pa.timestamp("us"),
            "flag": pa.bool_(),
        }
        given = {name: as_read[kind] for name, kind in types.items()}
        # Finding types reads the whole file, which is not needed if all are given.
        if given.keys() >= set(self.names if columns is None else columns):
            return given
        return csv_types(self) | given

    def _typed_batches(
        self, rows: int, columns: list[str] | None, hasher: Any
    ) -> Iterator[pa.RecordBatch]:
        """Batches of a Parquet file, of ``rows`` rows, or of Arrow, as it was written.

        Parquet has its index at the end, so its bytes do not pass in order, and are
        hashed after the rows are read.
        """
        with self.path.open("rb") as binary:
            opened = _version_of(self.path)
            if self.format == "parquet":
                file = _open_parquet(self.path)
                yield from file.iter_batches(batch_size=rows, columns=columns)
            else:
                for batch in _arrow_batches(_open_arrow(self.path, self.format)):
                    yield batch if columns is None else batch.select(columns)
            if hasher is not None:
                while block := binary.read(1 << 20):
                    hasher.update(block)
        # Otherwise the hash would be that of a file from which no row was read.
        if hasher is not None and _version_of(self.path) != opened:
            raise TableError(f"{self.path} has changed while it was read.")

    def check_unchanged(self) -> None:
        """Raise if the file is no longer the one that was opened."""
        if _version_of(self.path) != self.version:
            raise TableError(f"{self.path} has changed while it was read.")

    def dialect_to_write(self) -> Dialect:
        r"""Return how to write a CSV that shall be like this table.

        Returns
        -------
        Dialect
            With a byte order mark if the file has one, as Excel writes it.

        Examples
        --------
        >>> file = folder / "a.csv"
        >>> _ = file.write_bytes(b"\xef\xbb\xbfage,race\n30,a\n")
        >>> open_table(file).dialect_to_write().encoding
        'utf-8-sig'
        """
        return with_mark(self.path, self.dialect) if self.is_csv else self.dialect


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
        return _open_parquet(path).metadata.num_rows
    if kind == "arrow":
        # The file is mapped into memory, so its batches are found but not read.
        batches = _arrow_batches(_open_arrow(path, kind))
        return sum(batch.num_rows for batch in batches)
    return None


def check_columns_exist(
    needed: Iterable[str], names: Iterable[str], path: str | Path
) -> None:
    """Raise if a column is not in the file; the error is about the first.

    Parameters
    ----------
    needed : iterable of str
        Columns that must be there.
    names : iterable of str
        The columns of the file.
    path : str or Path
        The file, for the message.

    Raises
    ------
    TableError
        If a column is missing.
    """
    known = dict.fromkeys(names)
    for name in needed:
        if name not in known:
            raise missing_column(name, known, path)


def _version_of(path: Path) -> tuple[int, ...]:
    """Return numbers that change when a file does."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def table_format(path: Path) -> str:
    """Tell the format of a file by its first bytes; "csv" is what no other is."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file.")
    # Tables are read several times, and a pipe gives its bytes once. Opening one would
    # wait for somebody to write to it.
    if not path.is_file():
        raise TableError(
            f"{path} is a pipe or a device, which can be read once only: save the "
            "table as a file."
        )
    with path.open("rb") as file:
        start = file.read(8)
    if not start:
        raise TableError(f"{path} is empty.")
    # Excel's .xlsx is a zip archive, the older .xls an OLE file (D0 CF 11 E0).
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise TableError(
            f"{path} is a spreadsheet or a zip file: save the table as CSV or Parquet."
        )
    if start.startswith(b"FEA1"):
        raise TableError(
            f"{path} is Feather of version 1, which is no longer read: save it again "
            "as version 2."
        )
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"ARROW1"):
        return "arrow"
    # An Arrow stream has no magic number; it begins with a continuation marker.
    if start.startswith(b"\xff\xff\xff\xff"):
        return "arrow stream"
    return "csv"


def _open_parquet(path: Path) -> Any:
    """Open a Parquet file, or raise a `TableError` that names it."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # pre_buffer would read the whole file ahead, and keep it in memory.
        return parquet.ParquetFile(path, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise _not_whole(path, "Parquet", error) from error


def _open_arrow(path: Path, kind: str) -> Any:
    """Open an Arrow file or stream, or raise a `TableError` that names it."""
    import pyarrow as pa

    try:
        # Mapped: pages that have been read can be dropped again, whatever the size.
        file = pa.memory_map(str(path))
        if kind == "arrow":
            return pa.ipc.open_file(file)
        return pa.ipc.open_stream(file)
    except (pa.ArrowException, OSError) as error:
        raise _not_whole(path, "Arrow", error) from error


def _not_whole(path: Path, kind: str, error: Exception) -> TableError:
    """The error for a damaged file: the first line of pyarrow's own error."""
    first_line = str(error).strip().split("\n")[0]
    return TableError(f"{path} is not a whole {kind} file: {first_line}")


def _arrow_batches(reader: Any) -> Iterator[pa.RecordBatch]:
    """Batches of an Arrow stream, or of a file, which cannot be iterated over."""
    if not hasattr(reader, "num_record_batches"):
        yield from reader
        return
    for place in range(reader.num_record_batches):
        yield reader.get_batch(place)


def _schema(path: Path, kind: str) -> pa.Schema:
    """Names and types of the columns of a Parquet or Arrow file."""
    if kind == "parquet":
        return _open_parquet(path).schema_arrow
    return _open_arrow(path, kind).schema


def exact_parts(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
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


def kind_of_type(type_: pa.DataType) -> str:
    """Say in a word what a column of an Arrow type holds.

    Parameters
    ----------
    type_ : pyarrow type

    Returns
    -------
    {"number", "text", "date", "flag", "other"}
        A time of day is text, and a column without any value is numbers, as `to_frame`
        returns them.
    """
    from pyarrow import types

    # A dictionary is a way of storing values, not a kind of value.
    if types.is_dictionary(type_):
        return kind_of_type(type_.value_type)
    if types.is_boolean(type_):
        return "flag"
    if types.is_date(type_) or types.is_timestamp(type_):
        return "date"
    numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    if any(check(type_) for check in numbers):
        return "number"
    texts = (
        types.is_string,
        types.is_large_string,
        types.is_string_view,
        types.is_time,
    )
    if any(check(type_) for check in texts):
        return "text"
    return "other"


def to_frame(table: pa.Table) -> pd.DataFrame:
    """Convert to pandas, without types that learners cannot take.

    Decimals and columns without any value become floats, dates become timestamps, and
    times of day become text.
    """
    for place, field in enumerate(table.schema):
        type_ = _learnable_type(field.type)
        if type_ != field.type:
            column = table.column(place).cast(type_)
            table = table.set_column(place, field.name, column)
    # The metadata would restore the pandas types and index of whoever wrote the file.
    return table.replace_schema_metadata(None).to_pandas()


def to_verbatim_frame(table: pa.Table) -> pd.DataFrame:
    """Convert to pandas and keep Arrow's types, for copying a file."""
    import pandas as pd

    return table.replace_schema_metadata(None).to_pandas(types_mapper=pd.ArrowDtype)


def _learnable_type(type_: pa.DataType) -> pa.DataType:
    """The type itself, or the one that a learner takes in its place."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_decimal(type_) or types.is_null(type_):
        return pa.float64()
    if types.is_time(type_):
        return pa.string()
    # pandas makes Python objects of dates. pyarrow reads timestamps of a CSV as seconds
    # where it finds them, and as microseconds where the type is given.
    if types.is_date(type_):
        return pa.timestamp("us")
    if types.is_timestamp(type_) and type_.unit == "s":
        return pa.timestamp("us", type_.tz)
    return type_
