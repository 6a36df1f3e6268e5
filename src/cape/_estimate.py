"""A number with its interval."""

from __future__ import annotations

from math import isnan, nan
from typing import NamedTuple


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
