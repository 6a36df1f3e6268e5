"""AIF360's fair classifiers, each as a scikit-learn classifier with ``sensitive_features``."""

from __future__ import annotations

import os
from unittest import mock

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import StandardScaler

from cape._groups import check_groups
from cape._learners import fit_learner
from cape._validation import (
    check_binary_labels,
    check_choice,
    check_is_fitted,
    check_same_length,
)
from cape.compare._aif360 import (
    SIDES,
    Bridge,
    algorithm,
    old_normal_density,
    undisturbed,
)
from cape.compare._holdout import split_holdout

__all__ = [
    "AdversarialDebiasing",
    "CalibratedEqOdds",
    "MetaFair",
    "RejectOption",
    "Reweighing",
]


class _Aif360(ClassifierMixin, BaseEstimator):
    """The frame: our rows to AIF360's words, the method, and its favourable labels back to ours."""

    def fit(self, X, y, *, sensitive_features):
        """Train on labelled rows.

        Parameters
        ----------
        X : table of numbers of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sensitive_features : array-like or table of n_samples rows

        Returns
        -------
        self
        """
        check_choice("favourable", self.favourable, ("positive", "negative"))
        check_same_length(X=X, y=y, sensitive_features=sensitive_features)
        classes, positive = check_binary_labels(y)
        groups = check_groups(sensitive_features)
        if len(groups.keys) < 2:
            raise ValueError(
                f"sensitive_features must have two groups at least, got {groups.keys}."
            )
        favourable = (positive if self.favourable == "positive" else ~positive).astype(
            int
        )
        bridge = Bridge.of(favourable, groups)
        with undisturbed():
            self._fit(bridge, bridge.features(X, groups), favourable)
        self.classes_, self.bridge_ = classes, bridge
        return self

    def predict(self, X, *, sensitive_features):
        """Predict labels.

        Parameters
        ----------
        X : table of numbers of shape (n_samples, n_features)
        sensitive_features : array-like or table of n_samples rows

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        check_same_length(X=X, sensitive_features=sensitive_features)
        features = self.bridge_.features(X, check_groups(sensitive_features))
        with undisturbed():
            favourable = np.ravel(self._predict(self.bridge_, features)) > 0.5
        return self.classes_[
            (favourable if self.favourable == "positive" else ~favourable).astype(int)
        ]


class Reweighing(_Aif360):
    """AIF360's Reweighing: weights that make group and label independent, then the learner.

    Parameters
    ----------
    estimator : estimator whose ``fit`` takes ``sample_weight``
    favourable : {"positive", "negative"}, default="positive"
        Which label AIF360 is told is the favourable one.
    random_state : int, default=0
        Of the learner.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(1000, prevalences=(0.3, 0.6), random_state=0)
    >>> clf = Reweighing(LogisticRegression()).fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> clf.predict(d.data, sensitive_features=d.sensitive_features).shape
    (1000,)
    """

    def __init__(self, estimator, *, favourable="positive", random_state=0):
        self.estimator = estimator
        self.favourable = favourable
        self.random_state = random_state

    def _fit(self, bridge, features, favourable):
        weights = algorithm("preprocessing", "Reweighing")(**SIDES)
        weighted = weights.fit_transform(
            bridge.dataset(features, favourable)
        ).instance_weights
        self.base_ = fit_learner(
            self.estimator,
            features,
            favourable,
            weights=weighted,
            seed=self.random_state,
        )

    def _predict(self, bridge, features):
        return self.base_.predict(features)


class MetaFair(_Aif360):
    """AIF360's MetaFairClassifier, made to run with today's scipy (see `cape.compare._singular`).

    It has a model of its own, so the base learner is not used.

    Parameters
    ----------
    kind : {"sr", "fdr"}, default="sr"
        Statistical rate or false discovery rate.
    tau : float, default=0.8
        The paper's.
    favourable : {"positive", "negative"}, default="positive"
    random_state : int, default=0
        Of the points it samples. It samples few: look at many seeds.

    Examples
    --------
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(500, prevalences=(0.3, 0.6), random_state=0)
    >>> clf = MetaFair().fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> clf.predict(d.data, sensitive_features=d.sensitive_features).shape
    (500,)
    """

    def __init__(self, kind="sr", *, tau=0.8, favourable="positive", random_state=0):
        self.kind = kind
        self.tau = tau
        self.favourable = favourable
        self.random_state = random_state

    def _fit(self, bridge, features, favourable):
        meta = algorithm("inprocessing", "MetaFairClassifier")
        with old_normal_density():
            self.base_ = meta(
                tau=self.tau,
                sensitive_attr="privileged",
                type=self.kind,
                seed=self.random_state,
            ).fit(bridge.dataset(features, favourable))

    def _predict(self, bridge, features):
        return self.base_.predict(bridge.dataset(features)).labels


class _PostProcessor(_Aif360):
    """Trains the learner on part of the rows and the post-processor on the rows held out."""

    def _fit(self, bridge, features, favourable):
        privileged = features[:, -1].astype(int)
        learn, held_out = split_holdout(favourable, privileged, self.random_state)
        self.base_ = fit_learner(
            self.estimator, features[learn], favourable[learn], seed=self.random_state
        )
        truth = bridge.dataset(features[held_out], favourable[held_out])
        self.post_ = self._post_processor().fit(
            truth, self._scored(bridge, features[held_out])
        )

    def _scored(self, bridge, features):
        scores = self.base_.predict_proba(features)[:, 1]
        return bridge.dataset(features, scores > 0.5, scores)

    def _predict(self, bridge, features):
        return self.post_.predict(self._scored(bridge, features)).labels


class CalibratedEqOdds(_PostProcessor):
    """AIF360's CalibratedEqOddsPostprocessing, fitted on rows held out from the learner.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict_proba``
    cost : {"fpr", "fnr", "weighted"}, default="weighted"
        The cost that the groups shall share.
    favourable : {"positive", "negative"}, default="positive"
    random_state : int, default=0
        Of the rows held out and of its randomised predictions.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(1000, prevalences=(0.3, 0.6), random_state=0)
    >>> clf = CalibratedEqOdds(LogisticRegression()).fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> clf.predict(d.data, sensitive_features=d.sensitive_features).shape
    (1000,)
    """

    def __init__(
        self, estimator, *, cost="weighted", favourable="positive", random_state=0
    ):
        self.estimator = estimator
        self.cost = cost
        self.favourable = favourable
        self.random_state = random_state

    def _post_processor(self):
        check_choice("cost", self.cost, ("fpr", "fnr", "weighted"))
        post = algorithm("postprocessing", "CalibratedEqOddsPostprocessing")
        return post(**SIDES, cost_constraint=self.cost, seed=self.random_state)


_METRICS = {
    "spd": "Statistical parity difference",
    "aod": "Average odds difference",
    "eod": "Equal opportunity difference",
}


class RejectOption(_PostProcessor):
    """AIF360's RejectOptionClassification with its own grid and bounds, fitted on rows held out from the learner.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict_proba``
    metric : {"spd", "aod", "eod"}, default="spd"
        Statistical parity, average odds or equal opportunity difference.
    favourable : {"positive", "negative"}, default="positive"
    random_state : int, default=0
        Of the rows held out.
    thresholds, margins : int, default=100 and 50
        Size of its grid; AIF360's own.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(500, prevalences=(0.3, 0.6), random_state=0)
    >>> clf = RejectOption(LogisticRegression(), thresholds=5, margins=4)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> clf.predict(d.data, sensitive_features=d.sensitive_features).shape
    (500,)
    """

    def __init__(
        self,
        estimator,
        *,
        metric="spd",
        favourable="positive",
        random_state=0,
        thresholds=100,
        margins=50,
    ):
        self.estimator = estimator
        self.metric = metric
        self.favourable = favourable
        self.random_state = random_state
        self.thresholds = thresholds
        self.margins = margins

    def _post_processor(self):
        check_choice("metric", self.metric, tuple(_METRICS))
        post = algorithm("postprocessing", "RejectOptionClassification")
        return post(
            **SIDES,
            metric_name=_METRICS[self.metric],
            num_class_thresh=self.thresholds,
            num_ROC_margin=self.margins,
        )


class AdversarialDebiasing(_Aif360):
    """AIF360's AdversarialDebiasing (the name is theirs), which needs TensorFlow.

    It trains a network of its own, so the base learner is not used; features are scaled to mean 0 and variance 1.

    Parameters
    ----------
    favourable : {"positive", "negative"}, default="positive"
    random_state : int, default=0
    num_epochs : int, default=50
        AIF360's own.

    Examples
    --------
    >>> AdversarialDebiasing(random_state=1)
    AdversarialDebiasing(random_state=1)
    """

    def __init__(self, *, favourable="positive", random_state=0, num_epochs=50):
        self.favourable = favourable
        self.random_state = random_state
        self.num_epochs = num_epochs

    def _fit(self, bridge, features, favourable):
        with mock.patch.dict(
            os.environ, {"TF_CPP_MIN_LOG_LEVEL": "3"}
        ):  # read once, when it is first imported
            import tensorflow

        self.scaler_ = StandardScaler().fit(features[:, :-1])
        self.graph_ = (
            tensorflow.Graph()
        )  # in a graph of its own TensorFlow is not eager, as AIF360 wants it
        with self.graph_.as_default():
            session = tensorflow.compat.v1.Session(graph=self.graph_)
            model = algorithm("inprocessing", "AdversarialDebiasing")
            self.base_ = model(
                **SIDES,
                scope_name="cape",
                sess=session,
                seed=self.random_state,
                num_epochs=self.num_epochs,
            ).fit(bridge.dataset(self._scaled(features), favourable))

    def _predict(self, bridge, features):
        with self.graph_.as_default():
            return self.base_.predict(bridge.dataset(self._scaled(features))).labels

    def _scaled(self, features):
        return np.column_stack(
            [self.scaler_.transform(features[:, :-1]), features[:, -1]]
        )
