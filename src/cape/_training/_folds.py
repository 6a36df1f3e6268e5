"""How the rows of a group are split into folds."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from cape._training._data import TrainingData
from cape._validation import take_rows

__all__ = ["check_cv", "split_group"]


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


def split_group(
    data: TrainingData,
    index: np.ndarray | None,
    y: np.ndarray,
    cv: Any,
    seed: int,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split the rows of one group into folds, as positions within the group.

    A splitter splits the rows of the group; splits of all rows are cut down to them.
    """
    if isinstance(cv, Integral):
        # Stratified folds need a row of each class in every fold.
        is_positive = y == data.positive
        n_positive = np.count_nonzero(is_positive)
        smaller_class = min(n_positive, len(y) - n_positive)
        n_folds = min(int(cv), smaller_class)
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        return list(folds.split(is_positive, is_positive))
    if hasattr(cv, "split"):
        return list(cv.split(take_rows(data.X, index), y))
    if index is None:
        return cv
    return _cut_down(cv, index, len(data.y))


def _cut_down(
    splits: list[tuple[np.ndarray, np.ndarray]], index: np.ndarray, n_rows: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Keep of splits of all rows what belongs to one group."""
    # Row numbers of the table become positions within the group; -1 marks other groups.
    position = np.full(n_rows, -1)
    position[index] = np.arange(len(index))
    kept = []
    for train, test in splits:
        own_train = position[train][position[train] >= 0]
        own_test = position[test][position[test] >= 0]
        if len(own_train) and len(own_test):
            kept.append((own_train, own_test))
    return kept
