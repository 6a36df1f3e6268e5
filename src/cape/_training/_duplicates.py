"""Rows that occur more than once, as copies do and independent people do not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from cape._groups import Groups
from cape._training._data import TrainingData
from cape._validation import (
    number_of_columns,
    number_of_rows,
    take_columns,
    take_rows,
)

__all__ = ["warn_of_duplicates"]

_MOST_COPIES = 0.02
"""Share of rows that may be copies of others. Intervals are 1 % too narrow by then."""

_NEARLY_ALL = 0.95
"""Share of distinct values from which on a column is taken for a continuous one."""

_ENOUGH_ROWS = 30
"""Different rows of a class: that all of them are copied by chance is ruled out."""

_SAMPLE = 2_000
"""Rows that are looked at before all rows are."""

_PROBE = 256
"""Rows in which the values of the columns are counted."""

_KEY_COLUMNS = 2
"""Columns by whose values the rows of the sample are picked."""


def warn_of_duplicates(data: TrainingData, groups: Groups) -> None:
    """Warn if many rows are copies of other rows.

    Every copy counts as one more person, so that intervals are too narrow; and a row
    that is in all folds is tested by learners that have seen it. Where all columns have
    few levels, independent people are often equal. Copies are told from them by a
    column whose values are nearly all distinct once every row is counted once, in rows
    whose value no other row has; or by the numbers in which the rows of a class occur,
    if all are multiples of one number.

    Parameters
    ----------
    data : TrainingData
    groups : Groups
        The groups of the rows.
    """
    if not data.is_table or hasattr(data.X, "toarray"):
        return
    # The columns of a list of rows cannot be picked.
    X = np.asarray(data.X) if isinstance(data.X, list) else data.X
    labels = 2 * groups.codes.astype(np.int64) + (data.y == data.positive)
    try:
        # The whole table is looked at only if a sample of it has copies.
        sample = _sample(X)
        if sample is not None:
            of_sample = labels[sample]
            if not _count_copies(take_rows(X, sample), of_sample):
                return
        n_repeated = _count_copies(X, labels)
    except TypeError:
        # Values that cannot be hashed, such as lists.
        return
    if n_repeated:
        warnings.warn(
            f"{n_repeated:,} of {len(groups):,} rows occur more than once, with the "
            "same label: intervals count every copy as one more row and will be too "
            "narrow. Leave the copies out, or give each row once with its number as "
            "sample_weight.",
            stacklevel=4,
        )


def _sample(X: Any) -> np.ndarray | None:
    """Pick rows by their values, so that all copies of a row are picked or none.

    The values are those of the columns that have most of them, in a few rows. None
    means all rows.
    """
    n_rows = number_of_rows(X)
    if n_rows <= _SAMPLE:
        return None
    # A stride, because tables are often sorted.
    probe = take_rows(X, np.arange(0, n_rows, n_rows // _PROBE))
    n_values = []
    for place in range(number_of_columns(X)):
        n_values.append(len(np.unique(_hashes(probe, place))))
    key_columns = np.argsort(n_values)[-_KEY_COLUMNS:]
    key = np.zeros(n_rows, dtype=np.uint64)
    for place in key_columns.tolist():
        key = _mixed(key, _hashes(X, place))
    return np.flatnonzero(key % np.uint64(n_rows // _SAMPLE + 1) == 0)


def _count_copies(X: Any, labels: np.ndarray) -> int:
    """Count the rows that occur more than once; 0 if they need not be copies."""
    hashes = labels.astype(np.uint64)
    for place in range(number_of_columns(X)):
        hashes = _mixed(hashes, _hashes(X, place))
    _, first, copies = np.unique(hashes, return_index=True, return_counts=True)
    n_rows = len(labels)
    if n_rows - len(first) <= _MOST_COPIES * n_rows:
        return 0
    # The last bit is the class; a class may be copied in one group or in all of them.
    by_group = _is_copied_whole(labels[first], copies)
    if by_group or _is_copied_whole(labels[first] % 2, copies):
        return int(copies[copies > 1].sum())
    unmistakable = _copies_of_measured(take_rows(X, first), copies)
    if (unmistakable - 1).sum() <= _MOST_COPIES * n_rows:
        return 0
    return int(unmistakable[unmistakable > 1].sum())


def _hashes(X: Any, place: int) -> np.ndarray:
    """Hash the values of a column of any kind; missing values are equal."""
    import pandas as pd

    # Twenty times as fast as what follows, which a logistic regression would feel.
    if type(X) is np.ndarray and X.dtype == np.float64:
        return _mixed_bits(np.ascontiguousarray(X[:, place]).view(np.uint64))
    column = take_columns(X, place)
    if not isinstance(column, pd.Series):
        column = pd.Series(np.asarray(column))
    return pd.util.hash_pandas_object(column, index=False).to_numpy()


def _mixed(hashes: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Combine two hashes of each row, so that their order matters."""
    return _mixed_bits(hashes ^ more)


def _mixed_bits(bits: np.ndarray) -> np.ndarray:
    """Spread every bit over all 64, as the last step of MurmurHash3 does."""
    # Round numbers differ in their first bits only, and a product carries upwards.
    bits = bits ^ (bits >> np.uint64(33))
    # It wraps around.
    bits = bits * np.uint64(0xFF51AFD7ED558CCD)
    return bits ^ (bits >> np.uint64(33))


def _is_copied_whole(labels: np.ndarray, copies: np.ndarray) -> bool:
    """Tell whether all rows of a class occur twice, or three times, or ...

    Of independent rows, about every second occurs an odd number of times: the chance
    that 30 different ones all occur an even number of times is 2^-30.
    """
    for label in np.unique(labels):
        of_class = copies[labels == label]
        if len(of_class) >= _ENOUGH_ROWS and np.gcd.reduce(of_class) > 1:
            return True
    return False


def _copies_of_measured(X: Any, copies: np.ndarray) -> np.ndarray:
    """Return how often those rows occur that a continuous column tells apart.

    Parameters
    ----------
    X : table
        Every row once.
    copies : ndarray of shape (n_rows,)
        How often each row occurs.

    Returns
    -------
    ndarray
        The numbers of the rows whose value in a continuous column no other row has.
        Rows without a value, or with a usual one such as 0, can be equal by chance.
        Empty if no column is continuous.
    """
    enough = _NEARLY_ALL * len(copies)
    best = copies[:0]
    for place in range(number_of_columns(X)):
        _, code, rows = np.unique(
            _hashes(X, place), return_inverse=True, return_counts=True
        )
        if len(rows) < enough:
            continue
        alone = copies[rows[code] == 1]
        if alone.sum() > best.sum():
            best = alone
    return best
