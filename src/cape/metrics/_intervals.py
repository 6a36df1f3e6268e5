"""Confidence intervals of shares, and of what is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from cape._estimate import Estimate


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


def estimate_of_draws(
    value: float,
    draws: np.ndarray,
    level: float,
    *,
    lowest: float,
    highest: float,
    absolute: bool = False,
) -> Estimate:
    """Central interval of draws, stretched to hold the observed value.

    Parameters
    ----------
    value : float
        Observed value. It may lie at the end of what is possible, which draws only
        approach.
    draws : ndarray of shape (n_draws,)
        Drawn values.
    level : float in (0, 1)
        Confidence level.
    lowest, highest : float
        All values that are possible: the interval of an undefined value, NaN.
    absolute : bool, default=False
        Whether to return the absolute value. Draws of it would never reach 0, however
        uncertain the sign; the interval reaches 0 exactly where that of the signed
        value holds 0.

    Returns
    -------
    Estimate
    """
    low, high = lowest, highest
    if not np.isnan(value):
        low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
        low, high = float(min(low, value)), float(max(high, value))
    if absolute:
        holds_zero = low <= 0 <= high
        low, high = sorted([abs(low), abs(high)])
        low = 0.0 if holds_zero else low
        value = abs(value)
    return Estimate(float(value), low, high)
