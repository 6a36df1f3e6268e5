"""Roots of decreasing functions: where the slope of a concave likelihood is 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

__all__ = ["decreasing_root"]

ValuesAndDerivatives: TypeAlias = tuple[np.ndarray, np.ndarray]

# Newton's method approaches a root at an end without reaching it.
_AT_THE_END = 1e-10


def decreasing_root(
    function: Callable[[np.ndarray], ValuesAndDerivatives],
    start: np.ndarray,
    *,
    low: float = 0.0,
    high: float = 1.0,
    tolerance: float = 1e-12,
    remainder: float = 1 / 64,
    max_steps: int = 60,
) -> np.ndarray:
    """Find where each of several decreasing functions crosses 0.

    Newton's method within a bracket. A function that is positive throughout has its
    "root" at ``high``, a function that is negative throughout at ``low``.

    Parameters
    ----------
    function : callable
        ``function(x)`` returns the values and the derivatives of all functions, each an
        array of shape (n_functions,).
    start : ndarray of shape (n_functions,)
        Where to begin, between ``low`` and ``high``.
    low, high : float, default=0 and 1
        The ends between which roots are sought.
    tolerance : float, default=1e-12
        Stop when no root moves by more than this.
    remainder : float, default=1/64
        If Newton's step leaves the bracket, go towards its end instead and leave this
        share of the way. 1/2 is bisection.
    max_steps : int, default=60
        Stop after so many steps.

    Returns
    -------
    ndarray of shape (n_functions,)
    """
    x = np.array(start, dtype=np.float64)
    left = np.full_like(x, low)
    right = np.full_like(x, high)
    for step in range(max_steps):
        value, derivative = function(x)
        root_is_right = value > 0
        left = np.where(root_is_right, x, left)
        right = np.where(root_is_right, right, x)

        newton = _newton_step(x, value, derivative)
        in_bracket = (newton >= left) & (newton <= right)
        in_bracket &= (newton > low) & (newton < high)
        # Where Newton's step leaves the bracket, the end itself is often the answer, so
        # go nearly there. Now and then halve the bracket, which is sure to converge.
        share = remainder
        if step % 4 == 3:
            share = 0.5
        end = np.where(root_is_right, right, left)
        towards_end = end + (x - end) * share

        previous = x
        x = np.where(in_bracket, newton, towards_end)
        moved = np.abs(x - previous)
        if (moved <= tolerance).all():
            break
    # An end whose side of the bracket never moved is the answer if x is all but there.
    at_low = (left == low) & (x - low < _AT_THE_END)
    at_high = (right == high) & (high - x < _AT_THE_END)
    x[at_low] = low
    x[at_high] = high
    return x


def _newton_step(
    x: np.ndarray,
    value: np.ndarray,
    derivative: np.ndarray,
) -> np.ndarray:
    """Return x - value / derivative, or -inf where the function is flat."""
    steep = derivative < -1e-150
    step = np.full_like(x, np.inf)
    step[steep] = value[steep] / derivative[steep]
    return x - step
