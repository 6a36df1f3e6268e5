"""CSV has no types and no encoding of its own: both are found out here, or complained of in one line."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cape._tables._error import TableError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Dialect", "csv_batches", "csv_names", "csv_types"]

_BLOCK = 8 << 20
_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_IN_WORDS = {
    "double": "numbers",
    "bool": "true or false",
    "timestamp[us]": "dates such as 2024-03-01",
}
_WIDER = {"null": "int64", "bool": "string", "int64": "double", "double": "string"}


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Parameters
    ----------
    separator : str, default=","
        One character.
    encoding : str, default="utf-8"

    Examples
    --------
    >>> Dialect(separator=";")
    Dialect(separator=';', encoding='utf-8')
    """

    separator: str = ","
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if (
            len(self.separator) != 1
            or not self.separator.isascii()
            or self.separator in '"\r\n'
        ):
            raise TableError(
                f"separator must be one character, got {self.separator!r}: say , or ; or a tab."
            )
        try:
            "".encode(self.encoding)
        except LookupError:
            raise TableError(
                f"encoding must be a known one such as utf-8 or latin-1, got {self.encoding!r}."
            ) from None


def csv_names(path: Path, dialect: Dialect) -> list[str]:
    """Names of the columns, made distinct: a second ``age`` is ``age.1``, one without a name ``column 3``."""
    header = _header(path, dialect)
    if len(header) == 1:
        for separator, name in _SEPARATORS.items():
            if separator != dialect.separator and separator in header[0]:
                raise TableError(
                    f"{path} has one column called {_short(header[0])}: it seems to be separated by {name}. "
                    f"Say so with separator {separator!r} (--separator)."
                )
    names: list[str] = []
    for place, name in enumerate((name.strip() for name in header), 1):
        distinct, copies = name or f"column {place}", 0
        while distinct in names:
            copies += 1
            distinct = f"{name or f'column {place}'}.{copies}"
        names.append(distinct)
    return names


def csv_types(path: Path, dialect: Dialect) -> dict[str, pa.DataType]:
    """The type of each column over the whole file: numbers, then a word in row 10^6, is text.

    A file of one block is read once anyway; of a longer one every row is looked at, in bounded memory.
    """
    types: dict[str, pa.DataType] = {}
    while True:
        try:
            reader = _open(path, dialect, types)
            for _ in reader:
                pass
            return dict(zip(reader.schema.names, reader.schema.types, strict=True))
        except ValueError as error:
            column = _wider(error, csv_names(path, dialect))
            if column is None:
                raise _explained(path, dialect, error) from error
            types.update(column)


def csv_batches(
    path: Path,
    dialect: Dialect,
    types: dict[str, pa.DataType] | None,
    *,
    columns: list[str] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Rows in blocks; ``types`` None gives every field as the text it is, empty ones as missing."""
    try:
        yield from _open(path, dialect, types, columns)
    except ValueError as error:
        raise _explained(path, dialect, error) from error


def _open(path, dialect, types, columns=None):
    import pyarrow as pa
    from pyarrow import csv as pacsv

    names = csv_names(path, dialect)
    verbatim = types is None
    convert = pacsv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()) if verbatim else types,
        null_values=[""] if verbatim else None,
        strings_can_be_null=True,
        include_columns=columns,
    )
    read = pacsv.ReadOptions(
        column_names=names,
        skip_rows_after_names=1,
        block_size=_BLOCK,
        encoding=_plain(dialect.encoding),
    )
    parse = pacsv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True)
    stream = pa.input_stream(str(path), compression="gzip" if _is_gzip(path) else None)
    return pacsv.open_csv(
        stream, read_options=read, parse_options=parse, convert_options=convert
    )


def _plain(encoding: str) -> str:
    return (
        "utf8"
        if encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")
        else encoding
    )


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _header(path: Path, dialect: Dialect) -> list[str]:
    with gzip.open(path) if _is_gzip(path) else path.open("rb") as binary:
        try:
            start = binary.read(4096)
            if not start.strip():
                raise TableError(f"{path} is empty.")
            if (
                b"\x00" in start
                and "16" not in dialect.encoding
                and "32" not in dialect.encoding
            ):
                utf16 = start[:2] in (b"\xff\xfe", b"\xfe\xff")
                raise TableError(
                    f"{path} is not {dialect.encoding} text"
                    + (
                        ": it seems to be UTF-16. Say so with encoding 'utf-16' (--encoding)."
                        if utf16
                        else "."
                    )
                )
            binary.seek(0)
            encoding = (
                "utf-8-sig" if _plain(dialect.encoding) == "utf8" else dialect.encoding
            )
            text = io.TextIOWrapper(binary, encoding=encoding, newline="")
            return next(csv.reader(text, delimiter=dialect.separator))
        except UnicodeDecodeError as error:
            raise TableError(_wrong_encoding(path, dialect)) from error
        except (EOFError, gzip.BadGzipFile) as error:
            raise TableError(f"{path} is not a whole gzip file: {error}.") from error


def _wider(error: ValueError, names: list[str]) -> dict[str, pa.DataType] | None:
    """The column that did not fit its type, with the next wider one."""
    import pyarrow as pa

    found = re.search(
        r"In CSV column #(\d+):.* CSV conversion error to ([^:]+):", str(error)
    )
    if not found or "invalid UTF8" in str(error) or found[2] == "string":
        return None
    return {names[int(found[1])]: pa.type_for_alias(_WIDER.get(found[2], "string"))}


def _explained(path: Path, dialect: Dialect, error: ValueError) -> TableError:
    text = str(error)
    if isinstance(error, TableError):
        return error
    if "UTF8" in text or isinstance(error, UnicodeDecodeError):
        return TableError(_wrong_encoding(path, dialect))
    if found := re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", text):
        where = f" row {found[1]}" if found[1] else " a row"
        return TableError(
            f"{path},{where}: {found[3]} fields where the header has {found[2]} "
            "(a separator within a field must be in quotes)."
        )
    if found := re.search(
        r"In CSV column #(\d+):.* CSV conversion error to ([^:]+): (.*)", text
    ):
        name = csv_names(path, dialect)[int(found[1])]
        got = re.sub(r"^invalid value ", "", found[3].strip()).strip("'")
        return TableError(
            f"{path}, column {name!r}: expected {_IN_WORDS.get(found[2], found[2])}, got {_short(got)}."
        )
    if "Empty CSV" in text:
        return TableError(f"{path} is empty.")
    return TableError(f"{path} cannot be read as CSV: {_short(text, 200)}")


def _wrong_encoding(path: Path, dialect: Dialect) -> str:
    other = "latin-1" if _plain(dialect.encoding) == "utf8" else "utf-8"
    return f"{path} is not {dialect.encoding} text. Save it as UTF-8, or name its encoding, perhaps {other} (--encoding)."


def _short(text: str, most: int = 60) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= most else text[: most - 3] + "...")
