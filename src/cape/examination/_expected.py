"""What to expect before labels arrive: rates of groups, and fairness criteria."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from cape.base._estimate import Estimate
from cape.base._groups import Group, GroupResult, group_labels
from cape.base._json_fields import strict_json
from cape.examination._draws import (
    ExpectedRates,
    GroupDraws,
    central,
    holding,
    signed_pe,
    tails,
)
from cape.metrics._rates import FEWEST_ROWS, Confusion, fold
from cape.rules import CRITERIA, GroupSituation
from cape.rules._adaptation import Adaptation, GroupAdaptation
from cape.rules._problem import compared_groups
from cape.rules._rules import bounds_of
from cape.shown import _examination as words
from cape.shown._notebook import InNotebook
from cape.training._group_model import MemberRates

_RATES = {
    "fpr": "fpr",
    "fnr": "fnr",
    "accuracy": "accuracy",
    "pd": "prevalence_difference",
}
"""Rates that are compared, and what `Confusion` calls them."""

_PE = ("pe", "pe_low", "pe_high")


@dataclass(frozen=True)
class GroupExpected:
    """The rates to expect of one group, as they will be observed once labels arrive.

    Parameters
    ----------
    rows : int
        Rows of the group in the batch.
    fpr, fnr, accuracy, pd : Estimate
        Expected rate, and the interval of the observed one. A rate that is unknown is
        NaN, with the interval [0, 1].
    known : bool
        Whether both rates of the member rest on at least ten unseen rows, or on labels.
    """

    rows: int
    fpr: Estimate
    fnr: Estimate
    accuracy: Estimate
    pd: Estimate
    known: bool

    @property
    def rates(self) -> dict[str, Estimate]:
        """FPR, FNR, accuracy and PD, by name."""
        return {name: getattr(self, name) for name in _RATES}


@dataclass(frozen=True, repr=False)
class ExpectedPerformance(InNotebook, GroupResult):
    """The rates to expect of each group, and the PE of each pair.

    Under prior shift, the FPR and FNR of a member stay what they were on its unseen
    training rows, apart from noise. The number of rows that the member predicts
    positive is known; the rates are means over simulated batches with that number.
    Labels of some rows correct the rates, and the intervals then hold whatever has
    changed. The intervals are for the rates as they will be observed in this batch:
    they include the noise of the training rates, of the estimated prevalence and of the
    batch. Unless drift is ignored, they also allow for a small change of the rates.

    Parameters
    ----------
    groups : mapping from group to GroupExpected
        The rates to expect of each group.
    between : mapping from pair of groups to Estimate
        The PE to expect of each ordered pair: of the first group to the second, whose
        prevalences are the denominators. It is NaN, with the interval [0, inf], if a
        denominator is 0.
    level : float
        Confidence level of the intervals.
    group_columns : sequence of str, default=None
        Columns whose values the groups combine; used in their names.

    Examples
    --------
    >>> from cape import examine
    >>> seen = examine(clf, new.data, sensitive_features=new.sensitive_features)
    >>> bool((seen.expected.table()["accuracy"] > 0.8).all())
    True
    """

    groups: Mapping[Group, GroupExpected]
    between: Mapping[tuple[Group, Group], Estimate]
    level: float

    def pairs(self) -> pd.DataFrame:
        """Return the expected PE of all ordered pairs of groups.

        Returns
        -------
        DataFrame
            Indexed by ``group`` and ``other``, with the columns pe, pe_low and pe_high.
        """
        labels = group_labels(self.groups)
        rows = []
        for (group, other), pe in self.between.items():
            rows.append((labels[group], labels[other], *pe))
        pair = ["group", "other"]
        return pd.DataFrame(rows, columns=[*pair, *_PE]).set_index(pair)

    def worst_pair(self) -> tuple[Group, Group] | None:
        """Return the pair with the largest expected PE.

        Returns
        -------
        pair of groups or None
            None if there is only one group, or if no pair is defined. Groups of fewer
            than ten rows are left out.
        """
        compared = {}
        for pair, pe in self.between.items():
            rows = min(self.groups[group].rows for group in pair)
            # Comparisons with NaN are False, and max would depend on the order.
            if rows >= FEWEST_ROWS and not np.isnan(pe.value):
                compared[pair] = pe.value
        return max(compared, key=lambda pair: compared[pair], default=None)

    def compare(self, observed: Mapping[Group, Confusion]) -> pd.DataFrame:
        """Put expected and observed rates side by side, once labels have arrived.

        Parameters
        ----------
        observed : mapping from group to Confusion
            As from `cape.metrics.confusion_by_group`. Groups that are missing are left
            out, and so are groups that were not in the batch.

        Returns
        -------
        DataFrame
            Indexed by ``group`` and ``metric``, with the columns expected, low, high,
            observed and inside. An observed rate is NaN, and not outside, if the batch
            has no row of the class that it is about.
        """
        labels = group_labels(self.groups)
        rows = []
        for group in self.groups:
            if group not in observed:
                continue
            for rate, attribute in _RATES.items():
                expected = getattr(self.groups[group], rate)
                value = getattr(observed[group], attribute)
                # The ends belong to an interval. An undefined rate is NaN, and no
                # comparison with it is true.
                outside = value < expected.low or value > expected.high
                rows.append((labels[group], rate, *expected, value, not outside))
        whose = ["group", "metric"]
        columns = [*whose, "expected", "low", "high", "observed", "inside"]
        return pd.DataFrame(rows, columns=columns).set_index(whose)

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        return words.expected_shown(self)

    def _facts(self) -> dict[str, Any]:
        pairs = []
        names = self.names
        for (group, other), pe in self.between.items():
            entry: dict[str, Any] = {"group": names[group], "other": names[other]}
            pairs.append(entry | dict(zip(_PE, pe, strict=True)))
        return {"level": self.level, "pairs": pairs}


def expect_rates(
    draws: Mapping[Group, GroupDraws], adaptation: Adaptation
) -> ExpectedPerformance:
    """Compute what to expect of the members that an adaptation has chosen.

    Parameters
    ----------
    draws : mapping from group to GroupDraws
        Of the same batch.
    adaptation : Adaptation

    Returns
    -------
    ExpectedPerformance
    """
    groups = {}
    for group, drawn in draws.items():
        groups[group] = _expect_group(drawn, adaptation.groups[group])
    adapted = {group: adaptation.groups[group] for group in groups}
    prevalences = np.array([drawn.prevalences for drawn in draws.values()])
    between = expect_pe(adapted, prevalences, adaptation.level)
    return ExpectedPerformance(groups, between, adaptation.level)


def _expect_group(drawn: GroupDraws, adapted: GroupAdaptation) -> GroupExpected:
    """Put the rates to expect of one group and their intervals together."""
    rates = drawn.expected(adapted.classifier)
    estimates = {}
    for name, interval in drawn.rate_intervals(adapted.classifier).items():
        estimates[name] = holding(getattr(rates, name), *interval)
    # The predicted prevalence is known exactly.
    predicted = adapted.predicted_prevalence
    _, low, high = adapted.estimate
    pd = holding(rates.pd, *fold(low - predicted, high - predicted))
    return GroupExpected(adapted.rows, pd=pd, known=rates.known, **estimates)


def expect_pe(
    adapted: Mapping[Group, GroupAdaptation], prevalences: np.ndarray, level: float
) -> dict[tuple[Group, Group], Estimate]:
    """Compute the PE of each ordered pair, whose predicted prevalences are known.

    PE = |rho_z / rho_z' - predicted ratio|. What is expected is the median over the
    draws: a ratio with a small denominator has no mean. The interval is that of the
    signed difference, folded at 0: the absolute values of the draws would never reach
    0, which is the value that matters most.

    Parameters
    ----------
    adapted : mapping from group to GroupAdaptation
    prevalences : ndarray of shape (n_groups, n_draws)
    level : float

    Returns
    -------
    dict from pair of groups to Estimate
    """
    if not adapted:
        return {}
    predicted = np.array([group.predicted_prevalence for group in adapted.values()])
    # Relative to a group without positives, any PE is possible.
    unknown = Estimate(float("nan"), 0.0, float("inf"))
    places = np.arange(prevalences.shape[-1])
    ends = np.quantile(places, tails(level), method="inverted_cdf")
    relative_to = {}
    for place, (other, reference) in enumerate(adapted.items()):
        estimates = [unknown] * len(adapted)
        if reference.estimate.value and reference.predicted_prevalence:
            # Sorted, which takes a quarter of the time of np.quantile and np.median.
            differences = np.sort(signed_pe(prevalences, place, predicted), axis=1)
            low, high = differences[:, ends].T.tolist()
            medians = _median_sizes(differences)
            numbers = zip(medians.tolist(), low, high, strict=True)
            estimates = [holding(pe, *fold(low, high)) for pe, low, high in numbers]
        relative_to[other] = dict(zip(adapted, estimates, strict=True))
    # PE is not symmetric, so that both orders of a pair are computed.
    return {
        (own, other): relative_to[other][own] for own, other in permutations(adapted, 2)
    }


def _median_sizes(differences: np.ndarray) -> np.ndarray:
    """Return the median of the absolute values of each row, which is sorted."""
    n_draws = differences.shape[-1]
    middle = []
    for rank in ((n_draws - 1) // 2, n_draws // 2):
        # The values of the smallest size lie side by side, and an end of theirs is the
        # greatest of them.
        first = differences[:, : n_draws - rank]
        last = differences[:, rank:]
        middle.append(np.maximum(-first, last).min(axis=1))
    return np.mean(middle, axis=0)


_MANY_ROWS = 1e9
"""Rows behind a rate that is given as it is."""

_ROUNDING = 1e-9
"""A rule meets its bound but for rounding, and so does what is drawn."""

_MOST_PAIRS = 20
"""Pairs of groups that are looked at to tell whether any of them differ."""


@dataclass(frozen=True, repr=False)
class ExpectedCriteria(InNotebook):
    """What to expect of every fairness criterion, before labels arrive.

    A rule meets its criterion on estimates. The intervals are for the values that will
    be observed: they include the noise of the estimated prevalences, of the members'
    rates, and of the batch. A choice right at its bound misses it about half the time;
    ``probabilities`` says how likely the bound is to be met.

    Parameters
    ----------
    values : mapping from str to Estimate
        The accuracy of all rows, and each criterion by the name of the metric that
        measures it: the expected value over the groups that it is defined for, NaN if
        it is undefined, and the interval of the value as it will be observed.
    bounds : mapping from str to float or None
        The bounds of the rule; None if it asks for the smallest value that costs almost
        nothing.
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
        rows = {name: self._entry(name) for name in self.values}
        frame = pd.DataFrame.from_dict(rows, orient="index")
        frame.index.name = "criterion"
        return frame.astype(float)

    def to_dict(self) -> dict[str, Any]:
        """Return the values as a dict that JSON can hold."""
        entries = [{"criterion": name, **self._entry(name)} for name in self.values]
        return strict_json({"level": self.level, "criteria": entries})

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        title, rows, notes = words.criteria_shown(self)
        return title, pd.DataFrame(rows).set_index("criterion"), notes

    def _entry(self, name: str) -> dict[str, Any]:
        return {
            **self.values[name]._asdict(),
            "bound": self.bounds.get(name),
            "probability": self.probabilities.get(name),
        }


def expect_criteria(
    draws: Mapping[Group, GroupDraws],
    adaptation: Adaptation,
    performance: ExpectedPerformance,
) -> ExpectedCriteria:
    """Compute what to expect of the members that an adaptation has chosen.

    Parameters
    ----------
    draws : mapping from group to GroupDraws
        Of the same batch.
    adaptation : Adaptation
    performance : ExpectedPerformance
        What `expect_rates` returns for them.

    Returns
    -------
    ExpectedCriteria
    """
    level = adaptation.level
    bounds = bounds_of(adaptation.rule)
    situations = {group: drawn.situation for group, drawn in draws.items()}
    expected = {}
    drawn = {}
    alone = {}
    for group, of_group in draws.items():
        member = adaptation.groups[group].classifier
        expected[group] = of_group.expected(member)
        drawn[group] = of_group.given_calls(member)
        alone[group] = _situation_of(situations[group], member, expected[group])
    values = {"accuracy": Estimate(float("nan"), 0.0, 1.0)}
    if draws:
        wrong, drawn_wrong = _errors(situations, expected, drawn)
        values["accuracy"] = holding(1 - wrong, *central(1 - drawn_wrong, level))
    probabilities = {}
    for name, criterion in CRITERIA.items():
        groups = compared_groups(name, situations)
        value = float("nan")
        if groups:
            measured_of = [alone[group] for group in groups]
            value = criterion.measure(measured_of, [0] * len(groups))
        if np.isnan(value):
            values[name] = Estimate(value, 0.0, float("inf"))
            continue
        compared = [drawn[group] for group in groups]
        if name == "demographic_parity_ratio":
            # It is observed, and has no interval. Where nobody is called positive, all
            # shares are equal.
            predicted = [_predicted(group) for group in compared]
            ratio = min(predicted) / max(predicted) if any(predicted) else 1.0
            measured: Any = np.array([ratio])
            interval = central(measured, level)
        else:
            measured, interval = greatest_difference(name, compared, level)
        if name == "proportional_equality":
            # The worst pair's median is one number everywhere. Without a pair of enough
            # rows it is the PE of the estimates, to which members were fitted.
            pair = performance.worst_pair()
            value = value if pair is None else performance.between[pair].value
        values[name] = holding(float(value), *interval)
        bound = bounds.get(name)
        if bound is not None:
            excess = criterion.exceeded_by(measured, bound)
            probabilities[name] = float(np.mean(excess <= _ROUNDING))
    return ExpectedCriteria(values, bounds, probabilities, level)


def _situation_of(
    situation: GroupSituation, member: int, expected: ExpectedRates
) -> GroupSituation:
    """Return the situation of the chosen member alone, with the rates to expect.

    Criteria measure situations, and the rates stand beside the criterion on a page.
    """
    rows = np.array([_MANY_ROWS])
    true_positives = rows * (1 - expected.fnr)
    return replace(
        situation,
        thetas=situation.thetas[[member]],
        predicted_prevalences=situation.predicted_prevalences[[member]],
        rates=MemberRates(true_positives, rows, rows * expected.fpr, rows),
    )


def _errors(
    situations: Mapping[Group, GroupSituation],
    expected: Mapping[Group, ExpectedRates],
    drawn: Mapping[Group, Confusion],
) -> tuple[float, np.ndarray]:
    """Compute the share of rows that are decided wrongly: to expect, and drawn.

    What is expected is that of the groups whose rates are known; the mean of the draws
    if none is.
    """
    total = 0.0
    known = 0.0
    all_wrong: Any = 0.0
    for group, batches in drawn.items():
        share = situations[group].share
        missed = batches.prevalence * (1 - np.nan_to_num(batches.tpr, nan=1.0))
        wrong = (1 - batches.prevalence) * np.nan_to_num(batches.fpr)
        all_wrong = all_wrong + share * (missed + wrong)
        rates = expected[group]
        if rates.known:
            total += share * (rates.false_negatives + rates.false_positives)
            known += share
    return total / known if known else float(all_wrong.mean()), all_wrong


def _predicted(drawn: Confusion) -> float:
    """Return the share of rows that is called positive, the same in every draw."""
    return float(np.ravel(drawn.predicted_prevalence)[0])


def greatest_difference(
    name: str, drawn: Sequence[Confusion], level: float
) -> tuple[np.ndarray, tuple[float, float]]:
    """Compute the largest difference in any pair of groups in every draw.

    Absolute values of draws would never reach 0. So the interval starts at 0 unless
    some pair differs by its signed interval. Nothing can lie below 0, and the upper end
    has then all of the error to itself.

    Parameters
    ----------
    name : str
        A name in `CRITERIA`.
    drawn : sequence of Confusion
        Draws of every group.
    level : float

    Returns
    -------
    greatest, interval : ndarray of shape (n_draws,), pair of float
    """
    greatest: Any = 0.0
    # Signed differences of the pairs that differ most: hundreds of groups have too many
    # pairs to keep all.
    signed: Any = None
    for largest, block in _differences(name, drawn):
        greatest = np.maximum(greatest, largest)
        if signed is not None:
            block = np.concatenate([signed, block])
        signed = _furthest_from_zero(block)
    for differences in signed:
        low, high = central(differences, level)
        if low > 0 or high < 0:
            return greatest, central(greatest, level)
    high = np.quantile(greatest, level, method="inverted_cdf")
    return greatest, (0.0, float(high))


def _furthest_from_zero(signed: np.ndarray) -> np.ndarray:
    """Return the pairs of groups whose mean difference is greatest."""
    order = np.argsort(-np.abs(signed.mean(axis=1)), kind="stable")
    return signed[order[:_MOST_PAIRS]]


_COMPARED = {
    "demographic_parity_difference": ["predicted_prevalence"],
    "equal_opportunity_difference": ["tpr"],
    "false_positive_rate_difference": ["fpr"],
    "equalized_odds_difference": ["tpr", "fpr"],
}
"""Rates that criteria compare, by the names of `cape.rules.CRITERIA`."""


def _differences(
    name: str, drawn: Sequence[Confusion]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the greatest difference in every draw, and those of some pairs of groups.

    The pairs are those that may differ most in the mean.
    """
    for field in _COMPARED.get(name, []):
        rates = np.array([getattr(group, field) for group in drawn])
        # A rate without rows differs from none.
        largest = np.nan_to_num(np.fmax.reduce(rates) - np.fmin.reduce(rates))
        defined = ~np.isnan(rates)
        sums = np.nan_to_num(rates) @ defined.T
        order = np.argsort(-np.abs(np.triu(sums - sums.T)), axis=None, kind="stable")
        first, second = np.unravel_index(order[:_MOST_PAIRS], sums.shape)
        yield largest, np.nan_to_num(rates[first] - rates[second])
    if name != "proportional_equality":
        return
    prevalences = np.array([group.prevalence for group in drawn])
    predicted = np.array([_predicted(group) for group in drawn])
    # PE relative to a group without positive calls is undefined.
    for place in np.flatnonzero(predicted).tolist():
        signed = signed_pe(prevalences, place, predicted)
        yield np.abs(signed).max(axis=0), _furthest_from_zero(signed)
