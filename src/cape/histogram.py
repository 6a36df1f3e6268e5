"""Score histograms that add up: all that CAPE needs to know of a set of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = ["HALF", "ONE", "ScoreHistogram", "check_scores", "edges_for", "round_scores"]

ONE = 1 << 32
"""The score 1 in the integer units of this module: a score is a multiple of 2^-32."""

HALF = ONE >> 1

_HDY_BINS = range(10, 111, 10)

_SORTED_AT_ONCE = 1 << 16

_BITS_OF_ONE = np.float64(1).view(np.uint64)


def round_scores(scores: Any) -> np.ndarray:
    """Round scores in [0, 1] to whole multiples of 2^-32, given as integers from 0 to ``ONE``.

    The integer is used everywhere - in sums, cells, cut points and predictions - so that nothing depends on the order
    of rows or on how they are cut into parts, although the last bit of a score may.

    Examples
    --------
    >>> round_scores([0.0, 0.5, 1.0]).tolist()
    [0, 2147483648, 4294967296]
    """
    return np.rint(check_scores(scores) * ONE).astype(np.int64)


def check_scores(scores: Any) -> np.ndarray:
    """Scores as numbers in [0, 1], or an error that names one that is not.

    Examples
    --------
    >>> check_scores([0.5, 1]).tolist()
    [0.5, 1.0]
    """
    scores = np.asarray(scores, dtype=np.float64)
    # The bits of numbers from 0 to 1 ascend as the numbers do, and those of all others are above: one look, not two.
    if (
        scores.size
        and np.maximum.reduce(scores.view(np.uint64), axis=None) > _BITS_OF_ONE
    ):
        bad = scores[~((scores >= 0) & (scores <= 1))]
        if len(bad):
            raise ValueError(f"scores must be probabilities in [0, 1], got {bad[0]}.")
    return scores


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """How many scores fall into each cell, and their sum.

    Parameters
    ----------
    edges : ndarray of int64
        The inner cut points in units of 2^-32, ascending. Cell i holds the scores s with
        ``edges[i - 1] < s <= edges[i]``, so that "above a cut" is strict, as a member's decision is.
    counts : ndarray of shape (n_edges + 1,)
        Scores per cell: int64, or float64 where training rows are weighted.
    sums : ndarray of shape (n_edges + 1,)
        Sum of the scores per cell, in units of 2^-32; of the same type.
    unit : int, default=1
        How many scores a row has. A batch scored by K models counts in units of 1/K of a row.
    rows : ndarray of int64, optional
        The scores themselves, kept only for quantifiers that are not ours and cannot do without.

    Examples
    --------
    >>> edges = round_scores([0.25, 0.5, 0.75])
    >>> a = ScoreHistogram.of(round_scores([0.1, 0.5, 0.6]), edges)
    >>> b = ScoreHistogram.of(round_scores([0.9]), edges)
    >>> (a + b).counts.tolist()
    [1, 1, 1, 1]
    >>> round((a + b).mean, 6)
    0.525
    """

    edges: np.ndarray
    counts: np.ndarray
    sums: np.ndarray
    unit: int = 1
    rows: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        scores: np.ndarray,
        edges: np.ndarray,
        *,
        weights: np.ndarray | None = None,
        unit: int = 1,
        keep_rows: bool = False,
    ) -> ScoreHistogram:
        """Histogram of integer scores (see `round_scores`); ``weights`` are for training rows alone."""
        scores = np.ravel(scores)
        if weights is None and len(scores) > len(edges):
            counts, sums = _many_in_cells(scores, edges)
        else:
            counts, sums = _few_in_cells(scores, edges, weights)
        return cls(edges, counts, sums, unit, np.sort(scores) if keep_rows else None)

    @classmethod
    def empty(
        cls, edges: np.ndarray, *, unit: int = 1, keep_rows: bool = False
    ) -> ScoreHistogram:
        """The histogram of no rows, the zero of the addition."""
        return cls.of(
            np.empty(0, dtype=np.int64), edges, unit=unit, keep_rows=keep_rows
        )

    @property
    def size(self) -> float:
        """Number of rows; of weighted training rows, the number they are worth."""
        total = self.counts.sum() / self.unit
        return (
            int(total)
            if self.counts.dtype.kind == "i" and total.is_integer()
            else float(total)
        )

    @property
    def mean(self) -> float:
        """Mean score, exact: it comes from the sums, not from the cells."""
        return float(self.sums.sum() / self.counts.sum() / ONE)

    @property
    def shares(self) -> np.ndarray:
        """Share of the scores in each cell."""
        return self.counts / self.counts.sum()

    @property
    def centres(self) -> np.ndarray:
        """Mean score of each cell; of an empty one, its middle."""
        bounds = np.concatenate([[0], self.edges, [ONE]])
        middles = (bounds[:-1] + bounds[1:]) / (2 * ONE)
        return np.divide(
            self.sums / ONE, self.counts, out=middles, where=self.counts > 0
        )

    def above(self) -> np.ndarray:
        """How many scores lie strictly above each cut: ``-1`` (all), every edge, and ``ONE`` (none)."""
        above = np.zeros(len(self.counts) + 1, dtype=self.counts.dtype)
        np.cumsum(self.counts[::-1], out=above[-2::-1])
        return above

    def merged(self, edges: np.ndarray) -> np.ndarray:
        """Counts in the coarser cells that ``edges``, a subset of this histogram's, make."""
        starts = np.concatenate([[0], np.searchsorted(self.edges, edges) + 1])
        return np.add.reduceat(self.counts, starts)

    def __add__(self, other: ScoreHistogram) -> ScoreHistogram:
        self._check_fits(other)
        rows = (
            None
            if self.rows is None
            else np.sort(np.concatenate([self.rows, other.rows]))
        )
        return replace(
            self,
            counts=self.counts + other.counts,
            sums=self.sums + other.sums,
            rows=rows,
        )

    def __sub__(self, other: ScoreHistogram) -> ScoreHistogram:
        self._check_fits(other)
        if self.rows is not None:
            raise TypeError(
                "a histogram that keeps raw scores for a foreign quantifier cannot be taken from."
            )
        counts, sums = self.counts - other.counts, self.sums - other.sums
        if (counts < 0).any() or (sums < 0).any():
            raise ValueError("cannot take away rows that were never added.")
        return replace(self, counts=counts, sums=sums)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreHistogram):
            return NotImplemented
        return (
            self.unit == other.unit
            and np.array_equal(self.edges, other.edges)
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.sums, other.sums)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ScoreHistogram({self.size:g} rows in {len(self.counts)} cells)"

    def _check_fits(self, other: ScoreHistogram) -> None:
        if self.unit != other.unit or not np.array_equal(self.edges, other.edges):
            raise ValueError(
                "histograms must have the same edges and unit to be added or taken away."
            )


def edges_for(
    positives: np.ndarray,
    negatives: np.ndarray,
    *,
    positive_weights: np.ndarray | None = None,
    negative_weights: np.ndarray | None = None,
    cuts: int = 1000,
) -> np.ndarray:
    """Edges of a group: half of ``cuts`` at quantiles of each class's scores, those HDy needs, and 1/2.

    Quantiles of all scores together would be too coarse once the prevalence moves far.
    """
    levels = np.linspace(0, 1, cuts // 2 + 1)[1:-1]
    quantiles = [
        _quantiles(scores, levels, weights)
        for scores, weights in (
            (positives, positive_weights),
            (negatives, negative_weights),
        )
    ]
    regular = [np.rint(np.arange(1, b) / b * ONE).astype(np.int64) for b in _HDY_BINS]
    edges = np.unique(np.concatenate([*quantiles, *regular, [HALF]]))
    return edges[(edges > 0) & (edges < ONE)]


def _quantiles(
    scores: np.ndarray, levels: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    return np.quantile(scores, levels, weights=weights, method="inverted_cdf").astype(
        np.int64
    )


def _many_in_cells(
    scores: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Counts and exact sums per cell: it is faster to sort many scores and look the edges up than the reverse.

    Blocks are sorted by themselves, which stays in the cache; what they hold adds up.
    """
    counts, sums = np.zeros((2, len(edges) + 1), dtype=np.int64)
    for start in range(0, len(scores), _SORTED_AT_ONCE):
        block = np.sort(scores[start : start + _SORTED_AT_ONCE])
        bounds = np.concatenate(
            [[0], np.searchsorted(block, edges, side="right"), [len(block)]]
        )
        totals = np.concatenate([[0], np.cumsum(block)])
        counts += np.diff(bounds)
        sums += np.diff(totals[bounds])
    return counts, sums


def _few_in_cells(
    scores: np.ndarray, edges: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The same, looking up the cell of each score."""
    cells, n_cells = np.searchsorted(edges, scores, side="left"), len(edges) + 1
    counts = np.bincount(cells, weights=weights, minlength=n_cells)
    if weights is not None:
        return counts, np.bincount(cells, weights=weights * scores, minlength=n_cells)
    sums = np.zeros(n_cells, dtype=np.int64)
    np.add.at(sums, cells, scores)  # in integers: bincount would add in floating point
    return counts, sums
