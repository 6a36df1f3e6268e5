"""The best choice of members under bounds between groups.

Every criterion that a rule knows bounds the difference of some value between two
groups: v_g - v_h <= C_gh. This module knows these numbers and nothing of fairness.
Branch and bound finds the best choice for any bounds.
"""

from __future__ import annotations

import heapq
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

SLACK = 1e-12
"""Values that agree to so much are equal: they differ by rounding alone."""

_PRECISION = 1e-9
"""What the solver's rounding may add to a total."""


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


_Box = tuple[float, np.ndarray, np.ndarray, np.ndarray]
"""A part of the choices: the total of the best members of all groups, the two ends that
values lie between, and these members."""


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
    shape = candidates.values.shape[:2]
    whole = _make_box(candidates, np.full(shape, -np.inf), np.full(shape, np.inf))
    # The count makes the order of equal bounds that in which boxes were made.
    boxes: list[tuple[float, int, _Box]] = []
    n_boxes = 0
    children = [whole]
    while True:
        for box in children:
            if box is not None and box[0] >= at_least - SLACK:
                heapq.heappush(boxes, (-box[0], n_boxes, box))
                n_boxes += 1
        if not boxes:
            return None
        box = heapq.heappop(boxes)[2]
        members = box[-1]
        violated = _worst_violation(candidates, bounds, members)
        if violated is None:
            return members
        children = _split(candidates, bounds, box, violated)


def _make_box(candidates: Candidates, low: np.ndarray, high: np.ndarray) -> _Box | None:
    """Return a box with the best member of every group; None if a group has none."""
    allowed = candidates.allowed.copy()
    for value, value_low, value_high in zip(candidates.values, low, high, strict=True):
        allowed &= value >= value_low[:, None]
        allowed &= value <= value_high[:, None]
    # The best members stand first.
    members = allowed.argmax(axis=1)
    groups = np.arange(len(members))
    if not allowed[groups, members].all():
        return None
    # No choice in the box is better than the best member of every group.
    total = float(candidates.utilities[groups, members].sum())
    return total, low, high, members


def _worst_violation(
    candidates: Candidates, bounds: np.ndarray, members: np.ndarray
) -> tuple[int, int, int] | None:
    """Return the value, group and other group whose bound is exceeded furthest."""
    if not bounds.size:
        return None
    groups = np.arange(len(members))
    chosen = candidates.values[:, groups, members]
    excess = chosen[:, :, None] - chosen[:, None, :] - bounds
    worst = int(excess.argmax())
    if excess.flat[worst] <= SLACK:
        return None
    value, group, other = np.unravel_index(worst, excess.shape)
    return int(value), int(group), int(other)


def _split(
    candidates: Candidates,
    bounds: np.ndarray,
    box: _Box,
    violated: tuple[int, int, int],
) -> list[_Box | None]:
    """Split a box so that both halves are without its best choice.

    That choice has v_g - C_gh > v_h. A cut t between the two leaves no valid choice
    out: either v_h <= t, and then every group has v_g <= t + C_gh; or v_h >= t, and
    then every group has v_g >= t - C_hg.
    """
    _, low, high, members = box
    value, group, other = violated
    v_group = candidates.values[value, group, members[group]]
    v_other = candidates.values[value, other, members[other]]
    cut = (v_group - bounds[value, group, other] + v_other) / 2
    lower = high.copy()
    reach = cut + bounds[value, :, other] + SLACK
    reach[other] = cut
    lower[value] = np.minimum(high[value], reach)
    higher = low.copy()
    reach = cut - bounds[value, other, :] - SLACK
    reach[other] = cut
    higher[value] = np.maximum(low[value], reach)
    return [_make_box(candidates, low, lower), _make_box(candidates, higher, high)]


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
    return -solved.fun - _PRECISION


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
