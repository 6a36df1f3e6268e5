"""Fairlearn's ExponentiatedGradient and ThresholdOptimizer behind our interface."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from cape._groups import check_groups, group_name
from cape._learners import fit_learner, weight_keyword
from cape._validation import (
    check_binary_labels,
    check_choice,
    check_is_fitted,
    take_rows,
)
from cape.compare._holdout import split_holdout
from cape.compare._max_acc import with_group_columns

__all__ = ["FairlearnReduction", "FairlearnThreshold"]

_CONSTRAINTS = ("demographic_parity", "equalized_odds")


class _Fairlearn(ClassifierMixin, BaseEstimator):
    """What both share: the group among the features, as in Max_Acc; labels 0 and 1 inside; seeded predictions."""

    def __init__(self, estimator, *, constraint="equalized_odds", random_state=0):
        self.estimator = estimator
        self.constraint = constraint
        self.random_state = random_state

    def fit(self, X, y, *, sensitive_features):
        """Train on labelled rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sensitive_features : array-like or table of n_samples rows

        Returns
        -------
        self
        """
        check_choice("constraint", self.constraint, _CONSTRAINTS)
        self.classes_, positive = check_binary_labels(y)
        groups = check_groups(sensitive_features)
        self.groups_ = groups.keys
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._fit(
                with_group_columns(X, sensitive_features, groups.keys),
                positive.astype(int),
                groups,
            )
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
        X = with_group_columns(X, sensitive_features, self.groups_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.classes_[
                self._predict(X, _names(check_groups(sensitive_features))).astype(int)
            ]


class FairlearnReduction(_Fairlearn):
    """Fairlearn's ExponentiatedGradient: a randomised mixture of reweighted learners.

    Parameters
    ----------
    estimator : estimator whose ``fit`` takes ``sample_weight``
    constraint : {"demographic_parity", "equalized_odds"}, default="equalized_odds"
    random_state : int, default=0
        Of its randomised predictions.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(1000, random_state=0)
    >>> clf = FairlearnReduction(LogisticRegression()).fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> clf.predict(d.data, sensitive_features=d.sensitive_features).shape
    (1000,)
    """

    def _fit(self, X, y, groups):
        from fairlearn.reductions import (
            DemographicParity,
            EqualizedOdds,
            ExponentiatedGradient,
        )

        parity = (
            DemographicParity()
            if self.constraint == "demographic_parity"
            else EqualizedOdds()
        )
        self.fitted_ = ExponentiatedGradient(
            self.estimator, parity, sample_weight_name=weight_keyword(self.estimator)
        )
        self.fitted_.fit(X, y, sensitive_features=_names(groups))

    def _predict(self, X, names):
        return self.fitted_.predict(X, random_state=self.random_state)


class FairlearnThreshold(_Fairlearn):
    """Fairlearn's ThresholdOptimizer, fitted on rows held out from the learner.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict_proba``
    constraint : {"demographic_parity", "equalized_odds"}, default="equalized_odds"
    random_state : int, default=0
        Of the rows held out and of its randomised predictions.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(1000, random_state=0)
    >>> clf = FairlearnThreshold(LogisticRegression()).fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> clf.predict(d.data, sensitive_features=d.sensitive_features).shape
    (1000,)
    """

    def _fit(self, X, y, groups):
        from fairlearn.postprocessing import ThresholdOptimizer

        learn, held_out = split_holdout(y, groups.codes, self.random_state)
        base = fit_learner(
            self.estimator, take_rows(X, learn), y[learn], seed=self.random_state
        )
        self.fitted_ = ThresholdOptimizer(
            estimator=base,
            constraints=self.constraint,
            prefit=True,
            predict_method="predict_proba",
        )
        self.fitted_.fit(
            take_rows(X, held_out),
            y[held_out],
            sensitive_features=take_rows(_names(groups), held_out),
        )

    def _predict(self, X, names):
        return self.fitted_.predict(
            X, sensitive_features=names, random_state=self.random_state
        )


def _names(groups):
    """The name of each row's group, since Fairlearn takes one column."""
    return np.array([group_name(key) for key in groups.keys])[groups.codes]
