"""What a fairness criterion costs in this batch: the frontier of the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from cape import _plot
from cape._adaptation import Adaptation
from cape._estimate import Estimate
from cape._groups import Group, flat, unique_names
from cape._json_fields import strict_json
from cape._notebook import InNotebook
from cape._prediction import choose_members
from cape._validation import check_choice, check_number
from cape._wording import _examination as words
from cape.examination._draws import BatchDraws, central, holding
from cape.rules import CRITERIA, RULES, Unchanged
from cape.rules._problem import Problem
from cape.rules._rules import BoundedRule, is_logged, of_thetas


@dataclass(frozen=True)
class FrontierPoint:
    """One choice of members.

    Parameters
    ----------
    rule : str or None
        Name of the rule that makes this choice; None for a point of the curve.
    tolerance : float or None
        Bound on the criterion that this choice is the best for; None for a rule, and
        where nothing is asked.
    criterion : float
        Expected value of the criterion.
    cost : Estimate
        Expected cost of the errors of a row. With both costs 1 it is 1 - accuracy.
    proportional_equality : float
        Expected PE of the worst ordered pair.
    groups : mapping from group to dict
        The ``member`` of the group, its ``predicted_prevalence``, which is known, and
        the ``fpr``, ``fnr``, ``accuracy`` and ``pd`` to expect once labels arrive.
    """

    rule: str | None
    tolerance: float | None
    criterion: float
    cost: Estimate
    proportional_equality: float
    groups: Mapping[Group, dict[str, Any]]

    @property
    def accuracy(self) -> Estimate:
        """1 - cost: the accuracy, if both errors cost 1."""
        return Estimate(1 - self.cost.value, 1 - self.cost.high, 1 - self.cost.low)

    def to_dict(self) -> dict[str, Any]:
        """Return the point as a dict that JSON can hold."""
        groups = []
        for group, name in unique_names(self.groups).items():
            groups.append({"group": name, **self.groups[group]})
        content = {**flat(self), "accuracy": self.accuracy.value, "groups": groups}
        return strict_json(content)


@dataclass(frozen=True, repr=False)
class Frontier(InNotebook):
    """What meeting a criterion costs in a batch, computed without labels.

    For each of many tolerances, the curve shows the choice of members with the lowest
    expected cost. The named rules, such as the paper's, are points beside it.

    Parameters
    ----------
    criterion : str
        The criterion, by the name of its metric.
    curve : sequence of FrontierPoint
        The best choice for each tolerance, in ascending order of the criterion.
    rules : sequence of FrontierPoint
        The choices of the named rules.
    chosen : FrontierPoint
        The choice for this batch.
    cost_fp, cost_fn : float
        Costs of a false positive and a false negative.
    level : float
        Confidence level of the intervals.

    Examples
    --------
    >>> from cape import examine
    >>> seen = examine(clf, new.data, sensitive_features=new.sensitive_features)
    >>> found = seen.frontiers(["demographic_parity_difference"], n_points=5)
    >>> curve = found["demographic_parity_difference"].curve
    >>> bool(curve[0].accuracy.value < curve[-1].accuracy.value)
    True
    """

    criterion: str
    curve: Sequence[FrontierPoint]
    rules: Sequence[FrontierPoint]
    chosen: FrontierPoint
    cost_fp: float
    cost_fn: float
    level: float

    def table(self) -> pd.DataFrame:
        """Return a DataFrame with one row for each point: the curve, then the rules."""
        rows = []
        for point in [*self.curve, *self.rules]:
            value, low, high = getattr(point, self.value)
            row = {"rule": point.rule, "tolerance": point.tolerance}
            row[self.criterion] = point.criterion
            row[self.value] = value
            row |= {f"{self.value}_low": low, f"{self.value}_high": high}
            rows.append(row)
        return pd.DataFrame(rows)

    def plot(self) -> Any:
        """Draw the curve with its interval, and the rules as marks; needs altair.

        Returns
        -------
        altair chart
        """
        return _plot.frontier(
            self.table(),
            criterion=self.criterion,
            value=self.value,
            title=words.frontier_heading(self),
        )

    @property
    def value(self) -> str:
        """What is weighed against the criterion: "accuracy" or "cost"."""
        return "accuracy" if (self.cost_fp, self.cost_fn) == (1, 1) else "cost"

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        title, rows, notes = words.frontier_shown(self)
        return title, pd.DataFrame(rows).set_index("rule"), notes

    def to_dict(self) -> dict[str, Any]:
        """Return all points as a dict that JSON can hold."""
        return {
            "criterion": self.criterion,
            "level": self.level,
            "cost_fp": self.cost_fp,
            "cost_fn": self.cost_fn,
            "curve": [point.to_dict() for point in self.curve],
            "rules": [point.to_dict() for point in self.rules],
            "chosen": self.chosen.to_dict(),
        }


def find_frontiers(
    draws: BatchDraws,
    adaptation: Adaptation,
    criteria: Sequence[str],
    costs: Mapping[str, float],
    n_points: int,
) -> dict[str, Frontier]:
    """Compute the frontiers of several criteria, for which the rules choose once.

    Parameters
    ----------
    draws : BatchDraws
    adaptation : Adaptation
        To the same batch.
    criteria : sequence of str
        Names in `cape.rules.CRITERIA`.
    costs : mapping
        What a false positive and a false negative cost, ``cost_fp`` and ``cost_fn``.
    n_points : int
        Most points of a curve.

    Returns
    -------
    dict from str to Frontier
    """
    for criterion in criteria:
        check_choice("criteria", criterion, tuple(CRITERIA))
    check_number("n_points", n_points, low=2)
    if not adaptation.groups:
        raise ValueError("evidence must have rows, got an empty batch.")
    by_rule = _choose_by_rules(draws, costs)
    own = {group: chosen.classifier for group, chosen in adaptation.groups.items()}
    found = {}
    for criterion in criteria:
        search = _Search(draws, criterion, costs)
        points = [search.point(rule, None, chosen) for rule, chosen in by_rule.items()]
        found[criterion] = Frontier(
            criterion=criterion,
            curve=search.curve(n_points, by_rule["accuracy"]),
            rules=points,
            chosen=search.point(adaptation.rule["name"], None, own),
            level=adaptation.level,
            **costs,
        )
    return found


def _choose_by_rules(
    draws: BatchDraws, costs: Mapping[str, float]
) -> dict[str, dict[Group, int]]:
    """Return the members that every rule chooses, by its own name."""
    chosen = {}
    kinds: set[type] = set()
    for name, kind in RULES.items():
        # Later names of the same rule are Fairlearn's.
        if kind in kinds:
            continue
        kinds.add(kind)
        logged = all(is_logged(group) for group in draws.situations.values())
        if kind is Unchanged and not logged:
            # No decisions were made that could be compared.
            continue
        rule = kind(**costs) if issubclass(kind, BoundedRule) else kind()
        members = choose_members(draws.situations, rule)
        chosen[name] = {group: int(member) for group, member in members.items()}
    return chosen


@dataclass(frozen=True)
class _Search:
    """The batch, and what is weighed against what."""

    draws: BatchDraws
    criterion: str
    costs: Mapping[str, float]

    def curve(self, n_points: int, free: dict[Group, int]) -> list[FrontierPoint]:
        """Find the best choice for tolerances between parity and no bound at all.

        Under bounds members are ranked by the observed shares as well, which the rule
        "accuracy", whose choice is ``free``, does not do: both have an end of the curve
        to offer.
        """
        is_ratio = self.criterion == "demographic_parity_ratio"
        # A bound that every choice meets.
        loosest = 0.0 if is_ratio else CRITERIA[self.criterion].highest_bound
        situations = self.draws.situations
        choices = [of_thetas(group) for group in situations.values()]
        problem = Problem(choices, [self.criterion], **self.costs)
        widest = problem.measure(0, problem.solve([loosest]))
        if np.isnan(widest):
            # One group, or none with known rates: nothing is compared.
            return [self.point(None, None, free)]
        parity = 1.0 if is_ratio else 0.0
        tolerances = np.linspace(parity, widest, n_points).tolist()
        points: dict[tuple[int, ...], FrontierPoint] = {}
        for tolerance in tolerances:
            # Neighbouring tolerances often have the same best choice.
            key = tuple(problem.solve([tolerance]))
            if key not in points:
                members = dict(zip(situations, key, strict=True))
                points[key] = self.point(None, tolerance, members)
        end = self.point(None, None, free)
        if np.isfinite(end.criterion):
            points.setdefault(tuple(free.values()), end)
        return _without_dominated(list(points.values()), -1 if is_ratio else 1)

    def point(
        self, rule: str | None, tolerance: float | None, members: dict[Group, int]
    ) -> FrontierPoint:
        """Describe a choice of members."""
        draws = self.draws
        expected = draws.expected(members)
        cost, drawn = draws.cost(members, expected, **self.costs)
        outcomes = {}
        for group, rates in expected.items():
            predicted = draws.situations[group].predicted_prevalences[members[group]]
            outcomes[group] = {
                "member": members[group],
                "predicted_prevalence": float(predicted),
                "fpr": rates.fpr,
                "fnr": rates.fnr,
                "accuracy": rates.accuracy,
                "pd": rates.pd,
            }
        return FrontierPoint(
            rule,
            tolerance,
            draws.criterion(self.criterion, members, expected),
            holding(cost, *central(drawn, draws.level)),
            draws.expected_pe(members),
            outcomes,
        )


def _without_dominated(points: list[FrontierPoint], sign: int) -> list[FrontierPoint]:
    """Sort points by the criterion, and drop those that cost more for nothing.

    Members are chosen by the estimates, and the cost is a mean over simulated batches:
    the two may disagree by a thousandth.
    """
    points = sorted(
        points, key=lambda point: (sign * point.criterion, point.cost.value)
    )
    kept: list[FrontierPoint] = []
    for point in points:
        if not kept or point.cost.value < kept[-1].cost.value:
            kept.append(point)
    return sorted(kept, key=lambda point: point.criterion)
