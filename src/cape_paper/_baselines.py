"""The paper's baselines, and what they share with the peers.

All methods have one small interface: ``fit(X, y, sensitive_features=z)`` with labels 0
and 1, and ``predict(X, sensitive_features=z)`` without.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from cape import CapeClassifier

HELD_OUT = 0.3
"""Share of the training rows that is held out for a post-processor."""


def with_group_columns(X: pd.DataFrame, z: np.ndarray, groups: Any) -> pd.DataFrame:
    """Add an indicator column for each group but the first.

    With one for the first, too, the columns would always add up to 1, and the
    coefficients of a linear learner would not be unique.
    """
    columns = {}
    for place, group in enumerate(groups[1:], 1):
        columns[f"group_{place}"] = (z == group).astype(float)
    return X.assign(**columns)


class GroupMethod:
    """A classifier that needs the group of every row.

    A subclass implements ``_fit(X, y, z)`` and ``_predict(X, z)``, where y and z are
    arrays. Rows of groups that training has not seen are rows of the first group.
    """

    def fit(self, X: pd.DataFrame, y: Any, *, sensitive_features: Any) -> Any:
        """Train on labelled rows."""
        z = np.asarray(sensitive_features)
        self.groups_ = np.unique(z)
        self._fit(X, np.asarray(y), z)
        return self

    def predict(self, X: pd.DataFrame, *, sensitive_features: Any) -> np.ndarray:
        """Predict the label of every row; nothing here could hand over labels."""
        return self._predict(X, np.asarray(sensitive_features))

    def _with_groups(self, X: pd.DataFrame, z: np.ndarray) -> pd.DataFrame:
        return with_group_columns(X, z, self.groups_)

    def _fit(self, X: pd.DataFrame, y: np.ndarray, z: np.ndarray) -> None:
        raise NotImplementedError

    def _predict(self, X: pd.DataFrame, z: np.ndarray) -> np.ndarray:
        raise NotImplementedError


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

    def _fit(self, X: pd.DataFrame, y: np.ndarray, z: np.ndarray) -> None:
        self.estimator_ = clone(self.estimator).fit(self._with_groups(X, z), y)

    def _predict(self, X: pd.DataFrame, z: np.ndarray) -> np.ndarray:
        return self.estimator_.predict(self._with_groups(X, z))


class AlwaysPositive(GroupMethod):
    """Call every row positive: the sanity check of the paper's table.

    No error rate differs between groups, and yet PD is as large as it can be.
    """

    def _fit(self, X: pd.DataFrame, y: np.ndarray, z: np.ndarray) -> None:
        pass

    def _predict(self, X: pd.DataFrame, z: np.ndarray) -> np.ndarray:
        return np.ones(len(X), dtype=int)


class CapeOne(CapeClassifier):
    """CAPE-1 of the paper: `CapeClassifier` with each row as a batch of its own."""

    def predict(self, X, *, sensitive_features=None):
        """Predict every row as `CapeClassifier.predict_individually` does."""
        # No adaptation is taken: with batches of one row there are as many as rows.
        return self.predict_individually(X, sensitive_features=sensitive_features)


def fit_learner(
    estimator: Any, X: Any, y: np.ndarray, *, seed: int, weights: Any = None
) -> Any:
    """Fit a clone of a learner with a seed, and with weights if there are any."""
    options = {}
    if weights is not None:
        options[weight_keyword(estimator)] = weights
    return seeded_clone(estimator, seed).fit(X, y, **options)


def seeded_clone(estimator: Any, seed: int) -> Any:
    """Clone an estimator and set every ``random_state`` that is None from ``seed``."""
    model = clone(estimator)
    random = np.random.RandomState(seed)
    for name, value in sorted(model.get_params().items()):
        if name.split("__")[-1] == "random_state" and value is None:
            model.set_params(**{name: random.randint(np.iinfo(np.int32).max)})
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
