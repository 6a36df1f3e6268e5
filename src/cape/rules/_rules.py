"""All rules: the paper's, and those that weigh costs against criteria."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from cape.base._errors import ParameterError
from cape.base._groups import Group, group_name
from cape.base._validation import check_choice, check_number
from cape.metrics._rates import FEWEST_ROWS
from cape.rules._criteria import CRITERIA, DIGITS, GroupSituation
from cape.rules._problem import Problem, has_known_rates
from cape.shown._results import (
    bound_is_missed,
    criterion_is_undefined,
    rates_are_unknown,
)
from cape.training._group_model import MemberRates
from cape.training._scores import Scores


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
        """Return notes for the user on a choice, such as a bound that it misses.

        Parameters
        ----------
        groups : mapping from group to GroupSituation
            All groups of the batch.
        chosen : mapping from group to int
            What `choose` has picked.

        Returns
        -------
        list of str
            Sentences; empty unless a subclass defines some.
        """
        return []


@dataclass(frozen=True)
class Prevalence(Rule):
    """Pick the member whose predicted prevalence is nearest the estimate.

    This is step 3 of the prediction phase of Algorithm 1, for each group on its own.
    The prevalence difference of every group is then near 0, and so is the proportional
    equality of every pair.

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

    With `cape.Scores` these are the logged decisions. Without logged decisions, the
    model's score is cut where it predicts as many positives as training has, whatever
    the batch.

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
    >>> from cape.rules._rules import nearest_member
    >>> int(nearest_member(np.array([0.1, 0.4, 0.4]), np.array([0.2, 0.5, 0.8]), 0.5))
    1
    """
    q = np.asarray(estimate)[..., None]
    distance = np.round(np.abs(predicted_prevalences - q), DIGITS)
    nearest = distance == distance.min(axis=-1, keepdims=True)
    of_theta = np.where(nearest, np.round(np.abs(thetas - q), DIGITS), np.inf)
    nearest = of_theta == of_theta.min(axis=-1, keepdims=True)
    return np.where(nearest, thetas, np.inf).argmin(axis=-1)


def is_logged(group: GroupSituation) -> bool:
    """Tell whether the last member stands for decisions as they were made."""
    return bool(np.isnan(group.thetas[-1]))


def of_thetas(group: GroupSituation) -> GroupSituation:
    """Return a situation without a member that was made for no prevalence.

    Decisions as they were made are such a member: they can be kept, and not moved.
    """
    if not is_logged(group):
        return group
    rates = [getattr(group.rates, field.name)[:-1] for field in fields(MemberRates)]
    return replace(
        group,
        thetas=group.thetas[:-1],
        predicted_prevalences=group.predicted_prevalences[..., :-1],
        rates=MemberRates(*rates),
    )


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
            raise ParameterError("cost_fp", "or cost_fn must be above 0, got 0.")

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
        members = self._problem(groups).solve(list(self.bounds.values()))
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
        sentences = []
        situations = groups.items()
        unknown = [name for name, one in situations if not has_known_rates(one).any()]
        if unknown:
            sentences.append(rates_are_unknown(unknown, FEWEST_ROWS))
        problem = self._problem(groups)
        members = [int(chosen[group]) for group in groups]
        for place, (criterion, bound) in enumerate(self.bounds.items()):
            takes_part = zip(groups, problem.compared[place], strict=True)
            left_out = [name for name, compared in takes_part if not compared]
            if left_out:
                sentences.append(criterion_is_undefined(criterion, left_out))
            measured = problem.measure(place, members)
            if problem.is_missed(place, measured, bound):
                sentences.append(bound_is_missed(criterion, measured, bound))
        return sentences

    def _problem(self, groups: Mapping[Group, GroupSituation]) -> Problem:
        situations = list(groups.values())
        return Problem(situations, list(self.bounds), self.cost_fp, self.cost_fn)


@dataclass(frozen=True, kw_only=True)
class Accuracy(BoundedRule):
    """Best expected accuracy, or least expected cost, in every group.

    Groups need not be equal. This is the correction of Saerens et al. (2002): the
    threshold moves with the prevalence.

    Parameters
    ----------
    cost_fp, cost_fn : float, default=1.0
        Costs of a false positive and a false negative.

    Examples
    --------
    >>> from cape.rules import Accuracy
    >>> Accuracy(cost_fn=5)
    Accuracy(cost_fp=1.0, cost_fn=5)
    """

    @property
    def bounds(self) -> dict[str, float | None]:
        """Return no bound."""
        return {}


@dataclass(frozen=True, kw_only=True)
class _Parity(BoundedRule):
    """A rule with one criterion, whose name is ``_criterion``."""

    _criterion = ""

    tolerance: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tolerance is not None:
            high = CRITERIA[self._criterion].highest_bound
            check_number("tolerance", self.tolerance, low=0, high=high)

    @property
    def bounds(self) -> dict[str, float | None]:
        """Return the tolerance, by the name of the criterion."""
        return {self._criterion: self.tolerance}


@dataclass(frozen=True, kw_only=True)
class ProportionalEquality(_Parity):
    """The ratios of predicted prevalences are those of the estimates, at least cost.

    The paper's rule brings every predicted prevalence near its estimate, and with it PE
    near 0. This rule asks only for PE, which leaves room for better accuracy. A
    group whose estimate is 0 has no PE: it gets the paper's member.

    Parameters
    ----------
    tolerance : float or None, default=None
        Largest PE of any ordered pair, with the estimates as true prevalences. None is
        the smallest that costs no more than a PE of 0 by randomization, within one
        standard error of the expected cost.
    cost_fp, cost_fn : float, default=1.0
        Costs of a false positive and a false negative.

    Examples
    --------
    >>> from cape.rules import ProportionalEquality
    >>> ProportionalEquality(tolerance=0.1)
    ProportionalEquality(cost_fp=1.0, cost_fn=1.0, tolerance=0.1)
    """

    _criterion = "proportional_equality"


@dataclass(frozen=True, kw_only=True)
class DemographicParity(_Parity):
    """Predicted prevalences are equal, at least cost.

    The shares are observed in the batch, so the bound is met exactly.

    Parameters
    ----------
    tolerance : float or None, default=None
        Largest difference of predicted prevalences between two groups. None is the
        smallest that costs no more than exactly equal shares by randomization, within
        one standard error of the expected cost.
    ratio : float in [0, 1] or None, default=None
        Smallest ratio of predicted prevalences, instead of a tolerance; 0.8 is the
        four-fifths rule.
    cost_fp, cost_fn : float, default=1.0
        Costs of a false positive and a false negative.

    Examples
    --------
    >>> from cape.rules import DemographicParity
    >>> four_fifths = DemographicParity(ratio=0.8)
    """

    _criterion = "demographic_parity_difference"

    ratio: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ratio is None:
            return
        check_number("ratio", self.ratio, low=0, high=1)
        if self.tolerance is not None:
            raise ValueError(
                "tolerance must be None if ratio is given, got "
                f"{self.tolerance!r}. rules.Constrained takes several bounds."
            )

    @property
    def bounds(self) -> dict[str, float | None]:
        """Return the ratio, or else the tolerance, by the name of the criterion."""
        if self.ratio is not None:
            return {"demographic_parity_ratio": self.ratio}
        return super().bounds


@dataclass(frozen=True, kw_only=True)
class EqualOpportunity(_Parity):
    """True positive rates are equal, at least cost.

    Parameters
    ----------
    tolerance : float or None, default=None
        Largest difference of the members' true positive rates between two groups. None
        is the smallest that costs no more than exactly equal rates by randomization,
        within one standard error of the expected cost.
    cost_fp, cost_fn : float, default=1.0
        Costs of a false positive and a false negative.

    Examples
    --------
    >>> from cape.rules import EqualOpportunity
    >>> EqualOpportunity(cost_fn=5).cost_fn
    5
    """

    _criterion = "equal_opportunity_difference"


@dataclass(frozen=True, kw_only=True)
class PredictiveEquality(_Parity):
    """False positive rates are equal, at least cost.

    Parameters
    ----------
    tolerance : float or None, default=None
        Largest difference of the members' false positive rates between two groups. None
        is the smallest that costs no more than exactly equal rates by randomization,
        within one standard error of the expected cost.
    cost_fp, cost_fn : float, default=1.0
        Costs of a false positive and a false negative.

    Examples
    --------
    >>> from cape.rules import PredictiveEquality
    >>> PredictiveEquality(tolerance=0.05).tolerance
    0.05
    """

    _criterion = "false_positive_rate_difference"


@dataclass(frozen=True, kw_only=True)
class EqualizedOdds(_Parity):
    """True and false positive rates are as equal as one member per group allows.

    Parameters
    ----------
    tolerance : float or None, default=None
        Largest difference of true and of false positive rates between two groups. None
        is the smallest that costs no more than exactly equal rates by randomization,
        within one standard error of the expected cost.
    cost_fp, cost_fn : float, default=1.0
        Costs of a false positive and a false negative.

    Examples
    --------
    >>> from cape.rules import EqualizedOdds
    >>> EqualizedOdds().tolerance is None
    True
    """

    _criterion = "equalized_odds_difference"


@dataclass(frozen=True, kw_only=True)
class Constrained(BoundedRule):
    """Least cost within bounds on any number of criteria.

    If no choice of members meets all bounds, they are all widened by the same
    smallest amount until one does, and a note says so.

    Parameters
    ----------
    proportional_equality : float or None, default=None
        Largest PE of any ordered pair. None means no bound, here and below.
    demographic_parity_difference : float or None, default=None
        Greatest difference of predicted prevalences.
    demographic_parity_ratio : float or None, default=None
        Smallest ratio of predicted prevalences; 0.8 is the four-fifths rule.
    equal_opportunity_difference : float or None, default=None
        Greatest difference of true positive rates.
    false_positive_rate_difference : float or None, default=None
        Greatest difference of false positive rates.
    equalized_odds_difference : float or None, default=None
        Greatest difference of true and of false positive rates.
    cost_fp, cost_fn : float, default=1.0
        Costs of a false positive and a false negative.

    Examples
    --------
    >>> from cape.rules import Constrained
    >>> rule = Constrained(
    ...     proportional_equality=0.1, false_positive_rate_difference=0.05
    ... )
    """

    proportional_equality: float | None = None
    demographic_parity_difference: float | None = None
    demographic_parity_ratio: float | None = None
    equal_opportunity_difference: float | None = None
    false_positive_rate_difference: float | None = None
    equalized_odds_difference: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        bounds = self.bounds
        if not bounds:
            names = ", ".join(CRITERIA)
            raise ValueError(f"at least one of {names} must be given, got none.")
        for name, bound in bounds.items():
            check_number(name, bound, low=0, high=CRITERIA[name].highest_bound)

    @property
    def bounds(self) -> dict[str, float | None]:
        """Return the bounds that were given, by the names of the criteria."""
        bounds = {}
        for name in CRITERIA:
            bound = getattr(self, name)
            if bound is not None:
                bounds[name] = bound
        return bounds


RULES: dict[str, type[Rule]] = {
    "prevalence": Prevalence,
    "proportional_equality": ProportionalEquality,
    "demographic_parity": DemographicParity,
    "equal_opportunity": EqualOpportunity,
    "predictive_equality": PredictiveEquality,
    "equalized_odds": EqualizedOdds,
    "accuracy": Accuracy,
    "unchanged": Unchanged,
    # Fairlearn's names of two of them.
    "true_positive_rate_parity": EqualOpportunity,
    "false_positive_rate_parity": PredictiveEquality,
}
"""Rules by their names. One with parameters is made of its row:
``RULES["demographic_parity"](tolerance=0.1)``, or ``ratio=0.8`` in place of a
difference; those of errors and of accuracy take ``cost_fp`` and ``cost_fn``."""

# It has no name for the classifier: its bounds have to be given.
_DESCRIBED: dict[str, type[Rule]] = {**RULES, "constrained": Constrained}


def make_rule(rule: Any) -> Rule:
    """Make a rule from a name, an instance or a description.

    Parameters
    ----------
    rule : str, Rule or mapping
        A name in `RULES`, an instance of a subclass of `Rule`, which is returned, or
        what `describe_rule` has returned for one of cape's rules.

    Returns
    -------
    Rule

    Raises
    ------
    ValueError
        If there is no rule of this name.
    TypeError
        If ``rule`` is anything else, such as a class.

    Examples
    --------
    >>> from cape.rules._rules import make_rule
    >>> make_rule("prevalence")
    Prevalence()
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str):
        check_choice("rule", rule, tuple(RULES))
        return RULES[rule]()
    if isinstance(rule, Mapping) and "name" in rule:
        parameters = dict(rule)
        name = parameters.pop("name")
        check_choice("rule", name, tuple(_DESCRIBED))
        return _DESCRIBED[name](**parameters)
    names = ", ".join(map(repr, RULES))
    raise TypeError(
        f"rule must be one of {names}, or an instance of a subclass of "
        f"cape.rules.Rule, got {rule!r}."
    )


def rule_of(clf: Any, rule: Any = None) -> Rule:
    """Return the rule that was asked for, or that of the classifier.

    Parameters
    ----------
    clf : CapeClassifier
    rule : str, Rule, dict or None, default=None
        What was asked for in a call.

    Returns
    -------
    Rule
        By default the paper's, and for `cape.Scores` the one that changes nothing.
    """
    if rule is None:
        rule = clf.rule
    if rule is None:
        rule = "unchanged" if isinstance(clf.estimator, Scores) else "prevalence"
    return make_rule(rule)


def choose_members(
    situations: Mapping[Group, GroupSituation], rule: Rule | None = None
) -> dict[Group, Any]:
    """Let the rule pick a member for every group: it is called here alone."""
    if rule is None:
        rule = Prevalence()
    if not isinstance(rule, Unchanged):
        # Decisions that were made can be kept. There is nothing about them to choose.
        situations = {name: of_thetas(group) for name, group in situations.items()}
    chosen = rule.choose(situations)
    _check_chosen(rule, situations, chosen)
    return chosen


def _check_chosen(
    rule: Rule, situations: Mapping[Group, GroupSituation], chosen: Mapping[Group, Any]
) -> None:
    """Raise unless a rule, which may be the user's, picked a member of every group."""
    if not isinstance(chosen, Mapping):
        raise TypeError(
            f"{type(rule).__name__}.choose must return a dict from group to the index "
            f"of a member, got {type(chosen).__name__}."
        )
    for group, situation in situations.items():
        n_members = len(situation.thetas)
        member = chosen.get(group)
        index = np.asarray(member)
        is_index = index.dtype.kind in "iu"
        if not is_index or (index < 0).any() or (index >= n_members).any():
            raise ValueError(
                f"{type(rule).__name__}.choose must return the index of a member for "
                f"every group, below {n_members} for {group_name(group)!r}, got "
                f"{member!r}."
            )


def describe_rule(rule: Rule) -> dict[str, Any]:
    """Describe a rule in a form that JSON can hold.

    Parameters
    ----------
    rule : Rule

    Returns
    -------
    dict
        The name and the parameters, which `make_rule` understands. Of a rule of your
        own it is the name of its class alone.

    Examples
    --------
    >>> from cape.rules import Accuracy
    >>> from cape.rules._rules import describe_rule
    >>> describe_rule(Accuracy(cost_fn=5))
    {'name': 'accuracy', 'cost_fp': 1.0, 'cost_fn': 5.0}
    """
    for name, kind in _DESCRIBED.items():
        if type(rule) is kind:
            description: dict[str, Any] = {"name": name}
            for parameter, value in vars(rule).items():
                # A number may be one of numpy's, which JSON refuses.
                description[parameter] = None if value is None else float(value)
            return description
    return {"name": type(rule).__name__}


def bounds_of(description: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the bounds that a rule keeps, by the names of `CRITERIA`.

    Parameters
    ----------
    description : mapping
        What `describe_rule` has returned.

    Returns
    -------
    dict from str to float or None
        None for a criterion that the rule brings as near to parity as a coin would.
        Empty for a rule that bounds none, such as the paper's, and for a rule of your
        own.

    Examples
    --------
    >>> from cape.rules import DemographicParity
    >>> from cape.rules._rules import describe_rule
    >>> from cape.rules._rules import bounds_of
    >>> bounds_of(describe_rule(DemographicParity(ratio=0.8)))
    {'demographic_parity_ratio': 0.8}
    """
    if description["name"] not in _DESCRIBED:
        return {}
    rule = make_rule(description)
    return rule.bounds if isinstance(rule, BoundedRule) else {}
