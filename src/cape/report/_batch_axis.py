"""What the axis of time says: names of batches, or dates where the names are dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

import pandas as pd

__all__ = ["batch_labels", "with_gaps"]

# 2024-03, 2024_03_15 or 20240315, not in the middle of a longer number.
_DATE = re.compile(
    r"(?<!\d)((?:19|20)\d\d)[-_.]?(0[1-9]|1[0-2])(?:[-_.]?(0[1-9]|[12]\d|3[01]))?(?!\d)"
)
_MOST_LABELS = 400
"""Labels of an axis; a file of 1990 among those of 2024 is no axis of months."""


def batch_labels(names: Sequence[str]) -> list[str]:
    """Return what the axis calls the batches.

    Parameters
    ----------
    names : sequence of str
        Names of batches, in order of time.

    Returns
    -------
    list of str
        Dates, if every name has one date and they ascend. Else the names without their
        ending, or the names themselves if that would make two of them equal.

    Examples
    --------
    >>> batch_labels(["sales_202401.csv", "sales_202403.csv"])
    ['2024-01', '2024-03']
    >>> batch_labels(["north.csv", "south.csv"])
    ['north', 'south']
    """
    dates = [_date_in(name) for name in names]
    if all(dates) and _ascend(dates) and len({len(date) for date in dates}) == 1:
        return dates
    stems = [PurePath(name).stem for name in names]
    if len(set(stems)) == len(stems):
        return stems
    return list(names)


def _date_in(name: str) -> str:
    """Return the only date in a name; empty if there is none, or more than one."""
    found = _DATE.findall(name)
    if len(found) != 1:
        return ""
    return "-".join(part for part in found[0] if part)


def _ascend(dates: Sequence[str]) -> bool:
    """Tell whether dates ascend, each of them once."""
    return list(dates) == sorted(set(dates))


def with_gaps(labels: Sequence[str]) -> list[str]:
    """Add the months or days that are missing between dates.

    Parameters
    ----------
    labels : sequence of str
        From `batch_labels`.

    Returns
    -------
    list of str
        All months between the first and the last; all days in steps of the smallest
        distance of two days, if all distances are multiples of it; else the labels.

    Examples
    --------
    >>> with_gaps(["2024-01", "2024-02", "2024-04"])
    ['2024-01', '2024-02', '2024-03', '2024-04']
    >>> with_gaps(["2024-01-01", "2024-01-08", "2024-01-22"])[2]
    '2024-01-15'
    >>> with_gaps(["a", "b"])
    ['a', 'b']
    """
    labels = list(labels)
    if len(labels) < 2 or not all(_date_in(label) == label for label in labels):
        return labels
    try:
        steps = _steps(labels)
    except ValueError:
        # The 31st of February is a name and no date.
        return labels
    if len(steps) > _MOST_LABELS or not set(labels) <= set(steps):
        return labels
    return steps


def _steps(labels: list[str]) -> list[str]:
    """Return all months, or days in steps, between the first label and the last."""
    if len(labels[0]) == len("2024-01"):
        return list(pd.period_range(labels[0], labels[-1], freq="M").astype(str))
    days = pd.to_datetime(labels, format="%Y-%m-%d")
    step = days.diff().min()
    return list(pd.date_range(days[0], days[-1], freq=step).strftime("%Y-%m-%d"))
