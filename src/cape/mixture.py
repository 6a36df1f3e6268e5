"""Are a batch's scores any mixture of the two classes' training scores? The test of the prior-shift assumption."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from cape.histogram import ScoreHistogram

__all__ = ["MixtureFit", "fit_mixture"]

_ROWS_PER_CELL = 8
_MOST_CELLS = 15
_FEWEST_CELLS = 3


@dataclass(frozen=True)
class MixtureFit:
    """How well the best mixture of the classes explains a batch.

    Parameters
    ----------
    prevalence : float
        Of the best mixture.
    statistic : float
        Squared distance to it, in units of its noise; chi-square with ``df`` degrees of freedom under prior shift.
    df : int
        0 when there were too few rows to test.
    p_value : float
    effect : float
        Share of the batch that no mixture explains, beyond what noise would leave.
    """

    prevalence: float
    statistic: float
    df: int
    p_value: float
    effect: float


def fit_mixture(positives: ScoreHistogram, negatives: ScoreHistogram, batch: ScoreHistogram) -> MixtureFit:
    """Fit rho P + (1 - rho) N to a batch by generalised least squares, and test the fit.

    With p, n and b the shares of cells among the positives, the negatives and the batch, the residual
    b - rho p - (1 - rho) n has, under prior shift, mean 0 and the covariance

        (rho S(p) + (1 - rho) S(n)) / rows + rho^2 S(p) / N1 + (1 - rho)^2 S(n) / N0,    S(p) = diag(p) - p p',

    whose last two terms are the noise of the training histograms. The least weighted square over rho is chi-square
    with cells - 2 degrees of freedom, and cells - 1 when the best rho lies outside [0, 1] and is held at its end.

    Examples
    --------
    >>> from cape.histogram import edges_for, round_scores
    >>> random = np.random.default_rng(0)
    >>> positives, negatives = round_scores(random.beta(3, 1, 500)), round_scores(random.beta(1, 3, 500))
    >>> edges = edges_for(positives, negatives)
    >>> classes = [ScoreHistogram.of(scores, edges) for scores in (positives, negatives)]
    >>> mixed = round_scores(np.concatenate([random.beta(3, 1, 60), random.beta(1, 3, 140)]))
    >>> fit_mixture(*classes, ScoreHistogram.of(mixed, edges)).p_value > 0.05
    True
    >>> fit_mixture(*classes, ScoreHistogram.of(round_scores(random.beta(9, 9, 200)), edges)).p_value < 0.001
    True
    """
    cuts = _cuts(positives, negatives, batch)
    if len(cuts) + 1 < _FEWEST_CELLS:
        return MixtureFit(float("nan"), 0.0, 0, 1.0, 0.0)
    b = batch.merged(cuts) / batch.counts.sum()
    p, n = _smoothed(positives.merged(cuts)), _smoothed(negatives.merged(cuts))
    rho = free = 0.5
    for _ in range(20):
        inverse = np.linalg.inv(_covariance(p, n, rho, positives.size, negatives.size, batch.size))
        d, r = (p - n)[:-1], (b - n)[:-1]
        free = float(d @ inverse @ r / (d @ inverse @ d))
        moved, rho = abs(min(max(free, 0.0), 1.0) - rho), min(max(free, 0.0), 1.0)
        if moved < 1e-6:
            break
    residual = b - rho * p - (1 - rho) * n
    statistic = float(residual[:-1] @ inverse @ residual[:-1])
    df = len(b) - 2 + (free != rho)
    beyond_noise = np.sqrt(max(1 - df / statistic, 0.0)) if statistic > 0 else 0.0
    effect = float(np.abs(residual).sum() / 2 * beyond_noise)
    return MixtureFit(rho, statistic, df, float(chdtrc(df, statistic)), effect)


def _covariance(p, n, rho, n_positives, n_negatives, rows) -> np.ndarray:
    """Of the residual, without its last cell, which the others determine."""
    a = rho / rows + rho**2 / n_positives
    b = (1 - rho) / rows + (1 - rho) ** 2 / n_negatives
    p, n = p[:-1], n[:-1]
    return np.diag(a * p + b * n) - a * np.outer(p, p) - b * np.outer(n, n)


def _cuts(positives: ScoreHistogram, negatives: ScoreHistogram, batch: ScoreHistogram) -> np.ndarray:
    """Edges that cut both classes' training scores into cells with enough rows in each of the three histograms."""
    smallest = min(positives.size, negatives.size, batch.size)
    cells = int(min(smallest / _ROWS_PER_CELL, _MOST_CELLS))
    balanced = positives.shares + negatives.shares
    tally = np.cumsum(balanced)[:-1] / 2
    places = np.unique(np.searchsorted(tally, np.arange(1, cells) / max(cells, 1)))
    return positives.edges[places[places < len(positives.edges)]]


def _smoothed(counts: np.ndarray) -> np.ndarray:
    return (counts + 0.5) / (counts.sum() + 0.5 * len(counts))
