"""Writing a table part by part; the file appears when it is complete.

Fields of a CSV are quoted where needed, and harmless in a spreadsheet.
"""

from __future__ import annotations

import codecs
import gzip
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cape.base._io import new_file
from cape_app.tables._source import Dialect, TableError

# A spreadsheet may run text that begins with one of these (also in full width) as a
# formula, unless the text is a number, also with marks between thousands or a percent
# sign.
_FORMULA_SIGNS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
_FORMULA = f"^[{re.escape(_FORMULA_SIGNS)}]"
_DIGITS = "[0-9]+([.,'][0-9]{3})*[.,]?[0-9]*"
_NUMBER = f"^[+-]?[$€£]?({_DIGITS}|[.,][0-9]+)([eE][+-]?[0-9]+)? ?[%€$£]?$"

# Separators that occur in no number and in no date.
_OUTSIDE_NUMBERS = ",;\t|"

_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".feather", ".arrow")


class TableWriter:
    r"""Write the parts of a table to a file whose name tells the format.

    The writer is a context manager. Rows go to a temporary file, which gets the name of
    the file at the end; after an error no file is left. In CSV a text field that begins
    with ``= + - @`` or a tab gets an apostrophe in front, so that a spreadsheet shows
    it instead of running it; numbers stay as they are.

    Parameters
    ----------
    path : str or Path
        Ends in .csv or .tsv (also followed by .gz), .parquet, .feather or .arrow.
    overwrite : bool, default=False
        Whether to replace a file that exists.
    dialect : Dialect, default=None
        How a CSV is written; None is a comma, UTF-8 and decimal points. A .tsv is
        separated by tabs in any case.

    Raises
    ------
    TableError
        If the name tells no format, or the file cannot be written.

    Examples
    --------
    >>> with TableWriter(folder / "a.csv") as writer:
    ...     writer.write(pd.DataFrame({"x": [-1, 2], "note": ["=1+1", "fine"]}))
    >>> (folder / "a.csv").read_text()
    "x,note\n-1,'=1+1\n2,fine\n"
    """

    def __init__(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        dialect: Dialect | None = None,
    ):
        self.path = Path(path)
        self._suffix = _suffix(self.path)
        self._dialect = dialect or Dialect()
        if self._suffix.startswith(".tsv"):
            self._dialect = replace(self._dialect, separator="\t")
        self._overwrite = overwrite
        self._sink: Any = None
        self._stack = ExitStack()

    def __enter__(self) -> TableWriter:
        new = new_file(self.path, overwrite=self._overwrite)
        self._temporary = self._stack.enter_context(new)
        # Left in the opposite order: the file is closed, then renamed.
        self._stack.callback(self._close)
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._stack.__exit__(*error)

    def write(self, frame: pd.DataFrame) -> None:
        """Add rows.

        Parameters
        ----------
        frame : DataFrame
            Every part must have the columns of the first part and, unless the file is a
            CSV, types that fit those of the first part.
        """
        table = pa.Table.from_pandas(frame, preserve_index=False)
        # The metadata describes the index of this part, and would go into the file.
        table = table.replace_schema_metadata(None)
        if self._sink is None:
            self._schema = table.schema
            self._sink = self._open(table.schema)
        elif table.schema.names != self._schema.names:
            raise ValueError(
                f"frame must have the columns {self._schema.names}, "
                f"got {table.schema.names}."
            )
        # A part may have ints where the first had floats, if none of them is missing.
        if not self.is_text:
            table = table.cast(self._schema)
        with self._naming_the_file():
            self._sink.write(table)

    @property
    def is_text(self) -> bool:
        """Whether the file is a CSV, which has no types."""
        return self._suffix.startswith((".csv", ".tsv"))

    @property
    def disarmed(self) -> int:
        """Number of fields of a CSV that got an apostrophe."""
        return getattr(self._sink, "disarmed", 0)

    def _close(self) -> None:
        """Close the file, also after an error of writing."""
        if self._sink is not None:
            with self._naming_the_file():
                self._sink.close()

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        """Turn errors of the system, which name the temporary file, into our own."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or error
            raise TableError(f"{self.path} cannot be written: {reason}.") from error

    def _open(self, schema: pa.Schema) -> Any:
        """Open the temporary file for the format that its suffix tells."""
        if self._suffix == ".parquet":
            return _open_parquet(self._temporary, schema)
        if self._suffix in (".feather", ".arrow"):
            return pa.ipc.new_file(str(self._temporary), schema)
        gzipped = self._suffix.endswith(".gz")
        return CsvSink(self._temporary, schema.names, self._dialect, gzipped=gzipped)


def _open_parquet(path: Path, schema: pa.Schema) -> Any:
    """A Parquet file that has dictionaries for everything except floats."""
    from pyarrow import parquet

    # Floats seldom repeat: a dictionary of them makes the file larger and takes four
    # times as long.
    not_float = []
    for field in schema:
        if not pa.types.is_floating(field.type):
            not_float.append(field.name)
    # The list names top columns only; the text within a list would have no dictionary.
    nested = any(pa.types.is_nested(field.type) for field in schema)
    with_dictionary = True if nested else not_float
    return parquet.ParquetWriter(path, schema, use_dictionary=with_dictionary)


def _suffix(path: Path) -> str:
    """The suffix that tells the format; ``.csv.gz`` is one suffix."""
    name = path.name.lower()
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            return suffix
    raise TableError(
        f"{path} must end in one of {', '.join(_SUFFIXES)}, which sets the format."
    )


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
        self.disarmed = 0
        self._separator = dialect.separator
        self._decimal = dialect.decimal
        self._is_utf8 = dialect.is_utf8
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
        fields = [self._fields(column) for column in columns]
        if len(fields) > 1:
            lines = pc.binary_join_element_wise(*fields, self._separator)
        else:
            # An empty line would be no row.
            lines = pc.if_else(pc.equal(fields[0], ""), '""', fields[0])
        ended = pc.binary_join_element_wise(lines, "\n", "")
        text = _joined(ended)
        # The header has been through the encoder, which may put a mark in front.
        if not self._is_utf8 or not self._file.tell():
            text = memoryview(self._encoder.encode(str(text, "utf-8")))
        self._file.write(text)

    def _fields(self, column: pa.Array) -> pa.Array:
        """Values as fields: harmless, quoted where needed, empty where missing."""
        fields, any_text = _as_text(column)
        if any_text:
            fields = self._disarm(fields)
        elif self._decimal != "." and (
            pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)
        ):
            fields = pc.replace_substring(fields, ".", self._decimal)
        in_numbers = self._separator not in _OUTSIDE_NUMBERS
        if any_text or in_numbers or self._separator == self._decimal:
            fields = self._quote(fields)
        # Last, since a missing value neither is a formula nor needs quotes.
        return fields.fill_null("")

    def _disarm(self, fields: pa.Array) -> pa.Array:
        """Put an apostrophe before text that a spreadsheet would run, and count it."""
        if not _holds_any(fields, _FORMULA_SIGNS):
            return fields
        begins = pc.fill_null(pc.match_substring_regex(fields, _FORMULA), False)
        # Most of them are numbers, which begin with a minus.
        is_number = pc.match_substring_regex(fields.filter(begins), _NUMBER)
        if pc.all(is_number).as_py():
            return fields
        runs = pc.replace_with_mask(begins, begins, pc.invert(is_number))
        self.disarmed += pc.sum(runs).as_py()
        with_apostrophe = pc.binary_join_element_wise("'", fields, "")
        return pc.if_else(runs, with_apostrophe, fields)

    def _quote(self, fields: pa.Array) -> pa.Array:
        """Quote the fields that hold the separator, a quote or the end of a line."""
        separator = self._separator
        if not _holds_any(fields, f'"\r\n{separator}'):
            return fields
        if separator in "^]-\\|":  # between the brackets of a regular expression
            separator = f"\\{separator}"
        pattern = f'["\r\n{separator}]'
        needs_quotes = pc.match_substring_regex(fields, pattern)
        doubled = pc.replace_substring(fields, '"', '""')
        quoted = pc.binary_join_element_wise('"', doubled, '"', "")
        return pc.if_else(needs_quotes, quoted, fields)


def _holds_any(texts: pa.Array, signs: str) -> bool:
    """Tell whether any text holds one of some signs: fast, where none does."""
    text = bytes(_joined(texts))
    return any(sign.encode() in text for sign in signs)


def _joined(texts: pa.Array) -> memoryview:
    """Return the bytes of all texts, one after the other, without copying them."""
    offsets = memoryview(texts.buffers()[1]).cast("i")
    first = offsets[texts.offset]
    last = offsets[texts.offset + len(texts)]
    return memoryview(texts.buffers()[2])[first:last]


def _as_text(column: pa.Array) -> tuple[pa.Array, bool]:
    """Convert values to text; missing values stay missing.

    The flag tells whether fields may hold anything, and not only numbers and dates,
    which are neither formulas nor hold the usual separators.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    type_ = column.type
    try:
        fields = column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        # Values such as lists, which Arrow cannot convert.
        values = column.to_pylist()
        texts = [None if value is None else str(value) for value in values]
        return pa.array(texts, pa.string()), True
    # "Primitive" are numbers, flags, dates, times and durations.
    primitive = pa.types.is_primitive(type_) or pa.types.is_decimal(type_)
    return fields, not (primitive or pa.types.is_null(type_))
