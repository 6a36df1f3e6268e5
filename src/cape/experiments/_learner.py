"""The learner of the real-data experiments: gradient boosting, tuned on the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape._groups import check_groups
from cape._validation import check_choice
from cape.compare import with_group_columns

__all__ = ["GRID", "LEARNERS", "make_learner", "tune_boosting"]

GRID = {"max_depth": [1, 2, 3], "max_iter": [50, 100, 150]}
"""Tried by 10-fold cross-validation: depth and number of trees, the ranges that R's caret tries for its ``gbm``."""

LEARNERS = ("boosting", "logistic")


def tune_boosting(X: Any, y: np.ndarray, sensitive_features: Any) -> dict[str, Any]:
    """Depth and number of trees by 10-fold cross-validated log loss of Max_Acc on the training rows.

    Log loss and not accuracy, since quantifiers read probabilities. Every method then gets the same setting.

    Returns
    -------
    dict
        ``best`` (parameters), ``scores`` (log loss of each setting) and ``rows``.
    """
    features = with_group_columns(
        X, sensitive_features, check_groups(sensitive_features).keys
    )
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    search = GridSearchCV(
        _boosting(), GRID, scoring="neg_log_loss", cv=folds, refit=False
    ).fit(features, y)
    tried = zip(
        search.cv_results_["params"],
        -search.cv_results_["mean_test_score"],
        strict=True,
    )
    scores = [{**params, "log_loss": float(loss)} for params, loss in tried]
    return {"best": search.best_params_, "scores": scores, "rows": len(y)}


def make_learner(kind: str, best: dict[str, Any] | None = None) -> Any:
    """A learner by name; ``best`` are the parameters that `tune_boosting` found.

    Examples
    --------
    >>> make_learner("boosting", {"max_depth": 2})
    HistGradientBoostingClassifier(max_depth=2, random_state=0)
    """
    check_choice("learner", kind, LEARNERS)
    if kind == "logistic":
        return make_pipeline(StandardScaler(), LogisticRegression())
    return _boosting().set_params(**(best or {}))


def _boosting() -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(random_state=0)
