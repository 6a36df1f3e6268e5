"""The columns of a training table, looked up and converted in another file.

A kind is what a column holds: numbers, text, dates or flags (true or false). The same
column can have another type in the next file, for example because a CSV was saved from
a spreadsheet. A conversion that keeps every value is made, with a note; a conversion
that would lose values is an error.

Groups and labels have one spelling for each value. A group column may hold integers in
one file, floats in the next (pandas makes them floats as soon as one value is missing)
and text in a CSV. They are therefore always compared as the text that `plain_text`
writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape._tables import TableError, check_columns_exist, dotted_dates
from cape._wording._notes import KINDS
from cape._wording._numbers import quoted
from cape.files._notes import Notes

_FLAGS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}

# Matches "1.0" and, from files with decimal commas, "1,0"; but neither "1.5" nor "1e0",
# nor "1,000", which is a thousand to many. "007" may be a code whose zeros matter.
_WHOLE_NUMBER = re.compile(r"([+-]?\d+)(?:\.0+|,0)")


@dataclass(frozen=True)
class Columns:
    """The columns of the table that a model was trained on.

    Parameters
    ----------
    label : str
        Name of the label column.
    labels : tuple of str
        The negative and the positive label, as `plain_text` writes them.
    label_kind : {"number", "text", "flag"}
        What the label column held in training.
    groups : tuple of str
        Names of the group columns; a group is a combination of their values.
    features : dict from str to {"number", "text", "date", "flag"}
        The other columns, in the order the learner saw them, and what they hold.

    Examples
    --------
    >>> columns = Columns("y", ("0", "1"), "number", ("race",), {"age": "number"})
    >>> Columns.from_dict(columns.to_dict()) == columns
    True
    """

    label: str
    labels: tuple[str, str]
    label_kind: str
    groups: tuple[str, ...]
    features: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dict that JSON can hold.

        Returns
        -------
        dict

        Examples
        --------
        >>> Columns("y", ("0", "1"), "number", ("race",), {}).to_dict()["groups"]
        ['race']
        """
        content = asdict(self)
        content["labels"] = list(self.labels)
        content["groups"] = list(self.groups)
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Columns:
        """Read what `to_dict` returned.

        Parameters
        ----------
        content : mapping

        Returns
        -------
        Columns

        Raises
        ------
        ValueError
            If a part is missing or has the wrong type.
        """
        # The content comes from a file that anybody may have edited.
        try:
            negative, positive = content["labels"][:2]
            features = content["features"].items()
            return cls(
                label=str(content["label"]),
                labels=(str(negative), str(positive)),
                label_kind=str(content["label_kind"]),
                groups=tuple(map(str, content["groups"])),
                features={str(name): str(kind) for name, kind in features},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"content must be what Columns.to_dict gives, got {content!r}."
            ) from error

    def check_names(self, names: list[str], path: str | Path, notes: Notes) -> bool:
        """Check that a file has every group and feature column.

        Parameters
        ----------
        names : list of str
            The columns of the file.
        path : str or Path
            The file, for messages.
        notes : Notes
            Collects a note on columns that the model does not use.

        Returns
        -------
        bool
            Whether the file has the label column, too.

        Raises
        ------
        TableError
            If a column is missing.
        """
        needed = [*self.groups, *self.features]
        check_columns_exist(needed, names, path)
        # Such columns are common (an id, the date of export) and harmless; but a note
        # on them tells when a column was renamed.
        extra = [name for name in names if name not in (*needed, self.label)]
        if extra:
            notes.say("columns_not_used", columns=extra)
        return self.label in names

    def types(self, *, labels: bool) -> dict[str, str]:
        """Tell how to read the columns of a CSV.

        Features are read as what they held in training. Groups and labels are read as
        text, so that 007 does not become 7.

        Parameters
        ----------
        labels : bool
            Whether to read the label column.

        Returns
        -------
        dict from str to {"number", "text", "date", "flag"}
            The columns to read, in the order of training, and how to read each.

        Examples
        --------
        >>> columns = Columns("y", ("0", "1"), "number", ("race",), {"age": "number"})
        >>> columns.types(labels=True)
        {'age': 'number', 'race': 'text', 'y': 'text'}
        """
        types = {**self.features, **dict.fromkeys(self.groups, "text")}
        if labels:
            types[self.label] = "text"
        return types

    def table(
        self, frame: pd.DataFrame, path: str | Path, notes: Notes
    ) -> pd.DataFrame:
        """Convert features and groups to what the classifier takes.

        Parameters
        ----------
        frame : DataFrame
            Rows as they were read; it has all features and groups, in any order.
        path : str or Path
            The file, for messages.
        notes : Notes
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
        for name in self.groups:
            ready[name] = group_text(frame[name], notes)
        return pd.DataFrame(ready, index=frame.index)

    def positive(self, frame: pd.DataFrame, path: str | Path) -> np.ndarray:
        """Read the label column.

        Parameters
        ----------
        frame : DataFrame
            Rows as they were read.
        path : str or Path
            The file, for messages.

        Returns
        -------
        ndarray of int8 of shape (n_samples,)
            1 for the positive label, 0 for the negative one, -1 for a missing one.

        Raises
        ------
        TableError
            If a row has a third label.
        """
        text, _ = plain_text(frame[self.label])
        negative, positive = self.labels
        # A missing value equals neither label and gets -1, as an unknown one does; only
        # the latter is an error.
        codes = np.select([text == negative, text == positive], [0, 1], default=-1)
        unknown = text[(codes < 0) & text.notna().to_numpy()]
        if len(unknown):
            first = unknown.iloc[0]
            count = int((unknown == first).sum())
            raise TableError(
                f"{path}, label column {self.label!r}: expected {negative!r} or "
                f"{positive!r}, got {first!r} in {count} of {len(frame)} rows."
            )
        return codes.astype(np.int8)

    def as_labels(self, positive: np.ndarray) -> pd.Series:
        """Write predictions as labels of the kind that the training file had.

        Parameters
        ----------
        positive : ndarray of bool of shape (n_samples,)
            Whether each row is predicted positive.

        Returns
        -------
        Series of shape (n_samples,)

        Examples
        --------
        >>> columns = Columns("y", ("no", "yes"), "text", (), {})
        >>> columns.as_labels(np.array([True, False])).tolist()
        ['yes', 'no']
        """
        labels: Any = pd.Series(list(self.labels))
        if self.label_kind == "number":
            # Labels 0 and 1 are predicted as 0 and 1, not as 0.0 and 1.0.
            labels = pd.to_numeric(labels)
            if (labels % 1 == 0).all():
                labels = labels.astype("int64")
        elif self.label_kind == "flag" and set(self.labels) == {"True", "False"}:
            labels = labels == "True"
        return labels.take(positive.astype(np.intp)).reset_index(drop=True)


def check_named_once(group: Sequence[str]) -> None:
    """Raise if a column is named twice as a group.

    Examples
    --------
    >>> check_named_once(["sex", "sex"])
    Traceback (most recent call last):
    cape._tables._error.TableError: a column can be a group once, got 'sex', 'sex'.
    """
    if len(set(group)) < len(group):
        listed = quoted(list(group), len(group))
        raise TableError(f"a column can be a group once, got {listed}.")


def as_kind(values: pd.Series, kind: str, path: str | Path, notes: Notes) -> pd.Series:
    """Convert a column to the kind that it had in training.

    Parameters
    ----------
    values : Series of shape (n_samples,)
        The column as it was read.
    kind : {"number", "text", "date", "flag"}
        What it held in training.
    path : str or Path
        The file, for messages.
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
    >>> ages = pd.Series(["31", "45"], name="age")
    >>> as_kind(ages, "number", "new.csv", notes).tolist()
    [31.0, 45.0]
    >>> list(notes)[0].values
    {'column': 'age', 'here': 'text', 'training': 'number'}
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
    if not silent:
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


def _conversion_error(
    values: pd.Series, lost: pd.Series, kind: str, path: str | Path
) -> TableError:
    """Make the error for values that do not fit the kind of the training file."""
    example = str(values[lost].iloc[0])[:40]
    return TableError(
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


def plain_text(values: pd.Series) -> tuple[pd.Series, tuple[Any, str] | None]:
    """Write values as text, so that 1, 1.0 and "1" are the same.

    Parameters
    ----------
    values : Series of shape (n_samples,)

    Returns
    -------
    text : Series of str of shape (n_samples,)
        Missing values stay missing.
    changed : tuple of object and str, or None
        The first value whose spelling has changed, and its text.

    Examples
    --------
    >>> plain_text(pd.Series([1.0, 2.0]))[0].tolist()
    ['1', '2']
    >>> plain_text(pd.Series(["1.0", "x"]))
    (0    1
    1    x
    dtype: str, ('1.0', '1'))
    """
    # Rows are many and levels few: only the levels are written anew.
    codes, levels = pd.factorize(values)
    texts = [plain_value(level) for level in levels]
    # factorize gives missing values the code -1, and take leaves them missing.
    array = pd.array(texts, dtype="str").take(codes, allow_fill=True)
    text = pd.Series(array, index=values.index)
    for level, spelled in zip(levels, texts, strict=True):
        if str(level) != spelled:
            return text, (level, spelled)
    return text, None


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


def group_text(values: pd.Series, notes: Notes) -> pd.Series:
    """Write a group column as plain text, with a note if a spelling has changed.

    Parameters
    ----------
    values : Series of shape (n_samples,)
        The column.
    notes : Notes
        Collects the note.

    Returns
    -------
    Series of str of shape (n_samples,)

    Examples
    --------
    >>> notes = Notes()
    >>> group_text(pd.Series([1.0, 2.0], name="ward"), notes).tolist()
    ['1', '2']
    >>> list(notes)[0].values
    {'column': 'ward', 'value': 1.0, 'read_as': '1'}
    """
    text, changed = plain_text(values)
    if changed:
        value, read_as = changed
        notes.say("respelled", column=values.name, value=value, read_as=read_as)
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


def order_labels(labels: Iterable[str], positive: str | None) -> tuple[str, str]:
    """Tell the negative from the positive label.

    Parameters
    ----------
    labels : iterable of str
        The two labels, as `plain_text` writes them.
    positive : str or None
        The positive label as the user named it. None takes the greater of the two:
        by value where both are numbers, else by the alphabet.

    Returns
    -------
    negative, positive : str

    Raises
    ------
    TableError
        If the user named a third label.

    Examples
    --------
    >>> order_labels(["10", "9"], None)
    ('9', '10')
    >>> order_labels(["no", "yes"], "no")
    ('yes', 'no')
    """
    # As text, "10" would come before "9".
    smaller, greater = sorted(labels, key=by_value)
    if positive is None:
        return smaller, greater
    wanted = plain_value(positive)
    if wanted == smaller:
        return greater, smaller
    if wanted == greater:
        return smaller, greater
    raise TableError(
        f"the positive label must be {smaller!r} or {greater!r}, got {positive!r}."
    )
