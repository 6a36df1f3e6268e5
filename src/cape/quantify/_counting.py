"""Quantifiers that count or average scores: CC, PCC, ACC and SPA."""

from __future__ import annotations

from typing import Any

import numpy as np

from cape.evidence._histogram import HALF, ONE, ScoreHistogram
from cape.quantify._base import Quantifier


class _MeanQuantifier(Quantifier):
    """The estimate is the mean score, or a function of it.

    `_CountingQuantifier` replaces the score by the predicted label, 0 or 1, so that the
    mean is the share of rows that are classified as positive.
    """

    _corrects = False
    _is_of_means = True

    def _from_mean(self, mean: Any) -> Any:
        """Return the prevalence that belongs to a mean, or to each of many means."""
        return mean

    def _mean(self, histogram: ScoreHistogram) -> float:
        """Return the mean over the scores of a histogram."""
        return histogram.mean

    def _values(self, scores: np.ndarray) -> np.ndarray:
        """Return what is averaged, for each of many rounded scores."""
        return scores / ONE

    def _estimate(self, batch: ScoreHistogram) -> float:
        return self._from_mean(self._mean(batch))

    def _estimate_each(self, scores: np.ndarray) -> np.ndarray:
        # The mean of a row over its models is all that is needed: no histograms.
        values = self._values(scores)
        estimates = self._from_mean(values.mean(axis=0))
        return np.clip(estimates, 0.0, 1.0)


class _CountingQuantifier(_MeanQuantifier):
    """The mean is the share of the scores strictly above 1/2."""

    def _mean(self, histogram: ScoreHistogram) -> float:
        first_cell_above = np.searchsorted(histogram.edges, HALF) + 1
        n_above = histogram.counts[first_cell_above:].sum()
        return float(n_above / histogram.counts.sum())

    def _values(self, scores: np.ndarray) -> np.ndarray:
        is_above = scores > HALF
        return is_above.astype(float)

    def _statistic(self, histogram: ScoreHistogram, prevalence: float) -> np.ndarray:
        last_cell_below = np.searchsorted(histogram.edges, HALF)
        cells = np.arange(len(histogram.counts))
        is_above = cells > last_cell_below
        return is_above.astype(float)


class _Corrected(_MeanQuantifier):
    """The mean, rescaled to be 1 over the positives and 0 over the negatives."""

    _corrects = True

    def _fit(self) -> None:
        self.positive_mean_ = self._mean(self.positives_)
        self.negative_mean_ = self._mean(self.negatives_)

    def _from_mean(self, mean: Any) -> Any:
        # Under prior shift mean = rho positive_mean + (1 - rho) negative_mean, which is
        # solved for rho. Counts may not differ where mean scores do: then no rho is
        # better than another.
        gap = self.positive_mean_ - self.negative_mean_
        if gap == 0:
            return np.full_like(mean, self.prevalence_)
        return (mean - self.negative_mean_) / gap


class CC(_CountingQuantifier):
    """Classify and count [1]_: the share of the scores above 1/2.

    The estimate is biased as soon as the prevalence changes. The interval is that of
    `ACC`, stretched to contain the estimate.

    See Also
    --------
    ACC : The same count, corrected by the error rates.

    References
    ----------
    .. [1] G. Forman, "Counting positives accurately despite inaccurate classification",
       ECML 2005.

    Examples
    --------
    >>> from cape.evidence._histogram import ScoreHistogram, edges_for, round_scores
    >>> high, low = round_scores([0.6, 0.8, 0.9, 0.4]), round_scores([0.1, 0.2, 0.6])
    >>> edges = edges_for(high, low)
    >>> quantifier = CC().fit(
    ...     ScoreHistogram.of(high, edges), ScoreHistogram.of(low, edges)
    ... )
    >>> quantifier.estimate(ScoreHistogram.of(round_scores([0.7, 0.2]), edges))
    0.5
    """


class PCC(_MeanQuantifier):
    """Probabilistic classify and count [1]_: the mean score.

    The estimate is biased as soon as the prevalence changes. The interval is that of
    `SPA`, stretched to contain the estimate.

    See Also
    --------
    SPA : The same mean, corrected by the mean scores of the classes.

    References
    ----------
    .. [1] A. Bella et al., "Quantification via probability estimators", ICDM 2010.

    Examples
    --------
    >>> from cape.evidence._histogram import ScoreHistogram, edges_for, round_scores
    >>> high, low = round_scores([0.6, 0.8]), round_scores([0.1, 0.3])
    >>> edges = edges_for(high, low)
    >>> quantifier = PCC().fit(
    ...     ScoreHistogram.of(high, edges), ScoreHistogram.of(low, edges)
    ... )
    >>> quantifier.estimate(ScoreHistogram.of(round_scores([0.75, 0.25]), edges))
    0.5
    """


class ACC(_CountingQuantifier, _Corrected):
    """Adjusted count [1]_: the share of the scores above 1/2, corrected.

    The estimate is (c - FPR) / (TPR - FPR), clipped to [0, 1], where c is the share of
    the batch's scores above 1/2, and TPR and FPR are the shares in training.

    References
    ----------
    .. [1] G. Forman, "Quantifying trends accurately despite classifier error and class
       imbalance", KDD 2006.

    Examples
    --------
    >>> from cape.evidence._histogram import ScoreHistogram, edges_for, round_scores
    >>> high, low = round_scores([0.6, 0.8, 0.4]), round_scores([0.1, 0.6, 0.2])
    >>> edges = edges_for(high, low)
    >>> quantifier = ACC().fit(
    ...     ScoreHistogram.of(high, edges), ScoreHistogram.of(low, edges)
    ... )
    >>> batch = ScoreHistogram.of(round_scores([0.7, 0.2]), edges)
    >>> round(quantifier.estimate(batch), 6)
    0.5
    """


class SPA(_Corrected):
    """Scaled probability average [1]_: the mean score, corrected.

    This is the quantifier of the CAPE paper. The estimate is (mean score - FPpa) /
    (TPpa - FPpa), clipped to [0, 1], where TPpa and FPpa are the mean out-of-fold
    scores of the positives and of the negatives. With two classes it equals PACC.

    References
    ----------
    .. [1] A. Bella et al., "Quantification via probability estimators", ICDM 2010.

    Examples
    --------
    >>> from cape.evidence._histogram import ScoreHistogram, edges_for, round_scores
    >>> high, low = round_scores([0.6, 0.8]), round_scores([0.1, 0.3])
    >>> edges = edges_for(high, low)
    >>> quantifier = SPA().fit(
    ...     ScoreHistogram.of(high, edges), ScoreHistogram.of(low, edges)
    ... )
    >>> batch = ScoreHistogram.of(round_scores([0.7, 0.2, 0.2, 0.2]), edges)
    >>> round(quantifier.estimate(batch), 6)
    0.25
    """
