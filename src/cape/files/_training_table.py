"""Reading the table that a model is trained on."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from cape._tables import Dialect, TableError, is_csv, iter_table, table_kinds
from cape.files._columns import Columns, check_columns_exist, check_named_once
from cape.files._labels import order_labels
from cape.files._look_alikes import note_look_alikes
from cape.files._notes import Notes
from cape.files._on_rows import OnRows
from cape.files._plain_text import plain_text
from cape.files._reservoir import Reservoir

__all__ = ["ColumnChoice", "TrainingTable", "read_training_table"]

# A column with more values than this is no label column, and the error that says so
# needs no further rows.
_MAX_LABELS = 20


@dataclass(frozen=True)
class ColumnChoice:
    """The columns that the user named.

    Parameters
    ----------
    label : str
        The column with the label.
    group : tuple of str
        The columns that make the groups.
    drop : tuple of str
        Columns that must not be used.
    positive : str or None
        The positive label; None takes the greater of the two.
    """

    label: str
    group: tuple[str, ...]
    drop: tuple[str, ...]
    positive: str | None

    def features(self, kinds: dict[str, str], path: str | Path) -> dict[str, str]:
        """Return the columns to learn from, with their kinds.

        Parameters
        ----------
        kinds : dict from str to str
            The columns of the file, and what they hold.
        path : str or Path
            The file, for messages.

        Returns
        -------
        dict from str to {"number", "text", "date", "flag"}

        Raises
        ------
        TableError
            If a column that was named is not there or has two roles, if no feature is
            left, or if a feature holds lists or bytes.
        """
        check_columns_exist((self.label, *self.group, *self.drop), kinds, path)
        self._check_roles()
        not_features = (self.label, *self.group, *self.drop)
        # In the order of the file, which is the order that learners see.
        features = {}
        for name, kind in kinds.items():
            if name not in not_features:
                features[name] = kind
        # Without features every learner would fail, with a message about arrays.
        if not features:
            raise TableError(
                f"{path} has no column left to learn from beside the label and the "
                "groups."
            )
        for name, kind in features.items():
            if kind == "other":
                raise TableError(
                    f"{path}, column {name!r} holds lists or bytes, which no learner "
                    "takes: leave it out (--drop)."
                )
        return features

    def _check_roles(self) -> None:
        """Raise if a column is label and group at once, or needed and dropped."""
        check_named_once(self.group)
        if self.label in self.group:
            raise TableError(f"{self.label!r} cannot be both the label and a group.")
        for name in self.drop:
            if name in (self.label, *self.group):
                raise TableError(
                    f"{name!r} is the label or a group: it is no feature anyway, and "
                    "cannot be dropped."
                )


@dataclass(frozen=True)
class TrainingTable:
    """The rows to train on.

    Parameters
    ----------
    columns : Columns
        The columns, and what they hold.
    X : DataFrame of shape (n_samples, n_columns)
        Features and groups, as the classifier takes them.
    y : ndarray of int8 of shape (n_samples,)
        The labels: 1 is positive.
    rows_in_file : int
        Rows of the file, of which these are a sample or all.
    sha256 : str
        Hash of the bytes that were read.
    """

    columns: Columns
    X: pd.DataFrame
    y: np.ndarray
    rows_in_file: int
    sha256: str

    def without(self, names: Collection[str], path: str | Path) -> TrainingTable:
        """Return the table without some of its features.

        Parameters
        ----------
        names : collection of str
            The features to leave out.
        path : str or Path
            The file, for messages.

        Returns
        -------
        TrainingTable

        Raises
        ------
        TableError
            If there is nothing left to learn from.
        """
        features = {}
        for name, kind in self.columns.features.items():
            if name not in names:
                features[name] = kind
        if not features:
            raise TableError(
                f"{path} has no column left to learn from: all are suspicious "
                f"({', '.join(map(repr, names))})."
            )
        columns = replace(self.columns, features=features)
        X = self.X[[*features, *columns.groups]]
        _check_values(X, columns, path)
        return replace(self, columns=columns, X=X)


def read_training_table(
    path: str | Path,
    choice: ColumnChoice,
    *,
    dialect: Dialect | None,
    most: int,
    notes: Notes,
    on_rows: OnRows,
) -> TrainingTable:
    """Read a labelled table, or a sample of it if it is long, and check it.

    Parameters
    ----------
    path : str or Path
        CSV, Parquet or Arrow.
    choice : ColumnChoice
        The columns that the user named.
    dialect : Dialect or None
        How a CSV is written.
    most : int
        How many rows of each group and label are kept.
    notes : Notes
        Collects notes: that a sample was taken, and that a column was converted.
    on_rows : callable
        Called with "reading" and the number of rows that have just been read.

    Returns
    -------
    TrainingTable

    Raises
    ------
    TableError
        If columns, labels or groups are missing, if there are not two labels, or if
        there is nothing to learn from.
    """
    kinds = table_kinds(path, dialect=dialect)
    features = choice.features(kinds, path)
    # Groups and labels are read as text, so that 007 does not become 7.
    types = {**features, **dict.fromkeys((*choice.group, choice.label), "text")}
    reservoir = Reservoir(choice.group, choice.label, most=most)
    hasher = hashlib.sha256()
    parts = iter_table(
        path, columns=list(types), types=types, dialect=dialect, hasher=hasher
    )
    for part in parts:
        reservoir.add(part)
        on_rows("reading", len(part))
        if len(reservoir.labels()) > _MAX_LABELS:
            break
    if not reservoir.n_rows:
        raise TableError(f"{path} has a header but no rows.")
    frame = reservoir.sample()
    labels = _two_labels(frame[choice.label], choice, path)
    # Predictions are written in the kind of the label; dates were read as text, and so
    # were numbers, which may have a decimal comma.
    label_kind = kinds[choice.label]
    if label_kind not in ("number", "flag") or "," in "".join(labels):
        label_kind = "text"
    columns = Columns(choice.label, labels, label_kind, choice.group, features)
    if len(frame) < reservoir.n_rows:
        notes.say(
            f"trained on a sample of {len(frame)} of {reservoir.n_rows} rows, at most "
            f"{most} of each group and label."
        )
    if is_csv(path):
        note_look_alikes(frame, features, notes)
    X = columns.table(frame, path, notes)
    y = columns.positive(frame, path)
    _check_values(X, columns, path)
    return TrainingTable(columns, X, y, reservoir.n_rows, hasher.hexdigest())


def _two_labels(
    values: pd.Series, choice: ColumnChoice, path: str | Path
) -> tuple[str, str]:
    """Return the negative and the positive label, or raise if there are not two."""
    text, _ = plain_text(values)
    # In training every row needs a label; in a batch it may be missing.
    missing = int(text.isna().sum())
    if missing:
        raise TableError(
            f"{path}, label column {choice.label!r}: {missing} of {len(text)} rows "
            "have no label."
        )
    counts = text.value_counts()
    if len(counts) != 2:
        shown = [f"{label!r} ({n} rows)" for label, n in counts.head(4).items()]
        listed = ", ".join(shown)
        if len(counts) > 4:
            listed += f" and {len(counts) - 4} more"
        raise TableError(
            f"{path}, label column {choice.label!r} must hold two values, got "
            f"{len(counts)}: {listed}."
        )
    return order_labels(counts.index, choice.positive)


def _check_values(X: pd.DataFrame, columns: Columns, path: str | Path) -> None:
    """Raise if a row has no group, or if no feature has a value."""
    for name in columns.groups:
        missing = int(X[name].isna().sum())
        if missing:
            raise TableError(
                f"{path}, group column {name!r}: {missing} of {len(X)} rows have no "
                "value."
            )
    has_value = X[list(columns.features)].notna()
    if not has_value.any().any():
        raise TableError(
            f"{path}: all values of all columns to learn from are missing."
        )
