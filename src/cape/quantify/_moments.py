"""Intervals for a prevalence from the mean of a statistic over the rows of a batch.

Under prior shift the mean of any statistic of the score is, in the batch, a mixture of
its means in the two classes. This makes every statistic a guide to the prevalence, and
the interval of every quantifier a matter of three means and three variances.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from cape.histogram import ScoreHistogram

__all__ = ["Moments", "mixture", "moment_interval", "posterior_statistic"]

# The posterior statistic has a pole where the prevalence is 0 or 1 and a score is sure.
_NEAREST_TO_PURE = 1e-3


def mixture(
    prevalence: np.ndarray | float,
    positives: np.ndarray,
    negatives: np.ndarray,
) -> np.ndarray:
    """Mix what holds for positives and for negatives at a prevalence."""
    return prevalence * positives + (1 - prevalence) * negatives


class Moments(NamedTuple):
    """Mean and variance of a statistic over the rows of a histogram.

    Parameters
    ----------
    mean : float
        Mean of the statistic.
    variance : float
        Variance of the statistic in a single row.
    size : float
        Number of rows.

    Examples
    --------
    >>> from cape.histogram import HALF, ScoreHistogram, round_scores
    >>> scores = round_scores([0.2, 0.3, 0.4, 0.9])
    >>> Moments.of(np.array([0, 1]), ScoreHistogram.of(scores, np.array([HALF])))
    Moments(mean=0.25, variance=0.1875, size=4)
    """

    mean: float
    variance: float
    size: float

    @classmethod
    def of(
        cls,
        values: np.ndarray,
        histogram: ScoreHistogram,
    ) -> Moments:
        """Compute the moments of a statistic that is constant in each cell.

        Parameters
        ----------
        values : ndarray of shape (n_cells,)
            Value of the statistic in each cell.
        histogram : ScoreHistogram
            The rows over which mean and variance are taken.

        Returns
        -------
        Moments
        """
        shares = histogram.shares
        mean = float(shares @ values)
        variance = float(shares @ (values - mean) ** 2)
        return cls(mean, variance, histogram.size)


def moment_interval(
    positives: Moments,
    negatives: Moments,
    batch: Moments,
    level: float,
) -> tuple[float, float]:
    """Compute the prevalences that agree with the mean of a statistic (Fieller).

    Parameters
    ----------
    positives, negatives : Moments
        Moments of the statistic over the two classes in training.
    batch : Moments
        Moments of the statistic over the batch. Its variance is not used.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    low, high : float
        The ends of the interval, in [0, 1].

    Notes
    -----
    Let t, f and m be the means over the positives, the negatives and the batch, and s1
    and s0 the variances in the two classes. If exactly rho n of the n rows of a batch
    are positive, m - f - rho (t - f) has mean 0 and variance::

        (rho s1 + (1 - rho) s0) / n + rho^2 s1 / N1 + (1 - rho)^2 s0 / N0

    whose last two terms are the noise of the training means. The interval holds each
    rho whose z-test does not reject at ``level``. They solve a quadratic inequality, so
    nothing is simulated. If even t and f cannot be told apart, every rho passes.

    The interval is one for the *realised* prevalence of the batch: the number of
    positives is fixed, and there is no binomial variance.

    Examples
    --------
    >>> positives = Moments(mean=0.7, variance=0.04, size=500)
    >>> negatives = Moments(mean=0.3, variance=0.04, size=500)
    >>> batch = Moments(mean=0.4, variance=0.07, size=200)
    >>> low, high = moment_interval(positives, negatives, batch, level=0.95)
    >>> round(low, 3), round(high, 3)
    (0.171, 0.327)
    """
    z = ndtri((1 + level) / 2)
    gap = positives.mean - negatives.mean
    excess = batch.mean - negatives.mean
    # Variances of the mean of a pure batch, and of the training means.
    batch_1 = positives.variance / batch.size
    batch_0 = negatives.variance / batch.size
    training_1 = positives.variance / positives.size
    training_0 = negatives.variance / negatives.size

    # (excess - rho gap)^2 <= z^2 variance(rho), written as a rho^2 + b rho + c <= 0.
    quadratic = training_1 + training_0
    linear = batch_1 - batch_0 - 2 * training_0
    constant = batch_0 + training_0
    a = gap**2 - z**2 * quadratic
    b = -2 * gap * excess - z**2 * linear
    c = excess**2 - z**2 * constant
    # Fieller: with a <= 0 the gap itself is not significant; no rho can be excluded.
    if a <= 0:
        return 0.0, 1.0
    discriminant = b**2 - 4 * a * c
    root = sqrt(max(discriminant, 0.0))
    low = _clipped((-b - root) / (2 * a))
    high = _clipped((-b + root) / (2 * a))

    # A mean beyond that of a pure batch may leave no rho that passes, or a very short
    # interval. What remains is the end itself, give or take the noise of a pure batch.
    centre = excess / gap
    if centre > 1:
        noise = z * sqrt(batch_1 + training_1) / abs(gap)
        return _clipped(min(low, 1 - noise)), 1.0
    if centre < 0:
        noise = z * sqrt(batch_0 + training_0) / abs(gap)
        return 0.0, _clipped(max(high, noise))
    return low, high


def _clipped(share: float) -> float:
    """Return the nearest number in [0, 1]."""
    return float(min(max(share, 0.0), 1.0))


def posterior_statistic(
    scores: np.ndarray,
    prevalence: float,
    estimate: float,
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
    estimate : float
        Prevalence at which the derivative is taken, q.

    Returns
    -------
    ndarray of shape (n_cells,)
    """
    positive = scores / prevalence
    negative = (1 - scores) / (1 - prevalence)
    q = max(estimate, _NEAREST_TO_PURE)
    q = min(q, 1 - _NEAREST_TO_PURE)
    return (positive - negative) / mixture(q, positive, negative)
