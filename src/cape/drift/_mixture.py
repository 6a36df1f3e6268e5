"""The tests of scores and of columns against a mixture of the two classes of training.

Under prior shift the scores of a batch, and each of its columns, are a mixture of those
of the two classes in training, with some prevalence. The test of scores fits the best
mixture, that of a column takes the prevalence that the scores say. Both ask whether
what is left is more than noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc, fdtrc

from cape.evidence._columns import FIRST, FOREIGN, MISSING, ColumnCells
from cape.evidence._histogram import CELLS, ScoreHistogram, nested_cuts
from cape.quantify._base import mixture, noise_weights

_ROWS_PER_CELL = 8

# The covariance depends on the prevalence, so least squares are iterated. They settle
# after three to six steps.
_MAX_STEPS = 20
_TOLERANCE = 1e-4

_LEAST_STATISTIC = 1e-12
"""Below, all is noise."""

_EM_STEPS = 3
_LEAST_INFORMATION = 1e-6
"""Below, a column's own prevalence would have a standard error of a thousand."""


@dataclass(frozen=True)
class MixtureFit:
    """How well the best mixture of the two classes explains a batch.

    Parameters
    ----------
    prevalence : float
        Prevalence of the best mixture, NaN if there was no test.
    statistic : float
        Squared distance to the best mixture in units of its noise. Under prior shift it
        has a chi-square distribution with ``df`` degrees of freedom.
    df : int
        Degrees of freedom, 0 if there were too few rows or too few different scores.
    p_value : float
        Probability of a statistic as large under prior shift.
    effect : float
        Share of the batch that no mixture explains, beyond what noise would leave.
    """

    prevalence: float = float("nan")
    statistic: float = 0.0
    df: int = 0
    p_value: float = 1.0
    effect: float = 0.0


def fit_mixture(
    positives: ScoreHistogram,
    negatives: ScoreHistogram,
    batch: ScoreHistogram,
    agreements: np.ndarray | None = None,
) -> MixtureFit:
    """Fit a mixture of the two classes to a batch, and test the fit.

    Parameters
    ----------
    positives, negatives : ScoreHistogram
        Out-of-fold scores of the two classes in training.
    batch : ScoreHistogram
        Scores of the batch, with the same edges.
    agreements : ndarray of int64 of shape (3,), default=None
        For a batch with several scores a row, how often they agree; see
        `count_agreements`. None treats the scores of a row as one.

    Returns
    -------
    MixtureFit

    Notes
    -----
    Let p, n and b be the shares of the cells among the positives, the negatives and the
    batch. Under prior shift with prevalence rho, b - rho p - (1 - rho) n has mean 0 and
    the covariance::

        (rho S(p) + (1 - rho) S(n)) / rows + rho^2 S(p) / N1 + (1 - rho)^2 S(n) / N0

    with S(p) = diag(p) - p p'. The last two terms are the noise of the training
    histograms. The generalised least square over rho is chi-square with cells - 2
    degrees of freedom, or cells - 1 if the best rho lies outside [0, 1] and is held at
    the end.

    Examples
    --------
    >>> from cape.evidence._histogram import ScoreHistogram, round_scores
    >>> edges = round_scores([0.25, 0.5, 0.75])
    >>> def histogram(*counts):
    ...     return ScoreHistogram.of(np.repeat([0, *edges + 1], counts), edges)
    >>> high, low = histogram(100, 200, 300, 400), histogram(400, 300, 200, 100)
    >>> fit_mixture(high, low, histogram(50, 50, 50, 50)).p_value > 0.9
    True
    >>> fit_mixture(high, low, histogram(90, 10, 10, 90)).p_value < 0.001
    True
    """
    fields = fit_mixtures([(positives, negatives, batch, agreements)])
    return MixtureFit(*(values.item() for values in fields.values()))


def fit_mixtures(cases: Sequence[tuple[Any, ...]]) -> dict[str, np.ndarray]:
    """Fit mixtures to several batches at once.

    Parameters
    ----------
    cases : sequence of tuple
        The arguments of `fit_mixture`, for each group.

    Returns
    -------
    dict from str to ndarray of shape (n_groups,)
        The fields of `MixtureFit`, in their order.
    """
    fields = {}
    for name, default in vars(MixtureFit()).items():
        fields[name] = np.full(len(cases), default)
    sizes = np.array([[part.size for part in parts] for *parts, _ in cases], float)
    fineness = _fineness(sizes.min(axis=1))
    filled = np.flatnonzero(fineness >= 0).tolist()
    if not filled:
        return fields
    fineness = fineness[filled]
    n1, n0, rows = sizes[filled].T[..., None].copy()
    *histograms, agreements = zip(*(cases[place] for place in filled), strict=True)
    counts, used = _merged_counts(histograms, fineness)
    b = counts[2] / _total(counts[2])
    for place, agreeing in enumerate(agreements):
        if agreeing is not None:
            agreeing = agreeing[fineness[place]]
            rows[place] /= _design_effect(b[place], agreeing, histograms[2][place])
    p = smoothed_shares(counts[0], used)
    n = smoothed_shares(counts[1], used)
    rho, unrestricted, residual, statistic = nearest_mixture(
        p, n, b, (n1, n0, rows), used
    )
    # Held at an end, rho is no longer fitted and costs no degree of freedom.
    df = used.sum(axis=1) - 1 - (unrestricted == rho)[:, 0]
    # Fewer than three cells can be fitted by any two classes.
    tested = used.sum(axis=1) > 2
    found = {
        "prevalence": rho[:, 0],
        "statistic": statistic,
        "df": df,
        "p_value": chdtrc(df, statistic),
        "effect": excess_share(residual, statistic, df),
    }
    for name, values in found.items():
        fields[name][np.array(filled)[tested]] = values[tested]
    return fields


def nearest_mixture(
    p: np.ndarray,
    n: np.ndarray,
    b: np.ndarray,
    sizes: tuple[Any, Any, np.ndarray],
    used: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Find the mixture of the classes that is nearest to a batch; see `fit_mixture`.

    Parameters
    ----------
    p, n, b : ndarray of shape (..., n_cells)
        Shares of the cells in both classes and in the batch.
    sizes : tuple of ndarray of shape (..., 1)
        Rows of the classes, and of the batch.
    used : ndarray of bool of shape (..., n_cells)
        Which cells there are.

    Returns
    -------
    rho, unrestricted : ndarray of shape (..., 1)
        Its prevalence, and the one that would be best if it could leave [0, 1].
    residual : ndarray of shape (..., n_cells)
    statistic : ndarray of shape (...,)
    """
    n1, n0, rows = sizes
    direction = p - n
    target = b - n
    rho = np.full(rows.shape, 0.5)
    noise = np.zeros((2, *rho.shape))
    settled = np.zeros(rho.shape, dtype=bool)
    for _ in range(_MAX_STEPS):
        noise = np.where(settled, noise, noise_weights(rho, rows, n1, n0))
        weighted = _weigh(direction, p, n, noise, used)
        information = _total(weighted * direction)
        unrestricted = np.divide(
            _total(weighted * target),
            information,
            out=np.full_like(rho, 0.5),
            where=information > 0,
        )
        previous = rho
        rho = np.clip(unrestricted, 0.0, 1.0)
        settled = np.abs(rho - previous) < _TOLERANCE
        if settled.all():
            break
    residual = np.where(used, target - rho * direction, 0.0)
    square = _total(residual * _weigh(residual, p, n, noise, used))[..., 0]
    return rho, unrestricted, residual, np.maximum(square, 0.0)


def _merged_counts(
    histograms: Sequence[Sequence[ScoreHistogram]], fineness: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Count the scores of each group in the cells of its test.

    The edges between the cells are those of `nested_cuts`.

    Returns
    -------
    counts : ndarray of shape (3, n_groups, 16)
        Of positives, negatives and batch.
    used : ndarray of bool of shape (n_groups, 16)
        Which cells there are.
    """
    n_cells = np.array([len(histogram.counts) for histogram in histograms[0]])
    counts = np.zeros((3, len(n_cells), n_cells.max()))
    for of_part, part in zip(counts, histograms, strict=True):
        for row, histogram in zip(of_part, part, strict=True):
            row[: len(histogram.counts)] = histogram.counts
    below = np.cumsum(counts, axis=-1)
    shares = counts[:2] / below[:2, :, -1:]
    below_edge = np.cumsum((shares[0] + shares[1]) / 2, axis=-1)
    most = CELLS[-1]
    levels = np.arange(1, most) / most - 1e-9
    # A table of all groups rises from row to row.
    offset = 2.0 * np.arange(len(n_cells))[:, None]
    flat = np.searchsorted((below_edge + offset).ravel(), levels + offset)
    places = flat - np.arange(len(n_cells))[:, None] * n_cells.max()
    last = n_cells[:, None] - 1
    ends = np.hstack([np.full_like(last, -1), np.minimum(places, last), last])
    # Coarser cells have some of these ends, and reach up to the next one of them.
    step = np.take(most // np.array(CELLS), fineness)[:, None]
    coarse = np.arange(most + 1) // step * step
    ends = np.take_along_axis(ends, coarse, axis=1)
    used = np.diff(ends) > 0
    below = np.concatenate([np.zeros((3, len(n_cells), 1)), below], axis=-1)
    merged = np.diff(np.take_along_axis(below, ends[None] + 1, axis=-1))
    return merged, used


def excess_share(residual: np.ndarray, statistic: Any, df: Any) -> Any:
    """Return the share of the batch that the mixture misses, beyond noise.

    Half of the sum of absolute residuals is the share of rows that would have to change
    their cell. Noise alone leaves a statistic of ``df`` in the mean, so only the share
    1 - df / statistic of the squared distance counts.
    """
    missed = np.abs(residual).sum(axis=-1) / 2
    noise = df / np.maximum(statistic, _LEAST_STATISTIC)
    return missed * np.sqrt(np.maximum(1 - noise, 0))


def _design_effect(
    b: np.ndarray,
    agreements: int,
    batch: ScoreHistogram,
) -> float:
    """Return by how much the variance shrinks since a row has several scores.

    As in survey sampling (Kish 1965), the scores of a row are a cluster. With x the
    shares of a row's scores in the cells, the total variance of a row is E|x|^2 -
    |b|^2, and that of a row with a single score is 1 - |b|^2. ``agreements`` is the sum
    of |x|^2 in units of 1 / K^2.
    """
    single_score = 1 - b @ b
    if single_score <= 0:
        return 1.0
    mean_square = agreements / (batch.size * batch.unit**2)
    ratio = (mean_square - b @ b) / single_score
    # K independent scores divide the variance by K, and no scores by more.
    ratio = max(ratio, 1 / batch.unit)
    return float(min(ratio, 1.0))


def mixture_cuts(
    positives: ScoreHistogram, negatives: ScoreHistogram, rows: float
) -> np.ndarray:
    """Return the edges between as many cells as so many rows fill; none if too few."""
    fineness = _fineness(rows)
    if fineness < 0:
        return positives.edges[:0]
    return nested_cuts(positives, negatives)[fineness]


def _fineness(rows: Any) -> Any:
    """Return which cells are the finest that so many rows fill; -1 if none are."""
    return np.searchsorted(np.multiply(CELLS, _ROWS_PER_CELL), rows, "right") - 1


def smoothed_shares(counts: np.ndarray, used: np.ndarray | bool = True) -> np.ndarray:
    """Return shares with half a row added to every cell in use, so that none is 0."""
    smoothed = (counts + 0.5) * used
    return smoothed / smoothed.sum(axis=-1, keepdims=True)


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
    cells: Sequence[ColumnCells],
    counts: np.ndarray,
    prevalence: np.ndarray,
    error: np.ndarray | float = 0.0,
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
    error : float or ndarray of shape (n_groups, 1), default=0.0
        Its standard error.

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

    The noise of the estimated rho is left out where it is less than that of the
    column's own. If the scores tell all there is to know of rho, the noise of e and of
    rho cancel (Hausman 1978); in simulations the level is kept without it, and power is
    lost with it. Scores that tell less than a column are not so good: there, what the
    column says of rho counts as if it were as noisy as theirs.
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
    statistic = _total(residual * weighted)[..., 0]
    # The prevalence that this column by itself speaks for, by least squares.
    information = _total(direction * _weigh(direction, p, n, noise, used))[..., 0]
    tells_apart = information >= _LEAST_INFORMATION
    information = np.where(tells_apart, information, 1)
    step = _total(direction * weighted)[..., 0] / information
    noisier = np.maximum(information * error**2, 1)
    statistic = np.maximum(statistic - step**2 * information * (1 - 1 / noisier), 0)
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
    noise: Any,
    used: np.ndarray,
) -> np.ndarray:
    """Multiply a vector by the inverse of the covariance of `fit_columns`.

    The covariance is diagonal but for the products p p' and n n', so that it is
    inverted without a matrix (Woodbury 1950). The first cell is left out: the others
    determine it.
    """
    # So scaled, neither part of the noise may be 0 without harm.
    p = np.sqrt(noise[0]) * p
    n = np.sqrt(noise[1]) * n
    diagonal = np.where(used, np.sqrt(noise[0]) * p + np.sqrt(noise[1]) * n, 1)
    first = used.argmax(axis=-1)[..., None]
    np.put_along_axis(diagonal, first, np.inf, axis=-1)
    p_part = p / diagonal
    n_part = n / diagonal
    pp = 1 - _total(p * p_part)
    nn = 1 - _total(n * n_part)
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


def holm(p_values: Any) -> list[float]:
    """Adjust p-values for the number of tests by Holm's step-down method (1979).

    Rejecting where the adjusted p-value is below alpha makes a single false rejection
    with a probability of at most alpha, however the tests depend on each other.

    Parameters
    ----------
    p_values : array-like of float
        P-values of all tests.

    Returns
    -------
    list of float
        The adjusted p-values in the same order.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    # The smallest of m p-values is multiplied by m, the next by m - 1, ..., and none is
    # adjusted to less than one that is smaller than itself.
    factors = np.arange(len(p), 0, -1)
    stepped = np.maximum.accumulate(p[order] * factors)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted.tolist()
