"""Units that people mix up, and how a column tells that they were."""

from __future__ import annotations

import numpy as np

__all__ = ["UNITS", "unit_window"]

_FACTORS = (10.0, 60.0, 100.0, 1000.0)
"""Millimetres, minutes, per cent, thousands."""

UNITS = (*_FACTORS, *(1 / factor for factor in _FACTORS))
"""Factors between the units of a number before and after."""

_TOLERANCE = 1.25
"""Narrow enough to tell 60 from 100."""


def unit_window(median: float, factor: float) -> tuple[float, float]:
    """Return where the median of a batch lies if its unit changed by a factor.

    Parameters
    ----------
    median : float
        Median of training.
    factor : float

    Returns
    -------
    low, high : float
        In single precision, as edges are.

    Examples
    --------
    >>> unit_window(2.0, 10.0)
    (16.0, 25.0)
    """
    ends = [median * factor / _TOLERANCE, median * factor * _TOLERANCE]
    low, high = np.array(sorted(ends), dtype=np.float32)
    return float(low), float(high)
