"""A random sample of the rows of a table that is read in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from cape.base._errors import ParameterError

# Columns of a reservoir, which no file has.
_DRAW = "\0draw"
_SIZE = "\0size"

# A small data frame takes far more memory than its rows: after this many pieces, the
# pieces of a class are put together.
_MAX_PIECES = 20

# Names the stream of random numbers, beside its seed.
_STREAM = 2021


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
            raise ParameterError("most", f"must be at least 1, got {most!r}.")
        self.n_rows = 0
        self._groups = list(groups)
        self._label = label
        self._most = most
        # A stream of its own: a table may have been simulated with the same seed, and
        # its labels would then say which rows are drawn.
        self._random = np.random.default_rng([seed, _STREAM])
        # Rows with their draws, and a line with the size of each class.
        self._pieces: list[pd.DataFrame] = []
        self._sizes = pd.DataFrame()

    def add(self, part: pd.DataFrame) -> None:
        """Add the rows of a part.

        Parameters
        ----------
        part : DataFrame
            With the group columns and the label column.
        """
        # The index tells where a row was in the file, so that the sample can be sorted.
        part = part.set_axis(pd.RangeIndex(self.n_rows, self.n_rows + len(part)))
        self.n_rows += len(part)
        draws = self._random.random(len(part))
        self._pieces.append(part.assign(**{_DRAW: draws}))
        sizes = self._by_class(part).size().reset_index(name=_SIZE)
        if len(self._sizes):
            sizes = pd.concat([self._sizes, sizes])
        self._sizes = self._by_class(sizes)[_SIZE].sum().reset_index()
        # Sorting out at twice the number makes the cost of a row constant on average.
        limit = 2 * self._most * len(self._sizes)
        if sum(map(len, self._pieces)) > limit or len(self._pieces) > _MAX_PIECES:
            self._keep_smallest(np.full(len(self._sizes), self._most))

    def _by_class(self, rows: pd.DataFrame) -> Any:
        """Group rows by class, in an order that depends on the classes alone."""
        # Rows without a group or label are a class, too: the caller must find and count
        # them. Categories that do not occur are none.
        columns = [*self._groups, self._label]
        return rows.groupby(columns, dropna=False, observed=True)

    def sample(self) -> pd.DataFrame:
        """Return the sample.

        The classes of a group are cut to the same share, so that the prevalence of the
        group is that of the file.

        Returns
        -------
        DataFrame
            Its rows are in the order of the file, and its index tells where they were.
        """
        sizes = self._sizes[_SIZE]
        shares = (self._most / sizes).clip(upper=1)
        # The class that had to be cut most decides for its group; otherwise the
        # prevalence would move from that of the file.
        groups: Any = np.zeros(len(sizes))
        if self._groups:
            groups = [self._sizes[name] for name in self._groups]
        shares = shares.groupby(groups, dropna=False, observed=True).transform("min")
        # A rare label must not vanish from its group.
        kept = (shares * sizes).round().clip(lower=1)
        self._keep_smallest(kept.to_numpy())
        return self._pieces[0].drop(columns=_DRAW).sort_index()

    def _keep_smallest(self, sizes: np.ndarray) -> None:
        """Keep so many rows of each class, those that drew the smallest numbers."""
        rows = pd.concat(self._pieces)
        by_class = self._by_class(rows)
        ranks = by_class[_DRAW].rank(method="first")
        # Every class has rows left, so that the classes are those of the sizes.
        self._pieces = [rows[ranks <= sizes[by_class.ngroup()]]]
