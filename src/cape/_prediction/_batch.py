"""Rows to be predicted, and the model of every group that occurs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cape._group_model import GroupModel
from cape._groups import Group, Groups, split_groups
from cape._learners._scoring import (
    LinearStack,
    Rows,
    SharedProducts,
    as_array,
    stack_of_groups,
)
from cape._validation import (
    check_columns,
    check_fitted_cape,
    check_same_length,
    pickable,
)

__all__ = ["Batch", "batch_of"]


@dataclass(frozen=True)
class Batch:
    """Rows to be predicted, and the model of every group that occurs.

    Parameters
    ----------
    features : table
        What the learners read.
    array : ndarray or None
        The features as numbers; see `cape._learners.as_array`.
    groups : Groups
        The group of each row.
    models : mapping from group to GroupModel
        In the order of ``groups.keys``.
    stack : LinearStack or None, default=None
        The models of all groups, where one product with all of them pays.
    """

    features: Any
    array: np.ndarray | None
    groups: Groups
    models: Mapping[Group, GroupModel]
    stack: LinearStack | None = None

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def is_linear(self) -> bool:
        """Whether to score is to multiply matrices, in all groups."""
        return all(model.is_linear for model in self.models.values())

    def parts(self, piece: slice) -> Iterator[tuple[Group, Rows]]:
        """Yield the rows of each group within a piece of the batch."""
        if len(self.models) == 1:
            # Rows of a single group lie side by side: a slice copies nothing, and None
            # hands the learner the very table of the user.
            whole_batch = piece.stop - piece.start == len(self)
            index = None if whole_batch else piece
            yield self.groups.keys[0], self._rows(index)
            return
        shared = None
        if self.stack is not None and self.array is not None:
            shared = SharedProducts(self.array, piece, self.stack)
        rows_of_groups = self.groups.rows_between(piece.start, piece.stop)
        for group, positions in zip(self.groups.keys, rows_of_groups, strict=True):
            if len(positions):
                yield group, self._rows(positions + piece.start, shared)

    def _rows(self, index: np.ndarray | slice | None, shared: Any = None) -> Rows:
        return Rows(self.features, index, array=self.array, shared=shared)


def batch_of(clf: Any, X: Any, sensitive_features: Any) -> Batch:
    """Check rows to be predicted, and find their groups and the groups' models.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    X, sensitive_features
        As in ``clf.predict``.

    Returns
    -------
    Batch
    """
    check_fitted_cape(clf)
    has_groups = sensitive_features is not None or clf.group_columns is not None
    if clf.grouped_ and not has_groups:
        raise ValueError(
            "sensitive_features must be given: the model was fitted with groups, "
            "got None."
        )
    if has_groups and not clf.grouped_:
        raise ValueError(
            "sensitive_features must be None: the model was fitted without groups."
        )
    X = pickable(X)
    # Columns are compared before groups are split off: the group columns of X are among
    # the columns that `fit` has seen.
    check_columns(clf, X)
    features, groups = split_groups(X, sensitive_features, clf.group_columns)
    check_same_length(X=X, sensitive_features=groups)
    models = {group: clf.model_of(group, groups) for group in groups.keys}
    array = as_array(features)
    stack = stack_of_groups(
        [model.stack for model in models.values() if model.is_linear], array
    )
    return Batch(features, array, groups, models, stack)
