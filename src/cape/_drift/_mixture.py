"""The test of scores against a mixture of the two classes of training.

Under prior shift the scores of a batch are a mixture of the training scores of the two
classes, with some prevalence. The test fits the best mixture and asks whether what is
left is more than noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import chdtrc

from cape._histogram import ONE, ScoreHistogram
from cape.quantify._base import noise_weights

# Three finenesses, nested so that agreements can be counted for all three at once. Few
# cells see little, and many cells have few rows each: a batch gets as many as its rows
# fill with eight in the mean, and chi-square is then a good approximation.
_CELLS = (4, 8, 16)
_ROWS_PER_CELL = 8

# The covariance depends on the prevalence, so least squares are iterated. They settle
# after three to six steps.
_MAX_STEPS = 20
_TOLERANCE = 1e-4

_LEAST_STATISTIC = 1e-12
"""Below, all is noise."""


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
    >>> from cape._histogram import ScoreHistogram, round_scores
    >>> edges = round_scores([0.25, 0.5, 0.75])
    >>> def histogram(*counts):
    ...     return ScoreHistogram.of(np.repeat([0, *edges + 1], counts), edges)
    >>> high, low = histogram(100, 200, 300, 400), histogram(400, 300, 200, 100)
    >>> fit_mixture(high, low, histogram(50, 50, 50, 50)).p_value > 0.9
    True
    >>> fit_mixture(high, low, histogram(90, 10, 10, 90)).p_value < 0.001
    True
    """
    smallest = min(positives.size, negatives.size, batch.size)
    cuts = mixture_cuts(positives, negatives, smallest)
    if len(cuts) < 2:
        return MixtureFit()
    b = batch.merged(cuts) / batch.counts.sum()
    rows = batch.size
    if agreements is not None:
        rows = rows / _design_effect(b, agreements[_fineness(smallest)], batch)
    p = smoothed_shares(positives.merged(cuts))
    n = smoothed_shares(negatives.merged(cuts))
    direction = p - n
    target = b - n
    rho = 0.5
    for _ in range(_MAX_STEPS):
        w1, w0 = noise_weights(rho, rows, positives.size, negatives.size)
        precision = np.linalg.inv(w1 * _one_draw(p) + w0 * _one_draw(n))
        weighted = direction[:-1] @ precision
        information = weighted @ direction[:-1]
        unrestricted = 0.5
        if information > 0:
            unrestricted = float(weighted @ target[:-1] / information)
        previous = rho
        rho = min(max(unrestricted, 0.0), 1.0)
        if abs(rho - previous) < _TOLERANCE:
            break
    residual = target - rho * direction
    square = residual[:-1] @ precision @ residual[:-1]
    statistic = max(float(square), 0.0)
    # Held at an end, rho is no longer fitted and costs no degree of freedom.
    df = len(residual) - 1
    if unrestricted == rho:
        df -= 1
    effect = float(excess_share(residual, statistic, df))
    return MixtureFit(rho, statistic, df, float(chdtrc(df, statistic)), effect)


def _one_draw(shares: np.ndarray) -> np.ndarray:
    """Return the covariance of one multinomial draw, without the last cell.

    Shares sum to 1, so that the others determine it, and the covariance of all cells
    cannot be inverted.
    """
    first = shares[:-1]
    return np.diag(first) - np.outer(first, first)


def excess_share(residual: np.ndarray, statistic: Any, df: Any) -> Any:
    """Return the share of the batch that the mixture misses, beyond noise.

    Half of the sum of absolute residuals is the share of rows that would have to change
    their cell. Noise alone leaves a statistic of ``df`` in the mean, so only the share
    1 - df / statistic of the squared distance counts.
    """
    missed = np.abs(residual).sum(axis=-1) / 2
    noise = df / np.maximum(statistic, _LEAST_STATISTIC)
    return missed * np.sqrt(np.maximum(1 - noise, 0))


def count_agreements(
    scores: np.ndarray,
    positives: ScoreHistogram,
    negatives: ScoreHistogram,
) -> np.ndarray:
    """Count how often two scores of a row fall into one cell of the test.

    With ``scores="folds"`` a row has the scores of K models. The less they agree, the
    less noise the histogram of all scores has, and pooled counts do not tell how far
    they agree. Evidence carries this number, which adds up over rows, for each fineness
    of the test.

    Parameters
    ----------
    scores : ndarray of int64 of shape (n_models, n_rows)
        Rounded scores of each row by each model.
    positives, negatives : ScoreHistogram
        Out-of-fold scores of the two classes in training, which fix the cells.

    Returns
    -------
    ndarray of int64 of shape (3,)
        Ordered pairs of scores of the same row in the same cell, each score paired with
        itself too, for 4, 8 and 16 cells. A row adds between n_models, if no two of its
        scores agree, and n_models^2, if all agree.

    Examples
    --------
    >>> from cape._histogram import ScoreHistogram, edges_for, round_scores
    >>> low, high = round_scores([0.1, 0.2, 0.3]), round_scores([0.7, 0.8, 0.9])
    >>> edges = edges_for(high, low)
    >>> classes = ScoreHistogram.of(high, edges), ScoreHistogram.of(low, edges)
    >>> count_agreements(round_scores([[0.1, 0.1], [0.1, 0.9]]), *classes).tolist()
    [6, 6, 6]
    """
    nested = _nested_cuts(positives, negatives)
    finest = nested[-1]
    finest_cells = np.searchsorted(finest, scores, side="left")
    # Scores are looked up once, in the finest cells; a small table has the coarser
    # ones, in single bytes, which are compared fast.
    last_scores = np.append(finest, ONE)
    agreements = []
    for cuts in nested:
        coarser = np.searchsorted(cuts, last_scores, side="left")
        cells = coarser.astype(np.int8)[finest_cells]
        pairs = 0
        for one, other in combinations(cells, 2):
            pairs += int(np.count_nonzero(one == other))
        agreements.append(scores.size + 2 * pairs)
    return np.array(agreements, dtype=np.int64)


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
    if rows < _CELLS[0] * _ROWS_PER_CELL:
        return positives.edges[:0]
    return _nested_cuts(positives, negatives)[_fineness(rows)]


def _fineness(rows: float) -> int:
    """Return which cells are the finest that the smallest histogram fills."""
    return sum(rows >= cells * _ROWS_PER_CELL for cells in _CELLS) - 1


def _nested_cuts(
    positives: ScoreHistogram, negatives: ScoreHistogram
) -> list[np.ndarray]:
    """Return the edges between 4, 8 and 16 cells, each holding the edges before.

    They are quantiles of the training scores, where both classes weigh the same:
    otherwise a rare class would have all its scores in one cell.
    """
    shares = (positives.shares + negatives.shares) / 2
    below_edge = np.cumsum(shares)[:-1]
    most_cells = _CELLS[-1]
    levels = np.arange(1, most_cells) / most_cells
    # A level that is met exactly must not move to the next edge by rounding.
    places = np.searchsorted(below_edge, levels - 1e-9)
    edges = positives.edges
    nested = []
    for cells in _CELLS:
        step = most_cells // cells
        distinct = np.unique(places[step - 1 :: step])
        distinct = distinct[distinct < len(edges)]
        nested.append(edges[distinct])
    return nested


def smoothed_shares(counts: np.ndarray, used: np.ndarray | bool = True) -> np.ndarray:
    """Return shares with half a row added to every cell in use, so that none is 0."""
    smoothed = (counts + 0.5) * used
    return smoothed / smoothed.sum(axis=-1, keepdims=True)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the number of tests by Holm's step-down method (1979).

    Rejecting where the adjusted p-value is below alpha makes a single false rejection
    with a probability of at most alpha, however the tests depend on each other.

    Parameters
    ----------
    p_values : sequence of float
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
