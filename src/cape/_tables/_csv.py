"""CSV files: dialect, header, types of columns, rows, and dates with the day first.

A CSV has no types of its own. pyarrow reads the rows; the header is read without it,
since pyarrow reads no header that has repeated or empty names, and its errors do not
tell a wrong separator or encoding.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

from cape._tables._error import TableError, shortened

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from cape._tables._read import Table

_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

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

# Four digits of the year: "1.2.24" may be the version of a program.
_DOTTED = re.compile(r"\s*\d{1,2}\.\d{1,2}\.\d{4}(\s|$)")
_FORMATS = ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S")


@dataclass(frozen=True)
class Dialect:
    """Separator, encoding and decimal sign of a CSV file.

    Parameters
    ----------
    separator : str, default=","
        One ASCII character, neither a quote nor the end of a line.
    encoding : str, default="utf-8"
        Any encoding that Python knows.
    decimal : {".", ","}, default="."
        What stands before the decimals of a number.

    Raises
    ------
    TableError
        If the separator is not one character, the encoding is unknown, or the decimal
        sign is neither a point nor a comma.

    Examples
    --------
    >>> Dialect(separator=";", decimal=",")
    Dialect(separator=';', encoding='utf-8', decimal=',')
    """

    separator: str = ","
    encoding: str = "utf-8"
    decimal: str = "."

    def __post_init__(self) -> None:
        one_character = len(self.separator) == 1 and self.separator.isascii()
        if not one_character or self.separator in '"\r\n':
            raise TableError(
                f"separator must be one character, got {self.separator!r}: "
                "say , or ; or a tab."
            )
        # Python is asked and not a list: encodings have many names.
        try:
            "".encode(self.encoding)
        except LookupError:
            raise TableError(
                "encoding must be a known one such as utf-8 or latin-1, "
                f"got {self.encoding!r}."
            ) from None
        if self.decimal not in (".", ","):
            raise TableError(f"decimal must be '.' or ',', got {self.decimal!r}.")

    @property
    def is_utf8(self) -> bool:
        """Whether the encoding is UTF-8, with or without a byte order mark."""
        name = self.encoding.lower().replace("_", "-")
        return name in ("utf-8", "utf8", "utf-8-sig")

    @property
    def is_wide(self) -> bool:
        """Whether the encoding is UTF-16 or UTF-32, whose text holds zero bytes."""
        return "16" in self.encoding or "32" in self.encoding


def csv_names(path: Path, dialect: Dialect) -> list[str]:
    """Read the names of the columns and make them distinct.

    Parameters
    ----------
    path : Path
        The file, gzipped or not.
    dialect : Dialect
        Its separator and encoding.

    Returns
    -------
    list of str
        A second column ``age`` is called ``age.1``, and the third column, if it has no
        name, ``column 3``.

    Raises
    ------
    TableError
        If the file is empty, has another encoding or separator, or is damaged.
    """
    header = _read_header(path, dialect)
    if len(header) == 1:
        _check_separator(path, dialect, header[0])
    return _distinct(header)


def is_gzip(path: Path) -> bool:
    """Whether a file is gzipped, by its first two bytes and not by its name."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def with_mark(path: Path, dialect: Dialect) -> Dialect:
    """Return the dialect, with the byte order mark that the file has.

    Excel takes UTF-8 without it for another encoding, so that what is written beside
    such a file needs it, too.
    """
    if not dialect.is_utf8:
        return dialect
    with _open_binary(path) as binary:
        has_mark = binary.read(3) == codecs.BOM_UTF8
    return replace(dialect, encoding="utf-8-sig") if has_mark else dialect


def wrong_encoding(path: Path, dialect: Dialect) -> TableError:
    """The error for text that is not in the encoding of the dialect."""
    other = "latin-1" if dialect.is_utf8 else "utf-8"
    return TableError(
        f"{path} is not {dialect.encoding} text. Save it as UTF-8, or name its "
        f"encoding, perhaps {other} (--encoding)."
    )


def _read_header(path: Path, dialect: Dialect) -> list[str]:
    """The fields of the first line, which may be quoted and go over several lines."""
    try:
        with _open_binary(path) as binary:
            _check_text(path, dialect, binary.read(4096))
            binary.seek(0)
            # "utf-8-sig" drops the byte order mark that spreadsheets write.
            encoding = "utf-8-sig" if dialect.is_utf8 else dialect.encoding
            text = io.TextIOWrapper(binary, encoding=encoding, newline="")
            header = next(csv.reader(text, delimiter=dialect.separator), None)
    except UnicodeDecodeError as error:
        raise wrong_encoding(path, dialect) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TableError(f"{path} is not a whole gzip file: {error}.") from error
    except csv.Error as error:
        raise TableError(f"{path} cannot be read as CSV: {error}.") from error
    if header is None:  # nothing but a byte order mark
        raise TableError(f"{path} is empty.")
    return header


def _open_binary(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked if it is gzipped."""
    if is_gzip(path):
        return cast(BinaryIO, gzip.open(path))
    return path.open("rb")


def _check_text(path: Path, dialect: Dialect, start: bytes) -> None:
    """Raise an error if the first bytes of a file are blank or not text."""
    if not start.strip():
        raise TableError(f"{path} is empty.")
    # Text has no zero bytes, except in the wide encodings.
    if b"\x00" not in start or dialect.is_wide:
        return
    advice = "."
    if start.startswith(_UTF16_MARKS):
        advice = ": it seems to be UTF-16. Say so with encoding 'utf-16' (--encoding)."
    raise TableError(f"{path} is not {dialect.encoding} text{advice}")


def _check_separator(path: Path, dialect: Dialect, name: str) -> None:
    """Raise an error if the only column's name holds another usual separator."""
    for separator, called in _SEPARATORS.items():
        if separator != dialect.separator and separator in name:
            raise TableError(
                f"{path} has one column called {shortened(name)}: it seems to be "
                f"separated by {called}. Say so with separator {separator!r} "
                "(--separator)."
            )


def _distinct(header: Iterable[str]) -> list[str]:
    """Number the names that occur again; name the columns without a name."""
    names: dict[str, None] = {}  # an ordered set
    copies: dict[str, int] = {}
    for place, field in enumerate(header, 1):
        base = field.strip() or f"column {place}"
        name = base
        # Names are only added, so numbers that were taken before stay taken: the search
        # goes on where it ended, and 4,000 equal names take 4,000 steps.
        while name in names:
            copies[base] = copies.get(base, 0) + 1
            name = f"{base}.{copies[base]}"
        names[name] = None
    return list(names)


def csv_types(file: Table) -> dict[str, pa.DataType]:
    """Find the type of each column by reading the whole file.

    pyarrow takes the types from the first block and refuses a later field that does not
    fit. The column then gets the next wider type and the file is read again: numbers
    followed by a word in row 1,000,000 are text.

    Parameters
    ----------
    file : Table

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
    file: Table,
    types: dict[str, pa.DataType] | None,
    *,
    columns: list[str] | None = None,
    hasher: Any = None,
) -> Iterator[pa.RecordBatch]:
    """Read the rows in blocks, front to back and once.

    Parameters
    ----------
    file : Table
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
    import pyarrow as pa

    try:
        dates = []
        for name, type_ in (types or {}).items():
            wanted = name in (file.names if columns is None else columns)
            if wanted and name in file.names and pa.types.is_timestamp(type_):
                dates.append(name)
        dotted = _begin_dotted(file, dates)
        if types is not None:
            # pyarrow leaves these as they are.
            types = types | dict.fromkeys(dotted, pa.string())
        with file.path.open("rb") as binary:
            hashed = None if hasher is None else _HashedFile(binary, hasher)
            for batch in _open_reader(file, types, columns, hashed):
                yield with_dates(batch, dotted)
            # The digest must be that of the whole file even if pyarrow stops at the
            # last row and leaves bytes unread.
            while hashed is not None and hashed.read(1 << 20):
                pass
    except (ValueError, OSError) as error:
        raise _explained(file, error) from error


def _dotted_columns(
    file: Table, types: dict[str, pa.DataType]
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


def _begin_dotted(file: Table, names: list[str]) -> list[str]:
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


class _HashedFile:
    """A file for pyarrow that feeds the bytes it returns to a hasher."""

    def __init__(self, binary: IO[bytes], hasher: Any):
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
    file: Table,
    types: dict[str, pa.DataType] | None,
    columns: list[str] | None = None,
    hashed: _HashedFile | None = None,
) -> Any:
    """Open the file with pyarrow; ``types`` None reads every field as text."""
    import pyarrow as pa
    from pyarrow import csv as pacsv

    null_values = None  # pyarrow's own list: "", "NA", "null", "NaN" and so on
    if types is None:
        types = dict.fromkeys(file.names, pa.string())
        # "NA" may be a name where text is copied; only an empty field is missing.
        null_values = [""]
    read = pacsv.ReadOptions(
        column_names=file.names,
        skip_rows_after_names=1,
        block_size=_BLOCK,
        # pyarrow reads UTF-8 itself; any other name makes it decode in Python.
        encoding="utf8" if file.dialect.is_utf8 else file.dialect.encoding,
    )
    convert = pacsv.ConvertOptions(
        column_types=types,
        null_values=null_values,
        strings_can_be_null=True,
        include_columns=columns,
        decimal_point=file.dialect.decimal,
    )
    # The hash is that of the file as it is, so it is taken before unpacking.
    source = str(file.path) if hashed is None else pa.PythonFile(hashed, mode="r")
    compression = "gzip" if is_gzip(file.path) else None
    return pacsv.open_csv(
        pa.input_stream(source, compression=compression),
        read_options=read,
        parse_options=pacsv.ParseOptions(
            delimiter=file.dialect.separator, newlines_in_values=True
        ),
        convert_options=convert,
    )


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


def _explained(file: Table, error: Exception) -> TableError:
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


def begins_dotted(text: str | None) -> bool:
    """Tell whether a text looks like a date with the day first.

    Examples
    --------
    >>> begins_dotted("1.12.2024 08:30"), begins_dotted("2024-12-01")
    (True, False)
    """
    return text is not None and _DOTTED.match(text) is not None


def dotted_dates(texts: pd.Series) -> pd.Series:
    """Convert dates such as 31.12.2024, 31.12.2024 08:30 or 31.12.2024 08:30:15.

    Parameters
    ----------
    texts : Series of str of shape (n_samples,)

    Returns
    -------
    Series of datetime64[us] of shape (n_samples,)
        What is no such date, as 31.02.2024, is missing.

    Examples
    --------
    >>> dates = dotted_dates(pd.Series(["31.12.2024", "31.02.2024"]))
    >>> dates.dt.year.tolist()
    [2024.0, nan]
    """
    import pandas as pd

    # Not by pyarrow, which takes 31.02.2024 for the second of March.
    texts = texts.str.strip()
    dates = pd.Series(pd.NaT, index=texts.index, dtype="datetime64[us]")
    for format_ in _FORMATS:
        left = dates.isna() & texts.notna()
        if not left.any():
            break
        found = pd.to_datetime(texts[left], format=format_, errors="coerce")
        dates[left] = found.astype("datetime64[us]")
    return dates


def with_dates(batch: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
    """Convert columns of text to dates.

    Parameters
    ----------
    batch : RecordBatch
    names : list of str
        Columns that hold dates with the day first, as text.

    Returns
    -------
    RecordBatch

    Raises
    ------
    ValueError
        If a text is no such date; the message names column and text.
    """
    import pyarrow as pa

    for name in names:
        place = batch.schema.get_field_index(name)
        texts = batch.column(place).to_pandas()
        dates = dotted_dates(texts.astype("str"))
        wrong = texts[dates.isna() & texts.notna()]
        if len(wrong):
            raise ValueError(
                f"column {name!r}: expected dates such as 31.12.2024, "
                f"got {wrong.iloc[0]!r}."
            )
        moments = pa.Array.from_pandas(dates, type=pa.timestamp("us"))
        batch = batch.set_column(place, name, moments)
    return batch
