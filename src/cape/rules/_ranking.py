"""The members of one group in order of preference, before groups are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cape.rules._base import GroupSituation
from cape.rules._costs import expected_costs, has_known_rates
from cape.rules._criteria import Criterion
from cape.rules._prevalence import DIGITS

__all__ = ["RankedMembers", "rank_members", "takes_part"]


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
    usable, compared = _usable_members(group, criteria)
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
        costs = np.abs(group.predicted_prevalences - group.estimate)
    if not is_weighed:
        usable = np.ones(len(costs), dtype=bool)
    members = _sort(group, costs)
    members = members[usable[members]]
    return RankedMembers(members, -group.share * costs[members], compared)


def takes_part(group: GroupSituation, criterion: Criterion) -> bool:
    """Tell whether a criterion is defined for some member of a group."""
    _, compared = _usable_members(group, [criterion])
    return bool(compared[0])


def _usable_members(
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


def _sort(group: GroupSituation, costs: np.ndarray) -> np.ndarray:
    """Sort members by cost; ties by the theta nearest the estimate, then the smaller.

    These are the ties of the paper's rule (docs/design.md, decision 2).
    """
    distance_of_theta = np.round(np.abs(group.thetas - group.estimate), DIGITS)
    return np.lexsort((group.thetas, distance_of_theta, np.round(costs, DIGITS)))
