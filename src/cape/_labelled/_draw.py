"""Draw the rows to label: seeded, without replacement, from rows that come in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cape._labelled._strata import Strata

__all__ = ["DrawnRows", "RowDraw", "cells_of_rows"]


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
        self._kept = _Candidates.of(np.empty(0), *np.empty((4, 0), dtype=np.int64))

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
        new = _Candidates.of(numbers, rows, groups, strata, cells)
        self._kept = self._kept.joined(new).smallest(self._drawn)
        return self._probabilities[strata]

    def result(self) -> DrawnRows:
        """Return the rows that were drawn, when all rows have been added."""
        kept = self._kept
        # Row i of n_h comes after a share of i / n_h of every other stratum.
        turns = (kept.ranks() + kept.numbers) / self._drawn[kept.strata]
        order = np.lexsort((kept.rows, turns))
        strata = kept.strata[order]
        groups = kept.groups[order]
        return DrawnRows(
            rows=kept.rows[order],
            groups=groups,
            strata=strata - self._first[groups],
            cells=kept.cells[order],
            probabilities=self._probabilities[strata],
        )


@dataclass(frozen=True)
class _Candidates:
    """Rows that may be drawn, sorted by stratum and then by their random number."""

    numbers: np.ndarray
    rows: np.ndarray
    groups: np.ndarray
    strata: np.ndarray
    cells: np.ndarray

    @classmethod
    def of(
        cls,
        numbers: np.ndarray,
        rows: np.ndarray,
        groups: np.ndarray,
        strata: np.ndarray,
        cells: np.ndarray,
    ) -> _Candidates:
        order = np.lexsort((numbers, strata))
        columns = (numbers, rows, groups, strata, cells)
        return cls(*[column[order] for column in columns])

    def joined(self, other: _Candidates) -> _Candidates:
        columns = []
        for name in ("numbers", "rows", "groups", "strata", "cells"):
            columns.append(np.append(getattr(self, name), getattr(other, name)))
        return _Candidates.of(*columns)

    def smallest(self, most: np.ndarray) -> _Candidates:
        """Keep the rows of each stratum with the smallest numbers."""
        kept = self.ranks() < most[self.strata]
        columns = (self.numbers, self.rows, self.groups, self.strata, self.cells)
        return _Candidates.of(*[column[kept] for column in columns])

    def ranks(self) -> np.ndarray:
        """Return the place of each row in its stratum, from 0 on."""
        first = np.searchsorted(self.strata, self.strata)
        return np.arange(len(self.strata)) - first


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
