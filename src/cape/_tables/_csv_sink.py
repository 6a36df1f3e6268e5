"""Writing CSV: fields are quoted where needed, and harmless in a spreadsheet."""

from __future__ import annotations

import codecs
import gzip
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from cape._tables._dialect import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CsvSink"]

# A spreadsheet may run text that begins with one of these (also in full width) as a
# formula, unless the text is a plain number, with a decimal point or comma.
_FORMULA = "^[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
_NUMBER = "^[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][+-]?[0-9]+)?$"

# Separators that occur in no number and in no date.
_OUTSIDE_NUMBERS = ",;\t|"


class CsvSink:
    """Write Arrow tables as the lines of a CSV file.

    Parameters
    ----------
    path : Path
        File to write.
    names : list of str
        Names of the columns, which are written at once.
    dialect : Dialect
        Separator, encoding and decimal sign.
    gzipped : bool
        Whether to compress the file.

    Attributes
    ----------
    disarmed : int
        Number of fields that got an apostrophe because a spreadsheet might have run
        them.
    """

    def __init__(
        self, path: Path, names: list[str], dialect: Dialect, *, gzipped: bool
    ):
        import pyarrow as pa

        self.disarmed = 0
        self._separator = dialect.separator
        self._decimal = dialect.decimal
        # One encoder for the whole file: UTF-16 has its byte order mark only once.
        self._encoder = codecs.getincrementalencoder(dialect.encoding)()
        self._file: IO[bytes] | gzip.GzipFile
        if gzipped:
            self._file = gzip.GzipFile(path, "wb", compresslevel=6)
        else:
            self._file = path.open("wb")
        header = [pa.array([name]) for name in names]
        self._write_lines(header)

    def write(self, table: pa.Table) -> None:
        """Add the rows of a table."""
        if table.num_rows:
            self._write_lines([column.combine_chunks() for column in table.columns])

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write_lines(self, columns: list[pa.Array]) -> None:
        """Join the fields of each row to a line, and write the lines."""
        import pyarrow.compute as pc

        fields = [self._fields(column) for column in columns]
        if len(fields) > 1:
            lines = pc.binary_join_element_wise(*fields, self._separator)
        else:
            # An empty line would be no row.
            lines = pc.if_else(pc.equal(fields[0], ""), '""', fields[0])
        text = "\n".join(lines.to_pylist()) + "\n"
        self._file.write(self._encoder.encode(text))

    def _fields(self, column: pa.Array) -> pa.Array:
        """Values as fields: harmless, quoted where needed, empty where missing."""
        fields, any_text = _as_text(column)
        if any_text:
            fields = self._disarm(fields)
        elif self._decimal != "." and _has_decimals(column.type):
            fields = _with_decimal_sign(fields, self._decimal)
        in_numbers = self._separator not in _OUTSIDE_NUMBERS
        if any_text or in_numbers or self._separator == self._decimal:
            fields = self._quote(fields)
        # Last, since a missing value neither is a formula nor needs quotes.
        return fields.fill_null("")

    def _disarm(self, fields: pa.Array) -> pa.Array:
        """Put an apostrophe before text that a spreadsheet would run, and count it."""
        import pyarrow.compute as pc

        begins_formula = pc.match_substring_regex(fields, _FORMULA)
        is_number = pc.match_substring_regex(fields, _NUMBER)
        runs = pc.and_(begins_formula, pc.invert(is_number))
        self.disarmed += pc.sum(runs).as_py() or 0
        with_apostrophe = pc.binary_join_element_wise("'", fields, "")
        return pc.if_else(runs, with_apostrophe, fields)

    def _quote(self, fields: pa.Array) -> pa.Array:
        """Quote the fields that hold the separator, a quote or the end of a line."""
        import pyarrow.compute as pc

        pattern = f'["\r\n{_escaped(self._separator)}]'
        needs_quotes = pc.match_substring_regex(fields, pattern)
        if not pc.any(needs_quotes).as_py():
            return fields
        doubled = pc.replace_substring(fields, '"', '""')
        quoted = pc.binary_join_element_wise('"', doubled, '"', "")
        return pc.if_else(needs_quotes, quoted, fields)


class _TextColumn(NamedTuple):
    """A column as text."""

    fields: pa.Array
    any_text: bool  # whether fields may hold anything, and not only numbers and dates


def _as_text(column: pa.Array) -> _TextColumn:
    """Convert values to text; missing values stay missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        fields = column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        texts = [_text_or_none(value) for value in column.to_pylist()]
        return _TextColumn(pa.array(texts, pa.string()), any_text=True)
    return _TextColumn(fields, any_text=not _is_number_or_date(column.type))


def _is_number_or_date(type_: pa.DataType) -> bool:
    """Whether values of a type are neither formulas nor hold the usual separators."""
    from pyarrow import types

    # "Primitive" are numbers, flags, dates, times and durations.
    return types.is_primitive(type_) or types.is_decimal(type_) or types.is_null(type_)


def _has_decimals(type_: pa.DataType) -> bool:
    """Whether values of a type may have decimals."""
    from pyarrow import types

    return types.is_floating(type_) or types.is_decimal(type_)


def _with_decimal_sign(fields: pa.Array, sign: str) -> pa.Array:
    """Write another sign than a point before decimals."""
    import pyarrow.compute as pc

    return pc.replace_substring(fields, ".", sign)


def _text_or_none(value: Any) -> str | None:
    """Text of a value such as a list, which Arrow cannot convert."""
    if value is None:
        return None
    return str(value)


def _escaped(separator: str) -> str:
    """A separator as it stands between the brackets of a regular expression."""
    if separator in "^]-\\|":
        return f"\\{separator}"
    return separator
