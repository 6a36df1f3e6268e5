"""Some rows of each group and label from a file of any length, in one pass and bounded memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

__all__ = ["Reservoir"]

_MANY_PARTS = 20
"""Pieces of a bin that are then put together: a small one takes more memory than its rows."""


class Reservoir:
    """A uniform sample of the rows of each group and label.

    PP-SAMPLING needs no more than a sample of each. Every row draws a number, and of each group and label the rows with
    the ``most`` smallest stay; so the sample does not depend on how the file is cut into parts, and a table that is
    small enough comes out whole, in its order. `sample` keeps the same share of a group's labels, so that its
    prevalence is that of the file.

    Parameters
    ----------
    groups : sequence of str
        Group columns.
    label : str
        Label column.
    most : int
        Rows of each group and label.
    seed : int, default=0

    Examples
    --------
    >>> reservoir = Reservoir(["z"], "y", most=100)
    >>> for part in range(10):
    ...     reservoir.add(pd.DataFrame({"x": range(1000), "z": "a", "y": [0, 1, 1, 1] * 250}))
    >>> reservoir.seen, reservoir.sample()["y"].value_counts().to_dict()
    (10000, {1: 100, 0: 33})
    """

    def __init__(self, groups: Sequence[str], label: str, *, most: int, seed: int = 0):
        if most < 1:
            raise ValueError(f"most must be at least 1, got {most!r}.")
        self._columns = [*groups, label]
        self._random = np.random.default_rng(seed)
        self._bins: dict[tuple[Hashable, ...], _Bin] = defaultdict(lambda: _Bin(most))
        self.seen = 0

    def add(self, part: pd.DataFrame) -> None:
        """Let the rows of a part in."""
        part = part.set_axis(pd.RangeIndex(self.seen, self.seen + len(part)))
        self.seen += len(part)
        luck = self._random.random(len(part))
        codes = (
            part.groupby(self._columns, dropna=False, observed=True, sort=False)
            .ngroup()
            .to_numpy()
        )
        for code, first in zip(*np.unique(codes, return_index=True), strict=True):
            key = tuple(
                None if pd.isna(value) else value
                for value in part[self._columns].iloc[first]
            )
            rows = np.flatnonzero(codes == code)
            self._bins[key].add(part, rows, luck[rows])

    def labels(self) -> set[Hashable]:
        """The labels seen so far."""
        return {key[-1] for key in self._bins}

    def sample(self) -> pd.DataFrame:
        """The rows kept, in the order of the file."""
        share: dict[tuple[Hashable, ...], float] = defaultdict(lambda: 1.0)
        for key, kept in self._bins.items():
            share[key[:-1]] = min(share[key[:-1]], kept.share)
        parts = [kept.take(share[key[:-1]]) for key, kept in self._bins.items()]
        return (
            pd.concat(parts).sort_index()
            if parts
            else pd.DataFrame(columns=self._columns)
        )


class _Bin:
    """The luckiest rows of one group and label."""

    def __init__(self, most: int):
        self.most = most
        self.seen = 0
        self._limit = 1.0  # rows that drew more have no chance any longer
        self._parts: list[pd.DataFrame] = []
        self._luck: list[np.ndarray] = []

    @property
    def share(self) -> float:
        return min(self.most / self.seen, 1.0)

    def add(self, part: pd.DataFrame, rows: np.ndarray, luck: np.ndarray) -> None:
        self.seen += len(rows)
        lucky = luck < self._limit
        if lucky.any():
            self._parts.append(part.iloc[rows[lucky]])
            self._luck.append(luck[lucky])
        if sum(map(len, self._luck)) > 2 * self.most or len(self._parts) > _MANY_PARTS:
            self._keep(self.most)

    def take(self, share: float) -> pd.DataFrame:
        """As many rows as the share of all those seen."""
        self._keep(max(round(share * self.seen), 1))
        return self._parts[0]

    def _keep(self, most: int) -> None:
        part, luck = pd.concat(self._parts), np.concatenate(self._luck)
        if len(luck) > most:
            order = np.argpartition(luck, most - 1)[:most]
            part, luck = part.iloc[order], luck[order]
            self._limit = float(luck.max())
        self._parts, self._luck = [part], [luck]
