"""How many rows of each group to label, and which.

Rows whose label the score hardly tells are worth more than rows whose label it tells.
A group is cut into strata of the score, and a stratum gets labels in proportion to its
rows and to the standard deviation of their labels (Neyman 1934). Rows are drawn without
replacement, seeded, from rows that come in parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtri

from cape.base._limits import FEWEST_LABELS, USEFUL_WIDTH
from cape.labels._sample import merge_small, predictions
from cape.training._group_model import GroupModel

_STRATA = 6

_FEWEST_FOR_STRATA = 50
"""With fewer labels, strata gain nothing against plain drawing."""

_FEWEST_IN_A_STRATUM = 2

_LEAST_DEVIATION = 0.65
"""Least standard deviation of a stratum, relative to that of all labels. A score that
is wrong by far would else leave the rows unchecked that it is sure of."""


@dataclass(frozen=True)
class Strata:
    """Strata of one group.

    Parameters
    ----------
    starts : ndarray of int of shape (n_strata,)
        First cell of the score of each stratum; the first is 0.
    rows : ndarray of int of shape (n_strata,)
        Rows of the batch, N_h.
    drawn : ndarray of int of shape (n_strata,)
        Rows to draw, n_h.
    """

    starts: np.ndarray
    rows: np.ndarray
    drawn: np.ndarray

    @property
    def probabilities(self) -> np.ndarray:
        """Probability with which a row of each stratum is drawn, n_h / N_h."""
        # Rows with several scores count as fractions in several cells.
        return np.minimum(self.drawn / self.rows, 1.0)

    def of_cells(self, cells: np.ndarray) -> np.ndarray:
        """Find the stratum of each cell of the score."""
        return np.searchsorted(self.starts, cells, side="right") - 1

    def probabilities_of(self, returned: np.ndarray) -> np.ndarray:
        """Weigh rows anew if labels of only some of the drawn rows are known.

        Strata of which hardly any label is known are merged with their neighbours.

        Parameters
        ----------
        returned : ndarray of int of shape (n_strata,)
            Rows of each stratum whose label is known.

        Returns
        -------
        ndarray of float of shape (n_strata,)
            Share of the rows whose label is known.
        """
        starts = merge_small(returned, _FEWEST_IN_A_STRATUM)
        shares = np.add.reduceat(returned, starts) / np.add.reduceat(self.rows, starts)
        merged = np.searchsorted(starts, np.arange(len(returned)), side="right") - 1
        return shares[merged]


def stratify(
    model: GroupModel, batch: np.ndarray, n: int, estimate: float, mean_score: float
) -> Strata:
    """Cut the rows of a group into strata, and share labels out to them.

    Parameters
    ----------
    model : GroupModel
    batch : ndarray of int of shape (n_cells,)
        Rows of the batch in each cell of the score, at least one.
    n : int
        Rows to draw, at most those of the batch.
    estimate, mean_score : float
        Label-free estimate and mean score of the batch.

    Returns
    -------
    Strata
    """
    starts = np.array([0])
    if _FEWEST_FOR_STRATA <= n < batch.sum():
        starts = _equal_strata(batch)
    rows = np.add.reduceat(batch, starts)
    # Nobody knows the prevalence yet: no plan may be bad for any of these.
    prevalences = [estimate, mean_score, model.prevalence, 0.5]
    deviations = np.zeros(len(rows))
    overall = 0.0
    for prevalence in prevalences:
        share = predictions(model, prevalence)
        variance = np.add.reduceat(batch * share * (1 - share), starts) / rows
        deviations += np.sqrt(variance) / len(prevalences)
        mean = float(batch @ share / batch.sum())
        overall += sqrt(mean * (1 - mean)) / len(prevalences)
    deviations = np.maximum(deviations, _LEAST_DEVIATION * overall)
    drawn = largest_remainders(rows * deviations, rows, n, _FEWEST_IN_A_STRATUM)
    return Strata(starts, rows, drawn)


def _equal_strata(batch: np.ndarray) -> np.ndarray:
    """Return the first cells of strata with about the same number of rows."""
    before = np.cumsum(batch) - batch
    targets = batch.sum() * np.arange(1, _STRATA) / _STRATA
    # The cell in which the sum passes the target begins the next stratum, unless most
    # of its rows are below the target.
    middles = before + batch / 2
    places = np.searchsorted(middles, targets)
    # Many rows in the last cell leave it to be the last stratum.
    places = np.minimum(places, len(batch) - 1)
    starts = np.unique(np.append(0, places))
    # Cells with many rows, and cells without any, may leave a stratum too small.
    return starts[merge_small(np.add.reduceat(batch, starts), _FEWEST_IN_A_STRATUM)]


def share_out(rows: np.ndarray, n: int, spread: str) -> np.ndarray:
    """Share labels out to groups.

    Parameters
    ----------
    rows : ndarray of int of shape (n_groups,)
        Rows of each group.
    n : int
        Labels in all; more than there are rows mean all rows.
    spread : {"equal", "proportional"}
        As many labels for every group, or in proportion to its rows. A group smaller
        than its share is labelled completely, and the rest goes to the other groups.

    Returns
    -------
    ndarray of int of shape (n_groups,)
    """
    sizes = np.ones(len(rows)) if spread == "equal" else rows.astype(float)
    return largest_remainders(sizes, rows, n)


def largest_remainders(
    sizes: np.ndarray, most: np.ndarray, n: int, fewest: int = 0
) -> np.ndarray:
    """Share whole numbers out in proportion to sizes, within limits.

    Parameters
    ----------
    sizes : ndarray of float of shape (n_parts,)
        Positive.
    most : ndarray of int of shape (n_parts,)
        What a part can take.
    n : int
        What is shared out; not more than all parts can take is.
    fewest : int, default=0
        What every part gets that can take it, if there is enough for all.

    Returns
    -------
    ndarray of int of shape (n_parts,)
        Ties go to the first part.
    """
    n = min(n, int(most.sum()))
    least = np.minimum(fewest, most)
    if least.sum() > n:
        least = np.zeros_like(most)
    shares = _fair_shares(sizes, least, most, n)
    # Sums of floats may lie just below the whole number that they stand for.
    whole = np.floor(shares + 1e-9).astype(np.int64)
    remainders = np.where(whole < most, shares - whole, -1.0)
    order = np.argsort(-remainders, kind="stable")
    whole[order[: n - int(whole.sum())]] += 1
    return whole


def _fair_shares(
    sizes: np.ndarray, least: np.ndarray, most: np.ndarray, n: int
) -> np.ndarray:
    """Solve sum of clip(c * sizes, least, most) = n for c; return the parts."""
    low = 0.0
    high = float((most / sizes).max()) + 1
    for _ in range(200):
        middle = (low + high) / 2
        if np.clip(middle * sizes, least, most).sum() < n:
            low = middle
        else:
            high = middle
    return np.clip(high * sizes, least, most)


@dataclass(frozen=True)
class DrawnRows:
    """Rows that were drawn, each array of shape (n_drawn,).

    They are in an order in which the first rows are a sample as well, so that whoever
    labels them can stop early.

    Parameters
    ----------
    rows : ndarray of int
        Positions in the batch.
    groups : ndarray of int
        Codes of their groups.
    strata : ndarray of int
        Their strata within the group.
    cells : ndarray of int
        The cells of their scores.
    probabilities : ndarray of float
        Probabilities with which they were drawn.
    """

    rows: np.ndarray
    groups: np.ndarray
    strata: np.ndarray
    cells: np.ndarray
    probabilities: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)


NOTHING_DRAWN = Strata(np.array([0]), np.array([1]), np.array([0]))
"""The strata of rows without a group, none of which is drawn."""


class RowDraw:
    """Draw rows from strata of all groups.

    Every row draws a random number, and a stratum keeps the rows with the smallest
    numbers. Numbers are drawn in the order of rows, so that the result does not depend
    on how the rows are cut into parts; memory holds a part and the rows drawn.

    Parameters
    ----------
    strata : sequence of Strata
        Of each group, by its code.
    random_state : int, Generator or None, default=None
    """

    def __init__(self, strata: Sequence[Strata], random_state: Any = None):
        self._strata = list(strata)
        self._random = np.random.default_rng(random_state)
        counts = [len(group.rows) for group in self._strata]
        # Strata of all groups are numbered through.
        self._first = np.append(0, np.cumsum(counts)[:-1])
        self._drawn = np.concatenate([group.drawn for group in self._strata])
        probabilities = [group.probabilities for group in self._strata]
        self._probabilities = np.concatenate(probabilities)
        self._n_rows = 0
        # Random numbers, rows, groups, strata and cells of the rows that may be drawn,
        # sorted by stratum and then by their random number.
        self._kept = [np.empty(0), *np.empty((4, 0), dtype=np.int64)]

    def add(self, groups: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Add the next rows of the batch.

        Parameters
        ----------
        groups : ndarray of int of shape (n_rows,)
            Codes of their groups.
        cells : ndarray of int of shape (n_rows,)
            Cells of their scores.

        Returns
        -------
        ndarray of float of shape (n_rows,)
            Probabilities with which they are drawn.
        """
        numbers = self._random.random(len(groups))
        strata = np.zeros(len(groups), dtype=np.int64)
        for code, group in enumerate(self._strata):
            of_group = groups == code
            strata[of_group] = self._first[code] + group.of_cells(cells[of_group])
        rows = np.arange(self._n_rows, self._n_rows + len(groups))
        self._n_rows += len(groups)
        new = (numbers, rows, groups, strata, cells)
        joined = [np.append(*pair) for pair in zip(self._kept, new, strict=True)]
        order = np.lexsort((joined[0], joined[3]))
        of_stratum = joined[3][order]
        order = order[_ranks(of_stratum) < self._drawn[of_stratum]]
        self._kept = [column[order] for column in joined]
        return self._probabilities[strata]

    def result(self) -> DrawnRows:
        """Return the rows that were drawn, when all rows have been added."""
        numbers, rows, groups, strata, cells = self._kept
        # Row i of n_h comes after a share of i / n_h of every other stratum.
        turns = (_ranks(strata) + numbers) / self._drawn[strata]
        order = np.lexsort((rows, turns))
        return DrawnRows(
            rows=rows[order],
            groups=groups[order],
            strata=(strata - self._first[groups])[order],
            cells=cells[order],
            probabilities=self._probabilities[strata][order],
        )


def _ranks(strata: np.ndarray) -> np.ndarray:
    """Return the place of each row in its stratum, from 0 on, of rows sorted by it."""
    return np.arange(len(strata)) - np.searchsorted(strata, strata)


def cells_of_rows(edges: np.ndarray, deciding: np.ndarray) -> np.ndarray:
    """Find the cell of each row by the mean of the scores that decide.

    Parameters
    ----------
    edges : ndarray of int64 of shape (n_edges,)
        Edges of the histograms of the group.
    deciding : ndarray of int64 of shape (n_models, n_rows)
        One score a row with threshold members, one of each member otherwise.

    Returns
    -------
    ndarray of int of shape (n_rows,)
    """
    return np.searchsorted(edges, deciding.sum(axis=0) // len(deciding))


def enough_labels(rows: int) -> int:
    """Return how many labels of a group give an interval of `USEFUL_WIDTH`.

    This is for labels that are drawn plainly and for a prevalence of 1/2, where most
    are needed, so that it needs no model.

    Parameters
    ----------
    rows : int
        Rows of the group; of few rows, fewer labels do.

    Examples
    --------
    >>> enough_labels(1_000_000), enough_labels(40), enough_labels(5)
    (43, 21, 5)
    """
    of_many = 4 * ndtri(0.975) ** 2 * 0.25 / USEFUL_WIDTH**2
    return min(rows, max(ceil(of_many * rows / (of_many + rows)), FEWEST_LABELS))
