"""Simulated batches of all groups, as any choice of members would decide them.

What is known of a batch: how many rows a member calls positive, exactly; the prevalence
of each group, up to its interval; and the rates of members, from a limited number of
rows. Criteria and accuracy of a choice have intervals by drawing what is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cape._groups import Group
from cape._labelled import CheckedCalls, check_calls
from cape._prediction import situations_of
from cape.adaptation import Adaptation
from cape.classifier import CapeClassifier
from cape.diagnostics._expected_draws import draw_prevalences, noise_of_rates, shares
from cape.evidence import Evidence
from cape.pool import MemberRates
from cape.rules import GroupSituation

__all__ = [
    "BatchDraws",
    "DrawnGroup",
    "ExpectedRates",
    "expected_cost",
    "expected_situation",
]

_MANY_ROWS = 1e9
"""Rows behind a rate that is given as it is."""


@dataclass(frozen=True)
class DrawnGroup:
    """Rates of one member in simulated batches of one group.

    Parameters
    ----------
    prevalence, tpr, fpr, accuracy : ndarray of shape (n_draws,)
        NaN where a rate is undefined.
    predicted : float
        Share of rows that the member calls positive, which is known.
    """

    prevalence: np.ndarray
    tpr: np.ndarray
    fpr: np.ndarray
    accuracy: np.ndarray
    predicted: float


@dataclass(frozen=True)
class ExpectedRates:
    """What to expect of one member in one group, once labels arrive.

    Every place that says what to expect says this.

    Parameters
    ----------
    fpr, fnr : float
        NaN where a rate rests on fewer than ten rows, and where the batch has no row of
        the class.
    false_positives, false_negatives : float
        Share of the rows of the group that are wrongly called positive, and wrongly
        called negative.
    known : bool
        Whether both rates rest on ten rows or more.
    """

    fpr: float
    fnr: float
    false_positives: float
    false_negatives: float
    known: bool

    @property
    def accuracy(self) -> float:
        """Share of rows that are called what they are; NaN where a rate is unknown."""
        if not self.known:
            return float("nan")
        return 1 - self.false_positives - self.false_negatives


@dataclass(frozen=True)
class _GroupDraws:
    """What is drawn once for a group, whatever member decides.

    Parameters
    ----------
    situation : GroupSituation
    rows : int
    prevalences, normals : ndarray of shape (n_draws,)
        Prevalences of simulated batches, and normal numbers.
    noise : float
        From `noise_of_rates`.
    seed : int
        Of further draws for this group.
    calls : CheckedCalls or None
        What labels say of the members, where they were used.
    level : float
        Confidence level of the adaptation.
    """

    situation: GroupSituation
    rows: int
    prevalences: np.ndarray
    normals: np.ndarray
    noise: float
    seed: int
    calls: CheckedCalls | None
    level: float

    def expected(self, member: int) -> ExpectedRates:
        """Compute what to expect of a member.

        Without labels it is the mean over simulated batches in which the member calls
        as many rows positive as it does. The rates of training alone do not know that
        number: on COMPAS (36 groups of batches) their FPR misses the observed one by
        .045 and this mean by .040 (root mean square), on MEPS from year to year by .016
        and .012.
        """
        if self.calls is not None:
            return self._expected_by_labels(member, self.calls)
        drawn = self.of_member(member)
        known_fpr = not np.isnan(self.situation.fpr[member])
        known_fnr = not np.isnan(self.situation.tpr[member])
        false_positives = (1 - drawn.prevalence) * np.nan_to_num(drawn.fpr)
        false_negatives = drawn.prevalence * (1 - np.nan_to_num(drawn.tpr, nan=1.0))
        return ExpectedRates(
            fpr=_mean(drawn.fpr) if known_fpr else float("nan"),
            fnr=1 - _mean(drawn.tpr) if known_fnr else float("nan"),
            false_positives=float(false_positives.mean()),
            false_negatives=float(false_negatives.mean()),
            known=known_fpr and known_fnr,
        )

    def _expected_by_labels(self, member: int, calls: CheckedCalls) -> ExpectedRates:
        """Correct the rates of a member by labels, within what labels alone allow."""
        fpr_low, fpr_high = calls.fpr.interval(member, self.level)
        tpr_low, tpr_high = calls.tpr.interval(member, self.level)
        fpr = float(np.clip(self.situation.fpr[member], fpr_low, fpr_high))
        fnr = 1 - float(np.clip(self.situation.tpr[member], tpr_low, tpr_high))
        prevalence = float(self.situation.estimate)
        known = not (np.isnan(fpr) or np.isnan(fnr))
        return ExpectedRates(
            fpr=fpr,
            fnr=fnr,
            false_positives=(1 - prevalence) * float(np.nan_to_num(fpr)),
            false_negatives=prevalence * float(np.nan_to_num(fnr)),
            known=known,
        )

    def of_member(self, member: int) -> DrawnGroup:
        """Draw the rates of a member, given what it called positive.

        With N1 positives and N0 negatives, a member calls T of the first and F of the
        second positive. Both are nearly normal, and T + F is observed. Given the sum,
        T has the mean E T + (T + F - E T - E F) v1 / (v1 + v0) and the variance
        v1 v0 / (v1 + v0).
        """
        situation = self.situation
        rates = situation.rates
        positives = np.rint(self.prevalences * self.rows)
        negatives = self.rows - positives
        called = round(float(situation.predicted_prevalences[member]) * self.rows)
        mean_1, variance_1 = _moments(
            rates.true_positives[member], rates.positives[member], positives, self.noise
        )
        mean_0, variance_0 = _moments(
            rates.false_positives[member],
            rates.negatives[member],
            negatives,
            self.noise,
        )
        total = np.maximum(variance_1 + variance_0, 1e-12)
        mean = mean_1 + (called - mean_1 - mean_0) * variance_1 / total
        deviation = np.sqrt(variance_1 * variance_0 / total)
        drawn = np.rint(mean + deviation * self.normals)
        # No class has more rows than it has, and the rest of the calls is the other's.
        true_positives = np.clip(
            drawn, np.maximum(0, called - negatives), np.minimum(positives, called)
        )
        false_positives = called - true_positives
        right = true_positives + negatives - false_positives
        return DrawnGroup(
            prevalence=positives / self.rows,
            tpr=shares(true_positives, positives),
            fpr=shares(false_positives, negatives),
            accuracy=right / self.rows,
            predicted=called / self.rows,
        )


def _mean(values: np.ndarray) -> float:
    """Return the mean of the values that are defined; NaN if none is."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def _moments(
    called: float, rows: float, new_rows: np.ndarray, noise: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of the new rows that a member calls positive.

    The rate has the posterior of Jeffreys' prior, given the rows it is known from.
    """
    rows = rows / noise
    called = min(called / noise, rows)
    rate = (called + 0.5) / (rows + 1)
    one_row = rate * (1 - rate)
    variance = new_rows * one_row + new_rows**2 * one_row / (rows + 2)
    return new_rows * rate, variance


class BatchDraws:
    """Draws of a batch, from which those of any choice of members are computed.

    All choices share the random numbers, so that their differences are not noise.

    Parameters
    ----------
    clf : CapeClassifier
    evidence : Evidence
    adaptation : Adaptation
        To the same batch, with intervals.
    n_draws : int
    random_state : int, Generator or None
    """

    def __init__(
        self,
        clf: CapeClassifier,
        evidence: Evidence,
        adaptation: Adaptation,
        *,
        n_draws: int,
        random_state: Any,
    ):
        random = np.random.default_rng(random_state)
        models = {group: clf.model_of(group) for group in evidence.groups}
        self.situations = situations_of(models, evidence, adaptation)
        self._groups: dict[Group, _GroupDraws] = {}
        for group, situation in self.situations.items():
            adapted = adaptation.groups[group]
            calls = None
            # Rates that labels corrected have their noise in them.
            noise = 1.0
            if adapted.label_verdict is None:
                noise = noise_of_rates(models[group])
            else:
                calls = check_calls(models[group], evidence.groups[group])
            prevalences = draw_prevalences(
                models[group], evidence.groups[group], adapted, n_draws, random
            )
            self._groups[group] = _GroupDraws(
                situation,
                adapted.rows,
                prevalences,
                random.standard_normal(n_draws),
                noise,
                int(random.integers(2**32)),
                calls,
                adaptation.level,
            )

    def prevalences(self, group: Group) -> np.ndarray:
        """Return the drawn prevalences of a group."""
        return self._groups[group].prevalences

    def generator(self, group: Group) -> np.random.Generator:
        """Return a generator of further draws for a group, the same at every call."""
        return np.random.default_rng(self._groups[group].seed)

    def expected(self, members: Mapping[Group, int]) -> dict[Group, ExpectedRates]:
        """Compute what to expect of the members of all groups."""
        expected = {}
        for group, member in members.items():
            expected[group] = self._groups[group].expected(member)
        return expected

    def of_choice(self, members: Mapping[Group, int]) -> dict[Group, DrawnGroup]:
        """Draw the rates of the members of all groups."""
        drawn = {}
        for group, member in members.items():
            drawn[group] = self._groups[group].of_member(member)
        return drawn

    def cost(
        self, drawn: Mapping[Group, DrawnGroup], *, cost_fp: float, cost_fn: float
    ) -> np.ndarray:
        """Compute the cost of errors of a row of the batch, in every draw."""
        total = np.zeros(len(next(iter(drawn.values())).prevalence))
        for group, rates in drawn.items():
            false_negatives = rates.prevalence * (1 - np.nan_to_num(rates.tpr, nan=1.0))
            false_positives = (1 - rates.prevalence) * np.nan_to_num(rates.fpr)
            cost = cost_fn * false_negatives + cost_fp * false_positives
            total += self.situations[group].share * cost
        return total


def expected_cost(
    expected: Mapping[Group, ExpectedRates],
    situations: Mapping[Group, GroupSituation],
    *,
    cost_fp: float,
    cost_fn: float,
) -> float:
    """Compute the cost of errors of a row of the batch, as it is expected.

    Parameters
    ----------
    expected : mapping from group to ExpectedRates
    situations : mapping from group to GroupSituation
    cost_fp, cost_fn : float
        What the two errors cost.

    Returns
    -------
    float
    """
    total = 0.0
    for group, rates in expected.items():
        cost = cost_fn * rates.false_negatives + cost_fp * rates.false_positives
        total += situations[group].share * cost
    return total


def expected_situation(
    situation: GroupSituation, member: int, rates: ExpectedRates
) -> GroupSituation:
    """Return what is expected of one member as a group with that member alone.

    Criteria measure situations, and the criterion of a page has to be that of the rates
    beside it.

    Parameters
    ----------
    situation : GroupSituation
    member : int
    rates : ExpectedRates
        Of this member.

    Returns
    -------
    GroupSituation
    """
    positives, true_positives = _as_counts(1 - rates.fnr)
    negatives, false_positives = _as_counts(rates.fpr)
    return replace(
        situation,
        thetas=situation.thetas[[member]],
        predicted_prevalences=situation.predicted_prevalences[[member]],
        rates=MemberRates(true_positives, positives, false_positives, negatives),
    )


def _as_counts(rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Return rows, and how many of them are called positive, that make a rate."""
    if np.isnan(rate):
        return np.zeros(1), np.zeros(1)
    return np.array([_MANY_ROWS]), np.array([_MANY_ROWS * rate])
