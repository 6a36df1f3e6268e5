"""Tables in files, read and written in parts so that memory stays bounded.

CSV and JSON lines (also gzipped), Parquet, Arrow/Feather, SQLite, spreadsheets, folders
of such files, and one SELECT over any of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cape._packages import lazily
from cape._tables._source import (
    Dialect,
    Query,
    Source,
    TableError,
    check_columns_exist,
    check_outside,
    missing_column,
    source_files,
    table_format,
)

if TYPE_CHECKING:
    from cape._tables._open import open_table
    from cape._tables._table import Table
    from cape._tables._text import dotted_dates
    from cape._tables._write import TableWriter

# What follows takes pyarrow along, for which a wrong name of a file need not wait.
__getattr__ = lazily(
    "cape._tables",
    {
        "Table": "cape._tables._table",
        "TableWriter": "cape._tables._write",
        "dotted_dates": "cape._tables._text",
        "open_table": "cape._tables._open",
    },
)
