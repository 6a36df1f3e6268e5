"""The cells of all columns of a table, and their counts, which add up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from cape._columns._cells import (
    FIRST,
    FOREIGN,
    MISSING,
    Column,
    ColumnCells,
    choose_cells,
    column_names,
    take_column,
)
from cape._json_fields import Fields

_MOST_UNSEEN = 20
"""Distinct unseen values of a column that a batch names."""


@dataclass(frozen=True, eq=False)
class ColumnCounts:
    """How many rows fall into each cell of each column.

    Parameters
    ----------
    counts : ndarray of shape (n_cells_of_all_columns,)
        The cells of the columns, one column after the other: int64, or float64 if
        training rows are weighted.
    unseen : mapping from int to mapping from str to int, default={}
        For text columns, by position: values never seen in training and their rows.
        Empty for a column with more than 20 of them.

    Examples
    --------
    >>> from cape._columns import TableCells
    >>> cells = TableCells.of(pd.DataFrame({"sex": ["F", "M"] * 40}))
    >>> batch = cells.count(pd.DataFrame({"sex": ["F", "male", None]}))
    >>> batch.counts.tolist(), batch.unseen
    ([1, 0, 1, 0, 0, 1], {0: {'male': 1}})
    """

    counts: np.ndarray
    unseen: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

    def __add__(self, other: ColumnCounts) -> ColumnCounts:
        self._check_fits(other)
        unseen = {}
        for column in sorted({*self.unseen, *other.unseen}):
            unseen[column] = _add_names(
                self.unseen.get(column), other.unseen.get(column)
            )
        return ColumnCounts(self.counts + other.counts, unseen)

    def __sub__(self, other: ColumnCounts) -> ColumnCounts:
        self._check_fits(other)
        counts = self.counts - other.counts
        if (counts < 0).any():
            raise ValueError("cannot take away rows that were never added.")
        unseen = {}
        for column, names in self.unseen.items():
            left = _subtract_names(names, other.unseen.get(column, {}))
            if left or not names:
                unseen[column] = left
        return ColumnCounts(counts, unseen)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ColumnCounts):
            return NotImplemented
        same_counts = np.array_equal(self.counts, other.counts)
        return same_counts and self.unseen == other.unseen

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON can hold them."""
        unseen = []
        for column, names in self.unseen.items():
            unseen.append({"column": column, "names": dict(names)})
        return {"counts": self.counts.tolist(), "unseen": unseen}

    @classmethod
    def from_json(cls, content: Fields) -> ColumnCounts:
        """Read what `to_json` returned."""
        unseen = {}
        for entry in content.entries("unseen"):
            column = entry.whole("column")
            names = entry.fields("names")
            unseen[column] = {name: names.whole(name, least=1) for name in names}
        return cls(content.whole_numbers("counts"), unseen)

    def _check_fits(self, other: ColumnCounts) -> None:
        if len(self.counts) != len(other.counts):
            raise ValueError("column counts must have the same cells to add up.")


def _add_names(
    one: Mapping[str, int] | None, other: Mapping[str, int] | None
) -> dict[str, int]:
    """Add up the rows of unseen values; more than 20 values are not named."""
    if one is None or other is None:
        return dict(one or other or {})
    # An empty mapping stands for "too many to name".
    if not one or not other:
        return {}
    total = dict(one)
    for name, rows in other.items():
        total[name] = total.get(name, 0) + rows
    return few_names(total)


def few_names(names: Mapping[str, int]) -> dict[str, int]:
    if len(names) > _MOST_UNSEEN:
        return {}
    return {name: names[name] for name in sorted(names)}


def _subtract_names(names: Mapping[str, int], gone: Mapping[str, int]) -> dict:
    left = {}
    for name, rows in names.items():
        if rows > gone.get(name, 0):
            left[name] = rows - gone.get(name, 0)
    return left


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
