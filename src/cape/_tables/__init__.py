"""Tables in files, read and written in parts so that memory stays bounded.

CSV and JSON lines (also gzipped), Parquet, Arrow/Feather, SQLite, spreadsheets, folders
of such files.

`cape._tables._open` reads and `cape._tables._write` writes. They take pyarrow along,
for which a wrong name of a file need not wait.
"""

from cape._tables._source import (
    Dialect,
    Source,
    TableError,
    check_columns_exist,
    check_outside,
    missing_column,
    source_files,
    table_format,
)
