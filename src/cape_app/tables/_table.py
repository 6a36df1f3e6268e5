"""A table that is read in parts: what all formats have in common; Parquet and Arrow."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from pyarrow import types

from cape_app.tables._source import (
    Dialect,
    TableError,
    check_columns_exist,
    distinct,
    first_line,
)
from cape_app.tables._text import converted, without_missing

_ROWS_OF_A_PART = 50_000

_CHECKS_OF_KINDS: dict[str, tuple[Any, ...]] = {
    "flag": (types.is_boolean,),
    "date": (types.is_date, types.is_timestamp),
    "number": (types.is_integer, types.is_floating, types.is_decimal, types.is_null),
    "text": (types.is_string, types.is_large_string, types.is_string_view),
}


class Wanted(NamedTuple):
    """What is wanted of a table; see `Table.parts`."""

    columns: list[str]
    types: Mapping[str, str] = {}
    verbatim: bool = False
    typed: bool = False
    known: Mapping[str, Sequence[str]] = {}


class Table(ABC):
    """A table whose names of columns have been read.

    A format implements `kinds` and `batches`.

    Parameters
    ----------
    path : Path
        What the user named: a file or a folder.
    names : list of str
        Distinct names of all columns.
    files : list of Path
        The files that are read.

    Attributes
    ----------
    dialect : Dialect
        How a CSV is written, or shall be.
    remarks : list of (str, dict)
        What a user should know about how the table was read: codes of notes, with
        their values.
    by_hand : bool
        Whether people write such tables, so that a total may stand below the rows.
    """

    is_csv = False
    by_hand = False

    def __init__(self, path: Path, names: list[str], files: list[Path]):
        self.path = path
        self.names = names
        self.dialect = Dialect()
        self.remarks: list[tuple[str, dict[str, Any]]] = []
        self._files = files
        self._versions = _versions(files)

    @abstractmethod
    def kinds(self) -> dict[str, str]:
        """Say what each column holds; all rows of a CSV are read to tell.

        Returns
        -------
        dict from column to {"number", "text", "date", "flag", "other"}
            Columns in the order of the file. "flag" is true or false, and "other"
            something that no learner takes, such as lists.
        """

    @abstractmethod
    def schema(self, wanted: Wanted) -> pa.Schema:
        """Return names and types of what `batches` yields."""

    def parts(
        self,
        rows: int = _ROWS_OF_A_PART,
        *,
        columns: Iterable[str] | None = None,
        types: Mapping[str, str] | None = None,
        verbatim: bool = False,
        typed: bool = False,
        known: Mapping[str, Sequence[str]] | None = None,
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
            that is not named is what all its fields can be written as, and look the
            same: "007" is text. To find out, the whole file is read once more.
        verbatim : bool, default=False
            Whether to return columns as they are in the file, for copying: text in CSV,
            Arrow types otherwise. Then "NA" is a text like any other.
        typed : bool, default=False
            With ``verbatim``, whether columns of a CSV shall have types, too.
        known : mapping from column to words, default=None
            Words such as "NA" that are values of a column. Elsewhere they are missing.

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
        columns = self.names if columns is None else list(columns)
        check_columns_exist(columns, self.names, self.path)
        wanted = Wanted(columns, types or {}, verbatim, typed, known or {})
        batches = self.batches(wanted, rows)
        convert = to_verbatim_frame if verbatim else to_frame
        with naming(self.path):
            yield from map(convert, exact_parts(batches, rows))

    @abstractmethod
    def batches(self, wanted: Wanted, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield rows, in batches of any length; see `parts`."""

    def sha256(self) -> str:
        """Hash the bytes of all files, or the rows of a part of one.

        Raises
        ------
        TableError
            If they are not those that were opened: the rows may be of other bytes.
        """
        hasher = hashlib.sha256()
        self.add_to_hash(hasher)
        self.check_unchanged()
        return hasher.hexdigest()

    def add_to_hash(self, hasher: Any) -> None:
        """Hash what the table holds, together with what was hashed before."""
        for path in self._files:
            with path.open("rb") as binary:
                hashlib.file_digest(binary, lambda: hasher)

    def check_unchanged(self) -> None:
        """Raise if the files are no longer those that were opened."""
        if _versions(self._files) != self._versions:
            raise TableError(f"{self.path} changed while it was being read.")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file that Arrow cannot read: damaged, or with a day in year 5,000,000.

    Parameters
    ----------
    path : Path
    """
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeEncodeError, MemoryError) as error:
        reason = first_line(error) or "there is not enough memory"
        raise TableError(
            f"{path} cannot be read: {reason}. If it is damaged, get the file again."
        ) from error


def _versions(files: list[Path]) -> list[tuple[int, ...]]:
    """Return numbers that change when one of the files does."""
    versions: list[tuple[int, ...]] = []
    for path in files:
        status = path.stat()
        versions.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return versions


def exact_parts(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """Cut batches of any length into tables of ``rows`` rows; the last may be short."""
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
    # A dictionary is a way of storing values, not a kind of value.
    if types.is_dictionary(type_):
        return kind_of_type(type_.value_type)
    # As `to_frame` returns it.
    if types.is_time(type_):
        return "text"
    for kind, checks in _CHECKS_OF_KINDS.items():
        if any(is_of_kind(type_) for is_of_kind in checks):
            return kind
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
    return table.replace_schema_metadata(None).to_pandas(types_mapper=pd.ArrowDtype)


def _learnable_type(type_: pa.DataType) -> pa.DataType:
    """The type itself, or the one that a learner takes in its place."""
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


class FileTable(Table):
    """A table in one file: its rows as they are there, and what its text stands for.

    A format implements `read` and `kinds_of_text`.

    Parameters
    ----------
    path : Path
        What the user named.
    names : list of str
        Distinct names of all columns.
    file : Path
        The file.
    types : sequence of pyarrow type
        What the columns are of in the file.
    """

    def __init__(
        self, path: Path, names: list[str], file: Path, types: Sequence[pa.DataType]
    ):
        super().__init__(path, names, [file])
        self._types = dict(zip(names, types, strict=True))

    @abstractmethod
    def read(self, wanted: Wanted, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield columns as the file has them, in batches of any length."""

    @abstractmethod
    def kinds_of_text(self, wanted: Wanted) -> Mapping[str, str]:
        """Return what some columns of text are read as; others stay as they are."""

    def misfit(self, name: str, kind: str, texts: pa.Array, n_before: int) -> Exception:
        """Make the error for text that is not of the kind that was asked for."""
        return TableError(f"{self.path}, column {name!r}: expected {kind}.")

    def schema(self, wanted: Wanted) -> pa.Schema:
        """Return names and types of the batches."""
        kinds = self.kinds_of_text(wanted)
        of_columns = {}
        for name in wanted.columns:
            values: Any = pa.nulls(0, self._types[name])
            if name in kinds:
                values = converted(self.texts(name, values, wanted), kinds[name])
            of_columns[name] = values.type
        return pa.schema(of_columns)

    def batches(self, wanted: Wanted, rows: int) -> Iterator[pa.RecordBatch]:
        kinds = self.kinds_of_text(wanted)
        schema = self.schema(wanted)
        n_before = 0
        with naming(self.path):
            for batch in self.read(wanted, rows):
                arrays = []
                for name, values in zip(wanted.columns, batch.columns, strict=True):
                    if name in kinds:
                        texts = self.texts(name, values, wanted)
                        values = converted(texts, kinds[name], self.dialect)
                    if values is None:
                        raise self.misfit(name, kinds[name], texts, n_before)
                    arrays.append(values)
                n_before += batch.num_rows
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def texts(self, name: str, column: pa.Array, wanted: Wanted) -> pa.Array:
        """Return a column of text, without words that mean that a value is missing."""
        if not types.is_large_string(column.type):
            column = column.cast(pa.string())
        if wanted.verbatim:
            return column
        known = wanted.known.get(name, ())
        return without_missing(column, known, self.dialect.missing)


class ArrowTable(FileTable):
    """A Parquet file, an Arrow file (also called Feather), or an Arrow stream.

    Parameters
    ----------
    path : Path
        What the user named.
    format : {"parquet", "arrow", "arrow stream"}
    file : Path, default=None
        The file; None is ``path``.
    """

    def __init__(self, path: Path, format: str, file: Path | None = None):
        self._file = file or path
        self._format = format
        opened = self._open()
        schema = opened.schema_arrow if format == "parquet" else opened.schema
        if len(set(schema.names)) < len(schema.names):
            twice = next(name for name in schema.names if schema.names.count(name) > 1)
            raise TableError(
                f"{path} has several columns called {twice!r}: names must be distinct."
            )
        super().__init__(path, distinct(schema.names), self._file, schema.types)
        self._names_in_file = dict(zip(self.names, schema.names, strict=True))
        # What text holds, where it is known to be something else.
        self._held: dict[str, str] = {}

    def kinds(self) -> dict[str, str]:
        """Say what each column holds."""
        kinds = {}
        for name, type_ in self._types.items():
            kind = self._held.get(name) or kind_of_type(type_)
            kinds[name] = "number" if kind == "integer" else kind
        return kinds

    def kinds_of_text(self, wanted: Wanted) -> Mapping[str, str]:
        """Return what columns of text hold."""
        kinds: dict[str, str] = {}
        for name in wanted.columns:
            type_ = self._types[name]
            is_text = kind_of_type(type_) == "text" and not types.is_time(type_)
            if wanted.verbatim or not is_text:
                continue
            # As in a CSV: what is wanted as text is not taken for a number first.
            kinds[name] = "text"
            if wanted.types.get(name) != "text":
                kinds[name] = self._held.get(name, "text")
        return kinds

    def read(self, wanted: Wanted, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield columns as the file has them."""
        columns = [self._names_in_file[name] for name in wanted.columns]
        if self._format == "parquet":
            batches = self._open().iter_batches(rows, columns=columns)
        else:
            batches = self._arrow_batches()
        for batch in batches:
            yield batch.select(columns)

    def _arrow_batches(self) -> Iterator[pa.RecordBatch]:
        """Batches of an Arrow stream, or of a file, which cannot be iterated over."""
        reader = self._open()
        if self._format == "arrow stream":
            yield from reader
            return
        for place in range(reader.num_record_batches):
            yield reader.get_batch(place)

    def _open(self) -> Any:
        """Open the file, or raise a `TableError` that names it."""
        from pyarrow import parquet

        kind = "Parquet" if self._format == "parquet" else "Arrow"
        try:
            if self._format == "parquet":
                # pre_buffer would read the whole file ahead, and keep it in memory.
                return parquet.ParquetFile(self._file, pre_buffer=False)
            # Mapped: pages that have been read can be dropped again.
            mapped = pa.memory_map(str(self._file))
            if self._format == "arrow":
                return pa.ipc.open_file(mapped)
            return pa.ipc.open_stream(mapped)
        except (pa.ArrowException, OSError) as error:
            raise TableError(
                f"{self._file} is not a whole {kind} file: {first_line(error)}"
            ) from error
