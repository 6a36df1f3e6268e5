"""Quantifiers that count or average scores: CC, PCC, ACC and SPA."""

from __future__ import annotations

import numpy as np

from cape.histogram import HALF, ONE, ScoreHistogram, check_scores
from cape.quantify._base import Quantifier

__all__ = ["ACC", "CC", "PCC", "SPA"]

_BLOCK = 1 << 17


class _Mean(Quantifier):
    """The estimate is a function of a mean over scores, so many batches of one row can be done at once."""

    def _from_mean(self, mean):
        raise TypeError(f"{type(self).__name__} must define _from_mean(mean).")

    def _mean(self, histogram: ScoreHistogram) -> float:
        return histogram.mean

    def _values(self, scores: np.ndarray) -> np.ndarray:
        return scores / ONE

    def _estimate(self, batch: ScoreHistogram) -> float:
        return self._from_mean(self._mean(batch))

    def _estimate_scores(self, scores: np.ndarray) -> float:
        total = 0.0
        for start in range(
            0, len(scores), _BLOCK
        ):  # so that scores that have just been checked are still in the cache
            total += self._total(check_scores(scores[start : start + _BLOCK]))
        return self._from_mean(total / len(scores))

    def _total(self, scores: np.ndarray) -> float:
        """What the mean is a mean of, summed over scores; `_mean` reads the same off a histogram."""
        return float(
            np.einsum("i->", scores)
        )  # a fifth faster than sum(), and as good for so few

    def _estimate_each(self, scores: np.ndarray) -> np.ndarray:
        return np.clip(self._from_mean(self._values(scores).mean(axis=0)), 0.0, 1.0)


class _Count(_Mean):
    """The mean is the share of scores above 1/2."""

    def _mean(self, histogram: ScoreHistogram) -> float:
        above = histogram.counts[np.searchsorted(histogram.edges, HALF) + 1 :].sum()
        return float(above / histogram.counts.sum())

    def _total(self, scores: np.ndarray) -> float:
        return float(
            np.count_nonzero(scores > (HALF + 0.5) / ONE)
        )  # rounded, above 1/2

    def _values(self, scores: np.ndarray) -> np.ndarray:
        return (scores > HALF).astype(float)

    def _statistic(self, histogram: ScoreHistogram, estimate: float) -> np.ndarray:
        return (
            np.arange(len(histogram.counts)) > np.searchsorted(histogram.edges, HALF)
        ).astype(float)


class _Uncorrected(_Mean):
    """The mean itself, biased as soon as the prevalence moves."""

    _corrects = False

    def _from_mean(self, mean):
        return mean


class _Corrected(_Mean):
    """The mean, rescaled so that the positives' is 1 and the negatives' is 0."""

    def _fit(self) -> None:
        self.positive_mean_ = self._mean(self.positives_)
        self.negative_mean_ = self._mean(self.negatives_)

    def _from_mean(self, mean):
        if self.positive_mean_ == self.negative_mean_:
            return np.full_like(mean, self.prevalence_)
        return (mean - self.negative_mean_) / (
            self.positive_mean_ - self.negative_mean_
        )


class CC(_Count, _Uncorrected):
    """Classify and count [1]_: the share of scores above 1/2, uncorrected.

    It is biased as soon as the prevalence moves. Its interval is that of `ACC`, stretched to hold the estimate.

    References
    ----------
    .. [1] G. Forman, "Counting positives accurately despite inaccurate classification", ECML 2005.

    Examples
    --------
    >>> from cape.histogram import ScoreHistogram, edges_for, round_scores
    >>> positives, negatives = round_scores([0.6, 0.8, 0.9, 0.4]), round_scores([0.1, 0.2, 0.3, 0.6])
    >>> edges = edges_for(positives, negatives)
    >>> fitted = CC().fit(ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges))
    >>> fitted.estimate(ScoreHistogram.of(round_scores([0.7, 0.2]), edges))
    0.5
    """


class PCC(_Uncorrected):
    """Probabilistic classify and count [1]_: the mean score, uncorrected.

    It is biased as soon as the prevalence moves. Its interval is that of `SPA`, stretched to hold the estimate.

    References
    ----------
    .. [1] A. Bella et al., "Quantification via probability estimators", ICDM 2010.

    Examples
    --------
    >>> from cape.histogram import ScoreHistogram, edges_for, round_scores
    >>> positives, negatives = round_scores([0.6, 0.8]), round_scores([0.1, 0.3])
    >>> edges = edges_for(positives, negatives)
    >>> fitted = PCC().fit(ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges))
    >>> fitted.estimate(ScoreHistogram.of(round_scores([0.75, 0.25]), edges))
    0.5
    """


class ACC(_Count, _Corrected):
    """Adjusted count [1]_: p = (p' - FPR) / (TPR - FPR), with p' the share of scores above 1/2.

    References
    ----------
    .. [1] G. Forman, "Quantifying trends accurately despite classifier error and class imbalance", KDD 2006.

    Examples
    --------
    >>> from cape.histogram import ScoreHistogram, edges_for, round_scores
    >>> positives, negatives = round_scores([0.6, 0.8, 0.9, 0.4]), round_scores([0.1, 0.2, 0.3, 0.6])
    >>> edges = edges_for(positives, negatives)
    >>> fitted = ACC().fit(ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges))
    >>> fitted.estimate(ScoreHistogram.of(round_scores([0.7, 0.2, 0.1, 0.1]), edges))
    0.0
    """


class SPA(_Corrected):
    """Scaled probability average [1]_, the paper's quantifier; PACC with two classes.

    q = (mean score - FPpa) / (TPpa - FPpa), clipped to [0, 1]; TPpa and FPpa are the mean out-of-fold scores of the
    positives and of the negatives.

    References
    ----------
    .. [1] A. Bella et al., "Quantification via probability estimators", ICDM 2010.

    Examples
    --------
    >>> from cape.histogram import ScoreHistogram, edges_for, round_scores
    >>> positives, negatives = round_scores([0.6, 0.8]), round_scores([0.1, 0.3])
    >>> edges = edges_for(positives, negatives)
    >>> fitted = SPA().fit(ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges))
    >>> round(fitted.estimate(ScoreHistogram.of(round_scores([0.7, 0.2, 0.2, 0.2]), edges)), 6)
    0.25
    """
