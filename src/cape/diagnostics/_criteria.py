"""Which fairness criteria a choice of members meets in this batch, and how surely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._groups import Group
from cape._prediction import check_same_model
from cape.adaptation import Adaptation
from cape.classifier import CapeClassifier
from cape.diagnostics._chosen_draws import (
    BatchDraws,
    DrawnGroup,
    ExpectedRates,
    expected_cost,
    expected_situation,
)
from cape.diagnostics._result import json_ready
from cape.evidence import Evidence
from cape.rules import CRITERIA, GroupSituation
from cape.rules._names import bounds_of
from cape.rules._problem import compared_groups

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CriterionValue",
    "ExpectedCriteria",
    "criteria_of_draws",
    "expected_criteria",
    "expected_criterion",
    "interval_of",
]

N_DRAWS = 2000
"""Simulated batches behind the intervals of criteria."""

_ROUNDING = 1e-9
"""A rule meets its bound but for rounding, and so does what is drawn."""


@dataclass(frozen=True)
class CriterionValue:
    """What to expect of one criterion.

    Parameters
    ----------
    value : float
        Expected value, with the estimates for true prevalences and rates, over the
        groups that it is defined for; NaN if it is undefined.
    low, high : float
        Interval of the value as it will be observed once labels arrive.
    bound : float or None
        What the rule asked for; None if the rule does not bound this criterion.
    probability : float or None
        Probability that the bound is met in this batch; None without a bound.
    """

    value: float
    low: float
    high: float
    bound: float | None = None
    probability: float | None = None


@dataclass(frozen=True)
class ExpectedCriteria:
    """Result of `expected_criteria`.

    Parameters
    ----------
    criteria : mapping from str to CriterionValue
        By the name of the metric that measures them.
    accuracy : CriterionValue
        Accuracy of all rows.
    level : float
        Confidence level of the intervals.
    """

    criteria: Mapping[str, CriterionValue]
    accuracy: CriterionValue
    level: float

    def table(self) -> pd.DataFrame:
        """Return a DataFrame with one row for each criterion, and one for accuracy."""
        import pandas as pd

        rows = {name: asdict(value) for name, value in self._all().items()}
        frame = pd.DataFrame.from_dict(rows, orient="index")
        frame.index.name = "criterion"
        return frame.astype(float)

    def to_dict(self) -> dict[str, Any]:
        """Return the values as a dict that JSON can hold."""
        entries = []
        for name, value in self._all().items():
            entries.append({"criterion": name, **json_ready(asdict(value))})
        return {"level": self.level, "criteria": entries}

    def __repr__(self) -> str:
        lines = [f"ExpectedCriteria(level={self.level:g}"]
        for name, found in self._all().items():
            line = f"  {name} {found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
            if found.bound is not None:
                line += f", asked for {found.bound:g}"
            if found.probability is not None:
                line += f", met with probability {found.probability:.2f}"
            lines.append(line)
        lines.append(")")
        return "\n".join(lines)

    def _all(self) -> dict[str, CriterionValue]:
        return {"accuracy": self.accuracy, **self.criteria}


def expected_criteria(
    clf: CapeClassifier,
    evidence: Evidence,
    adaptation: Adaptation,
    *,
    n_draws: int = N_DRAWS,
    random_state: Any = 0,
) -> ExpectedCriteria:
    """Compute what to expect of every fairness criterion, before labels arrive.

    A rule meets its criterion with estimates. The intervals are for what will be
    observed: they count the noise of the estimated prevalences, of the rates of the
    members, and of the batch. A choice on the edge of its bound misses it about as
    often as not, and ``probability`` says how often it is met.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    evidence : Evidence
        Evidence of the batch.
    adaptation : Adaptation
        Adaptation to the same batch. The intervals have its level.
    n_draws : int, default=2000
        Number of simulated batches behind the intervals.
    random_state : int, Generator or None, default=0
        Seed of the simulation.

    Returns
    -------
    ExpectedCriteria

    Examples
    --------
    >>> from cape.diagnostics import expected_criteria
    >>> evidence = clf.evidence(new.data, sensitive_features=new.sensitive_features)
    >>> parity = clf.adapt(evidence=evidence, rule="demographic_parity")
    >>> table = expected_criteria(clf, evidence, parity).table()
    >>> bool(table.loc["demographic_parity_difference", "high"] < 0.01)
    True
    """
    check_same_model(clf, "evidence", evidence, Evidence)
    check_same_model(clf, "adaptation", adaptation, Adaptation)
    draws = BatchDraws(
        clf, evidence, adaptation, n_draws=n_draws, random_state=random_state
    )
    return criteria_of_draws(draws, adaptation)


def criteria_of_draws(draws: BatchDraws, adaptation: Adaptation) -> ExpectedCriteria:
    """Compute what to expect of the members that an adaptation has chosen.

    Parameters
    ----------
    draws : BatchDraws
        Of the same batch.
    adaptation : Adaptation

    Returns
    -------
    ExpectedCriteria
    """
    level = adaptation.level
    members = {group: chosen.member for group, chosen in adaptation.groups.items()}
    drawn = draws.of_choice(members)
    expected = draws.expected(members)
    bounds = bounds_of(adaptation.rule)
    criteria = {}
    for name in CRITERIA:
        value = expected_criterion(name, draws.situations, members, expected)
        compared = compared_groups(name, draws.situations)
        differences = None
        if not np.isnan(value):
            differences = _DRAWN[name]([drawn[group] for group in compared])
        criteria[name] = _expect(value, differences, bounds.get(name), level)
    if not members:
        return ExpectedCriteria(criteria, _UNKNOWN, level)
    accuracies = 1 - draws.cost(drawn, cost_fp=1, cost_fn=1)
    low, high = interval_of(accuracies, level)
    value = 1 - expected_cost(expected, draws.situations, cost_fp=1, cost_fn=1)
    if np.isnan(value):
        # No rate of any group is known.
        value = float(accuracies.mean())
    accuracy = CriterionValue(value, min(low, value), max(high, value))
    return ExpectedCriteria(criteria, accuracy, level)


def expected_criterion(
    name: str,
    situations: Mapping[Group, GroupSituation],
    members: Mapping[Group, int],
    expected: Mapping[Group, ExpectedRates],
) -> float:
    """Compute a criterion from the rates to expect of a choice of members.

    Parameters
    ----------
    name : str
        A name in `cape.rules.CRITERIA`.
    situations : mapping from group to GroupSituation
    members : mapping from group to int
    expected : mapping from group to ExpectedRates
        Of these members.

    Returns
    -------
    float
        NaN if fewer than two groups take part, or if a rate is unknown.
    """
    compared = compared_groups(name, situations)
    if not compared:
        return float("nan")
    measured = []
    for group in compared:
        member = members[group]
        measured.append(expected_situation(situations[group], member, expected[group]))
    return CRITERIA[name].measure(measured, [0] * len(measured))


_UNKNOWN = CriterionValue(float("nan"), 0.0, 1.0)
"""The accuracy of no rows."""


def _expect(
    value: float, drawn: _Differences | _Ratio | None, bound: float | None, level: float
) -> CriterionValue:
    """Put the value of a criterion and its draws together."""
    if drawn is None:
        return CriterionValue(float("nan"), 0.0, float("inf"), bound)
    low, high = drawn.interval(level)
    probability = None
    if bound is not None:
        probability = float(np.mean(drawn.meets(bound)))
    low = min(low, value)
    high = max(high, value)
    return CriterionValue(float(value), low, high, bound, probability)


@dataclass(frozen=True)
class _Differences:
    """Differences between groups, in every draw.

    Parameters
    ----------
    greatest : ndarray of shape (n_draws,)
        Greatest absolute difference of any pair.
    signed : ndarray of shape (n_pairs, n_draws)
        Signed differences of the pairs that differ most. Hundreds of groups have too
        many pairs to keep all.
    """

    greatest: np.ndarray
    signed: np.ndarray

    @classmethod
    def of(cls, blocks: Iterable[np.ndarray]) -> _Differences:
        """Look at the pairs of groups in blocks of shape (n_pairs, n_draws)."""
        greatest: Any = 0.0
        signed: Any = None
        for block in blocks:
            greatest = np.maximum(greatest, np.abs(block).max(axis=0))
            if signed is not None:
                block = np.concatenate([signed, block])
            order = np.argsort(-np.abs(block.mean(axis=1)), kind="stable")
            signed = block[order[:_MOST_PAIRS]]
        return cls(greatest, signed)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval of the greatest absolute difference.

        Absolute values of draws would never reach 0. So the interval starts at 0 unless
        some pair differs by its signed interval. Nothing can lie below 0, and the upper
        end has then all of the error to itself.
        """
        for differences in self.signed:
            low, high = interval_of(differences, level)
            if low > 0 or high < 0:
                return interval_of(self.greatest, level)
        high = np.quantile(self.greatest, level, method="inverted_cdf")
        return 0.0, float(high)

    def meets(self, bound: float) -> np.ndarray:
        """Tell in which draws no pair differs by more."""
        return self.greatest <= bound + _ROUNDING


_MOST_PAIRS = 20
"""Pairs of groups that are looked at to tell whether any of them differ."""


@dataclass(frozen=True)
class _Ratio:
    """The smallest ratio of predicted prevalences, which is observed."""

    ratio: float

    def interval(self, level: float) -> tuple[float, float]:
        """Return the ratio itself, twice."""
        return self.ratio, self.ratio

    def meets(self, bound: float) -> np.ndarray:
        """Tell whether the ratio is large enough."""
        return np.array([self.ratio >= bound - _ROUNDING])


def _differences(*fields: str) -> Any:
    """Return a function that draws the differences of rates between groups."""

    def draw(drawn: Sequence[DrawnGroup]) -> _Differences:
        return _Differences.of(_blocks_of_differences(drawn, fields))

    return draw


def _blocks_of_differences(
    drawn: Sequence[DrawnGroup], fields: Sequence[str]
) -> Iterator[np.ndarray]:
    """Yield the differences of each group to all groups after it."""
    for field in fields:
        rates = [np.atleast_1d(getattr(group, field)) for group in drawn]
        # A rate without rows differs from none.
        for place in range(len(rates) - 1):
            yield np.nan_to_num(rates[place] - np.array(rates[place + 1 :]))


def _draw_ratio(drawn: Sequence[DrawnGroup]) -> _Ratio:
    predicted = [group.predicted for group in drawn]
    greatest = max(predicted)
    # Where nobody is called positive, all shares are equal.
    return _Ratio(min(predicted) / greatest if greatest > 0 else 1.0)


def _draw_pe(drawn: Sequence[DrawnGroup]) -> _Differences:
    return _Differences.of(_blocks_of_pe(drawn))


def _blocks_of_pe(drawn: Sequence[DrawnGroup]) -> Iterator[np.ndarray]:
    """Yield rho_z / rho_z' - predicted ratio, of each z' and all other groups z."""
    for place, other in enumerate(drawn):
        if other.predicted == 0:
            # PE relative to a group without positive calls is undefined.
            continue
        groups = [*drawn[:place], *drawn[place + 1 :]]
        prevalences = np.array([group.prevalence for group in groups])
        predicted = np.array([[group.predicted] for group in groups])
        infinite = np.full(prevalences.shape, np.inf)
        ratios = np.divide(
            prevalences, other.prevalence, out=infinite, where=other.prevalence > 0
        )
        yield ratios - predicted / other.predicted


_DRAWN = {
    "proportional_equality": _draw_pe,
    "demographic_parity_difference": _differences("predicted"),
    "demographic_parity_ratio": _draw_ratio,
    "equal_opportunity_difference": _differences("tpr"),
    "false_positive_rate_difference": _differences("fpr"),
    "equalized_odds_difference": _differences("tpr", "fpr"),
}
"""How each criterion is drawn, by the names of `cape.rules.CRITERIA`."""


def interval_of(values: np.ndarray, level: float) -> tuple[float, float]:
    """Return the central ``level`` of drawn values, its ends among them."""
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(values, tails, method="inverted_cdf")
    return float(low), float(high)
