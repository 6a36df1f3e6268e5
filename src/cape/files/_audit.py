"""Counting the labels and predictions of a file, group by group."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cape._groups import EVERYONE, MISSING_GROUP, Group, check_groups
from cape._tables import Dialect, TableError, check_columns_exist
from cape._validation import check_choice
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
from cape.metrics._rates import Confusion


def count_file(
    path: str | Path,
    *,
    label: str,
    prediction: str,
    group: Sequence[str] = (),
    positive: str | None = None,
    mapping: Mapping[str, str] | None = None,
    missing_groups: str = "error",
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
    missing_groups : {"error", "group", "drop"}, default="error"
        What to do with rows without a group value: raise an error, make them the group
        ``"(missing)"``, or leave them out. Their number is noted.
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
    check_choice("missing_groups", missing_groups, ("error", "group", "drop"))
    # Crossed with itself, a column would make groups such as ("a", "a").
    check_named_once(group)
    scan = Scan(path, dialect, on_rows)
    # Each once: a label can be audited as its own prediction.
    names = list(dict.fromkeys((label, prediction, *group)))
    check_columns_exist(names, scan.table.names, path)
    cells: Counter[_Cell] = Counter()
    # As text: labels 0 and 1 beside predictions 0.0 and 1.0 are two values, not four,
    # once plain_text has written them.
    without_group: list[int] = []
    for frame in scan.parts(dict.fromkeys(names, "text"), rows):
        has_group = frame[list(group)].notna().all(axis=1).to_numpy()
        without = np.flatnonzero(~has_group) + scan.rows - len(frame)
        without_group += without.tolist()
        if missing_groups == "group":
            frame = frame.fillna(dict.fromkeys(group, MISSING_GROUP))
        else:
            frame = frame[has_group]
        texts = pd.DataFrame()
        for name in names:
            texts[name] = _text_of(frame[name], name in group, path, notes)
        # Crossing them as if they were groups is one pass over the rows, in numpy.
        crossed = check_groups(texts[[label, prediction, *group]])
        sizes = np.bincount(crossed.codes, minlength=len(crossed.keys)).tolist()
        for key, size in zip(crossed.keys, sizes, strict=True):
            values: tuple[str, ...] = key  # type: ignore[assignment]
            cells[_Cell(values[0], values[1], _group_of(values[2:]))] += size
        scan.on_rows("counting", len(frame))
    if without_group:
        scan.judge_missing(group, without_group, missing_groups, notes)
    plain = {plain_value(a): plain_value(b) for a, b in (mapping or {}).items()}
    predictions = {cell.prediction for cell in cells}
    for value in plain:
        # In a small file nobody may be called "high", so that it is no error.
        if value not in predictions:
            notes.say("never_predicted", column=prediction, value=value)
    translated: Counter[_Cell] = Counter()
    for cell, size in cells.items():
        called = plain.get(cell.prediction, cell.prediction)
        translated[cell._replace(prediction=called)] += size
    where = f"{path}: {label!r} and {prediction!r}"
    labels = _two_labels(translated, positive, where, path)
    return _confusions(translated, labels[1]), labels, scan.sha256


class _Cell(NamedTuple):
    """What a row is counted by."""

    label: str
    prediction: str
    group: Group


def _text_of(
    values: pd.Series, is_group: bool, path: str | Path, notes: Notes
) -> pd.Series:
    """Write a column as plain text, or raise if a value is missing."""
    text = group_text(values, notes) if is_group else plain_text(values)[0]
    # A row without a label, a prediction or a group belongs to no cell, and leaving it
    # out would change the rates.
    missing = int(text.isna().sum())
    if missing:
        raise TableError(
            f"{path}, column {values.name!r}: {missing} rows have no value."
        )
    return text


def _group_of(values: tuple[str, ...]) -> Group:
    """Return the group that the values of the group columns make."""
    # One column gives plain names; only a combination of several is a tuple.
    if not values:
        return EVERYONE
    return values[0] if len(values) == 1 else values


def _two_labels(
    cells: Counter[_Cell], positive: str | None, where: str, path: str | Path
) -> tuple[str, str]:
    """Return the negative and the positive label, or raise if there are more.

    If only one occurs, the other can be told if it is 0 or 1, or if the user has said
    which label is positive.
    """
    values = {cell.label for cell in cells} | {cell.prediction for cell in cells}
    labels = sorted(values, key=by_value)
    # Any third value would silently count as negative.
    if len(labels) > 2:
        raise TableError(
            f"{where} must hold two values between them, got {len(labels)}: "
            f"{quoted(labels, 5)}.{_how_to_map(cells)}"
        )
    if len(labels) == 2:
        return order_labels(labels, positive)
    (label,) = labels
    if positive is None and label not in ("0", "1"):
        raise TableError(
            f"{path}: only {label!r} occurs; say which label is positive (--positive)."
        )
    positive = plain_value("1" if positive is None else positive)
    return "0" if positive == "1" else label, positive


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


def _confusions(cells: Counter[_Cell], positive: str) -> dict[Group, Confusion]:
    """Sum the cells of each group, in the order of the names of the groups."""
    counts: dict[Group, Confusion] = {}
    # All rows of a cell are right or wrong in the same way.
    kinds = {(True, True): "tp", (False, True): "fp", (True, False): "fn"}
    for cell, size in cells.items():
        kind = kinds.get((cell.label == positive, cell.prediction == positive), "tn")
        # Counts are floats because rows can have weights elsewhere.
        of_cell: dict[str, Any] = dict.fromkeys(("tp", "fp", "fn", "tn"), 0.0)
        of_cell[kind] = float(size)
        count = Confusion(rows=size, **of_cell)
        if cell.group in counts:
            count = counts[cell.group] + count
        counts[cell.group] = count
    # By name, so that the order of rows does not show in the table.
    return {group: counts[group] for group in sorted(counts, key=str)}
