"""Let the estimate slide towards an anchor as far as drift speaks against it."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from cape._drift._find import GroupDrift
from cape._estimate import Estimate
from cape._evidence import GroupEvidence
from cape._group_model import GroupModel
from cape._histogram import ONE
from cape._limits import LEVEL, WIDEST

if TYPE_CHECKING:
    from cape._adaptation import GroupAdaptation

_SHIFTS = (0.03, 0.2)
"""Standard deviations of the prevalence around the anchor before the batch is seen.
Both are equally likely: most prevalences hardly move, and some move far."""

_INFLATION = 2.0
"""Variance of the drift of an estimate, in units of the variance between columns: the
scores rest on a few columns that move together, so little is averaged out."""

_GREATEST_SPREAD = 0.5
"""Disagreement from which on nothing can be said of the prevalence."""

_LARGE_EFFECT = (0.1, 0.4)
"""Share of the rows of a column that moved, between which the anchor goes from the mean
score to the training prevalence."""

_HALF_HELD = 0.5
"""Weight of the estimate below which it counts as held back."""


@dataclass(frozen=True)
class HeldBack:
    """The estimate after drift was taken into account.

    Parameters
    ----------
    estimate : Estimate
    drift : float
        Standard deviation between the prevalences that columns and scores speak for.
    held_back : float
        How far the estimate slid from the quantifier's answer to the anchor: 0 is not
        at all, 1 is all the way.
    verdict : str
        "consistent", "some_drift", "drifted", "cannot_tell" or "not_tested".
    """

    estimate: Estimate
    drift: float
    held_back: float
    verdict: str


def mean_score(model: GroupModel, evidence: GroupEvidence) -> float:
    """Return the mean score, corrected by what it misses in training (PCC).

    It is the prevalence if P(y | x) has not moved, as the quantifier's answer is if
    P(x | y) has not.
    """
    counts = model.positives.counts.sum() + model.negatives.counts.sum()
    sums = model.positives.sums.sum() + model.negatives.sums.sum()
    missed = model.prevalence - float(sums / counts / ONE)
    return min(max(evidence.scores.mean + missed, 0.0), 1.0)


def hold_back(
    plain: Estimate,
    drift: GroupDrift,
    *,
    mean_score: float,
    training_prevalence: float,
    level: float | None,
) -> HeldBack:
    """Let the estimate slide towards an anchor as the evidence against it grows.

    Parameters
    ----------
    plain : Estimate
        What the quantifier says.
    drift : GroupDrift
    mean_score, training_prevalence : float
        The anchors.
    level : float or None
        Level of the interval; None if nobody asked for one.

    Returns
    -------
    HeldBack

    Notes
    -----
    Let s^2 be twice the variance between what columns and scores say of the prevalence,
    as far as it is significant. If the prevalence lies around the anchor with standard
    deviation sigma, and the quantifier's answer around the prevalence with s, then the
    posterior mean is ::

        anchor + w (answer - anchor),    w = sigma^2 / (sigma^2 + s^2)

    with the variance w s^2. Two values of sigma are averaged, weighted by how well they
    explain the distance between answer and anchor: a small distance is taken for drift,
    a large one may be a shift. The noise of the answer is added to the variance.
    Without drift this is the quantifier's answer, to the bit.

    The anchor is the mean score. The more a column has moved, the less has the learner
    seen of rows like these, and the anchor goes back to the training prevalence.
    """
    counts = drift.weight_of_evidence
    if drift.faults:
        low, high = (nan, nan) if level is None else (0.0, 1.0)
        estimate = Estimate(training_prevalence, low, high)
        return HeldBack(estimate, drift.spread, 1.0, "cannot_tell")
    if counts == 0:
        return ignore_drift(plain, drift)
    first, last = _LARGE_EFFECT
    extrapolated = (drift.largest_effect - first) / (last - first)
    extrapolated = counts * min(max(extrapolated, 0.0), 1.0)
    anchor = mean_score + extrapolated * (training_prevalence - mean_score)
    drift_size = drift.spread * sqrt(counts)
    weight, variance = _slide(plain.value - anchor, _INFLATION * drift_size**2)
    value = anchor + weight * (plain.value - anchor)
    low = high = nan
    if level is not None:
        half = ndtri((1 + level) / 2) * sqrt(variance)
        low = value - _side(plain.value - plain.low, weight, half)
        high = value + _side(plain.high - plain.value, weight, half)
        # What is cut off at an end of [0, 1] is added at the other side, as far as the
        # interval would become shorter than the quantifier's.
        low = max(min(low, 1 - plain.width), 0.0)
        high = min(max(high, plain.width), 1.0)
        if drift.spread > _GREATEST_SPREAD and drift.p_adjusted < LEVEL:
            low, high = 0.0, 1.0
    estimate = Estimate(value, low, high)
    verdict = _verdict(drift, estimate, 1 - weight)
    return HeldBack(estimate, drift_size, 1 - weight, verdict)


def _slide(distance: float, variance: float) -> tuple[float, float]:
    """Weigh the quantifier's answer against the anchor, see `hold_back`.

    Parameters
    ----------
    distance : float
        From the anchor to the quantifier's answer.
    variance : float
        Of the drift of that answer, s^2.

    Returns
    -------
    weight : float
        Of the quantifier's answer.
    variance : float
        What drift leaves.
    """
    prior = np.square(_SHIFTS)
    total = prior + variance
    # The density of the distance under each sigma, up to a constant.
    likelihood = np.exp(-(distance**2) / (2 * total)) / np.sqrt(total)
    probability = likelihood / likelihood.sum()
    weights = prior / total
    weight = float(probability @ weights)
    between = (weights - weight) ** 2 * distance**2
    left = float(probability @ (weights * variance + between))
    return weight, left


def drift_deviation(adapted: GroupAdaptation) -> float:
    """Return the standard deviation that drift adds to an estimate that was held back.

    Parameters
    ----------
    adapted : GroupAdaptation

    Returns
    -------
    float
    """
    if adapted.held_back == 0:
        return 0.0
    answer = adapted.quantifier_estimate.value
    distance = (answer - adapted.without_labels.value) / adapted.held_back
    _, variance = _slide(distance, _INFLATION * adapted.drift**2)
    return sqrt(variance)


def _side(plain: float, weight: float, half: float) -> float:
    """Widen one side of an interval; it never becomes shorter."""
    return max(plain, sqrt((weight * plain) ** 2 + half**2))


def ignore_drift(plain: Estimate, drift: GroupDrift | None) -> HeldBack:
    """Keep the quantifier's answer; the verdict still says what was found."""
    if drift is None:
        return HeldBack(plain, nan, 0.0, "not_tested")
    return HeldBack(plain, 0.0, 0.0, _verdict(drift, plain, 0.0))


def _verdict(drift: GroupDrift, estimate: Estimate, held_back: float) -> str:
    """Grade what was found, by its evidence and by its effect."""
    if estimate.width > WIDEST:
        return "cannot_tell"
    if not drift.tested:
        return "not_tested"
    if drift.p_adjusted >= LEVEL:
        return "consistent"
    if 1 - held_back >= _HALF_HELD:
        return "some_drift"
    return "drifted"
