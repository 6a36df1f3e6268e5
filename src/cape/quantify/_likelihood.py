"""Quantifiers that maximise or integrate a likelihood: EMQ and the histogram posterior."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from cape.histogram import ScoreHistogram
from cape.quantify._base import Quantifier, decreasing_root, posterior_statistic

__all__ = ["EMQ", "HistogramPosterior"]


class EMQ(Quantifier):
    """Maximum likelihood of the prevalence when scores are posterior probabilities [1]_ (SLD).

    Saerens' EM climbs the likelihood L(q) = sum log(q s / pi + (1 - q) (1 - s) / (1 - pi)), which is concave; Newton's
    method finds the same fixed point in a few steps. Scores that are not calibrated bias it.

    References
    ----------
    .. [1] M. Saerens, P. Latinne, C. Decaestecker, "Adjusting the outputs of a classifier to new a priori
       probabilities: a simple procedure", Neural Computation 14, 2002.

    Examples
    --------
    >>> from cape.histogram import ScoreHistogram, edges_for, round_scores
    >>> positives, negatives = round_scores([0.6, 0.8]), round_scores([0.1, 0.3])
    >>> edges = edges_for(positives, negatives)
    >>> fitted = EMQ().fit(ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges))
    >>> round(fitted.estimate(ScoreHistogram.of(round_scores([0.9, 0.1]), edges)), 6)
    0.5
    """

    def _ratios(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return scores / self.prevalence_, (1 - scores) / (1 - self.prevalence_)

    def _estimate(self, batch: ScoreHistogram) -> float:
        used = batch.counts > 0
        counts = batch.counts[used]
        a, b = self._ratios(batch.centres[used])

        def slope(q):
            term = (a - b) / (q * a + (1 - q) * b)
            return np.array([counts @ term]), -np.array([counts @ (term * term)])

        return float(decreasing_root(slope, np.array([self.prevalence_]))[0])

    def _statistic(self, histogram: ScoreHistogram, estimate: float) -> np.ndarray:
        return posterior_statistic(histogram.centres, self.prevalence_, estimate)


class HistogramPosterior(Quantifier):
    """Posterior median of the prevalence under a flat prior, from about ten cells.

    A batch is a multinomial draw over the cells, from rho times the positives' shares plus 1 - rho times the
    negatives'. No score needs to be calibrated, and few rows suffice. The interval is for the realised prevalence: the
    spread of the posterior, of each row's unknown label within its cell, and of the training shares, over which it
    integrates (Dirichlet draws of a fixed seed, each weighing the same).

    Parameters
    ----------
    cells : int, default=10
        Cells, cut at quantiles of the training scores; counts are smoothed by 1/2.

    Examples
    --------
    >>> from cape.histogram import ScoreHistogram, edges_for, round_scores
    >>> positives, negatives = round_scores([0.6, 0.8]), round_scores([0.1, 0.3])
    >>> edges = edges_for(positives, negatives)
    >>> fitted = HistogramPosterior().fit(ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges))
    >>> round(fitted.estimate(ScoreHistogram.of(round_scores([0.6, 0.8, 0.1, 0.3]), edges)), 3)
    0.5
    """

    _draws = 128
    _points = 17

    def __init__(self, cells: int = 10):
        self.cells = cells

    def _fit(self) -> None:
        if self.cells < 2:
            raise ValueError(f"cells must be at least 2, got {self.cells!r}.")
        self.cuts_ = _quantile_cuts(self.positives_, self.negatives_, self.cells)
        a, b = (
            self.positives_.merged(self.cuts_) + 0.5,
            self.negatives_.merged(self.cuts_) + 0.5,
        )
        self.positive_shares_, self.negative_shares_ = a / a.sum(), b / b.sum()
        random = np.random.default_rng(0)
        self.positive_draws_ = np.maximum(random.dirichlet(a, self._draws), 1e-12)
        self.negative_draws_ = np.maximum(random.dirichlet(b, self._draws), 1e-12)

    def _estimate(self, batch: ScoreHistogram) -> float:
        counts = batch.merged(self.cuts_) / batch.unit
        rho, weight = self._posterior(
            self.positive_shares_[None], self.negative_shares_[None], counts, points=257
        )
        return _median(rho[0], weight[0])

    def _interval(
        self, batch: ScoreHistogram, estimate: float, level: float
    ) -> tuple[float, float]:
        counts = batch.merged(self.cuts_) / batch.unit
        a, b = self.positive_draws_, self.negative_draws_
        rho, weight = self._posterior(a, b, counts, points=self._points)
        # A row in a cell is positive with probability r: its label, and so the realised prevalence, is still open.
        r = rho[..., None] * a[:, None]
        r /= r + (1 - rho[..., None]) * b[:, None]
        n = counts.sum()
        centre, spread = r @ counts / n, np.sqrt((r * (1 - r)) @ counts) / n
        return _mixture_quantiles(
            centre.ravel(), spread.ravel(), weight.ravel() / len(a), level
        )

    def _statistic(self, histogram: ScoreHistogram, estimate: float) -> np.ndarray:
        """The likelihood's score at the estimate, of which the prevalence is the best linear guide."""
        cell = np.searchsorted(
            np.searchsorted(histogram.edges, self.cuts_),
            np.arange(len(histogram.counts)),
        )
        a, b = self.positive_shares_, self.negative_shares_
        return ((a - b) / (estimate * a + (1 - estimate) * b))[cell]

    def _posterior(self, a, b, counts, *, points):
        """Grid and weights of the prevalence's posterior, one line for each pair of shares in a and b."""

        def slope(rho):
            term = (a - b) / (rho[:, None] * a + (1 - rho[:, None]) * b)
            return term @ counts, -(term * term) @ counts

        mode = decreasing_root(slope, np.full(len(a), 0.5), within=1e-7)
        curvature = -slope(np.clip(mode, 1e-9, 1 - 1e-9))[1]
        width = 5 / np.sqrt(np.maximum(curvature, 1e-12))
        low, high = np.maximum(mode - width, 0), np.minimum(mode + width, 1)
        rho = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, points)
        log_likelihood = (
            np.log(rho[..., None] * a[:, None] + (1 - rho[..., None]) * b[:, None])
            @ counts
        )
        weight = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
        weight[:, [0, -1]] /= 2  # the trapezoid rule
        return rho, weight / weight.sum(axis=1, keepdims=True)


def _quantile_cuts(
    positives: ScoreHistogram, negatives: ScoreHistogram, cells: int
) -> np.ndarray:
    """Edges nearest the quantiles of the training scores, leaving no side empty."""
    tally = (
        np.cumsum(positives.counts + negatives.counts)[:-1]
        / (positives.counts + negatives.counts).sum()
    )
    wanted = np.arange(1, cells) / cells
    places = np.unique(np.abs(tally[:, None] - wanted).argmin(axis=0))
    return positives.edges[places]


def _median(points: np.ndarray, weights: np.ndarray) -> float:
    """Where the piecewise linear distribution function crosses 1/2."""
    middles = (weights[:-1] + weights[1:]) / 2
    below = np.concatenate([[0], np.cumsum(middles)])
    return float(np.interp(below[-1] / 2, below, points))


def _mixture_quantiles(
    centre: np.ndarray, spread: np.ndarray, weight: np.ndarray, level: float
) -> tuple[float, float]:
    """The two ends of the central ``level`` of a mixture of normal distributions, by Newton's steps in a bracket."""
    kept = weight > 1e-6 * weight.max()
    centre, spread, weight = (
        centre[kept],
        np.maximum(spread[kept], 1e-9),
        weight[kept] / weight[kept].sum(),
    )
    target = np.array([(1 - level) / 2, (1 + level) / 2])
    mean = centre @ weight
    deviation = np.sqrt((spread**2 + (centre - mean) ** 2) @ weight)
    x = mean + ndtri(target) * deviation
    low, high = (
        np.full(2, (centre - 9 * spread).min()),
        np.full(2, (centre + 9 * spread).max()),
    )
    for _ in range(50):
        z = (x[:, None] - centre) / spread
        excess = ndtr(z) @ weight - target
        low, high = np.where(excess < 0, x, low), np.where(excess < 0, high, x)
        density = np.exp(-z * z / 2) @ (weight / spread) / np.sqrt(2 * np.pi)
        step = np.divide(
            excess, density, out=np.full(2, np.inf), where=density > 1e-200
        )
        newton = x - step
        moved = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        done = (np.abs(moved - x) < 1e-4 * deviation).all()
        x = moved
        if done:
            break
    return float(np.clip(x[0], 0, 1)), float(np.clip(x[1], 0, 1))
