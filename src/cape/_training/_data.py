"""Labelled rows of all groups, and which groups are too small to be trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cape._groups import Group, Groups, group_name
from cape._validation import all_if_none, number_of_columns

__all__ = ["TrainingData", "find_small_groups", "kish_factor"]

_MOST_NAMES = 10


@dataclass(frozen=True)
class TrainingData:
    """Labelled rows of all groups.

    Parameters
    ----------
    X : table of n_rows rows
    y : ndarray of shape (n_rows,)
    classes : ndarray of shape (2,)
        The labels; the second is the positive one.
    weights : ndarray of shape (n_rows,) or None
    """

    X: Any
    y: np.ndarray
    classes: np.ndarray
    weights: np.ndarray | None

    @property
    def positive(self) -> Any:
        """The positive label."""
        return self.classes[1]

    @property
    def is_table(self) -> bool:
        """Whether X has columns; it may also be a list of texts or of dicts."""
        try:
            number_of_columns(self.X)
        except TypeError:
            return False
        return True

    @property
    def n_columns(self) -> int:
        """Columns of X; 1 if X is no table."""
        return number_of_columns(self.X) if self.is_table else 1

    def labels(self, rows: np.ndarray | None) -> np.ndarray:
        """Return the labels of the rows of a group; None means all rows."""
        return self.y[all_if_none(rows)]

    def prevalence(self, rows: np.ndarray | None) -> float:
        """Return the share of positives of a group, weighted if rows are."""
        is_positive = self.labels(rows) == self.positive
        return float(np.average(is_positive, weights=self.weights_of(rows)))

    def weights_of(self, rows: np.ndarray | None) -> np.ndarray | None:
        """Return the weights of the rows of a group, if there are any."""
        if self.weights is None:
            return None
        return self.weights[all_if_none(rows)]

    def worth_of(self, rows: np.ndarray) -> np.ndarray | None:
        """Return weights that add up to the number of rows that they are worth."""
        weights = self.weights_of(rows)
        return None if weights is None else weights * kish_factor(weights)


def kish_factor(weights: np.ndarray) -> float:
    """Return the factor that makes weights add up to the rows they are worth.

    That number is (sum w)^2 / sum w^2 (Kish 1965): intervals then count the noise that
    unequal weights add.
    """
    return float(weights.sum() / (weights @ weights))


def find_small_groups(
    data: TrainingData,
    groups: Groups,
    *,
    min_group_size: int,
    folds_needed: bool,
    may_pool: bool,
) -> set[Group]:
    """Find the groups that are too small for a pool of their own.

    Parameters
    ----------
    data : TrainingData
    groups : Groups
    min_group_size : int
    folds_needed : bool
        Whether every class needs two rows, for two folds.
    may_pool : bool
        Whether small groups may use the model of all groups together. If not, or if
        even that model would be too small, they are an error.

    Returns
    -------
    set of Group
    """

    def reason(rows: np.ndarray | None) -> str:
        return _why_too_small(data, rows, min_group_size, folds_needed)

    reasons = {}
    for group, rows in groups.rows():
        why = reason(rows)
        if why:
            reasons[group] = why
    # The pooled model is trained on all rows; it is no way out if they are too few.
    if reasons and (not may_pool or reason(None)):
        listed = [f"{group_name(group)!r} has {why}" for group, why in reasons.items()]
        if len(listed) > _MOST_NAMES:
            listed[_MOST_NAMES:] = [f"and {len(listed) - _MOST_NAMES} more"]
        raise ValueError(
            f"every group must have at least min_group_size={min_group_size} rows and "
            f"enough of each class, got: {'; '.join(listed)}. Lower min_group_size, "
            "merge groups, or use small_groups='pooled'."
        )
    return set(reasons)


def _why_too_small(
    data: TrainingData,
    rows: np.ndarray | None,
    min_group_size: int,
    folds_needed: bool,
) -> str:
    """Say why a group cannot have a pool of its own; empty if it can."""
    labels = data.labels(rows)
    weights = data.weights_of(rows)
    if weights is not None:
        # PP-SAMPLING never draws a row of weight 0.
        labels = labels[weights > 0]
    n_rows = len(labels)
    n_positive = int((labels == data.positive).sum())
    smaller_class = min(n_positive, n_rows - n_positive)
    if n_rows < min_group_size:
        return f"{n_rows} rows"
    if smaller_class == 0:
        return f"{n_rows} rows of one class only"
    if smaller_class == 1 and folds_needed:
        return f"{n_rows} rows with 1 of the smaller class, too few for 2 folds"
    return ""
