"""The cells of all columns of a table, and counting a table in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cape.columns._cells import FIRST, FOREIGN, MISSING, ColumnCells
from cape.columns._choose import choose_cells
from cape.columns._counts import ColumnCounts, few_names
from cape.columns._values import Column, column_names, take_column

__all__ = ["TableCells"]

_MOST_COLUMNS = 500


@dataclass(frozen=True, eq=False)
class TableCells:
    """The cells of all columns of a table.

    Parameters
    ----------
    columns : tuple of ColumnCells

    Examples
    --------
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50] * 10, "sex": ["F", "M"] * 20})
    >>> cells = TableCells.of(table)
    >>> [column.name for column in cells.columns]
    ['age', 'sex']
    >>> cells.count(table[:3]) + cells.count(table[3:]) == cells.count(table)
    True
    """

    columns: tuple[ColumnCells, ...]

    @classmethod
    def of(cls, X: Any) -> TableCells | None:
        """Choose the cells of a training table.

        Parameters
        ----------
        X : table
            From numpy, pandas or polars.

        Returns
        -------
        TableCells or None
            None if X has no columns that can be counted: a sparse matrix, or a list of
            texts. Of more than 500 columns the first 500 are counted.
        """
        names = column_names(X)
        if not names:
            return None
        columns = []
        for position, name in enumerate(names[:_MOST_COLUMNS]):
            columns.append(choose_cells(name, take_column(X, position)))
        return cls(tuple(columns))

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the cells of each column start, and where the last one ends."""
        sizes = [column.n_cells for column in self.columns]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(int)

    def of_column(self, counts: np.ndarray, place: int) -> np.ndarray:
        """Return the cells of one column.

        Parameters
        ----------
        counts : array
            The cells of all columns, one after the other.
        place : int
            Which column, from 0.
        """
        return counts[self.starts[place] : self.starts[place + 1]]

    def count(self, X: Any, weights: np.ndarray | None = None) -> ColumnCounts:
        """Count the rows of a table in the cells of every column.

        Parameters
        ----------
        X : table
            With the columns of training, in their order; of more than 500 the first
            500 are counted.
        weights : ndarray of shape (n_rows,), default=None
            Weights of training rows.

        Returns
        -------
        ColumnCounts
        """
        if weights is None and self._counts_by_edges(X):
            return ColumnCounts(self._count_numbers(X))
        counts: list[np.ndarray] = []
        unseen = {}
        for place, cells in enumerate(self.columns):
            codes, names = _codes(cells, take_column(X, place))
            counts.append(np.bincount(codes, weights, cells.n_cells))
            if names is not None:
                unseen[place] = names
        dtype = np.int64 if weights is None else np.float64
        joined = np.concatenate(counts) if counts else np.empty(0)
        return ColumnCounts(joined.astype(dtype), unseen)

    def nothing(self) -> ColumnCounts:
        """Return the counts of no rows, the zero of the addition."""
        return ColumnCounts(np.zeros(self.starts[-1], dtype=np.int64))

    def codes(self, X: Any) -> np.ndarray:
        """Return the cell of every value, one byte each.

        Parameters
        ----------
        X : table

        Returns
        -------
        ndarray of uint8 of shape (n_rows, n_columns)
        """
        codes = []
        for place, cells in enumerate(self.columns):
            found, _ = _codes(cells, take_column(X, place))
            codes.append(found.astype(np.uint8))
        return np.column_stack(codes)

    def to_json(self) -> str:
        """Write the cells as JSON text."""
        return json.dumps([column.to_json() for column in self.columns])

    @classmethod
    def from_json(cls, text: str) -> TableCells:
        """Read the text that `to_json` wrote."""
        return cls(tuple(ColumnCells.from_json(entry) for entry in json.loads(text)))

    # A model file holds the cells as one text: an array for each column would make it
    # ten times as large.
    def __getstate__(self) -> dict[str, str]:
        return {"cells": self.to_json()}

    def __setstate__(self, state: Mapping[str, str]) -> None:
        read = self.from_json(state["cells"])
        object.__setattr__(self, "columns", read.columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableCells):
            return NotImplemented
        return self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TableCells({len(self.columns)} columns, {self.starts[-1]} cells)"

    def _counts_by_edges(self, X: Any) -> bool:
        """Tell whether X is an array of numbers, and so were all columns."""
        is_array = type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiu"
        return is_array and all(column.is_number for column in self.columns)

    def _count_numbers(self, X: np.ndarray) -> np.ndarray:
        """Count an array: the fast twin of `count`.

        To compare a column with one edge at a time takes a third of the time of a
        search for the cell of each value.
        """
        counts = []
        with np.errstate(over="ignore", invalid="ignore"):
            # A sum is NaN if any of its terms is: cheaper than a look at every number.
            some_missing = bool(np.isnan(X.sum()))
            for place, cells in enumerate(self.columns):
                values = np.ascontiguousarray(X[:, place], dtype=np.float32)
                counts.append(_count_between(values, cells.edges, some_missing))
        return np.concatenate(counts)


def _count_between(
    values: np.ndarray, edges: np.ndarray, some_missing: bool
) -> np.ndarray:
    """Count numbers in the cells between edges, and those that are missing."""
    missing = 0
    if some_missing:
        missing = int(np.count_nonzero(np.isnan(values)))
    above = [np.count_nonzero(values >= edge) for edge in edges]
    from_below = np.array([len(values) - missing, *above, 0])
    return np.concatenate([[missing, 0], from_below[:-1] - from_below[1:]])


def _codes(
    cells: ColumnCells, values: Column
) -> tuple[np.ndarray, dict[str, int] | None]:
    """Find the cell of each value of a column, and the names of unseen levels."""
    codes = np.full(len(values), FOREIGN, dtype=np.intp)
    missing = values.missing
    names = None
    if cells.kind == "empty":
        pass
    elif cells.is_number and values.kind == cells.kind:
        codes = np.searchsorted(cells.edges, values.numbers, side="right") + FIRST
    elif not cells.is_number and values.is_text_like(cells.kind):
        codes, names = _level_codes(cells, values)
    codes[missing] = MISSING
    return codes, names


def _level_codes(
    cells: ColumnCells, values: Column
) -> tuple[np.ndarray, dict[str, int] | None]:
    """Find the cell of each text, and name the texts never seen in training."""
    place, distinct = values.levels()
    own = {level: FIRST + number for number, level in enumerate(cells.levels)}
    other = FIRST + len(cells.levels)
    of_level = np.empty(len(distinct) + 1, dtype=np.intp)
    of_level[-1] = MISSING
    is_unseen = []
    for number, level in enumerate(distinct):
        code = own.get(level)
        if code is None:
            code = other if cells.knows(level) else other + 1
        of_level[number] = code
        if code == other + 1:
            is_unseen.append(number)
    if not is_unseen:
        return of_level[place], None
    rows = np.bincount(place[place >= 0], minlength=len(distinct))
    names = {distinct[number]: int(rows[number]) for number in is_unseen}
    return of_level[place], few_names(names)
