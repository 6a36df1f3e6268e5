"""What a person may name as a table, and the files that it means.

Nothing here reads rows, nor imports what does: a command checks its files first.
"""

from __future__ import annotations

import codecs
import difflib
import fnmatch
import glob
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cape.base._errors import ParameterError
from cape.base._numbers import quoted

_NEAR = 0.7
"""How like a name must be to be suggested: "predicted" for "prediction" (.74), but
neither "age" for "target" (.67) nor "income" for "outcome" (.62)."""

_MOST_NAMES = 12
_NUMBER = re.compile(r"[+-]?\d*[.,]?\d+")

_TEXT = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson")
_GZIPPED = tuple(f"{suffix}.gz" for suffix in _TEXT)
_SUFFIXES = (*_TEXT, *_GZIPPED, ".parquet", ".feather", ".arrow")
_JSON = re.compile(r"\.(json|jsonl|ndjson)(\.gz)?$", re.IGNORECASE)

# .xlsx and .ods are zip archives, the older .xls is an OLE file. An Arrow stream has no
# magic number; it begins with a continuation marker.
_FORMATS = {
    b"PK\x03\x04": "sheet",
    b"\xd0\xcf\x11\xe0": "sheet",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow stream",
    b"SQLite format 3\x00": "sqlite",
}

_REFUSED = {
    rb"\Z": "is empty",
    rb"FEA1": "is a Feather 1 file, which cape does not read: save it as version 2",
    rb"BZh\d1AY|\xfd7zXZ|\x28\xb5\x2f\xfd|7z\xbc\xaf|Rar!\x1a": "is compressed: unpack "
    "it, or pack it with gzip",
    rb"(\xef\xbb\xbf)?\s*<(\?xml|!doctype|html|table)": "is HTML or XML: open it in a "
    "spreadsheet, and save it as .xlsx or CSV",
    rb".{8}DUCK": "is a DuckDB database: let DuckDB write the table as Parquet (copy "
    "loans to 'loans.parquet')",
}
"""How files begin that are no table, what they are, and what to do."""


class TableError(ValueError):
    """A file that cannot be read or written as a table.

    The message is one line that names the file, what is wrong and what to do.

    Parameters
    ----------
    message : str
    field : str, default=""
        The field that is wrong, if it is one.

    Examples
    --------
    >>> raise TableError("march.csv is empty.")
    Traceback (most recent call last):
    cape_app.tables._source.TableError: march.csv is empty.
    """

    def __init__(self, message: str, field: str = ""):
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Dialect:
    """How a table is written: a CSV, and the numbers in text of any table.

    Parameters
    ----------
    separator : str, default=","
        One ASCII character, neither a quote nor the end of a line.
    encoding : str, default="utf-8"
        Any encoding that Python knows.
    decimal : {".", ","}, default="."
        What stands before the decimals of a number.
    marks : str, default=""
        Signs that are left out of numbers, such as ",%": between thousands, and at both
        ends.
    missing : tuple of str, default=()
        Words that stand for a missing value, besides the common ones.

    Raises
    ------
    ParameterError
        If the separator is not one character, the encoding is unknown, or the decimal
        sign is neither a point nor a comma.

    Examples
    --------
    >>> Dialect(separator=";", decimal=",", missing=("n.v.",)).decimal
    ','
    """

    separator: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    marks: str = ""
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # A list in the file of a model.
        object.__setattr__(self, "missing", tuple(self.missing))
        one_character = len(self.separator) == 1 and self.separator.isascii()
        if not one_character or self.separator in '"\r\n':
            problem = "must be one character, such as ',', ';' or a tab"
            raise ParameterError("separator", f"{problem}, got {self.separator!r}.")
        # Python is asked and not a list: encodings have many names.
        try:
            "".encode(self.encoding)
        except LookupError:
            problem = "must be a known one such as utf-8 or latin-1"
            problem = f"{problem}, got {self.encoding!r}."
            raise ParameterError("encoding", problem) from None
        if self.decimal not in (".", ","):
            problem = f"must be '.' or ',', got {self.decimal!r}."
            raise ParameterError("decimal", problem)
        if any(sign.isalnum() or sign in f"+-{self.decimal}" for sign in self.marks):
            problem = "must be signs that can be left out of numbers, such as ',%'"
            raise ParameterError("marks", f"{problem}, got {self.marks!r}.")

    @property
    def is_utf8(self) -> bool:
        """Whether the encoding is UTF-8, with or without a byte order mark."""
        name = self.encoding.lower().replace("_", "-")
        return name in ("utf-8", "utf8", "utf-8-sig")

    @property
    def is_wide(self) -> bool:
        """Whether the encoding is UTF-16 or UTF-32, whose text holds zero bytes."""
        return "16" in self.encoding or "32" in self.encoding


Source = str | Path
"""What a table may be opened from."""


def source_files(source: Source) -> list[Path]:
    """Return the files that a source is read from, before they are opened.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    return resolve(Path(source))[0]


def check_outside(output: str | Path, source: Source) -> None:
    """Raise if a table to be written would be a part of the one that is read.

    It would be read with the others the next time.
    """
    written, read = Path(output).resolve(), Path(source).resolve()
    # Of a folder, files with other endings are left alone.
    is_table = written.name.lower().endswith(_SUFFIXES)
    inside = read.is_dir() and read in written.parents and is_table
    if not read.exists() and glob.has_magic(str(read)):
        alike = "**" in read.parts or len(written.parts) == len(read.parts)
        inside = alike and fnmatch.fnmatch(str(written), str(read))
    if inside:
        raise TableError(
            f"{output} would be part of {source}, which is being read: write elsewhere."
        )


def resolve(path: Path) -> tuple[list[Path], str | None]:
    """Return the files that a name means, and what it names within the file."""
    # A file is taken by its name, whatever signs that has.
    if path.is_dir():
        return _parts_of(path), None
    if path.exists():
        return [path], None
    # The name of a table may hold colons, too.
    for colons in re.finditer("::", str(path)):
        file = Path(str(path)[: colons.start()])
        if file.is_file():
            return [file], str(path)[colons.end() :]
    if glob.has_magic(str(path)):
        found = [Path(name) for name in glob.glob(str(path), recursive=True)]
        files = sorted(file for file in found if file.is_file())
        if files:
            return files, None
        raise FileNotFoundError(f"no file matches {path}.")
    raise FileNotFoundError(f"there is no file {path}.")


def _parts_of(folder: Path) -> list[Path]:
    """Return the tables in a folder and its folders, in the order of their names."""

    def refuse(error: OSError) -> None:
        raise error

    found = []
    # Not rglob, which leaves out in silence what it may not list.
    for place, _, names in os.walk(folder, onerror=refuse):
        found += [Path(place, name) for name in names]
    files = []
    for file in sorted(found):
        hidden = any(
            part.startswith((".", "_")) for part in file.relative_to(folder).parts
        )
        if not hidden and file.is_file() and file.name.lower().endswith(_SUFFIXES):
            files.append(file)
    if not files:
        raise TableError(
            f"{folder} is a folder without tables: its files must end in one of "
            f"{', '.join(_SUFFIXES)}."
        )
    return files


def table_format(path: Path) -> str:
    """Tell the format of a file by its first bytes; "csv" is what no other is."""
    # Tables are read several times, and a pipe gives its bytes once. Opening one would
    # wait for somebody to write to it.
    if not path.is_file():
        raise TableError(
            f"{path} is a pipe or a device, which can be read once only: save the "
            "table as a file."
        )
    with path.open("rb") as file:
        start = file.read(16)
    for signature, problem in _REFUSED.items():
        if re.match(signature, start, re.DOTALL | re.IGNORECASE):
            raise TableError(f"{path} {problem}.")
    for signature, kind in _FORMATS.items():
        if start.startswith(signature):
            return kind
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    is_json = text.startswith(b'{"')
    if _JSON.search(path.name):
        is_json = text.startswith((b"{", b"[")) or is_gzip(path)
    return "json" if is_json else "csv"


def is_gzip(path: Path) -> bool:
    """Whether a file is gzipped, by its first two bytes and not by its name."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def check_columns_exist(
    needed: Iterable[str], names: Iterable[str], path: str | Path
) -> None:
    """Raise if a column is not in the file; the error is about the first.

    Parameters
    ----------
    needed : iterable of str
        Columns that must be there.
    names : iterable of str
        The columns of the file.
    path : str or Path
        The file, for the message.

    Raises
    ------
    TableError
        If a column is missing.
    """
    known = dict.fromkeys(names)
    for name in needed:
        if name not in known:
            raise missing_column(name, known, path)


def first_line(error: Exception) -> str:
    """Return the first line of a message: libraries print the statement below it."""
    return str(error).strip().split("\n")[0]


def shortened(text: str, most: int = 60) -> str:
    r"""Quote a text on one line, cut to at most ``most`` characters.

    Examples
    --------
    >>> shortened("a long\nstory", most=9)
    "'a long...'"
    """
    # Other blanks than these are shown: they may be what is wrong.
    text = re.sub(r"[ \t\r\n]+", " ", text).strip(" ")
    if len(text) > most:
        text = text[: most - 3] + "..."
    return repr(text)


def missing_column(name: str, names: Iterable[str], path: str | Path) -> TableError:
    """Make the error for a column that is not in a file, with the nearest name.

    Parameters
    ----------
    name : str
        The column that is not there.
    names : iterable of str
        The columns of the file.
    path : str or Path
        The file.

    Returns
    -------
    TableError

    Examples
    --------
    >>> print(missing_column("race", ["age", "Race"], "new.csv"))
    new.csv has no column 'race'; did you mean 'Race'?
    >>> print(missing_column("target", ["age", "Race"], "new.csv"))
    new.csv has no column 'target'; its columns are 'age', 'Race'.
    """
    # Columns of a data frame may have numbers for names.
    names = list(map(str, names))
    hint = nearest_of(str(name), names, "column")
    if len(names) <= 4 * sum(_NUMBER.fullmatch(name) is not None for name in names):
        hint += " If its first line is data, put a line with names above it."
    elif len(names) == 1 and name in names[0].split():
        hint += " If blanks stand between its fields, say so (--separator ' ')."
    elif len(names) == 1 or len(names) <= 2 * sum(
        name.startswith("column ") for name in names
    ):
        hint += " If a title stands above the names, delete it."
    return TableError(f"{path} has no column {name!r}; {hint}")


def distinct(header: Iterable[str]) -> list[str]:
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


def nearest_of(name: str, names: Iterable[str], what: str) -> str:
    """Suggest the name that was meant, or list those that there are.

    Examples
    --------
    >>> nearest_of("Marhc", ["March", "April"], "sheet")
    "did you mean 'March'?"
    >>> nearest_of("x", ["March", "April"], "sheet")
    "its sheets are 'March', 'April'."
    """
    # A wrong capital is the most common mistake, and must not count as a distance.
    names = list(names)
    original = {other.lower(): other for other in names}
    nearest = difflib.get_close_matches(name.lower(), original, n=1, cutoff=_NEAR)
    # The nearest name is more helpful than a list of all; without a near one, the list
    # shows what the file is.
    if nearest:
        return f"did you mean {original[nearest[0]]!r}?"
    return f"its {what}s are {quoted(names, _MOST_NAMES)}."
