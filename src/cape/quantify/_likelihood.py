"""Quantifiers that maximise or integrate a likelihood: EMQ and HistogramPosterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from cape.histogram import ScoreHistogram
from cape.quantify._base import Quantifier
from cape.quantify._moments import mixture, posterior_statistic
from cape.quantify._roots import ValuesAndDerivatives, decreasing_root

__all__ = ["EMQ", "HistogramPosterior"]

_LEAST_SHARE = 1e-12

# A class is rare if it has fewer training rows than this for each cell, and is then
# given more rows for each of fewer cells.
_ROWS_PER_CELL = 10
_RARE_ROWS_PER_CELL = 20


class EMQ(Quantifier):
    """Maximum likelihood of the prevalence, if scores are probabilities [1]_ (SLD).

    With s the score of a row and pi the training prevalence, the log-likelihood of the
    prevalence q is the sum of log(q s / pi + (1 - q) (1 - s) / (1 - pi)) over the rows.
    It is concave. The EM algorithm of Saerens et al. climbs it slowly; Newton's method
    finds the same maximum in a few steps.

    Scores that are not calibrated bias the estimate.

    References
    ----------
    .. [1] M. Saerens, P. Latinne, C. Decaestecker, "Adjusting the outputs of a
       classifier to new a priori probabilities: a simple procedure", Neural
       Computation 14, 2002.

    Examples
    --------
    >>> from cape.histogram import ScoreHistogram, edges_for, round_scores
    >>> high, low = round_scores([0.6, 0.8]), round_scores([0.1, 0.3])
    >>> edges = edges_for(high, low)
    >>> quantifier = EMQ().fit(
    ...     ScoreHistogram.of(high, edges), ScoreHistogram.of(low, edges)
    ... )
    >>> batch = ScoreHistogram.of(round_scores([0.9, 0.1]), edges)
    >>> round(quantifier.estimate(batch), 6)
    0.5
    """

    def _estimate(self, batch: ScoreHistogram) -> float:
        occupied = batch.counts > 0
        counts = batch.counts[occupied]
        scores = batch.centres[occupied]
        # By Bayes' rule these are p(x | y) / p(x) of training, for y = 1 and y = 0.
        positive = scores / self.prevalence_
        negative = (1 - scores) / (1 - self.prevalence_)

        def slope(q: np.ndarray) -> ValuesAndDerivatives:
            mixed = mixture(q, positive, negative)
            terms = (positive - negative) / mixed
            value = counts @ terms
            derivative = -(counts @ terms**2)
            return np.array([value]), np.array([derivative])

        start = np.array([self.prevalence_])
        maximum = decreasing_root(slope, start)
        return float(maximum[0])

    def _statistic(
        self,
        histogram: ScoreHistogram,
        prevalence: float,
    ) -> np.ndarray:
        # The slope above, of a single row. Its mean is 0 at the estimate; how it
        # scatters in training also covers scores that are not calibrated.
        return posterior_statistic(histogram.centres, self.prevalence_, prevalence)


class _Posterior(NamedTuple):
    """Grids of prevalences and their posterior weights, one line for each draw."""

    prevalences: np.ndarray
    weights: np.ndarray

    def median(self) -> float:
        """Return the median of the first draw."""
        return median_on_grid(self.prevalences[0], self.weights[0])


def median_on_grid(points: np.ndarray, density: np.ndarray) -> float:
    """Return where the distribution function of a density on a grid crosses 1/2."""
    masses = (density[:-1] + density[1:]) / 2
    cumulated = np.append(0, np.cumsum(masses))
    half = cumulated[-1] / 2
    median = np.interp(half, cumulated, points)
    return float(median)


class HistogramPosterior(Quantifier):
    """Posterior median of the prevalence under a flat prior, from about ten cells.

    The batch is taken for a multinomial draw over the cells, from rho times the shares
    of the positives plus 1 - rho times the shares of the negatives. Scores need not be
    calibrated, and few rows suffice.

    The interval is one for the realised prevalence. It covers three kinds of noise: the
    posterior of rho, the unknown label of each row given its cell, and the training
    shares, which are drawn from their Dirichlet posteriors.

    Parameters
    ----------
    cells : int, default=10
        Number of cells, cut at quantiles of the training scores. If a class has fewer
        than ten training rows for each cell, there are fewer cells, of twenty rows and
        more, and the two classes weigh equally in the quantiles.

    Attributes
    ----------
    cuts_ : ndarray of int64
        The edges between the cells.
    positive_shares_, negative_shares_ : ndarray of shape (n_cells,)
        Shares of the cells in the two classes, smoothed.

    Examples
    --------
    >>> from cape.histogram import ScoreHistogram, edges_for, round_scores
    >>> high, low = round_scores([0.6, 0.8]), round_scores([0.1, 0.3])
    >>> edges = edges_for(high, low)
    >>> quantifier = HistogramPosterior().fit(
    ...     ScoreHistogram.of(high, edges), ScoreHistogram.of(low, edges)
    ... )
    >>> batch = ScoreHistogram.of(round_scores([0.6, 0.8, 0.1, 0.3]), edges)
    >>> round(quantifier.estimate(batch), 3)
    0.5
    """

    # With other draws the ends of an interval move by .2 to 5 % of its width (standard
    # deviation); more draws would take more than the one to three milliseconds of 128.
    # The posterior of one draw is smooth, so few points do in the interval; the
    # estimate has a single posterior and can afford many.
    _n_draws = 128
    _points_of_interval = 17
    _points_of_estimate = 257

    def __init__(self, cells: int = 10):
        self.cells = cells

    def _fit(self) -> None:
        if self.cells < 2:
            raise ValueError(f"cells must be at least 2, got {self.cells!r}.")
        self.cuts_ = self._choose_cuts()
        # Jeffreys' prior: half a row in every cell. No share is 0, so a batch with rows
        # where a class had none in training is improbable but not impossible.
        positive_counts = self.positives_.merged(self.cuts_) + 0.5
        negative_counts = self.negatives_.merged(self.cuts_) + 0.5
        self.positive_shares_ = positive_counts / positive_counts.sum()
        self.negative_shares_ = negative_counts / negative_counts.sum()
        # The posterior of multinomial shares is a Dirichlet distribution. The seed is
        # fixed: the same histograms always give the same interval.
        random = np.random.default_rng(0)
        positive_draws = random.dirichlet(positive_counts, self._n_draws)
        negative_draws = random.dirichlet(negative_counts, self._n_draws)
        # A share may underflow to 0, whose logarithm is not finite.
        self.positive_draws_ = np.maximum(positive_draws, _LEAST_SHARE)
        self.negative_draws_ = np.maximum(negative_draws, _LEAST_SHARE)

    def _choose_cuts(self) -> np.ndarray:
        """Return the edges between the cells, fewer of them if a class has few rows."""
        edges = self.positives_.edges
        rarer_rows = min(self.positives_.size, self.negatives_.size)
        if rarer_rows >= _ROWS_PER_CELL * self.cells:
            counts = self.positives_.counts + self.negatives_.counts
            return _quantile_cuts(counts, edges, self.cells)
        # Few rows a cell, smoothed, say little but that the classes are alike. In
        # simulations with 20 positives of 2,000, an AUC of .70 and a prevalence of .3,
        # ten cells have a coverage of .64, two cells .96. With quantiles of all rows
        # most positives would be in the last cell; an AUC of .93 and a prevalence of
        # .05 then make the error half as large again.
        affordable = int(rarer_rows // _RARE_ROWS_PER_CELL)
        shares = self.positives_.shares + self.negatives_.shares
        n_cells = min(self.cells, max(affordable, 2))
        return _quantile_cuts(shares, edges, n_cells)

    def _estimate(self, batch: ScoreHistogram) -> float:
        counts = batch.merged(self.cuts_) / batch.unit
        posterior = _posterior(
            self.positive_shares_[None],
            self.negative_shares_[None],
            counts,
            n_points=self._points_of_estimate,
        )
        return posterior.median()

    def _interval(
        self,
        batch: ScoreHistogram,
        estimate: float,
        level: float,
    ) -> tuple[float, float]:
        counts = batch.merged(self.cuts_) / batch.unit
        n_rows = counts.sum()
        posterior = _posterior(
            self.positive_draws_,
            self.negative_draws_,
            counts,
            n_points=self._points_of_interval,
        )
        # A row in a cell is positive with probability r, by Bayes' rule. Given rho, the
        # number of positives is then a sum of independent Bernoulli variables: about
        # normal, with mean sum r and variance sum r (1 - r).
        rho = posterior.prevalences[:, :, None]
        positive = rho * self.positive_draws_[:, None]
        negative = (1 - rho) * self.negative_draws_[:, None]
        r = positive / (positive + negative)
        variances = (r * (1 - r)) @ counts
        # Every draw of the shares has the same weight.
        realised = _NormalMixture(
            centres=np.ravel(r @ counts / n_rows),
            spreads=np.ravel(np.sqrt(variances) / n_rows),
            weights=np.ravel(posterior.weights / self._n_draws),
        )
        return realised.central_interval(level)

    def _statistic(
        self,
        histogram: ScoreHistogram,
        prevalence: float,
    ) -> np.ndarray:
        # The derivative of the multinomial log-likelihood in the prevalence.
        p = self.positive_shares_
        n = self.negative_shares_
        slope = (p - n) / mixture(prevalence, p, n)
        # Each cell of the histogram has the slope of the coarse cell that it lies in.
        last_fine_cells = np.searchsorted(histogram.edges, self.cuts_)
        fine_cells = np.arange(len(histogram.counts))
        coarse_cells = np.searchsorted(last_fine_cells, fine_cells)
        return slope[coarse_cells]


def _posterior(
    p: np.ndarray,
    n: np.ndarray,
    counts: np.ndarray,
    *,
    n_points: int,
) -> _Posterior:
    """Compute the posterior of the prevalence under a flat prior, on a grid.

    Parameters
    ----------
    p, n : ndarray of shape (n_draws, n_cells)
        Shares of the cells among the positives and among the negatives.
    counts : ndarray of shape (n_cells,)
        Rows of the batch in each cell.
    n_points : int
        Points of the grid.

    Returns
    -------
    _Posterior
        Two arrays of shape (n_draws, n_points).
    """

    def slope(rho: np.ndarray) -> ValuesAndDerivatives:
        mixed = mixture(rho[:, None], p, n)
        terms = (p - n) / mixed
        return terms @ counts, -(terms**2) @ counts

    # The log-likelihood is concave. Five standard deviations by Laplace's approximation
    # on both sides of its mode hold all but a millionth of the posterior.
    n_draws = len(p)
    start = np.full(n_draws, 0.5)
    mode = decreasing_root(slope, start, tolerance=1e-7)
    inner_mode = np.clip(mode, 1e-9, 1 - 1e-9)
    _, second_derivative = slope(inner_mode)
    curvature = np.maximum(-second_derivative, 1e-12)
    width = 5 / np.sqrt(curvature)
    low = np.maximum(mode - width, 0)
    high = np.minimum(mode + width, 1)
    rho = np.linspace(low, high, n_points, axis=1)

    # Arrays of shape (n_draws, n_points, n_cells).
    mixed = mixture(
        rho[:, :, None],
        p[:, None, :],
        n[:, None, :],
    )
    log_likelihood = np.log(mixed) @ counts
    # Relative to the greatest, so that the exponential cannot underflow everywhere.
    greatest = log_likelihood.max(axis=1, keepdims=True)
    weights = np.exp(log_likelihood - greatest)
    # The trapezoid rule: the ends of the grid weigh half.
    weights[:, 0] /= 2
    weights[:, -1] /= 2
    weights /= weights.sum(axis=1, keepdims=True)
    return _Posterior(rho, weights)


def _quantile_cuts(
    counts: np.ndarray,
    edges: np.ndarray,
    cells: int,
) -> np.ndarray:
    """Return the edges nearest to the quantiles of the counted scores."""
    cumulated = np.cumsum(counts) / counts.sum()
    below_edge = cumulated[:-1]
    levels = np.arange(1, cells) / cells
    distances = np.abs(below_edge[:, None] - levels)
    nearest = np.unique(distances.argmin(axis=0))
    return edges[nearest]


@dataclass
class _NormalMixture:
    """A mixture of normal distributions, given by their centres, spreads and weights.

    Components without weight are dropped, and spreads are kept above 0.
    """

    centres: np.ndarray
    spreads: np.ndarray
    weights: np.ndarray

    def __post_init__(self) -> None:
        # Components without weight cannot move a quantile, but they would stretch the
        # bracket in which it is sought.
        relevant = self.weights > 1e-6 * self.weights.max()
        self.centres = self.centres[relevant]
        self.spreads = np.maximum(self.spreads[relevant], 1e-9)
        weights = self.weights[relevant]
        self.weights = weights / weights.sum()

    def central_interval(self, level: float) -> tuple[float, float]:
        """Return the part of [0, 1] between the two tails outside ``level``."""
        tail = (1 - level) / 2
        probabilities = np.array([tail, 1 - tail])
        heights = self.weights / self.spreads

        def shortfall(x: np.ndarray) -> ValuesAndDerivatives:
            deviations = x[:, None] - self.centres
            z = deviations / self.spreads
            cumulated = ndtr(z) @ self.weights
            density = np.exp(-(z**2) / 2) @ heights
            return probabilities - cumulated, -density / np.sqrt(2 * np.pi)

        # Start at the quantiles of the normal distribution of the same moments.
        mean = self.centres @ self.weights
        distances = self.centres - mean
        squares = self.spreads**2 + distances**2
        deviation = np.sqrt(squares @ self.weights)
        # A mixture may have gaps in which the density is 0, so steps that leave the
        # bracket bisect it. The last step is below 1e-4 deviations, and the error of
        # Newton's method about its square.
        ends = decreasing_root(
            shortfall,
            mean + ndtri(probabilities) * deviation,
            low=np.min(self.centres - 9 * self.spreads),
            high=np.max(self.centres + 9 * self.spreads),
            tolerance=1e-4 * deviation,
            remainder=0.5,
        )
        low, high = np.clip(ends, 0.0, 1.0)
        return float(low), float(high)
