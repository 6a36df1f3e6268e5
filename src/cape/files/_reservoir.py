"""A random sample of the rows of a file of any length, in one pass."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

__all__ = ["Reservoir"]

# A small data frame takes far more memory than its rows: after this many pieces, the
# pieces of a class are put together.
_MAX_PIECES = 20

_Key = tuple[Hashable, ...]


class Reservoir:
    """A uniform sample of the rows of each class: each combination of group and label.

    PP-SAMPLING draws from the classes one by one, so that a sample of each is all it
    needs. Every row draws a random number, and a class keeps the rows with the ``most``
    smallest numbers. Numbers are drawn in the order of rows; the sample therefore does
    not depend on how the file is cut into parts, and a table that is small enough comes
    out whole, in its order.

    Parameters
    ----------
    groups : sequence of str
        Group columns.
    label : str
        Label column.
    most : int
        How many rows of a class are kept.
    seed : int, default=0
        Seed of the random numbers.

    Attributes
    ----------
    n_rows : int
        Rows that were added.

    Examples
    --------
    >>> reservoir = Reservoir(["z"], "y", most=100)
    >>> part = pd.DataFrame({"x": range(1000), "z": "a", "y": [0, 1, 1, 1] * 250})
    >>> for _ in range(10):
    ...     reservoir.add(part)
    >>> reservoir.n_rows, reservoir.sample()["y"].value_counts().to_dict()
    (10000, {1: 100, 0: 33})
    """

    def __init__(self, groups: Sequence[str], label: str, *, most: int, seed: int = 0):
        if most < 1:
            raise ValueError(f"most must be at least 1, got {most!r}.")
        self.n_rows = 0
        self._columns = [*groups, label]
        self._most = most
        self._random = np.random.default_rng(seed)
        self._classes: dict[_Key, _ClassSample] = {}

    def add(self, part: pd.DataFrame) -> None:
        """Add the rows of a part.

        Parameters
        ----------
        part : DataFrame
            With the group columns and the label column.
        """
        stop = self.n_rows + len(part)
        # The index tells where a row was in the file, so that the sample can be sorted.
        part = part.set_axis(pd.RangeIndex(self.n_rows, stop))
        self.n_rows = stop
        draws = self._random.random(len(part))
        # Rows without a group or label are a class, too: the caller must find and count
        # them. Categories that do not occur are none.
        by_class = part.groupby(self._columns, dropna=False, observed=True, sort=False)
        codes = by_class.ngroup().to_numpy()
        for code, first_row in zip(*np.unique(codes, return_index=True), strict=True):
            key = self._key(part, first_row)
            if key not in self._classes:
                self._classes[key] = _ClassSample(self._most)
            rows = np.flatnonzero(codes == code)
            self._classes[key].add(part, rows, draws[rows])

    def _key(self, part: pd.DataFrame, row: int) -> _Key:
        """Return the group and label of a row; a missing value is None.

        NaN differs from itself, and would be a new class in each part.
        """
        values = part[self._columns].iloc[row].astype(object)
        return tuple(values.where(values.notna(), None))

    def labels(self) -> set[Hashable]:
        """Return the labels of all rows that were added."""
        return {key[-1] for key in self._classes}

    def sample(self) -> pd.DataFrame:
        """Return the sample.

        The classes of a group are cut to the same share, so that the prevalence of the
        group is that of the file.

        Returns
        -------
        DataFrame
            Its rows are in the order of the file, and its index tells where they were.
        """
        if not self._classes:
            return pd.DataFrame(columns=self._columns)
        # The class that had to be cut most decides for its group; otherwise the
        # prevalence would move from that of the file.
        shares: dict[_Key, float] = {}
        for key, rows in self._classes.items():
            group = key[:-1]
            shares[group] = min(shares.get(group, 1.0), rows.max_share)
        samples = []
        for key, rows in self._classes.items():
            samples.append(rows.take(shares[key[:-1]]))
        return pd.concat(samples).sort_index()


class _ClassSample:
    """The rows of one class that drew the smallest numbers.

    Parameters
    ----------
    most : int
        How many rows are kept.
    """

    def __init__(self, most: int):
        self.most = most
        self.n_rows = 0
        self._limit = 1.0  # rows that drew more can no longer be among the smallest
        self._pieces: list[pd.DataFrame] = []
        self._draws: list[np.ndarray] = []

    @property
    def max_share(self) -> float:
        """The largest share of all rows that can be taken."""
        return min(self.most / self.n_rows, 1.0)

    def add(self, part: pd.DataFrame, rows: np.ndarray, draws: np.ndarray) -> None:
        """Add rows of a part, by their places, with the numbers that they drew."""
        self.n_rows += len(rows)
        candidates = draws < self._limit
        if candidates.any():
            self._pieces.append(part.iloc[rows[candidates]])
            self._draws.append(draws[candidates])
        n_kept = sum(map(len, self._draws))
        # Sorting out at twice the number makes the cost of a row constant on average.
        if n_kept > 2 * self.most or len(self._pieces) > _MAX_PIECES:
            self._keep_smallest(self.most)

    def take(self, share: float) -> pd.DataFrame:
        """Return a share of all rows that were added, but at least one row."""
        # A rare label must not vanish from its group.
        self._keep_smallest(max(round(share * self.n_rows), 1))
        return self._pieces[0]

    def _keep_smallest(self, most: int) -> None:
        """Put the pieces together and keep the rows that drew the smallest numbers."""
        rows = pd.concat(self._pieces)
        draws = np.concatenate(self._draws)
        if len(draws) > most:
            smallest = np.argpartition(draws, most - 1)[:most]
            rows = rows.iloc[smallest]
            draws = draws[smallest]
            self._limit = float(draws.max())
        self._pieces = [rows]
        self._draws = [draws]
