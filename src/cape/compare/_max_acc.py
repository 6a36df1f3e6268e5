"""Max_Acc: one accuracy-maximising classifier on all rows, the group among its features."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from cape._groups import Group, check_groups
from cape._validation import check_is_fitted, check_same_length

__all__ = ["MaxAcc", "with_group_columns"]


class MaxAcc(ClassifierMixin, BaseEstimator):
    """The paper's baseline: the same learner, trained once on all groups, blind to any shift.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict``

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(1000, random_state=0)
    >>> clf = MaxAcc(LogisticRegression()).fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> clf.predict(d.data, sensitive_features=d.sensitive_features).shape
    (1000,)
    """

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y, *, sensitive_features):
        """Train on all rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sensitive_features : array-like or table of n_samples rows

        Returns
        -------
        self
        """
        self.groups_ = check_groups(sensitive_features).keys
        self.estimator_ = clone(self.estimator).fit(
            with_group_columns(X, sensitive_features, self.groups_), y
        )
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X, *, sensitive_features):
        """Predict labels.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        sensitive_features : array-like or table of n_samples rows

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.estimator_.predict(
            with_group_columns(X, sensitive_features, self.groups_)
        )


def with_group_columns(X, sensitive_features, known: list[Group]):
    """X with an indicator column for each known group but the first; a group not known has none.

    Examples
    --------
    >>> with_group_columns(np.array([[5.0], [6.0]]), ["a", "b"], ["a", "b"]).tolist()
    [[5.0, 0.0], [6.0, 1.0]]
    """
    groups = check_groups(sensitive_features)
    check_same_length(X=X, sensitive_features=groups)
    place = np.array(
        [known.index(key) if key in known else 0 for key in groups.keys], dtype=int
    )
    indicators = (place[groups.codes][:, None] == np.arange(1, len(known))).astype(
        float
    )
    if hasattr(X, "assign"):
        return X.assign(
            **{f"group_{i}": column for i, column in enumerate(indicators.T, 1)}
        )
    if sparse.issparse(X):
        return sparse.hstack([X, indicators]).tocsr()
    return np.column_stack([X, indicators])
