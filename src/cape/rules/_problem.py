"""The joint choice of members under criteria, and the nearest one if there is none.

The members of a group are put in order of what their errors are expected to cost; then
the cheapest choice within bounds is found for all groups together, by branch and bound.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from cape.base._groups import Group
from cape.rules._criteria import CRITERIA, DIGITS, Criterion, GroupSituation

_PRECISION = 1e-4
"""How near to the narrowest possible bounds the search comes."""

SLACK = 1e-12
"""Values that agree to so much are equal: they differ by rounding alone."""

_PRECISION_OF_SOLVER = 1e-9
"""What the solver's rounding may add to a total."""

_FIRST_WIDTH = 1e-3
"""By how much bounds are widened first; then four times as much, until one is met."""


def expected_costs(
    group: GroupSituation, *, cost_fp: float, cost_fn: float, use_shares: bool
) -> np.ndarray:
    """Compute the cost to expect of each member, for one row of the group.

    With both costs 1 this is the error rate, 1 minus the expected accuracy.

    Parameters
    ----------
    group : GroupSituation
    cost_fp, cost_fn : float
        Costs of a false positive and a false negative.
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


class Problem:
    """The members of all groups, and the criteria that they are to meet.

    Parameters
    ----------
    groups : sequence of GroupSituation
        At least one.
    criteria : sequence of str
        Names in `CRITERIA`.
    cost_fp, cost_fn : float
        Costs of a false positive and a false negative.

    Attributes
    ----------
    members, utilities : list of ndarray
        The usable members of each group, the best first, and what they add to the
        total.
    compared : ndarray of bool of shape (n_criteria, n_groups)
        Which groups take part in which criterion.
    candidates : Candidates
        The same members as arrays.
    """

    def __init__(
        self,
        groups: Sequence[GroupSituation],
        criteria: Sequence[str],
        cost_fp: float = 1.0,
        cost_fn: float = 1.0,
    ):
        self.groups = groups
        self.criteria = [CRITERIA[name] for name in criteria]
        self.costs = {"cost_fp": cost_fp, "cost_fn": cost_fn}
        self.members = []
        self.utilities = []
        compared = []
        for group in groups:
            usable, takes_part = usable_members(group, self.criteria)
            members, utilities = self._rank(group, usable, takes_part)
            self.members.append(members)
            self.utilities.append(utilities)
            compared.append(takes_part)
        self.compared = np.array(compared, dtype=bool).T
        values = []
        for criterion in self.criteria:
            values.append([criterion.values(group) for group in groups])
        self.candidates = self._stack(values)

    def _rank(
        self, group: GroupSituation, usable: np.ndarray, compared: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rank the members of a group by what their errors are expected to cost.

        A group whose rates are unknown, or that takes part in no criterion, gets the
        paper's ranking: by the distance of the predicted prevalence from the estimate.

        Returns
        -------
        members : ndarray of int
            Indices in the pool of the group, of members that may be chosen, the best
            first.
        utilities : ndarray of float
            What each of them adds to the total.
        """
        q = group.estimate.value
        is_weighed = len(compared) == 0 or compared.any()
        if is_weighed and has_known_rates(group).any():
            # In simulations the observed shares bring the accuracy under parity of
            # shares nearer the truth; without a criterion the plain rates choose
            # better.
            use_shares = len(compared) > 0
            costs = expected_costs(group, **self.costs, use_shares=use_shares)
        else:
            costs = np.abs(group.predicted_prevalences - q)
        # Ties go to the theta nearest the estimate, then to the smaller theta, as in
        # the paper's rule (docs/design.md, decision 2).
        distance_of_theta = np.round(np.abs(group.thetas - q), DIGITS)
        members = np.lexsort((group.thetas, distance_of_theta, np.round(costs, DIGITS)))
        if is_weighed:
            members = members[usable[members]]
        return members, -group.share * costs[members]

    def solve(self, bounds: Sequence[float | None]) -> list[int]:
        """Find the best choice, or the nearest to one that meets the bounds.

        Parameters
        ----------
        bounds : sequence of float or None
            One for each criterion. None, of a single one, is as near to parity as a
            coin would come.

        Returns
        -------
        list of int
            The member of each group.
        """
        given = [bound for bound in bounds if bound is not None]
        if len(given) < len(bounds):
            return self.as_good_as_a_coin()
        members = self.best(given)
        return self.nearest(given) if members is None else members

    def is_missed(self, criterion: int, measured: float, bound: float | None) -> bool:
        """Tell whether a criterion, given by its place, misses its bound.

        Without a bound it is missed if not even mixtures of members, value by value,
        could make the groups equal.
        """
        if bound is not None:
            excess = self.criteria[criterion].exceeded_by(measured, bound)
            return bool(excess > SLACK)
        if np.isnan(measured):
            return False
        lowest = []
        highest = []
        for place in np.flatnonzero(self.compared[criterion]).tolist():
            values = self.criteria[criterion].values(self.groups[place])
            usable = values[:, self.members[place]]
            lowest.append(usable.min(axis=1))
            highest.append(usable.max(axis=1))
        return bool((np.max(lowest, axis=0) > np.min(highest, axis=0)).any())

    def measure(self, criterion: int, members: Sequence[int]) -> float:
        """Compute the metric of a criterion over the groups that take part in it.

        Parameters
        ----------
        criterion : int
            Its place in ``criteria``.
        members : sequence of int
            The member of each group.

        Returns
        -------
        float
            NaN if fewer than two groups take part.
        """
        places = np.flatnonzero(self.compared[criterion]).tolist()
        if len(places) < 2:
            return float("nan")
        groups = [self.groups[place] for place in places]
        chosen = [members[place] for place in places]
        return self.criteria[criterion].measure(groups, chosen)

    def excess(self, bounds: Sequence[float], members: Sequence[int]) -> float:
        """Compute by how much all bounds have to be widened to hold these members."""
        excess = 0.0
        for place, criterion in enumerate(self.criteria):
            measured = self.measure(place, members)
            # NaN, where nothing is compared, exceeds nothing.
            missed_by = criterion.exceeded_by(measured, bounds[place])
            excess = max(excess, missed_by)
        return excess

    def best(
        self, bounds: Sequence[float], *, at_least: float = -np.inf
    ) -> list[int] | None:
        """Find the choice with the greatest total utility within the bounds.

        Parameters
        ----------
        bounds : sequence of float
            One for each criterion.
        at_least : float, default=-inf
            Choices with a smaller total utility are of no interest.

        Returns
        -------
        list of int or None
            The member of each group; None if no choice meets the bounds.
        """
        limits = []
        for place, criterion in enumerate(self.criteria):
            compared = self.compared[place]
            limit = criterion.bounds(self.groups, bounds[place])
            limit[~compared] = np.inf
            limit[:, ~compared] = np.inf
            limits.extend([limit] * criterion.n_values)
        shape = (len(limits), len(self.groups), len(self.groups))
        chosen = best_choice(
            self.candidates, np.reshape(limits, shape), at_least=at_least
        )
        return None if chosen is None else self._members_at(chosen)

    def nearest(
        self, bounds: Sequence[float], *, at_least: float = -np.inf
    ) -> list[int]:
        """Widen all bounds by the same least amount, until a choice meets them.

        Parameters
        ----------
        bounds, at_least
            As in `best`.

        Returns
        -------
        list of int
        """
        # The best members without any bounds tell how wide is certainly wide enough.
        best = self.without_bounds()
        too_narrow = 0.0
        wide_enough = self.excess(bounds, best)
        while wide_enough - too_narrow > _PRECISION * max(1.0, wide_enough):
            # Narrow bounds leave few choices to look at, so that widths grow.
            middle = (too_narrow + wide_enough) / 2
            width = min(middle, max(_FIRST_WIDTH, 4 * too_narrow))
            eased = []
            for criterion, bound in zip(self.criteria, bounds, strict=True):
                eased.append(criterion.eased(bound, width))
            members = self.best(eased, at_least=at_least)
            if members is None:
                too_narrow = width
            else:
                best = members
                # Mostly the choice needs less than it was given.
                wide_enough = min(width, self.excess(bounds, members))
        return best

    def as_good_as_a_coin(self) -> list[int]:
        """Find the most equal choice that is as good as parity by coin tosses.

        Exact parity without a coin is degenerate: to call everybody positive, or
        nobody, meets every parity. So groups may differ by the least amount whose
        expected cost is within one standard error of the coin's (the rule of Breiman et
        al., 1984). The coin picks the members that look best on the unseen rows. To
        reach that much exactly, groups would have to differ by the noise of these rows:
        on COMPAS predicted prevalences by .009, and TPRs by .068 instead of .046.

        Returns
        -------
        list of int
        """
        equal = [0.0] * len(self.criteria)
        best = self.without_bounds()
        if self.excess(equal, best) == 0:
            return best
        as_good = self.total_with_a_coin() - self.standard_error()
        return self.nearest(equal, at_least=as_good)

    def without_bounds(self) -> list[int]:
        """Return the best member of every group."""
        return self._members_at(np.zeros(len(self.groups), dtype=int))

    def total_with_a_coin(self) -> float:
        """Compute the total utility of parity by mixtures; -inf if there is none."""
        values = []
        compared = []
        for place, criterion in enumerate(self.criteria):
            values.append([criterion.mixed(group) for group in self.groups])
            compared.extend([self.compared[place]] * criterion.n_values)
        return best_with_a_coin(self._stack(values), np.array(compared))

    def standard_error(self) -> float:
        """Estimate the standard error of the total utility of the best members.

        Groups whose rates are unknown do not count: they keep their member.
        """
        variance = 0.0
        for group, member in zip(self.groups, self.without_bounds(), strict=True):
            if not has_known_rates(group)[member]:
                continue
            variance_tp, variance_fp = _variances_of_shares(group)
            of_cost = self.costs["cost_fn"] ** 2 * variance_tp[member]
            of_cost += self.costs["cost_fp"] ** 2 * variance_fp[member]
            variance += group.share**2 * of_cost
        return float(np.sqrt(variance))

    def _members_at(self, positions: np.ndarray) -> list[int]:
        """Turn positions among the candidates into members of the pools."""
        members = []
        for ranked, position in zip(self.members, positions, strict=True):
            members.append(int(ranked[position]))
        return members

    def _stack(self, values: Sequence[Sequence[np.ndarray]]) -> Candidates:
        """Write members of all groups and their values as arrays.

        ``values`` has for each criterion and group an array of (n_values, n_members).
        """
        shape = (len(self.groups), max(map(len, self.members)))
        utilities = np.full(shape, -np.inf)
        n_values = sum(len(of_groups[0]) for of_groups in values)
        stacked = np.zeros((n_values, *shape))
        for place, members in enumerate(self.members):
            utilities[place, : len(members)] = self.utilities[place]
            if values:
                own = np.concatenate([of_groups[place] for of_groups in values])
                stacked[:, place, : len(members)] = own[:, members]
        return Candidates(utilities, np.nan_to_num(stacked), utilities > -np.inf)


def compared_groups(name: str, groups: Mapping[Group, GroupSituation]) -> list[Group]:
    """Return the groups that a criterion is defined for.

    Parameters
    ----------
    name : str
        A name in `CRITERIA`.
    groups : mapping from group to GroupSituation

    Returns
    -------
    list of groups
        Empty if there are fewer than two: a group has nothing to be compared with.

    Examples
    --------
    >>> from cape.rules._problem import compared_groups
    >>> compared_groups("equal_opportunity_difference", {})
    []
    """
    compared = []
    for group, situation in groups.items():
        _, takes_part = usable_members(situation, [CRITERIA[name]])
        if takes_part[0]:
            compared.append(group)
    return compared if len(compared) > 1 else []


# The best choice under bounds between groups: v_g - v_h <= C_gh, for any values v. From
# here on nothing is known of fairness.


@dataclass(frozen=True)
class Candidates:
    """The members that may be chosen, the best first in each group.

    Groups with fewer members than the largest are filled up with members that are not
    allowed.

    Parameters
    ----------
    utilities : ndarray of shape (n_groups, n_members)
        What each member adds to the total, in descending order.
    values : ndarray of shape (n_values, n_groups, n_members)
        What is compared between groups, for instance true positive rates.
    allowed : ndarray of bool of shape (n_groups, n_members)
    """

    utilities: np.ndarray
    values: np.ndarray
    allowed: np.ndarray


def best_choice(
    candidates: Candidates, bounds: np.ndarray, *, at_least: float = -np.inf
) -> np.ndarray | None:
    """Find the members with the greatest total utility within the bounds.

    The box with the greatest upper bound is split first, so that the first choice that
    meets all bounds is the best of all.

    Parameters
    ----------
    candidates : Candidates
    bounds : ndarray of shape (n_values, n_groups, n_groups)
        Upper bounds of the value of the group in the row minus that of the group in the
        column; inf where a pair is not compared.
    at_least : float, default=-inf
        Choices with a smaller total are of no interest.

    Returns
    -------
    ndarray of int of shape (n_groups,) or None
        Positions in ``candidates``; None if no choice meets the bounds.
    """
    groups = np.arange(len(candidates.utilities))
    shape = candidates.values.shape[:2]
    # A box: its bound, the ends that values lie between, and its best members. The
    # count makes the order of equal bounds that in which boxes were made.
    boxes: list[tuple[float, int, np.ndarray, np.ndarray, np.ndarray]] = []
    n_boxes = 0
    children = [(np.full(shape, -np.inf), np.full(shape, np.inf))]
    while True:
        for low, high in children:
            members = _best_within(candidates, low, high)
            if members is None:
                continue
            # No choice in the box is better than the best member of every group.
            total = float(candidates.utilities[groups, members].sum())
            if total >= at_least - SLACK:
                heapq.heappush(boxes, (-total, n_boxes, low, high, members))
                n_boxes += 1
        if not boxes:
            return None
        _, _, low, high, members = heapq.heappop(boxes)
        chosen = candidates.values[:, groups, members]
        excess = chosen[:, :, None] - chosen[:, None, :] - bounds
        if (excess <= SLACK).all():
            return members
        value, group, other = np.unravel_index(excess.argmax(), excess.shape)
        bound = bounds[value, group, other]
        cut = (chosen[value, group] - bound + chosen[value, other]) / 2
        # That choice has v_g - C_gh > v_h. A cut t between the two leaves no valid
        # choice out: either v_h <= t, and then every group has v_g <= t + C_gh; or
        # v_h >= t, and then every group has v_g >= t - C_hg.
        highest = cut + bounds[value, :, other] + SLACK
        highest[other] = cut
        lower = high.copy()
        lower[value] = np.minimum(high[value], highest)
        lowest = cut - bounds[value, other, :] - SLACK
        lowest[other] = cut
        higher = low.copy()
        higher[value] = np.maximum(low[value], lowest)
        children = [(low, lower), (higher, high)]


def _best_within(
    candidates: Candidates, low: np.ndarray, high: np.ndarray
) -> np.ndarray | None:
    """Return the best member of every group in a box; None if a group has none."""
    allowed = candidates.allowed.copy()
    for value, value_low, value_high in zip(candidates.values, low, high, strict=True):
        allowed &= value >= value_low[:, None]
        allowed &= value <= value_high[:, None]
    if not allowed.any(axis=1).all():
        return None
    # The best members stand first.
    return allowed.argmax(axis=1)


def best_with_a_coin(candidates: Candidates, compared: np.ndarray) -> float:
    """Find the greatest total utility if each group may mix its members.

    A group that picks member j with probability p_j has the mean utility and the mean
    values of its members. With mixtures the values of all groups can be equal, which is
    a linear program; this is how Fairlearn's ThresholdOptimizer meets parity.

    Parameters
    ----------
    candidates : Candidates
        Their values are such that a mixture has their mean.
    compared : ndarray of bool of shape (n_values, n_groups)
        Which groups must have equal values.

    Returns
    -------
    float
        -inf if not even a mixture makes the values equal.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack, vstack

    group, position = np.nonzero(_corners(candidates))
    n_groups = len(candidates.allowed)
    n_values = len(candidates.values)
    n_members = len(group)
    # The unknowns are the probabilities of all members, and the common level of every
    # value. The probabilities of a group add up to 1.
    adds_up = csr_array((np.ones(n_members), (group, np.arange(n_members))))
    blocks = [hstack([adds_up, csr_array((n_groups, n_values))])]
    for value in range(n_values):
        # Mean value of each group - common level = 0, for the groups compared.
        values = candidates.values[value, group, position]
        means = csr_array((values, (group, np.arange(n_members))))
        level = np.zeros((n_groups, n_values))
        level[:, value] = -1
        equations = hstack([means, csr_array(level)]).tocsr()
        blocks.append(equations[compared[value]])
    equations = vstack(blocks)
    goals = np.zeros(equations.shape[0])
    goals[:n_groups] = 1
    utilities = candidates.utilities[group, position]
    costs = np.concatenate([-utilities, np.zeros(n_values)])
    limits = np.full((len(costs), 2), [0, np.inf])
    limits[n_members:, 0] = -np.inf
    solved = linprog(costs, A_eq=equations, b_eq=goals, bounds=limits)
    if solved.status != 0:
        return -np.inf
    return -solved.fun - _PRECISION_OF_SOLVER


def _corners(candidates: Candidates) -> np.ndarray:
    """Tell which members are corners of the convex hull of their group.

    Mixtures of corners reach whatever mixtures of all members reach, and of a thousand
    members some twenty are corners.
    """
    from scipy.spatial import ConvexHull, QhullError

    corners = np.zeros_like(candidates.allowed)
    for group, allowed in enumerate(candidates.allowed):
        places = np.flatnonzero(allowed)
        values = candidates.values[:, group, places]
        points = np.vstack([values, candidates.utilities[group, places]]).T
        # Few members, or members in one line, have no hull of full dimension.
        with suppress(QhullError):
            places = places[ConvexHull(points).vertices]
        corners[group, places] = True
    return corners
