"""The base class of all quantifiers, and the interval that each of them has.

Under prior shift the mean of any statistic of the score is, in the batch, a mixture of
its means in the two classes. This makes every statistic a guide to the prevalence, and
the interval of every quantifier a matter of three means and three variances.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from cape.base._estimate import Estimate
from cape.base._groups import Group, group_name
from cape.base._validation import check_is_fitted, check_prevalence
from cape.evidence._histogram import ScoreHistogram
from cape.shown._results import scores_are_alike


def mixture(
    prevalence: np.ndarray | float, positives: np.ndarray, negatives: np.ndarray
) -> np.ndarray:
    """Mix what holds for positives and for negatives at a prevalence."""
    return prevalence * positives + (1 - prevalence) * negatives


class Moments(NamedTuple):
    """Mean and variance of a statistic over the rows of a histogram.

    Parameters
    ----------
    mean : float
        Mean of the statistic.
    variance : float
        Variance of the statistic in a single row.
    size : float
        Number of rows.

    Examples
    --------
    >>> from cape.evidence._histogram import HALF, ScoreHistogram, round_scores
    >>> scores = round_scores([0.2, 0.3, 0.4, 0.9])
    >>> Moments.of(np.array([0, 1]), ScoreHistogram.of(scores, np.array([HALF])))
    Moments(mean=0.25, variance=0.1875, size=4)
    """

    mean: Any
    variance: Any
    size: Any

    @classmethod
    def of(cls, values: np.ndarray, histogram: ScoreHistogram) -> Moments:
        """Compute the moments of a statistic that is constant in each cell.

        Parameters
        ----------
        values : ndarray of shape (n_cells,)
            Value of the statistic in each cell.
        histogram : ScoreHistogram
            The rows over which mean and variance are taken.

        Returns
        -------
        Moments
        """
        shares = histogram.shares
        mean = float(shares @ values)
        variance = float(shares @ (values - mean) ** 2)
        return cls(mean, variance, histogram.size)


def moment_interval(
    positives: Moments, negatives: Moments, batch: Moments, level: float
) -> tuple[Any, Any]:
    """Compute the prevalences that agree with the mean of a statistic (Fieller).

    Parameters
    ----------
    positives, negatives : Moments
        Moments of the statistic over the two classes in training.
    batch : Moments
        Moments of the statistic over the batch. Its variance is not used.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    low, high : float
        The ends of the interval, in [0, 1]. Moments of several batches are arrays, and
        so are the ends.

    Notes
    -----
    Let t, f and m be the means over the positives, the negatives and the batch, and s1
    and s0 the variances in the two classes. If exactly rho n of the n rows of a batch
    are positive, m - f - rho (t - f) has mean 0 and variance::

        (rho s1 + (1 - rho) s0) / n + rho^2 s1 / N1 + (1 - rho)^2 s0 / N0

    whose last two terms are the noise of the training means. The interval holds each
    rho whose z-test does not reject at ``level``. They solve a quadratic inequality, so
    nothing is simulated. If even t and f cannot be told apart, every rho passes.

    The interval is one for the *realised* prevalence of the batch: the number of
    positives is fixed, and there is no binomial variance.

    Examples
    --------
    >>> positives = Moments(mean=0.7, variance=0.04, size=500)
    >>> negatives = Moments(mean=0.3, variance=0.04, size=500)
    >>> batch = Moments(mean=0.4, variance=0.07, size=200)
    >>> low, high = moment_interval(positives, negatives, batch, level=0.95)
    >>> round(float(low), 3), round(float(high), 3)
    (0.171, 0.327)
    """
    z = ndtri((1 + level) / 2)
    gap = positives.mean - negatives.mean
    excess = batch.mean - negatives.mean
    # Variances of the mean of a pure batch, and of the training means.
    batch_1 = positives.variance / batch.size
    batch_0 = negatives.variance / batch.size
    training_1 = positives.variance / positives.size
    training_0 = negatives.variance / negatives.size

    # (excess - rho gap)^2 <= z^2 variance(rho), written as a rho^2 + b rho + c <= 0.
    quadratic = training_1 + training_0
    linear = batch_1 - batch_0 - 2 * training_0
    constant = batch_0 + training_0
    a = gap**2 - z**2 * quadratic
    b = -2 * gap * excess - z**2 * linear
    c = excess**2 - z**2 * constant
    root = np.sqrt(np.maximum(b**2 - 4 * a * c, 0.0))
    # Fieller: with a <= 0 the gap itself is not significant; no rho can be excluded.
    is_known = np.asarray(a > 0)
    divisor = np.where(is_known, 2 * a, 1.0)
    low = np.clip((-b - root) / divisor, 0.0, 1.0)
    high = np.clip((-b + root) / divisor, 0.0, 1.0)

    # A mean beyond that of a pure batch may leave no rho that passes, or a very short
    # interval. What remains is the end itself, give or take the noise of a pure batch.
    gap = np.where(is_known, gap, 1.0)
    centre = excess / gap
    low_end = 1 - z * np.sqrt(batch_1 + training_1) / np.abs(gap)
    high_end = z * np.sqrt(batch_0 + training_0) / np.abs(gap)
    above, below = centre > 1, centre < 0
    low = np.where(above, np.clip(np.minimum(low, low_end), 0.0, 1.0), low)
    high = np.where(below, np.clip(np.maximum(high, high_end), 0.0, 1.0), high)
    low = np.where(is_known & ~below, low, 0.0)
    high = np.where(is_known & ~above, high, 1.0)
    return low[()], high[()]


# If scores tell the classes apart perfectly, there is no noise to divide by.
_LEAST_VARIANCE = 1e-30


class Likelihood(NamedTuple):
    """What the mean of a statistic over a batch says of each prevalence.

    The mean is taken for normal, with the expectation and the variance that a
    prevalence implies; see `moment_interval`.

    Parameters
    ----------
    positives, negatives, batch : Moments
        Of the statistic, over the two classes in training and over the batch; or arrays
        of those of several groups.
    """

    positives: Moments
    negatives: Moments
    batch: Moments

    def beside(self, n_axes: int) -> Likelihood:
        """Return the moments of several groups with more axes after that of groups."""
        shape = (-1, *[1] * n_axes)
        parts = []
        for part in self:
            parts.append(Moments(*[np.reshape(values, shape) for values in part]))
        return Likelihood(*parts)

    def log(
        self,
        prevalence: np.ndarray,
        drift: np.ndarray | float = 0.0,
    ) -> np.ndarray:
        """Return the logarithm of the likelihood, up to a constant.

        Parameters
        ----------
        prevalence : ndarray of shape (n_points,)
        drift : float or ndarray, default=0.0
            Variance of the mean, in units of that of one row within a class, by which
            more than noise moved it: the batch is worth at most ``1 / drift`` rows.

        Returns
        -------
        ndarray of shape (n_points,)
        """
        positives, negatives, batch = self
        gap = positives.mean - negatives.mean
        variance = self._variance(prevalence, drift)
        residual = batch.mean - negatives.mean - prevalence * gap
        # The variance depends on the prevalence, so its logarithm belongs here.
        return -(residual**2) / (2 * variance) - np.log(variance) / 2

    def answer(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the most likely prevalence without drift, and its standard error."""
        gap = self.positives.mean - self.negatives.mean
        excess = self.batch.mean - self.negatives.mean
        prevalence = np.divide(
            excess, gap, out=np.full_like(gap, 0.5), where=np.abs(gap) > 0
        )
        prevalence = np.clip(prevalence, 0, 1)
        variance = self._variance(prevalence, 0.0)
        least_gap = np.maximum(np.abs(gap), np.sqrt(variance))
        return prevalence, np.sqrt(variance) / least_gap

    def _variance(self, prevalence: Any, drift: Any) -> np.ndarray:
        """Return the variance of the mean over the batch, that of training counted."""
        positives, negatives, batch = self
        worth = 1 / (1 / batch.size + drift)
        w1, w0 = noise_weights(prevalence, worth, positives.size, negatives.size)
        variance = w1 * positives.variance + w0 * negatives.variance
        return np.maximum(variance, _LEAST_VARIANCE)


def interpolate(x: np.ndarray, xp: np.ndarray, fp: np.ndarray) -> np.ndarray:
    """Interpolate, as `numpy.interp` does, in each row of arrays.

    Parameters
    ----------
    x : ndarray of shape (n_rows, n_values)
    xp, fp : ndarray of shape (n_rows, n_points)
        The points, which rise, and what is known there.

    Returns
    -------
    ndarray of shape (n_rows, n_values)
    """
    place = (xp[:, None] <= x[..., None]).sum(axis=-1) - 1
    place = np.clip(place, 0, xp.shape[1] - 2)
    left, right = (np.take_along_axis(xp, place + step, 1) for step in (0, 1))
    low, high = (np.take_along_axis(fp, place + step, 1) for step in (0, 1))
    gap = right - left
    beyond = (x >= left).astype(float)
    share = np.divide(x - left, gap, out=beyond, where=gap > 0)
    return low + np.clip(share, 0, 1) * (high - low)


def noise_weights(
    rho: Any, n_batch: Any, n_positives: Any, n_negatives: Any
) -> tuple[Any, Any]:
    """Return how much the variances of the two classes count at a prevalence.

    These are w1 and w0 in the notes of `OneStepEMQ`.
    """
    w1 = rho / n_batch + rho**2 / n_positives
    w0 = (1 - rho) / n_batch + (1 - rho) ** 2 / n_negatives
    return w1, w0


def _clipped(share: float) -> float:
    """Return the nearest number in [0, 1]."""
    return float(min(max(share, 0.0), 1.0))


# Below this share of the spread of the scores, the difference of two mean scores is a
# matter of rounding, and dividing by it would give any prevalence.
_LEAST_SEPARATION = 1e-3


class Quantifier(BaseEstimator):
    """Base class of quantifiers, which estimate the prevalence of a batch.

    A quantifier is fitted on the score histograms of the two classes and applied to the
    score histogram of a batch. It sees neither features nor rows.

    To write your own, subclass `Quantifier` and define ``_estimate(batch)``. Its
    interval then comes from ``moment_interval`` with the mean score as the statistic;
    define ``_statistic(histogram, prevalence)`` to use a better statistic. Define
    ``_fit()`` to prepare what does not depend on the batch.

    Attributes
    ----------
    positives_, negatives_ : ScoreHistogram
        Out-of-fold scores of the two classes in training.
    prevalence_ : float
        Share of positives in training.
    informative_ : bool
        Whether the scores tell the classes apart. If not, every estimate is the
        training prevalence, with the interval [0, 1].

    Examples
    --------
    >>> from cape.evidence._histogram import ScoreHistogram, edges_for, round_scores
    >>> class MeanScore(Quantifier):
    ...     def _estimate(self, batch):
    ...         return batch.mean
    >>> high, low = round_scores([0.6, 0.8]), round_scores([0.1, 0.3])
    >>> edges = edges_for(high, low)
    >>> quantifier = MeanScore().fit(
    ...     ScoreHistogram.of(high, edges), ScoreHistogram.of(low, edges)
    ... )
    >>> quantifier.estimate(ScoreHistogram.of(round_scores([0.75, 0.25]), edges))
    0.5
    """

    # Whether the estimate divides by how well the scores tell the classes apart.
    _corrects = True

    # Whether the mean score, the statistic by default, is that of the estimate.
    _is_of_means = False

    @property
    def borrows_interval(self) -> bool:
        """Whether a quantifier from outside has the interval of the mean score."""
        cls = type(self)
        has_statistic = cls._statistic is not Quantifier._statistic
        has_interval = cls._interval is not Quantifier._interval
        return not (self._is_of_means or has_statistic or has_interval)

    # Whether histograms are matched in bins of equal width.
    _matches_bins = False

    def fit(self, positives: ScoreHistogram, negatives: ScoreHistogram) -> Quantifier:
        """Fit the quantifier on the training scores of the two classes.

        Parameters
        ----------
        positives, negatives : ScoreHistogram
            Out-of-fold scores of the two classes, with the same edges.

        Returns
        -------
        self : Quantifier
            The fitted quantifier.

        Raises
        ------
        ValueError
            If a histogram is empty, or the edges differ.
        """
        if type(self)._estimate is Quantifier._estimate:
            raise TypeError(f"{type(self).__name__} must define _estimate(batch).")
        _check_not_empty("positives", positives, "score")
        _check_not_empty("negatives", negatives, "score")
        if not np.array_equal(positives.edges, negatives.edges):
            raise ValueError("positives and negatives must have the same edges.")
        self.positives_ = positives
        self.negatives_ = negatives
        n_rows = positives.size + negatives.size
        self.prevalence_ = float(positives.size / n_rows)
        # A quantifier that corrects nothing does not divide by the separation.
        self.informative_ = True
        if self._corrects:
            self.informative_ = _tells_apart(positives, negatives)
        if self.informative_:
            self._fit()
        else:
            warnings.warn(
                scores_are_alike(positives.mean, negatives.mean), stacklevel=2
            )
        return self

    def estimate(self, batch: ScoreHistogram) -> float:
        """Estimate the prevalence of a batch.

        Parameters
        ----------
        batch : ScoreHistogram
            Scores of at least one row, with the edges of the training histograms.

        Returns
        -------
        float
            The prevalence, in [0, 1].
        """
        self._check_batch(batch)
        if not self.informative_:
            return self.prevalence_
        estimate = self._estimate(batch)
        try:
            number = float(estimate) if np.isrealobj(estimate) else np.nan
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number):
            error = ValueError if isinstance(estimate, Real) else TypeError
            raise error(
                f"{type(self).__name__}._estimate must return a finite number, got "
                f"{estimate!r}."
            )
        # Beyond [0, 1] is the nearest end: dividing by a gap may lead there.
        return _clipped(number)

    def estimate_each(self, scores: np.ndarray) -> np.ndarray:
        """Estimate the prevalence of many batches of a single row.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_models, n_rows)
            Rounded scores of each row by one or several models. The scores of a row
            make one histogram.

        Returns
        -------
        ndarray of shape (n_rows,)
            The prevalences, in [0, 1].
        """
        check_is_fitted(self)
        if not self.informative_:
            n_rows = scores.shape[1]
            return np.full(n_rows, self.prevalence_)
        estimates = self._estimate_each(scores)
        if not ((estimates >= 0) & (estimates <= 1)).all():
            raise ValueError(
                f"{type(self).__name__}._estimate_each must return shares in [0, 1], "
                f"got {estimates!r:.200}."
            )
        return estimates

    def interval(
        self,
        batch: ScoreHistogram,
        level: float = 0.95,
        *,
        estimate: float | None = None,
    ) -> tuple[float, float]:
        """Compute a confidence interval for the realised prevalence of a batch.

        The interval takes the noise of the batch and of the training histograms into
        account. It always contains the estimate.

        Parameters
        ----------
        batch : ScoreHistogram
            Scores of at least one row, with the edges of the training histograms.
        level : float, default=0.95
            Confidence level in (0, 1).
        estimate : float, default=None
            What `estimate` returns for this batch, if it is known already.

        Returns
        -------
        low, high : float
            The ends of the interval, in [0, 1].
        """
        self._check_batch(batch)
        check_prevalence("level", level, closed=False)
        if not self.informative_:
            return 0.0, 1.0
        if estimate is None:
            estimate = self.estimate(batch)
        low, high = self._interval(batch, estimate, level)
        return float(min(low, estimate)), float(max(high, estimate))

    def statistic_moments(
        self, histogram: ScoreHistogram, prevalence: float
    ) -> Moments:
        """Compute the moments of the statistic that this quantifier's interval uses.

        Under prior shift the mean over a batch with prevalence rho is rho times the
        mean over the positives plus 1 - rho times the mean over the negatives.

        Parameters
        ----------
        histogram : ScoreHistogram
            The rows over which mean and variance are taken: a class in training, or a
            batch.
        prevalence : float
            The prevalence near which the statistic should be most informative.

        Returns
        -------
        Moments
            Mean, variance and number of rows.

        Examples
        --------
        >>> model = clf.model_of(0)
        >>> moments = model.quantifier.statistic_moments(model.positives, 0.5)
        >>> moments.size == model.positives.size
        True
        """
        check_is_fitted(self)
        values = self._statistic(histogram, prevalence)
        if not np.isfinite(values).all():
            raise ValueError(
                f"{type(self).__name__}._statistic must return finite numbers, got "
                f"{values!r:.200}."
            )
        return Moments.of(values, histogram)

    @classmethod
    def of_groups(
        cls,
        quantifiers: Sequence[Quantifier],
        batches: Sequence[ScoreHistogram],
        level: float | None = None,
    ) -> tuple[np.ndarray, Likelihood]:
        """Estimate the prevalences of several groups, and say how likely others are.

        Parameters
        ----------
        quantifiers : sequence of Quantifier
            Of this class, one a group.
        batches : sequence of ScoreHistogram
        level : float, default=None
            Level of intervals; None computes none.

        Returns
        -------
        estimates : ndarray of shape (n_groups, 1 or 3)
            The prevalence, and the ends of its interval.
        likelihood : Likelihood
            Of arrays of shape (n_groups,).
        """
        estimates = []
        moments = []
        for quantifier, batch in zip(quantifiers, batches, strict=True):
            value = quantifier.estimate(batch)
            # Some intervals cost a hundred times the estimate.
            ends = (
                ()
                if level is None
                else quantifier.interval(batch, level, estimate=value)
            )
            estimates.append([value, *ends])
            moments.append(quantifier.likelihood(batch, value))
        arrays = np.moveaxis(np.array(moments, dtype=float), 0, -1)
        return np.array(estimates), Likelihood(*[Moments(*part) for part in arrays])

    def likelihood(self, batch: ScoreHistogram, estimate: float) -> Likelihood:
        """Return the likelihood of each prevalence, centered at the estimate.

        Parameters
        ----------
        batch : ScoreHistogram
            Scores of at least one row.
        estimate : float
            What `estimate` returns for this batch.

        Returns
        -------
        Likelihood
        """
        positives = self.statistic_moments(self.positives_, estimate)
        negatives = self.statistic_moments(self.negatives_, estimate)
        centre = estimate * positives.mean + (1 - estimate) * negatives.mean
        return Likelihood(positives, negatives, Moments(centre, 0.0, batch.size))

    def _fit(self) -> None:
        """Prepare what does not depend on the batch."""

    def _estimate(self, batch: ScoreHistogram) -> float:
        """Estimate the prevalence. The result may lie outside [0, 1]."""
        raise NotImplementedError

    def _estimate_each(self, scores: np.ndarray) -> np.ndarray:
        """Estimate the prevalence of each distinct row once."""
        distinct, place = np.unique(scores, axis=1, return_inverse=True)
        estimates = []
        for row in distinct.T:
            batch = ScoreHistogram.of(row, self.positives_.edges, unit=len(scores))
            estimates.append(self.estimate(batch))
        return np.array(estimates)[place.ravel()]

    def _statistic(self, histogram: ScoreHistogram, prevalence: float) -> np.ndarray:
        """Return the value of the interval's statistic in each cell.

        Any function of the score is valid. The interval is shortest for the derivative
        of the log-likelihood in the prevalence; the default is the score itself.
        """
        return histogram.centres

    def _interval(
        self, batch: ScoreHistogram, estimate: float, level: float
    ) -> tuple[float, float]:
        """Compute the interval, which need not hold the estimate."""
        return moment_interval(
            self.statistic_moments(self.positives_, estimate),
            self.statistic_moments(self.negatives_, estimate),
            self.statistic_moments(batch, estimate),
            level,
        )

    def _check_batch(self, batch: ScoreHistogram) -> None:
        """Raise unless the quantifier is fitted and the batch has rows."""
        check_is_fitted(self)
        _check_not_empty("batch", batch, "row")


def _check_not_empty(name: str, histogram: ScoreHistogram, what: str) -> None:
    """Raise if a histogram has no scores, or only scores of weight 0."""
    if not histogram.counts.sum() > 0:
        raise ValueError(
            f"{name} must hold at least one {what}, got an empty histogram."
        )


def _tells_apart(positives: ScoreHistogram, negatives: ScoreHistogram) -> bool:
    """Return whether the mean scores of the classes differ beyond rounding."""
    variances = [
        Moments.of(histogram.centres, histogram).variance
        for histogram in (positives, negatives)
    ]
    spread = np.sqrt(max(variances))
    separation = abs(positives.mean - negatives.mean)
    return separation > _LEAST_SEPARATION * spread


class Answers(NamedTuple):
    """What the quantifiers of all groups say of a batch.

    Parameters
    ----------
    estimates : dict from group to Estimate
    likelihood : Likelihood
        Of arrays of shape (n_groups,); of 1 where scores say nothing.
    informative : ndarray of bool of shape (n_groups,)
        Where scores say something.
    """

    estimates: dict[Group, Estimate]
    likelihood: Likelihood
    informative: np.ndarray


_GROUPS_AT_ONCE = 64
"""The cells of so many groups fit into the cache of a processor."""

_ASKED = ("estimate", "interval", "interval")
"""The methods of a quantifier that the numbers of an estimate come from."""


def answer_groups(
    quantifiers: Mapping[Group, Quantifier],
    batches: Mapping[Group, ScoreHistogram],
    level: float | None = None,
) -> Answers:
    """Ask the quantifiers of all groups.

    Parameters
    ----------
    quantifiers : mapping from group to Quantifier
        Of one class.
    batches : mapping from group to ScoreHistogram
        Scores of at least one row each.
    level : float, default=None
        Level of intervals; None computes none.

    Returns
    -------
    Answers
        In the order of the batches.
    """
    asked = [(quantifiers[group], batch) for group, batch in batches.items()]
    informative = np.array([quantifier.informative_ for quantifier, _ in asked], bool)
    numbers = np.tile([np.nan, 0.0, 1.0], (len(asked), 1))
    numbers[:, 0] = [quantifier.prevalence_ for quantifier, _ in asked]
    numbers = numbers[:, : 1 if level is None else 3]
    moments = np.ones((3, 3, len(asked)))
    places = np.flatnonzero(informative)
    for first in range(0, len(places), _GROUPS_AT_ONCE):
        block = places[first : first + _GROUPS_AT_ONCE]
        of_block, histograms = zip(*(asked[place] for place in block), strict=True)
        answer = type(of_block[0]).of_groups
        numbers[block], moments[..., block] = answer(of_block, histograms, level)
    wrong = np.argwhere(~((numbers >= 0) & (numbers <= 1)))
    for place, number in wrong[:1]:
        raise ValueError(
            f"{type(asked[place][0]).__name__}.{_ASKED[number]} must be in [0, 1], got "
            f"{numbers[place, number]!r} in group {group_name(list(batches)[place])!r}."
        )
    estimates = itertools.starmap(Estimate, numbers.tolist())
    likelihood = Likelihood(*[Moments(*part) for part in moments])
    return Answers(dict(zip(batches, estimates, strict=True)), likelihood, informative)
