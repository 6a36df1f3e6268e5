"""Fairlearn's ExponentiatedGradient and ThresholdOptimizer behind our interface."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from cape_paper._baselines import (
    GroupMethod,
    fit_learner,
    split_holdout,
    weight_keyword,
)


class Fairlearn(GroupMethod):
    """The frame of both: group columns as in Max_Acc, and Fairlearn kept silent.

    A subclass implements ``_fit_peer(features, y, z)`` and ``_predict_peer(features,
    z)``, and sets ``fitted_``, Fairlearn's fitted object.

    Parameters
    ----------
    estimator : estimator
        The learner.
    constraint : {"demographic_parity", "equalized_odds"}
        What shall be equal between the groups.
    random_state : int, default=0
        Seed of the hold-out and of randomised predictions.
    """

    def __init__(
        self, estimator: Any, *, constraint: str, random_state: int = 0
    ) -> None:
        self.estimator = estimator
        self.constraint = constraint
        self.random_state = random_state

    def _fit(self, X: pd.DataFrame, y: np.ndarray, z: np.ndarray) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._fit_peer(self._with_groups(X, z), y, z)

    def _predict(self, X: pd.DataFrame, z: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = self._predict_peer(self._with_groups(X, z), z)
        return np.asarray(predicted).astype(int)

    def _fit_peer(self, features: pd.DataFrame, y: np.ndarray, z: np.ndarray) -> None:
        raise NotImplementedError

    def _predict_peer(self, features: pd.DataFrame, z: np.ndarray) -> Any:
        raise NotImplementedError


class FairlearnReduction(Fairlearn):
    """ExponentiatedGradient (Agarwal et al., 2018): a mixture of reweighted learners.

    Examples
    --------
    >>> model = FairlearnReduction(LogisticRegression(), constraint="equalized_odds")
    >>> z = train.sensitive_features[:300]
    >>> model = model.fit(train.data[:300], train.target[:300], sensitive_features=z)
    >>> model.predict(new.data, sensitive_features=new.sensitive_features).shape
    (1000,)
    """

    def _fit_peer(self, features: pd.DataFrame, y: np.ndarray, z: np.ndarray) -> None:
        from fairlearn import reductions

        parities = {
            "demographic_parity": reductions.DemographicParity,
            "equalized_odds": reductions.EqualizedOdds,
        }
        self.fitted_ = reductions.ExponentiatedGradient(
            self.estimator,
            parities[self.constraint](),
            sample_weight_name=weight_keyword(self.estimator),
        )
        self.fitted_.fit(features, y, sensitive_features=z)

    def _predict_peer(self, features: pd.DataFrame, z: np.ndarray) -> Any:
        # The mixture draws one of its learners for every row; the group is not used.
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

    def _fit_peer(self, features: pd.DataFrame, y: np.ndarray, z: np.ndarray) -> None:
        from fairlearn.postprocessing import ThresholdOptimizer

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

    def _predict_peer(self, features: pd.DataFrame, z: np.ndarray) -> Any:
        # Where no threshold meets the constraint it mixes two of them at random.
        return self.fitted_.predict(
            features, sensitive_features=z, random_state=self.random_state
        )
