"""Base learners by name: ``"boosting"`` and ``"logistic"``.

`cape.files` asks for a learner that takes any table, `cape.experiments` for one that
takes numbers and gives the same answer in every run.
"""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape._validation import check_choice

__all__ = ["LEARNERS", "make_learner"]

LEARNERS = ("boosting", "logistic")
"""Names that `make_learner` accepts."""


def make_learner(
    name: str,
    *,
    tabular: bool = True,
    parameters: dict[str, Any] | None = None,
) -> Any:
    """Make an unfitted learner.

    Parameters
    ----------
    name : {"boosting", "logistic"}
        Histogram gradient boosting or logistic regression.
    tabular : bool, default=True
        Whether the learner has to take text, categories, dates and missing values.
        If True, the learner is the last step of skrub's tabular pipeline. If False,
        it takes numbers only.
    parameters : dict, default=None
        Parameters of the gradient boosting that differ from the defaults, such as
        ``{"max_depth": 2}``. Logistic regression ignores them.

    Returns
    -------
    estimator
        With ``tabular`` a ``Pipeline``.

    Raises
    ------
    ValueError
        If ``name`` is not one of `LEARNERS`.

    Examples
    --------
    >>> make_learner("boosting", tabular=False, parameters={"max_depth": 2})
    HistGradientBoostingClassifier(max_depth=2, random_state=0)
    >>> make_learner("logistic").steps[-1][0]
    'logisticregression'
    """
    check_choice("learner", name, LEARNERS)
    if tabular:
        return _tabular_learner(name, parameters or {})
    if name == "logistic":
        return make_pipeline(StandardScaler(), LogisticRegression())
    # Boosting draws at random the rows that decide when it stops. Without a seed, two
    # runs of one experiment would differ.
    return HistGradientBoostingClassifier(random_state=0, **parameters or {})


def _tabular_learner(name: str, parameters: dict[str, Any]) -> Any:
    """Put the learner behind skrub's tabular pipeline."""
    from skrub import tabular_pipeline

    if name == "boosting":
        return tabular_pipeline(HistGradientBoostingClassifier(**parameters))
    # Encoded text gives many correlated columns: the default of 100 iterations is
    # often too few.
    return tabular_pipeline(LogisticRegression(max_iter=1000))
