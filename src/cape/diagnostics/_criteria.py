"""Which fairness criteria a choice of members meets in this batch, and how surely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._groups import Group
from cape._prediction import check_same_model
from cape.adaptation import Adaptation
from cape.classifier import CapeClassifier
from cape.diagnostics._chosen_draws import BatchDraws, DrawnGroup
from cape.diagnostics._expected_draws import fold
from cape.diagnostics._result import json_ready
from cape.evidence import Evidence
from cape.rules import CRITERIA, GroupSituation, bounds_of, measure_criterion

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CriterionValue", "ExpectedCriteria", "expected_criteria", "interval_of"]

_ROUNDING = 1e-9
"""A rule meets its bound but for rounding, and so does what is drawn."""


@dataclass(frozen=True)
class CriterionValue:
    """What to expect of one criterion.

    Parameters
    ----------
    value : float
        Expected value, with the estimates for true prevalences and rates; NaN if it is
        undefined.
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

    def _all(self) -> dict[str, CriterionValue]:
        return {"accuracy": self.accuracy, **self.criteria}


def expected_criteria(
    clf: CapeClassifier,
    evidence: Evidence,
    adaptation: Adaptation,
    *,
    n_draws: int = 2000,
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
    members = {group: chosen.member for group, chosen in adaptation.groups.items()}
    drawn = draws.of_choice(members)
    bounds = bounds_of(adaptation.rule)
    level = adaptation.level
    criteria = {}
    for name in CRITERIA:
        bound = bounds.get(name)
        criteria[name] = _expect(name, draws.situations, members, drawn, bound, level)
    cost = draws.cost(drawn, cost_fp=1, cost_fn=1)
    low, high = interval_of(1 - cost, level)
    accuracy = CriterionValue(float(1 - cost.mean()), low, high)
    return ExpectedCriteria(criteria, accuracy, level)


def _expect(
    name: str,
    situations: Mapping[Group, GroupSituation],
    members: Mapping[Group, int],
    drawn: Mapping[Group, DrawnGroup],
    bound: float | None,
    level: float,
) -> CriterionValue:
    """Compute the value and interval of one criterion."""
    value = measure_criterion(name, situations, members)
    values = _DRAWN[name]({group: drawn[group] for group in situations})
    if np.isnan(value) or values is None:
        return CriterionValue(float("nan"), 0.0, float("inf"), bound)
    low, high = values.interval(level)
    probability = None
    if bound is not None:
        probability = float(np.mean(values.meets(bound)))
    return CriterionValue(float(value), low, high, bound, probability)


@dataclass(frozen=True)
class _Differences:
    """Signed differences of ordered pairs of groups, in every draw.

    Parameters
    ----------
    signed : ndarray of shape (n_pairs, n_draws)
    """

    signed: np.ndarray

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval of the greatest absolute difference.

        The interval of a pair is that of its signed difference, folded at 0: absolute
        values of draws would never reach 0. The greatest of several pairs may lie above
        the interval of each.
        """
        folded = []
        for differences in self.signed:
            folded.append(fold(*interval_of(differences, level)))
        lows, highs = zip(*folded, strict=True)
        _, high_of_greatest = interval_of(np.abs(self.signed).max(axis=0), level)
        return max(lows), max(*highs, high_of_greatest)

    def meets(self, bound: float) -> np.ndarray:
        """Tell in which draws no pair differs by more."""
        return np.abs(self.signed).max(axis=0) <= bound + _ROUNDING


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

    def draw(drawn: Mapping[Group, DrawnGroup]) -> _Differences | None:
        signed = []
        for one, other in permutations(drawn.values(), 2):
            for field in fields:
                difference = getattr(one, field) - getattr(other, field)
                signed.append(np.broadcast_to(difference, one.prevalence.shape))
        if not signed:
            return None
        # A rate without rows differs from none.
        return _Differences(np.nan_to_num(np.array(signed)))

    return draw


def _draw_ratio(drawn: Mapping[Group, DrawnGroup]) -> _Ratio | None:
    if len(drawn) < 2:
        return None
    predicted = [group.predicted for group in drawn.values()]
    greatest = max(predicted)
    # Where nobody is called positive, all shares are equal.
    return _Ratio(min(predicted) / greatest if greatest > 0 else 1.0)


def _draw_pe(drawn: Mapping[Group, DrawnGroup]) -> _Differences | None:
    """Draw rho_z / rho_z' - predicted ratio of every ordered pair."""
    signed = []
    for one, other in permutations(drawn.values(), 2):
        if other.predicted == 0:
            return None
        infinite = np.full(len(one.prevalence), np.inf)
        ratios = np.divide(
            one.prevalence, other.prevalence, out=infinite, where=other.prevalence > 0
        )
        signed.append(ratios - one.predicted / other.predicted)
    return _Differences(np.array(signed)) if signed else None


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
