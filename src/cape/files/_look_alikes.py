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

_DATE = r"(?:\d{1,2}[./-]\d{1,2}[./-](?:\d{2}|\d{4})|\d{4}[./-]\d{1,2}[./-]\d{1,2})\b.*"
_WITH_SIGN = r"[+-]?\d+[.,]\d+"
_WITH_THOUSANDS = r"[+-]?\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d+)?"
_NUMBER = rf"[+-]?\d+|{_WITH_SIGN}|{_WITH_THOUSANDS}"

_ADVICE = {
    "dates": "Dates are read as 2024-12-31 or 31.12.2024.",
    "numbers with ','": "If the comma is the decimal sign, say so (--decimal ,).",
    "numbers with '.'": "If the point is the decimal sign, say so (--decimal .).",
    "numbers with signs between thousands": "Numbers are read without such signs.",
}


def note_look_alikes(frame: pd.DataFrame, kinds: dict[str, str], notes: Notes) -> None:
    """Note the columns of text that look like numbers or dates.

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
    read as text, though it looks like numbers with ',', such as '900,50': 'income'. If
    the comma is the decimal sign, say so (--decimal ,).
    """
    alike: dict[str, list[str]] = {}
    examples: dict[str, str] = {}
    for name, kind in kinds.items():
        if kind != "text":
            continue
        look, example = _look_of(frame[name].dropna().str.strip())
        if look:
            alike.setdefault(look, []).append(name)
            examples.setdefault(look, example)
    for look, names in alike.items():
        notes.say(
            f"read as text, though it looks like {look}, such as {examples[look]!r}: "
            f"{quoted(names, _MOST_NAMES)}. {_ADVICE[look]}"
        )


def _look_of(texts: pd.Series) -> tuple[str, str]:
    """Say what texts look like, with an example; empty if they are just text."""
    if texts.empty:
        return "", ""
    if texts.str.fullmatch(_DATE).all():
        return "dates", texts.iloc[0]
    if not texts.str.fullmatch(_NUMBER).all():
        return "", ""
    # A single sign may be either; two in a number, or a blank, leave no doubt.
    in_doubt = texts.str.fullmatch(rf"[+-]?\d+|{_WITH_SIGN}")
    if not in_doubt.all():
        return "numbers with signs between thousands", texts[~in_doubt].iloc[0]
    for sign in (",", "."):
        with_sign = texts[texts.str.contains(sign, regex=False)]
        if len(with_sign):
            return f"numbers with {sign!r}", with_sign.iloc[0]
    return "", ""
