"""Hyper-parameters of the gradient boosting that the real-data experiments use."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from cape._groups import check_groups
from cape._learners import make_learner
from cape_paper._peers import with_group_columns
from cape_paper._rows import Results

__all__ = ["GRID", "tune_boosting"]

GRID = {
    "max_depth": [1, 2, 3],
    "max_iter": [50, 100, 150],
}
"""Depths and numbers of trees: the ranges that R's caret tries for its ``gbm``."""


def tune_boosting(X: Any, y: np.ndarray, sensitive_features: Any) -> Results:
    """Choose depth and number of trees by 10-fold cross-validation.

    Max_Acc is what is tuned: one model of all training rows, the group among its
    features. Every method of a comparison then uses the same setting.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_features)
        Numbers.
    y : ndarray of shape (n_samples,)
        Labels.
    sensitive_features : array-like of shape (n_samples,)
        Groups.

    Returns
    -------
    dict
        ``best`` (the parameters with the least loss), ``scores`` (the log loss of
        every setting) and ``rows`` (the number of rows).

    Notes
    -----
    Log loss decides and not accuracy, since quantifiers use probabilities.
    """
    groups = check_groups(sensitive_features).keys
    features = with_group_columns(X, sensitive_features, groups)
    # The paper: "10-fold cross-validation for hyper-parameter tuning". The folds have a
    # seed, so that the same rows always give the same setting.
    search = GridSearchCV(
        make_learner("boosting", tabular=False),
        GRID,
        scoring="neg_log_loss",
        cv=StratifiedKFold(10, shuffle=True, random_state=0),
        refit=False,
    )
    search.fit(features, y)
    return {
        "best": search.best_params_,
        "scores": _losses(search.cv_results_),
        "rows": len(y),
    }


def _losses(cv_results: Results) -> list[Results]:
    """List every setting with its mean log loss over the folds."""
    # scikit-learn maximises, so it stores the log loss with a minus.
    losses = -cv_results["mean_test_score"]
    scores = []
    for parameters, loss in zip(cv_results["params"], losses, strict=True):
        scores.append({**parameters, "log_loss": float(loss)})
    return scores
