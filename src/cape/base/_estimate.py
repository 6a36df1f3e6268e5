"""A number with its interval."""

from __future__ import annotations

from math import isnan, nan
from typing import NamedTuple

import numpy as np


class Estimate(NamedTuple):
    """A number with its interval: a prevalence, a rate, a difference, PE.

    Parameters
    ----------
    value : float
        NaN if it is unknown.
    low, high : float, default=nan
        Ends of the interval; NaN if not requested.

    Examples
    --------
    >>> from cape import Estimate
    >>> share = Estimate(0.3, 0.2, 0.5)
    >>> share.is_above(0.1), share.is_above(0.25), share.is_below(0.25)
    (True, False, False)
    >>> share.to_json()
    {'value': 0.3, 'low': 0.2, 'high': 0.5}
    """

    value: float
    low: float = nan
    high: float = nan

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.high - self.low

    def standard_error(self, level: float) -> float:
        """Return the standard error that fits the width of the interval.

        Parameters
        ----------
        level : float
            Level of the interval.

        Returns
        -------
        float
        """
        # Here, since `cape info` reads no model and needs no scipy.
        from scipy.special import ndtri

        return self.width / (2 * float(ndtri((1 + level) / 2)))

    def is_above(self, bound: float) -> bool:
        """Return whether the whole interval is above a bound."""
        return self.low > bound

    def is_below(self, bound: float) -> bool:
        """Return whether the whole interval is below a bound."""
        return self.high < bound

    def to_json(self) -> dict[str, float | None]:
        """Return a dict that JSON can hold; None stands for what is unknown."""
        return {
            name: None if isnan(number) else float(number)
            for name, number in self._asdict().items()
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple) or len(other) != 3:
            return NotImplemented
        # NaN, which is unknown, is equal to itself.
        return all(
            one == another or (one != one and another != another)
            for one, another in zip(self, other, strict=True)
        )

    def __hash__(self) -> int:
        return hash(tuple(self))


def variance_between(values: np.ndarray, errors: np.ndarray) -> float:
    """Estimate the variance between values beyond their errors.

    This is the estimator of DerSimonian and Laird (1986) for studies that measure the
    same quantity: here every column, and the scores, are a study of the prevalence.

    Parameters
    ----------
    values : ndarray of shape (n_studies,)
    errors : ndarray of shape (n_studies,)
        Standard errors.

    Returns
    -------
    float
        0 if the values differ by no more than their errors.

    Examples
    --------
    >>> variance_between(np.array([0.2, 0.4]), np.array([0.1, 0.1])).round(3)
    np.float64(0.01)
    >>> variance_between(np.array([0.2, 0.4]), np.array([0.2, 0.2]))
    0.0
    """
    weights = errors**-2.0
    centre = (weights @ values) / weights.sum()
    heterogeneity = weights @ (values - centre) ** 2
    scale = weights.sum() - (weights**2).sum() / weights.sum()
    if scale <= 0:
        return 0.0
    return max((heterogeneity - (len(values) - 1)) / scale, 0.0)
