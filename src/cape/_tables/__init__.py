"""Tables in files, read and written in parts so that memory stays bounded.

CSV and JSON lines (also gzipped), Parquet, Arrow/Feather, SQLite, spreadsheets, folders
of such files, and one SELECT over any of them.
"""

from cape._tables._open import (
    Source,
    check_outside,
    open_table,
    source_files,
    table_format,
)
from cape._tables._sql import Query
from cape._tables._table import (
    Dialect,
    Table,
    TableError,
    check_columns_exist,
    missing_column,
)
from cape._tables._text import dotted_dates
from cape._tables._write import TableWriter
