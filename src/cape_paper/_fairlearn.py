"""Fairlearn's ExponentiatedGradient and ThresholdOptimizer behind our interface."""

from __future__ import annotations

import warnings

import numpy as np

from cape._learners import fit_learner, weight_keyword
from cape._validation import check_binary_labels, check_choice, take_rows
from cape_paper._base import GroupMethod, add_group_columns, split_holdout

__all__ = ["FairlearnReduction", "FairlearnThreshold"]

_CONSTRAINTS = ("demographic_parity", "equalized_odds")


class _Fairlearn(GroupMethod):
    """The frame of both: group columns as in Max_Acc, labels 0 and 1 inside.

    A subclass implements ``_fit_peer(features, y, groups)`` and
    ``_predict_peer(features, names)``.
    """

    def __init__(self, estimator, *, constraint="equalized_odds", random_state=0):
        self.estimator = estimator
        self.constraint = constraint
        self.random_state = random_state

    def _fit(self, X, y, groups):
        check_choice("constraint", self.constraint, _CONSTRAINTS)
        self.classes_, positive = check_binary_labels(y)
        self.groups_ = groups.keys
        features = add_group_columns(X, groups, self.groups_)
        # Fairlearn warns about its own use of pandas and scikit-learn.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._fit_peer(features, positive.astype(int), groups)

    def _predict(self, X, groups):
        features = add_group_columns(X, groups, self.groups_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = self._predict_peer(features, _names(groups))
        return self.classes_[predicted.astype(int)]


class FairlearnReduction(_Fairlearn):
    """Fairlearn's ExponentiatedGradient: a randomised mixture of reweighted learners.

    Parameters
    ----------
    estimator : estimator whose ``fit`` takes ``sample_weight``
        The learner.
    constraint : {"demographic_parity", "equalized_odds"}, default="equalized_odds"
        What shall be equal between the groups.
    random_state : int, default=0
        Seed of its randomised predictions.

    Attributes
    ----------
    fitted_ : fairlearn.reductions.ExponentiatedGradient
        Fairlearn's fitted object.
    classes_ : ndarray of shape (2,)
        Labels.

    Examples
    --------
    >>> model = FairlearnReduction(LogisticRegression())
    >>> z = train.sensitive_features[:300]
    >>> model = model.fit(train.data[:300], train.target[:300], sensitive_features=z)
    >>> model.predict(new.data, sensitive_features=new.sensitive_features).shape
    (1000,)
    """

    def _fit_peer(self, features, y, groups):
        from fairlearn import reductions

        # Agarwal et al. (2018).
        parities = {
            "demographic_parity": reductions.DemographicParity,
            "equalized_odds": reductions.EqualizedOdds,
        }
        self.fitted_ = reductions.ExponentiatedGradient(
            self.estimator,
            parities[self.constraint](),
            # A pipeline takes weights under the name of its last step.
            sample_weight_name=weight_keyword(self.estimator),
        )
        self.fitted_.fit(features, y, sensitive_features=_names(groups))

    def _predict_peer(self, features, names):
        # The mixture draws one of its learners for every row; the group is not used.
        return self.fitted_.predict(features, random_state=self.random_state)


class FairlearnThreshold(_Fairlearn):
    """Fairlearn's ThresholdOptimizer, fitted on rows held out from the learner.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict_proba``
        The learner.
    constraint : {"demographic_parity", "equalized_odds"}, default="equalized_odds"
        What shall be equal between the groups.
    random_state : int, default=0
        Seed of the hold-out and of its randomised predictions.

    Attributes
    ----------
    fitted_ : fairlearn.postprocessing.ThresholdOptimizer
        Fairlearn's fitted object.
    classes_ : ndarray of shape (2,)
        Labels.

    Examples
    --------
    >>> model = FairlearnThreshold(LogisticRegression())
    >>> z = train.sensitive_features
    >>> model = model.fit(train.data, train.target, sensitive_features=z)
    >>> model.predict(new.data, sensitive_features=new.sensitive_features).shape
    (1000,)
    """

    def _fit_peer(self, features, y, groups):
        from fairlearn.postprocessing import ThresholdOptimizer

        # Hardt, Price and Srebro (2016).
        learn, held_out = split_holdout(y, groups.codes, self.random_state)
        learner = fit_learner(
            self.estimator,
            take_rows(features, learn),
            y[learn],
            seed=self.random_state,
        )
        self.fitted_ = ThresholdOptimizer(
            estimator=learner,
            constraints=self.constraint,
            # Otherwise it would train the learner again, on the rows held out.
            prefit=True,
            predict_method="predict_proba",
        )
        self.fitted_.fit(
            take_rows(features, held_out),
            y[held_out],
            sensitive_features=_names(groups)[held_out],
        )

    def _predict_peer(self, features, names):
        # Where no threshold meets the constraint it mixes two of them at random.
        return self.fitted_.predict(
            features, sensitive_features=names, random_state=self.random_state
        )


def _names(groups):
    """Name the group of every row, since Fairlearn takes one column."""
    # The repr tells 1 from "1", and names a group alike in every batch.
    names = [repr(key) for key in groups.keys]
    return np.array(names)[groups.codes]
