"""Tables in files, read and written in parts so that memory stays bounded.

CSV (also gzipped), Parquet and Arrow/Feather.
"""

from cape._tables._csv import Dialect, dotted_dates
from cape._tables._error import TableError, missing_column
from cape._tables._read import (
    Table,
    check_columns_exist,
    open_table,
    table_format,
    table_length,
)
from cape._tables._write import TableWriter

__all__ = [
    "Dialect",
    "Table",
    "TableError",
    "TableWriter",
    "check_columns_exist",
    "dotted_dates",
    "missing_column",
    "open_table",
    "table_format",
    "table_length",
]
