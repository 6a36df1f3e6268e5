"""Tables in files, read and written in parts so that memory stays bounded.

CSV and JSON lines (also gzipped), Parquet, Arrow/Feather, SQLite, spreadsheets, folders
of such files.

`_open` reads and `_write` writes. They take pyarrow along, for which a wrong name of a
file need not wait.
"""

from cape_app.tables._source import (
    Dialect,
    Source,
    TableError,
    check_columns_exist,
    check_outside,
    missing_column,
    source_files,
    table_format,
)
