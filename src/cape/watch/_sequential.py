"""Tests that may be looked at every day: the chance of ever a false alarm is bounded.

Everything here works on counts, in arrays whose leading axes are free, so that a
simulation runs many watches at once through the code that serves one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

_BETS = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Distances beyond the tolerance that are bet on."""

_FARTHEST = 0.95
"""A bet loses at most this part of what it has."""

_STEPS = 6
"""Least squares are iterated, since their noise depends on the share; see `fit`."""


def ever_above(
    square: np.ndarray | float, d: int, spread: np.ndarray | float
) -> np.ndarray:
    """Bound the chance that a chi-square statistic ever comes that high.

    Parameters
    ----------
    square : ndarray
        Value of the statistic.
    d : int
        Degrees of freedom.
    spread : ndarray
        log(v_last / v_first), where v is the information at a look.

    Returns
    -------
    ndarray
        1 where the formula does not hold.

    Notes
    -----
    Rows of a stream are compared with a finite reference, so that the information v = m
    N / (m + N) of m rows against N never exceeds N. The standardised difference is a
    Brownian motion W(v) / sqrt(v), and for x > d + 1 [1]_::

        P(ever chi2_d >= x) = (x/2)^(d/2) e^(-x/2) / Gamma(d/2) ((1 - d/x) L + 4/x)

    References
    ----------
    .. [1] D. M. DeLong, "Crossing probabilities for a square root boundary by a Bessel
       process", Communications in Statistics A 10, 1981.

    Examples
    --------
    >>> ever_above(2.86**2, 1, np.log(1 + 2000 / 200)).round(3)
    np.float64(0.05)
    """
    square = np.asarray(square, dtype=float)
    x = np.maximum(square, d + 1)
    log_density = d / 2 * np.log(x / 2) - x / 2 - gammaln(d / 2)
    chance = np.exp(log_density) * ((1 - d / x) * spread + 4 / x)
    return np.where(square > d + 1, np.minimum(chance, 1.0), 1.0)


def never_above(chance: float, d: int, spread: float) -> float:
    """Return the value that the statistic of `ever_above` exceeds with this chance."""

    def excess(x: float) -> float:
        return float(ever_above(x, d, spread)) - chance

    return float(brentq(excess, d + 1, 1000))


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

    @property
    def share(self) -> np.ndarray:
        """Share of positives."""
        n1, n0 = self.sizes
        return n1 / (n1 + n0)

    @cached_property
    def shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the cells in each class, none of them 0."""
        smoothed = []
        for counts in (self.positives, self.negatives):
            counts = counts + 0.5
            smoothed.append(counts / counts.sum(-1, keepdims=True))
        return smoothed[0], smoothed[1]

    def moments(
        self, share: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Compute moments of the efficient score at a share of positives.

        Parameters
        ----------
        share : ndarray
            Of the leading axes.

        Returns
        -------
        h : ndarray of shape (..., n_cells)
            (p - n) / (share p + (1 - share) n), which a row adds.
        means, variances : ndarray of shape (2, ...)
            Of h in the classes.
        row : ndarray
            Variance of h in one row.
        centre : ndarray
            Mean of h in rows with this share.
        """
        p, n = self.shares
        share = np.asarray(share)
        weight = share[..., None]
        h = (p - n) / (weight * p + (1 - weight) * n)
        classes = (self.positives, self.negatives)
        means = []
        variances = []
        for counts, size in zip(classes, self.sizes, strict=True):
            mean = (counts * h).sum(-1) / size
            means.append(mean)
            variances.append((counts * h**2).sum(-1) / size - mean**2)
        centre = share * means[0] + (1 - share) * means[1]
        square = share * (variances[0] + means[0] ** 2)
        square = square + (1 - share) * (variances[1] + means[1] ** 2)
        return h, np.array(means), np.array(variances), square - centre**2, centre

    def share_z(
        self, cells: np.ndarray, share: np.ndarray, *, is_estimated: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compare rows with a share of positives.

        Parameters
        ----------
        cells : ndarray of shape (..., n_cells)
            Rows of the stream.
        share : ndarray
        is_estimated : bool, default=False
            Whether the share is at a fixed distance from that of training, whose noise
            then counts.

        Returns
        -------
        z : ndarray
            Above 0 if the rows have more positives.
        size : ndarray
            Rows that training is worth.
        """
        h, means, variances, row, centre = self.moments(share)
        n1, n0 = self.sizes
        noise = share**2 * variances[0] / n1 + (1 - share) ** 2 * variances[1] / n0
        if is_estimated:
            own = self.share
            noise = noise + (means[0] - means[1]) ** 2 * own * (1 - own) / (n1 + n0)
        rows = cells.sum(-1)
        mean = (cells * h).sum(-1) / rows
        return (mean - centre) / np.sqrt(row / rows + noise), row / noise

    def change_z(
        self, cells: np.ndarray, before: np.ndarray, *, with_training: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compare rows with training and with the rows of the stream before them.

        Parameters
        ----------
        cells, before : ndarray of shape (..., n_cells)
        with_training : bool, default=True

        Returns
        -------
        z, size : ndarray
            As `share_z`.
        """
        h, _, _, row, centre = self.moments(self.share)
        rows = cells.sum(-1)
        size = before.sum(-1)
        total = (before * h).sum(-1)
        if with_training:
            of_training = np.add(*self.sizes)
            size = size + of_training
            total = total + of_training * centre
        # Without any rows to compare with, nothing is known to differ.
        known = size > 0
        size = np.maximum(size, 1)
        difference = (cells * h).sum(-1) / rows - total / size
        noise = row * (1 / rows + 1 / size)
        return np.where(known, difference / np.sqrt(noise), 0.0), size

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
        p, n = self.shares
        n1, n0 = self.sizes
        rows = cells.sum(-1)
        direction = (p - n)[..., :-1]
        target = (cells / rows[..., None] - n)[..., :-1]
        rho = np.full(rows.shape, 0.5)
        for _ in range(_STEPS):
            of_p = rho / rows + rho**2 / n1
            of_n = (1 - rho) / rows + (1 - rho) ** 2 / n0
            covariance = of_p[..., None, None] * _covariance(p)
            covariance = covariance + of_n[..., None, None] * _covariance(n)
            both = np.stack(np.broadcast_arrays(direction, target), -1)
            # inv(C) d and inv(C) t at once.
            solved = np.linalg.solve(covariance, both)
            information = (direction * solved[..., 0]).sum(-1)
            along = (direction * solved[..., 1]).sum(-1)
            rho = np.clip(along / np.maximum(information, 1e-12), 0.0, 1.0)
        square = (target * solved[..., 1]).sum(-1)
        # With the best share inside [0, 1] it is the square less along^2 / information.
        return square - 2 * rho * along + rho**2 * information


def _covariance(shares: np.ndarray) -> np.ndarray:
    """Return the covariance of one multinomial draw, without the last cell."""
    first = shares[..., :-1]
    outer = first[..., :, None] * first[..., None, :]
    return first[..., :, None] * np.eye(first.shape[-1]) - outer


def bet_on_gap(
    decided: np.ndarray, rows: np.ndarray, centre: np.ndarray, tolerance: float
) -> np.ndarray:
    """Bet that the rates of two groups differ by more than a tolerance.

    Parameters
    ----------
    decided, rows : ndarray of shape (..., 2)
        Rows decided as positive, and all rows, of both groups.
    centre : ndarray
        Mean of the two rates, guessed before these rows were seen.
    tolerance : float

    Returns
    -------
    ndarray of shape (..., 2, 5)
        Logarithm of what one unit becomes, by direction and size of the bet.

    Notes
    -----
    The point (q1, q2) with q1 - q2 = tolerance lies on the edge of what is allowed. Of
    each row of the first group the bet is multiplied by 1 + b s1 (y - q1), and of the
    second by 1 - b s2 (y - q2), with s1 = n2 / (n1 + n2) and s2 = n1 / (n1 + n2). The
    logarithm of the expected product is concave in the true rates, 0 at the edge point,
    and its slope there is b n1 n2 / (n1 + n2) (1, -1). So it is at most 0 wherever the
    rates differ by no more than the tolerance: an exact e-value [1]_, whatever b and q.

    References
    ----------
    .. [1] R. Turner, P. Grünwald, "Anytime-valid confidence intervals for contingency
       tables and beyond", Statistics and Probability Letters 198, 2023.
    """
    total = np.maximum(rows.sum(-1, keepdims=True), 1)
    weights = rows[..., ::-1] / total
    half = tolerance / 2
    middle = np.clip(centre, half + 0.01, 0.99 - half)
    bets = np.array(_BETS)
    logs = []
    for sign in (1.0, -1.0):
        edge = np.stack([middle + sign * half, middle - sign * half], -1)
        variance = (weights * edge * (1 - edge)).sum(-1)
        size = bets / np.maximum(variance, 1e-9)[..., None]
        # Signs, one for each group; the factor of a row must stay above 0.
        step = weights * np.array([sign, -sign])
        worst = np.where(step > 0, step * edge, -step * (1 - edge)).max(-1)
        size = np.minimum(size, _FARTHEST / np.maximum(worst, 1e-9)[..., None])
        log = 0.0
        for place in (0, 1):
            change = size * step[..., place, None]
            q = edge[..., place, None]
            positive = decided[..., place, None]
            negative = rows[..., place, None] - positive
            log = log + positive * np.log1p(change * (1 - q))
            log = log + negative * np.log1p(-change * q)
        logs.append(log)
    return np.stack(logs, -2)


def bet_on_mean(errors: np.ndarray, tolerance: float) -> np.ndarray:
    """Bet that predictions exceed labels, or fall short, by more than a tolerance.

    Parameters
    ----------
    errors : ndarray of shape (..., 3)
        Rows whose prediction is below, equal to and above their label.
    tolerance : float

    Returns
    -------
    ndarray of shape (..., 2, 5)
        As `bet_on_gap`. A row multiplies the bet by 1 + b (prediction - label -
        tolerance), whose mean is at most 1 if PD is at most the tolerance.
    """
    # Bets of half of what is bet on: predictions and labels scatter by at most 1.
    size = np.minimum(2 * np.array(_BETS), _FARTHEST / (1 + tolerance))
    logs = []
    for sign in (1, -1):
        log = 0.0
        for place, difference in enumerate((-1, 0, 1)):
            factor = np.log1p(size * (sign * difference - tolerance))
            log = log + errors[..., place, None] * factor
        logs.append(log)
    return np.stack(logs, -2)


def life_of(number: int) -> float:
    """Return by what factor the rows of a start grow before it ends.

    It is four times the largest power of two in its number, and without end for the
    first: about 2 log2(k) of k starts are alive at any time.
    """
    return 4 * (number & -number) if number else np.inf


def start_weight(number: int) -> float:
    """Return the part of alpha of a start: half for the first, half for all others.

    Of the starts from 2^j to 2^(j + 1), those that live equally long share equally, and
    so do these sets: a long life is as rare as it is useful.

    Examples
    --------
    >>> start_weight(0), start_weight(1), start_weight(2)
    (0.5, 0.25, 0.0416...)
    """
    if number == 0:
        return 0.5
    power = number.bit_length()
    alike = max(2 ** (power - 1) // (2 * (number & -number)), 1)
    return 0.5 / (power * (power + 1)) / (power * alike)


def accumulate(wealth: np.ndarray, log_factors: np.ndarray, block: int) -> np.ndarray:
    """Let bets run on, and start new ones: a change may come late.

    Parameters
    ----------
    wealth : ndarray of shape (..., 2, 5)
        Logarithms of what bets have, before a block of rows.
    log_factors : ndarray of the same shape
        Of the block.
    block : int
        Number of the block, from 0 on.

    Returns
    -------
    ndarray
        The sum over all starts of weight x product of factors since then (Shin, Ramdas
        and Rinaldo 2024 call it an e-detector), in one number a bet.
    """
    # Three quarters at once, 1/2 / ((block + 1) (block + 2)) later: 1 in all.
    weight = 0.75 if block == 0 else 0.5 / ((block + 1) * (block + 2))
    return np.logaddexp(wealth, np.log(weight)) + log_factors


def chance_of_wealth(wealth: np.ndarray, block: int) -> np.ndarray:
    """Return an anytime p-value, 1 / wealth (Ville 1939).

    Parameters
    ----------
    wealth : ndarray of shape (..., 2, 5)
        From `accumulate`.
    block : int
        Number of the last block.
    """
    # Starts to come have their weight still.
    kept = 0.5 / (block + 2)
    mean = np.exp(np.minimum(wealth, 600)).mean((-2, -1)) + kept
    return np.minimum(1 / mean, 1.0)
