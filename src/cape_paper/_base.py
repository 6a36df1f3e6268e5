"""What the methods share: one interface, group columns and a hold-out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split

from cape._groups import Group, Groups, check_groups
from cape._validation import check_is_fitted, check_same_length

__all__ = [
    "HELD_OUT",
    "GroupMethod",
    "add_group_columns",
    "split_holdout",
    "with_group_columns",
]

HELD_OUT = 0.3
"""Share of the training rows that is held out for a post-processor."""


class GroupMethod(ClassifierMixin, BaseEstimator):
    """A classifier that needs the group of every row.

    A subclass implements ``_fit(X, y, groups)`` and ``_predict(X, groups)``; both get
    checked `Groups`. Labels are left to the subclass, since Max_Acc takes what its
    learner takes, and the peers take two classes.
    """

    def fit(self, X, y, *, sensitive_features):
        """Train on labelled rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Features, without the groups.
        y : array-like of shape (n_samples,)
            Labels.
        sensitive_features : array-like or DataFrame of n_samples rows
            The group of each row; the groups of several columns are the combinations
            of their values.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._fit(X, y, check_groups(sensitive_features))
        return self

    def predict(self, X, *, sensitive_features):
        """Predict the label of every row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Features, without the groups.
        sensitive_features : array-like or DataFrame of n_samples rows
            The group of each row.

        Returns
        -------
        ndarray of shape (n_samples,)
            Values of ``classes_``.
        """
        check_is_fitted(self)
        return self._predict(X, check_groups(sensitive_features))


def with_group_columns(X: Any, sensitive_features: Any, known: list[Group]) -> Any:
    """Add an indicator column for each known group but the first.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        Features; they are not changed.
    sensitive_features : array-like or DataFrame of n_samples rows
        The group of each row.
    known : list of groups
        Groups seen in training. A row of any other group has 0 in all indicators.

    Returns
    -------
    ndarray, sparse matrix or DataFrame of shape (n_samples, n_features + n_known - 1)
        Of the type of ``X``; in a DataFrame the new columns are ``group_1``, ...

    Examples
    --------
    >>> with_group_columns(np.array([[5.0], [6.0]]), ["a", "b"], ["a", "b"]).tolist()
    [[5.0, 0.0], [6.0, 1.0]]
    """
    return add_group_columns(X, check_groups(sensitive_features), known)


def add_group_columns(X: Any, groups: Groups, known: list[Group]) -> Any:
    """Do what `with_group_columns` does, given checked groups.

    Methods get checked groups from `GroupMethod`; checking them again would cost.
    """
    check_same_length(X=X, sensitive_features=groups)
    indicators = _indicators(groups, known)
    # The type stays, so that a learner which selects columns by name still can.
    if hasattr(X, "assign"):
        columns = {}
        for place, indicator in enumerate(indicators.T, 1):
            columns[f"group_{place}"] = indicator
        return X.assign(**columns)
    if sparse.issparse(X):
        # `hstack` may return the COO format, whose rows cannot be picked.
        return sparse.hstack([X, indicators]).tocsr()
    return np.column_stack([X, indicators])


def _indicators(groups: Groups, known: list[Group]) -> np.ndarray:
    """Return an array of shape (n_samples, n_known - 1) of zeros and ones."""
    # A group that training has not seen has place 0, that of the first known group: the
    # learner then knows nothing about it but its features.
    places = np.zeros(len(groups.keys), dtype=int)
    for code, key in enumerate(groups.keys):
        if key in known:
            places[code] = known.index(key)
    # The first group has no column: with one, the columns would always add up to 1,
    # and the coefficients of a linear learner would not be unique.
    others = np.arange(1, len(known))
    place_of_row = places[groups.codes]
    indicators = place_of_row[:, None] == others
    return indicators.astype(float)


def split_holdout(
    y: np.ndarray, codes: np.ndarray, random_state: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Split rows between a base learner and the post-processor of its scores.

    A post-processor that saw the learner's training rows would take its scores there
    for as good as on new rows. The split keeps the mix of groups and labels where
    every combination has two rows or more.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels 0 and 1.
    codes : ndarray of shape (n_samples,)
        The number of each row's group.
    random_state : int, RandomState or None
        Seed of the split.

    Returns
    -------
    learn, held_out : ndarray
        Indices of the rows, in ascending order.

    Examples
    --------
    >>> y, codes = np.tile([0, 1], 50), np.repeat([0, 1], 50)
    >>> learn, held_out = split_holdout(y, codes, random_state=0)
    >>> len(learn), len(held_out)
    (70, 30)
    """
    # One stratum for each combination of group and label.
    strata = 2 * np.asarray(codes, dtype=np.int64)
    strata = strata + np.asarray(y)
    _, sizes = np.unique(strata, return_counts=True)
    # scikit-learn needs two rows in every stratum, and a row of each on both sides.
    smaller_part = min(HELD_OUT, 1 - HELD_OUT) * len(strata)
    can_stratify = sizes.min() >= 2 and len(sizes) <= smaller_part
    learn, held_out = train_test_split(
        np.arange(len(strata)),
        test_size=HELD_OUT,
        random_state=random_state,
        stratify=strata if can_stratify else None,
    )
    # Ascending, so that the rows keep the order of the table.
    return np.sort(learn), np.sort(held_out)
