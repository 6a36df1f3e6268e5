"""The best choice of members under bounds between groups, by branch and bound.

Every criterion that a rule knows bounds the difference of some value between two
groups: v_g - v_h <= C_gh. This module knows these numbers and nothing of fairness.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

__all__ = ["Candidates", "best_choice"]

SLACK = 1e-12
"""Values that agree to so much are equal: they differ by rounding alone."""


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


@dataclass(frozen=True)
class _Box:
    """A part of the choices: members whose values lie between two ends."""

    low: np.ndarray
    high: np.ndarray
    members: np.ndarray
    total: float


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
            if box is not None and box.total >= at_least - SLACK:
                heapq.heappush(boxes, (-box.total, n_boxes, box))
                n_boxes += 1
        if not boxes:
            return None
        box = heapq.heappop(boxes)[2]
        violated = _worst_violation(candidates, bounds, box)
        if violated is None:
            return box.members
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
    return _Box(low, high, members, total)


def _worst_violation(
    candidates: Candidates, bounds: np.ndarray, box: _Box
) -> tuple[int, int, int] | None:
    """Return the value, group and other group whose bound is exceeded furthest."""
    if not bounds.size:
        return None
    groups = np.arange(len(box.members))
    chosen = candidates.values[:, groups, box.members]
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
    value, group, other = violated
    v_group = candidates.values[value, group, box.members[group]]
    v_other = candidates.values[value, other, box.members[other]]
    cut = (v_group - bounds[value, group, other] + v_other) / 2
    high = box.high.copy()
    reach = cut + bounds[value, :, other] + SLACK
    reach[other] = cut
    high[value] = np.minimum(high[value], reach)
    low = box.low.copy()
    reach = cut - bounds[value, other, :] - SLACK
    reach[other] = cut
    low[value] = np.maximum(low[value], reach)
    below = _make_box(candidates, box.low, high)
    above = _make_box(candidates, low, box.high)
    return [below, above]
