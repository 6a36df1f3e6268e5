"""Always positive: the paper's sanity row."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from cape._validation import check_binary_labels, check_is_fitted, number_of_rows

__all__ = ["AlwaysPositive"]


class AlwaysPositive(ClassifierMixin, BaseEstimator):
    """Calls every row positive: no difference in any error rate, and as unfair as can be by PD.

    Examples
    --------
    >>> AlwaysPositive().fit([[0], [1]], [0, 1]).predict([[5], [6]]).tolist()
    [1, 1]
    """

    def fit(self, X, y, *, sensitive_features=None):
        """Learn which label is the positive one.

        Parameters
        ----------
        X : ignored
        y : array-like of shape (n_samples,)
        sensitive_features : ignored

        Returns
        -------
        self
        """
        self.classes_, _ = check_binary_labels(y)
        return self

    def predict(self, X, *, sensitive_features=None):
        """The positive label, for every row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        sensitive_features : ignored

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.full(number_of_rows(X), self.classes_[1])
