"""Score histograms, which add up: quantifiers, rules and tests need no more of a batch.

Scores are rounded once, to integers, and counted in fixed cells. Counts and sums of
integers do not depend on the order of the rows or on how the rows are cut into parts,
so a table in memory, a file read in parts and a cluster give the same histogram.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from itertools import combinations
from typing import Any

import numpy as np

from cape.base._errors import ParameterError

# Why 2^-32. The last bits of a score depend on the order in which a matrix product
# adds its terms, so they must go: 2^-32 is a million times as coarse as this noise, and
# finer than any difference between scores that means something. Sums stay exact: a
# cell of an int64 histogram has room for 2^31 scores.
ONE = 1 << 32
"""The score 1 as an integer: scores are counted in units of 2^-32."""

HALF = ONE >> 1
"""The score 1/2 as an integer, above which an unadapted classifier predicts 1."""

WEIGHT_UNIT = 1 / (1 << 20)
"""Weights are counted in units of 2^-20: sums of multiples of it are exact in floating
point up to 2^33, which is more than there are people, so that no order of rows and no
splitting matters."""

_PRODUCT_UNIT = ONE * WEIGHT_UNIT

LEAST_WEIGHT = 1 / (1 << 10)
"""Smaller weights would be rounded by more than one part in two thousand."""

MOST_WEIGHT = 1 << 31

WEIGHTS = f"0 or from {LEAST_WEIGHT:.4f} to {MOST_WEIGHT:,}"
RESCALE = "multiply all weights by the same number, or divide them"
"""What weights must be, and the remedy."""

# 2^15 scores take a quarter of a megabyte, and are counted in the cache.
_SCORES_AT_ONCE = 1 << 15


def round_scores(scores: Any) -> np.ndarray:
    """Round scores to whole multiples of 2^-32.

    Every score is rounded once, and the integer is used everywhere: in sums, cells, cut
    points and predictions. So results do not depend on the order of rows or on how they
    are split into parts, although the last bits of a score may.

    Parameters
    ----------
    scores : array-like of float
        Scores in [0, 1], of any shape.

    Returns
    -------
    ndarray of int64
        Integers from 0 to ``ONE``, of the same shape.

    Raises
    ------
    ValueError
        If a score is not in [0, 1].

    Examples
    --------
    >>> round_scores([0.0, 0.5, 1.0]).tolist()
    [0, 2147483648, 4294967296]
    >>> (round_scores([0.1, 0.2]) / ONE).round(6).tolist()
    [0.1, 0.2]
    """
    scores = check_scores(scores)
    return np.rint(scores * ONE).astype(np.int64)


def check_scores(scores: Any) -> np.ndarray:
    """Return scores as an array of float64, after checking that all are in [0, 1].

    Parameters
    ----------
    scores : array-like of float
        Scores of any shape.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        If a score is below 0, above 1 or NaN. The message names the first one.

    Examples
    --------
    >>> check_scores([0.5, 1]).tolist()
    [0.5, 1.0]
    >>> check_scores([0.5, 1.5])
    Traceback (most recent call last):
        ...
    ValueError: scores must be probabilities in [0, 1], got 1.5.
    """
    scores = np.asarray(scores, dtype=np.float64)
    # Comparisons with NaN are false, so NaN is refused as well.
    valid = (scores >= 0) & (scores <= 1)
    if not valid.all():
        first = scores[~valid][0]
        raise ValueError(f"scores must be probabilities in [0, 1], got {first}.")
    return scores


def round_weights(weights: np.ndarray) -> np.ndarray:
    """Round the weights of rows to whole multiples of 2^-20, once, as scores are.

    Parameters
    ----------
    weights : ndarray of float

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        If a weight is too small or too large to be counted.

    Examples
    --------
    >>> round_weights(np.array([0.0, 2.5, 1e-2])).round(6).tolist()
    [0.0, 2.5, 0.01]
    """
    bad = weights[(weights != 0) & ((weights < LEAST_WEIGHT) | (weights > MOST_WEIGHT))]
    if len(bad):
        problem = f"must be {WEIGHTS} in every row, got {bad[0]:.3g}: {RESCALE}."
        raise ParameterError("sample_weight", problem)
    return np.rint(weights / WEIGHT_UNIT) * WEIGHT_UNIT


def sum_squares(
    scores: np.ndarray, edges: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Sum the squares of weights in each cell, in squares of their unit.

    Parameters
    ----------
    scores : ndarray of int64
        As in `ScoreHistogram.of`.
    edges : ndarray of int64
    weights : ndarray
        From `round_weights`, one for each score.

    Returns
    -------
    ndarray of Python's int, which has room for any sum
    """
    units = (weights / WEIGHT_UNIT).astype(np.int64).astype(object)
    squares = np.zeros(len(edges) + 1, dtype=object)
    np.add.at(squares, np.searchsorted(edges, scores, side="left"), units**2)
    return squares


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """Number and sum of the scores in each cell of [0, 1].

    Histograms with the same edges can be added and subtracted.

    Parameters
    ----------
    edges : ndarray of int64 of shape (n_edges,)
        The inner cut points in units of 2^-32, ascending. Cell i holds the scores s
        with ``edges[i - 1] < s <= edges[i]``.
    counts : ndarray of shape (n_edges + 1,)
        Number of scores in each cell: int64, or float64 if training rows are weighted.
    sums : ndarray of shape (n_edges + 1,)
        Sum of the scores in each cell, in units of 2^-32, of the same type.
    unit : int, default=1
        Number of scores of each row. A batch that K models score has ``unit=K``.

    See Also
    --------
    edges_for : Choose the edges from training scores.
    round_scores : Turn scores into the integers that are counted here.

    Notes
    -----
    A member of a pool predicts 1 for the scores strictly above its cut. Cells are
    closed on the right for this reason: the number of scores strictly above an edge is
    the sum of the cells to its right, and predicted prevalences are exact.

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

    @classmethod
    def of(
        cls,
        scores: np.ndarray,
        edges: np.ndarray,
        *,
        weights: np.ndarray | None = None,
        unit: int = 1,
    ) -> ScoreHistogram:
        """Count scores.

        Parameters
        ----------
        scores : ndarray of int64
            Scores from `round_scores`, of any shape.
        edges : ndarray of int64 of shape (n_edges,)
            The inner cut points, ascending; see `edges_for`.
        weights : ndarray of shape (n_scores,), default=None
            Weights of the scores.
        unit : int, default=1
            Number of scores of each row.

        Returns
        -------
        ScoreHistogram

        Examples
        --------
        >>> scores = round_scores([0.2, 0.5, 0.6])
        >>> ScoreHistogram.of(scores, np.array([HALF])).counts.tolist()
        [2, 1]
        """
        scores = np.ravel(scores)
        many = len(scores) > len(edges)
        if many and weights is None:
            counts, sums = _count_by_table(scores, edges)
        else:
            counts, sums = _count_by_lookup(scores, edges, weights)
        return cls(edges, counts, sums, unit)

    @cached_property
    def size(self) -> float:
        """Number of rows, or the sum of their weights."""
        total = self.counts.sum() / self.unit
        if self.is_weighted or not total.is_integer():
            return float(total)
        return int(total)

    @property
    def is_weighted(self) -> bool:
        """Whether rows are counted with unequal weights."""
        return self.counts.dtype.kind == "f"

    @property
    def mean(self) -> float:
        """Mean score. It is exact, since it comes from sums and not from cells."""
        mean = self.sums.sum() / self.counts.sum()
        return float(mean / ONE)

    @cached_property
    def shares(self) -> np.ndarray:
        """Share of the scores in each cell, an array of shape (n_cells,)."""
        return self.counts / self.counts.sum()

    @cached_property
    def centres(self) -> np.ndarray:
        """Mean score of each cell, and the middle of each empty cell."""
        bounds = np.concatenate([[0], self.edges, [ONE]])
        centres = (bounds[:-1] + bounds[1:]) / (2 * ONE)
        occupied = self.counts > 0
        return np.divide(self.sums / ONE, self.counts, out=centres, where=occupied)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: what was computed from them is computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def above(self) -> np.ndarray:
        """Count the scores strictly above each cut.

        Returns
        -------
        ndarray of shape (n_edges + 2,)
            The scores above the cut -1 (all of them), above every edge, and above
            ``ONE`` (none).

        Examples
        --------
        >>> edges = round_scores([0.25, 0.5])
        >>> ScoreHistogram.of(round_scores([0.1, 0.5, 0.9]), edges).above().tolist()
        [3, 2, 1, 0]
        """
        from_the_right = np.cumsum(self.counts[::-1])
        return np.append(from_the_right[::-1], 0)

    def merged(self, edges: np.ndarray) -> np.ndarray:
        """Count the scores in coarser cells.

        Parameters
        ----------
        edges : ndarray of int64
            Some of the edges of this histogram, ascending.

        Returns
        -------
        ndarray of shape (len(edges) + 1,)

        Examples
        --------
        >>> edges = round_scores([0.25, 0.5, 0.75])
        >>> histogram = ScoreHistogram.of(round_scores([0.1, 0.3, 0.9]), edges)
        >>> histogram.merged(edges[1:2]).tolist()
        [2, 1]
        """
        first_cells = np.searchsorted(self.edges, edges) + 1
        starts = np.append(0, first_cells)
        return np.add.reduceat(self.counts, starts)

    def shares_of_even_cells(self) -> np.ndarray:
        """Return the share of scores in cells of equal width, for a picture.

        Returns
        -------
        ndarray of shape (20,)
            Enough to see where a mixture misses, few enough for a small picture.
        """
        # Scores are integers, multiples of 2^-32.
        ends = np.arange(1, 20) / 20
        edges = np.rint(ends * ONE).astype(np.int64)
        # With several scores a row, counts exceed the rows; shares do not.
        counts = self.merged(edges)
        return counts / counts.sum()

    def __mul__(self, factor: float) -> ScoreHistogram:
        return replace(self, counts=self.counts * factor, sums=self.sums * factor)

    def __add__(self, other: ScoreHistogram) -> ScoreHistogram:
        self._check_fits(other)
        counts = self.counts + other.counts
        return replace(self, counts=counts, sums=self.sums + other.sums)

    def __sub__(self, other: ScoreHistogram) -> ScoreHistogram:
        self._check_fits(other)
        counts = self.counts - other.counts
        sums = self.sums - other.sums
        smallest = min(counts.min(), sums.min())
        if smallest < 0:
            raise ValueError("cannot subtract rows that were never added.")
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
        """Raise unless the other histogram counts in the same cells and units."""
        same_edges = np.array_equal(self.edges, other.edges)
        if self.unit != other.unit or not same_edges:
            raise ValueError(
                "histograms must have the same edges and unit to be added or "
                "subtracted."
            )


def edges_for(
    positives: np.ndarray,
    negatives: np.ndarray,
    *,
    positive_weights: np.ndarray | None = None,
    negative_weights: np.ndarray | None = None,
    cuts: int = 1000,
    matched: bool = True,
) -> np.ndarray:
    """Choose the edges of the histograms of a group from its training scores.

    Half of the cuts are quantiles of the positives, and half are quantiles of the
    negatives. The borders of 20 even bins, for pictures, are added.

    Parameters
    ----------
    positives, negatives : ndarray of int64
        Rounded out-of-fold scores of the two classes; see `round_scores`.
    positive_weights, negative_weights : ndarray, default=None
        Weights of the training rows.
    cuts : int, default=1000
        Number of quantiles. Quantiles that coincide are used once.
    matched : bool, default=True
        Whether the borders of the bins that the quantifiers "hdy" and "dys"
        match are edges, too.

    Returns
    -------
    ndarray of int64
        The edges, ascending, all of them between 0 and ``ONE``.

    Examples
    --------
    >>> edges = edges_for(round_scores([0.61, 0.83]), round_scores([0.12, 0.34]))
    >>> np.isin(round_scores([0.12, 0.34, 0.5, 0.61, 0.83]), edges).tolist()
    [True, True, True, True, True]
    """
    # Quantiles of all scores together would follow the class that is frequent in
    # training. In a batch whose prevalence has moved far the other class is frequent,
    # and most of its scores would lie in a few cells.
    candidates = [
        _quantiles(positives, positive_weights, cuts // 2),
        _quantiles(negatives, negative_weights, cuts // 2),
        _borders(_HDY_BINS if matched else _EVEN_BINS),
    ]
    edges = np.unique(np.concatenate(candidates))
    inside = (edges > 0) & (edges < ONE)
    return edges[inside]


_HDY_BINS = range(10, 111, 10)
"""HDy matches histograms of 10, 20, ..., 110 bins of equal width."""

_EVEN_BINS = range(20, 21)


@cache
def _borders(numbers: range) -> np.ndarray:
    """Return the scores between the bins of several binnings of equal width."""
    borders = [np.arange(1, bins) / bins for bins in numbers]
    return round_scores(np.concatenate(borders))


def _quantiles(
    scores: np.ndarray,
    weights: np.ndarray | None,
    parts: int,
) -> np.ndarray:
    """Return the scores that cut a class into equal parts."""
    # As np.quantile by its method "inverted_cdf", in a third of the time, which counts
    # where groups are many. Interpolated quantiles would be no integers.
    levels = np.linspace(0, 1, parts + 1)[1:-1]
    order = np.argsort(scores)
    if weights is None:
        places = np.ceil(levels * len(scores)).astype(np.int64) - 1
    else:
        cumulated = np.cumsum(weights[order])
        places = np.searchsorted(cumulated / cumulated[-1], levels)
    return scores[order[np.minimum(places, len(scores) - 1)]]


def _count_by_lookup(
    scores: np.ndarray,
    edges: np.ndarray,
    weights: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Look up the cell of each score; return numbers and sums of the scores."""
    n_cells = len(edges) + 1
    cell = np.searchsorted(edges, scores, side="left")
    counts = np.bincount(cell, weights, n_cells)
    if weights is None:
        # bincount would add in floating point, which is inexact beyond 2^53.
        sums = np.zeros(n_cells, dtype=np.int64)
        np.add.at(sums, cell, scores)
    else:
        # Each product is rounded once, so that sums are exact.
        products = np.rint(weights * scores / _PRODUCT_UNIT) * _PRODUCT_UNIT
        sums = np.bincount(cell, products, n_cells)
    return counts, sums


def _count_by_table(
    scores: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Look up most cells in a table: the fast twin for many scores.

    It takes a quarter of the time of `_count_by_lookup`. The table has the cell of each
    bin of equal width, and scores in a bin with an edge are looked up one by one.
    """
    n_cells = len(edges) + 1
    counts = np.zeros(n_cells, dtype=np.int64)
    sums = np.zeros(n_cells, dtype=np.int64)
    shift = max(34 - len(scores).bit_length(), 17)
    starts = np.arange((ONE >> shift) + 2, dtype=np.int64) << shift
    cell_of_bin = np.searchsorted(edges, starts[:-1])
    has_edge = cell_of_bin < np.searchsorted(edges, starts[1:] - 1)
    for start in range(0, len(scores), _SCORES_AT_ONCE):
        block = scores[start : start + _SCORES_AT_ONCE]
        bins = block >> shift
        cell = cell_of_bin.take(bins)
        doubtful = np.flatnonzero(has_edge.take(bins))
        cell[doubtful] = np.searchsorted(edges, block.take(doubtful))
        counts += np.bincount(cell, minlength=n_cells)
        # The sum of a block is below 2^53, and exact in floating point.
        sums += np.bincount(cell, block, n_cells).astype(np.int64)
    return counts, sums


# Three finenesses, nested so that agreements can be counted for all three at once. Few
# cells see little, and many cells have few rows each: a batch gets as many as its rows
# fill with eight in the mean, and chi-square is then a good approximation.
CELLS = (4, 8, 16)


def count_agreements(
    scores: np.ndarray,
    positives: ScoreHistogram,
    negatives: ScoreHistogram,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Count how often two scores of a row fall into one cell of the test.

    With ``scores="folds"`` a row has the scores of K models. The less they agree, the
    less noise the histogram of all scores has, and pooled counts do not tell how far
    they agree. Evidence carries this number, which adds up over rows, for each fineness
    of the test.

    Parameters
    ----------
    scores : ndarray of int64 of shape (n_models, n_rows)
        Rounded scores of each row by each model.
    positives, negatives : ScoreHistogram
        Out-of-fold scores of the two classes in training, which fix the cells.
    weights : ndarray of shape (n_rows,), default=None
        Weights of the rows.

    Returns
    -------
    ndarray of shape (3,)
        Ordered pairs of scores of the same row in the same cell, each score paired with
        itself too, for 4, 8 and 16 cells. A row adds between n_models, if no two of its
        scores agree, and n_models^2, if all agree.

    Examples
    --------
    >>> from cape.evidence._histogram import ScoreHistogram, edges_for, round_scores
    >>> low, high = round_scores([0.1, 0.2, 0.3]), round_scores([0.7, 0.8, 0.9])
    >>> edges = edges_for(high, low)
    >>> classes = ScoreHistogram.of(high, edges), ScoreHistogram.of(low, edges)
    >>> count_agreements(round_scores([[0.1, 0.1], [0.1, 0.9]]), *classes).tolist()
    [6, 6, 6]
    """
    nested = nested_cuts(positives, negatives)
    itself = scores.size if weights is None else len(scores) * float(weights.sum())
    finest = nested[-1]
    finest_cells = np.searchsorted(finest, scores, side="left")
    # Scores are looked up once, in the finest cells; a small table has the coarser
    # ones, in single bytes, which are compared fast.
    last_scores = np.append(finest, ONE)
    agreements = []
    for cuts in nested:
        coarser = np.searchsorted(cuts, last_scores, side="left")
        cells = coarser.astype(np.int8)[finest_cells]
        pairs: float = 0
        for one, other in combinations(cells, 2):
            pairs += count_true(one == other, weights)
        agreements.append(itself + 2 * pairs)
    return np.array(agreements)


def count_true(marks: np.ndarray, weights: np.ndarray | None) -> float:
    """Count the rows that are marked, or sum up their weights."""
    if weights is None:
        return int(np.count_nonzero(marks))
    return float(weights[marks].sum())


def nested_cuts(
    positives: ScoreHistogram, negatives: ScoreHistogram
) -> list[np.ndarray]:
    """Return the edges between 4, 8 and 16 cells, each holding the edges before.

    They are quantiles of the training scores, where both classes weigh the same:
    otherwise a rare class would have all its scores in one cell.
    """
    shares = (positives.shares + negatives.shares) / 2
    below_edge = np.cumsum(shares)[:-1]
    most_cells = CELLS[-1]
    levels = np.arange(1, most_cells) / most_cells
    # A level that is met exactly must not move to the next edge by rounding.
    places = np.searchsorted(below_edge, levels - 1e-9)
    edges = positives.edges
    nested = []
    for cells in CELLS:
        step = most_cells // cells
        distinct = np.unique(places[step - 1 :: step])
        distinct = distinct[distinct < len(edges)]
        nested.append(edges[distinct])
    return nested
