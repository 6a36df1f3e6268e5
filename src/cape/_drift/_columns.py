"""The test of one column against training, and what is plainly wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import fdtrc

from cape._columns import FIRST, FOREIGN, MISSING, ColumnCells
from cape._drift._mixture import excess_share, multinomial_covariance

_ROWS_PER_CELL = 8
_EM_STEPS = 3
_LEAST_INFORMATION = 1e-6
"""Below, a column's own prevalence would have a standard error of a thousand."""


@dataclass(frozen=True)
class ColumnFit:
    """How well a column of a batch fits the mixture at the estimated prevalence.

    Parameters
    ----------
    statistic : float
        Squared distance to the mixture in units of its noise. Under prior shift
        ``statistic / df`` has an F distribution.
    df : int
        Degrees of freedom; 0 if there were too few rows or only one cell.
    p_value : float
        Probability of a statistic as large under prior shift.
    effect : float
        Share of the rows that would have to change their cell, beyond noise.
    prevalence : float
        The prevalence that this column by itself speaks for. It may lie outside [0, 1].
    error : float
        Standard error of that prevalence; infinite if the column does not tell the
        classes apart.
    """

    statistic: float = 0.0
    df: int = 0
    p_value: float = 1.0
    effect: float = 0.0
    prevalence: float = float("nan")
    error: float = float("inf")


def fit_column(
    cells: ColumnCells,
    positives: np.ndarray,
    negatives: np.ndarray,
    batch: np.ndarray,
    prevalence: float,
) -> ColumnFit:
    """Test one column of a batch at a prevalence.

    Parameters
    ----------
    cells : ColumnCells
    positives, negatives, batch : ndarray of shape (n_cells,)
        Counts of the two classes in training, and of the batch.
    prevalence : float
        What the scores say.

    Returns
    -------
    ColumnFit

    Notes
    -----
    Let p, n and b be the shares of the cells, N1, N0 and R the rows. Under prior shift
    ``e = b - rho p - (1 - rho) n`` has mean 0 and the covariance ::

        (rho / R + rho^2 / N1) S(p) + ((1 - rho) / R + (1 - rho)^2 / N0) S(n)

    with S(p) = diag(p) - p p'. In the covariance, p and n are estimated from training
    and batch together under the null, by three steps of EM: with the shares of
    training alone the test rejects too often where cells are rare.

    The noise of the estimated rho is left out. If the scores tell all there is to know
    of rho, the noise of e and of rho cancel (Hausman 1978); in simulations the level
    is kept without it, and power is lost with it.
    """
    expected = _shares(prevalence, positives, negatives) * batch.sum()
    merged = _merge(cells, expected, positives + negatives)
    if len(merged) < 2:
        return ColumnFit()
    test = _MixtureTest(
        positives=_sums(positives, merged),
        negatives=_sums(negatives, merged),
        batch=_sums(batch, merged),
        rho=prevalence,
    )
    return test.fit()


@dataclass(frozen=True)
class _MixtureTest:
    """Counts of the cells that are tested, and the prevalence."""

    positives: np.ndarray
    negatives: np.ndarray
    batch: np.ndarray
    rho: float

    def fit(self) -> ColumnFit:
        p, n = self._null_shares()
        n1 = self.positives.sum()
        n0 = self.negatives.sum()
        rows = self.batch.sum()
        rho = self.rho
        covariance = (rho / rows + rho**2 / n1) * multinomial_covariance(p)
        rest = 1 - rho
        covariance += (rest / rows + rest**2 / n0) * multinomial_covariance(n)
        precision = np.linalg.inv(covariance)
        residual = self.batch / rows - _shares(rho, self.positives, self.negatives)
        # The last cell is left out: the others determine it.
        first = residual[:-1]
        statistic = float(first @ precision @ first)
        df = len(first)
        step, error = self._step_from_rho(first, precision)
        return ColumnFit(
            statistic=statistic,
            df=df,
            # F and not chi-square: the covariance is estimated from few rows, too.
            p_value=float(fdtrc(df, 2 * min(n1, n0), statistic / df)),
            effect=excess_share(residual, statistic, df),
            prevalence=rho + step,
            error=error,
        )

    def _step_from_rho(
        self, residual: np.ndarray, precision: np.ndarray
    ) -> tuple[float, float]:
        """Estimate the prevalence from this column alone, by least squares.

        Returns
        -------
        step, error : float
            How far it lies from the prevalence of the test, and its standard error.
        """
        p = _smoothed(self.positives)
        n = _smoothed(self.negatives)
        direction = (p - n)[:-1]
        weighted = direction @ precision
        information = float(weighted @ direction)
        if information < _LEAST_INFORMATION:
            return 0.0, float("inf")
        return float(weighted @ residual) / information, information**-0.5

    def _null_shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Estimate the shares of both classes from training and batch together."""
        p = _smoothed(self.positives)
        n = _smoothed(self.negatives)
        for _ in range(_EM_STEPS):
            share_of_positives = self.rho * p / (self.rho * p + (1 - self.rho) * n)
            positive_rows = self.batch * share_of_positives
            p = _smoothed(self.positives + positive_rows)
            n = _smoothed(self.negatives + self.batch - positive_rows)
        return p, n


def _shares(rho: float, positives: np.ndarray, negatives: np.ndarray) -> np.ndarray:
    """Mix the shares of the two classes."""
    p = positives / positives.sum()
    n = negatives / negatives.sum()
    return rho * p + (1 - rho) * n


def _smoothed(counts: np.ndarray) -> np.ndarray:
    """Return shares with half a row added to every cell, so that none is 0."""
    smoothed = counts + 0.5
    return smoothed / smoothed.sum()


def _sums(counts: np.ndarray, merged: list[list[int]]) -> np.ndarray:
    return np.array([counts[cells].sum() for cells in merged], dtype=float)


def _merge(
    cells: ColumnCells, expected: np.ndarray, trained: np.ndarray
) -> list[list[int]]:
    """Merge cells until each expects eight rows.

    What lies outside the training range joins its neighbour: its share in training is 0
    by construction, and a test of it would reject too often.
    """
    enough = np.minimum(expected, trained)
    if cells.is_number:
        return _merge_neighbours(list(range(FIRST, cells.n_cells)), enough)
    if cells.kind == "empty":
        return []
    return _merge_rare(cells, enough)


def _merge_neighbours(order: list[int], rows: np.ndarray) -> list[list[int]]:
    """Merge cells with the next ones; missing values are a cell if they are enough."""
    merged: list[list[int]] = [[]]
    for cell in order:
        if rows[merged[-1]].sum() >= _ROWS_PER_CELL:
            merged.append([])
        merged[-1].append(cell)
    if len(merged) > 1 and rows[merged[-1]].sum() < _ROWS_PER_CELL:
        last = merged.pop()
        merged[-1] += last
    unknown = [MISSING, FOREIGN]
    if min(rows[unknown].sum(), rows[merged[-1]].sum()) >= _ROWS_PER_CELL:
        merged.append(unknown)
    else:
        merged[-1] += unknown
    return merged


def _merge_rare(cells: ColumnCells, rows: np.ndarray) -> list[list[int]]:
    """Merge levels that are too rare with those that have no cell of their own."""
    rare = [FOREIGN, cells.n_cells - 2, cells.n_cells - 1]
    merged = []
    for cell in [MISSING, *range(FIRST, cells.n_cells - 2)]:
        if rows[cell] >= _ROWS_PER_CELL:
            merged.append([cell])
        else:
            rare.append(cell)
    if rows[rare].sum() >= _ROWS_PER_CELL or not merged:
        merged.append(rare)
    else:
        smallest = min(merged, key=lambda cell: rows[cell].sum())
        smallest += rare
    return merged


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
        if _changed_unit(column):
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


def _changed_unit(column: ColumnInBatch) -> float:
    """Return the factor between units by which the median has moved; 0 if by none."""
    # Columns that have no unit have no such edges.
    for factor, window in column.cells.units:
        moved = _median_within(column, column.batch, window)
        # A prevalence that puts the median there explains it without other units.
        if moved and not _median_within(column, column.expected, window):
            return factor
    return 0.0


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


_WORTH_NAMING = 0.02
"""Share of the rows from which on missing and unseen values are spoken of."""

_ROWS_OF_A_NAME = 30
"""Rows of a value never seen in training before it is named: single people are not."""


def what_happened(
    column: ColumnInBatch, fault: str, effect: float, unseen: Mapping[str, int]
) -> tuple[str, dict[str, Any]]:
    """Find what has happened to a column that a person can act on.

    Parameters
    ----------
    column : ColumnInBatch
    fault : str
        From `find_fault`.
    effect : float
        Share of the rows that would have to change their cell, beyond noise.
    unseen : mapping from str to int
        Values never seen in training, and their rows.

    Returns
    -------
    code, numbers : str, dict
        `cape._wording._results.what_happened` has the words.
    """
    batch = column.batch
    expected = column.expected
    if fault == "type" or (fault != "units" and batch[FOREIGN] > _WORTH_NAMING):
        return "type", {"share": batch[FOREIGN], "kind": column.cells.kind}
    missing = _both_shares(column, MISSING)
    more_missing = abs(missing["share"] - missing["expected"])
    if fault != "units" and more_missing > max(_WORTH_NAMING, effect / 2):
        return "missing", missing
    if not column.cells.is_number:
        return _of_levels(column, effect, unseen)
    if 0 in (batch[FIRST:].sum(), expected[FIRST:].sum()):
        return "missing", missing
    if fault == "units":
        return "units", {
            "factor": _changed_unit(column),
            "median": column.cells.median,
        }
    # The nine largest values of training lie above its range as well.
    above = _both_shares(column, column.above)
    below = _both_shares(column, column.below)
    more_above = above["share"] - above["expected"]
    more_below = below["share"] - below["expected"]
    present = {"present": 1 - batch[MISSING], "rows": column.rows}
    if more_above > _WORTH_NAMING and more_above > more_below:
        return "above", {**above, "end": column.cells.highest, **present}
    if more_below > _WORTH_NAMING:
        return "below", {**below, "end": column.cells.lowest, **present}
    edges = column.cells.edges
    if fault == "constant":
        # Not an outer cell: that would be above or below the range of training.
        cell = int(np.argmax(batch[FIRST:]))
        shares = _both_shares(column, FIRST + cell)
        ends = {"low": edges[cell - 1], "high": edges[cell]}
        return "constant", {**shares, **ends, **present}
    # The edge at which batch and training differ most.
    difference = np.cumsum(batch[FIRST:] - expected[FIRST:])[:-1]
    place = int(np.argmax(np.abs(difference)))
    shares = _both_shares(column, slice(FIRST, FIRST + place + 1))
    return "edge", {**shares, "end": edges[place]}


def _both_shares(column: ColumnInBatch, cells: Any) -> dict[str, Any]:
    """Return the share of some cells in a batch, which is exact, and as expected."""
    return {
        "share": column.batch[cells].sum(),
        "expected": column.expected[cells].sum(),
    }


def _of_levels(
    column: ColumnInBatch, effect: float, unseen: Mapping[str, int]
) -> tuple[str, dict[str, Any]]:
    """Find which levels are new, or which one has become more or less frequent."""
    share = column.batch[column.unseen]
    if share - column.cells.unseen_rate > _WORTH_NAMING:
        ordered = sorted(unseen.items(), key=lambda item: -item[1])
        names = [name for name, rows in ordered if rows >= _ROWS_OF_A_NAME]
        return "unseen", {"share": share, "names": names}
    difference = column.batch - column.expected
    own = difference[FIRST : FIRST + len(column.cells.levels)]
    if len(own) == 0:
        return "moved", {"share": effect}
    level = int(np.argmax(np.abs(own)))
    shares = _both_shares(column, FIRST + level)
    return "level", {**shares, "level": column.cells.levels[level]}
