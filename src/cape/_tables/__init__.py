"""Tables in files: CSV (also .gz), Parquet and Arrow/Feather, read and written in parts of bounded memory."""

from cape._tables._csv import Dialect
from cape._tables._error import TableError
from cape._tables._read import (
    is_csv,
    iter_table,
    read_table,
    table_columns,
    table_kinds,
    table_length,
)
from cape._tables._write import TableWriter

__all__ = [
    "Dialect",
    "TableError",
    "TableWriter",
    "is_csv",
    "iter_table",
    "read_table",
    "table_columns",
    "table_kinds",
    "table_length",
]
