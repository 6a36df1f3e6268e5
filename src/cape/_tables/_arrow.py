"""Parquet and Arrow files, which have types of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from cape._tables._source import TableError, first_line
from cape._tables._table import Table, Wanted, kind_of_type, naming


class ArrowTable(Table):
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
        self._schema = opened.schema_arrow if format == "parquet" else opened.schema
        names = self._schema.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise TableError(
                f"{path} has several columns called {twice!r}: names must be distinct."
            )
        super().__init__(path, names, [self._file])

    def kinds(self) -> dict[str, str]:
        """Say what each column holds."""
        return {field.name: kind_of_type(field.type) for field in self._schema}

    def schema(self, wanted: Wanted) -> pa.Schema:
        """Return names and types of the batches."""
        return pa.schema([self._schema.field(name) for name in wanted.columns])

    def dataset(self) -> Any:
        """Return a dataset of pyarrow, if it is a Parquet file."""
        import pyarrow.dataset

        if self._format != "parquet":
            return None
        return pyarrow.dataset.dataset(self._file)

    def length(self) -> int | None:
        """Return the number of rows; that of a stream is not known."""
        if self._format == "parquet":
            return self._open().metadata.num_rows
        if self._format == "arrow":
            # The file is mapped into memory: batches are found but not read.
            return sum(batch.num_rows for batch in self._arrow_batches())
        return None

    def batches(
        self, wanted: Wanted, rows: int, hasher: Any
    ) -> Iterator[pa.RecordBatch]:
        with naming(self.path):
            if self._format == "parquet":
                columns = wanted.columns
                batches = self._open().iter_batches(batch_size=rows, columns=columns)
                try:
                    yield from batches
                except (pa.ArrowException, OSError):
                    self._name_damage(columns)
                    raise
            else:
                for batch in self._arrow_batches():
                    yield batch.select(wanted.columns)
        self._hash_files(hasher)

    def _name_damage(self, columns: list[str]) -> None:
        """Raise an error that names the column and the rows of a damaged page."""
        reader = self._open()
        n_before = 0
        for number in range(reader.num_row_groups):
            n_rows = reader.metadata.row_group(number).num_rows
            for name in columns:
                try:
                    reader.read_row_group(number, columns=[name])
                except (pa.ArrowException, OSError) as error:
                    raise TableError(
                        f"{self.path} is damaged in column {name!r}, rows "
                        f"{n_before + 1} to {n_before + n_rows}: {first_line(error)}. "
                        "Get the file again, or leave the column out."
                    ) from error
            n_before += n_rows

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
