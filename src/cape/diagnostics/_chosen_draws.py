"""Simulated batches of all groups, as any choice of members would decide them.

What is known of a batch: how many rows a member calls positive, exactly; the prevalence
of each group, up to its interval; and the rates of members, from a limited number of
rows. Criteria and accuracy of a choice have intervals by drawing what is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
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

_ALMOST_NONE = 1e-6
"""Rows of a class that has none."""


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
    prevalence : float
        As estimated.
    fpr, fnr : float
        NaN where a rate rests on fewer than ten rows.
    """

    prevalence: float
    fpr: float
    fnr: float

    @property
    def false_positives(self) -> float:
        """Share of the rows that are negative and called positive."""
        return (1 - self.prevalence) * self.fpr

    @property
    def false_negatives(self) -> float:
        """Share of the rows that are positive and called negative."""
        return self.prevalence * self.fnr

    @property
    def accuracy(self) -> float:
        """Share of rows that are called what they are; NaN where a rate is unknown."""
        return 1 - self.false_positives - self.false_negatives

    @property
    def known(self) -> bool:
        """Whether both rates are known."""
        return not np.isnan(self.accuracy)


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

    @cached_property
    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """TPR and FPR to expect of every member; NaN where they are unknown.

        A member calls C rows positive, which is known. What it calls positive among the
        positives is expected given that sum, as in `of_member`, at the estimated
        prevalence. The rates of training do not know C: on COMPAS (36 groups of
        batches) their FPR missed the observed one by .045 and these by .040 (root mean
        square), on MEPS from year to year by .016 and .012.
        """
        situation = self.situation
        # Without a positive the TPR is that of the first one to come.
        positives = max(float(situation.estimate) * self.rows, _ALMOST_NONE)
        negatives = max((1 - float(situation.estimate)) * self.rows, _ALMOST_NONE)
        called = situation.predicted_prevalences * self.rows
        split = self._split(situation.rates, called, positives, negatives)
        true_positives = split.within(positives, negatives, split.mean)
        tpr = true_positives / positives
        fpr = (called - true_positives) / negatives
        tpr = np.where(np.isnan(situation.tpr), np.nan, tpr.clip(0, 1))
        fpr = np.where(np.isnan(situation.fpr), np.nan, fpr.clip(0, 1))
        return tpr, fpr

    def _split(
        self, rates: MemberRates, called: Any, positives: Any, negatives: Any
    ) -> _Split:
        """Split the rows that are called positive among the two classes.

        With N1 positives and N0 negatives, a member calls T of the first and F of the
        second positive. Both are nearly normal, and T + F is observed. Given the sum,
        T has the mean E T + (T + F - E T - E F) v1 / (v1 + v0) and the variance
        v1 v0 / (v1 + v0).
        """
        mean_1, variance_1 = _moments(
            rates.true_positives, rates.positives, positives, self.noise
        )
        mean_0, variance_0 = _moments(
            rates.false_positives, rates.negatives, negatives, self.noise
        )
        total = np.maximum(variance_1 + variance_0, 1e-12)
        mean = mean_1 + (called - mean_1 - mean_0) * variance_1 / total
        return _Split(called, mean, np.sqrt(variance_1 * variance_0 / total))

    def expected(self, member: int) -> ExpectedRates:
        """Return what to expect of one member, within what labels allow."""
        prevalence = float(self.situation.estimate)
        tpr, fpr = (float(rates[member]) for rates in self.rates)
        if self.calls is not None and 0 < prevalence < 1:
            tpr = float(np.clip(tpr, *self.calls.tpr.interval(member, self.level)))
            # Both rates together make the share of rows that is called positive.
            called = float(self.situation.predicted_prevalences[member])
            fpr = (called - prevalence * tpr) / (1 - prevalence)
            fpr = float(np.clip(fpr, *self.calls.fpr.interval(member, self.level)))
            tpr = (called - (1 - prevalence) * fpr) / prevalence
            tpr = float(np.clip(tpr, 0, 1))
        return ExpectedRates(prevalence, fpr, 1 - tpr)

    def of_member(self, member: int) -> DrawnGroup:
        """Draw the rates of a member, given what it called positive."""
        situation = self.situation
        rates = situation.rates
        of_member = MemberRates(
            rates.true_positives[member],
            rates.positives[member],
            rates.false_positives[member],
            rates.negatives[member],
        )
        positives = np.rint(self.prevalences * self.rows)
        negatives = self.rows - positives
        called = round(float(situation.predicted_prevalences[member]) * self.rows)
        split = self._split(of_member, called, positives, negatives)
        drawn = np.rint(split.mean + split.deviation * self.normals)
        true_positives = split.within(positives, negatives, drawn)
        false_positives = called - true_positives
        right = true_positives + negatives - false_positives
        return DrawnGroup(
            prevalence=positives / self.rows,
            tpr=shares(true_positives, positives),
            fpr=shares(false_positives, negatives),
            accuracy=right / self.rows,
            predicted=called / self.rows,
        )


@dataclass(frozen=True)
class _Split:
    """How many of the rows that are called positive are positive.

    Parameters
    ----------
    called : float or ndarray
        Rows that are called positive.
    mean, deviation : ndarray
        Of the positives among them.
    """

    called: Any
    mean: np.ndarray
    deviation: np.ndarray

    def within(
        self, positives: Any, negatives: Any, true_positives: np.ndarray
    ) -> np.ndarray:
        """Cut numbers of true positives to what the rows of both classes allow."""
        # No class has more rows than it has, and the rest of the calls is the other's.
        fewest = np.maximum(0, self.called - negatives)
        return np.clip(true_positives, fewest, np.minimum(positives, self.called))


def _moments(
    called: Any, rows: Any, new_rows: Any, noise: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of the new rows that a member calls positive.

    The rate has the posterior of Jeffreys' prior, given the rows it is known from.
    """
    rows = rows / noise
    called = np.minimum(called / noise, rows)
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

    def member_rates(self, group: Group) -> tuple[np.ndarray, np.ndarray]:
        """Return TPR and FPR to expect of all members of a group."""
        return self._groups[group].rates

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

    It is that of the groups whose rates are known.

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
    known = 0.0
    for group, rates in expected.items():
        if rates.known:
            cost = cost_fn * rates.false_negatives + cost_fp * rates.false_positives
            total += situations[group].share * cost
            known += situations[group].share
    # Of groups whose rates are unknown nothing can be expected.
    return total / known if known else float("nan")


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
