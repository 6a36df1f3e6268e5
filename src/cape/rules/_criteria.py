"""What a rule sees of each group, and criteria: what may not differ too much.

Every criterion is written as bounds on the difference of some values between two
groups, which is what `cape.rules._problem` searches within.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cape.base._estimate import Estimate
from cape.metrics._between import worst_pe
from cape.training._group_model import MemberRates

DIGITS = 12
"""Distances that agree to so many decimals are ties: they differ by rounding alone."""

_LOG_OF_NOTHING = -1000.0
"""Stands for the logarithm of 0, and is below that of any share."""


@dataclass(frozen=True)
class GroupSituation:
    """What a rule knows about one group in one batch.

    A rule never sees a row. All fields describe one batch; a leading axis describes
    many batches at once (`CapeClassifier.predict_individually` has one for each row).

    Parameters
    ----------
    share : float
        Share of the rows of the batch that belong to this group.
    estimate : Estimate
        Prevalence; its value is q in the paper, an array if there are many batches. The
        ends of its interval are NaN if intervals were not requested.
    thetas : ndarray of shape (n_members,)
        Prevalence that each member was made for.
    predicted_prevalences : ndarray of shape (..., n_members)
        Share of the group's rows that each member predicts positive. It is observed in
        this batch, not estimated.
    rates : MemberRates
        True and false positive rates of the members on rows they were not trained on.
        Under prior shift these do not move.
    unchanged : int, default=0
        The member that changes nothing: decisions as they were made, or the model as
        trained.

    Examples
    --------
    >>> from cape import Estimate
    >>> from cape.training._group_model import MemberRates
    >>> from cape.rules import GroupSituation
    >>> called, rows = np.array([90.0, 99.0]), np.array([100.0, 100.0])
    >>> situation = GroupSituation(
    ...     share=0.4, estimate=Estimate(0.3, 0.2, 0.4), thetas=np.array([0.2, 0.6]),
    ...     predicted_prevalences=np.array([0.25, 0.55]),
    ...     rates=MemberRates(called, rows, 100 - called, rows),
    ... )
    >>> situation.tpr.tolist()
    [0.9, 0.99]
    """

    share: float
    estimate: Estimate
    thetas: np.ndarray
    predicted_prevalences: np.ndarray
    rates: MemberRates
    unchanged: int = 0

    # Computed once: a rule may look at the rates of all members a thousand times.
    @cached_property
    def tpr(self) -> np.ndarray:
        """True positive rate of each member; NaN where it is unknown."""
        return self.rates.tpr

    @cached_property
    def fpr(self) -> np.ndarray:
        """False positive rate of each member; NaN where it is unknown."""
        return self.rates.fpr


class Criterion:
    """The greatest difference between two groups, and how a bound on it is kept.

    Subclasses compare otherwise, and measure another metric.

    Parameters
    ----------
    *fields : str
        Fields of GroupSituation, all of which are compared.
    """

    highest_bound = 1.0
    """Bounds beyond this one have no meaning."""

    n_values = 1
    """How many values are compared."""

    def __init__(self, *fields: str):
        self.fields = fields
        if fields:
            self.n_values = len(fields)

    def values(self, group: GroupSituation) -> np.ndarray:
        """Return what is compared: (n_values, n_members), NaN where undefined."""
        return np.array([getattr(group, field) for field in self.fields])

    def bounds(self, groups: Sequence[GroupSituation], bound: float) -> np.ndarray:
        """Turn a bound on the metric into bounds on differences of values.

        Parameters
        ----------
        groups : sequence of GroupSituation
        bound : float

        Returns
        -------
        ndarray of shape (n_groups, n_groups)
            Of the value of the group in the row minus that of the group in the column.
        """
        return np.full((len(groups), len(groups)), bound)

    def measure(
        self, groups: Sequence[GroupSituation], members: Sequence[int]
    ) -> float:
        """Compute the metric to expect if these members decide."""
        return float(np.ptp(self.chosen(groups, members), axis=0).max())

    def chosen(
        self, groups: Sequence[GroupSituation], members: Sequence[int]
    ) -> np.ndarray:
        """Return the values of the chosen members: (n_groups, n_values)."""
        chosen = []
        for group, member in zip(groups, members, strict=True):
            chosen.append(self.values(group)[:, member])
        return np.array(chosen)

    def mixed(self, group: GroupSituation) -> np.ndarray:
        """Return values of which tossing a coin between members gives the mean."""
        return self.values(group)

    def exceeded_by(self, measured: float, bound: float) -> float:
        """Tell how far a bound is missed; at most 0 if it is met."""
        return measured - bound

    def eased(self, bound: float, by: float) -> float:
        """Widen a bound."""
        return bound + by


class ShareRatio(Criterion):
    """The smallest predicted prevalence as a share of the greatest."""

    def values(self, group: GroupSituation) -> np.ndarray:
        """Return the logarithms of the predicted prevalences."""
        return _log(group.predicted_prevalences)[None]

    def bounds(self, groups: Sequence[GroupSituation], bound: float) -> np.ndarray:
        """The ratio of two shares is the difference of their logarithms."""
        width = np.inf
        if bound > 0:
            width = -np.log(bound)
        return np.full((len(groups), len(groups)), width)

    def measure(
        self, groups: Sequence[GroupSituation], members: Sequence[int]
    ) -> float:
        """Compute the ratio; 1 if nobody is called positive."""
        return float(np.exp(-np.ptp(self.chosen(groups, members))))

    def exceeded_by(self, measured: float, bound: float) -> float:
        """Tell how far the ratio is below its bound."""
        return bound - measured

    def eased(self, bound: float, by: float) -> float:
        """Lower the bound."""
        return bound - by


class PairwisePE(Criterion):
    """Proportional equality of the worst ordered pair."""

    highest_bound = np.inf

    def values(self, group: GroupSituation) -> np.ndarray:
        """Return log(predicted prevalence / estimate); NaN where either is 0."""
        predicted = group.predicted_prevalences
        if group.estimate.value <= 0:
            return np.full((1, len(predicted)), np.nan)
        values = _log(predicted) - np.log(group.estimate.value)
        return np.where(predicted > 0, values, np.nan)[None]

    def bounds(self, groups: Sequence[GroupSituation], bound: float) -> np.ndarray:
        """Bound x_z - x_z' with x = log(rho-hat / q).

        PE(z, z') = q_z / q_z' abs(1 - exp(x_z - x_z')). For PE(z, z') <= t this means
        x_z - x_z' <= log(1 + t q_z' / q_z), and for PE(z', z) <= t it means
        x_z - x_z' <= -log(1 - t q_z / q_z').
        """
        q = np.array([group.estimate.value for group in groups])
        # Groups without positives are not compared; 1 keeps their rows finite.
        q = np.where(q > 0, q, 1.0)
        relative = bound * q[:, None] / q
        first = np.log1p(relative.T)
        second = np.full_like(first, np.inf)
        np.log1p(-relative, out=second, where=relative < 1)
        return np.minimum(first, np.abs(second))

    def measure(
        self, groups: Sequence[GroupSituation], members: Sequence[int]
    ) -> float:
        """Compute PE as if the estimates were the prevalences."""
        q = [group.estimate.value for group in groups]
        predicted = []
        for group, member in zip(groups, members, strict=True):
            predicted.append(group.predicted_prevalences[member])
        return worst_pe(q, predicted) if len(q) > 1 else 0.0

    def mixed(self, group: GroupSituation) -> np.ndarray:
        """Return the ratios themselves: a coin gives means of shares, not of logs."""
        return np.exp(self.values(group))


CRITERIA: dict[str, Criterion] = {
    "proportional_equality": PairwisePE(),
    "demographic_parity_difference": Criterion("predicted_prevalences"),
    "demographic_parity_ratio": ShareRatio(),
    "equal_opportunity_difference": Criterion("tpr"),
    "false_positive_rate_difference": Criterion("fpr"),
    "equalized_odds_difference": Criterion("tpr", "fpr"),
}
"""All criteria, by the name of the metric that measures them."""


def _log(shares: np.ndarray) -> np.ndarray:
    logs = np.full(shares.shape, _LOG_OF_NOTHING)
    return np.log(shares, out=logs, where=shares > 0)
