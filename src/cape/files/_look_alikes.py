"""Text of a CSV that may be meant as numbers or dates, written in another way.

A column of such text is learnt from as categories: nothing fails, and the model is
worse than it could be. So training says which columns look like it.
"""

from __future__ import annotations

import pandas as pd

from cape._tables import quoted
from cape.files._notes import Notes

__all__ = ["note_look_alikes"]

_MOST_NAMES = 5
_NUMBER = r"\s*[+-]?\d+(?:,\d+)*\s*"
_DATE = r"\s*\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?:[ T].*)?"


def note_look_alikes(frame: pd.DataFrame, kinds: dict[str, str], notes: Notes) -> None:
    """Note the columns of text that look like numbers with commas, or like dates.

    Parameters
    ----------
    frame : DataFrame
        Rows of a CSV.
    kinds : dict from str to {"number", "text", "date", "flag"}
        The columns to look at, and what they were read as.
    notes : Notes

    Examples
    --------
    >>> notes = Notes()
    >>> frame = pd.DataFrame({"income": ["900,50", "1200"], "name": ["a", "b"]})
    >>> note_look_alikes(frame, {"income": "text", "name": "text"}, notes)
    >>> print(*notes)
    read as text, though it looks like numbers with a comma, such as '900,50': 'income'.
    If the comma is the decimal sign, say so (--decimal ,).
    """
    texts = {}
    for name, kind in kinds.items():
        if kind == "text":
            texts[name] = frame[name].dropna()
    numbers = [name for name, column in texts.items() if _has_commas(column)]
    dates = [name for name, column in texts.items() if _all_match(column, _DATE)]
    if numbers:
        column = texts[numbers[0]]
        example = column[column.str.contains(",")].iloc[0]
        notes.say(
            "read as text, though it looks like numbers with a comma, such as "
            f"{example!r}: {quoted(numbers, _MOST_NAMES)}. If the comma is the decimal "
            "sign, say so (--decimal ,)."
        )
    if dates:
        example = texts[dates[0]].iloc[0]
        notes.say(
            f"read as text, though it looks like dates, such as {example!r}: "
            f"{quoted(dates, _MOST_NAMES)}. Dates are read as 2024-12-31 or 31.12.2024."
        )


def _has_commas(texts: pd.Series) -> bool:
    """Tell whether texts look like numbers, and some of them have a comma."""
    return _all_match(texts, _NUMBER) and bool(texts.str.contains(",").any())


def _all_match(texts: pd.Series, pattern: str) -> bool:
    """Tell whether there are texts, and all match a pattern."""
    return len(texts) > 0 and bool(texts.str.fullmatch(pattern).all())
