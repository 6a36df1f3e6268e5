"""What a rule sees of each group and returns, and the paper's rule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from cape._estimate import Estimate
from cape._group_model import MemberRates
from cape._groups import Group

DIGITS = 12
"""Distances that agree to so many decimals are ties: they differ by rounding alone."""


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
    >>> from cape._group_model import MemberRates
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

    @property
    def is_logged(self) -> bool:
        """Whether the last member stands for decisions as they were made."""
        return bool(np.isnan(self.thetas[-1]))

    def of_thetas(self) -> GroupSituation:
        """Return the situation without a member that was made for no prevalence.

        Decisions as they were made are such a member: they can be kept, and not moved.
        """
        if not self.is_logged:
            return self
        rates = (getattr(self.rates, field.name)[:-1] for field in fields(MemberRates))
        return replace(
            self,
            thetas=self.thetas[:-1],
            predicted_prevalences=self.predicted_prevalences[..., :-1],
            rates=MemberRates(*rates),
        )

    # Computed once: a frontier looks at the rates of all members a thousand times.
    @cached_property
    def tpr(self) -> np.ndarray:
        """True positive rate of each member; NaN where it is unknown."""
        return self.rates.tpr

    @cached_property
    def fpr(self) -> np.ndarray:
        """False positive rate of each member; NaN where it is unknown."""
        return self.rates.fpr


class Rule(ABC):
    """Base class of rules: a rule picks a member for every group, jointly.

    To write your own, subclass this class and define `choose`.

    Examples
    --------
    >>> from cape.rules import Rule
    >>> class MiddleMember(Rule):
    ...     def choose(self, groups):
    ...         return {name: len(group.thetas) // 2 for name, group in groups.items()}
    >>> MiddleMember().choose({})
    {}
    """

    @abstractmethod
    def choose(self, groups: Mapping[Group, GroupSituation]) -> dict[Group, int]:
        """Pick the member of every group.

        Parameters
        ----------
        groups : mapping from group to GroupSituation
            All groups of the batch.

        Returns
        -------
        dict from group to int
            Index of the chosen member in the pool of that group. Where the fields of a
            group have a leading axis, an array with one index for each batch.
        """

    def notes(
        self, groups: Mapping[Group, GroupSituation], chosen: Mapping[Group, int]
    ) -> list[str]:
        """Say what a user should know about a choice, such as a bound it misses.

        Parameters
        ----------
        groups : mapping from group to GroupSituation
            All groups of the batch.
        chosen : mapping from group to int
            What `choose` has picked.

        Returns
        -------
        list of str
            Sentences; none unless a subclass has some.
        """
        return []


@dataclass(frozen=True)
class Prevalence(Rule):
    """Pick the member whose predicted prevalence is nearest the estimate.

    This is step 3 of the prediction phase of Algorithm 1. Each group is decided
    on its own. It brings the prevalence difference of every group near 0, and with it
    the proportional equality of every pair.

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
                group.predicted_prevalences, group.thetas, group.estimate.value
            )
        return chosen


@dataclass(frozen=True)
class Unchanged(Rule):
    """Keep the decisions as they are.

    With `cape.Scores` these are the decisions that were logged. Without logged
    decisions the score of the model is cut where it predicts as many positives as
    training has positives, whatever the batch is.

    Examples
    --------
    >>> from cape.rules import Unchanged
    >>> Unchanged().choose({})
    {}
    """

    def choose(self, groups: Mapping[Group, GroupSituation]) -> dict[Group, int]:
        """Pick the member of every group that changes nothing.

        Parameters
        ----------
        groups : mapping from group to GroupSituation

        Returns
        -------
        dict from group to int
        """
        return {name: group.unchanged for name, group in groups.items()}


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
    >>> from cape.rules._base import nearest_member
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
