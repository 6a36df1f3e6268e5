"""A fitted model with one adaptation: each row is decided by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags

from cape.rules._adaptation import Adaptation

__all__ = ["FrozenCape"]


class FrozenCape(ClassifierMixin, BaseEstimator):
    """A fitted `CapeClassifier` that no longer adapts.

    `CapeClassifier.predict` adapts to the rows it is given. It would adapt anew in
    every call of a service that predicts one row at a time, or of a tool that changes
    rows to see what happens (partial dependence, permutation importance, SHAP). This
    estimator always uses the same adaptation.

    Make one with `CapeClassifier.freeze`. Like scikit-learn's ``FrozenEstimator``, its
    `fit` does nothing, and a clone is the estimator itself.

    Parameters
    ----------
    estimator : CapeClassifier
        Fitted.
    adaptation : Adaptation
        Made by the estimator.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive one.

    Examples
    --------
    >>> adaptation = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> frozen = clf.freeze(adaptation)
    >>> first = frozen.predict(
    ...     new.data[:1], sensitive_features=new.sensitive_features[:1]
    ... )
    >>> all_rows = frozen.predict(
    ...     new.data, sensitive_features=new.sensitive_features
    ... )
    >>> bool(first[0] == all_rows[0])
    True
    """

    def __init__(self, estimator: Any, adaptation: Adaptation):
        self.estimator = estimator
        self.adaptation = adaptation

    def fit(self, X: Any = None, y: Any = None, **ignored: Any) -> FrozenCape:
        """Do nothing: the model is already fitted.

        Parameters
        ----------
        X, y : object
            Ignored.
        **ignored : object
            Ignored.

        Returns
        -------
        self
        """
        return self

    def predict(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Predict labels, row by row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        sensitive_features : array-like or table of n_samples rows, default=None
            Groups of the rows. Tools that pass only X need a model with
            ``group_columns``.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.estimator.predict(
            X, sensitive_features=sensitive_features, adaptation=self.adaptation
        )

    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Predict probabilities of the two classes, row by row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        sensitive_features : array-like or table of n_samples rows, default=None

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        return self.estimator.predict_proba(
            X, sensitive_features=sensitive_features, adaptation=self.adaptation
        )

    def score(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Compute the accuracy of `predict`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sensitive_features : array-like or table of n_samples rows, default=None
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        return self.estimator.score(
            X,
            y,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            adaptation=self.adaptation,
        )

    @property
    def classes_(self) -> np.ndarray:
        """The labels; the second is the positive one."""
        return self.estimator.classes_

    @property
    def n_features_in_(self) -> int:
        """Columns of X."""
        return self.estimator.n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the columns of X."""
        return self.estimator.feature_names_in_

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> FrozenCape:
        return self

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)
