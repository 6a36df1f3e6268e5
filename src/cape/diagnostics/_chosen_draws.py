"""Simulated batches of all groups, as any choice of members would decide them.

What is known of a batch: how many rows a member calls positive, exactly; the prevalence
of each group, up to its interval; and the rates of members, from a limited number of
rows. Criteria and accuracy of a choice have intervals by drawing what is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cape._groups import Group
from cape._prediction import situations_of
from cape.adaptation import Adaptation
from cape.classifier import CapeClassifier
from cape.diagnostics._expected_draws import draw_prevalences, noise_of_rates, shares
from cape.evidence import Evidence
from cape.rules import GroupSituation

__all__ = ["BatchDraws", "DrawnGroup"]


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
class _GroupDraws:
    """What is drawn once for a group, whatever member decides."""

    situation: GroupSituation
    rows: int
    prevalences: np.ndarray
    normals: np.ndarray
    noise: float

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
            uses_labels = adapted.label_verdict is not None
            prevalences = draw_prevalences(
                models[group], evidence.groups[group], adapted, n_draws, random
            )
            self._groups[group] = _GroupDraws(
                situation,
                adapted.rows,
                prevalences,
                random.standard_normal(n_draws),
                # Rates that labels corrected have their noise in them.
                1.0 if uses_labels else noise_of_rates(models[group]),
            )

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
