"""Tables in files: CSV (also .gz), Parquet and Arrow/Feather, read and written in parts of bounded memory."""

from cape.tables._csv import Dialect
from cape.tables._error import TableError
from cape.tables._read import is_csv, iter_table, read_table, table_columns, table_kinds, table_length
from cape.tables._write import TableWriter

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
