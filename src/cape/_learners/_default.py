"""Good learners for a user who names none."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

__all__ = ["default_candidates"]

_FEW_ROWS = 3000
"""Below, the mean of three learners is best or nearly so, and choosing costs more."""

_MANY_ROWS = 20_000
"""From here on boosting with its default of 31 leaves is worth a try."""


def default_candidates(n_rows: int) -> dict[str, Any]:
    """List the learners that may serve a table of so many rows, the safest first.

    The mean probability of a logistic regression and two small boostings has, on small
    tables, a log loss as low as that of the best of the three, which nobody knows
    beforehand. On large tables a single boosting may be better.

    Parameters
    ----------
    n_rows : int

    Returns
    -------
    dict from name to estimator
    """
    candidates = {"mean of three": _mean_of_three()}
    if n_rows >= _FEW_ROWS:
        candidates["boosting, 8 leaves"] = _small_boosting()
    if n_rows >= _MANY_ROWS:
        candidates["boosting, default"] = HistGradientBoostingClassifier()
    return candidates


def _mean_of_three() -> VotingClassifier:
    # keep_empty_features: a column that is missing in one fold must not vanish.
    logistic = make_pipeline(
        SimpleImputer(keep_empty_features=True),
        StandardScaler(),
        LogisticRegression(max_iter=1000),
    )
    stumps = HistGradientBoostingClassifier(
        max_depth=2, max_iter=150, early_stopping=False
    )
    members = [
        ("logistic", logistic),
        ("shallow", stumps),
        ("boosting", _small_boosting()),
    ]
    return VotingClassifier(members, voting="soft")


def _small_boosting() -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(
        max_leaf_nodes=8, learning_rate=0.05, max_iter=500, early_stopping=True
    )
