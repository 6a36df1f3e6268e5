"""Columns that are plainly not what they were: found before any statistics.

A column of another type, in other units, all missing or all unseen makes scores
worthless, and statistics may still find a prevalence that fits them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cape.columns import FIRST, FOREIGN, MISSING, UNITS, ColumnCells, unit_window

__all__ = ["ColumnInBatch", "find_fault"]

_FEWEST_ROWS = 20
_MOST = 0.5
"""Share of the rows from which on a column as a whole is at fault."""

_NATURAL = 0.1
"""Share of training rows up to which most rows of a batch having it is a fault."""


@dataclass(frozen=True)
class ColumnInBatch:
    """Shares of the cells of one column, in training and in a batch.

    Parameters
    ----------
    cells : ColumnCells
    positives, negatives : ndarray of shape (n_cells,)
        Shares among the two classes in training.
    batch : ndarray of shape (n_cells,)
        Shares in the batch.
    rows : int
        Rows of the batch.
    prevalence : float
        What the scores say.
    """

    cells: ColumnCells
    positives: np.ndarray
    negatives: np.ndarray
    batch: np.ndarray
    rows: int
    prevalence: float

    @property
    def expected(self) -> np.ndarray:
        """Shares of a batch of this prevalence under prior shift."""
        rest = 1 - self.prevalence
        return self.prevalence * self.positives + rest * self.negatives

    @property
    def most_expected(self) -> np.ndarray:
        """The greatest share that any prevalence could give to a cell."""
        return np.maximum(self.positives, self.negatives)

    @property
    def below(self) -> np.ndarray:
        """The cells below the training range."""
        edges = self.cells.edges
        return FIRST + np.flatnonzero(edges <= self.cells.lowest)

    @property
    def above(self) -> np.ndarray:
        """The cells above the training range."""
        edges = self.cells.edges
        return FIRST + 1 + np.flatnonzero(edges > self.cells.highest)

    @property
    def unseen(self) -> int:
        """The cell of levels that training has never seen."""
        return self.cells.n_cells - 1


def find_fault(column: ColumnInBatch) -> str:
    """Find what is plainly wrong with a column.

    Parameters
    ----------
    column : ColumnInBatch

    Returns
    -------
    {"type", "missing", "unseen", "units", "range", "constant", ""}
        Empty if nothing is, or if there are fewer than 20 rows.
    """
    if column.rows < _FEWEST_ROWS:
        return ""
    if column.batch[FOREIGN] > _MOST:
        return "type"
    if column.batch[MISSING] == 1 and column.most_expected[MISSING] < _MOST:
        return "missing"
    if column.cells.is_number:
        if _other_units(column):
            return "units"
        if _left_its_range(column):
            return "range"
    elif column.cells.kind != "empty":
        unseen = column.batch[column.unseen] - column.cells.unseen_rate
        if unseen > _MOST:
            return "unseen"
    return "constant" if _is_constant(column) else ""


def _left_its_range(column: ColumnInBatch) -> bool:
    """Tell whether most values lie outside the range of training."""
    outside = np.concatenate([column.below, column.above])
    natural = max(column.positives[outside].sum(), column.negatives[outside].sum())
    return column.batch[outside].sum() > _MOST and natural < _NATURAL


def _is_constant(column: ColumnInBatch) -> bool:
    """Tell whether all values lie in one cell that is no majority in training."""
    own = column.batch[FIRST:]
    if len(own) == 0 or own.sum() * column.rows < _FEWEST_ROWS:
        return False
    cell = int(np.argmax(own))
    all_alike = own.max() == own.sum()
    # Among the values that are not missing: a column of one value and many gaps is as
    # constant in training.
    usual = 0.0
    for trained in (column.positives[FIRST:], column.negatives[FIRST:]):
        if trained.sum() > 0:
            usual = max(usual, trained[cell] / trained.sum())
    return bool(all_alike and usual < _MOST)


def _other_units(column: ColumnInBatch) -> bool:
    """Tell whether the median has moved by a factor between units."""
    windows = [unit_window(column.cells.median, factor) for factor in UNITS]
    # Columns that have no unit have no such edges.
    has_edges = np.isin(windows, column.cells.edges).all(axis=1)
    for place in np.flatnonzero(has_edges):
        moved = _median_within(column, column.batch, windows[place])
        # A prevalence that puts the median there explains it without other units.
        if moved and not _median_within(column, column.expected, windows[place]):
            return True
    return False


def _median_within(
    column: ColumnInBatch, shares: np.ndarray, window: tuple[float, float]
) -> bool:
    """Tell whether the median of some shares lies between two edges."""
    own = shares[FIRST:]
    if own.sum() == 0:
        return False
    below_edge = np.cumsum(own)[:-1] / own.sum()
    low, high = np.searchsorted(column.cells.edges, window)
    return bool(below_edge[low] < 0.5 <= below_edge[high])
