"""Rows and column types of a CSV file, which has no types of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from cape._tables._csv_header import csv_names, is_gzip, wrong_encoding
from cape._tables._dialect import Dialect
from cape._tables._dotted_dates import begins_dotted, with_dates
from cape._tables._error import TableError, shortened

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CsvFile", "Hasher", "csv_batches", "csv_types", "hash_rest"]

_BLOCK = 8 << 20  # bytes that pyarrow parses at a time
_IN_WORDS = {
    "double": "numbers",
    "bool": "true or false",
    "timestamp[us]": "dates such as 2024-03-01 or 01.03.2024",
}
_WITH_DECIMALS = re.compile(r"[+-]?\d+([.,])\d+")
# The type to try next for a column with a field that does not fit; text fits all.
_WIDER = {"null": "int64", "bool": "string", "int64": "double", "double": "string"}

# pyarrow's errors are only told apart by their text.
_MISFIT = re.compile(r"In CSV column #(\d+):.* CSV conversion error to ([^:]+): (.*)")
_RAGGED = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)")


class Hasher(Protocol):
    """What hashlib's objects have in common."""

    def update(self, data: bytes, /) -> None:
        """Add bytes to what is hashed."""


@dataclass(frozen=True)
class CsvFile:
    """A CSV file whose header has been read.

    Parameters
    ----------
    path : Path
        The file, gzipped or not.
    dialect : Dialect
        Its separator, encoding and decimal sign.
    names : list of str
        Distinct names of all columns, as `csv_names` returns them.
    """

    path: Path
    dialect: Dialect
    names: list[str]

    @classmethod
    def open(
        cls, path: Path, dialect: Dialect, names: list[str] | None = None
    ) -> CsvFile:
        """Read the header, unless the names are known already."""
        if names is None:
            names = csv_names(path, dialect)
        return cls(path, dialect, names)


def csv_types(file: CsvFile) -> dict[str, pa.DataType]:
    """Find the type of each column by reading the whole file.

    pyarrow takes the types from the first block and refuses a later field that does not
    fit. The column then gets the next wider type and the file is read again: numbers
    followed by a word in row 1,000,000 are text.

    Parameters
    ----------
    file : CsvFile

    Returns
    -------
    dict from column name to pyarrow type

    Raises
    ------
    TableError
        If the file cannot be read.
    """
    types: dict[str, pa.DataType] = {}
    while True:
        try:
            reader = _open_reader(file, types)
            for _ in reader:
                pass  # reading is the check, and needs the memory of one block
        except (ValueError, OSError) as error:
            wider = _wider_type(error, file.names)
            if wider is None:
                raise _explained(file, error) from error
            types |= wider
        else:
            schema = reader.schema
            found = dict(zip(schema.names, schema.types, strict=True))
            return found | _dotted_columns(file, found)


def csv_batches(
    file: CsvFile,
    types: dict[str, pa.DataType] | None,
    *,
    columns: list[str] | None = None,
    hasher: Hasher | None = None,
) -> Iterator[pa.RecordBatch]:
    """Read the rows in blocks, front to back and once.

    Parameters
    ----------
    file : CsvFile
    types : dict from column name to pyarrow type, or None
        None gives every field as the text that it is; empty fields are missing.
    columns : list of str, default=None
        Names of the columns to return; None returns all.
    hasher : hashlib object, default=None
        Gets the bytes of the file as they are read, all of them once the last block
        has been returned.

    Yields
    ------
    RecordBatch

    Raises
    ------
    TableError
        If the file cannot be read.
    """
    try:
        dotted = _dotted_among(file, types, columns)
        types = _as_text(types, dotted)
        if hasher is None:
            for batch in _open_reader(file, types, columns):
                yield with_dates(batch, dotted)
        else:
            with file.path.open("rb") as binary:
                hashed = _HashedFile(binary, hasher)
                for batch in _open_reader(file, types, columns, hashed):
                    yield with_dates(batch, dotted)
                # The digest must be that of the whole file even if pyarrow stops
                # at the last row and leaves bytes unread.
                hash_rest(binary, hasher)
    except (ValueError, OSError) as error:
        raise _explained(file, error) from error


def _dotted_columns(
    file: CsvFile, types: dict[str, pa.DataType]
) -> dict[str, pa.DataType]:
    """Return the columns of text whose every field is a date such as 31.12.2024."""
    import pyarrow as pa

    texts = [name for name, type_ in types.items() if pa.types.is_string(type_)]
    dates = {}
    for name in _begin_dotted(file, texts):
        try:
            for batch in _open_reader(file, {name: pa.string()}, [name]):
                with_dates(batch, [name])
        except ValueError:
            continue  # some fields are no dates: the column is text
        dates[name] = pa.timestamp("us")
    return dates


def _dotted_among(
    file: CsvFile, types: dict[str, pa.DataType] | None, columns: list[str] | None
) -> list[str]:
    """Return the columns that are to be read as dates and have the day first here."""
    import pyarrow as pa

    dates = []
    for name, type_ in (types or {}).items():
        wanted = columns is None or name in columns
        if wanted and name in file.names and pa.types.is_timestamp(type_):
            dates.append(name)
    return _begin_dotted(file, dates)


def _begin_dotted(file: CsvFile, names: list[str]) -> list[str]:
    """Return the columns whose first value is a date with the day first."""
    import pyarrow as pa

    left = set(names)
    dotted: list[str] = []
    if not left:
        return dotted
    # As a rule the first block tells, and nothing else is read.
    for batch in _open_reader(file, dict.fromkeys(names, pa.string()), names):
        for name in sorted(left):
            values = batch.column(name).drop_null()
            if len(values):
                left.remove(name)
                if begins_dotted(values[0].as_py()):
                    dotted.append(name)
        if not left:
            break
    return dotted


def _as_text(
    types: dict[str, pa.DataType] | None, names: list[str]
) -> dict[str, pa.DataType] | None:
    """Return types with which pyarrow leaves some columns as they are."""
    import pyarrow as pa

    if types is None:
        return None
    return types | dict.fromkeys(names, pa.string())


def hash_rest(binary: IO[bytes], hasher: Hasher) -> None:
    """Feed the bytes from the file's position to its end to the hasher."""
    while block := binary.read(1 << 20):
        hasher.update(block)


class _HashedFile:
    """A file for pyarrow that feeds the bytes it returns to a hasher."""

    def __init__(self, binary: IO[bytes], hasher: Hasher):
        self._binary = binary
        self._hasher = hasher

    def read(self, size: int = -1) -> bytes:
        block = self._binary.read(size)
        self._hasher.update(block)
        return block

    @property
    def closed(self) -> bool:
        return self._binary.closed

    def close(self) -> None:
        # pyarrow closes its source at the last row, before the rest has been hashed;
        # `csv_batches`, which opened the file, closes it.
        pass


def _open_reader(
    file: CsvFile,
    types: dict[str, pa.DataType] | None,
    columns: list[str] | None = None,
    hashed: _HashedFile | None = None,
) -> Any:
    """Open the file with pyarrow; ``types`` None reads every field as text."""
    from pyarrow import csv as pacsv

    read = pacsv.ReadOptions(
        column_names=file.names,
        skip_rows_after_names=1,
        block_size=_BLOCK,
        # pyarrow reads UTF-8 itself; any other name makes it decode in Python.
        encoding="utf8" if file.dialect.is_utf8 else file.dialect.encoding,
    )
    parse = pacsv.ParseOptions(
        delimiter=file.dialect.separator, newlines_in_values=True
    )
    return pacsv.open_csv(
        _stream(file, hashed),
        read_options=read,
        parse_options=parse,
        convert_options=_conversion(file, types, columns),
    )


def _conversion(
    file: CsvFile, types: dict[str, pa.DataType] | None, columns: list[str] | None
) -> Any:
    """Which columns pyarrow returns, and as what."""
    import pyarrow as pa
    from pyarrow import csv as pacsv

    null_values = None  # pyarrow's own list: "", "NA", "null", "NaN" and so on
    if types is None:
        types = dict.fromkeys(file.names, pa.string())
        # "NA" may be a name where text is copied; only an empty field is missing.
        null_values = [""]
    return pacsv.ConvertOptions(
        column_types=types,
        null_values=null_values,
        strings_can_be_null=True,
        include_columns=columns,
        decimal_point=file.dialect.decimal,
    )


def _stream(file: CsvFile, hashed: _HashedFile | None) -> Any:
    """The bytes of the file for pyarrow, unpacked if they are gzipped."""
    import pyarrow as pa

    # The hash is that of the file as it is, so it is taken before unpacking.
    compression = "gzip" if is_gzip(file.path) else None
    if hashed is None:
        return pa.input_stream(str(file.path), compression=compression)
    return pa.input_stream(pa.PythonFile(hashed, mode="r"), compression=compression)


def _wider_type(error: Exception, names: list[str]) -> dict[str, pa.DataType] | None:
    """The column that did not fit its type, with the next wider type.

    None if the error is about something else.
    """
    import pyarrow as pa

    misfit = _MISFIT.search(str(error))
    if misfit is None or "invalid UTF8" in str(error):
        return None
    column = names[int(misfit[1])]
    type_name = misfit[2]
    # Every field fits "string", unless its encoding is wrong.
    if type_name == "string":
        return None
    return {column: pa.type_for_alias(_WIDER.get(type_name, "string"))}


def _explained(file: CsvFile, error: Exception) -> TableError:
    """One line that says what is wrong with a file, for an error of pyarrow."""
    if isinstance(error, TableError):
        return error
    text = str(error)
    # The order matters: an error of the encoding also names a column and its type.
    if "UTF8" in text or isinstance(error, UnicodeDecodeError):
        return wrong_encoding(file.path, file.dialect)
    if "Empty CSV" in text:
        return TableError(f"{file.path} is empty.")
    if isinstance(error, OSError):
        # pyarrow's errors of decompression do not name the file.
        kind = "a whole gzip file" if is_gzip(file.path) else "readable"
        return TableError(f"{file.path} is not {kind}: {text}.")
    if ragged := _RAGGED.search(text):
        row = f"row {ragged[1]}" if ragged[1] else "a row"
        return TableError(
            f"{file.path}, {row}: {ragged[3]} fields where the header has {ragged[2]} "
            "(a separator within a field must be in quotes)."
        )
    if misfit := _MISFIT.search(text):
        name = file.names[int(misfit[1])]
        expected = _IN_WORDS.get(misfit[2], misfit[2])
        field = misfit[3].strip().removeprefix("invalid value ").strip("'")
        return TableError(
            f"{file.path}, column {name!r}: expected {expected}, "
            f"got {shortened(field)}{_decimal_hint(field, expected)}."
        )
    if text.startswith("column "):  # of `with_dates`
        return TableError(f"{file.path}, {text}")
    return TableError(f"{file.path} cannot be read as CSV: {shortened(text, 200)}")


def _decimal_hint(field: str, expected: str) -> str:
    """Say how to name the other decimal sign, if a field is a number that has it."""
    number = _WITH_DECIMALS.fullmatch(field.strip())
    if expected != "numbers" or number is None:
        return ""
    return f": if {number[1]!r} is the decimal sign, say so (--decimal {number[1]})"
