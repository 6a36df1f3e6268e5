"""What every quantifier is: two training histograms in, then a batch in and a prevalence out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from cape._validation import check_is_fitted, check_prevalence
from cape.histogram import ScoreHistogram, check_scores, round_scores

__all__ = [
    "Moments",
    "Quantifier",
    "decreasing_root",
    "moment_interval",
    "posterior_statistic",
]


class Quantifier(BaseEstimator):
    """Turns the score histogram of a batch into its prevalence, with an interval.

    A quantifier never sees a feature nor a row. A new one subclasses this and gives ``_estimate``; its interval then
    comes for free, from `moment_interval` with the statistic of ``_statistic``.

    Attributes
    ----------
    positives_, negatives_ : ScoreHistogram
        Out-of-fold scores of the two classes in training.
    prevalence_ : float
        Share of positives in training.
    informative_ : bool
        Whether the scores tell the classes apart. If not, the estimate is the training prevalence, its interval [0, 1].

    Examples
    --------
    >>> from cape.histogram import edges_for, round_scores
    >>> class MeanScore(Quantifier):
    ...     def _estimate(self, batch):
    ...         return batch.mean
    >>> positives, negatives = round_scores([0.6, 0.8]), round_scores([0.1, 0.3])
    >>> edges = edges_for(positives, negatives)
    >>> fitted = MeanScore().fit(ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges))
    >>> fitted.estimate(ScoreHistogram.of(round_scores([0.75, 0.25]), edges))
    0.5
    """

    keeps_rows = False
    """Whether it needs the scores themselves, and so a batch in memory."""

    _corrects = True
    """Whether it divides by how well the scores tell the classes apart."""

    def fit(self, positives: ScoreHistogram, negatives: ScoreHistogram) -> Quantifier:
        """Learn from the training scores of the two classes.

        Parameters
        ----------
        positives, negatives : ScoreHistogram
            Out-of-fold scores, with the same edges.

        Returns
        -------
        self
        """
        for name, histogram in (("positives", positives), ("negatives", negatives)):
            if not histogram.counts.sum() > 0:
                raise ValueError(
                    f"{name} must hold at least one score, got an empty histogram."
                )
        if not np.array_equal(positives.edges, negatives.edges):
            raise ValueError("positives and negatives must have the same edges.")
        self.positives_, self.negatives_ = positives, negatives
        self.prevalence_ = float(positives.size / (positives.size + negatives.size))
        self.informative_ = not self._corrects or _tells_apart(positives, negatives)
        if not self.informative_:
            warnings.warn(
                f"the scores cannot tell the classes apart (mean score of positives {positives.mean:.4f}, of negatives "
                f"{negatives.mean:.4f}): every estimate will be the training prevalence, with interval [0, 1].",
                stacklevel=2,
            )
        else:
            self._fit()
        return self

    def estimate(self, batch: ScoreHistogram) -> float:
        """Prevalence of the batch.

        Parameters
        ----------
        batch : ScoreHistogram
            Scores of at least one row, with the edges of training.

        Returns
        -------
        float in [0, 1]
        """
        self._check_batch(batch)
        return (
            min(max(float(self._estimate(batch)), 0.0), 1.0)
            if self.informative_
            else self.prevalence_
        )

    def estimate_scores(self, scores: np.ndarray) -> float:
        """Prevalence of a batch given as scores: what `estimate` gives for its histogram, to the rounding of scores.

        Parameters
        ----------
        scores : array-like of float in [0, 1]
            At least one.

        Returns
        -------
        float in [0, 1]
        """
        self._check_fitted()
        scores = np.ravel(np.asarray(scores, dtype=np.float64))
        if len(scores) == 0:
            raise ValueError("scores must hold at least one, got none.")
        if not self.informative_:
            check_scores(scores)
            return self.prevalence_
        return min(max(float(self._estimate_scores(scores)), 0.0), 1.0)

    def estimate_each(self, scores: np.ndarray) -> np.ndarray:
        """Prevalence of many batches of one row each.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_models, n_rows)
            Rounded scores of each row, by one model or by several whose histograms are pooled.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        self._check_fitted()
        return (
            self._estimate_each(scores)
            if self.informative_
            else np.full(scores.shape[1], self.prevalence_)
        )

    def interval(
        self, batch: ScoreHistogram, level: float = 0.95
    ) -> tuple[float, float]:
        """Where the realised prevalence of the batch lies at confidence ``level``.

        It counts the noise of the batch and of the training histograms, and always holds the estimate.

        Parameters
        ----------
        batch : ScoreHistogram
        level : float in (0, 1), default=0.95

        Returns
        -------
        low, high : float
        """
        self._check_batch(batch)
        check_prevalence("level", level, closed=False)
        if not self.informative_:
            return 0.0, 1.0
        estimate = self.estimate(batch)
        low, high = self._interval(batch, estimate, level)
        return min(low, estimate), max(high, estimate)

    def _fit(self) -> None:
        """Prepare what does not depend on the batch."""

    def _estimate(self, batch: ScoreHistogram) -> float:
        raise TypeError(f"{type(self).__name__} must define _estimate(batch).")

    def _estimate_scores(self, scores: np.ndarray) -> float:
        """The estimate from scores, which it checks."""
        edges = self.positives_.edges
        return self._estimate(
            ScoreHistogram.of(round_scores(scores), edges, keep_rows=self.keeps_rows)
        )

    def _estimate_each(self, scores: np.ndarray) -> np.ndarray:
        distinct, place = np.unique(scores, axis=1, return_inverse=True)
        edges, unit = self.positives_.edges, len(scores)
        batches = (
            ScoreHistogram.of(row, edges, unit=unit, keep_rows=self.keeps_rows)
            for row in distinct.T
        )
        return np.array([self.estimate(batch) for batch in batches])[place.ravel()]

    def _statistic(self, histogram: ScoreHistogram, estimate: float) -> np.ndarray:
        """Value of each cell in the statistic whose mean tells the prevalence; by default the score."""
        return histogram.centres

    def _interval(
        self, batch: ScoreHistogram, estimate: float, level: float
    ) -> tuple[float, float]:
        t, f, m = (
            Moments.of(self._statistic(h, estimate), h)
            for h in (self.positives_, self.negatives_, batch)
        )
        return moment_interval(t, f, m, level)

    def _check_fitted(self) -> None:
        if not hasattr(
            self, "informative_"
        ):  # a tenth of what check_is_fitted costs, which is as long as an estimate
            check_is_fitted(self)

    def _check_batch(self, batch: ScoreHistogram) -> None:
        self._check_fitted()
        if not batch.counts.sum() > 0:
            raise ValueError(
                "batch must hold at least one row, got an empty histogram."
            )


class Moments(NamedTuple):
    """Mean and variance of a statistic over the rows of a histogram, and how many rows there are."""

    mean: float
    variance: float
    size: float

    @classmethod
    def of(cls, values: np.ndarray, histogram: ScoreHistogram) -> Moments:
        """Moments of the statistic that has ``values`` in the histogram's cells."""
        shares = histogram.shares
        mean = float(shares @ values)
        return cls(mean, float(shares @ (values - mean) ** 2), histogram.size)


def moment_interval(
    positives: Moments, negatives: Moments, batch: Moments, level: float
) -> tuple[float, float]:
    """Invert the test "the mean of this statistic is that of a mixture with prevalence rho".

    With t, f, m the means over positives, negatives and batch, and s1, s0 the variances in the two classes, a batch of
    n rows of which exactly rho n are positive has m - f - rho (t - f) of mean 0 and variance

        (rho s1 + (1 - rho) s0) / n + rho^2 s1 / N1 + (1 - rho)^2 s0 / N0,

    where the last two terms are the noise of training. The rho that pass at ``level`` solve a quadratic (a Fieller
    interval), so there is nothing to simulate. All rho pass when t and f cannot be told apart.
    """
    (t, s1, n1), (f, s0, n0), (m, _, n) = positives, negatives, batch
    z2 = ndtri((1 + level) / 2) ** 2
    d = t - f
    a = d * d - z2 * (s1 / n1 + s0 / n0)
    b = -2 * d * (m - f) - z2 * ((s1 - s0) / n - 2 * s0 / n0)
    c = (m - f) ** 2 - z2 * (s0 / n + s0 / n0)
    if a <= 0:
        return 0.0, 1.0
    centre, root = (m - f) / d, np.sqrt(max(b * b - 4 * a * c, 0.0))
    low, high = np.clip(
        [(-b - root) / (2 * a), (-b + root) / (2 * a)], 0.0, 1.0
    ).tolist()
    if 0 <= centre <= 1:
        return low, high
    # The mean lies beyond that of a pure batch: at the least, what remains is that end, give or take its noise.
    end = float(centre > 1)
    noise = float(
        np.sqrt(z2 * (s1 * (1 / n + 1 / n1) if end else s0 * (1 / n + 1 / n0))) / abs(d)
    )
    return (
        (max(min(low, 1 - noise), 0.0), 1.0)
        if end
        else (0.0, min(max(high, noise), 1.0))
    )


def posterior_statistic(
    scores: np.ndarray, prevalence: float, estimate: float
) -> np.ndarray:
    """The likelihood's score at ``estimate`` if the scores were posteriors at the training ``prevalence``.

    Its mean is linear in the prevalence whether they are or not; the better calibrated they are, the less it scatters.
    Nothing in it is fitted to the training rows whose mean is then taken.
    """
    a, b = scores / prevalence, (1 - scores) / (1 - prevalence)
    q = min(max(estimate, 1e-3), 1 - 1e-3)
    return (a - b) / (q * a + (1 - q) * b)


def decreasing_root(
    slope: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    start: np.ndarray,
    *,
    steps: int = 60,
    within: float = 1e-12,
) -> np.ndarray:
    """Where each of several decreasing functions on [0, 1] crosses 0, or the end it points to.

    Newton's steps; one that would leave the bracket goes nearly all the way to its end instead, since the end is then
    often the answer. ``slope(x)`` gives values and derivatives.
    """
    x = np.array(start, dtype=np.float64)
    low, high = np.zeros_like(x), np.ones_like(x)
    for turn in range(steps):
        value, derivative = slope(x)
        up = value > 0
        low, high = np.where(up, x, low), np.where(up, high, x)
        newton = x - np.divide(
            value, derivative, out=np.full_like(x, np.inf), where=derivative < -1e-150
        )
        inside = (newton >= low) & (newton <= high) & (newton > 0) & (newton < 1)
        end = np.where(up, high, low)
        moved = np.where(
            inside, newton, end + (x - end) * (0.5 if turn % 4 == 3 else 1 / 64)
        )
        done = np.abs(moved - x) <= within
        x = moved
        if done.all():
            break
    return np.where(
        low == 0,
        np.where(x < 1e-10, 0.0, x),
        np.where((high == 1) & (x > 1 - 1e-10), 1.0, x),
    )


def _tells_apart(positives: ScoreHistogram, negatives: ScoreHistogram) -> bool:
    """Whether the classes' mean scores differ by more than a thousandth of the scores' own spread."""
    spread = np.sqrt(
        max(Moments.of(h.centres, h).variance for h in (positives, negatives))
    )
    return abs(positives.mean - negatives.mean) > 1e-3 * spread
