"""The cells of one column."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["FIRST", "FOREIGN", "MISSING", "ColumnCells", "hash_of"]

MISSING = 0
"""The cell of missing values, in every column."""

FOREIGN = 1
"""The cell of values of another kind than training had."""

FIRST = 2
"""The first of the cells of the column's own kind."""


@dataclass(frozen=True)
class ColumnCells:
    """The cells of one column.

    Parameters
    ----------
    name : str
    kind : {"number", "date", "text", "mixed", "empty"}
        What training held. Dates are numbers, in seconds. "mixed" is counted as text.
        "empty" had no value at all.
    edges : ndarray of float32, default=()
        Numbers and dates: cell i holds the values x with ``edges[i - 1] <= x <
        edges[i]``. The first and the last cell lie outside the training range.
    median, lowest, highest : float, default=nan
        Numbers and dates: median of training, its tenth smallest and its tenth largest
        value.
    levels : tuple of str, default=()
        Text: the levels with a cell of their own. The last two cells are for the other
        levels of training and for levels never seen.
    hashes : bytes, default=b""
        Text: a bit for the hash of each rare level of training, so that they are known
        again but cannot be read.
    unseen_rate : float, default=0.0
        Text: share of rows of a batch that is expected to have levels never seen, by
        the share of levels that training has seen once (Good and Turing 1953).

    Examples
    --------
    >>> from cape.columns import TableCells
    >>> cells = TableCells.of(pd.DataFrame({"sex": ["F", "M"] * 40}))
    >>> cells.columns[0].levels
    ('F', 'M')
    """

    name: str
    kind: str
    edges: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.float32))
    median: float = float("nan")
    lowest: float = float("nan")
    highest: float = float("nan")
    levels: tuple[str, ...] = ()
    hashes: bytes = b""
    unseen_rate: float = 0.0

    @property
    def is_number(self) -> bool:
        """Whether cells are intervals of numbers."""
        return self.kind in ("number", "date")

    @property
    def n_cells(self) -> int:
        """Number of cells, those for missing and foreign values included."""
        if self.is_number:
            return FIRST + len(self.edges) + 1
        if self.kind == "empty":
            return FIRST
        return FIRST + len(self.levels) + 2

    def knows(self, level: str) -> bool:
        """Tell whether a rare level was seen in training, by its hash.

        Unseen levels share a hash with a rare one now and then; none is named by it.

        Parameters
        ----------
        level : str
            A value of the column.

        Returns
        -------
        bool
        """
        bits = 8 * len(self.hashes)
        if bits == 0:
            return False
        bit = hash_of(level) % bits
        return bool(self.hashes[bit // 8] >> (bit % 8) & 1)

    def to_json(self) -> dict[str, Any]:
        """Return the cells as JSON can hold them."""
        content: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.is_number:
            content["edges"] = self.edges.tolist()
            content["range"] = [self.lowest, self.median, self.highest]
        else:
            content["levels"] = list(self.levels)
            content["hashes"] = self.hashes.hex()
            content["unseen_rate"] = self.unseen_rate
        return content

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ColumnCells:
        """Read what `to_json` returned."""
        unknown = float("nan")
        lowest, median, highest = content.get("range", [unknown] * 3)
        return cls(
            name=str(content["name"]),
            kind=str(content["kind"]),
            edges=np.array(content.get("edges", []), dtype=np.float32),
            median=float(median),
            lowest=float(lowest),
            highest=float(highest),
            levels=tuple(content.get("levels", ())),
            hashes=bytes.fromhex(content.get("hashes", "")),
            unseen_rate=float(content.get("unseen_rate", 0.0)),
        )


def hash_of(level: str) -> int:
    """Hash a level: the same number on every machine."""
    return zlib.crc32(level.encode("utf-8", "surrogatepass"))
