"""The header of a CSV file: the names of its columns, read without pyarrow.

pyarrow reads no header that has repeated or empty names, and its errors do not tell a
wrong separator or encoding. Mistakes that the first line reveals are explained here.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from cape._tables._dialect import Dialect
from cape._tables._error import TableError, shortened

__all__ = ["csv_names", "is_gzip", "with_mark", "wrong_encoding"]

_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


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
