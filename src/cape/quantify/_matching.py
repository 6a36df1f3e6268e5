"""Quantifiers that look for the mixture of the classes' histograms nearest the batch's: HDy and DyS."""

from __future__ import annotations

import numpy as np

from cape._validation import check_choice
from cape.histogram import ONE, ScoreHistogram, round_scores
from cape.quantify._base import Quantifier, decreasing_root, posterior_statistic

__all__ = ["DyS", "HDy"]


class _Matching(Quantifier):
    """Match the batch in bins of equal width, for one or several numbers of bins at once."""

    def _bins(self) -> list[int]:
        raise TypeError(f"{type(self).__name__} must define _bins().")

    def _slope(self, p, n, b, mix, starts):
        raise TypeError(f"{type(self).__name__} must define _slope().")

    def _fit(self) -> None:
        bins = self._bins()
        self.bounds_ = [_bin_bounds(self.positives_.edges, b) for b in bins]
        self.positive_shares_ = self._binned(self.positives_)
        self.negative_shares_ = self._binned(self.negatives_)
        self.starts_ = np.cumsum([0, *bins[:-1]])

    def _binned(self, histogram: ScoreHistogram) -> np.ndarray:
        """Shares in the bins of every binning, one after the other."""
        tally = np.concatenate([[0], np.cumsum(histogram.counts)])
        return (
            np.concatenate([np.diff(tally[bounds]) for bounds in self.bounds_])
            / tally[-1]
        )

    def _estimate(self, batch: ScoreHistogram) -> float:
        return self._match(self._binned(batch))

    def _match(self, b: np.ndarray) -> float:
        """The prevalence whose mixture is nearest the shares ``b`` in the bins of every binning."""
        p, n = self.positive_shares_, self.negative_shares_
        binning = np.repeat(
            np.arange(len(self.starts_)), np.diff([*self.starts_, len(p)])
        )
        used = (p + n > 0) & (p != n) & (b > 0 if self._ignores_empty_bins else True)
        p, n, b, binning = p[used], n[used], b[used], binning[used]
        matched, starts = np.unique(binning, return_index=True)
        if (
            len(matched) == 0
        ):  # the batch fell where training never did: nothing to match
            return self.prevalence_

        sizes = np.diff([*starts, len(p)])

        def slope(rho):
            spread = np.repeat(rho, sizes)
            return self._slope(p, n, b, spread * p + (1 - spread) * n, starts)

        return float(np.median(decreasing_root(slope, np.full(len(matched), 0.5))))

    _ignores_empty_bins = True

    def _statistic(self, histogram: ScoreHistogram, estimate: float) -> np.ndarray:
        return posterior_statistic(histogram.centres, self.prevalence_, estimate)


class HDy(_Matching):
    """Least Hellinger distance in 10, 20, ..., 110 bins, and the median of the eleven prevalences [1]_.

    The distance is convex in the prevalence, so its minimum is found exactly and not on a grid.

    References
    ----------
    .. [1] V. González-Castro et al., "Class distribution estimation based on the Hellinger distance", Information
       Sciences 218, 2013.

    Examples
    --------
    >>> from cape.histogram import ScoreHistogram, edges_for, round_scores
    >>> positives, negatives = round_scores([0.61, 0.81]), round_scores([0.11, 0.31])
    >>> edges = edges_for(positives, negatives)
    >>> fitted = HDy().fit(ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges))
    >>> round(fitted.estimate(ScoreHistogram.of(round_scores([0.61, 0.81, 0.11, 0.31]), edges)), 6)
    0.5
    """

    def _bins(self) -> list[int]:
        return list(range(10, 111, 10))

    def _slope(self, p, n, b, mix, starts):
        """Of sum sqrt(b mix), one minus the squared distance: a sum of concave terms."""
        first = np.sqrt(b / mix) * (p - n)
        return np.add.reduceat(first, starts), np.add.reduceat(
            first * (n - p) / (2 * mix), starts
        )


class DyS(_Matching):
    """Least Topsøe or Hellinger distance in a few bins [1]_.

    Parameters
    ----------
    n_bins : int, default=8
        Bins of equal width; a divisor of 10, 20, ..., or 110, whose borders every histogram has.
    divergence : {"topsoe", "hellinger"}, default="topsoe"

    References
    ----------
    .. [1] A. Maletzke et al., "DyS: a framework for mixture models in quantification", AAAI 2019.

    Examples
    --------
    >>> from cape.histogram import ScoreHistogram, edges_for, round_scores
    >>> positives, negatives = round_scores([0.6, 0.8]), round_scores([0.1, 0.3])
    >>> edges = edges_for(positives, negatives)
    >>> fitted = DyS().fit(ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges))
    >>> round(fitted.estimate(ScoreHistogram.of(round_scores([0.6, 0.8, 0.1, 0.3]), edges)), 6)
    0.5
    """

    _ignores_empty_bins = False

    def __init__(self, n_bins: int = 8, divergence: str = "topsoe"):
        self.n_bins = n_bins
        self.divergence = divergence

    def _estimate_scores(self, scores: np.ndarray) -> float:
        """For bins so few it is faster to count the scores above each border than to sort them into cells."""
        if self.n_bins > 16 or len(scores) < 10_000:
            return super()._estimate_scores(scores)
        rounded = round_scores(scores)
        borders = self.positives_.edges[self.bounds_[0][1:-1] - 1]
        above = np.array(
            [
                len(scores),
                *(np.count_nonzero(rounded > border) for border in borders),
                0,
            ]
        )
        return self._match(-np.diff(above) / len(scores))

    def _bins(self) -> list[int]:
        check_choice("divergence", self.divergence, ("topsoe", "hellinger"))
        return [self.n_bins]

    def _slope(self, p, n, b, mix, starts):
        if self.divergence == "hellinger":
            return HDy._slope(self, p, n, b, mix, starts)
        both = mix + b
        value = (n - p) * np.log(2 * mix / both)
        return np.add.reduceat(value, starts), -np.add.reduceat(
            (p - n) ** 2 * b / (mix * both), starts
        )


def _bin_bounds(edges: np.ndarray, bins: int) -> np.ndarray:
    """Between which cells the borders i / bins lie."""
    borders = np.rint(np.arange(1, bins) / bins * ONE).astype(np.int64)
    places = np.searchsorted(edges, borders)
    if (places == len(edges)).any() or not np.array_equal(edges[places], borders):
        raise ValueError(
            f"n_bins must be a divisor of 10, 20, ..., or 110, got {bins!r}."
        )
    return np.concatenate([[0], places + 1, [len(edges) + 1]])
