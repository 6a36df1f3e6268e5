"""The error that all readers and writers of tables raise, and lists of names in it."""

from __future__ import annotations

import difflib
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

    Examples
    --------
    >>> raise TableError("march.csv is empty.")
    Traceback (most recent call last):
    cape._tables._error.TableError: march.csv is empty.
    """


def shortened(text: str, most: int = 60) -> str:
    r"""Quote a text on one line, cut to at most ``most`` characters.

    Examples
    --------
    >>> shortened("a long\nstory", most=9)
    "'a long...'"
    """
    text = " ".join(text.split())
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
    # A wrong capital is the most common mistake, and must not count as a distance.
    original = {other.lower(): other for other in names}
    nearest = difflib.get_close_matches(str(name).lower(), original, n=1, cutoff=_NEAR)
    # The nearest name is more helpful than a list of all; without a near one, the list
    # shows what the file is.
    if nearest:
        hint = f"did you mean {original[nearest[0]]!r}?"
    else:
        hint = f"its columns are {quoted(names, _MOST_NAMES)}."
    return TableError(f"{path} has no column {name!r}; {hint}")
