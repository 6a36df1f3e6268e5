"""Confidence intervals of shares, and of what is drawn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

__all__ = [
    "Interval",
    "absolute_interval",
    "central_interval",
    "wilson_interval",
]


class Interval(NamedTuple):
    """Both ends of an interval."""

    low: float
    high: float


def wilson_interval(
    successes: Any, trials: Any, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Compute Wilson's score interval of a share.

    Parameters
    ----------
    successes, trials : float or array-like
        Number of successes and number of trials, broadcast against each other. They
        need not be whole: weighted rows are worth fractions of rows.
    level : float in (0, 1), default=0.95
        Confidence level.

    Returns
    -------
    low, high : ndarray
        Ends of the interval; 0 and 1 where there are no trials.

    References
    ----------
    Wilson, E. B. (1927). "Probable inference, the law of succession, and statistical
    inference". Journal of the American Statistical Association 22, 209-212.

    Examples
    --------
    >>> low, high = wilson_interval(0, 10)
    >>> round(float(low), 3), round(float(high), 3)
    (0.0, 0.278)
    """
    successes = np.asarray(successes, dtype=float)
    trials = np.asarray(trials, dtype=float)
    x, n = np.broadcast_arrays(successes, trials)
    z = ndtri((1 + level) / 2)
    z2 = z**2

    # Wilson (1927): the shares p that a score test with |p - x/n| < z sqrt(p(1-p)/n)
    # does not reject.
    centre = (x + z2 / 2) / (n + z2)
    one_half = np.full(x.shape, 0.5)
    share = np.divide(x, n, out=one_half, where=n > 0)
    variance = n * share * (1 - share)
    scale = np.sqrt(z2) / (n + z2)
    half_width = scale * np.sqrt(variance + z2 / 4)

    low = np.clip(centre - half_width, 0, 1)
    high = np.clip(centre + half_width, 0, 1)
    # Without a success the interval begins at 0; rounding would leave 1e-17.
    low = np.where(x <= 0, 0.0, low)
    high = np.where(x >= n, 1.0, high)
    return low, high


def central_interval(
    draws: np.ndarray, level: float, *, value: float, widest: Interval
) -> Interval:
    """Central interval of draws, stretched to hold the observed value.

    Parameters
    ----------
    draws : ndarray of shape (n_draws,)
        Drawn values.
    level : float in (0, 1)
        Confidence level.
    value : float
        Observed value. It may lie at the end of what is possible, which draws only
        approach.
    widest : Interval
        All values that are possible: the interval of an undefined value, NaN.

    Returns
    -------
    Interval
    """
    if np.isnan(value):
        return widest
    lower_tail = (1 - level) / 2
    upper_tail = (1 + level) / 2
    low, high = np.quantile(draws, [lower_tail, upper_tail])
    return Interval(float(min(low, value)), float(max(high, value)))


def absolute_interval(signed: Interval) -> Interval:
    """Interval of an absolute value, from the interval of the signed value.

    Draws of the absolute value itself would never reach 0, however uncertain the
    sign. This interval reaches 0 exactly where the signed interval holds 0.
    """
    ends = sorted([abs(signed.low), abs(signed.high)])
    if signed.low <= 0 <= signed.high:
        return Interval(0.0, ends[1])
    return Interval(ends[0], ends[1])
