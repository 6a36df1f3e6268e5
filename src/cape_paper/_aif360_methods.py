"""AIF360's fair classifiers, each as a scikit-learn classifier of our interface."""

from __future__ import annotations

import os
from unittest import mock

import numpy as np
from sklearn.preprocessing import StandardScaler

from cape._learners import fit_learner
from cape._validation import check_binary_labels, check_choice, check_same_length
from cape_paper._aif360 import (
    SIDES,
    Bridge,
    algorithm,
    old_normal_density,
    undisturbed,
)
from cape_paper._base import GroupMethod, split_holdout

__all__ = [
    "AdversarialDebiasing",
    "CalibratedEqOdds",
    "MetaFair",
    "RejectOption",
    "Reweighing",
]

_METRICS = {
    "spd": "Statistical parity difference",
    "aod": "Average odds difference",
    "eod": "Equal opportunity difference",
}


class _Aif360(GroupMethod):
    """The frame of all: our rows become AIF360's, its favourable labels become ours.

    A subclass implements ``_fit_peer(bridge, features, favourable)`` and
    ``_predict_peer(bridge, features)``.
    """

    def _fit(self, X, y, groups):
        check_choice("favourable", self.favourable, ("positive", "negative"))
        check_same_length(X=X, y=y, sensitive_features=groups)
        classes, positive = check_binary_labels(y)
        if len(groups.keys) < 2:
            raise ValueError(
                "sensitive_features must have two groups at least, "
                f"got {len(groups.keys)}: {groups.keys}."
            )
        # Inside, label 1 is the favourable one whatever it means to the user.
        favourable = self._swapped(positive).astype(int)
        bridge = Bridge.of(favourable, groups)
        features = bridge.features(X, groups)
        with undisturbed():
            self._fit_peer(bridge, features, favourable)
        # Set last: a fit that failed leaves an estimator that is not fitted.
        self.bridge_ = bridge
        self.classes_ = classes

    def _predict(self, X, groups):
        check_same_length(X=X, sensitive_features=groups)
        features = self.bridge_.features(X, groups)
        with undisturbed():
            # Labels come as a column of floats.
            labels = np.ravel(self._predict_peer(self.bridge_, features))
        positive = self._swapped(labels > 0.5)
        return self.classes_[positive.astype(int)]

    def _swapped(self, labels):
        """Turn positive into favourable labels, or favourable into positive ones."""
        if self.favourable == "positive":
            return labels
        return ~labels


class Reweighing(_Aif360):
    """AIF360's Reweighing: weights that make group and label independent.

    The learner is trained with these weights.

    Parameters
    ----------
    estimator : estimator whose ``fit`` takes ``sample_weight``
        The learner.
    favourable : {"positive", "negative"}, default="positive"
        The label that AIF360 is told is the favourable one.
    random_state : int, default=0
        Seed of the learner.

    Examples
    --------
    >>> model = Reweighing(LogisticRegression())
    >>> z = train.sensitive_features
    >>> model = model.fit(train.data, train.target, sensitive_features=z)
    >>> model.predict(new.data, sensitive_features=new.sensitive_features).shape
    (1000,)
    """

    def __init__(self, estimator, *, favourable="positive", random_state=0):
        self.estimator = estimator
        self.favourable = favourable
        self.random_state = random_state

    def _fit_peer(self, bridge, features, favourable):
        # Kamiran and Calders (2012): the weight of a row is P(z) P(y) / P(z, y).
        reweighing = algorithm("preprocessing", "Reweighing")(**SIDES)
        dataset = bridge.dataset(features, favourable)
        self.base_ = fit_learner(
            self.estimator,
            features,
            favourable,
            weights=reweighing.fit_transform(dataset).instance_weights,
            seed=self.random_state,
        )

    def _predict_peer(self, bridge, features):
        return self.base_.predict(features)


class MetaFair(_Aif360):
    """AIF360's MetaFairClassifier, made to run with today's scipy.

    It has a model of its own, so there is no base learner. ``cape_paper._singular``
    says what scipy has changed.

    Parameters
    ----------
    kind : {"sr", "fdr"}, default="sr"
        What is constrained: the statistical rate or the false discovery rate.
    tau : float, default=0.8
        Strength of the constraint; the paper's value.
    favourable : {"positive", "negative"}, default="positive"
        The label that AIF360 is told is the favourable one.
    random_state : int, default=0
        Seed of the points that it samples. It samples few, so its answer depends much
        on the seed.

    Examples
    --------
    >>> model = MetaFair()
    >>> z = train.sensitive_features[:300]
    >>> model = model.fit(train.data[:300], train.target[:300], sensitive_features=z)
    >>> model.predict(new.data, sensitive_features=new.sensitive_features).shape
    (1000,)
    """

    def __init__(
        self,
        kind="sr",
        *,
        tau=0.8,
        favourable="positive",
        random_state=0,
    ):
        self.kind = kind
        self.tau = tau
        self.favourable = favourable
        self.random_state = random_state

    def _fit_peer(self, bridge, features, favourable):
        # Celis et al. (2019).
        model = algorithm("inprocessing", "MetaFairClassifier")(
            tau=self.tau,
            sensitive_attr="privileged",
            type=self.kind,
            seed=self.random_state,
        )
        with old_normal_density():
            self.base_ = model.fit(bridge.dataset(features, favourable))

    def _predict_peer(self, bridge, features):
        return self.base_.predict(bridge.dataset(features)).labels


class _PostProcessor(_Aif360):
    """Trains the learner on most rows and the post-processor on the rows held out.

    The paper does not say which rows its post-processors were fitted on. On the rows of
    the learner, an overfitted one would look perfect to them.

    A subclass implements ``_post_processor()``.
    """

    def _fit_peer(self, bridge, features, favourable):
        # Strata are of AIF360's two groups, since its post-processor knows no others.
        privileged = features[:, -1].astype(int)
        learn, held_out = split_holdout(favourable, privileged, self.random_state)
        self.base_ = fit_learner(
            self.estimator,
            features[learn],
            favourable[learn],
            seed=self.random_state,
        )
        truth = bridge.dataset(features[held_out], favourable[held_out])
        scored = self._scored(bridge, features[held_out])
        self.post_ = self._post_processor().fit(truth, scored)

    def _scored(self, bridge, features):
        """Return the dataset with the learner's scores and decisions as labels."""
        scores = self.base_.predict_proba(features)[:, 1]
        return bridge.dataset(features, scores > 0.5, scores)

    def _predict_peer(self, bridge, features):
        return self.post_.predict(self._scored(bridge, features)).labels


class CalibratedEqOdds(_PostProcessor):
    """AIF360's CalibratedEqOddsPostprocessing, fitted on rows held out.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict_proba``
        The learner.
    cost : {"fpr", "fnr", "weighted"}, default="weighted"
        The cost that shall be equal between the groups.
    favourable : {"positive", "negative"}, default="positive"
        The label that AIF360 is told is the favourable one.
    random_state : int, default=0
        Seed of the hold-out and of its randomised predictions.

    Examples
    --------
    >>> model = CalibratedEqOdds(LogisticRegression(), cost="fnr")
    >>> z = train.sensitive_features
    >>> model = model.fit(train.data, train.target, sensitive_features=z)
    >>> model.predict(new.data, sensitive_features=new.sensitive_features).shape
    (1000,)
    """

    def __init__(
        self,
        estimator,
        *,
        cost="weighted",
        favourable="positive",
        random_state=0,
    ):
        self.estimator = estimator
        self.cost = cost
        self.favourable = favourable
        self.random_state = random_state

    def _post_processor(self):
        # Pleiss et al. (2017).
        check_choice("cost", self.cost, ("fpr", "fnr", "weighted"))
        post_processor = algorithm("postprocessing", "CalibratedEqOddsPostprocessing")
        return post_processor(
            **SIDES, cost_constraint=self.cost, seed=self.random_state
        )


class RejectOption(_PostProcessor):
    """AIF360's RejectOptionClassification, fitted on rows held out.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict_proba``
        The learner.
    metric : {"spd", "aod", "eod"}, default="spd"
        What is constrained: the statistical parity, average odds or equal opportunity
        difference, within AIF360's own bounds.
    favourable : {"positive", "negative"}, default="positive"
        The label that AIF360 is told is the favourable one.
    random_state : int, default=0
        Seed of the hold-out.
    thresholds, margins : int, default=100 and 50
        Size of the grid that it searches; the defaults are AIF360's.

    Examples
    --------
    >>> RejectOption(LogisticRegression(), metric="eod", thresholds=5)
    RejectOption(estimator=LogisticRegression(), metric='eod', thresholds=5)
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
        # Kamiran, Karim and Zhang (2012).
        check_choice("metric", self.metric, tuple(_METRICS))
        post_processor = algorithm("postprocessing", "RejectOptionClassification")
        return post_processor(
            **SIDES,
            metric_name=_METRICS[self.metric],
            num_class_thresh=self.thresholds,
            num_ROC_margin=self.margins,
        )


class AdversarialDebiasing(_Aif360):
    """AIF360's AdversarialDebiasing, which needs TensorFlow.

    The name is AIF360's. It trains a network of its own, so there is no base learner;
    features are scaled to mean 0 and variance 1.

    Parameters
    ----------
    favourable : {"positive", "negative"}, default="positive"
        The label that AIF360 is told is the favourable one.
    random_state : int, default=0
        Seed of the network.
    num_epochs : int, default=50
        Number of epochs; the default is AIF360's.

    Examples
    --------
    >>> AdversarialDebiasing(random_state=1)
    AdversarialDebiasing(random_state=1)
    """

    def __init__(
        self,
        *,
        favourable="positive",
        random_state=0,
        num_epochs=50,
    ):
        self.favourable = favourable
        self.random_state = random_state
        self.num_epochs = num_epochs

    def _fit_peer(self, bridge, features, favourable):
        # TensorFlow reads this variable once, when it is first imported.
        with mock.patch.dict(os.environ, {"TF_CPP_MIN_LOG_LEVEL": "3"}):
            import tensorflow

        # Zhang, Lemoine and Mitchell (2018).
        self.scaler_ = StandardScaler().fit(features[:, :-1])
        dataset = bridge.dataset(self._scaled(features), favourable)
        # AIF360 needs a TensorFlow that is not eager, which it is in a graph.
        self.graph_ = tensorflow.Graph()
        with self.graph_.as_default():
            model = algorithm("inprocessing", "AdversarialDebiasing")(
                **SIDES,
                scope_name="cape",
                sess=tensorflow.compat.v1.Session(graph=self.graph_),
                seed=self.random_state,
                num_epochs=self.num_epochs,
            )
            self.base_ = model.fit(dataset)

    def _predict_peer(self, bridge, features):
        dataset = bridge.dataset(self._scaled(features))
        with self.graph_.as_default():
            return self.base_.predict(dataset).labels

    def _scaled(self, features):
        """Scale all columns but the last, the indicator that AIF360 looks up."""
        scaled = self.scaler_.transform(features[:, :-1])
        return np.column_stack([scaled, features[:, -1]])
