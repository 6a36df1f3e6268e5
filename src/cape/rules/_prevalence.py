"""The paper's rule: predicted prevalence nearest the estimate, group by group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cape._groups import Group
from cape.rules._base import GroupSituation, Rule

__all__ = ["DIGITS", "Prevalence", "nearest_member"]

DIGITS = 12
"""Distances that agree to so many decimals are ties: they differ by rounding alone."""


@dataclass(frozen=True)
class Prevalence(Rule):
    """Pick the member whose predicted prevalence is nearest the estimate.

    This is step 3 of the prediction phase of Algorithm 1. Each group is decided by
    itself. It brings the prevalence difference of every group near 0, and with it the
    proportional equality of every pair.

    Examples
    --------
    >>> from cape.rules import Prevalence
    >>> Prevalence().choose({})
    {}
    """

    def choose(self, groups: Mapping[Group, GroupSituation]) -> dict[Group, Any]:
        """Pick the member of every group.

        Parameters
        ----------
        groups : mapping from group to GroupSituation

        Returns
        -------
        dict from group to int
            Or to an array of int, for groups whose fields have a leading axis.
        """
        chosen = {}
        for name, group in groups.items():
            chosen[name] = nearest_member(
                group.predicted_prevalences, group.thetas, group.estimate
            )
        return chosen


def nearest_member(
    predicted_prevalences: np.ndarray, thetas: np.ndarray, estimate: Any
) -> Any:
    """Find the member whose predicted prevalence is nearest the estimate.

    This is J = argmin over theta of abs(rho-hat_theta - q), step 3 of the prediction
    phase of Algorithm 1. The paper is silent about ties: here they go to the theta
    nearest the estimate, then to the smaller theta. In batches of one row, where every
    predicted prevalence is 0 or 1, ties are the rule.

    Parameters
    ----------
    predicted_prevalences : ndarray of shape (..., n_members)
        Share of the rows that each member calls positive.
    thetas : ndarray of shape (n_members,)
        Prevalence that each member was made for.
    estimate : float or ndarray of shape (...,)
        Estimated prevalence.

    Returns
    -------
    int or ndarray of shape (...,)
        Index of the chosen member.

    Examples
    --------
    >>> from cape.rules import nearest_member
    >>> int(nearest_member(np.array([0.1, 0.4, 0.4]), np.array([0.2, 0.5, 0.8]), 0.5))
    1
    """
    q = np.asarray(estimate)[..., None]
    # In ascending order of theta, argmin returns the smaller theta of two equals.
    order = np.argsort(thetas, kind="stable")
    distance = np.round(np.abs(predicted_prevalences[..., order] - q), DIGITS)
    tied = distance == distance.min(axis=-1, keepdims=True)
    distance_of_theta = np.round(np.abs(thetas[order] - q), DIGITS)
    chosen = np.where(tied, distance_of_theta, np.inf).argmin(axis=-1)
    return order[chosen]
