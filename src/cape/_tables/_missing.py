"""Columns that are not there, and names that are near."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from cape._tables._error import TableError

__all__ = ["missing_column", "quoted"]

_NEAR = 0.7
"""How like a name must be to be suggested: "predicted" for "prediction" (.74), but
neither "age" for "target" (.67) nor "income" for "outcome" (.62)."""

_MOST_NAMES = 12


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


def quoted(names: list[str], most: int) -> str:
    """List names in quotes, the first ``most`` of them.

    Examples
    --------
    >>> quoted(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(map(repr, names[:most]))
    left_out = len(names) - most
    if left_out > 0:
        return f"{shown} and {left_out} more"
    return shown
