"""Labels and predictions of a file, counted group by group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from cape._groups import EVERYONE, Group, check_groups
from cape._tables import Dialect, TableError, iter_table, table_columns
from cape.files._columns import check_named_once, missing_column, plain_text
from cape.files._notes import Notes
from cape.metrics import Confusion

__all__ = ["count_file"]


def count_file(
    path: str | Path,
    *,
    label: str,
    prediction: str,
    group: Sequence[str] = (),
    positive: str | None = None,
    rows: int = 200_000,
    dialect: Dialect | None = None,
    notes: Notes | None = None,
    on_rows: Callable[[str, int], None] = lambda stage, rows: None,
) -> tuple[dict[Group, Confusion], tuple[str, str]]:
    """Count a file's true and false positives and negatives in each group, part by part.

    Parameters
    ----------
    path : str or Path
    label, prediction : str
        Columns; two values between them.
    group : sequence of str
        Columns that make the groups; none is one group.
    positive : str, optional
        The positive label; by default the greater of the two.
    rows : int
        Of a part.
    dialect : Dialect, optional
    notes : Notes, optional
    on_rows : callable, optional

    Returns
    -------
    counts : dict from group to Confusion
    labels : tuple of str
        The negative and the positive label.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "scored.csv"
    >>> frame = pd.DataFrame({"y": [1, 0, 1, 0], "yhat": [1, 1, 0, 0], "z": ["a", "a", "b", "b"]})
    >>> frame.to_csv(file, index=False)
    >>> counts, labels = count_file(file, label="y", prediction="yhat", group=["z"])
    >>> counts["a"].fpr, counts["b"].fnr, labels
    (1.0, 1.0, ('0', '1'))
    """
    from cape.files._train import _sort_key

    notes = Notes() if notes is None else notes
    check_named_once(group)
    wanted = list(dict.fromkeys((label, prediction, *group)))
    names = table_columns(path, dialect=dialect)
    for name in wanted:
        if name not in names:
            raise missing_column(name, names, path)
    pairs: dict[tuple[str, str, Group], int] = {}
    for frame in iter_table(
        path, rows, columns=wanted, types=dict.fromkeys(wanted, "text"), dialect=dialect
    ):
        for key, size in _tally(
            frame, label, prediction, tuple(group), path, notes
        ).items():
            pairs[key] = pairs.get(key, 0) + size
        on_rows("counting", len(frame))
    if not pairs:
        raise TableError(f"{path} has a header but no rows.")
    labels = sorted({value for key in pairs for value in key[:2]}, key=_sort_key)
    negative, positive_ = _labels(labels, positive, label, prediction, path)
    return _confusions(pairs, positive_), (negative, positive_)


def _tally(
    frame, label, prediction, group, path, notes
) -> dict[tuple[str, str, Group], int]:
    """How often each label, prediction and group come together."""
    columns = {}
    for name in dict.fromkeys((label, prediction, *group)):
        text, changed = plain_text(frame[name])
        missing = int(text.isna().sum())
        if missing:
            raise TableError(f"{path}, column {name!r}: {missing} rows have no value.")
        if changed and name in group:
            notes.say(f"group column {name!r}: {changed}, taken as the same group.")
        columns[name] = text
    ready = pd.DataFrame(columns)
    together = check_groups(
        ready[[label, prediction, *group]] if group else ready[[label, prediction]]
    )
    sizes = np.bincount(together.codes, minlength=len(together.keys))
    counted: dict[tuple[str, str, Group], int] = {}
    for key, size in zip(together.keys, sizes.tolist(), strict=True):
        parts: tuple[str, ...] = key  # type: ignore[assignment]
        truth, called, rest = parts[0], parts[1], parts[2:]
        whose = EVERYONE if not rest else rest[0] if len(rest) == 1 else rest
        counted[truth, called, whose] = size
    return counted


def _labels(
    labels: list[str], positive: str | None, label: str, prediction: str, path
) -> tuple[str, str]:
    if len(labels) > 2:
        raise TableError(
            f"{path}: {label!r} and {prediction!r} must hold two values between them, got {len(labels)}: "
            f"{', '.join(map(repr, labels[:5]))}."
        )
    wanted = None if positive is None else plain_text(pd.Series([positive]))[0].iloc[0]
    if len(labels) == 1:
        if wanted is None and labels[0] not in ("0", "1"):
            raise TableError(
                f"{path}: only {labels[0]!r} occurs; say which label is positive (--positive)."
            )
        wanted = "1" if wanted is None else wanted
        return ("0" if wanted == "1" else labels[0]), wanted
    if wanted is None:
        return labels[0], labels[1]
    if wanted not in labels:
        raise TableError(
            f"the positive label must be {labels[0]!r} or {labels[1]!r}, got {positive!r}."
        )
    return (labels[1], labels[0]) if wanted == labels[0] else (labels[0], labels[1])


def _confusions(
    pairs: dict[tuple[str, str, Group], int], positive: str
) -> dict[Group, Confusion]:
    counts: dict[Group, Confusion] = {}
    for (truth, called, group), size in pairs.items():
        cell = {
            (True, True): "tp",
            (False, True): "fp",
            (True, False): "fn",
            (False, False): "tn",
        }[truth == positive, called == positive]
        one = Confusion(
            **{name: float(size) * (name == cell) for name in ("tp", "fp", "fn", "tn")},
            rows=size,
        )
        counts[group] = counts[group] + one if group in counts else one
    return {group: counts[group] for group in sorted(counts, key=str)}
