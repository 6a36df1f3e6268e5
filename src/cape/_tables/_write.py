"""Writing a table part by part. The file appears when it is whole."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cape._newfile import new_file
from cape._tables._csv import Dialect
from cape._tables._error import TableError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["TableWriter"]

_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".feather", ".arrow")

_RUNS = "^[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
"""What a spreadsheet may take for a formula, also in full width."""

_NUMBER = "^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?$"


_OUTSIDE_NUMBERS = ",;\t|"
"""Separators that no number and no date has in it."""


class TableWriter:
    r"""Write the parts of a table to a file whose format its name tells.

    A context manager: the rows go to a temporary file, which takes its name at the end; after an error nothing is left.
    In CSV a text field that begins with ``= + - @`` or a tab gets an apostrophe in front, so that a spreadsheet shows
    it and does not run it; numbers stay as they are.

    Parameters
    ----------
    path : str or Path
        Ends in .csv, .tsv (each also with .gz), .parquet, .feather or .arrow.
    overwrite : bool, default=False
    dialect : Dialect, optional
        Separator and encoding of a CSV; a .tsv has tabs in any case.
    background : bool, default=False
        Write rows while the caller goes on, who must not change them any more. What goes wrong is raised by the next
        `write`, or at the end.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> with TableWriter(file) as writer:
    ...     writer.write(pd.DataFrame({"x": [-1, 2], "note": ["=1+1", "fine"]}))
    >>> file.read_text()
    "x,note\n-1,'=1+1\n2,fine\n"
    """

    def __init__(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        dialect: Dialect | None = None,
        background: bool = False,
    ):
        self.path = Path(path)
        self._kind = _kind(self.path)
        self._dialect = dialect or Dialect()
        if self._kind.startswith(".tsv"):
            self._dialect = replace(self._dialect, separator="\t")
        self._overwrite, self._background = overwrite, background
        self._sink: Any = None
        self._writing: Future | None = None
        self._stack = ExitStack()

    def __enter__(self) -> TableWriter:
        self._temporary = self._stack.enter_context(
            new_file(self.path, overwrite=self._overwrite)
        )
        self._stack.callback(self._close)
        self._behind = self._stack.enter_context(ThreadPoolExecutor(1))
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._stack.__exit__(*error)

    def write(self, frame: pd.DataFrame) -> None:
        """Add rows; every part must have the columns and types of the first."""
        import pyarrow as pa

        table = pa.Table.from_pandas(
            frame, preserve_index=False
        ).replace_schema_metadata(None)
        if self._sink is None:
            self._schema = table.schema
            self._sink = self._open(table.schema)
        elif table.schema.names != self._schema.names:
            raise ValueError(
                f"frame must have the columns {self._schema.names}, got {table.schema.names}."
            )
        if not self.is_text:
            table = table.cast(self._schema)
        self._wait()
        self._writing = self._behind.submit(self._sink.write, table)
        if not self._background:
            self._wait()

    @property
    def is_text(self) -> bool:
        """Whether the file is a CSV, which has no types."""
        return self._kind.startswith((".csv", ".tsv"))

    @property
    def disarmed(self) -> int:
        """Fields of a CSV that have got an apostrophe."""
        return getattr(self._sink, "disarmed", 0)

    def _wait(self) -> None:
        if self._writing is not None:
            with self._naming_the_file():
                self._writing.result()
            self._writing = None  # not before, or an interrupt would have it closed while it is written

    def _close(self) -> None:
        try:
            self._wait()
        finally:
            if self._sink is not None:
                with self._naming_the_file():
                    self._sink.close()

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise TableError(
                f"{self.path} cannot be written: {error.strerror or error}."
            ) from error

    def _open(self, schema: pa.Schema) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        if self._kind == ".parquet":
            # A dictionary of floats, which seldom repeat, makes the file larger and takes four times as long.
            nested = any(pa.types.is_nested(field.type) for field in schema)
            words = [
                field.name for field in schema if not pa.types.is_floating(field.type)
            ]
            return parquet.ParquetWriter(
                self._temporary, schema, use_dictionary=True if nested else words
            )
        if self._kind in (".feather", ".arrow"):
            return pa.ipc.new_file(str(self._temporary), schema)
        return _CsvSink(
            self._temporary,
            schema.names,
            self._dialect,
            gzipped=self._kind.endswith(".gz"),
        )


class _CsvSink:
    """Writes tables as CSV, quoting only what needs it."""

    def __init__(
        self, path: Path, names: list[str], dialect: Dialect, *, gzipped: bool
    ):
        import pyarrow as pa

        self.disarmed = 0
        self._dialect = dialect
        self._encoder = codecs.getincrementalencoder(
            dialect.encoding
        )()  # a mark of its byte order comes once
        self._file: Any = (
            gzip.GzipFile(path, "wb", compresslevel=6) if gzipped else path.open("wb")
        )
        self._write_lines(
            pa.table(
                [pa.array([name]) for name in names],
                names=[str(i) for i in range(len(names))],
            )
        )

    def write(self, table: pa.Table) -> None:
        if table.num_rows:
            self._write_lines(table)

    def close(self) -> None:
        self._file.close()

    def _write_lines(self, table: pa.Table) -> None:
        import pyarrow.compute as pc

        fields = [
            self._fields(table.column(i).combine_chunks())
            for i in range(table.num_columns)
        ]
        if len(fields) > 1:
            lines = pc.binary_join_element_wise(*fields, self._dialect.separator)
        else:
            lines = pc.if_else(
                pc.equal(fields[0], ""), '""', fields[0]
            )  # an empty line would be no row
        self._file.write(self._encoder.encode("\n".join(lines.to_pylist()) + "\n"))

    def _fields(self, column: pa.Array) -> pa.Array:
        """Each value as it goes into the line: harmless, quoted where needed, empty where missing."""
        import pyarrow.compute as pc

        fields, text = _as_text(column)
        if text:
            runs = pc.and_(
                pc.match_substring_regex(fields, _RUNS),
                pc.invert(pc.match_substring_regex(fields, _NUMBER)),
            )
            self.disarmed += pc.sum(runs).as_py() or 0
            fields = pc.if_else(
                runs, pc.binary_join_element_wise("'", fields, ""), fields
            )
        if text or self._dialect.separator not in _OUTSIDE_NUMBERS:
            needs = pc.match_substring_regex(
                fields, f'["\r\n{_escaped(self._dialect.separator)}]'
            )
            if pc.any(needs).as_py():
                quoted = pc.binary_join_element_wise(
                    '"', pc.replace_substring(fields, '"', '""'), '"', ""
                )
                fields = pc.if_else(needs, quoted, fields)
        return fields.fill_null("")


def _as_text(column: pa.Array) -> tuple[pa.Array, bool]:
    """Values as text, and whether that is what they were, or had to be made by Python."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    try:
        return column.cast(pa.string()), text
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return pa.array(
            [None if value is None else str(value) for value in column.to_pylist()],
            pa.string(),
        ), True


def _escaped(separator: str) -> str:
    return f"\\{separator}" if separator in "^]-\\|" else separator


def _kind(path: Path) -> str:
    name = path.name.lower()
    for suffix in sorted(_SUFFIXES, key=len, reverse=True):
        if name.endswith(suffix):
            return suffix
    raise TableError(
        f"{path} must end in one of {', '.join(_SUFFIXES)}, which tells the format."
    )
