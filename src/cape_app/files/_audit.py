"""Audits of a file: labels and predictions of each group."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape.base._errors import ParameterError
from cape.base._groups import EVERYONE, MISSING_GROUP, Group
from cape.base._numbers import quoted
from cape.base._table import as_kind, plain_text, plain_value
from cape.base._validation import check_choice, check_weights
from cape.metrics._rates import Confusion
from cape_app.files._check import order_labels, split_labels
from cape_app.files._columns import (
    Bins,
    by_value,
    check_bins,
    check_named_once,
    label_text,
    named_values,
    note_many_groups,
)
from cape_app.files._notes import Notes
from cape_app.files._scan import OnRows, Scan
from cape_app.tables import Dialect, Source, TableError, check_columns_exist

# What numbers are called as predictions, until it is known which label is positive.
_ABOVE = "\0above"
_NOT_ABOVE = "\0not above"

_KINDS = ((True, True), (False, True), (True, False), (False, False))
"""Whether a row is positive and called so: tp, fp, fn and tn."""

_ROUNDING = 1e-12
"""Relative error up to which weights are equal."""

_MOST_PREDICTIONS = 1000
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
    weight: str | None = None,
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
        Columns with the label and the prediction. Together they hold two values. One
        column can be both: the counts are then those of its values.
    group : sequence of str, default=()
        Columns that make the groups. Without any, all rows are one group.
    positive : str or sequence of str, optional
        The positive label; by default the greater of the two. If the label has more
        values, those that count as positive; the rest are negative. Predictions are
        then such values or, as from `predict_file`, "Pass or Distinction" and "not Pass
        or Distinction".
    mapping : mapping from str to str, optional
        The label that each prediction stands for, such as ``{"high": "yes", "low":
        "no"}``.
    threshold : float, optional
        For numeric predictions, such as probabilities: those above it are positive.
    missing_groups : {"error", "group"}, default="error"
        What to do with rows without a group value: raise an error, or make them the
        group ``"(missing)"`` and note their number.
    missing_labels : {"drop", "error"}, default="drop"
        What to do with rows without a label: leave them out, with a note on their
        number, or raise an error.
    bins : mapping from str to sequence of float, optional
        Group columns of numbers that are cut into ranges, as in `train_file`.
    weight : str, optional
        Column with the weights of rows. Counts are then of as many rows as they are
        worth, (sum w)^2 / sum w^2 in each group.
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
    check_choice("missing_groups", missing_groups, ("error", "group"))
    check_choice("missing_labels", missing_labels, ("drop", "error"))
    # Crossed with itself, a column would make groups such as ("a", "a").
    check_named_once(group)
    scan = Scan(path, dialect, notes, on_rows)
    weighted = () if weight is None else (weight,)
    needed = (label, prediction, *group, *weighted)
    check_columns_exist(needed, scan.table.names, scan.path)
    # As text: labels 0 and 1 beside predictions 0.0 and 1.0 are two values, not four,
    # once plain_text has written them.
    types = dict.fromkeys((label, prediction, *group), "text")
    if threshold is not None:
        types[prediction] = "number"
    types |= dict.fromkeys(weighted, "number")
    counted: dict[Any, np.ndarray] = {}
    parts = scan.labelled_parts(
        types,
        label,
        group,
        missing_groups=missing_groups,
        missing_labels=missing_labels,
        rows=rows,
        bins=check_bins(bins, group),
    )
    for frame in parts:
        frame = frame.fillna(dict.fromkeys(group, MISSING_GROUP))
        predictions = frame[prediction]
        if threshold is not None:
            numbers = as_kind(predictions, "number", scan.path, Notes())
            calls = np.where(numbers > threshold, _ABOVE, _NOT_ABOVE)
            predictions = pd.Series(calls, frame.index).where(numbers.notna())
        predictions = label_text(predictions)
        # Leaving rows out would change the rates.
        n_missing = int(predictions.isna().sum())
        if n_missing:
            raise TableError(
                f"{scan.path}, column {prediction!r}: {n_missing} rows have no value. "
                "Leave them out of the file, or fill them in."
            )
        columns = [plain_text(frame[name], notes) for name in group]
        labels_of_rows = predictions if label == prediction else frame[label]
        weights: Any = np.ones(len(frame))
        if weight is not None:
            weights = check_weights(frame[weight], frame, of_part=True)
        # Rows, and the sums of their weights and of the squares.
        sums = pd.DataFrame({"n": 1, "weight": weights, "square": weights**2})
        crossed = sums.set_index(frame.index).groupby(
            [labels_of_rows, predictions, *columns], sort=False
        )
        for key, of_cell in crossed.sum().T.items():
            counted[key] = counted.get(key, 0) + of_cell.to_numpy()
        scan.on_rows("counting", len(frame))
        if len({predicted for _, predicted, *_ in counted}) > _MOST_PREDICTIONS:
            # The error that says so needs no further rows.
            break
    for place, name in enumerate(group):
        note_many_groups(name, {key[2 + place] for key in counted}, notes)
    entries = []
    for (true, predicted, *names), size in counted.items():
        of_group: Group = tuple(names)
        if len(group) < 2:
            of_group = names[0] if group else EVERYONE
        entries.append((true, predicted, of_group, *size))
    names_of_cells = ["label", "prediction", "group", "n", "weight", "square"]
    cells = pd.DataFrame(entries, columns=names_of_cells).astype({"n": int})
    plain = {plain_value(a): plain_value(b) for a, b in (mapping or {}).items()}
    for value in plain.keys() - set(cells["prediction"]):
        # In a small file nobody may be called "high", so that it is no error.
        notes.say("never_predicted", column=prediction, value=value)
    cells["prediction"] = _renamed(cells["prediction"], plain)
    named = named_values(positive)
    sizes_of_labels: dict[Any, int] = cells.groupby("label")["n"].sum().to_dict()
    if len(sizes_of_labels) > 2 or len(named) > 1:
        # Some labels are set against the rest, and go by the name of their side.
        where = f"{path}, label column {label!r}"
        two, values_of_both = split_labels(sizes_of_labels, named, where, notes)
        sides: dict[str, str] = {}
        for side, values in zip(two, values_of_both, strict=True):
            sides |= dict.fromkeys(values, side)
        cells["label"] = _renamed(cells["label"], sides)
        cells["prediction"] = _renamed(cells["prediction"], sides)
        named = [two[1]]
    if label != prediction and (cells["label"] == cells["prediction"]).all():
        notes.say("same_as_label", column=prediction, label=label)
    if label == prediction and threshold is not None:
        return _confusions(cells, _ABOVE), ("", f"above {threshold:g}"), scan.sha256
    where = f"{scan.path}: {label!r} and {prediction!r}"
    labels = _two_labels(cells, named[0] if named else None, where, scan.path)
    return _confusions(cells, labels[1]), labels, scan.sha256


def _renamed(values: pd.Series, names: Mapping[str, str]) -> pd.Series:
    """Call values by other names; the rest stays as it is."""
    return values.map(lambda value: names.get(value, value))


def _two_labels(
    cells: pd.DataFrame, positive: str | None, where: str, path: str | Path
) -> tuple[str, str]:
    """Return the negative and the positive label, or raise if there are more.

    If only one occurs, the other can be told if it is 0 or 1, or if the user has said
    which label is positive.
    """
    values = {*cells["label"], *cells["prediction"]}
    labels = sorted(values - {_ABOVE, _NOT_ABOVE}, key=by_value)
    # Any third value would silently count as negative.
    if len(labels) > 2:
        raise TableError(
            f"{where} must together hold two values, got {len(labels)}: "
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


def _how_to_read(cells: pd.DataFrame) -> str:
    """Say how predictions that are numbers or two other words can be read."""
    labels = set(cells["label"])
    predictions = sorted(set(cells["prediction"]) - labels, key=by_value)
    if len(predictions) > 2 and not any(by_value(value)[0] for value in predictions):
        return (
            " If the predictions are probabilities, say above which one they are "
            "positive (--threshold 0.5)."
        )
    if len(labels) != 2 or not 1 <= len(predictions) <= 2:
        return ""
    options = [shlex.join(["--map", f"{value}=LABEL"]) for value in predictions]
    return (
        " If the predictions mean the same by other words, say which is which: "
        f"{' '.join(options)}."
    )


def _confusions(cells: pd.DataFrame, positive: str) -> dict[Group, Confusion]:
    """Sum the cells of each group, in the order of the names of the groups.

    Weights are scaled to the rows that they are worth (Kish 1965): intervals then count
    the noise that unequal weights add.
    """
    sums: dict[Group, dict[tuple[bool, bool], np.ndarray]] = {}
    for label, prediction, group, *size in cells.itertuples(index=False):
        called = prediction in (positive, _ABOVE)
        of_group = sums.setdefault(group, {kind: np.zeros(3) for kind in _KINDS})
        # All rows of a cell are right or wrong in the same way.
        of_group[label == positive, called] += size
    confusions = {}
    # By name, so that the order of rows does not show in the table.
    for group in sorted(sums, key=str):
        of_kinds = np.array([sums[group][kind] for kind in _KINDS])
        rows, weight, square = of_kinds.sum(axis=0)
        counts = of_kinds[:, 0]
        if weight == 0:
            rows, counts = 0, np.zeros(len(counts))
        elif rows * square > weight**2 * (1 + _ROUNDING):
            counts = of_kinds[:, 1] * (weight / square)
        tp, fp, fn, tn = counts.tolist()
        confusions[group] = Confusion(tp, fp, fn, tn, int(rows))
    if not any(of_group.rows for of_group in confusions.values()):
        problem = "must be positive in some row, got all zeros."
        raise ParameterError("sample_weight", problem)
    return confusions
