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
from cape._tables import Dialect, Source, TableError, check_columns_exist
from cape._validation import check_choice
from cape._wording._numbers import quoted
from cape.files._columns import (
    Bins,
    as_kind,
    by_value,
    check_bins,
    check_named_once,
    group_text,
    label_text,
    named_values,
    note_many_groups,
    order_labels,
    plain_value,
    split_labels,
)
from cape.files._notes import Notes
from cape.files._scan import OnRows, Scan
from cape.metrics._rates import Confusion

# What numbers are called as predictions, until it is known which label is positive.
_ABOVE = "\0above"
_NOT_ABOVE = "\0not above"

_MOST_CELLS = 1000
"""With more values, predictions are no labels."""


def count_file(
    path: Source,
    *,
    label: str,
    prediction: str,
    group: Sequence[str] = (),
    positive: str | Sequence[str] | None = None,
    mapping: Mapping[str, str] | None = None,
    threshold: float | None = None,
    missing_groups: str = "error",
    missing_labels: str = "drop",
    bins: Bins | None = None,
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
    positive : str or sequence of str, optional
        The positive label; by default the greater of the two. Of a label column with
        more values, those that count as positive; the rest is negative, and predictions
        are either such values or say, as those of `predict_file` do, "Pass or
        Distinction" and "not Pass or Distinction".
    mapping : mapping from str to str, optional
        What predictions are called among the labels, such as ``{"high": "yes", "low":
        "no"}``.
    threshold : float, optional
        Predictions are numbers, such as probabilities, and positive above this one.
    missing_groups : {"error", "group", "drop"}, default="error"
        What to do with rows without a group value: raise an error, make them the group
        ``"(missing)"``, or leave them out. Their number is noted.
    missing_labels : {"drop", "error"}, default="drop"
        What to do with rows without a label: leave them out, with a note on their
        number, or raise an error.
    bins : mapping from str to sequence of float, optional
        Group columns of numbers that are cut into ranges, as in `train_file`.
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
    check_choice("missing_labels", missing_labels, ("drop", "error"))
    # Crossed with itself, a column would make groups such as ("a", "a").
    check_named_once(group)
    scan = Scan(path, dialect, notes, on_rows)
    # Each once: a label can be audited as its own prediction.
    names = list(dict.fromkeys((label, prediction, *group)))
    check_columns_exist(names, scan.table.names, scan.path)
    cells: Counter[_Cell] = Counter()
    # As text: labels 0 and 1 beside predictions 0.0 and 1.0 are two values, not four,
    # once plain_text has written them.
    types = dict.fromkeys(names, "text")
    if threshold is not None:
        types[prediction] = "number"
    without_group: list[int] = []
    without_label: list[int] = []
    for frame in scan.parts(types, notes, rows, check_bins(bins, group)):
        frame = frame.assign(**{label: label_text(frame[label])})
        has_label = frame[label].notna().to_numpy()
        has_group = frame[list(group)].notna().all(axis=1).to_numpy()
        first_row = scan.rows - len(frame)
        without_label += (np.flatnonzero(~has_label) + first_row).tolist()
        without_group += (np.flatnonzero(has_label & ~has_group) + first_row).tolist()
        if missing_groups == "group":
            frame = frame[has_label].fillna(dict.fromkeys(group, MISSING_GROUP))
        else:
            frame = frame[has_label & has_group]
        texts = {label: frame[label]}
        if threshold is not None:
            frame[prediction] = _above(frame[prediction], threshold, scan.path)
        for name in names[1:]:
            texts[name] = _text_of(frame[name], name in group, scan.path, notes)
        cells += _count(pd.DataFrame(texts)[[label, prediction, *group]])
        scan.on_rows("counting", len(frame))
        if len(cells) > _MOST_CELLS and len(_predictions(cells)) > _MOST_CELLS:
            # The error that says so needs no further rows.
            break
    if without_label:
        scan.judge_missing("label", [label], without_label, missing_labels, notes)
    if without_group:
        scan.judge_missing("group", group, without_group, missing_groups, notes)
    if not cells:
        raise TableError(f"{scan.path}: no row has a label in {label!r} and a group.")
    for place, name in enumerate(group):
        one = len(group) == 1
        values_of_group = {cell.group if one else cell.group[place] for cell in cells}  # type: ignore[index]
        note_many_groups(name, map(str, values_of_group), notes)
    plain = {plain_value(a): plain_value(b) for a, b in (mapping or {}).items()}
    for value in plain:
        # In a small file nobody may be called "high", so that it is no error.
        if value not in _predictions(cells):
            notes.say("never_predicted", column=prediction, value=value)
    cells = _translated(cells, plain, {})
    named = named_values(positive)
    where = f"{path}, label column {label!r}"
    cells, named = _against_the_rest(cells, named, where, notes)
    where = f"{scan.path}: {label!r} and {prediction!r}"
    labels = _two_labels(cells, named[0] if named else None, where, scan.path)
    return _confusions(cells, labels[1]), labels, scan.sha256


class _Cell(NamedTuple):
    """What a row is counted by."""

    label: str
    prediction: str
    group: Group


def _count(texts: pd.DataFrame) -> Counter[_Cell]:
    """Count the rows of each cell: columns label, prediction, and the groups."""
    # Crossing them as if they were groups is one pass over the rows, in numpy.
    crossed = check_groups(texts)
    sizes = np.bincount(crossed.codes, minlength=len(crossed.keys)).tolist()
    cells: Counter[_Cell] = Counter()
    for key, size in zip(crossed.keys, sizes, strict=True):
        values: tuple[str, ...] = key  # type: ignore[assignment]
        cells[_Cell(values[0], values[1], _group_of(values[2:]))] += size
    return cells


def _against_the_rest(
    cells: Counter[_Cell], named: list[str], where: str, notes: Notes
) -> tuple[Counter[_Cell], list[str]]:
    """Call labels by the name of their side, where some are set against the rest.

    Returns
    -------
    cells : Counter of _Cell
    named : list of str
        The labels that count as positive.
    """
    of_labels: Counter[str] = Counter()
    for cell, size in cells.items():
        of_labels[cell.label] += size
    if len(of_labels) <= 2 and len(named) <= 1:
        return cells, named
    two, of_both = split_labels(of_labels, named, where, notes)
    sides: dict[str, str] = {}
    for side, of_side in zip(two, of_both, strict=True):
        sides |= dict.fromkeys(of_side, side)
    # In the column of predictions as well.
    return _translated(cells, sides, sides), [two[1]]


def _predictions(cells: Counter[_Cell]) -> set[str]:
    """Return what is predicted."""
    return {cell.prediction for cell in cells}


def _translated(
    cells: Counter[_Cell], predictions: Mapping[str, str], labels: Mapping[str, str]
) -> Counter[_Cell]:
    """Call predictions and labels by other words; the rest stays as it is."""
    translated: Counter[_Cell] = Counter()
    for (label, prediction, group), size in cells.items():
        label = labels.get(label, label)
        prediction = predictions.get(prediction, prediction)
        translated[_Cell(label, prediction, group)] += size
    return translated


def _above(values: pd.Series, threshold: float, path: str | Path) -> pd.Series:
    """Call numbers above the threshold one thing, and the others another."""
    numbers = as_kind(values, "number", path, Notes())
    calls = np.where(numbers > threshold, _ABOVE, _NOT_ABOVE)
    return pd.Series(calls, values.index, name=values.name).where(numbers.notna())


def _text_of(
    values: pd.Series, is_group: bool, path: str | Path, notes: Notes
) -> pd.Series:
    """Write a column as plain text, or raise if a value is missing."""
    text = group_text(values, notes) if is_group else label_text(values)
    # A row without a label, a prediction or a group belongs to no cell, and leaving it
    # out would change the rates.
    missing = int(text.isna().sum())
    if missing:
        raise TableError(
            f"{path}, column {values.name!r}: {missing} rows have no value. Leave them "
            "out of the file, or fill them in."
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
    values = {cell.label for cell in cells} | _predictions(cells)
    labels = sorted(values - {_ABOVE, _NOT_ABOVE}, key=by_value)
    # Any third value would silently count as negative.
    if len(labels) > 2:
        raise TableError(
            f"{where} must hold two values between them, got {len(labels)}: "
            f"{quoted(labels, 5)}.{_how_to_read(cells)}"
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


def _how_to_read(cells: Counter[_Cell]) -> str:
    """Say how predictions that are numbers or two other words can be read."""
    labels = {cell.label for cell in cells}
    predictions = _predictions(cells) - labels
    if len(predictions) > 2 and not any(by_value(value)[0] for value in predictions):
        return (
            " If the predictions are probabilities, say above which one they are "
            "positive (--threshold 0.5)."
        )
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
        called = cell.prediction in (positive, _ABOVE)
        kind = kinds.get((cell.label == positive, called), "tn")
        # Counts are floats because rows can have weights elsewhere.
        of_cell: dict[str, Any] = dict.fromkeys(("tp", "fp", "fn", "tn"), 0.0)
        of_cell[kind] = float(size)
        count = Confusion(rows=size, **of_cell)
        if cell.group in counts:
            count = counts[cell.group] + count
        counts[cell.group] = count
    # By name, so that the order of rows does not show in the table.
    return {group: counts[group] for group in sorted(counts, key=str)}
