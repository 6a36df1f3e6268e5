"""Simulated batches behind the intervals of `expected_performance`.

Three sources of noise meet: the realised prevalence of the batch is known up to its
interval, the rates of the chosen member are known from a limited number of unseen rows,
and the batch itself is a finite sample. Each is drawn from its own distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._drift import drift_deviation
from cape._labelled import label_estimate

if TYPE_CHECKING:
    from cape._group_model import GroupModel
    from cape.adaptation import GroupAdaptation
    from cape.evidence import GroupEvidence

__all__ = [
    "DrawnBatches",
    "draw_batches",
    "draw_called",
    "draw_prevalences",
    "fold",
    "interval_of_pe",
    "interval_of_rate",
    "noise_of_rates",
    "shares",
]

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


@dataclass(frozen=True)
class DrawnBatches:
    """Rates of the chosen member in simulated batches of one group.

    Parameters
    ----------
    fpr, fnr, accuracy : ndarray of shape (n_draws,)
        Observed rates, one of each simulated batch.
    """

    fpr: np.ndarray
    fnr: np.ndarray
    accuracy: np.ndarray


def draw_prevalences(
    model: GroupModel,
    evidence: GroupEvidence,
    chosen: GroupAdaptation,
    n_draws: int,
    random: np.random.Generator,
) -> np.ndarray:
    """Draw the realised prevalence of one group of the batch.

    The distribution is that of the labels, where they were used; else it is that of the
    quantifier, and drift moves and widens it as it does the interval.
    """
    if chosen.label_verdict is not None:
        labels = label_estimate(model, evidence, chosen.label_free_estimate)
        return _draw_from_intervals(labels.interval, labels.estimate, n_draws, random)
    # The estimate is known, and must not be made again for every level.
    estimate = chosen.prior_shift_estimate

    def interval_at(level: float) -> tuple[float, float]:
        return model.quantifier.interval(evidence.scores, level, estimate=estimate)

    drawn = _draw_from_intervals(interval_at, estimate, n_draws, random)
    if chosen.held_back == 0:
        return drawn
    if chosen.low == 0 and chosen.high == 1:
        # Nothing is known of the prevalence.
        return random.random(n_draws)
    deviation = drift_deviation(
        estimate, chosen.estimate, chosen.held_back, chosen.drift
    )
    drift = deviation * random.standard_normal(n_draws)
    slid = chosen.estimate + (1 - chosen.held_back) * (drawn - estimate)
    return np.clip(slid + drift, 0, 1)


def _draw_from_intervals(
    interval_at: Callable[[float], tuple[float, float]],
    estimate: float,
    n_draws: int,
    random: np.random.Generator,
) -> np.ndarray:
    """Draw from the distribution whose central intervals are known at every level.

    The ends at nine levels, with the estimate in the middle, are points of a
    distribution function. It is inverted by linear interpolation.
    """
    lows = []
    highs = []
    for level in _LEVELS:
        low, high = interval_at(level)
        lows.append(low)
        highs.append(high)
    levels = np.array(_LEVELS)
    lower = (1 - levels) / 2
    upper = (1 + levels) / 2
    points = [*reversed(lows), estimate, *highs]
    below = [*reversed(lower), 0.5, *upper]
    # Intervals of higher levels are wider but for rounding, and np.interp needs order.
    increasing = np.maximum.accumulate(points)
    return np.interp(random.random(n_draws), below, increasing)


def draw_batches(
    rates: Any,
    chosen: GroupAdaptation,
    prevalences: np.ndarray,
    random: np.random.Generator,
    *,
    noise: float = 1.0,
) -> DrawnBatches:
    """Draw how many rows the chosen member will call positive, in each class.

    Parameters
    ----------
    rates : Rates
        Counts of the pool's members on rows they were not trained on.
    chosen : GroupAdaptation
        The member, and the number of rows of the group.
    prevalences : ndarray of shape (n_draws,)
        Realised prevalence of each simulated batch.
    random : Generator
    noise : float, default=1
        Variance of the rates in training, from `noise_of_rates`.

    Returns
    -------
    DrawnBatches
    """
    member = chosen.member
    # The realised prevalence is a count of rows divided by their number.
    positives = np.rint(prevalences * chosen.rows).astype(int)
    negatives = chosen.rows - positives
    # Rates that vary more than those of so many rows are worth those of fewer.
    false_positives = draw_called(
        rates.false_positives[member] / noise,
        rates.negatives[member] / noise,
        negatives,
        random,
    )
    true_positives = draw_called(
        rates.true_positives[member] / noise,
        rates.positives[member] / noise,
        positives,
        random,
    )
    if chosen.held_back > 0:
        # The rates of training have moved as well, nobody knows how. Their mixture has
        # been observed, though: so many rows are called positive.
        called = round(chosen.predicted_prevalence * chosen.rows)
        surplus = called - true_positives - false_positives
        true_positives = true_positives + np.rint(surplus * prevalences).astype(int)
        true_positives = np.clip(true_positives, 0, positives)
        false_positives = np.clip(called - true_positives, 0, negatives)
        true_positives = np.clip(called - false_positives, 0, positives)
    return DrawnBatches(
        fpr=shares(false_positives, negatives),
        fnr=shares(positives - true_positives, positives),
        accuracy=(true_positives + negatives - false_positives) / chosen.rows,
    )


def noise_of_rates(model: GroupModel) -> float:
    """Return the variance of the rates in training, relative to a binomial one.

    It is 1 where the rows that were counted are new to the very model that decides:
    with a hold-out, with one split, with resampled members, and in effect with a linear
    learner that is refitted. Elsewhere it is greater.
    """
    by_fold_models = len(model.scoring_models) > 1 or not model.test_is_sound
    if model.pool.decides_by_scoring_models and by_fold_models:
        return _NOISE_OF_FOLDS
    return 1.0


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


def shares(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Divide counts; a rate without rows is NaN, as in `cape.metrics`."""
    undefined = np.full(len(part), np.nan)
    return np.divide(part, whole, out=undefined, where=whole > 0)


def interval_of_rate(
    rates: np.ndarray, level: float, known: bool = True
) -> tuple[float, float]:
    """Return the central ``level`` of drawn rates, or [0, 1] if the rate is unknown.

    Rates of finite batches are multiples of 1 / rows, so that the ends are drawn values
    and are not interpolated between them. Batches in which the rate is undefined, NaN,
    are left out.
    """
    defined = rates[~np.isnan(rates)]
    if not known or len(defined) == 0:
        return 0.0, 1.0
    low, high = _central(defined, level)
    return float(low), float(high)


def interval_of_pe(
    prevalences: np.ndarray,
    other_prevalences: np.ndarray,
    predicted_ratio: float,
    level: float,
) -> tuple[float, float]:
    """Return the interval of PE = |rho_z / rho_z' - predicted ratio|.

    The interval is that of the signed difference, folded at 0: the absolute values of
    the draws would never reach 0, which is the value that matters most.
    """
    infinite = np.full(len(prevalences), np.inf)
    ratios = np.divide(
        prevalences, other_prevalences, out=infinite, where=other_prevalences > 0
    )
    # A drawn prevalence of 0 in the denominator counts as an infinite ratio.
    low, high = _central(ratios - predicted_ratio, level)
    return fold(float(low), float(high))


def fold(low: float, high: float) -> tuple[float, float]:
    """Return the interval of an absolute value from that of the signed value."""
    farthest = max(abs(low), abs(high))
    if low <= 0 <= high:
        return 0.0, farthest
    return min(abs(low), abs(high)), farthest


def _central(values: np.ndarray, level: float) -> np.ndarray:
    """Return the two ends of the central ``level`` of drawn values."""
    tails = [(1 - level) / 2, (1 + level) / 2]
    return np.quantile(values, tails, method="inverted_cdf")
