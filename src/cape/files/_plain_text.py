"""One spelling for each value, so that files of different types have the same groups.

A group column may hold integers in one file, floats in the next (pandas makes them
floats as soon as one value is missing) and text in a CSV. Groups and labels are
therefore always compared as the text that this module writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from cape.files._notes import Notes

__all__ = ["by_value", "group_text", "plain_text", "plain_value"]

# Matches "1.0" and, from files with decimal commas, "1,0"; but neither "1.5" nor "1e0",
# nor "1,000", which is a thousand to many. "007" may be a code whose zeros matter.
_WHOLE_NUMBER = re.compile(r"([+-]?\d+)(?:\.0+|,0)")


def plain_text(values: pd.Series) -> tuple[pd.Series, str]:
    """Write values as text, so that 1, 1.0 and "1" are the same.

    Parameters
    ----------
    values : Series of shape (n_samples,)

    Returns
    -------
    text : Series of str of shape (n_samples,)
        Missing values stay missing.
    changed : str
        The first value whose spelling has changed, in words, or an empty string.

    Examples
    --------
    >>> plain_text(pd.Series([1.0, 2.0]))[0].tolist()
    ['1', '2']
    >>> plain_text(pd.Series(["1.0", "x"]))
    (0    1
    1    x
    dtype: str, '1.0 is read as 1')
    """
    # Rows are many and levels few: only the levels are written anew.
    codes, levels = pd.factorize(values)
    texts = [plain_value(level) for level in levels]
    # factorize gives missing values the code -1, and take leaves them missing.
    array = pd.array(texts, dtype="str").take(codes, allow_fill=True)
    return pd.Series(array, index=values.index), _first_change(levels, texts)


def plain_value(value: Any) -> str:
    """Write one value as text: whole numbers without decimals, all else as it is.

    Examples
    --------
    >>> plain_value(1.0), plain_value("1.00"), plain_value("007"), plain_value(1.5)
    ('1', '1', '007', '1.5')
    >>> plain_value("1,0"), plain_value("1,000")
    ('1', '1,000')
    """
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    text = str(value)
    whole = _WHOLE_NUMBER.fullmatch(text)
    if isinstance(value, str) and whole:
        return whole[1]
    return text


def _first_change(levels: Iterable[Any], texts: Iterable[str]) -> str:
    """Say which level is spelled differently as plain text, if any."""
    for level, text in zip(levels, texts, strict=True):
        if str(level) != text:
            return f"{level} is read as {text}"
    return ""


def group_text(values: pd.Series, name: str, notes: Notes) -> pd.Series:
    """Write a group column as plain text, with a note if a spelling has changed.

    Parameters
    ----------
    values : Series of shape (n_samples,)
        The column.
    name : str
        Its name, for the note.
    notes : Notes
        Collects the note.

    Returns
    -------
    Series of str of shape (n_samples,)

    Examples
    --------
    >>> notes = Notes()
    >>> group_text(pd.Series([1.0, 2.0]), "ward", notes).tolist()
    ['1', '2']
    >>> list(notes)
    ["group column 'ward': 1.0 is read as 1, taken as the same group."]
    """
    text, changed = plain_text(values)
    if changed:
        notes.say(f"group column {name!r}: {changed}, taken as the same group.")
    return text


def by_value(text: str) -> tuple[bool, float, str]:
    """Sort key for labels: numbers by their value, then text.

    Examples
    --------
    >>> sorted(["b", "10", "9", "-1"], key=by_value)
    ['-1', '9', '10', 'b']
    """
    try:
        return False, float(text), text
    except ValueError:
        return True, 0.0, text
