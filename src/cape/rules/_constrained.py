"""Several criteria at once."""

from __future__ import annotations

from dataclasses import dataclass

from cape._validation import check_number
from cape.rules._bounded import BoundedRule
from cape.rules._criteria import CRITERIA

__all__ = ["Constrained"]


@dataclass(frozen=True, kw_only=True)
class Constrained(BoundedRule):
    """Least cost within bounds on any number of criteria.

    If no choice of members meets all bounds, they are widened by the same least amount
    until one does, and a note says so.

    Parameters
    ----------
    proportional_equality : float or None, default=None
        Greatest PE of any ordered pair. None bounds nothing, here and below.
    demographic_parity_difference : float or None, default=None
        Greatest difference of predicted prevalences.
    demographic_parity_ratio : float or None, default=None
        Smallest ratio of predicted prevalences; 0.8 is the four-fifths rule.
    equal_opportunity_difference : float or None, default=None
        Greatest difference of true positive rates.
    false_positive_rate_difference : float or None, default=None
        Greatest difference of false positive rates.
    equalized_odds_difference : float or None, default=None
        Greatest difference of true and of false positive rates.
    cost_fp, cost_fn : float, default=1.0
        What a false positive and a false negative cost.

    Examples
    --------
    >>> from cape.rules import Constrained
    >>> rule = Constrained(
    ...     proportional_equality=0.1, false_positive_rate_difference=0.05
    ... )
    """

    proportional_equality: float | None = None
    demographic_parity_difference: float | None = None
    demographic_parity_ratio: float | None = None
    equal_opportunity_difference: float | None = None
    false_positive_rate_difference: float | None = None
    equalized_odds_difference: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        bounds = self.bounds
        if not bounds:
            names = ", ".join(CRITERIA)
            raise ValueError(f"at least one bound must be given, of {names}; got none.")
        for name, bound in bounds.items():
            check_number(name, bound, low=0, high=CRITERIA[name].highest_bound)

    @property
    def bounds(self) -> dict[str, float | None]:
        """Return the bounds that were given, by the names of the criteria."""
        bounds = {}
        for name in CRITERIA:
            bound = getattr(self, name)
            if bound is not None:
                bounds[name] = bound
        return bounds
