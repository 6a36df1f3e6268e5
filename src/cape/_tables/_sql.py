"""One SELECT over files or a DuckDB database, which reads nothing but these.

DuckDB itself may open no file: the files that the statement names are opened as any
other table, and DuckDB gets their rows.
"""

from __future__ import annotations

import json
import re
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cape._tables._rows import choose
from cape._tables._source import Query, TableError, first_line
from cape._tables._table import ArrowTable, Table, Wanted, exact_parts

if TYPE_CHECKING:
    import duckdb

_MEMORY = "2GB"
_ROWS_AT_ONCE = 50_000


def tables_in_quotes(query: Query) -> list[str]:
    """Find the tables of a statement that may be files.

    Parameters
    ----------
    query : Query

    Returns
    -------
    list of str
        Names that stand in quotes, and are no tables of the database, each once. Names
        without quotes are of a WITH or of the database, also where a file is called
        like them.
    """
    with _connected(query.database) as connection:
        left = [_parse(connection, query.sql)]
        own = {name.lower() for name in _tables_of(connection)}
    names: list[str] = []
    text = query.sql.encode()
    while left:
        node = left.pop()
        if isinstance(node, dict):
            if node.get("type") == "BASE_TABLE":
                begin = node["query_location"]
                if text[begin : begin + 1] in (b"'", b'"'):
                    names.append(node["table_name"])
            node = list(node.values())
        if isinstance(node, list):
            left += node
    return [name for name in dict.fromkeys(names) if name.lower() not in own]


def open_duckdb(path: Path, database: Path, table: str | None) -> Table:
    """Open a table of a DuckDB database.

    Parameters
    ----------
    path : Path
        What the user named.
    database : Path
    table : str or None
        None is the only table that there is.

    Returns
    -------
    Table
    """
    with _connected(database) as connection:
        tables = _tables_of(connection)
    chosen = choose(path, database, "table", table, tables)
    query = Query(f"select * from {_identifier(chosen)}", database, str(path))
    return run_query(query, {})


def run_query(query: Query, tables: dict[str, Table]) -> ArrowTable:
    """Run a query, and open its result, which is kept in a temporary file.

    Rows are read several times, and a query need not give them in the same order twice.

    Parameters
    ----------
    query : Query
    tables : dict from str to Table
        The files that it names, opened.

    Returns
    -------
    ArrowTable
    """
    with _connected(query.database) as connection:
        import duckdb

        for name, table in tables.items():
            _add_table(connection, name, table)
        # The same statement gives the same rows wherever it runs.
        connection.execute("set timezone = 'UTC'")
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
        _parse(connection, query.sql)
        try:
            result: Any = connection.sql(query.sql).to_arrow_reader(_ROWS_AT_ONCE)
            folder = tempfile.TemporaryDirectory()
            file = Path(folder.name) / "rows.arrow"
            with pa.ipc.new_file(str(file), result.schema) as sink:
                # Parts of one size: the same rows make the same file, and hash.
                for part in exact_parts(result, _ROWS_AT_ONCE):
                    sink.write_table(part.combine_chunks())
        except duckdb.PermissionException as error:
            raise TableError(
                f"{query} may read only files in quotes after FROM or JOIN: "
                f"{_first_lines(error)}"
            ) from error
        except duckdb.Error as error:
            raise TableError(f"{query} cannot be run: {_first_lines(error)}") from error
    rows = ArrowTable(Path(query.called), "arrow", file)
    # The folder must live as long as the table.
    weakref.finalize(rows, folder.cleanup)
    return rows


@contextmanager
def _connected(database: Path | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Connect to a database, or to none, without the means to fetch anything."""
    try:
        import duckdb
    except ImportError as error:
        raise TableError(
            "a query needs DuckDB: install it (pip install 'cape-fair[sql]')."
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        settings: dict[str, Any] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "memory_limit": _MEMORY,
            "temp_directory": folder,
            # Rows come in the same order each time.
            "threads": 1,
        }
        try:
            connection = duckdb.connect(
                str(database or ":memory:"),
                read_only=database is not None,
                config=settings,
            )
        except duckdb.Error as error:
            message = f"{database} cannot be opened: {first_line(error)}"
            raise TableError(message) from error
        with connection:
            yield connection


def _add_table(connection: duckdb.DuckDBPyConnection, name: str, table: Table) -> None:
    """Let the statement use a file under the name that it has there."""
    import duckdb

    dataset = table.dataset()
    if dataset is not None:
        connection.register(name, dataset)
        return
    # The statement may use a table twice, and a reader has its rows once. What does not
    # fit into memory, DuckDB keeps on disk.
    wanted = Wanted(table.names, {}, verbatim=False)
    batches = table.batches(wanted, _ROWS_AT_ONCE)
    reader = pa.RecordBatchReader.from_batches(table.schema(wanted), batches)
    connection.register("cape_rows", reader)
    copied = f"create temp table {_identifier(name)} as select * from cape_rows"
    try:
        connection.execute(copied)
    except duckdb.Error as error:
        raise TableError(f"{name} cannot be read: {_first_lines(error)}") from error
    connection.unregister("cape_rows")


def _parse(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    """Return the parse tree of a statement, which must be one SELECT."""
    import duckdb

    try:
        statements = connection.extract_statements(sql)
        kinds = [statement.type for statement in statements]
    except duckdb.Error as error:
        raise TableError(f"the query cannot be read: {_first_lines(error)}") from error
    if kinds != [duckdb.StatementType.SELECT]:
        named = " and ".join(kind.name for kind in kinds) or "nothing"
        raise TableError(f"the query must be one SELECT, got {named}.")
    text = connection.execute("select json_serialize_sql(?::varchar)", [sql]).fetchall()
    return json.loads(text[0][0])


def _tables_of(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of tables and views of a database."""
    return [name for (name,) in connection.execute("show tables").fetchall()]


def _first_lines(error: Exception) -> str:
    """Return what DuckDB says, without lines of the statement or of our program."""
    said = re.split(r"\bLINE \d+:|\. Detail: Python", str(error))[0]
    return " ".join(said.split())[:300]


def _identifier(name: str) -> str:
    """Quote a name as SQL does."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
