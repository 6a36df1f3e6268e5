"""What rules share that weigh costs against criteria between groups."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cape._groups import Group, group_name
from cape._validation import check_number
from cape.metrics._rates import FEWEST_ROWS
from cape.rules._base import GroupSituation, Rule
from cape.rules._costs import has_known_rates
from cape.rules._criteria import CRITERIA
from cape.rules._problem import Problem
from cape.rules._ranking import takes_part
from cape.rules._search import SLACK

__all__ = [
    "BoundedRule",
    "best_within_each",
    "compared_groups",
    "measure_criterion",
]


@dataclass(frozen=True, kw_only=True)
class BoundedRule(Rule):
    """Pick the members whose errors cost least, within bounds on criteria.

    Parameters
    ----------
    cost_fp, cost_fn : float, default=1.0
        What a false positive and a false negative cost. With both 1, the least cost is
        the best accuracy.
    """

    cost_fp: float = 1.0
    cost_fn: float = 1.0

    def __post_init__(self) -> None:
        check_number("cost_fp", self.cost_fp, low=0)
        check_number("cost_fn", self.cost_fn, low=0)
        if self.cost_fp == 0 and self.cost_fn == 0:
            raise ValueError("cost_fp or cost_fn must be above 0, got 0 for both.")

    @property
    @abstractmethod
    def bounds(self) -> dict[str, float | None]:
        """Return the bound of each criterion, by its name in `CRITERIA`.

        None, for a single criterion, is the least difference that is about as good as
        parity by tosses of a coin.
        """

    def choose(self, groups: Mapping[Group, GroupSituation]) -> dict[Group, int]:
        """Pick the members of all groups, jointly.

        Ties go to the theta nearest the estimate, then to the smaller theta.

        Parameters
        ----------
        groups : mapping from group to GroupSituation

        Returns
        -------
        dict from group to int
        """
        if not groups:
            return {}
        problem = self._problem(groups)
        bounds = list(self.bounds.values())
        members = _solve(problem, bounds)
        return dict(zip(groups, members, strict=True))

    def notes(
        self, groups: Mapping[Group, GroupSituation], chosen: Mapping[Group, int]
    ) -> list[str]:
        """Name groups that were left out, and bounds that no choice meets.

        Parameters
        ----------
        groups : mapping from group to GroupSituation
        chosen : mapping from group to int

        Returns
        -------
        list of str
        """
        if not groups:
            return []
        problem = self._problem(groups)
        sentences = _note_unknown_rates(groups)
        members = [int(chosen[group]) for group in groups]
        for place, (name, bound) in enumerate(self.bounds.items()):
            sentences += _note_left_out(problem, place, name, list(groups))
            sentences += _note_missed(problem, place, name, bound, members)
        return sentences

    def _problem(self, groups: Mapping[Group, GroupSituation]) -> Problem:
        criteria = [CRITERIA[name] for name in self.bounds]
        return Problem.of(
            list(groups.values()),
            criteria,
            cost_fp=self.cost_fp,
            cost_fn=self.cost_fn,
        )


def _solve(problem: Problem, bounds: Sequence[float | None]) -> list[int]:
    """Find the best choice, or the nearest to one that meets the bounds."""
    given = [bound for bound in bounds if bound is not None]
    if len(given) < len(bounds):
        return problem.as_good_as_a_coin()
    members = problem.best(given)
    if members is None:
        members = problem.nearest(given)
    return members


def _note_unknown_rates(groups: Mapping[Group, GroupSituation]) -> list[str]:
    """Name the groups of which no member has known rates."""
    unknown = []
    for name, group in groups.items():
        if not has_known_rates(group).any():
            unknown.append(name)
    if not unknown:
        return []
    return [
        f"the error rates of {_list(unknown)} are unknown (fewer than {FEWEST_ROWS} "
        "unseen rows of a class): its member was picked by predicted prevalence, as "
        "near to the estimate as possible."
    ]


def _note_left_out(
    problem: Problem, place: int, name: str, groups: Sequence[Group]
) -> list[str]:
    """Name the groups that a criterion is undefined for."""
    left_out = []
    for group, compared in zip(groups, problem.compared(place), strict=True):
        if not compared:
            left_out.append(group)
    if not left_out:
        return []
    return [f"{name} is undefined for {_list(left_out)} and does not count it."]


def _note_missed(
    problem: Problem, place: int, name: str, bound: float | None, members: list[int]
) -> list[str]:
    """Say by how much a bound is missed."""
    measured = problem.measure(place, members)
    if bound is None:
        if np.isnan(measured) or problem.overlaps(place):
            return []
        return [
            f"no members make the groups equal: the nearest have {name} {measured:.4g}."
        ]
    if not problem.criteria[place].exceeded_by(measured, bound) > SLACK:
        return []
    return [
        f"no members meet all bounds: the nearest have {name} {measured:.4g}, and "
        f"{bound:g} was asked for."
    ]


def _list(groups: Sequence[Group]) -> str:
    return ", ".join(repr(group_name(group)) for group in groups)


def best_within_each(
    groups: Mapping[Group, GroupSituation],
    criterion: str,
    bounds: Sequence[float],
    *,
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
) -> list[dict[Group, int]]:
    """Find the choice that `Constrained` makes, for each of many bounds.

    Parameters
    ----------
    groups : mapping from group to GroupSituation
        At least one.
    criterion : str
        A name in `CRITERIA`.
    bounds : sequence of float
        Of this criterion.
    cost_fp, cost_fn : float, default=1.0
        What a false positive and a false negative cost.

    Returns
    -------
    list of dict from group to int
        The chosen members, one dict for each bound.

    Examples
    --------
    >>> from cape.rules import best_within_each
    >>> best_within_each({}, "equal_opportunity_difference", [])
    []
    """
    if not bounds:
        return []
    # The members are ranked once, which takes longer than to find one choice.
    problem = Problem.of(
        list(groups.values()), [CRITERIA[criterion]], cost_fp=cost_fp, cost_fn=cost_fn
    )
    choices = []
    for bound in bounds:
        members = _solve(problem, [bound])
        choices.append(dict(zip(groups, members, strict=True)))
    return choices


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
    >>> from cape.rules import compared_groups
    >>> compared_groups("equal_opportunity_difference", {})
    []
    """
    criterion = CRITERIA[name]
    compared = []
    for group, situation in groups.items():
        if takes_part(situation, criterion):
            compared.append(group)
    return compared if len(compared) > 1 else []


def measure_criterion(
    name: str,
    groups: Mapping[Group, GroupSituation],
    chosen: Mapping[Group, int],
) -> float:
    """Compute a criterion of a choice of members, as the rules estimate it.

    Parameters
    ----------
    name : str
        A name in `CRITERIA`.
    groups : mapping from group to GroupSituation
    chosen : mapping from group to int

    Returns
    -------
    float
        NaN if fewer than two groups take part.

    Examples
    --------
    >>> from cape.rules import measure_criterion
    >>> measure_criterion("equal_opportunity_difference", {}, {})
    nan
    """
    compared = compared_groups(name, groups)
    if not compared:
        return float("nan")
    situations = [groups[group] for group in compared]
    members = [int(chosen[group]) for group in compared]
    return CRITERIA[name].measure(situations, members)
