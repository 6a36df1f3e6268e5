"""Counting the labels and predictions of a file, group by group."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from cape._groups import EVERYONE, Group, check_groups
from cape._tables import Dialect, TableError, check_columns_exist
from cape._wording._numbers import quoted
from cape.files._columns import (
    by_value,
    check_named_once,
    group_text,
    order_labels,
    plain_text,
    plain_value,
)
from cape.files._notes import Notes
from cape.files._scan import OnRows, Scan
from cape.metrics import Confusion


def count_file(
    path: str | Path,
    *,
    label: str,
    prediction: str,
    group: Sequence[str] = (),
    positive: str | None = None,
    mapping: Mapping[str, str] | None = None,
    rows: int | None = None,
    dialect: Dialect | None = None,
    notes: Notes | None = None,
    on_rows: OnRows | None = None,
) -> tuple[dict[Group, Confusion], tuple[str, str], str]:
    """Count true and false positives and negatives of a file in each group.

    The file is read in parts and may be larger than memory.

    Parameters
    ----------
    path : str or Path
        CSV, Parquet or Arrow.
    label, prediction : str
        Columns with the label and the prediction. Together they hold two values.
    group : sequence of str, default=()
        Columns that make the groups. Without any, all rows are one group.
    positive : str, optional
        The positive label; by default the greater of the two.
    mapping : mapping from str to str, optional
        What predictions are called among the labels, such as ``{"high": "yes", "low":
        "no"}``.
    rows : int, optional
        How many rows are read at a time; by default fewer for wider tables.
    dialect : Dialect, optional
        How a CSV is written: its separator and its encoding.
    notes : Notes, optional
        Collects remarks.
    on_rows : callable, optional
        Called with "counting" and the number of rows that have just been counted.

    Returns
    -------
    counts : dict from group to Confusion
        In the order of the names of the groups.
    labels : tuple of str
        The negative and the positive label.
    sha256 : str
        Hash of the bytes that were read.

    Raises
    ------
    TableError
        If a column or a value is missing, or if there are more than two labels.

    Examples
    --------
    >>> frame = pd.DataFrame({"y": [1, 0, 1], "yhat": [1, 1, 0], "z": ["a", "a", "b"]})
    >>> frame.to_csv(folder / "scored.csv", index=False)
    >>> counts, labels, _ = count_file(
    ...     folder / "scored.csv", label="y", prediction="yhat", group=["z"]
    ... )
    >>> counts["a"].fpr, counts["b"].fnr, labels
    (1.0, 1.0, ('0', '1'))
    """
    notes = Notes() if notes is None else notes
    # Crossed with itself, a column would make groups such as ("a", "a").
    check_named_once(group)
    scan = Scan(path, dialect, on_rows)
    columns = _AuditColumns(path, label, prediction, tuple(group), _plain(mapping))
    check_columns_exist(columns.names, scan.table.names, path)
    # As text: labels 0 and 1 beside predictions 0.0 and 1.0 are two values, not four,
    # once plain_text has written them.
    types = dict.fromkeys(columns.names, "text")
    cells: Counter[_Cell] = Counter()
    for frame in scan.parts(types, rows):
        cells.update(_count_cells(columns.texts(frame, notes), columns))
        scan.on_rows("counting", len(frame))
    cells = _translated(cells, columns, notes)
    labels = _two_labels(cells, positive, columns)
    return _confusions(cells, labels[1]), labels, scan.sha256


@dataclass(frozen=True)
class _AuditColumns:
    """The columns of a file that are compared.

    Parameters
    ----------
    path : str or Path
        The file, for messages.
    label, prediction : str
    group : tuple of str
    mapping : dict from str to str
        What predictions are called among the labels.
    """

    path: str | Path
    label: str
    prediction: str
    group: tuple[str, ...]
    mapping: dict[str, str]

    @property
    def names(self) -> list[str]:
        """All columns, each once: a label can be audited as its own prediction."""
        return list(dict.fromkeys((self.label, self.prediction, *self.group)))

    def texts(self, frame: pd.DataFrame, notes: Notes) -> pd.DataFrame:
        """Write the columns as plain text, or raise if a value is missing."""
        texts = {}
        for name in self.names:
            if name in self.group:
                text = group_text(frame[name], notes)
            else:
                text, _ = plain_text(frame[name])
            # A row without a label, a prediction or a group belongs to no cell, and
            # leaving it out would change the rates.
            missing = int(text.isna().sum())
            if missing:
                raise TableError(
                    f"{self.path}, column {name!r}: {missing} rows have no value."
                )
            texts[name] = text
        return pd.DataFrame(texts)


class _Cell(NamedTuple):
    """What a row is counted by."""

    label: str
    prediction: str
    group: Group


def _count_cells(texts: pd.DataFrame, columns: _AuditColumns) -> Counter[_Cell]:
    """Count how often each label, prediction and group occur together."""
    # Crossing them as if they were groups is one pass over the rows, in numpy.
    crossed = check_groups(texts[[columns.label, columns.prediction, *columns.group]])
    sizes = np.bincount(crossed.codes, minlength=len(crossed.keys))
    counts: Counter[_Cell] = Counter()
    for key, size in zip(crossed.keys, sizes.tolist(), strict=True):
        values: tuple[str, ...] = key  # type: ignore[assignment]
        group = _group_of(values[2:])
        counts[_Cell(values[0], values[1], group)] = size
    return counts


def _group_of(values: tuple[str, ...]) -> Group:
    """Return the group that the values of the group columns make."""
    # One column gives plain names; only a combination of several is a tuple.
    if not values:
        return EVERYONE
    if len(values) == 1:
        return values[0]
    return values


def _plain(mapping: Mapping[str, str] | None) -> dict[str, str]:
    """Write the values of a mapping as those of the columns are written."""
    plain = {}
    for value, label in (mapping or {}).items():
        plain[plain_value(value)] = plain_value(label)
    return plain


def _translated(
    cells: Counter[_Cell], columns: _AuditColumns, notes: Notes
) -> Counter[_Cell]:
    """Call the predictions what the labels are called."""
    predictions = {cell.prediction for cell in cells}
    for value in columns.mapping:
        # In a small file nobody may be called "high", so that it is no error.
        if value not in predictions:
            notes.say("never_predicted", column=columns.prediction, value=value)
    translated: Counter[_Cell] = Counter()
    for cell, size in cells.items():
        prediction = columns.mapping.get(cell.prediction, cell.prediction)
        translated[cell._replace(prediction=prediction)] += size
    return translated


def _two_labels(
    cells: Counter[_Cell], positive: str | None, columns: _AuditColumns
) -> tuple[str, str]:
    """Return the negative and the positive label, or raise if there are more."""
    values = {cell.label for cell in cells} | {cell.prediction for cell in cells}
    labels = sorted(values, key=by_value)
    # Any third value would silently count as negative.
    if len(labels) > 2:
        listed = quoted(labels, 5)
        raise TableError(
            f"{columns.path}: {columns.label!r} and {columns.prediction!r} must hold "
            f"two values between them, got {len(labels)}: {listed}.{_how_to_map(cells)}"
        )
    if len(labels) == 1:
        return _label_and_its_opposite(labels[0], positive, columns.path)
    return order_labels(labels, positive)


def _how_to_map(cells: Counter[_Cell]) -> str:
    """Say how predictions can be translated, where they are two other words."""
    labels = {cell.label for cell in cells}
    predictions = {cell.prediction for cell in cells} - labels
    if len(labels) != 2 or not 1 <= len(predictions) <= 2:
        return ""
    options = []
    for value in sorted(predictions, key=by_value):
        label = _most_often(cells, value)
        options.append(shlex.join(["--map", f"{value}={label}"]))
    return (
        " If the predictions mean the same by other words, say which is which, such as "
        f"{' '.join(options)}."
    )


def _most_often(cells: Counter[_Cell], prediction: str) -> str:
    """Return the label that rows with a prediction have more often than other rows."""
    lift: Counter[str] = Counter()
    n_rows = sum(cells.values())
    n_predicted = sum(n for cell, n in cells.items() if cell.prediction == prediction)
    for cell, size in cells.items():
        # Rows expected if predictions had nothing to do with labels are subtracted.
        lift[cell.label] -= size * n_predicted
        if cell.prediction == prediction:
            lift[cell.label] += size * n_rows
    return max(lift, key=lambda label: lift[label])


def _label_and_its_opposite(
    label: str, positive: str | None, path: str | Path
) -> tuple[str, str]:
    """Return the two labels of a file in which only one occurs.

    Which of the two it is can be told if it is 0 or 1, or if the user has said which
    label is positive.
    """
    if positive is None:
        if label not in ("0", "1"):
            raise TableError(
                f"{path}: only {label!r} occurs; say which label is positive "
                "(--positive)."
            )
        positive = "1"
    positive = plain_value(positive)
    if positive == "1":
        return "0", positive
    return label, positive


def _confusions(cells: Counter[_Cell], positive: str) -> dict[Group, Confusion]:
    """Sum the cells of each group, in the order of the names of the groups."""
    counts: dict[Group, Confusion] = {}
    for cell, size in cells.items():
        count = _confusion(cell, size, positive)
        if cell.group in counts:
            count = counts[cell.group] + count
        counts[cell.group] = count
    # By name, so that the order of rows does not show in the table.
    return {group: counts[group] for group in sorted(counts, key=str)}


def _confusion(cell: _Cell, size: int, positive: str) -> Confusion:
    """Count the rows of one cell, all of which are right or wrong in the same way."""
    is_positive = cell.label == positive
    is_called_positive = cell.prediction == positive
    # Counts are floats because rows can have weights elsewhere.
    weight = float(size)
    return Confusion(
        tp=weight * (is_positive and is_called_positive),
        fp=weight * (not is_positive and is_called_positive),
        fn=weight * (is_positive and not is_called_positive),
        tn=weight * (not is_positive and not is_called_positive),
        rows=size,
    )
