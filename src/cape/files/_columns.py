"""The columns a model was trained on, and how another file's columns are brought to the same kinds."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape._tables import TableError
from cape.files._notes import Notes

__all__ = ["Columns", "check_named_once", "missing_column", "plain_text"]

_WHOLE = re.compile(r"[+-]?\d+\.0+")
_IN_WORDS = {
    "number": "numbers",
    "text": "text",
    "date": "dates",
    "flag": "true or false",
}


@dataclass(frozen=True)
class Columns:
    """What a model knows of the table it was trained on.

    Parameters
    ----------
    label : str
        Name of the label column.
    labels : tuple of str
        The negative and the positive label, as `plain_text` writes them.
    label_kind : {"number", "text", "flag"}
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
        """As JSON can hold it."""
        return {
            **asdict(self),
            "labels": list(self.labels),
            "groups": list(self.groups),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Columns:
        """Read what `to_dict` gave."""
        try:
            return cls(
                str(content["label"]),
                (str(content["labels"][0]), str(content["labels"][1])),
                str(content["label_kind"]),
                tuple(map(str, content["groups"])),
                {str(name): str(kind) for name, kind in content["features"].items()},
            )
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(
                f"content must be what Columns.to_dict gives, got {content!r}."
            ) from error

    def check_names(self, names: list[str], path: str | Path, notes: Notes) -> bool:
        """Whether the labels are there too; an error for another column that is missing, a remark on extra ones."""
        for name in (*self.groups, *self.features):
            if name not in names:
                raise missing_column(name, names, path)
        extra = [
            name
            for name in names
            if name not in (*self.groups, *self.features, self.label)
        ]
        if extra:
            notes.say(
                f"{len(extra)} column{'s' * (len(extra) > 1)} not used by the model: {_some(extra)}."
            )
        return self.label in names

    def types(self, *, labels: bool) -> dict[str, str]:
        """How to read a CSV: features as in training, groups and labels as text, so that 007 is not 7."""
        wanted = {**self.features, **dict.fromkeys(self.groups, "text")}
        return {**wanted, self.label: "text"} if labels else wanted

    def table(
        self, frame: pd.DataFrame, path: str | Path, notes: Notes
    ) -> pd.DataFrame:
        """Features and groups as the classifier takes them: numbers are floats, groups are text."""
        ready = {
            name: _as_kind(frame[name], kind, name, path, notes)
            for name, kind in self.features.items()
        }
        for name in self.groups:
            text, changed = plain_text(frame[name])
            if changed:
                notes.say(f"group column {name!r}: {changed}, taken as the same group.")
            ready[name] = text
        return pd.DataFrame(ready, index=frame.index)

    def positive(self, frame: pd.DataFrame, path: str | Path) -> np.ndarray:
        """Of each row whether it is positive: 1, 0, or -1 where there is no label; an error for a third label."""
        text, _ = plain_text(frame[self.label])
        codes = np.select(
            [text == self.labels[0], text == self.labels[1]], [0, 1], -1
        ).astype(np.int8)
        other = text[(codes < 0) & text.notna().to_numpy()]
        if len(other):
            raise TableError(
                f"{path}, label column {self.label!r}: expected {self.labels[0]!r} or {self.labels[1]!r}, got "
                f"{other.iloc[0]!r} in {int((other == other.iloc[0]).sum())} of {len(frame)} rows."
            )
        return codes

    def as_labels(self, positive: np.ndarray) -> pd.Series:
        """Predictions as labels of the kind that the training file had."""
        labels: Any = pd.Series(list(self.labels))
        if self.label_kind == "number":
            numbers = pd.to_numeric(labels)
            labels = numbers.astype("int64") if (numbers % 1 == 0).all() else numbers
        elif self.label_kind == "flag" and set(self.labels) == {"True", "False"}:
            labels = labels == "True"
        return labels.take(positive.astype(np.intp)).reset_index(drop=True)


def missing_column(name: str, names: Iterable[str], path: str | Path) -> TableError:
    """The error for a column that is not there, with the nearest name that is."""
    names = list(names)
    lower = {other.lower(): other for other in names}
    near = difflib.get_close_matches(name.lower(), lower, n=1)
    hint = (
        f"did you mean {lower[near[0]]!r}?"
        if near
        else f"its columns are {_some(names, 12)}."
    )
    return TableError(f"{path} has no column {name!r}; {hint}")


def check_named_once(group: Sequence[str]) -> None:
    """Raise if a column is to make groups twice."""
    if len(set(group)) < len(group):
        raise TableError(
            f"a column can be a group once, got {', '.join(map(repr, group))}."
        )


def plain_text(values: pd.Series) -> tuple[pd.Series, str]:
    """Values as text, so that 1, 1.0 and "1" are the same; missing values stay missing.

    Returns
    -------
    text : Series of str
    changed : str
        What was changed that a reader might take for another value, in words; empty if nothing.

    Examples
    --------
    >>> plain_text(pd.Series([1.0, 2.0]))[0].tolist()
    ['1', '2']
    >>> plain_text(pd.Series(["1.0", "x"]))
    (0    1
    1    x
    dtype: str, '1.0 is read as 1')
    """
    codes, levels = pd.factorize(values)
    plain = [_plain(level) for level in levels]
    changed = [
        f"{level} is read as {text}"
        for level, text in zip(levels, plain, strict=True)
        if str(level) != text
    ]
    array = pd.array(plain, dtype="str").take(
        codes, allow_fill=True
    )  # code -1 is missing
    return pd.Series(array, index=values.index), changed[0] if changed else ""


def _plain(value: Any) -> str:
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    text = str(value)
    return (
        text.split(".")[0]
        if isinstance(value, str) and _WHOLE.fullmatch(text)
        else text
    )


def _as_kind(
    values: pd.Series, kind: str, name: str, path: str | Path, notes: Notes
) -> pd.Series:
    """Bring a column to the kind it had in training, saying so; an error where that would lose something."""
    if (
        kind == "number"
        and isinstance(values.dtype, np.dtype)
        and values.dtype.kind in "fiu"
    ):
        return values.astype("float64")
    found = _kind(values)
    if found in (kind, "empty") or (kind, found) == ("number", "flag"):
        converted: pd.Series | None = _MAKE[kind](values)
    else:
        converted = _MAKE[kind](values) if {kind, found} != {"number", "date"} else None
        if converted is not None:
            notes.say(
                f"column {name!r} holds {_IN_WORDS[found]} here and {_IN_WORDS[kind]} in training: converted."
            )
    lost = values.notna() if converted is None else converted.isna() & values.notna()
    if found == "text":
        lost &= values.astype(str).str.strip() != ""
    if lost.any():
        raise TableError(
            f"{path}, column {name!r}: {_IN_WORDS[kind]} in training, here {_IN_WORDS[found]} such as "
            f"{str(values[lost].iloc[0])[:40]!r} ({int(lost.sum())} rows)."
        )
    assert converted is not None
    return converted


def _kind(values: pd.Series) -> str:
    if not values.notna().any():
        return "empty"
    if values.dtype.kind == "m":
        return "number"
    if values.dtype.kind == "M" or isinstance(values.dtype, pd.DatetimeTZDtype):
        return "date"
    first = values.dropna().iloc[0]
    if pd.api.types.is_bool_dtype(values.dtype) or isinstance(first, (bool, np.bool_)):
        return "flag"
    return "number" if pd.api.types.is_numeric_dtype(values.dtype) else "text"


def _numbers(values: pd.Series) -> pd.Series:
    if values.dtype.kind == "m":
        return values.dt.total_seconds()
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "fiu":
        return values.astype("float64")
    if _kind(values) == "flag":
        return values.astype(object).where(values.notna(), None).astype("float64")
    return pd.to_numeric(values.astype(object), errors="coerce").astype("float64")


def _flags(values: pd.Series) -> pd.Series:
    if _kind(values) != "text":
        numbers = _numbers(values)
        return numbers.where(numbers.isin([0.0, 1.0]))
    return (
        values.astype(str)
        .str.strip()
        .str.lower()
        .map({"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0})
    )


def _dates(values: pd.Series) -> pd.Series:
    dates = (
        values
        if _kind(values) == "date"
        else pd.to_datetime(values.astype(str), errors="coerce", format="ISO8601")
    )
    if isinstance(dates.dtype, pd.DatetimeTZDtype):
        dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
    return dates.astype("datetime64[us]")


def _texts(values: pd.Series) -> pd.Series:
    return values.astype("str") if _kind(values) == "text" else plain_text(values)[0]


_MAKE = {"number": _numbers, "flag": _flags, "date": _dates, "text": _texts}


def _some(names: list[str], most: int = 5) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
