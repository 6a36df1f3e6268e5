"""A table as the file of training had it: kinds of columns, groups, missing values.

A kind is what a column holds: numbers, text, dates or flags (true or false). The same
column can have another type in the next table, for example because a CSV was saved from
a spreadsheet. A conversion that keeps every value is made, with a note; a conversion
that would lose values is an error.

Groups have one spelling for each value. A group column may hold integers in one file,
floats in the next (pandas makes them floats as soon as one value is missing) and text
in a CSV. They are therefore always compared as the text that `plain_text` writes.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape.base._numbers import KINDS, listed

MISSING = ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan"]
MISSING += ["1.#IND", "1.#QNAN", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"]
"""Fields that stand for a missing value, as pyarrow has them."""

_FORMATS = ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S")


_KINDS_OF_VALUES = {
    "boolean": "flag",
    "date": "date",
    "datetime64": "date",
    "decimal": "number",
    "floating": "number",
    "integer": "number",
    "timedelta64": "number",
}
"""The kind of what pandas infers; anything else is text."""

_FLAGS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}

# Matches "1.0" and, from files with decimal commas, "1,0"; but neither "1.5" nor "1e0",
# nor "1,000", which is a thousand to many. "007" may be a code whose zeros matter.
_WHOLE_NUMBER = re.compile(r"([+-]?\d+)(?:\.0+|,0)")


@dataclass(frozen=True)
class TrainedTable:
    """The columns that a model of a file learnt from.

    Parameters
    ----------
    features : dict from str to {"number", "text", "date", "flag"}
        In the order in which the learner saw them, and what they hold.
    groups : tuple of str
        Names of the group columns; a group is a combination of their values.
    bins : dict from str to tuple of float
        The group columns that are cut into ranges, and the edges.
    group_values : dict from str to tuple
        The values of group columns that were no text in training, such as 1 and 2.
    known : dict from str to tuple of str
        Words such as "NA" that were values of a column in training. Elsewhere they are
        missing.
    """

    features: dict[str, str]
    groups: tuple[str, ...]
    bins: Mapping[str, Sequence[float]]
    group_values: Mapping[str, tuple[Any, ...]]
    known: Mapping[str, tuple[str, ...]]

    def table(
        self, frame: pd.DataFrame, path: str | Path, notes: Any = None
    ) -> pd.DataFrame:
        """Convert features and groups to what the classifier takes.

        Parameters
        ----------
        frame : DataFrame
            Rows as they were read; it has all features and groups, in any order.
        path : str or Path
            The file, for messages.
        notes : Notes, default=None
            Collects a note for each column that had to be converted.

        Returns
        -------
        DataFrame
            The features in the order of training, then the groups as text.

        Raises
        ------
        TableError
            If a column cannot be converted without losing values.
        """
        ready = {}
        # Features in the order of training: learners know them by their places.
        for name, kind in self.features.items():
            ready[name] = as_kind(frame[name], kind, path, notes)
        for name, place in zip(self.groups, self.group_places, strict=True):
            ready[place] = self.as_group(name, plain_text(frame[name], notes))
        return pd.DataFrame(ready, index=frame.index)

    @property
    def group_places(self) -> list[str]:
        """The columns of `table` that hold the groups.

        A group may be a feature, too, of a model that was fitted in Python.
        """
        return [name + " (group)" * (name in self.features) for name in self.groups]

    def as_group(self, name: str, text: pd.Series) -> pd.Series:
        """Turn the text of a group column into the values that training had."""
        if name not in self.group_values:
            return text
        values = {plain_value(value): value for value in self.group_values[name]}
        codes, levels = pd.factorize(text)
        # The last one is taken by the code of missing values, -1.
        array = np.array([*(values.get(level, level) for level in levels), None])
        return pd.Series(array.astype(object)[codes], text.index, dtype=object)

    def as_trained(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Convert a data frame of Python as a file is converted, whatever its order.

        The road of a batch calls it for a model of ``cape train`` that was loaded.
        """
        names = list(map(str, frame.columns))
        for name in (*self.groups, *self.features):
            if name not in names:
                raise ValueError(f"X has no column {name!r}, only {listed(names, 12)}.")
        for name, words in words_for_missing(frame[[*self.features]]).items():
            unknown = [word for word in words if word not in self.known.get(name, ())]
            if unknown and self.features[name] == "text":
                warnings.warn(
                    f"column {name!r} of X holds {unknown[0]!r}, which means missing "
                    "in the file of training and is a value here: make it missing in X "
                    "if it means that.",
                    stacklevel=3,
                )
        for name, edges in self.bins.items():
            frame = frame.assign(**{name: in_bins(frame[name], edges, "X")})
        return self.table(frame, "X")


def words_for_missing(frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the texts of each column that mean a missing value in files.

    Examples
    --------
    >>> words_for_missing(pd.DataFrame({"a": ["NA", "b"], "b": [1, 2]}))
    {'a': ('NA',)}
    """
    found = {}
    for name, values in frame.items():
        if values.dtype.kind not in "biufcmM":
            words = values[values.isin(MISSING)].unique()
            if len(words):
                found[str(name)] = tuple(words)
    return found


def bin_names(edges: Sequence[float]) -> list[str]:
    """Name the ranges between edges, each of which begins with an edge.

    Examples
    --------
    >>> bin_names([18, 19, 30, 65])
    ['under 18', '18', '19-29', '30-64', '65+']
    >>> bin_names([0, 0.5])
    ['under 0', '0 to under 0.5', '0.5+']
    """
    names = [f"under {edges[0]:g}"]
    is_whole = all(edge >= 0 and float(edge).is_integer() for edge in edges)
    for low, high in pairwise(edges):
        if not is_whole:
            names.append(f"{low:g} to under {high:g}")
        elif high - low == 1:
            names.append(f"{low:g}")
        else:
            names.append(f"{low:g}-{high - 1:g}")
    return [*names, f"{edges[-1]:g}+"]


def in_bins(values: pd.Series, edges: Sequence[float], path: str | Path) -> pd.Series:
    """Replace numbers by the names of their ranges; missing ones stay missing.

    Examples
    --------
    >>> in_bins(pd.Series([17.9, 18, 64.5, 65]), [18, 65], "new.csv").tolist()
    ['under 18', '18-64', '18-64', '65+']
    """
    numbers = as_kind(values, "number", path)
    names = pd.array(bin_names(edges), dtype="str")
    codes = np.searchsorted(edges, numbers, side="right")
    return pd.Series(names.take(codes), values.index).where(numbers.notna())


def as_kind(
    values: pd.Series, kind: str, path: str | Path, notes: Any = None
) -> pd.Series:
    """Convert a column to the kind that it had in training.

    Parameters
    ----------
    values : Series of shape (n_samples,)
        The column as it was read.
    kind : {"number", "text", "date", "flag"}
        What it held in training.
    path : str or Path
        The file, for messages.
    notes : Notes, default=None
        Collects a note if the column holds something else here.

    Returns
    -------
    Series of shape (n_samples,)
        Numbers and flags are floats, dates are ``datetime64[us]`` in UTC, text is str.

    Raises
    ------
    ValueError
        If a value would be lost. A blank text counts as missing, not as lost.

    Examples
    --------
    >>> ages = pd.Series(["31", "45"], name="age")
    >>> as_kind(ages, "number", "new.csv").tolist()
    [31.0, 45.0]
    """
    # Most columns of most files: without this shortcut every part of a file would be
    # searched for missing values three times.
    if kind == "number" and _has_numpy_numbers(values):
        return values.astype("float64")
    kind_here = kind_of(values)
    # A date is no number and a number no date: pandas would convert 2019 to a moment
    # of the year 1970.
    if {kind, kind_here} == {"number", "date"}:
        raise _conversion_error(values, values.notna(), kind, path)
    converted = _CONVERT[kind](values)
    # What had a value before and has none now could not be converted.
    lost = converted.isna() & values.notna()
    if kind_here == "text":
        lost &= values.astype(str).str.strip() != ""
    if lost.any():
        raise _conversion_error(values, lost, kind, path)
    # Flags are numbers, and an empty column is of any kind.
    silent = kind_here in (kind, "empty") or (kind_here, kind) == ("flag", "number")
    if notes is not None and not silent:
        notes.say("converted", column=values.name, here=kind_here, training=kind)
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
    # A column of flags with gaps has the type object; only its values tell.
    return _KINDS_OF_VALUES.get(pd.api.types.infer_dtype(values), "text")


def _conversion_error(
    values: pd.Series, lost: pd.Series, kind: str, path: str | Path
) -> ValueError:
    """Make the error for values that do not fit the kind of the training file."""
    example = str(values[lost].iloc[0])[:40]
    return ValueError(
        f"{path}, column {values.name!r}: {KINDS[kind]} in training, here "
        f"{KINDS[kind_of(values)]} such as {example!r} ({int(lost.sum())} rows)."
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


def dotted_dates(texts: pd.Series) -> pd.Series:
    """Convert dates such as 31.12.2024, 31.12.2024 08:30 or 31.12.2024 08:30:15.

    Parameters
    ----------
    texts : Series of str of shape (n_samples,)

    Returns
    -------
    Series of datetime64[us] of shape (n_samples,)
        What is no such date, as 31.02.2024, is missing.

    Examples
    --------
    >>> dates = dotted_dates(pd.Series(["31.12.2024", "31.02.2024"]))
    >>> dates.dt.year.tolist()
    [2024.0, nan]
    """
    # Not by pyarrow, which takes 31.02.2024 for the second of March.
    texts = texts.str.strip()
    dates = pd.Series(pd.NaT, index=texts.index, dtype="datetime64[us]")
    for format_ in _FORMATS:
        left = dates.isna() & texts.notna()
        if not left.any():
            break
        found = pd.to_datetime(texts[left], format=format_, errors="coerce")
        dates[left] = found.astype("datetime64[us]")
    return dates


def _to_text(values: pd.Series) -> pd.Series:
    """Convert to text; text stays as it is, "1.0" included."""
    if kind_of(values) == "text":
        return values.astype("str")
    return plain_text(values)


_CONVERT = {
    "number": _to_numbers,
    "flag": _to_flags,
    "date": _to_dates,
    "text": _to_text,
}


def plain_text(values: pd.Series, notes: Any = None) -> pd.Series:
    """Write values as text, so that 1, 1.0 and "1" are the same.

    Parameters
    ----------
    values : Series of shape (n_samples,)
    notes : Notes, default=None
        Collects a note on the first value whose spelling has changed.

    Returns
    -------
    Series of str of shape (n_samples,)
        Missing values stay missing.

    Examples
    --------
    >>> plain_text(pd.Series([1.0, 2.0], name="ward")).tolist()
    ['1', '2']
    """
    # Rows are many and levels few: only the levels are written anew.
    codes, levels = pd.factorize(values)
    texts = [plain_value(level) for level in levels]
    for level, text in zip(levels, texts, strict=True):
        # Nobody sees how an accent is stored.
        if notes is not None and unicodedata.normalize("NFC", str(level)) != text:
            notes.say("respelled", column=values.name, value=level, read_as=text)
            break
    # factorize gives missing values the code -1, and take leaves them missing.
    array = pd.array(texts, dtype="str").take(codes, allow_fill=True)
    return pd.Series(array, index=values.index)


def plain_value(value: Any) -> str:
    """Write one value as text: whole numbers without decimals, all else as it is.

    An accent may be part of a letter or stand behind it: it is made part of it.

    Examples
    --------
    >>> plain_value(1.0), plain_value("1.00"), plain_value("007"), plain_value(1.5)
    ('1', '1', '007', '1.5')
    >>> plain_value("1,0"), plain_value("1,000")
    ('1', '1,000')
    """
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    text = unicodedata.normalize("NFC", str(value))
    whole = _WHOLE_NUMBER.fullmatch(text)
    if isinstance(value, str) and whole:
        return whole[1]
    return text
