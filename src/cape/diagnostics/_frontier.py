"""What a fairness criterion costs in this batch: the frontier of the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cape import plot
from cape._estimate import Estimate
from cape._groups import Group, unique_names
from cape._notebook import InNotebook, Shown
from cape._prediction import check_same_model, find_evidence
from cape._validation import check_choice, check_number
from cape._wording._numbers import level_text
from cape.adaptation import Adaptation
from cape.classifier import CapeClassifier
from cape.diagnostics._chosen_draws import BatchDraws, ExpectedRates, expected_cost
from cape.diagnostics._criteria import expected_criterion, interval_of
from cape.diagnostics._result import json_ready
from cape.evidence import Evidence
from cape.rules import (
    CRITERIA,
    RULES,
    Accuracy,
    GroupSituation,
    Rule,
)
from cape.rules._problem import best_within_each, measure_criterion

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Frontier",
    "FrontierPoint",
    "GroupOutcome",
    "frontier",
    "frontiers",
    "frontiers_of_draws",
]


@dataclass(frozen=True)
class GroupOutcome:
    """What to expect of one group at a point of the frontier.

    Parameters
    ----------
    member : int
        Index of the chosen member.
    predicted_prevalence : float
        Share of rows that it calls positive, which is known.
    fpr, fnr, accuracy, pd : float
        To expect once labels arrive.
    """

    member: int
    predicted_prevalence: float
    fpr: float
    fnr: float
    accuracy: float
    pd: float


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
    cost, cost_low, cost_high : float
        Expected cost of the errors of a row, and its interval. With both costs 1 it is
        1 - accuracy.
    proportional_equality : float
        Expected PE of the worst ordered pair.
    groups : mapping from group to GroupOutcome
    """

    rule: str | None
    tolerance: float | None
    criterion: float
    cost: float
    cost_low: float
    cost_high: float
    proportional_equality: float
    groups: Mapping[Group, GroupOutcome]

    @property
    def accuracy(self) -> float:
        """1 - cost: the accuracy, if both errors cost 1."""
        return 1 - self.cost


@dataclass(frozen=True)
class Frontier(InNotebook):
    """Result of `frontier`.

    Parameters
    ----------
    criterion : str
        The criterion, by the name of its metric.
    curve : sequence of FrontierPoint
        The best choice for each tolerance, in ascending order of the criterion.
    rules : sequence of FrontierPoint
        What the named rules choose.
    chosen : FrontierPoint
        What was chosen for this batch.
    cost_fp, cost_fn : float
        What the two errors cost.
    level : float
        Confidence level of the intervals.
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
        import pandas as pd

        rows = []
        for point in [*self.curve, *self.rules]:
            rows.append(
                {
                    "rule": point.rule,
                    "tolerance": point.tolerance,
                    self.criterion: point.criterion,
                    "accuracy": point.accuracy,
                    "accuracy_low": 1 - point.cost_high,
                    "accuracy_high": 1 - point.cost_low,
                }
            )
        frame = pd.DataFrame(rows)
        if self._weighs_errors:
            frame = frame.rename(columns=_AS_COST)
            frame["cost"] = 1 - frame["cost"]
            low = 1 - frame["cost_low"]
            frame["cost_low"] = 1 - frame["cost_high"]
            frame["cost_high"] = low
        return frame

    def plot(self) -> Any:
        """Draw the curve with its interval, and the rules as marks; needs altair.

        Returns
        -------
        altair chart
        """
        return plot.frontier(
            self.table(),
            criterion=self.criterion,
            value=self._value,
            heading=f"What {self.criterion} costs in {self._value}",
        )

    @property
    def _value(self) -> str:
        return "cost" if self._weighs_errors else "accuracy"

    def _shown(self) -> Shown:
        """Show the rules: the picture shows the curve."""
        import pandas as pd

        points = self.table()
        points = points[points["rule"].notna()]
        rows = []
        for point in points.to_dict("records"):
            low, high = point[f"{self._value}_low"], point[f"{self._value}_high"]
            row = {self.criterion: point[self.criterion]}
            row[self._value] = Estimate(point[self._value], low, high)
            rows.append(row)
        index = pd.Index(points["rule"], name="rule")
        title = (
            f"What each rule leads to, with {level_text(self.level)} intervals of the "
            f"{self._value}"
        )
        curve = f"The curve has {len(self.curve)} points; table() has all of them."
        return Shown(title, pd.DataFrame(rows, index=index), [curve])

    def __repr__(self) -> str:
        lines = [f"Frontier({len(self.curve)} points, and what the rules lead to"]
        rules = self.table().dropna(subset="rule")
        for point in rules.to_dict("records"):
            line = f"  {point['rule']}: {self.criterion} {point[self.criterion]:.3f}"
            lines.append(f"{line}, {self._value} {point[self._value]:.3f}")
        lines.append(")")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return all points as a dict that JSON can hold."""
        return {
            "criterion": self.criterion,
            "level": self.level,
            "cost_fp": self.cost_fp,
            "cost_fn": self.cost_fn,
            "curve": [_point_to_dict(point) for point in self.curve],
            "rules": [_point_to_dict(point) for point in self.rules],
            "chosen": _point_to_dict(self.chosen),
        }

    @property
    def _weighs_errors(self) -> bool:
        return (self.cost_fp, self.cost_fn) != (1, 1)


_AS_COST = {
    "accuracy": "cost",
    "accuracy_low": "cost_low",
    "accuracy_high": "cost_high",
}


_PAPER = "prevalence"
"""The rule that knows no costs."""


def frontier(
    clf: CapeClassifier,
    evidence: Evidence,
    criterion: str = "demographic_parity_difference",
    *,
    adaptation: Adaptation | None = None,
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    n_points: int = 30,
    n_draws: int = 500,
    random_state: Any = 0,
) -> Frontier:
    """Compute what meeting a criterion costs in this batch, without labels.

    For each of many tolerances, the choice of members with the least expected cost is
    found. The rules by name are points beside the curve, the paper's among them.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    evidence : Evidence
        Evidence of the batch.
    criterion : str, default="demographic_parity_difference"
        A name in `cape.rules.CRITERIA`.
    adaptation : Adaptation, default=None
        Adaptation to the same batch, whose estimates and level are used. None adapts
        now.
    cost_fp, cost_fn : float, default=1.0
        What a false positive and a false negative cost. With both 1, the cost is
        1 - accuracy.
    n_points : int, default=30
        Most points of the curve.
    n_draws : int, default=500
        Simulated batches behind the intervals.
    random_state : int, Generator or None, default=0
        Seed of the simulation.

    Returns
    -------
    Frontier

    Examples
    --------
    >>> from cape.diagnostics import frontier
    >>> evidence = clf.evidence(new.data, sensitive_features=new.sensitive_features)
    >>> found = frontier(clf, evidence, "demographic_parity_difference")
    >>> accuracies = [point.accuracy for point in found.curve]
    >>> bool(accuracies[0] < accuracies[-1])
    True
    """
    check_choice("criterion", criterion, tuple(CRITERIA))
    found = frontiers(
        clf,
        evidence,
        [criterion],
        adaptation=adaptation,
        cost_fp=cost_fp,
        cost_fn=cost_fn,
        n_points=n_points,
        n_draws=n_draws,
        random_state=random_state,
    )
    return found[criterion]


def frontiers(
    clf: CapeClassifier,
    evidence: Evidence,
    criteria: Sequence[str] = tuple(CRITERIA),
    *,
    adaptation: Adaptation | None = None,
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    n_points: int = 30,
    n_draws: int = 500,
    random_state: Any = 0,
) -> dict[str, Frontier]:
    """Compute the frontiers of several criteria, for which the rules choose once.

    Parameters
    ----------
    clf, evidence
        As in `frontier`.
    criteria : sequence of str, default=all
        Names in `cape.rules.CRITERIA`.
    adaptation, cost_fp, cost_fn, n_points, n_draws, random_state
        As in `frontier`.

    Returns
    -------
    dict from str to Frontier

    Examples
    --------
    >>> from cape.diagnostics import frontiers
    >>> evidence = clf.evidence(new.data, sensitive_features=new.sensitive_features)
    >>> shares = ["demographic_parity_difference", "demographic_parity_ratio"]
    >>> list(frontiers(clf, evidence, shares, n_points=5)) == shares
    True
    """
    evidence = find_evidence(clf, None, None, evidence)
    if adaptation is None:
        adaptation = clf.adapt(evidence=evidence)
    check_same_model(clf, "adaptation", adaptation, Adaptation)
    draws = BatchDraws(
        clf, evidence, adaptation, n_draws=n_draws, random_state=random_state
    )
    return frontiers_of_draws(
        draws,
        adaptation,
        criteria,
        cost_fp=cost_fp,
        cost_fn=cost_fn,
        n_points=n_points,
    )


def frontiers_of_draws(
    draws: BatchDraws,
    adaptation: Adaptation,
    criteria: Sequence[str],
    *,
    cost_fp: float,
    cost_fn: float,
    n_points: int,
) -> dict[str, Frontier]:
    """Compute frontiers from simulated batches.

    Parameters
    ----------
    draws : BatchDraws
    adaptation : Adaptation
        To the same batch.
    criteria, cost_fp, cost_fn, n_points
        As in `frontiers`.

    Returns
    -------
    dict from str to Frontier
    """
    for criterion in criteria:
        check_choice("criteria", criterion, tuple(CRITERIA))
    check_number("n_points", n_points, low=2)
    if not adaptation.groups:
        raise ValueError("evidence must have rows, got a batch without any.")
    by_rule = _choose_by_rules(draws, {"cost_fp": cost_fp, "cost_fn": cost_fn})
    own = {group: chosen.member for group, chosen in adaptation.groups.items()}
    found = {}
    for criterion in criteria:
        search = _Search(draws, criterion, cost_fp, cost_fn, adaptation.level)
        points = [search.point(rule, None, chosen) for rule, chosen in by_rule.items()]
        found[criterion] = Frontier(
            criterion=criterion,
            curve=search.curve(n_points),
            rules=points,
            chosen=search.point(adaptation.rule["name"], None, own),
            cost_fp=cost_fp,
            cost_fn=cost_fn,
            level=adaptation.level,
        )
    return found


def _choose_by_rules(
    draws: BatchDraws, costs: Mapping[str, float]
) -> dict[str, dict[Group, int]]:
    """Return the members that every rule chooses, by its own name."""
    names: dict[type[Rule], str] = {}
    for name, kind in RULES.items():
        # Later names of the same rule are Fairlearn's.
        names.setdefault(kind, name)
    chosen = {}
    for kind, name in names.items():
        rule = kind() if name == _PAPER else kind(**costs)
        chosen[name] = _choose(rule, draws)
    return chosen


def _choose(rule: Rule, draws: BatchDraws) -> dict[Group, int]:
    chosen = rule.choose(draws.situations)
    return {group: int(member) for group, member in chosen.items()}


@dataclass(frozen=True)
class _Search:
    """The batch, and what is weighed against what."""

    draws: BatchDraws
    criterion: str
    cost_fp: float
    cost_fn: float
    level: float

    def curve(self, n_points: int) -> list[FrontierPoint]:
        """Find the best choice for tolerances between parity and no bound at all."""
        # Under bounds members are ranked by the observed shares as well, which the rule
        # "accuracy" does not do: both have an end of the curve to offer.
        [loosest] = self._best_within([self._loosest])
        free = _choose(Accuracy(**self._costs), self.draws)
        widest = measure_criterion(self.criterion, self.draws.situations, loosest)
        if np.isnan(widest):
            # One group, or none with known rates: nothing is compared.
            return [self.point(None, None, free)]
        tolerances = self._tolerances(widest, n_points)
        choices = self._best_within(tolerances)
        points: dict[tuple[int, ...], FrontierPoint] = {}
        for tolerance, members in zip(tolerances, choices, strict=True):
            # Neighbouring tolerances often have the same best choice.
            key = tuple(members.values())
            if key not in points:
                points[key] = self.point(None, tolerance, members)
        end = self.point(None, None, free)
        if np.isfinite(end.criterion):
            points.setdefault(tuple(free.values()), end)
        return self._without_dominated(list(points.values()))

    def _without_dominated(self, points: list[FrontierPoint]) -> list[FrontierPoint]:
        """Sort points by the criterion, and drop those that cost more for nothing.

        Members are chosen by the estimates, and the cost is a mean over simulated
        batches: the two may disagree by a thousandth.
        """
        sign = -1 if self._is_ratio else 1
        points = sorted(points, key=lambda point: (sign * point.criterion, point.cost))
        kept: list[FrontierPoint] = []
        for point in points:
            if not kept or point.cost < kept[-1].cost:
                kept.append(point)
        return sorted(kept, key=lambda point: point.criterion)

    @property
    def _is_ratio(self) -> bool:
        return self.criterion == "demographic_parity_ratio"

    @property
    def _loosest(self) -> float:
        """A bound that every choice meets."""
        return 0.0 if self._is_ratio else CRITERIA[self.criterion].highest_bound

    def _best_within(self, bounds: Sequence[float]) -> list[dict[Group, int]]:
        return best_within_each(
            self.draws.situations, self.criterion, bounds, **self._costs
        )

    @property
    def _costs(self) -> dict[str, float]:
        return {"cost_fp": self.cost_fp, "cost_fn": self.cost_fn}

    def _tolerances(self, widest: float, n_points: int) -> list[float]:
        parity = 1.0 if self._is_ratio else 0.0
        return np.linspace(parity, widest, n_points).tolist()

    def point(
        self, rule: str | None, tolerance: float | None, members: dict[Group, int]
    ) -> FrontierPoint:
        """Describe a choice of members."""
        expected = self.draws.expected(members)
        situations = self.draws.situations
        drawn = self.draws.cost(self.draws.of_choice(members), **self._costs)
        cost = expected_cost(expected, situations, **self._costs)
        if np.isnan(cost):
            # No rate of any group is known.
            cost = float(drawn.mean())
        low, high = interval_of(drawn, self.level)
        outcomes = {}
        for group, member in members.items():
            outcomes[group] = _outcome(situations[group], expected[group], member)
        choice = (situations, members, expected)
        criterion = expected_criterion(self.criterion, *choice)
        worst_pe = expected_criterion("proportional_equality", *choice)
        return FrontierPoint(
            rule,
            tolerance,
            criterion,
            cost,
            min(low, cost),
            max(high, cost),
            worst_pe,
            outcomes,
        )


def _outcome(
    situation: GroupSituation, expected: ExpectedRates, member: int
) -> GroupOutcome:
    predicted = float(situation.predicted_prevalences[member])
    return GroupOutcome(
        member=member,
        predicted_prevalence=predicted,
        fpr=expected.fpr,
        fnr=expected.fnr,
        accuracy=expected.accuracy,
        pd=abs(float(situation.estimate) - predicted),
    )


def _point_to_dict(point: FrontierPoint) -> dict[str, Any]:
    names = unique_names(point.groups)
    groups = []
    for group, outcome in point.groups.items():
        groups.append({"group": names[group], **json_ready(asdict(outcome))})
    content = {**point.__dict__, "accuracy": point.accuracy, "groups": groups}
    return json_ready(content)
