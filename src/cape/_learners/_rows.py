"""Rows of a table, copied out only if a learner needs a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from cape._validation import number_of_rows, take_rows

__all__ = ["Rows", "as_array"]


_NOT_GIVEN = object()
"""Stands for an argument that was not given, where None means something."""


class Rows:
    """Rows of a table that a learner is to read.

    Parameters
    ----------
    X : table
    index : ndarray of int, slice or None, default=None
        Which rows, in ascending order; None means all. A slice has a start and a stop.
    array : ndarray or None, optional
        What `as_array` returns for ``X``, if the caller knows it already.
    shared : SharedProducts or None, default=None
        Products of these rows that have been computed already.

    Examples
    --------
    >>> rows = Rows(np.arange(6.0).reshape(3, 2), np.array([0, 2]))
    >>> len(rows), rows.table().tolist()
    (2, [[0.0, 1.0], [4.0, 5.0]])
    """

    def __init__(
        self,
        X: Any,
        index: np.ndarray | slice | None = None,
        *,
        array: Any = _NOT_GIVEN,
        shared: Any = None,
    ):
        self.X = X
        self.index = index
        self.shared = shared
        self.array: np.ndarray | None = as_array(X) if array is _NOT_GIVEN else array

    @classmethod
    def of(cls, X: Any) -> Rows:
        """Wrap all rows of a table; leave `Rows` as they are."""
        if isinstance(X, cls):
            return X
        return cls(X)

    def __len__(self) -> int:
        if self.index is None:
            return number_of_rows(self.X)
        if isinstance(self.index, slice):
            return self.index.stop - self.index.start
        return len(self.index)

    def take(self, positions: np.ndarray) -> Rows:
        """Return some of these rows, by ascending positions."""
        index = positions
        if isinstance(self.index, slice):
            index = positions + self.index.start
        elif self.index is not None:
            index = self.index[positions]
        return Rows(self.X, index, array=self.array)

    def table(self) -> Any:
        """Return the rows as a table of the kind they came in."""
        return take_rows(self.X, self.index)

    def numbers_between(self, start: int, stop: int) -> np.ndarray:
        """Return the numbers of consecutive rows; a copy only if they are scattered.

        Only for rows that have an ``array``.
        """
        array: np.ndarray = self.array  # type: ignore[assignment]
        if self.index is None:
            return array[start:stop]
        if isinstance(self.index, slice):
            first = self.index.start
            return array[first + start : first + stop]
        wanted = self.index[start:stop]
        if array.flags.f_contiguous:
            # Tables of pandas lie column by column, and so are picked by column.
            return array.T.take(wanted, axis=1).T
        # Twice as fast as array[wanted].
        return array.take(wanted, axis=0)


def as_array(X: Any) -> np.ndarray | None:
    """Return the numbers of a table as a linear learner reads them.

    An array is returned as it is, and so is a data frame of one type.

    Parameters
    ----------
    X : table

    Returns
    -------
    ndarray of float32 or float64 of shape (n_rows, n_features), or None
        None for sparse tables and for tables that hold anything but numbers.

    Examples
    --------
    >>> as_array(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})) is None
    True
    """
    if hasattr(X, "dtypes") and hasattr(X, "to_numpy"):
        if not all(_is_number(dtype) for dtype in np.ravel(X.dtypes)):
            return None
        X = X.to_numpy()
    is_matrix = type(X) is np.ndarray and X.ndim == 2
    if is_matrix and X.dtype in (np.float32, np.float64):
        return X
    return None


def _is_number(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "fi"
