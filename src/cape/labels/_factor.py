"""What labelled rows say of the share of a group: one more factor of its posterior.

Given their scores, labels are Bernoulli variables whose log-odds are those of the
score, times a slope, plus a constant. Each constant makes a mean over all rows of the
batch, so that each share has a likelihood. At the likeliest share, the labelled rows
have as many positives as expected, whatever has moved: the estimate is that of
prediction-powered inference (Angelopoulos et al. 2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import hypot

import numpy as np
from scipy.special import expit, ndtr

from cape.base._estimate import Estimate
from cape.drift._posterior import SLOPE_PRIOR, SLOPES
from cape.labels._sample import LabelledSample

_FARTHEST = 24.0
"""Distance of the last constant from the likeliest one."""

_NEAR = np.linspace(-5, 5, 61)
_BEYOND = np.arange(1, 19) / 18
"""Constants lie evenly in five standard errors, and ever less densely beyond."""

_STEP = 0.1
_LARGEST = 7.0
"""Cells are merged by their log-odds, in steps up to a largest number."""

_NEWTON_STEPS = 12
_LAST_STEP = 1e-12

_LEVEL = 0.95
"""Level of the interval that a standard error is taken from."""


@dataclass(frozen=True)
class LabelFactor:
    """Log-likelihood of the share of one group by its labelled rows.

    Parameters
    ----------
    shares : ndarray of shape (n_slopes, n_constants)
        Share of positives in the batch for each constant; it rises.
    logs : ndarray of shape (n_slopes, n_constants)
        Its log-likelihood.
    limits : tuple of float
        Shares if all rows without a label were negative, or positive.
    rows : float
        Rows with a label.
    """

    shares: np.ndarray
    logs: np.ndarray
    limits: tuple[float, float]
    rows: float

    @classmethod
    def of(cls, log_odds: np.ndarray, sample: LabelledSample) -> LabelFactor:
        """Compute it.

        Parameters
        ----------
        log_odds : ndarray of shape (n_cells,)
            What each cell of the score adds to the logit of the share in training.
        sample : LabelledSample
            Rows may have been drawn with unequal probabilities.

        Notes
        -----
        With weights w = 1 / probability, the log-likelihood is the weighted one, times
        k = sum w v / sum (w^2 - w) v, where v is the variance of a label: N / (N - m)
        times the plain one if m of N rows were drawn alike.
        """
        if sample.excess.sum() == 0:
            # Every row is labelled: the share is known, and nothing else is possible.
            ends = np.tile([0.0, 0.5, 1.0], (len(SLOPES), 1))
            limits = (sample.positive_share,) * 2
            return cls(ends, np.zeros_like(ends), limits, sample.n_labelled)
        values, place = merged_cells(log_odds)
        columns = [sample.batch, *sample.weights, sample.excess.sum(axis=0)]
        merged = [np.bincount(place, cells, minlength=len(values)) for cells in columns]
        batch, negatives, positives, excess = merged
        scaled = SLOPES[:, None] * values
        constant, chance = _likeliest(scaled, negatives, positives, sample)
        one_row = chance * (1 - chance)
        worth = one_row @ (negatives + positives) / (one_row @ excess)
        error = 1 / np.sqrt(worth * (one_row @ (negatives + positives)))
        end = error[:, None] * _NEAR[-1]
        beyond = end * (np.maximum(_FARTHEST / end, 2) ** _BEYOND)
        away = np.hstack([-beyond[:, ::-1], error[:, None] * _NEAR, beyond])
        inner = (constant[:, None] + away)[:, :, None] + scaled[:, None]
        odds_against = np.exp(-inner)
        log_chance = -np.log1p(odds_against)
        shares = (1 / (1 + odds_against)) @ (batch / batch.sum())
        logs = log_chance @ (negatives + positives) - inner @ negatives
        logs = worth[:, None] * logs
        return cls(shares, logs, sample.limits, sample.n_labelled)

    @property
    def known(self) -> float | None:
        """The share, if every row is labelled."""
        low, high = self.limits
        return low if low == high else None

    @cached_property
    def points(self) -> np.ndarray:
        """Shares that a grid needs to hold this likelihood."""
        # Slopes that agree have other points each.
        chosen = [row[first % 3 :: 3] for first, row in enumerate(self.shares)]
        return np.clip(np.concatenate([self.limits, *chosen]), *self.limits)

    def likelihood(self, points: np.ndarray) -> np.ndarray:
        """Return the likelihood of some shares, of shape (n_slopes, n_points)."""
        pairs = zip(self.shares, self.logs, strict=True)
        logs = np.array([np.interp(points, *pair) for pair in pairs])
        low, high = self.limits
        logs[:, (points < low) | (points > high)] = -np.inf
        return np.exp(logs - logs.max())

    def alone(self, level: float) -> Estimate:
        """Return the share according to these labels alone, with its interval."""
        if self.known is not None:
            return Estimate(*[self.known] * 3)
        points = np.unique(np.clip(self.shares.ravel(), *self.limits))
        gaps = np.diff(points, prepend=points[0], append=points[-1])
        steps = (gaps[:-1] + gaps[1:]) / 2
        weights = SLOPE_PRIOR @ self.likelihood(points) * steps
        below = (np.cumsum(weights) - weights / 2) / weights.sum()
        low, value, high = np.interp(
            [(1 - level) / 2, 0.5, (1 + level) / 2], below, points
        )
        return Estimate(float(value), float(low), float(high))

    @cached_property
    def estimate(self) -> tuple[float, float]:
        """The share according to these labels alone, and its standard error."""
        alone = self.alone(_LEVEL)
        return alone.value, alone.standard_error(_LEVEL)

    def p_value(self, share: float, error: float) -> float:
        """Return the probability of a distance as great from a share with an error."""
        value, own_error = self.estimate
        if value == share:
            return 1.0
        noise = hypot(own_error, error)
        distance = abs(value - share)
        return 2 * float(ndtr(-distance / noise)) if noise > 0 else 0.0


def merged_cells(log_odds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge a thousand cells of scores to a few dozen.

    Returns
    -------
    values : ndarray of shape (n_merged,)
        Log-odds.
    place : ndarray of int of shape (n_cells,)
        Where each cell went.
    """
    rounded = np.round(np.clip(log_odds, -_LARGEST, _LARGEST) / _STEP)
    values, place = np.unique(rounded, return_inverse=True)
    return values * _STEP, place


def _likeliest(
    scaled: np.ndarray,
    negatives: np.ndarray,
    positives: np.ndarray,
    sample: LabelledSample,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the likeliest constant for each slope, and the chances that it makes.

    Half a row of each class keeps constants finite.
    """
    total = negatives + positives
    half = total.sum() / sample.n_labelled / 2
    share = (positives.sum() + half) / (total.sum() + 2 * half)
    constant = np.log(share / (1 - share)) - scaled @ total / total.sum()
    for _ in range(_NEWTON_STEPS):
        chance = expit(constant[:, None] + scaled)
        own = expit(constant)
        missing = positives.sum() - chance @ total + half * (1 - 2 * own)
        slope = (chance * (1 - chance)) @ total + 2 * half * own * (1 - own)
        # Far from the solution a full step may overshoot.
        step = np.clip(missing / slope, -2, 2)
        constant = constant + step
        if (np.abs(step) < _LAST_STEP).all():
            break
    return constant, expit(constant[:, None] + scaled)
