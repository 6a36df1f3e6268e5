"""Parity between groups: shares, ratios of shares, or error rates are equal."""

from __future__ import annotations

from dataclasses import dataclass

from cape._validation import check_number
from cape.rules._bounded import BoundedRule
from cape.rules._criteria import CRITERIA

__all__ = [
    "DemographicParity",
    "EqualOpportunity",
    "EqualizedOdds",
    "PredictiveEquality",
    "ProportionalEquality",
]


@dataclass(frozen=True, kw_only=True)
class _Parity(BoundedRule):
    """A rule with one criterion, whose name is ``_criterion``."""

    _criterion = ""

    tolerance: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tolerance is not None:
            high = CRITERIA[self._criterion].highest_bound
            check_number("tolerance", self.tolerance, low=0, high=high)

    @property
    def bounds(self) -> dict[str, float | None]:
        """Return the tolerance, by the name of the criterion."""
        return {self._criterion: self.tolerance}


@dataclass(frozen=True, kw_only=True)
class ProportionalEquality(_Parity):
    """The ratios of predicted prevalences are those of the estimates, at least cost.

    The paper's rule brings every predicted prevalence near its estimate, and with it PE
    near 0. This rule asks for PE alone, which leaves room for a better accuracy. A
    group whose estimate is 0 has no PE: it gets the paper's member.

    Parameters
    ----------
    tolerance : float or None, default=None
        Greatest PE of any ordered pair, with the estimates for true prevalences. None
        is the least that is as good as a PE of 0 by coin tosses, within one standard
        error of the expected cost.
    cost_fp, cost_fn : float, default=1.0
        What a false positive and a false negative cost.

    Examples
    --------
    >>> from cape.rules import ProportionalEquality
    >>> ProportionalEquality(tolerance=0.1)
    ProportionalEquality(cost_fp=1.0, cost_fn=1.0, tolerance=0.1)
    """

    _criterion = "proportional_equality"


@dataclass(frozen=True, kw_only=True)
class DemographicParity(_Parity):
    """Predicted prevalences are equal, at least cost.

    The shares are observed in the batch, so that the bound is met exactly.

    Parameters
    ----------
    tolerance : float or None, default=None
        Greatest difference of predicted prevalences between two groups. None is the
        least that is as good as equal shares by coin tosses, within one standard error
        of the expected cost.
    ratio : float in [0, 1] or None, default=None
        Smallest ratio of predicted prevalences, instead of a tolerance; 0.8 is the
        four-fifths rule.
    cost_fp, cost_fn : float, default=1.0
        What a false positive and a false negative cost.

    Examples
    --------
    >>> from cape.rules import DemographicParity
    >>> four_fifths = DemographicParity(ratio=0.8)
    """

    _criterion = "demographic_parity_difference"

    ratio: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ratio is None:
            return
        check_number("ratio", self.ratio, low=0, high=1)
        if self.tolerance is not None:
            raise ValueError(
                "tolerance must be None if ratio is given, got "
                f"{self.tolerance!r}. rules.Constrained takes several bounds."
            )

    @property
    def bounds(self) -> dict[str, float | None]:
        """Return the ratio, or else the tolerance, by the name of the criterion."""
        if self.ratio is not None:
            return {"demographic_parity_ratio": self.ratio}
        return super().bounds


@dataclass(frozen=True, kw_only=True)
class EqualOpportunity(_Parity):
    """True positive rates are equal, at least cost.

    Parameters
    ----------
    tolerance : float or None, default=None
        Greatest difference of the members' true positive rates between two groups. None
        is the least that is as good as equal rates by coin tosses, within one standard
        error of the expected cost.
    cost_fp, cost_fn : float, default=1.0
        What a false positive and a false negative cost.

    Examples
    --------
    >>> from cape.rules import EqualOpportunity
    >>> EqualOpportunity(cost_fn=5).cost_fn
    5
    """

    _criterion = "equal_opportunity_difference"


@dataclass(frozen=True, kw_only=True)
class PredictiveEquality(_Parity):
    """False positive rates are equal, at least cost.

    Parameters
    ----------
    tolerance : float or None, default=None
        Greatest difference of the members' false positive rates between two groups.
        None is the least that is as good as equal rates by coin tosses, within one
        standard error of the expected cost.
    cost_fp, cost_fn : float, default=1.0
        What a false positive and a false negative cost.

    Examples
    --------
    >>> from cape.rules import PredictiveEquality
    >>> PredictiveEquality(tolerance=0.05).tolerance
    0.05
    """

    _criterion = "false_positive_rate_difference"


@dataclass(frozen=True, kw_only=True)
class EqualizedOdds(_Parity):
    """True and false positive rates are as near as one member a group allows.

    Parameters
    ----------
    tolerance : float or None, default=None
        Greatest difference between two groups, of true and of false positive rates.
        None is the least that is as good as equal rates by coin tosses, within one
        standard error of the expected cost.
    cost_fp, cost_fn : float, default=1.0
        What a false positive and a false negative cost.

    Examples
    --------
    >>> from cape.rules import EqualizedOdds
    >>> EqualizedOdds().tolerance is None
    True
    """

    _criterion = "equalized_odds_difference"
