"""The members of one group: what their errors cost, and in which order to try them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cape.rules._base import DIGITS, GroupSituation
from cape.rules._criteria import Criterion


def expected_costs(
    group: GroupSituation, *, cost_fp: float, cost_fn: float, use_shares: bool
) -> np.ndarray:
    """Compute the cost to expect of each member, for one row of the group.

    With both costs 1 this is the error rate, 1 minus the expected accuracy.

    Parameters
    ----------
    group : GroupSituation
    cost_fp, cost_fn : float
        What a false positive and a false negative cost.
    use_shares : bool
        Whether to correct the rates by the observed shares, as in `rates_given_shares`.

    Returns
    -------
    ndarray of shape (n_members,)
        NaN where a rate is unknown.
    """
    tpr = group.tpr
    fpr = group.fpr
    if use_shares:
        tpr, fpr = rates_given_shares(group)
    false_negatives = group.estimate.value * (1 - tpr)
    false_positives = (1 - group.estimate.value) * fpr
    return cost_fn * false_negatives + cost_fp * false_positives


def variance_of_costs(
    group: GroupSituation, *, cost_fp: float, cost_fn: float
) -> np.ndarray:
    """Estimate the variance of `expected_costs` that the unseen rows leave.

    Parameters
    ----------
    group : GroupSituation
    cost_fp, cost_fn : float

    Returns
    -------
    ndarray of shape (n_members,)
    """
    variance_tp, variance_fp = _variances_of_shares(group)
    return cost_fn**2 * variance_tp + cost_fp**2 * variance_fp


def rates_given_shares(group: GroupSituation) -> tuple[np.ndarray, np.ndarray]:
    """Move the rates of members so that the observed shares of positive calls come out.

    A member calls the share q TPR + (1-q) FPR of the rows positive, which is observed.
    What is missing is spread over the two rates by the variance that each gives to the
    share. With equal costs the accuracy that follows is the mean of its two forms with
    the observed share put in for one of the rates, weighted by inverse variance.

    Parameters
    ----------
    group : GroupSituation

    Returns
    -------
    tpr, fpr : ndarray of shape (n_members,)
        NaN where a rate is unknown.
    """
    q = group.estimate.value
    variance_tp, variance_fp = _variances_of_shares(group)
    called_by_rates = q * group.tpr + (1 - q) * group.fpr
    missing = group.predicted_prevalences - called_by_rates
    weight_tp = variance_tp / (variance_tp + variance_fp)
    # Where q is 0 or 1 the share tells of one rate alone.
    with np.errstate(divide="ignore", invalid="ignore"):
        tpr = group.tpr + np.where(q > 0, missing * weight_tp / q, 0.0)
        fpr = group.fpr + np.where(q < 1, missing * (1 - weight_tp) / (1 - q), 0.0)
    return np.clip(tpr, 0, 1), np.clip(fpr, 0, 1)


def has_known_rates(group: GroupSituation) -> np.ndarray:
    """Tell of which members both rates are known."""
    return ~np.isnan(group.tpr) & ~np.isnan(group.fpr)


def _variances_of_shares(group: GroupSituation) -> tuple[np.ndarray, np.ndarray]:
    """Estimate the variances of the shares of true and of false positives."""
    q = group.estimate.value
    rates = group.rates
    variance_tp = q**2 * _variance(rates.true_positives, rates.positives)
    variance_fp = (1 - q) ** 2 * _variance(rates.false_positives, rates.negatives)
    return variance_tp, variance_fp


def _variance(called: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Estimate the variance of a rate."""
    # Half a row more of each kind: a rate of 0 in twenty rows is no certainty.
    rate = (called + 0.5) / (rows + 1)
    return rate * (1 - rate) / (rows + 1)


@dataclass(frozen=True)
class RankedMembers:
    """The members of a group that may be chosen, the best first.

    Parameters
    ----------
    members : ndarray of int
        Indices in the pool of the group.
    utilities : ndarray of float
        What each of them adds to the total.
    compared : ndarray of bool of shape (n_criteria,)
        In which criteria the group takes part.
    """

    members: np.ndarray
    utilities: np.ndarray
    compared: np.ndarray


def rank_members(
    group: GroupSituation,
    criteria: Sequence[Criterion],
    *,
    cost_fp: float,
    cost_fn: float,
) -> RankedMembers:
    """Rank the members of a group by what their errors are expected to cost.

    A group whose rates are unknown, or that takes part in no criterion, gets the
    paper's ranking: by the distance of the predicted prevalence from the estimate.

    Parameters
    ----------
    group : GroupSituation
    criteria : sequence of Criterion
    cost_fp, cost_fn : float

    Returns
    -------
    RankedMembers
    """
    usable, compared = usable_members(group, criteria)
    without_criteria = len(criteria) == 0
    is_weighed = without_criteria or compared.any()
    if is_weighed and has_known_rates(group).any():
        # In simulations the observed shares bring the accuracy under parity of shares
        # nearer the truth; without a criterion the plain rates choose better.
        use_shares = not without_criteria
        costs = expected_costs(
            group, cost_fp=cost_fp, cost_fn=cost_fn, use_shares=use_shares
        )
    else:
        costs = np.abs(group.predicted_prevalences - group.estimate.value)
    if not is_weighed:
        usable = np.ones(len(costs), dtype=bool)
    # Ties go to the theta nearest the estimate, then to the smaller theta, as in the
    # paper's rule (docs/design.md, decision 2).
    distance_of_theta = np.round(np.abs(group.thetas - group.estimate.value), DIGITS)
    members = np.lexsort((group.thetas, distance_of_theta, np.round(costs, DIGITS)))
    members = members[usable[members]]
    return RankedMembers(members, -group.share * costs[members], compared)


def usable_members(
    group: GroupSituation, criteria: Sequence[Criterion]
) -> tuple[np.ndarray, np.ndarray]:
    """Tell which members may be chosen, and in which criteria the group takes part.

    A group takes part in a criterion if the criterion is defined for one of its usable
    members. Members of which it is undefined are then of no use.
    """
    known = has_known_rates(group)
    usable = known if known.any() else np.ones_like(known)
    compared = np.zeros(len(criteria), dtype=bool)
    for place, criterion in enumerate(criteria):
        defined = usable & ~np.isnan(criterion.values(group)).any(axis=0)
        if defined.any():
            compared[place] = True
            usable = defined
    return usable, compared
