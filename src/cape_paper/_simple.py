"""The paper's baselines that need no peer library: Max_Acc, CAPE-1, always positive."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from cape._validation import check_binary_labels, check_is_fitted, number_of_rows
from cape.classifier import CapeClassifier
from cape_paper._base import GroupMethod, add_group_columns

__all__ = ["AlwaysPositive", "CapeOne", "MaxAcc"]


class MaxAcc(GroupMethod):
    """One accuracy-maximising classifier on all rows, the group among its features.

    It is the baseline of the paper: CAPE's learner, trained once, which does not adapt
    to any shift.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict``
        The learner.

    Attributes
    ----------
    estimator_ : estimator
        The fitted learner.
    groups_ : list
        Groups seen in training.
    classes_ : ndarray
        Labels of ``estimator_``.

    Examples
    --------
    >>> model = MaxAcc(LogisticRegression())
    >>> z = train.sensitive_features
    >>> model = model.fit(train.data, train.target, sensitive_features=z)
    >>> model.predict(new.data, sensitive_features=new.sensitive_features).shape
    (1000,)
    """

    def __init__(self, estimator):
        self.estimator = estimator

    def _fit(self, X, y, groups):
        # The paper does not say what Max_Acc sees. CAPE's classifiers know the group,
        # since each belongs to one; so Max_Acc gets it too.
        self.groups_ = groups.keys
        features = add_group_columns(X, groups, self.groups_)
        self.estimator_ = clone(self.estimator).fit(features, y)
        self.classes_ = self.estimator_.classes_

    def _predict(self, X, groups):
        features = add_group_columns(X, groups, self.groups_)
        return self.estimator_.predict(features)


class CapeOne(CapeClassifier):
    """CAPE-1 of the paper: `CapeClassifier` with each row as a batch of its own.

    It takes the parameters of `CapeClassifier`.

    Examples
    --------
    >>> model = CapeOne(LogisticRegression(), pool="threshold", random_state=0)
    >>> z = train.sensitive_features
    >>> model = model.fit(train.data, train.target, sensitive_features=z)
    >>> model.predict(new.data[:1], sensitive_features=new.sensitive_features[:1])
    array([1])
    """

    def predict(self, X, *, sensitive_features=None):
        """Predict every row as `CapeClassifier.predict_individually` does.

        A prediction does not depend on the rows beside it.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        sensitive_features : array-like or table of n_samples rows, default=None
            The group of each row.

        Returns
        -------
        array of shape (n_samples,)
            The predicted labels.
        """
        # No adaptation is taken: with batches of one row there are as many as rows.
        return self.predict_individually(X, sensitive_features=sensitive_features)


class AlwaysPositive(ClassifierMixin, BaseEstimator):
    """Predict the positive label for every row: the sanity check of the paper's table.

    No error rate differs between groups, and yet PD is as large as it can be.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels; the second is the positive one.

    Examples
    --------
    >>> AlwaysPositive().fit([[0], [1]], [0, 1]).predict([[5], [6]]).tolist()
    [1, 1]
    """

    def fit(self, X, y, *, sensitive_features=None):
        """Learn which label is the positive one.

        Parameters
        ----------
        X : array-like
            Ignored.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sensitive_features : array-like, default=None
            Ignored.

        Returns
        -------
        self
        """
        # The greater of the two labels is positive, as in `CapeClassifier`.
        self.classes_, _ = check_binary_labels(y)
        return self

    def predict(self, X, *, sensitive_features=None):
        """Return the positive label for every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only the number of rows is used.
        sensitive_features : array-like, default=None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.full(number_of_rows(X), self.classes_[1])
