"""Quantifiers that maximise or integrate a likelihood: EMQ and its kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cape.evidence._histogram import ONE, ScoreHistogram
from cape.quantify._base import (
    Likelihood,
    Moments,
    Quantifier,
    interpolate,
    moment_interval,
    noise_weights,
)

ValuesAndDerivatives: TypeAlias = tuple[np.ndarray, np.ndarray]

# The posterior statistic has a pole where the prevalence is 0 or 1 and a score is sure.
_NEAREST_TO_PURE = 1e-3

# Newton's method approaches a root at an end without reaching it.
_AT_THE_END = 1e-10

_MOST_STEPS = 60
_LAST_STEP = 1e-12


def posterior_statistic(
    scores: np.ndarray, prevalence: Any, estimate: Any
) -> np.ndarray:
    """Compute the statistic that tells most about the prevalence of calibrated scores.

    It is the derivative of the log-likelihood of Saerens et al. (2002) in the
    prevalence q, for one row with score s and training prevalence pi::

        (s / pi - (1 - s) / (1 - pi)) / (q s / pi + (1 - q) (1 - s) / (1 - pi))

    Its mean is linear in the prevalence of the batch whether the scores are calibrated
    or not, so the interval is valid in any case; calibration makes it short. Nothing in
    the statistic is fitted to the training rows over which its mean is then taken.

    Parameters
    ----------
    scores : ndarray of shape (n_cells,)
        Mean score of each cell.
    prevalence : float
        Prevalence in training, pi.
    estimate : float, or ndarray of shape (n_rows, 1)
        Prevalence at which the derivative is taken, q.

    Returns
    -------
    ndarray of shape (n_cells,)
    """
    positive = scores / prevalence
    negative = (1 - scores) / (1 - prevalence)
    q = np.clip(estimate, _NEAREST_TO_PURE, 1 - _NEAREST_TO_PURE)
    return (positive - negative) / (q * positive + (1 - q) * negative)


def decreasing_root(
    function: Callable[[np.ndarray], ValuesAndDerivatives], start: np.ndarray
) -> np.ndarray:
    """Find where each of several decreasing functions of a share crosses 0.

    Newton's method within a bracket. A function that is positive throughout has its
    "root" at 1, a function that is negative throughout at 0.

    Parameters
    ----------
    function : callable
        ``function(x)`` returns the values and the derivatives of all functions, each an
        array of shape (n_functions,).
    start : ndarray of shape (n_functions,)
        Where to begin, between 0 and 1.

    Returns
    -------
    ndarray of shape (n_functions,)
    """
    x = np.array(start, dtype=np.float64)
    left = np.zeros_like(x)
    right = np.ones_like(x)
    done = np.zeros(x.shape, dtype=bool)
    for step in range(_MOST_STEPS):
        value, derivative = function(x)
        root_is_right = value > 0
        left = np.where(root_is_right, x, left)
        right = np.where(root_is_right, right, x)

        # Where the function is flat, the step leaves the bracket.
        steep = derivative < -1e-150
        newton = x - np.divide(value, derivative, np.full_like(x, np.inf), where=steep)
        in_bracket = (newton >= left) & (newton <= right)
        in_bracket &= (newton > 0) & (newton < 1)
        # Where Newton's step leaves the bracket, the end itself is often the answer, so
        # go nearly there. Now and then halve the bracket, which is sure to converge.
        share = 0.5 if step % 4 == 3 else 1 / 64
        end = np.where(root_is_right, right, left)
        towards_end = end + (x - end) * share

        # A root that is found stays: it does not depend on those beside it.
        nearer = np.where(in_bracket, newton, towards_end)
        moved = np.where(done, 0.0, np.abs(nearer - x))
        x = np.where(done, x, nearer)
        done = moved <= _LAST_STEP
        if done.all():
            break
    # An end whose side of the bracket never moved is the answer if x is all but there.
    at_low = (left == 0) & (x < _AT_THE_END)
    at_high = (right == 1) & (1 - x < _AT_THE_END)
    x[at_low] = 0
    x[at_high] = 1
    return x


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
    >>> from cape.evidence._histogram import ScoreHistogram, edges_for, round_scores
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
        prevalence = np.array([self.prevalence_])
        return float(_most_likely(prevalence, Cells.of([batch]))[0])

    def _estimate_each(self, scores: np.ndarray) -> np.ndarray:
        rows = Cells.of_rows(scores, self.positives_.edges)
        return _most_likely(np.full(scores.shape[1], self.prevalence_), rows)

    def _statistic(self, histogram: ScoreHistogram, prevalence: float) -> np.ndarray:
        # The slope above, of a single row. Its mean is 0 at the estimate; how it
        # scatters in training also covers scores that are not calibrated.
        return posterior_statistic(histogram.centres, self.prevalence_, prevalence)


class Cells(NamedTuple):
    """The cells with scores of several histograms, one histogram after the other.

    Sums are over the cells of a histogram: they do not depend on the other histograms.

    Parameters
    ----------
    counts, centres : ndarray of shape (n_cells,)
    n_cells : ndarray of int of shape (n_histograms,)
        Cells of each histogram.
    rows : ndarray of shape (n_histograms,)
        Rows of each histogram.
    """

    counts: np.ndarray
    centres: np.ndarray
    n_cells: np.ndarray
    rows: np.ndarray

    @classmethod
    def of(cls, histograms: Sequence[ScoreHistogram]) -> Cells:
        """Collect the cells of histograms."""
        counts = np.concatenate([histogram.counts for histogram in histograms])
        sums = np.concatenate([histogram.sums for histogram in histograms])
        used = np.flatnonzero(counts)
        ends = np.cumsum([len(histogram.counts) for histogram in histograms])
        n_cells = np.diff(np.searchsorted(used, ends), prepend=0)
        rows = np.array([histogram.size for histogram in histograms], dtype=float)
        counts = counts[used]
        return cls(counts, sums[used] / ONE / counts, n_cells, rows)

    @classmethod
    def of_rows(cls, scores: np.ndarray, edges: np.ndarray) -> Cells:
        """Make a histogram of each row.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_models, n_rows)
        edges : ndarray of int64
            Scores of a row that share a cell are replaced by their mean.
        """
        cells = np.searchsorted(edges, scores)
        share_a_cell = cells[:, None] == cells
        sums = (share_a_cell * scores).sum(axis=1)
        centres = (sums / ONE / share_a_cell.sum(axis=1)).T.ravel()
        n_models, n_rows = scores.shape
        n_cells = np.full(n_rows, n_models)
        return cls(np.ones(len(centres)), centres, n_cells, np.ones(n_rows))

    def repeat(self, values: np.ndarray) -> np.ndarray:
        """Repeat the value of a histogram for each of its cells."""
        return np.repeat(values, self.n_cells)

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sum up over the cells of each histogram, each times its count."""
        starts = np.cumsum(self.n_cells) - self.n_cells
        return np.add.reduceat(self.counts * values, starts)

    def moments(self, prevalence: np.ndarray, estimate: np.ndarray) -> Moments:
        """Compute the moments of the posterior statistic over each histogram."""
        pi, q = self.repeat(prevalence), self.repeat(estimate)
        values = posterior_statistic(self.centres, pi, q)
        total = self.total(np.ones(len(values)))
        mean = self.total(values) / total
        variance = self.total((values - self.repeat(mean)) ** 2) / total
        return Moments(mean, variance, self.rows)


def _most_likely(prevalence: np.ndarray, batch: Cells) -> np.ndarray:
    """Maximize the likelihood of Saerens et al. (2002) of each histogram."""
    pi = batch.repeat(prevalence)
    # By Bayes' rule these are p(x | y) / p(x) of training, for y = 1 and y = 0.
    positive = batch.centres / pi
    negative = (1 - batch.centres) / (1 - pi)

    def slope(q: np.ndarray) -> ValuesAndDerivatives:
        q = batch.repeat(q)
        terms = (positive - negative) / (q * positive + (1 - q) * negative)
        return batch.total(terms), -batch.total(terms**2)

    return decreasing_root(slope, prevalence)


def quantile_cuts(counts: np.ndarray, edges: np.ndarray, cells: int) -> np.ndarray:
    """Return the edges nearest to the quantiles of the counted scores."""
    cumulated = np.cumsum(counts) / counts.sum()
    below_edge = cumulated[:-1]
    levels = np.arange(1, cells) / cells
    distances = np.abs(below_edge[:, None] - levels)
    nearest = np.unique(distances.argmin(axis=0))
    return edges[nearest]


# The posterior is taken on a grid over the interval of this level: prevalences beyond
# 4.9 standard deviations have no weight.
_LEVEL_OF_GRID = 1 - 1e-6
_POINTS_OF_GRID = 257


class OneStepEMQ(EMQ):
    """EMQ's estimate, corrected by one step of a statistic whose mean is known.

    EMQ treats scores as probabilities and is biased if they are not. This quantifier
    uses them only to choose a statistic, and takes its class means from training, so
    scores need not be calibrated. If they are, no estimator that learns the two classes
    from the training rows has a smaller variance in large samples.

    The estimate is the median of the posterior under a flat prior on [0, 1]. The
    interval is Fieller's, by ``moment_interval``. Nothing is drawn at random.

    See Also
    --------
    EMQ : The estimate to start from.

    Notes
    -----
    *The statistic.* Let s be the score of a row and pi the training prevalence. By
    Bayes' rule ``a = s / pi`` and ``b = (1 - s) / (1 - pi)`` are the densities of the
    row in the two classes, both relative to training. With q in (0, 1), the statistic
    ``h(s) = (a - b) / (q a + (1 - q) b)`` is the derivative in q of the log-likelihood
    that EMQ maximizes.

    *The step.* Let t, f and m be the means of h over the positives, the negatives and
    the batch. Under prior shift m has the expectation ``e(rho) = rho t + (1 - rho) f``
    if the prevalence is rho, whatever h is. Newton's step from EMQ's estimate q0 is ::

        q0 + (m - e(q0)) / (t - f) = (m - f) / (t - f)

    and a second step changes nothing, since e is linear.

    *Its noise.* Let N1, N0 and n be the numbers of positives, negatives and rows of the
    batch. The variance of ``m - e(rho)`` is ``w1 Var1(h) + w0 Var0(h)`` with ::

        w1 = rho / n + rho^2 / N1,    w0 = (1 - rho) / n + (1 - rho)^2 / N0

    whose second terms are the noise of the training means.

    *The choice of q.* Among all h the ratio of this variance to ``(t - f)^2`` is least
    for ``h = (a - b) / (w1 a + w0 b)``, by the calculus of variations: the statistic
    above at ``q = w1 / (w1 + w0)``. With many training rows, this is q0. If the noise
    of training matters, it is nearer to 0 or 1, because the rows of the rare class then
    say more. In simulations with 2,000 training rows, 10,000 rows in the batch and a
    prevalence of .1, the root mean squared error is 1.30 times the Cramer-Rao bound
    with q0 and 1.07 times with this q.

    Examples
    --------
    >>> from cape.evidence._histogram import ScoreHistogram, edges_for, round_scores
    >>> high, low = round_scores([0.6, 0.8]), round_scores([0.2, 0.4])
    >>> edges = edges_for(high, low)
    >>> quantifier = OneStepEMQ().fit(
    ...     ScoreHistogram.of(high, edges), ScoreHistogram.of(low, edges)
    ... )
    >>> batch = ScoreHistogram.of(round_scores([0.6, 0.8, 0.2, 0.4]), edges)
    >>> round(quantifier.estimate(batch), 3)
    0.5
    """

    def _estimate(self, batch: ScoreHistogram) -> float:
        return float(_posterior_median(_one_step([self], Cells.of([batch])))[0])

    def _estimate_each(self, scores: np.ndarray) -> np.ndarray:
        rows = Cells.of_rows(scores, self.positives_.edges)
        likelihood = _one_step([self] * scores.shape[1], rows)
        return np.clip(_posterior_median(likelihood), 0.0, 1.0)

    def _interval(
        self, batch: ScoreHistogram, estimate: float, level: float
    ) -> tuple[float, float]:
        return moment_interval(*self.likelihood(batch), level)

    def likelihood(
        self, batch: ScoreHistogram, estimate: float | None = None
    ) -> Likelihood:
        """Return the likelihood of each prevalence by the least noisy statistic.

        Parameters
        ----------
        batch : ScoreHistogram
            Scores of at least one row.
        estimate : float, default=None
            Ignored: the statistic has its own center.

        Returns
        -------
        Likelihood
        """
        parts = _one_step([self], Cells.of([batch]))
        return Likelihood(*[Moments(*np.array(part)[:, 0].tolist()) for part in parts])

    @classmethod
    def of_groups(
        cls,
        quantifiers: Sequence[OneStepEMQ],
        batches: Sequence[ScoreHistogram],
        level: float | None = None,
    ) -> tuple[np.ndarray, Likelihood]:
        """Estimate the prevalences of several groups at once.

        Parameters
        ----------
        quantifiers : sequence of OneStepEMQ
        batches : sequence of ScoreHistogram
        level : float, default=None
            Level of intervals; None computes none.

        Returns
        -------
        estimates : ndarray of shape (n_groups, 1 or 3)
        likelihood : Likelihood
        """
        if cls is not OneStepEMQ:
            return super().of_groups(quantifiers, batches, level)
        likelihood = _one_step(quantifiers, Cells.of(batches))
        estimate = _posterior_median(likelihood)
        if level is None:
            return estimate[:, None], likelihood
        low, high = moment_interval(*likelihood, level)
        ends = np.minimum(low, estimate), np.maximum(high, estimate)
        return np.column_stack([estimate, *ends]), likelihood


def _one_step(quantifiers: Sequence[OneStepEMQ], batch: Cells) -> Likelihood:
    """Return the likelihoods of several batches, each with its quantifier."""
    prevalence = np.array([quantifier.prevalence_ for quantifier in quantifiers])
    positives = Cells.of([quantifier.positives_ for quantifier in quantifiers])
    negatives = Cells.of([quantifier.negatives_ for quantifier in quantifiers])
    start = _most_likely(prevalence, batch)
    q = best_prevalence(start, batch.rows, positives.rows, negatives.rows)
    parts = (positives, negatives, batch)
    return Likelihood(*[part.moments(prevalence, q) for part in parts])


def best_prevalence(
    start: Any, n_rows: Any, n_positives: Any, n_negatives: Any
) -> np.ndarray:
    """Return the q at which the statistic has the least noise."""
    # The likelihood of few rows is often greatest at an end, where the statistic has a
    # pole. One more row of each class moves q0 inside, and does nothing in large
    # batches (Laplace's rule of succession).
    rho = (n_rows * start + 1) / (n_rows + 2)
    w1, w0 = noise_weights(rho, n_rows, n_positives, n_negatives)
    return w1 / (w1 + w0)


def _posterior_median(likelihood: Likelihood) -> np.ndarray:
    """Return the posterior medians of prevalences under a flat prior."""
    low, high = moment_interval(*likelihood, _LEVEL_OF_GRID)
    rho = np.linspace(low, high, _POINTS_OF_GRID, axis=1)
    log_likelihood = likelihood.beside(1).log(rho)
    density = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    masses = (density[:, :-1] + density[:, 1:]) / 2
    cumulated = np.cumsum(masses, axis=1)
    cumulated = np.concatenate([np.zeros((len(rho), 1)), cumulated], axis=1)
    return interpolate(cumulated[:, -1:] / 2, cumulated, rho)[:, 0]
