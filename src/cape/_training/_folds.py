"""How the rows of a learner are split into folds."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from cape._training._data import TrainingData
from cape._validation import take_rows

__all__ = ["Split", "check_cv", "hold_out", "split_rows"]

Split = tuple[np.ndarray, np.ndarray]


def split_rows(
    data: TrainingData,
    index: np.ndarray | None,
    strata: np.ndarray,
    cv: Any,
    seed: int,
) -> list[Split]:
    """Split the rows of one learner into folds, as positions within these rows.

    A splitter splits these rows; given splits of all rows are cut down to them.

    Parameters
    ----------
    data : TrainingData
    index : ndarray of int or None
        The rows; None means all.
    strata : ndarray of int
        What every fold should hold in the same shares: labels, or groups and labels.
    cv : int, splitter or list of splits
    seed : int

    Returns
    -------
    list of pairs of ndarray
        Rows to train on, and rows to score.
    """
    y = data.labels(index)
    if isinstance(cv, Integral):
        # Stratified folds need a row of each class in every fold.
        n_positive = np.count_nonzero(y == data.positive)
        smaller_class = min(n_positive, len(y) - n_positive)
        n_folds = min(int(cv), smaller_class)
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            # A group may have fewer rows of a class than there are folds: each of them
            # is still tested once.
            warnings.simplefilter("ignore", UserWarning)
            return list(folds.split(strata, strata))
    if hasattr(cv, "split"):
        return list(cv.split(take_rows(data.X, index), y))
    if index is None:
        return cv
    return _cut_down(cv, index, len(data.y))


def hold_out(strata: np.ndarray, share: float, seed: int) -> Split:
    """Split rows once, holding out a share of every stratum.

    Parameters
    ----------
    strata : ndarray of int
    share : float in (0, 1)
    seed : int

    Returns
    -------
    train, test : ndarray
        Positions, in ascending order.
    """
    # scikit-learn's stratified split would take a quarter of the whole training of a
    # logistic regression on 100,000 rows.
    shuffled = np.random.RandomState(seed).permutation(len(strata))
    # Integers of at most 16 bits are sorted in linear time.
    short = strata.astype(np.min_scalar_type(int(strata.max())))
    by_stratum = shuffled[np.argsort(short[shuffled], kind="stable")]
    sizes = np.bincount(strata)
    sizes = sizes[sizes > 0]
    ends = np.cumsum(sizes)
    rank = np.arange(len(strata)) - np.repeat(ends - sizes, sizes)
    n_held_out = np.clip(np.round(share * sizes), 1, np.maximum(sizes - 1, 1))
    is_held_out = rank < np.repeat(n_held_out, sizes)
    return np.sort(by_stratum[~is_held_out]), np.sort(by_stratum[is_held_out])


def _cut_down(splits: list[Split], index: np.ndarray, n_rows: int) -> list[Split]:
    """Keep of splits of all rows what belongs to one learner."""
    # Row numbers of the table become positions; -1 marks the rows of other learners.
    position = np.full(n_rows, -1)
    position[index] = np.arange(len(index))
    kept = []
    for train, test in splits:
        own_train = position[train][position[train] >= 0]
        own_test = position[test][position[test] >= 0]
        if len(own_train) and len(own_test):
            kept.append((own_train, own_test))
    return kept


def check_cv(cv: Any, n_rows: int) -> Any:
    """Check the parameter ``cv``.

    Returns
    -------
    int, "prefit", splitter or list of splits
        Splits are pairs of arrays of row numbers.
    """
    if cv is None:
        return 10
    if isinstance(cv, (Integral, str)) or hasattr(cv, "split"):
        return cv
    splits = []
    numbers = np.empty(0)
    try:
        for train, test in cv:
            splits.append((np.asarray(train), np.asarray(test)))
        numbers = np.concatenate([np.concatenate(split) for split in splits])
    except (TypeError, ValueError):
        # What is no list of pairs of row numbers is refused below, in words.
        pass
    is_good = numbers.dtype.kind in "iu" and len(numbers) > 0
    if not is_good or numbers.min() < 0 or numbers.max() >= n_rows:
        raise ValueError(
            "cv must be a number of folds, a splitter or pairs of row numbers from 0 "
            f"to {n_rows - 1}, got {cv!r}."
        )
    return splits
