"""Bring a column to the kind that it had in training.

A kind is what a column holds: numbers, text, dates or flags (true or false). The same
column can have another type in the next file, for example because a CSV was saved from
a spreadsheet. A conversion that keeps every value is made, with a note; a conversion
that would lose values is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from cape._tables import TableError, dotted_dates
from cape.files._notes import Notes
from cape.files._plain_text import plain_text

__all__ = ["Place", "as_kind", "kind_of"]

_IN_WORDS = {
    "number": "numbers",
    "text": "text",
    "date": "dates",
    "flag": "true or false",
}

_FLAGS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}


@dataclass(frozen=True)
class Place:
    """Where a column is, for messages.

    Parameters
    ----------
    path : str or Path
        The file.
    column : str
        The name of the column.
    """

    path: str | Path
    column: str


def as_kind(values: pd.Series, kind: str, place: Place, notes: Notes) -> pd.Series:
    """Convert a column to the kind that it had in training.

    Parameters
    ----------
    values : Series of shape (n_samples,)
        The column as it was read.
    kind : {"number", "text", "date", "flag"}
        What it held in training.
    place : Place
        Where it is, for messages.
    notes : Notes
        Collects a note if the column holds something else here.

    Returns
    -------
    Series of shape (n_samples,)
        Numbers and flags are floats, dates are ``datetime64[us]`` in UTC, text is str.

    Raises
    ------
    TableError
        If a value would be lost. A blank text counts as missing, not as lost.

    Examples
    --------
    >>> notes = Notes()
    >>> ages = pd.Series(["31", "45"])
    >>> as_kind(ages, "number", Place("new.csv", "age"), notes).tolist()
    [31.0, 45.0]
    >>> list(notes)
    ["column 'age' holds text here and numbers in training: converted."]
    """
    # Most columns of most files: without this shortcut every part of a file would be
    # searched for missing values three times.
    if kind == "number" and _has_numpy_numbers(values):
        return values.astype("float64")
    kind_here = kind_of(values)
    # A date is no number and a number no date: pandas would convert 2019 to a moment
    # of the year 1970.
    if {kind, kind_here} == {"number", "date"}:
        raise _conversion_error(values, values.notna(), kind, place)
    converted = _CONVERT[kind](values)
    # What had a value before and has none now could not be converted.
    lost = converted.isna() & values.notna()
    if kind_here == "text":
        lost &= values.astype(str).str.strip() != ""
    if lost.any():
        raise _conversion_error(values, lost, kind, place)
    if not _converts_silently(kind_here, kind):
        notes.say(
            f"column {place.column!r} holds {_IN_WORDS[kind_here]} here and "
            f"{_IN_WORDS[kind]} in training: converted."
        )
    return converted


def kind_of(values: pd.Series) -> str:
    """Tell what a column holds.

    Parameters
    ----------
    values : Series of shape (n_samples,)

    Returns
    -------
    {"number", "text", "date", "flag", "empty"}
        A time span is a number, of seconds. A column is empty if all its values are
        missing; it then fits every kind.

    Examples
    --------
    >>> kind_of(pd.Series([1, 2])), kind_of(pd.Series([None, True]))
    ('number', 'flag')
    """
    if not values.notna().any():
        return "empty"
    if values.dtype.kind == "m":
        return "number"
    if values.dtype.kind == "M" or isinstance(values.dtype, pd.DatetimeTZDtype):
        return "date"
    # A column of flags with gaps has the type object; only its values tell.
    first = values.dropna().iloc[0]
    if pd.api.types.is_bool_dtype(values.dtype) or isinstance(first, (bool, np.bool_)):
        return "flag"
    if pd.api.types.is_numeric_dtype(values.dtype):
        return "number"
    return "text"


def _converts_silently(kind_here: str, kind: str) -> bool:
    """Tell whether no note is needed: nothing was converted, or flags to numbers."""
    return kind_here in (kind, "empty") or (kind_here, kind) == ("flag", "number")


def _conversion_error(
    values: pd.Series, lost: pd.Series, kind: str, place: Place
) -> TableError:
    """Make the error for values that do not fit the kind of the training file."""
    example = str(values[lost].iloc[0])[:40]
    return TableError(
        f"{place.path}, column {place.column!r}: {_IN_WORDS[kind]} in training, here "
        f"{_IN_WORDS[kind_of(values)]} such as {example!r} ({int(lost.sum())} rows)."
    )


def _has_numpy_numbers(values: pd.Series) -> bool:
    """Tell whether a column is a plain numpy array of integers or floats."""
    return isinstance(values.dtype, np.dtype) and values.dtype.kind in "fiu"


def _to_numbers(values: pd.Series) -> pd.Series:
    """Convert to floats; what is no number becomes NaN."""
    if values.dtype.kind == "m":
        return values.dt.total_seconds()
    if _has_numpy_numbers(values):
        return values.astype("float64")
    # Gaps may be pd.NA, which float() rejects; it accepts None.
    if kind_of(values) == "flag":
        return values.astype(object).where(values.notna(), None).astype("float64")
    return pd.to_numeric(values.astype(object), errors="coerce").astype("float64")


def _to_flags(values: pd.Series) -> pd.Series:
    """Convert to 1.0 for true and 0.0 for false; anything else becomes NaN."""
    if kind_of(values) == "text":
        return values.astype(str).str.strip().str.lower().map(_FLAGS)
    # Only 0 and 1 are flags, although bool(2) is true.
    numbers = _to_numbers(values)
    return numbers.where(numbers.isin([0.0, 1.0]))


def _to_dates(values: pd.Series) -> pd.Series:
    """Convert to moments in UTC; text that is no date becomes NaT.

    Text must be in ISO format, or as 31.12.2024.
    """
    dates = values
    if kind_of(values) != "date":
        text = values.astype("str")
        dates = pd.to_datetime(text, errors="coerce", format="ISO8601")
        if dates.isna().all():
            dates = dotted_dates(text)
    if isinstance(dates.dtype, pd.DatetimeTZDtype):
        dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
    # Formats differ in their unit (s, ms, us, ns), and learners must see one type.
    return dates.astype("datetime64[us]")


def _to_text(values: pd.Series) -> pd.Series:
    """Convert to text; text stays as it is, "1.0" included."""
    if kind_of(values) == "text":
        return values.astype("str")
    text, _ = plain_text(values)
    return text


_CONVERT = {
    "number": _to_numbers,
    "flag": _to_flags,
    "date": _to_dates,
    "text": _to_text,
}
