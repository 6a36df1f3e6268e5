"""Tables in files, read and written in parts so that memory stays bounded.

CSV (also gzipped), Parquet and Arrow/Feather.
"""

from cape._tables._dialect import Dialect
from cape._tables._dotted_dates import dotted_dates
from cape._tables._error import TableError
from cape._tables._missing import missing_column, quoted
from cape._tables._read import (
    file_version,
    is_csv,
    iter_table,
    read_table,
    same_dialect,
    table_columns,
    table_kinds,
    table_length,
)
from cape._tables._write import TableWriter

__all__ = [
    "Dialect",
    "TableError",
    "TableWriter",
    "dotted_dates",
    "file_version",
    "is_csv",
    "iter_table",
    "missing_column",
    "quoted",
    "read_table",
    "same_dialect",
    "table_columns",
    "table_kinds",
    "table_length",
]
