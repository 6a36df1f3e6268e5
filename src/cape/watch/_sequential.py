"""Tests that may be looked at every day: the chance of ever a false alarm is bounded.

Everything here works on counts, in arrays whose leading axes are free, so that a
simulation runs many watches at once through the code that serves one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtri

from cape.drift._mixture import nearest_mixture, smoothed_shares

_FIRST = 0.25
"""Weight of the first start: what was trained elsewhere is often other from the first
look on."""

_LATE = 16
"""Half of the weight of later starts is for as many of them."""

TYPICAL = 0.12
"""Standard deviation of the changes that evidence is best at."""

_UNSPENT = 2.5
"""Evidence above 1 / alpha is met with a chance below alpha / 2.5: evidence comes in
looks, and what is known is finite. In 80 simulated designs the factor was 2.7 to 20."""

LEAST_ROWS = 30
"""Rows since a start before which it is not tested."""

_PATHS = 200
_MOST_LOOKS = 100
"""What is simulated to say when a change will be seen."""


def start_weight(number: np.ndarray | int) -> np.ndarray:
    """Return the weight of a start; all of them sum to 1.

    Examples
    --------
    >>> start_weight(np.arange(3)).round(3)
    array([0.25 , 0.044, 0.039])
    >>> float(start_weight(np.arange(10**5)).sum().round(3))
    1.0
    """
    k = np.maximum(number, 1) + _LATE
    later = (1 - _FIRST) * _LATE / ((k - 1) * k)
    return np.where(np.equal(number, 0), _FIRST, later)


def is_kept(number: int, newest: int) -> bool:
    """Tell whether a start is kept: about 8 log2(k) of k are.

    It lives for 16 starts times the largest power of two in its number.
    """
    return number == 0 or newest - number < 16 * (number & -number)


def evidence_of_change(square: Any, ratio: Any, d: int = 1) -> Any:
    """Return the logarithm of the evidence that something changed at a start.

    Parameters
    ----------
    square : float or ndarray
        Squared distance between the rows since the start and those before, in units of
        its noise; chi-square with ``d`` degrees of freedom if nothing changed.
    ratio : float or ndarray
        Variance of the changes that are looked for in the same units.
    d : int, default=1

    Returns
    -------
    float or ndarray

    Notes
    -----
    With information 1 / variance of the distance, distance x information is a Brownian
    motion at the time information as rows come, if nothing changed. So the likelihood
    ratio of any change is a martingale, and so is its mean over changes that are normal
    with variance ratio / information [1]_.

    References
    ----------
    .. [1] H. Robbins, "Statistical methods related to the law of the iterated
       logarithm", Annals of Mathematical Statistics 41, 1970.
    """
    return (square * ratio / (1 + ratio) - d * np.log1p(ratio)) / 2


def farthest(information: float, chance: float) -> float:
    """Return the difference that is ever exceeded with this chance."""
    ratio = information * TYPICAL**2
    square = (2 * np.log(1 / chance) + np.log1p(ratio)) * (1 + ratio) / ratio
    return float(np.sqrt(square / information))


def answer(
    evidence: np.ndarray,
    moved: np.ndarray | float,
    tolerance: float,
    numbers: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Add up the evidence of all starts that something changed.

    Parameters
    ----------
    evidence : ndarray of shape (n_starts, ...)
        From `evidence_of_change`.
    moved : float or ndarray of the same shape
        The change that is shown if the evidence is best there.
    tolerance : float
        Which it must exceed.
    numbers : ndarray of shape (n_starts,)
        Numbers of the starts.

    Returns
    -------
    chance : ndarray
        The anytime p-value (Ville 1939); 1 within the tolerance.
    best : ndarray of int
        The place of the start with most evidence.
    """
    weights = start_weight(numbers).reshape(-1, *[1] * (evidence.ndim - 1))
    weighted = weights * np.exp(np.minimum(evidence, 600))
    # Starts to come have their weight still.
    total = weighted.sum(0) + (1 - _FIRST) * _LATE / (numbers[-1] + _LATE)
    best = weighted.argmax(0)
    moved = np.broadcast_to(moved, evidence.shape)
    shown = np.take_along_axis(moved, best[None], 0)[0]
    chance = np.minimum(1 / (_UNSPENT * total), 1.0)
    return np.where(np.abs(shown) > tolerance, chance, 1.0), best


@lru_cache(maxsize=4096)
def looks_until_seen(
    look: float,
    known: float,
    change: float,
    level: float,
    *,
    tolerance: float = 0.0,
    number: int = 1,
    least: int = 1,
) -> int | None:
    """Simulate how many looks it takes until a change is seen.

    Parameters
    ----------
    look : float
        Information of the rows of one look: 1 / the variance of their mean.
    known : float
        Information of what they are compared with.
    change : float
        From the next look on.
    level : float
        Below which an anytime p-value is an alarm.
    tolerance : float, default=0
        Which the estimated change must exceed.
    number : int, default=1
        Looks so far.
    least : int, default=1
        Looks before a start is tested.

    Returns
    -------
    int or None
        The median; None if it is more than 100.

    Examples
    --------
    >>> [looks_until_seen(300, 6000, change, 0.01) for change in (0.05, 0.1, 0.17)]
    [68, 7, 2]
    """
    random = np.random.default_rng(0)
    # Starts long before the change say little; their rows count as known.
    early = min(number, 8)
    known = known + look * (number - early)
    n_looks = early + _MOST_LOOKS
    steps = random.normal(size=(n_looks, _PATHS)) * np.sqrt(look)
    steps[early:] += change * look
    totals = np.concatenate([np.zeros((1, _PATHS)), np.cumsum(steps, axis=0)])
    error = random.normal(size=_PATHS) / np.sqrt(known)
    seen = np.zeros(_PATHS, dtype=bool)
    for now in range(1, n_looks + 1):
        numbers = np.arange(number - early, number - early + now)
        kept = [is_kept(k, int(numbers[-1])) for k in numbers.tolist()]
        numbers = numbers[kept]
        start = numbers - (number - early)
        since = (look * (now - start))[:, None]
        before = (known + look * start)[:, None]
        mean = (totals[now] - totals[start]) / since
        difference = mean - (error * known + totals[start]) / before
        worth = 1 / (1 / since + 1 / before)
        worth = worth * (now - start >= least)[:, None]
        evidence = evidence_of_change(difference**2 * worth, worth * TYPICAL**2)
        chance, _ = answer(evidence, mean - error, tolerance, numbers)
        if now > early:
            seen |= chance <= level
        if seen.mean() >= 0.5:
            return now - early
    return None


@dataclass(frozen=True)
class Reference:
    """Scores of the two classes in training, in a few cells.

    Parameters
    ----------
    positives, negatives : ndarray of shape (..., n_cells)
        Rows of each class.
    """

    positives: np.ndarray
    negatives: np.ndarray

    @cached_property
    def sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the positives, and of the negatives."""
        return self.positives.sum(-1), self.negatives.sum(-1)

    @cached_property
    def shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the cells in each class, none of them 0."""
        return smoothed_shares(self.positives), smoothed_shares(self.negatives)

    @cached_property
    def values(self) -> np.ndarray:
        """What a row of each cell adds to a share, of shape (..., n_cells).

        The efficient score at the share of training, scaled: its mean is 1 in the
        positives and 0 in the negatives, hence that of rows is their share. The log
        ratio of the classes is smoothed to a parabola over the normal quantiles of the
        cells: cell by cell, weak scores seem to tell more in training than they do, and
        a change looked an eighth too small.
        """
        p, n = self.shares
        n1, n0 = self.sizes
        share = (n1 / (n1 + n0))[..., None]
        n_cells = p.shape[-1]
        quantiles = ndtri((np.arange(n_cells) + 0.5) / n_cells)
        parabola, _ = np.linalg.qr(np.vander(quantiles, 3))
        ratio = np.exp(np.log(p / n) @ parabola @ parabola.T)
        score = (ratio - 1) / (share * ratio + (1 - share))
        high = (self.positives * score).sum(-1, keepdims=True) / n1[..., None]
        low = (self.negatives * score).sum(-1, keepdims=True) / n0[..., None]
        return (score - low) / (high - low)

    def noise(self, share: float) -> tuple[float, float]:
        """Return the variance of a row, and that of the training behind a share."""
        n1, n0 = self.sizes
        of_positives = (self.positives * self.values**2).sum(-1) / n1 - 1
        of_negatives = (self.negatives * self.values**2).sum(-1) / n0
        row = share * of_positives + (1 - share) * of_negatives + share * (1 - share)
        training = share**2 * of_positives / n1 + (1 - share) ** 2 * of_negatives / n0
        return row, training

    def misfit(self, cells: np.ndarray) -> np.ndarray:
        """Measure how far rows are from any mixture of the two classes.

        Parameters
        ----------
        cells : ndarray of shape (..., n_cells)

        Returns
        -------
        ndarray
            Chi-square with n_cells - 2 degrees of freedom if the rows are a mixture.

        See Also
        --------
        cape.drift._mixture.fit_mixture : The formula, for one look at one batch.
        """
        rows = cells.sum(-1, keepdims=True)
        n1, n0 = (size[..., None] for size in self.sizes)
        used = np.ones(cells.shape, dtype=bool)
        return nearest_mixture(*self.shares, cells / rows, (n1, n0, rows), used)[-1]
