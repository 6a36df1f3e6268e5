"""The columns that a model was trained on, looked up and converted in another file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape._tables import TableError, missing_column, quoted
from cape.files._kinds import Place, as_kind
from cape.files._notes import Notes
from cape.files._plain_text import group_text, plain_text

__all__ = ["Columns", "check_columns_exist", "check_named_once"]


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
            plural = "s" if len(extra) > 1 else ""
            listed = quoted(extra, 5)
            notes.say(f"{len(extra)} column{plural} not used by the model: {listed}.")
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
            ready[name] = as_kind(frame[name], kind, Place(path, name), notes)
        for name in self.groups:
            ready[name] = group_text(frame[name], name, notes)
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


def check_columns_exist(
    needed: Iterable[str], names: Iterable[str], path: str | Path
) -> None:
    """Raise if a column is not in the file.

    Parameters
    ----------
    needed : iterable of str
        Columns that must be there; the error is about the first that is not.
    names : iterable of str
        The columns of the file.
    path : str or Path
        The file, for the message.

    Raises
    ------
    TableError
        If a column is missing.
    """
    names = list(names)
    for name in needed:
        if name not in names:
            raise missing_column(name, names, path)


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
