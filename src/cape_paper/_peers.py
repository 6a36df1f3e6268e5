"""The classifiers that CAPE is compared with: baselines, Fairlearn's and AIF360's.

All have one small interface: ``fit(X, y, sensitive_features=z)`` with labels 0 and 1,
and ``predict(X, sensitive_features=z)`` without. No other module imports Fairlearn or
AIF360, and they are imported only when a method of theirs is trained.

AIF360 knows two groups and ranks them: one is "privileged", and one label is
"favourable". Neither word is ours. Where a method asks for them, the positive label is
favourable unless the user says otherwise, and the privileged group is the one with the
greatest share of favourable labels in training. All remaining groups form the second.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import os
import warnings
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from scipy.linalg import eigh
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from cape import CapeClassifier

HELD_OUT = 0.3
"""Share of the training rows that is held out for a post-processor."""

SIDES: dict[str, Any] = {
    "unprivileged_groups": [{"privileged": 0.0}],
    "privileged_groups": [{"privileged": 1.0}],
}
"""How AIF360's algorithms are told which rows belong to the privileged group."""


def with_group_columns(X: pd.DataFrame, z: np.ndarray, groups: Any) -> pd.DataFrame:
    """Add an indicator column for each group but the first.

    With one for the first, too, the columns would always add up to 1, and the
    coefficients of a linear learner would not be unique.
    """
    columns = {}
    for place, group in enumerate(groups[1:], 1):
        columns[f"group_{place}"] = (z == group).astype(float)
    return X.assign(**columns)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Silence AIF360's prints, logs and warnings, and restore numpy's global generator.

    AIF360 writes to the standard output, logs what is not installed, and seeds the
    generator of the whole process.

    Examples
    --------
    >>> with undisturbed():
    ...     print("not shown")
    """
    state = np.random.get_state()
    root = logging.getLogger()
    # Without a handler, the first `logging.warning` would install one for good.
    silent = mock.patch.object(root, "handlers", [logging.NullHandler()])
    try:
        with (
            silent,
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(state)


class GroupMethod:
    """A classifier that needs the group of every row.

    A subclass implements ``_fit(X, y, z)`` and ``_predict(X, z)``, where y and z are
    arrays. Rows of groups that training has not seen are rows of the first group.
    """

    def fit(self, X, y, *, sensitive_features):
        """Train on labelled rows."""
        z = np.asarray(sensitive_features)
        self.groups_ = np.unique(z)
        with undisturbed():
            self._fit(X, np.asarray(y), z)
        return self

    def predict(self, X, *, sensitive_features):
        """Predict the label of every row; nothing here could hand over labels."""
        with undisturbed():
            predicted = self._predict(X, np.asarray(sensitive_features))
        return np.asarray(predicted).astype(int)

    def _with_groups(self, X, z):
        return with_group_columns(X, z, self.groups_)


class MaxAcc(GroupMethod):
    """One accuracy-maximising classifier on all rows, the group among its features.

    It is the baseline of the paper: CAPE's learner, trained once, which does not adapt
    to any shift. The paper does not say what Max_Acc sees. CAPE's classifiers know the
    group, since each belongs to one; so Max_Acc gets it too.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict``
        The learner.

    Examples
    --------
    >>> model = MaxAcc(LogisticRegression())
    >>> z = train.sensitive_features
    >>> model = model.fit(train.data, train.target, sensitive_features=z)
    >>> model.predict(new.data, sensitive_features=new.sensitive_features).shape
    (1000,)
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def _fit(self, X, y, z):
        features = self._with_groups(X, z)
        self.estimator_ = clone(self.estimator).fit(features, y)

    def _predict(self, X, z):
        return self.estimator_.predict(self._with_groups(X, z))


class CapeOne(CapeClassifier):
    """CAPE-1 of the paper: `CapeClassifier` with each row as a batch of its own."""

    def predict(self, X, *, sensitive_features=None):
        """Predict every row as `CapeClassifier.predict_individually` does."""
        # No adaptation is taken: with batches of one row there are as many as rows.
        return self.predict_individually(X, sensitive_features=sensitive_features)


def fit_learner(
    estimator: Any, X: Any, y: np.ndarray, *, seed: int, **options: Any
) -> Any:
    """Fit a clone of a learner with a seed, and with weights if there are any."""
    return seeded_clone(estimator, seed).fit(X, y, **options)


def seeded_clone(estimator: Any, seed: int) -> Any:
    """Clone an estimator and set every ``random_state`` that is None from ``seed``."""
    model = clone(estimator)
    random = np.random.RandomState(seed)
    for name, value in sorted(model.get_params().items()):
        if name.split("__")[-1] == "random_state" and value is None:
            drawn = random.randint(np.iinfo(np.int32).max)
            model.set_params(**{name: drawn})
    return model


def weight_keyword(estimator: Any) -> str:
    """Name the weights of ``fit``; a pipeline hands them to its last step."""
    if hasattr(estimator, "steps"):
        return f"{estimator.steps[-1][0]}__sample_weight"
    return "sample_weight"


def split_holdout(
    y: np.ndarray, z: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Split rows between a base learner and the post-processor of its scores.

    A post-processor that saw the learner's training rows would take its scores there
    for as good as on new rows. The split keeps the mix of groups and labels where every
    combination has two rows or more.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels 0 and 1.
    z : ndarray of shape (n_samples,)
        The group of each row.
    seed : int
        Seed of the split.

    Returns
    -------
    learn, held_out : ndarray
        Indices of the rows, in ascending order.

    Examples
    --------
    >>> y, z = np.tile([0, 1], 50), np.repeat([0, 1], 50)
    >>> learn, held_out = split_holdout(y, z, seed=0)
    >>> len(learn), len(held_out)
    (70, 30)
    """
    _, codes = np.unique(z, return_inverse=True)
    strata = 2 * codes + y
    _, sizes = np.unique(strata, return_counts=True)
    # scikit-learn needs two rows in every stratum, and a row of each on both sides.
    can_stratify = sizes.min() >= 2 and len(sizes) <= HELD_OUT * len(strata)
    learn, held_out = train_test_split(
        np.arange(len(strata)),
        test_size=HELD_OUT,
        random_state=seed,
        stratify=strata if can_stratify else None,
    )
    return np.sort(learn), np.sort(held_out)


class Fairlearn(GroupMethod):
    """The frame of both: group columns as in Max_Acc.

    Parameters
    ----------
    estimator : estimator
        The learner.
    constraint : str
        What shall be equal between the groups, as Fairlearn calls it.
    random_state : int, default=0
        Seed of the hold-out and of randomised predictions.
    """

    def __init__(
        self, estimator: Any, *, constraint: str, random_state: int = 0
    ) -> None:
        self.estimator = estimator
        self.constraint = constraint
        self.random_state = random_state


class FairlearnReduction(Fairlearn):
    """ExponentiatedGradient (Agarwal et al., 2018): a mixture of reweighted learners.

    Examples
    --------
    >>> model = FairlearnReduction(LogisticRegression(), constraint="EqualizedOdds")
    >>> z = train.sensitive_features[:300]
    >>> model = model.fit(train.data[:300], train.target[:300], sensitive_features=z)
    >>> model.predict(new.data, sensitive_features=new.sensitive_features).shape
    (1000,)
    """

    def _fit(self, X, y, z):
        from fairlearn import reductions

        self.fitted_ = reductions.ExponentiatedGradient(
            self.estimator,
            getattr(reductions, self.constraint)(),
            sample_weight_name=weight_keyword(self.estimator),
        )
        self.fitted_.fit(self._with_groups(X, z), y, sensitive_features=z)

    def _predict(self, X, z):
        # The mixture draws one of its learners for every row; the group is not used.
        features = self._with_groups(X, z)
        return self.fitted_.predict(features, random_state=self.random_state)


class FairlearnThreshold(Fairlearn):
    """ThresholdOptimizer (Hardt et al., 2016), fitted on rows held out.

    Examples
    --------
    >>> model = FairlearnThreshold(LogisticRegression(), constraint="equalized_odds")
    >>> z = train.sensitive_features
    >>> model = model.fit(train.data, train.target, sensitive_features=z)
    >>> model.predict(new.data, sensitive_features=new.sensitive_features).shape
    (1000,)
    """

    def _fit(self, X, y, z):
        from fairlearn.postprocessing import ThresholdOptimizer

        features = self._with_groups(X, z)
        learn, held_out = split_holdout(y, z, self.random_state)
        learner = fit_learner(
            self.estimator, features.iloc[learn], y[learn], seed=self.random_state
        )
        self.fitted_ = ThresholdOptimizer(
            estimator=learner,
            constraints=self.constraint,
            # Otherwise it would train the learner again, on the rows held out.
            prefit=True,
            predict_method="predict_proba",
        )
        self.fitted_.fit(
            features.iloc[held_out], y[held_out], sensitive_features=z[held_out]
        )

    def _predict(self, X, z):
        # Where no threshold meets the constraint it mixes two of them at random.
        features = self._with_groups(X, z)
        return self.fitted_.predict(
            features, sensitive_features=z, random_state=self.random_state
        )


class Aif360(GroupMethod):
    """The frame of all: our rows become AIF360's, its favourable labels become ours.

    A subclass implements ``_fit_peer(features, favourable)`` and
    ``_predict_peer(features)``. The last feature is the indicator of the privileged
    group, and label 1 is the favourable one.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict_proba``, default=None
        The learner, for methods that have one.
    favourable : {"positive", "negative"}, default="positive"
        The label that AIF360 is told is the favourable one.
    random_state : int, default=0
        Seed of the learner, of a hold-out, and of AIF360's draws.
    **options
        What AIF360's algorithm is made with.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        favourable: str = "positive",
        random_state: int = 0,
        **options: Any,
    ) -> None:
        self.estimator = estimator
        self.favourable = favourable
        self.random_state = random_state
        self.options = options

    def _fit(self, X, y, z):
        if len(self.groups_) < 2:
            raise ValueError("sensitive_features must have two groups at least.")
        favourable = self._swapped(y)
        shares = [favourable[z == group].mean() for group in self.groups_]
        self.privileged_ = self.groups_[int(np.argmax(shares))]
        self._fit_peer(self._features(X, z), favourable)

    def _predict(self, X, z):
        # Labels come as a column of floats.
        labels = np.ravel(self._predict_peer(self._features(X, z)))
        return self._swapped((labels > 0.5).astype(int))

    def _swapped(self, labels):
        """Turn positive into favourable labels, or favourable into positive ones."""
        return labels if self.favourable == "positive" else 1 - labels

    def _features(self, X, z):
        """Put the indicator of the privileged group behind the features.

        With more than two groups, indicators of all groups stand before it, so that a
        learner can tell them apart as it can in Max_Acc.
        """
        if len(self.groups_) > 2:
            X = self._with_groups(X, z)
        numbers = np.asarray(X, dtype=float)
        return np.column_stack([numbers, (z == self.privileged_).astype(float)])

    def _dataset(self, features, labels=0.0):
        """Make AIF360's dataset; it wants labels even of rows to predict."""
        from aif360.datasets import BinaryLabelDataset

        names = [f"x{place}" for place in range(features.shape[1] - 1)]
        table = pd.DataFrame(features, columns=[*names, "privileged"])
        return BinaryLabelDataset(
            df=table.assign(label=np.asarray(labels, dtype=float)),
            label_names=["label"],
            protected_attribute_names=["privileged"],
            favorable_label=1.0,
            unfavorable_label=0.0,
            privileged_protected_attributes=[[1.0]],
            unprivileged_protected_attributes=[[0.0]],
        )

    def _algorithm(self, module: str, name: str, **options: Any) -> Any:
        """Make an object of a class of ``aif360.algorithms``."""
        # Imported here and not above, since AIF360 is an optional dependency.
        subpackage = importlib.import_module(f"aif360.algorithms.{module}")
        return getattr(subpackage, name)(**options, **self.options)


class Reweighing(Aif360):
    """Weights that make group and label independent (Kamiran and Calders, 2012).

    Examples
    --------
    >>> model = Reweighing(LogisticRegression())
    >>> z = train.sensitive_features
    >>> model = model.fit(train.data, train.target, sensitive_features=z)
    >>> model.predict(new.data, sensitive_features=new.sensitive_features).shape
    (1000,)
    """

    def _fit_peer(self, features, favourable):
        # The weight of a row is P(z) P(y) / P(z, y).
        reweighing = self._algorithm("preprocessing", "Reweighing", **SIDES)
        weighted = reweighing.fit_transform(self._dataset(features, favourable))
        self.base_ = fit_learner(
            self.estimator,
            features,
            favourable,
            seed=self.random_state,
            **{weight_keyword(self.estimator): weighted.instance_weights},
        )

    def _predict_peer(self, features):
        return self.base_.predict(features)


class MetaFair(Aif360):
    """MetaFairClassifier (Celis et al., 2019), made to run with today's scipy.

    It has a model of its own. It samples few points, so its answer depends much on the
    seed.

    Examples
    --------
    >>> model = MetaFair(type="sr", tau=0.8)
    >>> z = train.sensitive_features[:300]
    >>> model = model.fit(train.data[:300], train.target[:300], sensitive_features=z)
    >>> model.predict(new.data, sensitive_features=new.sensitive_features).shape
    (1000,)
    """

    def _fit_peer(self, features, favourable):
        model = self._algorithm(
            "inprocessing",
            "MetaFairClassifier",
            sensitive_attr="privileged",
            seed=self.random_state,
        )
        # TODO: remove with `ProjectedNormal` when AIF360 closes its issue 454.
        general = "aif360.algorithms.inprocessing.celisMeta.General"
        with mock.patch(f"{general}.multivariate_normal", ProjectedNormal):
            self.base_ = model.fit(self._dataset(features, favourable))

    def _predict_peer(self, features):
        return self.base_.predict(self._dataset(features)).labels


class PostProcessor(Aif360):
    """A post-processor: the learner trains on most rows, it on the rows held out.

    The paper does not say which rows its post-processors were fitted on. On the rows of
    the learner, an overfitted one would look perfect to them.

    Parameters
    ----------
    algorithm : str
        Its class in AIF360: CalibratedEqOddsPostprocessing (Pleiss et al., 2017), which
        draws, or RejectOptionClassification (Kamiran, Karim and Zhang, 2012).

    Examples
    --------
    >>> model = PostProcessor(
    ...     LogisticRegression(),
    ...     algorithm="CalibratedEqOddsPostprocessing",
    ...     cost_constraint="fnr",
    ... )
    >>> z = train.sensitive_features
    >>> model = model.fit(train.data, train.target, sensitive_features=z)
    >>> model.predict(new.data, sensitive_features=new.sensitive_features).shape
    (1000,)
    """

    def __init__(self, estimator: Any, *, algorithm: str, **options: Any) -> None:
        super().__init__(estimator, **options)
        self.algorithm = algorithm

    def _fit_peer(self, features, favourable):
        # Strata are of AIF360's two groups, since its post-processor knows no others.
        privileged = features[:, -1].astype(int)
        learn, held_out = split_holdout(favourable, privileged, self.random_state)
        self.base_ = fit_learner(
            self.estimator, features[learn], favourable[learn], seed=self.random_state
        )
        options = dict(SIDES)
        if self.algorithm.startswith("Calibrated"):
            options["seed"] = self.random_state
        post = self._algorithm("postprocessing", self.algorithm, **options)
        truth = self._dataset(features[held_out], favourable[held_out])
        self.post_ = post.fit(truth, self._scored(features[held_out]))

    def _scored(self, features):
        """Return the dataset with the learner's scores and decisions as labels."""
        scores = self.base_.predict_proba(features)[:, 1]
        dataset = self._dataset(features, scores > 0.5)
        # The constructor takes no scores, and AIF360 wants them as a column.
        dataset.scores = scores.reshape(-1, 1)
        return dataset

    def _predict_peer(self, features):
        return self.post_.predict(self._scored(features)).labels


class AdversarialDebiasing(Aif360):
    """AdversarialDebiasing (Zhang, Lemoine and Mitchell, 2018), in TensorFlow.

    The name is AIF360's. It trains a network of its own; features are scaled to mean 0
    and variance 1.
    """

    def _fit_peer(self, features, favourable):
        # TensorFlow reads this variable once, when it is first imported.
        with mock.patch.dict(os.environ, {"TF_CPP_MIN_LOG_LEVEL": "3"}):
            import tensorflow

        # All columns but the last, the indicator that AIF360 looks up.
        self.scaler_ = make_column_transformer(
            (StandardScaler(), slice(0, -1)), remainder="passthrough"
        )
        dataset = self._dataset(self.scaler_.fit_transform(features), favourable)
        # AIF360 needs a TensorFlow that is not eager, which it is in a graph.
        self.graph_ = tensorflow.Graph()
        with self.graph_.as_default():
            model = self._algorithm(
                "inprocessing",
                "AdversarialDebiasing",
                **SIDES,
                scope_name="cape",
                sess=tensorflow.compat.v1.Session(graph=self.graph_),
                seed=self.random_state,
            )
            self.base_ = model.fit(dataset)

    def _predict_peer(self, features):
        dataset = self._dataset(self.scaler_.transform(features))
        with self.graph_.as_default():
            return self.base_.predict(dataset).labels


class ProjectedNormal:
    """The normal distribution that MetaFair was written for.

    MetaFair evaluates a normal density whose covariance is singular: the group is among
    its features, and stands beside them once more. Since version 1.9.3 scipy returns 0
    off the support of a singular normal, and MetaFair fails (AIF360's issue 454).
    Before, scipy returned the density of the projection on the support, as this does.

    Parameters
    ----------
    mean : array-like of shape (n_dimensions,)
        The mean.
    cov : array-like of shape (n_dimensions, n_dimensions)
        The covariance; it may be singular.
    **options
        ``allow_singular`` and ``seed``, for scipy, which draws.

    Examples
    --------
    >>> flat = ProjectedNormal([0, 0], [[1, 1], [1, 1]], allow_singular=True)
    >>> bool(np.isclose(flat.pdf([1.0, 1.0]), flat.pdf([1.5, 0.5])))
    True
    """

    def __init__(self, mean: Any, cov: Any, **options: Any) -> None:
        self.rvs = multivariate_normal(mean, cov, **options).rvs
        self._mean = np.asarray(mean, dtype=float)
        values, vectors = eigh(np.asarray(cov, dtype=float))
        # scipy's rule for eigenvalues that count as 0.
        tolerance = 1e6 * np.finfo(float).eps
        support = values > tolerance * np.abs(values).max()
        # In these coordinates the distribution is standard normal on its support; what
        # is orthogonal to the support has no coordinate, so points are projected.
        variances = values[support]
        self._whiten = vectors[:, support] / np.sqrt(variances)
        # log of (2 pi)^rank times the pseudo-determinant.
        log_determinant = np.log(variances).sum()
        self._log_scale = support.sum() * np.log(2 * np.pi) + log_determinant

    def pdf(self, x: Any) -> Any:
        """Compute the density at the points in the rows of ``x``."""
        whitened = (np.asarray(x, dtype=float) - self._mean) @ self._whiten
        squared_distance = (whitened**2).sum(axis=-1)
        return np.exp(-0.5 * (self._log_scale + squared_distance))
