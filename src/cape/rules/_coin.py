"""What tossing a coin between members would give, without tossing it."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from cape.rules._search import Candidates

__all__ = ["best_with_a_coin"]

_PRECISION = 1e-9
"""What the solver's rounding may add to a total."""


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
