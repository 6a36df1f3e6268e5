"""The tests of columns against training, and what is plainly wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import fdtrc

from cape._columns import FIRST, FOREIGN, MISSING, ColumnCells
from cape._drift._mixture import excess_share, smoothed_shares
from cape.quantify._base import mixture, noise_weights

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


def fit_columns(
    cells: Sequence[ColumnCells], counts: np.ndarray, prevalence: np.ndarray
) -> dict[str, np.ndarray]:
    """Test the columns of all groups, each at a prevalence.

    Parameters
    ----------
    cells : sequence of ColumnCells
    counts : ndarray of shape (3, n_groups, n_columns, n_cells)
        Those of positives and negatives in training, and of the batch; 0 beyond the
        cells of a column. See `TableCells.by_column`.
    prevalence : ndarray of shape (n_groups, n_columns)
        What the scores say.

    Returns
    -------
    dict from str to ndarray of shape (n_groups, n_columns)
        The fields of `ColumnFit`, in their order.

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
    rho = prevalence[..., None]
    n1, n0, rows = _total(counts)
    expected = mixture(rho, counts[0] / n1, counts[1] / n0) * rows
    merged = _merge(cells, np.minimum(expected, counts[0] + counts[1]))
    positives, negatives, batch = (_sums(part, merged) for part in counts)
    df = merged.max(axis=-1)
    used = np.arange(merged.shape[-1]) <= df[..., None]
    p = smoothed_shares(positives, used)
    n = smoothed_shares(negatives, used)
    direction = p - n
    for _ in range(_EM_STEPS):
        share_of_positives = rho * p / np.where(used, mixture(rho, p, n), 1)
        positive_rows = batch * share_of_positives
        p = smoothed_shares(positives + positive_rows, used)
        n = smoothed_shares(negatives + batch - positive_rows, used)
    residual = batch / rows - mixture(rho, positives / n1, negatives / n0)
    noise = noise_weights(rho, rows, n1, n0)
    weighted = _weigh(residual, p, n, noise, used)
    statistic = np.maximum(_total(residual * weighted), 0)[..., 0]
    # The prevalence that this column by itself speaks for, by least squares.
    information = _total(direction * _weigh(direction, p, n, noise, used))[..., 0]
    tells_apart = information >= _LEAST_INFORMATION
    information = np.where(tells_apart, information, 1)
    step = _total(direction * weighted)[..., 0] / information
    # F and not chi-square: the covariance is estimated from few rows, too.
    tested_df = np.maximum(df, 1)
    fewest = np.minimum(n1, n0)[..., 0]
    p_value = fdtrc(tested_df, 2 * fewest, statistic / tested_df)
    tested = df > 0
    effect = excess_share(residual, statistic, df)
    return {
        "statistic": np.where(tested, statistic, 0),
        "df": df,
        "p_value": np.where(tested, p_value, 1),
        "effect": np.where(tested, effect, 0),
        "prevalence": np.where(tested, prevalence + tells_apart * step, np.nan),
        "error": np.where(tested & tells_apart, information**-0.5, np.inf),
    }


def _total(counts: np.ndarray) -> np.ndarray:
    return counts.sum(axis=-1, keepdims=True)


def _weigh(
    vector: np.ndarray,
    p: np.ndarray,
    n: np.ndarray,
    noise: tuple[Any, Any],
    used: np.ndarray,
) -> np.ndarray:
    """Multiply a vector by the inverse of the covariance of `fit_columns`.

    The covariance is diagonal but for the products p p' and n n', so that it is
    inverted without a matrix (Woodbury 1950). The first cell is left out: the others
    determine it.
    """
    w1, w0 = noise
    p, n = p.copy(), n.copy()
    p[..., 0] = n[..., 0] = 0
    diagonal = np.where(used, w1 * p + w0 * n, 1)
    diagonal[..., 0] = np.inf
    p_part = p / diagonal
    n_part = n / diagonal
    pp = 1 / w1 - _total(p * p_part)
    nn = 1 / w0 - _total(n * n_part)
    pn = _total(p * n_part)
    determinant = pp * nn - pn**2
    of_p = _total(vector * p_part)
    of_n = _total(vector * n_part)
    added = (nn * of_p + pn * of_n) * p_part + (pn * of_p + pp * of_n) * n_part
    return vector / diagonal + added / determinant


def _sums(counts: np.ndarray, merged: np.ndarray) -> np.ndarray:
    """Sum up the counts of cells that were merged."""
    n_cells = merged.shape[-1]
    first = np.arange(0, merged.size, n_cells).reshape(*merged.shape[:-1], 1)
    sums = np.bincount((first + merged).ravel(), counts.ravel(), merged.size)
    return sums.reshape(merged.shape)


def _merge(cells: Sequence[ColumnCells], rows: np.ndarray) -> np.ndarray:
    """Merge cells until each has eight rows; return the number of each merged cell.

    What lies outside the training range joins its neighbour: its share in training is 0
    by construction, and a test of it would reject too often.
    """
    merged = np.zeros(rows.shape, dtype=int)
    are_numbers = np.array([column.is_number for column in cells])
    merged[:, are_numbers] = _merge_neighbours(rows[:, are_numbers])
    are_texts = ~are_numbers & [column.kind != "empty" for column in cells]
    n_cells = np.array([column.n_cells for column in cells])[are_texts]
    merged[:, are_texts] = _merge_rare(n_cells, rows[:, are_texts])
    return merged


def _merge_neighbours(rows: np.ndarray) -> np.ndarray:
    """Merge cells with the next ones; missing values are a cell if they are enough."""
    merged = np.zeros(rows.shape, dtype=int)
    last = np.zeros(rows.shape[:-1], dtype=int)
    in_last = np.zeros(rows.shape[:-1])
    in_previous = in_last
    for cell in range(FIRST, rows.shape[-1]):
        is_full = in_last >= _ROWS_PER_CELL
        last += is_full
        in_previous = np.where(is_full, in_last, in_previous)
        in_last = np.where(is_full, 0, in_last) + rows[..., cell]
        merged[..., cell] = last
    joins = (last > 0) & (in_last < _ROWS_PER_CELL)
    last -= joins
    in_last = np.where(joins, in_previous + in_last, in_last)
    merged = np.minimum(merged, last[..., None])
    unknown = rows[..., MISSING] + rows[..., FOREIGN]
    last += np.minimum(unknown, in_last) >= _ROWS_PER_CELL
    merged[..., MISSING] = last
    merged[..., FOREIGN] = last
    return merged


def _merge_rare(n_cells: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Merge levels that are too rare with those that have no cell of their own."""
    cell = np.arange(rows.shape[-1])
    has_level = (cell != FOREIGN) & (cell < n_cells[:, None] - 2)
    is_own = has_level & (rows >= _ROWS_PER_CELL)
    merged = np.cumsum(is_own, axis=-1) - 1
    n_own = _total(is_own)
    in_rare = _total(np.where(is_own, 0, rows))
    smallest = np.where(is_own, rows, np.inf).argmin(axis=-1)[..., None]
    joins = (in_rare < _ROWS_PER_CELL) & (n_own > 0)
    rare = np.where(joins, np.take_along_axis(merged, smallest, axis=-1), n_own)
    return np.where(is_own, merged, rare)


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
    unit_factor : float, default=0.0
        The factor between units by which the median has moved; 0 if by none.
    """

    cells: ColumnCells
    positives: np.ndarray
    negatives: np.ndarray
    batch: np.ndarray
    rows: int
    prevalence: float
    unit_factor: float = 0.0

    @property
    def expected(self) -> np.ndarray:
        """Shares of a batch of this prevalence under prior shift."""
        rest = 1 - self.prevalence
        return self.prevalence * self.positives + rest * self.negatives


def find_faults(
    cells: Sequence[ColumnCells],
    shares: np.ndarray,
    rows: np.ndarray,
    prevalence: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Find what is plainly wrong with columns.

    Parameters
    ----------
    cells : sequence of ColumnCells
    shares : ndarray of shape (3, n_groups, n_columns, n_cells)
        Of the cells, as counts in `fit_columns`.
    rows : ndarray of shape (n_groups, n_columns)
        Rows of the batch.
    prevalence : ndarray of shape (n_groups, n_columns)
        What the scores say.

    Returns
    -------
    faults : ndarray of shape (n_groups, n_columns)
        "type", "missing", "units", "range", "unseen" or "constant"; empty if nothing is
        wrong, or if there are fewer than 20 rows.
    unit_factors : ndarray of shape (n_groups, n_columns)
        The factor between units by which the median has moved; 0 if by none.
    """
    positives, negatives, batch = shares
    usual = np.maximum(positives, negatives)
    expected = mixture(prevalence[..., None], positives, negatives)
    all_missing = (batch[..., MISSING] == 1) & (usual[..., MISSING] < _MOST)
    factors = _unit_factors(cells, batch, expected)
    is_outside = np.zeros(usual.shape[1:], dtype=bool)
    unseen = np.zeros(rows.shape)
    for place, column in enumerate(cells):
        if column.is_number:
            is_outside[place, column.below] = True
            is_outside[place, column.above] = True
        elif column.kind != "empty":
            in_batch = batch[:, place, column.n_cells - 1]
            unseen[:, place] = in_batch - column.unseen_rate
    *trained, outside = (shares * is_outside).sum(axis=-1)
    natural = np.maximum(*trained)
    conditions = {
        "type": batch[..., FOREIGN] > _MOST,
        "missing": all_missing,
        "units": factors > 0,
        "range": (outside > _MOST) & (natural < _NATURAL),
        "unseen": unseen > _MOST,
        "constant": _are_constant(shares[..., FIRST:], rows),
    }
    faults = np.select(list(conditions.values()), list(conditions), "")
    return np.where(rows < _FEWEST_ROWS, "", faults), factors


def _are_constant(shares: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Tell where all values lie in one cell that is no majority in training."""
    *of_classes, batch = shares
    if batch.shape[-1] == 0:
        return np.zeros(rows.shape, dtype=bool)
    present = batch.sum(axis=-1)
    are_alike = (batch.max(axis=-1) == present) & (present * rows >= _FEWEST_ROWS)
    cell = batch.argmax(axis=-1)[..., None]
    # Among the values that are not missing: a column of one value and many gaps is as
    # constant in training.
    for trained in of_classes:
        usual = np.take_along_axis(trained, cell, axis=-1)[..., 0]
        present = trained.sum(axis=-1)
        are_alike &= (usual < _MOST * present) | (present == 0)
    return are_alike


def _unit_factors(
    cells: Sequence[ColumnCells], batch: np.ndarray, expected: np.ndarray
) -> np.ndarray:
    """Return the factors between units by which medians have moved; 0 if by none."""
    factors = np.zeros(batch.shape[:-1])
    windows = []
    for place, column in enumerate(cells):
        windows += [(place, *unit) for unit in column.units]
    # Columns that have no unit have no such edges.
    if not windows:
        return factors
    columns, of_windows, lows, highs = np.array(windows).T
    places = columns.astype(int), lows.astype(int), highs.astype(int)
    moved = _medians_within(batch, *places)
    # A prevalence that puts the median there explains it without other units.
    moved &= ~_medians_within(expected, *places)
    groups, found = np.nonzero(moved)
    factors[groups, places[0][found]] = of_windows[found]
    return factors


def _medians_within(
    shares: np.ndarray, columns: np.ndarray, lows: np.ndarray, highs: np.ndarray
) -> np.ndarray:
    """Tell where the medians of some columns lie between two of their edges."""
    below_edge = np.cumsum(shares[..., FIRST:], axis=-1)
    half = below_edge[:, columns, -1] / 2
    below_low = below_edge[:, columns, lows]
    return (below_low < half) & (half <= below_edge[:, columns, highs])


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
        From `find_faults`.
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
            "factor": column.unit_factor,
            "median": column.cells.median,
        }
    # The nine largest values of training lie above its range as well.
    above = _both_shares(column, column.cells.above)
    below = _both_shares(column, column.cells.below)
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
    share = column.batch[column.cells.n_cells - 1]
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
