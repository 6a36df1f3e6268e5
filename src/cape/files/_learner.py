"""Learners for tables with text, categories, dates and missing values, by name."""

from __future__ import annotations

from typing import Any

from cape._validation import check_choice

__all__ = ["LEARNERS", "make_learner"]

LEARNERS = ("boosting", "logistic")


def make_learner(name: str) -> Any:
    """Make a learner: skrub's tabular pipeline around a classifier of scikit-learn.

    Parameters
    ----------
    name : {"boosting", "logistic"}
        Histogram gradient boosting, or logistic regression.

    Returns
    -------
    Pipeline

    Examples
    --------
    >>> make_learner("logistic").steps[-1][0]
    'logisticregression'
    """
    from skrub import tabular_pipeline

    check_choice("learner", name, LEARNERS)
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return tabular_pipeline(HistGradientBoostingClassifier())
    from sklearn.linear_model import LogisticRegression

    return tabular_pipeline(LogisticRegression(max_iter=1000))
