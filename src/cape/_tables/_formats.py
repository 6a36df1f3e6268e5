"""What a file holds, and how typed tables (Parquet, Arrow) are opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cape._tables._error import TableError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "check_distinct",
    "open_arrow",
    "open_parquet",
    "table_format",
    "typed_schema",
]


def table_format(path: Path) -> str:
    """Tell the format of a file by its first bytes.

    Parameters
    ----------
    path : Path

    Returns
    -------
    {"csv", "parquet", "arrow", "arrow stream"}
        "csv" is what no other format is.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If the path is not a file.
    TableError
        If the file is empty, a spreadsheet, a zip file or an old Feather file.
    """
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


def open_parquet(path: Path) -> Any:
    """Open a Parquet file, or raise a `TableError` that names it."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # pre_buffer would read the whole file ahead, and keep it in memory.
        return parquet.ParquetFile(path, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise _not_whole(path, "Parquet", error) from error


def open_arrow(path: Path, kind: str) -> Any:
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


def typed_schema(path: Path, kind: str) -> pa.Schema:
    """Names and types of the columns of a Parquet or Arrow file."""
    if kind == "parquet":
        return open_parquet(path).schema_arrow
    return open_arrow(path, kind).schema


def check_distinct(path: Path, names: list[str]) -> None:
    """Raise an error if two columns have the same name: neither could be picked."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(
            f"{path} has several columns called {twice!r}: names must be distinct."
        )


def _not_whole(path: Path, kind: str, error: Exception) -> TableError:
    """The error for a damaged file: the first line of pyarrow's own error."""
    first_line = str(error).strip().split("\n")[0]
    return TableError(f"{path} is not a whole {kind} file: {first_line}")
