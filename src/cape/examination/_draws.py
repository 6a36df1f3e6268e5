"""Simulated batches: what may be observed once labels arrive.

What is known of a batch: how many rows a member calls positive, exactly; the prevalence
of each group, up to its interval; and the rates of members, from a limited number of
rows. What is not known is drawn, once, and everything that is to be expected of any
choice of members is computed from these draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cape.base._estimate import Estimate
from cape.base._groups import Group
from cape.evidence._evidence import Evidence, GroupEvidence
from cape.labels._rates import CheckedCalls, check_calls
from cape.metrics._rates import Confusion
from cape.rules import GroupSituation
from cape.rules._adaptation import Adaptation, GroupAdaptation
from cape.training._group_model import GroupModel

# Nine levels describe the middle of the distribution coarsely and its tails, which
# decide the ends of 95 % intervals, finely.
_LEVELS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)

# Out-of-fold rows are counted by one fold model each, and the mean of the fold models
# decides. Each fold model has seen the rows that the others are counted on, so that the
# folds err alike, and the mean decides a little better than any of them. With boosting
# and 300 or 1,000 training rows a group, the squared error of FPR and FNR was 1.1 to
# 1.6 times the binomial variance. With a factor of 1, the FPR was inside its interval
# in 91 to 92 % (n = 1,000) and 90 % (n = 10,000); with 1.5, in 95 to 97 %.
_NOISE_OF_FOLDS = 1.5

_RATES_MOVE = 0.1
"""Standard deviation by which the log-odds of TPR and FPR move by themselves from one
year to another. On 16 real shifts of 7 sources whose prevalences are known afterwards,
the likelihood of what was observed is greatest at .05 to .1, and no source speaks
against .1. In simulated prior shifts, 95 % intervals of the FNR hold 96 % with it."""

_ALMOST_NONE = 1e-6
"""Rows of a class that has none."""


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
    pd : float, default=nan
        Mean distance of the share that is called positive from what the prevalence may
        be. Its distance from the estimate, which the member was chosen for, says
        nothing.
    """

    prevalence: float
    fpr: float
    fnr: float
    pd: float = np.nan

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
class GroupDraws:
    """What is drawn once for a group, whatever member decides.

    Parameters
    ----------
    situation : GroupSituation
        What the rule saw.
    adapted : GroupAdaptation
    prevalences, normals : ndarray of shape (n_draws,)
        Prevalences of simulated batches, and normal numbers.
    noise : float
        From `_noise_of_rates`.
    seed : int
        Of further draws for this group.
    calls : CheckedCalls or None
        What labels say of the members, where they were used.
    level : float
        Confidence level of the adaptation.
    drift_counts : bool, default=False
        Whether more than prevalences may have moved, so that rates may have, too.
    """

    situation: GroupSituation
    adapted: GroupAdaptation
    prevalences: np.ndarray
    normals: np.ndarray
    noise: float
    seed: int
    calls: CheckedCalls | None
    level: float
    drift_counts: bool = False

    def expected(self, member: int) -> ExpectedRates:
        """Return what to expect of one member, within what labels allow.

        A member calls C rows positive, which is known. What it calls positive among the
        positives is expected given that sum, as in `given_calls`, at the estimated
        prevalence. The rates of training do not know C: on COMPAS (36 groups of
        batches) their FPR missed the observed one by .045 and these by .040 (root mean
        square), on MEPS from year to year by .016 and .012.
        """
        rows = self.adapted.effective_rows
        prevalence = float(self.situation.estimate.value)
        share = float(self.situation.predicted_prevalences[member])
        # Without a positive the TPR is that of the first one to come.
        positives = max(prevalence * rows, _ALMOST_NONE)
        negatives = max((1 - prevalence) * rows, _ALMOST_NONE)
        called = share * rows
        known = self._known(member)
        true_positives = self._true_positives(known, called, positives, negatives)
        tpr = fpr = np.nan
        if not np.isnan(self.situation.tpr[member]):
            tpr = float(np.clip(true_positives / positives, 0, 1))
        if not np.isnan(self.situation.fpr[member]):
            fpr = float(np.clip((called - true_positives) / negatives, 0, 1))
        if self.calls is not None and 0 < prevalence < 1:
            tpr = float(np.clip(tpr, *self.calls.tpr.interval(member, self.level)))
            # Both rates together make the share of rows that is called positive.
            fpr = (share - prevalence * tpr) / (1 - prevalence)
            fpr = float(np.clip(fpr, *self.calls.fpr.interval(member, self.level)))
            tpr = (share - (1 - prevalence) * fpr) / prevalence
            tpr = float(np.clip(tpr, 0, 1))
        pd = float(np.abs(self.prevalences - share).mean())
        return ExpectedRates(prevalence, fpr, 1 - tpr, pd)

    def rate_intervals(self, member: int) -> dict[str, tuple[float, float]]:
        """Return the intervals of FPR, FNR and accuracy as they will be observed.

        Those of labels are of labels alone: what labels and training agree on makes an
        estimate better, but nobody knows by how much.
        """
        if self.calls is not None:
            tpr_low, tpr_high = self.calls.tpr.interval(member, self.level)
            return {
                "fpr": self.calls.fpr.interval(member, self.level),
                "fnr": (1 - tpr_high, 1 - tpr_low),
                "accuracy": self.calls.accuracy.interval(member, self.level),
            }
        if self.drift_counts:
            drawn = self.given_calls(member, _RATES_MOVE)
        else:
            drawn = self.new_sample(member)
        # Fewer than ten unseen rows of a class say nothing about a rate: it is NaN.
        knows_fpr = not np.isnan(self.situation.fpr[member])
        knows_fnr = not np.isnan(self.situation.tpr[member])
        return {
            "fpr": central(drawn.fpr, self.level, knows_fpr),
            "fnr": central(drawn.fnr, self.level, knows_fnr),
            "accuracy": central(drawn.accuracy, self.level, knows_fpr and knows_fnr),
        }

    def new_sample(self, member: int) -> Confusion:
        """Draw batches from the rates of training; the number of calls varies."""
        random = np.random.default_rng(self.seed)
        rows = round(self.adapted.effective_rows)
        # The realised prevalence is a count of rows divided by their number.
        positives = np.rint(self.prevalences * rows).astype(int)
        of_positives, of_negatives = self._known(member)
        false_positives = draw_called(*of_negatives, rows - positives, random)
        true_positives = draw_called(*of_positives, positives, random)
        return _tables(true_positives, false_positives, positives, rows)

    def given_calls(self, member: int, rates_move: float = 0.0) -> Confusion:
        """Draw batches in which the member calls as many rows positive as in this one.

        All members share the random numbers, so that differences are not noise. The
        log-odds of the rates may have moved by themselves, by ``rates_move``.
        """
        rows = round(self.adapted.effective_rows)
        positives = np.rint(self.prevalences * rows)
        share = float(self.situation.predicted_prevalences[member])
        called = round(share * rows)
        known = self._known(member)
        true_positives = self._true_positives(
            known, called, positives, rows - positives, self.normals, rates_move
        )
        return _tables(true_positives, called - true_positives, positives, rows)

    def _known(self, member: Any) -> list[tuple[Any, Any]]:
        """Return what is known of a member: unseen rows called positive, and all rows.

        Of the positives first, then of the negatives. Rates that vary more than those
        of so many rows are worth those of fewer.
        """
        rates = self.situation.rates
        noise = self.noise
        return [
            (rates.true_positives[member] / noise, rates.positives[member] / noise),
            (rates.false_positives[member] / noise, rates.negatives[member] / noise),
        ]

    def _true_positives(
        self,
        known: list[tuple[Any, Any]],
        called: Any,
        positives: Any,
        negatives: Any,
        normals: np.ndarray | None = None,
        rates_move: float = 0.0,
    ) -> np.ndarray:
        """Return the positives among the rows called positive: expected, or drawn.

        With N1 positives and N0 negatives, a member calls T of the first and F of the
        second positive. Both are nearly normal, and T + F is observed. Given the sum,
        T has the mean E T + (T + F - E T - E F) v1 / (v1 + v0) and the variance
        v1 v0 / (v1 + v0).
        """
        mean_1, variance_1 = _moments(*known[0], positives, rates_move)
        mean_0, variance_0 = _moments(*known[1], negatives, rates_move)
        total = np.maximum(variance_1 + variance_0, 1e-12)
        true_positives = mean_1 + (called - mean_1 - mean_0) * variance_1 / total
        if normals is not None:
            deviation = np.sqrt(variance_1 * variance_0 / total)
            true_positives = np.rint(true_positives + deviation * normals)
        # No class has more rows than it has, and the rest of the calls is the other's.
        fewest = np.maximum(0, called - negatives)
        return np.clip(true_positives, fewest, np.minimum(positives, called))


def _tables(
    true_positives: Any, false_positives: Any, positives: Any, rows: int
) -> Confusion:
    """Return simulated batches of a group, decided by one member, as counts."""
    return Confusion(
        tp=true_positives,
        fp=false_positives,
        fn=positives - true_positives,
        tn=rows - positives - false_positives,
        rows=rows,
    )


def _moments(
    called: Any, rows: Any, new_rows: Any, rates_move: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of the new rows that a member calls positive.

    The rate has the posterior of Jeffreys' prior, given the rows it is known from, and
    its log-odds may have moved by themselves.
    """
    called = np.minimum(called, rows)
    rate = (called + 0.5) / (rows + 1)
    one_row = rate * (1 - rate)
    variance = new_rows * one_row + new_rows**2 * one_row / (rows + 2)
    if rates_move:
        variance = variance + (new_rows * one_row * rates_move) ** 2
    return new_rows * rate, variance


def draw_called(
    called: float, rows: float, new_rows: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Draw how many of ``new_rows`` a member calls positive.

    Parameters
    ----------
    called, rows : float
        Number of unseen training rows that it calls positive, and of all such rows.
    new_rows : ndarray of int of shape (n_draws,)
        Rows of one class in each simulated batch.
    random : Generator

    Returns
    -------
    ndarray of int of shape (n_draws,)
    """
    # Posterior of a binomial rate under Jeffreys' prior, Beta(1/2, 1/2). Weighted
    # counts may exceed the rows by rounding.
    others = max(rows - called, 0.0)
    rate = random.beta(called + 0.5, others + 0.5, size=len(new_rows))
    return random.binomial(new_rows, rate)


def _draw_prevalences(
    model: GroupModel,
    evidence: GroupEvidence,
    adapted: GroupAdaptation,
    n_draws: int,
    random: np.random.Generator,
) -> np.ndarray:
    """Draw the realised prevalence of a group that no posterior was computed for.

    The distribution is that of the quantifier. Its central intervals are known at every
    level. Their ends at nine levels, with the estimate in the middle, are points of a
    distribution function, which is inverted by linear interpolation.
    """
    # The estimate is known, and must not be made again for every level.
    estimate = adapted.quantifier_estimate.value
    interval_at: Callable[..., tuple[float, float]]
    interval_at = partial(model.quantifier.interval, evidence.scores, estimate=estimate)
    lows, highs = zip(*map(interval_at, _LEVELS), strict=True)
    levels = np.array(_LEVELS)
    lower = (1 - levels) / 2
    upper = (1 + levels) / 2
    points = [*reversed(lows), estimate, *highs]
    below = [*reversed(lower), 0.5, *upper]
    # Intervals of higher levels are wider but for rounding, and np.interp needs order.
    increasing = np.maximum.accumulate(points)
    return np.interp(random.random(n_draws), below, increasing)


def _noise_of_rates(model: GroupModel) -> float:
    """Return the variance of the rates in training, relative to a binomial one.

    It is 1 where the rows that were counted are new to the very model that decides:
    with a hold-out, with one split, with resampled members, and in effect with a linear
    learner that is refitted. Elsewhere it is greater.
    """
    by_fold_models = len(model.scoring_models) > 1 or not model.test_is_sound
    if model.pool.decides_by_scoring_models and by_fold_models:
        return _NOISE_OF_FOLDS
    return 1.0


def draw_batches(
    models: Mapping[Group, GroupModel],
    evidence: Evidence,
    adaptation: Adaptation,
    *,
    n_draws: int,
    random_state: Any,
) -> dict[Group, GroupDraws]:
    """Draw a batch, from which the rates of any choice of members are computed.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : Evidence
    adaptation : Adaptation
        To the same batch, with intervals.
    n_draws : int
    random_state : int, Generator or None

    Returns
    -------
    dict from group to GroupDraws
    """
    random = np.random.default_rng(random_state)
    draws = {}
    shares: dict[Group, np.ndarray] = {}
    if adaptation.posterior is not None:
        shares = adaptation.posterior.draw(n_draws, random)
    for group, situation in adaptation.situations.items():
        model = models[group]
        part = evidence.groups[group]
        adapted = adaptation.groups[group]
        calls = None
        # Rates that labels corrected have their noise in them.
        noise = 1.0
        if adapted.labels.verdict is None:
            noise = _noise_of_rates(model)
        else:
            calls = check_calls(model, part)
        if group not in shares:
            shares[group] = _draw_prevalences(model, part, adapted, n_draws, random)
        draws[group] = GroupDraws(
            situation,
            adapted,
            shares[group],
            random.standard_normal(n_draws),
            noise,
            int(random.integers(2**32)),
            calls,
            adaptation.level,
            adaptation.drift == "cautious",
        )
    return draws


def signed_pe(prevalences: np.ndarray, place: int, predicted: Any) -> np.ndarray:
    """Return the ratio of drawn prevalences less the predicted ratio.

    Parameters
    ----------
    prevalences : ndarray of shape (n_groups, n_draws)
    place : int
        The group that all groups are compared with. Compared with itself it is 0.
    predicted : ndarray of shape (n_groups,)
        Predicted prevalences; that of the group in place is not 0.

    Returns
    -------
    ndarray of shape (n_groups, n_draws)
        A prevalence of 0 in the denominator makes an infinite ratio.
    """
    others = prevalences[place]
    with np.errstate(divide="ignore", invalid="ignore"):
        signed = prevalences / others
    signed[:, others == 0] = np.inf
    signed -= (predicted / predicted[place])[:, None]
    signed[place] = 0.0
    return signed


def central(values: Any, level: float, known: bool = True) -> tuple[float, float]:
    """Return the ends of the central ``level`` of drawn values; [0, 1] if unknown.

    Rates of finite batches are multiples of 1 / rows, so that the ends are drawn values
    and are not interpolated between them. Batches in which the rate is undefined, NaN,
    are left out.
    """
    defined = values[~np.isnan(values)]
    if not known or len(defined) == 0:
        return 0.0, 1.0
    low, high = np.quantile(defined, tails(level), method="inverted_cdf")
    return float(low), float(high)


def holding(value: float, low: float, high: float) -> Estimate:
    """Put a value and an interval from other draws together.

    NaN, which is unknown, leaves the interval alone.
    """
    return Estimate(value, min(low, value), max(high, value))


def tails(level: float) -> list[float]:
    """Return the shares of draws below the two ends of a central interval."""
    return [(1 - level) / 2, (1 + level) / 2]
