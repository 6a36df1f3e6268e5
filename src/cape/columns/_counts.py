"""Counts of the columns of a batch, which add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cape._json_fields import Fields

__all__ = ["ColumnCounts", "few_names"]

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
    >>> from cape.columns import TableCells
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
