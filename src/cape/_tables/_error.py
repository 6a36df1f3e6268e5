"""The error that all readers and writers of tables raise, and lists of names in it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

from cape._wording._numbers import quoted

_NEAR = 0.7
"""How like a name must be to be suggested: "predicted" for "prediction" (.74), but
neither "age" for "target" (.67) nor "income" for "outcome" (.62)."""

_MOST_NAMES = 12


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
    cape._tables._error.TableError: march.csv is empty.
    """

    def __init__(self, message: str, field: str = ""):
        super().__init__(message)
        self.field = field


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
    if len(names) <= 4 * sum(map(_is_number, names)):
        hint += " If its first line is data, put a line with names above it."
    elif len(names) == 1 and name in names[0].split():
        hint += " If blanks stand between its fields, say so (--separator ' ')."
    elif len(names) == 1 or len(names) <= 2 * sum(
        name.startswith("column ") for name in names
    ):
        hint += " If a title stands above the names, delete it."
    return TableError(f"{path} has no column {name!r}; {hint}")


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


def _is_number(text: str) -> bool:
    """Tell whether a text is a number."""
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
