"""Which fairness criteria a choice of members meets in this batch, and how surely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._adaptation import Adaptation
from cape._estimate import Estimate
from cape._wording._examination import criteria_repr
from cape.examination._draws import BatchDraws, DrawnBatches, central
from cape.examination._result import json_ready
from cape.rules import CRITERIA
from cape.rules._bounded import bounds_of
from cape.rules._problem import compared_groups

if TYPE_CHECKING:
    import pandas as pd

_ROUNDING = 1e-9
"""A rule meets its bound but for rounding, and so does what is drawn."""

_MOST_PAIRS = 20
"""Pairs of groups that are looked at to tell whether any of them differ."""


@dataclass(frozen=True)
class ExpectedCriteria:
    """What to expect of every fairness criterion, before labels arrive.

    A rule meets its criterion with estimates. The intervals are for what will be
    observed: they count the noise of the estimated prevalences, of the rates of the
    members, and of the batch. A choice on the edge of its bound misses it about as
    often as not, and its probability says how often it is met.

    Parameters
    ----------
    values : mapping from str to Estimate
        The accuracy of all rows, and each criterion by the name of the metric that
        measures it: the expected value over the groups that it is defined for, NaN if
        it is undefined, and the interval of the value as it will be observed.
    bounds : mapping from str to float or None
        What the rule asked for; None where it asks for as little as a coin would give.
    probabilities : mapping from str to float
        Probability that a bound is met in this batch.
    level : float
        Confidence level of the intervals.

    Examples
    --------
    >>> from cape import examine
    >>> groups = {"sensitive_features": new.sensitive_features}
    >>> seen = examine(clf, new.data, rule="demographic_parity", **groups)
    >>> seen.criteria.values["demographic_parity_difference"].is_below(0.01)
    True
    """

    values: Mapping[str, Estimate]
    bounds: Mapping[str, float | None]
    probabilities: Mapping[str, float]
    level: float

    def table(self) -> pd.DataFrame:
        """Return a DataFrame with one row for each criterion, and one for accuracy."""
        import pandas as pd

        rows = {name: self._entry(name) for name in self.values}
        frame = pd.DataFrame.from_dict(rows, orient="index")
        frame.index.name = "criterion"
        return frame.astype(float)

    def to_dict(self) -> dict[str, Any]:
        """Return the values as a dict that JSON can hold."""
        entries = []
        for name in self.values:
            entries.append({"criterion": name, **json_ready(self._entry(name))})
        return {"level": self.level, "criteria": entries}

    def __repr__(self) -> str:
        return criteria_repr(self)

    def _entry(self, name: str) -> dict[str, Any]:
        return {
            **self.values[name]._asdict(),
            "bound": self.bounds.get(name),
            "probability": self.probabilities.get(name),
        }


def expect_criteria(draws: BatchDraws, adaptation: Adaptation) -> ExpectedCriteria:
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
    members = {group: chosen.classifier for group, chosen in adaptation.groups.items()}
    expected = draws.expected(members)
    drawn = draws.given_calls(members)
    bounds = bounds_of(adaptation.rule)
    values = {"accuracy": Estimate(float("nan"), 0.0, 1.0)}
    if members:
        cost, costs = draws.cost(members, expected, cost_fp=1, cost_fn=1)
        values["accuracy"] = _holding(1 - cost, *central(1 - costs, level))
    probabilities = {}
    for name in CRITERIA:
        value = draws.criterion(name, members, expected)
        if np.isnan(value):
            values[name] = Estimate(value, 0.0, float("inf"))
            continue
        compared = compared_groups(name, draws.situations)
        differences = _DRAWN[name]([drawn[group] for group in compared])
        values[name] = _holding(float(value), *differences.interval(level))
        bound = bounds.get(name)
        if bound is not None:
            probabilities[name] = float(np.mean(differences.meets(bound)))
    return ExpectedCriteria(values, bounds, probabilities, level)


def _holding(value: float, low: float, high: float) -> Estimate:
    """Put a value and an interval from other draws together."""
    return Estimate(value, min(low, value), max(high, value))


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
            low, high = central(differences, level)
            if low > 0 or high < 0:
                return central(self.greatest, level)
        high = np.quantile(self.greatest, level, method="inverted_cdf")
        return 0.0, float(high)

    def meets(self, bound: float) -> np.ndarray:
        """Tell in which draws no pair differs by more."""
        return self.greatest <= bound + _ROUNDING


@dataclass(frozen=True)
class _Ratio:
    """The smallest ratio of predicted prevalences, which is observed."""

    ratio: float

    @classmethod
    def of(cls, drawn: Sequence[DrawnBatches]) -> _Ratio:
        """Compare the groups that are called positive least and most."""
        predicted = [group.predicted for group in drawn]
        greatest = max(predicted)
        # Where nobody is called positive, all shares are equal.
        return cls(min(predicted) / greatest if greatest > 0 else 1.0)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the ratio itself, twice."""
        return self.ratio, self.ratio

    def meets(self, bound: float) -> np.ndarray:
        """Tell whether the ratio is large enough."""
        return np.array([self.ratio >= bound - _ROUNDING])


def _differences(*fields: str) -> Any:
    """Return a function that draws the differences of rates between groups."""

    def blocks(drawn: Sequence[DrawnBatches]) -> Iterator[np.ndarray]:
        for field in fields:
            rates = [np.atleast_1d(getattr(group, field)) for group in drawn]
            # Each group to all groups after it. A rate without rows differs from none.
            for place in range(len(rates) - 1):
                yield np.nan_to_num(rates[place] - np.array(rates[place + 1 :]))

    return lambda drawn: _Differences.of(blocks(drawn))


def _blocks_of_pe(drawn: Sequence[DrawnBatches]) -> Iterator[np.ndarray]:
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


_DRAWN: dict[str, Any] = {
    "proportional_equality": lambda drawn: _Differences.of(_blocks_of_pe(drawn)),
    "demographic_parity_difference": _differences("predicted"),
    "demographic_parity_ratio": _Ratio.of,
    "equal_opportunity_difference": _differences("tpr"),
    "false_positive_rate_difference": _differences("fpr"),
    "equalized_odds_difference": _differences("tpr", "fpr"),
}
"""How each criterion is drawn, by the names of `cape.rules.CRITERIA`."""
