"""The columns of a training table, looked up in another file, and their labels.

How values are converted to what training had is in the library, which does the same
with a data frame.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape.base._errors import ParameterError
from cape.base._numbers import quoted
from cape.base._table import TrainedTable, plain_text, plain_value
from cape_app.files._notes import Notes
from cape_app.tables import TableError, check_columns_exist

Bins = Mapping[str, Sequence[float]]
"""For group columns of numbers: the edges of the ranges that are groups."""

_MANY_GROUPS = 20
"""With more values than this, a column of numbers is better cut into ranges."""

MOST_LABELS = 20
"""A column with more values is no label column, unless the positive ones are named."""


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
    label_values : tuple of two tuples of str, default=()
        Where some values of the label column were set against the rest: the values of
        training that are negative, and those that are positive. The names in ``labels``
        then stand for them.
    bins : dict from str to tuple of float, default={}
        The group columns that are cut into ranges, and the edges.
    group_values : dict from str to tuple, default={}
        The values of group columns that were no text in training, such as 1 and 2.
    known : dict from str to tuple of str, default={}
        Words such as "NA" that were values of a column in training. Elsewhere they are
        missing.
    weight : str or None, default=None
        Name of the column with the weights of rows.

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
    label_values: tuple[tuple[str, ...], ...] = ()
    bins: Bins = field(default_factory=dict)
    group_values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    known: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weight: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON makes of it: tuples are lists.

        Examples
        --------
        >>> Columns("y", ("0", "1"), "number", ("race",), {}).to_dict()["groups"]
        ['race']
        """
        content: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        if self.weight is None:
            del content["weight"]
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
                label_values=tuple(
                    tuple(map(str, values))
                    for values in content.get("label_values", ())
                ),
                bins=check_bins(content.get("bins", {}), content["groups"]),
                group_values={
                    str(name): tuple(values)
                    for name, values in content.get("group_values", {}).items()
                },
                known={
                    str(name): tuple(map(str, words))
                    for name, words in content.get("known", {}).items()
                },
                weight=content.get("weight"),
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
        extra = [
            name for name in names if name not in {*needed, self.label, self.weight}
        ]
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
        # The features first, in the order of training; a group may be one of them.
        types = self.features | dict.fromkeys(self.groups, "text") | self.features
        if labels:
            types[self.label] = "text"
        return types

    @property
    def trained(self) -> TrainedTable:
        """What the library knows of it: neither labels nor files."""
        return TrainedTable(
            self.features, self.groups, self.bins, self.group_values, self.known
        )

    def positive(
        self, frame: pd.DataFrame, path: str | Path, notes: Notes
    ) -> np.ndarray:
        """Read the label column.

        Parameters
        ----------
        frame : DataFrame
            Rows as they were read.
        path : str or Path
            The file, for messages.
        notes : Notes
            Collects a note on values that training did not have, and that belong to
            the rest.

        Returns
        -------
        ndarray of int8 of shape (n_samples,)
            1 for the positive label, 0 for the negative one, -1 for a missing one.

        Raises
        ------
        TableError
            If a row has a third label.
        """
        text = label_text(frame[self.label])
        negative, positive = self.labels
        negatives, positives = self.spellings
        # Another spelling of a label is that label, unless the two differ in spelling.
        codes_of = {folded(value): 0 for value in negatives}
        codes_of |= {folded(value): 1 for value in positives}
        codes_of |= dict.fromkeys(negatives, 0) | dict.fromkeys(positives, 1)
        # A missing value is neither label and gets -1, as an unknown one does; only the
        # latter is an error.
        levels = {
            value: codes_of.get(value, codes_of.get(folded(value), -1))
            for value in text.dropna().unique()
        }
        codes = text.map(levels).fillna(-1).to_numpy(dtype=np.int8)
        is_unknown = (codes < 0) & text.notna().to_numpy()
        unknown = text[is_unknown]
        if len(unknown):
            first = unknown.iloc[0]
            # Where no value is known, it is another column.
            if self.label_values and (codes >= 0).any():
                notes.say(
                    "unseen_label", column=self.label, value=first, negative=negative
                )
                return np.where(is_unknown, 0, codes).astype(np.int8)
            count = int((unknown == first).sum())
            raise TableError(
                f"{path}, label column {self.label!r}: expected {negative!r} or "
                f"{positive!r}, got {first!r} in {count} of {len(frame)} rows."
            )
        return codes.astype(np.int8)

    @property
    def spellings(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What a label column can hold: for a negative, and for a positive row."""
        negative, positive = self.labels
        negatives, positives = self.label_values or ((), ())
        return (negative, *negatives), (positive, *positives)

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
    cape_app.tables._source.TableError: a column can be a group only once, ...
    """
    if len(set(group)) < len(group):
        listed = quoted(list(group), len(group))
        raise TableError(f"a column can be a group only once, got {listed}.")


def check_bins(bins: Bins | None, group: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Check the edges of ranges.

    Examples
    --------
    >>> check_bins({"age": [18, 65]}, ["age"])
    {'age': (18.0, 65.0)}
    >>> check_bins({"age": [65, 18]}, ["age"])
    Traceback (most recent call last):
    cape.base._errors.ParameterError: bins must be ... numbers, got 65, 18 for 'age'.
    """
    checked = {}
    for name, edges in (bins or {}).items():
        if name not in group:
            problem = f"must be given for group columns ({quoted(group, 5)})"
            raise ParameterError("bins", f"{problem}, got {name!r}.")
        checked[name] = tuple(map(float, edges))
        if not edges or list(checked[name]) != sorted(set(checked[name])):
            got = ", ".join(f"{edge:g}" for edge in edges)
            problem = f"must be ascending numbers, got {got} for {name!r}."
            raise ParameterError("bins", problem)
    return checked


def note_many_groups(name: str, values: Iterable[str], notes: Notes) -> None:
    """Note that a group column holds so many numbers that ranges would be better."""
    numbers = [by_value(value) for value in values]
    if len(numbers) <= _MANY_GROUPS or any(is_text for is_text, *_ in numbers):
        return
    quartiles = np.quantile([value for _, value, _ in numbers], [0.25, 0.5, 0.75])
    edges = ",".join(f"{edge:g}" for edge in np.unique(np.round(quartiles)))
    notes.say("many_groups", column=name, n=len(numbers), edges=edges)


def label_text(values: pd.Series) -> pd.Series:
    """Write a label column as plain text, in which blanks are no label.

    Examples
    --------
    >>> label_text(pd.Series(["1.0", " "])).isna().tolist()
    [False, True]
    """
    text = plain_text(values)
    return text.where(text.str.strip() != "")


def folded(value: str) -> str:
    """Write a label without capitals and blanks around it.

    Examples
    --------
    >>> folded(" JA ")
    'ja'
    """
    return " ".join(value.split()).casefold()


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


def named_values(positive: str | Sequence[str] | None) -> list[str]:
    """Return the positive values that the user named, as `plain_text` writes them.

    Examples
    --------
    >>> named_values("1.0"), named_values(["Pass", "Distinction"]), named_values(None)
    (['1'], ['Pass', 'Distinction'], [])
    """
    if positive is None:
        return []
    values = [positive] if isinstance(positive, str) else positive
    return list(dict.fromkeys(map(plain_value, values)))
