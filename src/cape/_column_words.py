"""What happened to a column, in words that a person can act on."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from cape._columns import FIRST, FOREIGN, MISSING
from cape._drift import ColumnDrift
from cape._drift._columns import ColumnInBatch

_WORTH_NAMING = 0.02
"""Share of the rows from which on missing and unseen values are spoken of."""

_ROWS_OF_A_NAME = 30
"""Rows of a value never seen in training before it is named: single people are not."""

_MOST_NAMES = 3


def what_happened(drift: ColumnDrift) -> str:
    """Say what has happened to a column, without its name.

    Parameters
    ----------
    drift : ColumnDrift

    Returns
    -------
    str

    Examples
    --------
    Some of the sentences ::

        all 711 values are later than in training (up to 2013-12-29)
        100 % are values never seen in training: M, F
        40 % are missing, 0 % expected
        median 5, 2 expected
    """
    column = drift.column
    if drift.fault == "units":
        return _units(column)
    if drift.fault == "type" or column.batch[FOREIGN] > _WORTH_NAMING:
        return _other_type(column)
    missing = column.batch[MISSING] - column.expected[MISSING]
    if abs(missing) > max(_WORTH_NAMING, drift.fit.effect / 2):
        return _missing(column)
    if column.cells.is_number:
        return _numbers(column, constant=drift.fault == "constant")
    return _levels(drift)


def _missing(column: ColumnInBatch) -> str:
    missing = column.batch[MISSING]
    return f"{missing:.0%} are missing, {column.expected[MISSING]:.0%} expected"


def _units(column: ColumnInBatch) -> str:
    batch = _median(column, column.batch)
    expected = _median(column, column.expected)
    factor = float(f"{batch / expected:.2g}")
    return (
        f"values are about {factor:,g} times those of training (median "
        f"{_value(column, batch)}, {_value(column, expected)} expected), as if in "
        "other units"
    )


def _other_type(column: ColumnInBatch) -> str:
    kinds = {
        "number": "numbers",
        "date": "dates",
        "text": "text",
        "mixed": "text and numbers",
        "empty": "no value at all",
    }
    share = column.batch[FOREIGN]
    return f"{share:.0%} are of another type; training held {kinds[column.cells.kind]}"


def _numbers(column: ColumnInBatch, *, constant: bool) -> str:
    """Say where numbers have gone: outside their range, into one cell, or elsewhere."""
    if 0 in (column.batch[FIRST:].sum(), column.expected[FIRST:].sum()):
        return _missing(column)
    later, earlier = "greater", "smaller"
    if column.cells.kind == "date":
        later, earlier = "later", "earlier"
    above = column.batch[column.above].sum()
    below = column.batch[column.below].sum()
    # The nine largest values of training lie above its range as well.
    more_above = above - column.expected[column.above].sum()
    more_below = below - column.expected[column.below].sum()
    if more_above > _WORTH_NAMING and more_above > more_below:
        highest = _value(column, column.cells.highest)
        return f"{_part(column, above)} {later} than in training (up to {highest})"
    if more_below > _WORTH_NAMING:
        lowest = _value(column, column.cells.lowest)
        return f"{_part(column, below)} {earlier} than in training (from {lowest})"
    if constant:
        value = _value(column, _median(column, column.batch))
        return f"all values are about {value}, which is rare in training"
    batch = _value(column, _median(column, column.batch))
    expected = _value(column, _median(column, column.expected))
    if batch != expected:
        return f"median {batch}, {expected} expected"
    return _farthest_cell(column)


def _part(column: ColumnInBatch, share: float) -> str:
    """Name a share of the values, in rows if it is all of them."""
    present = 1 - column.batch[MISSING]
    if np.isclose(share, present):
        return f"all {round(share * column.rows):,} values are"
    return f"{share:.0%} of the values are"


def _farthest_cell(column: ColumnInBatch) -> str:
    """Name the edge at which batch and training differ most."""
    difference = np.cumsum(column.batch[FIRST:] - column.expected[FIRST:])[:-1]
    place = int(np.argmax(np.abs(difference)))
    edge = _value(column, column.cells.edges[place])
    batch = column.batch[FIRST : FIRST + place + 1].sum()
    expected = column.expected[FIRST : FIRST + place + 1].sum()
    return f"{batch:.0%} are below {edge}, {expected:.0%} expected"


def _levels(drift: ColumnDrift) -> str:
    """Say which levels are new, or which one has become more or less frequent."""
    column = drift.column
    unseen = column.batch[column.unseen]
    if unseen - column.cells.unseen_rate > _WORTH_NAMING:
        return f"{unseen:.0%} are values never seen in training{_names(drift)}"
    difference = column.batch - column.expected
    own = difference[FIRST : FIRST + len(column.cells.levels)]
    if len(own) == 0:
        return f"{drift.fit.effect:.0%} of the values have moved"
    level = int(np.argmax(np.abs(own)))
    cell = FIRST + level
    return (
        f"{column.batch[cell]:.0%} are {column.cells.levels[level]!r}, "
        f"{column.expected[cell]:.0%} expected"
    )


def _names(drift: ColumnDrift) -> str:
    """List the most frequent of the values never seen."""
    frequent = []
    for name, rows in sorted(drift.unseen.items(), key=lambda item: -item[1]):
        if rows >= _ROWS_OF_A_NAME:
            frequent.append(name[:40])
    if not frequent:
        return ""
    return f": {', '.join(frequent[:_MOST_NAMES])}"


def _median(column: ColumnInBatch, shares: np.ndarray) -> float:
    """Interpolate the median within its cell."""
    own = shares[FIRST:]
    below = np.cumsum(own) / own.sum()
    cell = int(np.searchsorted(below, 0.5))
    edges = column.cells.edges
    if cell == 0:
        return float(edges[0])
    if cell == len(edges):
        return float(edges[-1])
    start = below[cell - 1]
    position = (0.5 - start) / (below[cell] - start)
    return float(edges[cell - 1] + position * (edges[cell] - edges[cell - 1]))


def _value(column: ColumnInBatch, number: float) -> str:
    """Write a value as a person would: a date, a whole number, or three digits."""
    if column.cells.kind == "date":
        return f"{datetime.fromtimestamp(float(number), UTC):%Y-%m-%d}"
    cells = column.cells
    whole = [
        value.is_integer() for value in (cells.lowest, cells.median, cells.highest)
    ]
    if all(whole) and abs(number) >= 1:
        return f"{np.floor(number):.0f}"
    return f"{number:.3g}"
