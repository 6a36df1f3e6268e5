"""The best choice of members if one value may differ by so much, by trying all levels.

`cape.rules._search` gives the same answer for any bounds. This way takes a fifth of its
time for the commonest rules, whose adaptation would else take half as long again.
"""

from __future__ import annotations

import numpy as np

from cape.rules._search import SLACK, Candidates

__all__ = ["best_within", "first_positions"]


def best_within(
    candidates: Candidates,
    width: float,
    compared: np.ndarray,
    *,
    at_least: float = -np.inf,
) -> np.ndarray | None:
    """Find the members with the greatest total utility whose values differ little.

    The smallest value of the best choice is that of some member. For each of these
    levels the best member of every group within [level, level + width] is looked up.

    Parameters
    ----------
    candidates : Candidates
        With one value.
    width : float
        Greatest difference of values between two groups.
    compared : ndarray of bool of shape (n_groups,)
        Which groups are compared; the others get their best member.
    at_least : float, default=-inf
        Choices with a smaller total are of no interest.

    Returns
    -------
    ndarray of int of shape (n_groups,) or None
        Positions in ``candidates``; None if no choice is within the width.
    """
    values = candidates.values[0]
    taking_part = candidates.allowed & compared[:, None]
    levels = np.unique(values[taking_part])
    if not len(levels):
        # Nobody is compared, and one level stands for all.
        levels = np.zeros(1)
    totals = np.zeros(len(levels))
    best_of_groups = {}
    for group in range(len(compared)):
        if not compared[group]:
            totals += candidates.utilities[group, 0]
            continue
        own = values[group, candidates.allowed[group]]
        best = _best_in_windows(own, levels, width)
        utilities = np.append(candidates.utilities[group], -np.inf)
        totals += utilities[best]
        best_of_groups[group] = best
    level = int(totals.argmax())
    if totals[level] == -np.inf or totals[level] < at_least - SLACK:
        return None
    chosen = np.zeros(len(compared), dtype=int)
    for group, best in best_of_groups.items():
        chosen[group] = best[level]
    return chosen


def _best_in_windows(
    values: np.ndarray, levels: np.ndarray, width: float
) -> np.ndarray:
    """Return the first position whose value is in [level, level + width], or -1.

    Members stand in order of preference, so that the first position is the best.
    """
    order = values.argsort(kind="stable")
    ordered = values[order]
    start = ordered.searchsorted(levels - SLACK)
    stop = ordered.searchsorted(levels + width + SLACK, side="right")
    return first_positions(order, start, stop)


def first_positions(
    order: np.ndarray, start: np.ndarray, stop: np.ndarray
) -> np.ndarray:
    """Return the smallest of ``order[start:stop]`` for many stretches, or -1.

    Parameters
    ----------
    order : ndarray of int
        Positions of members, sorted by some value.
    start, stop : ndarray of int
        Ends of the stretches; a stretch that ends before it starts is empty.

    Returns
    -------
    ndarray of int
    """
    length = stop - start
    best = np.full(len(start), -1)
    # A sparse table: the first position in every stretch of 1, 2, 4, ... values. A
    # window is covered by two stretches.
    firsts = order
    size = 1
    while True:
        fits = (length >= size) & (length < 2 * size)
        left = firsts[start[fits]]
        right = firsts[stop[fits] - size]
        best[fits] = np.minimum(left, right)
        if 2 * size > len(order):
            return best
        firsts = np.minimum(firsts[:-size], firsts[size:])
        size *= 2
