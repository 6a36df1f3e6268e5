"""Training a learner and reading its scores: the only place that calls ``fit`` and ``predict_proba``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from cape._validation import has_fit_parameter, number_of_rows
from cape.histogram import ONE, round_scores

__all__ = ["Scorer", "fit_learner", "is_steady", "score_rows", "weight_keyword"]

_ROWS_PER_COEFFICIENT = 20


def weight_keyword(estimator: Any) -> str:
    """Name under which the learner's ``fit`` takes weights; a pipeline hands them to its last step."""
    if get_config()["enable_metadata_routing"] or has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if isinstance(estimator, Pipeline) and has_fit_parameter(estimator.steps[-1][1], "sample_weight"):
        return f"{estimator.steps[-1][0]}__sample_weight"
    raise ValueError(
        f"sample_weight must be None for a learner whose fit takes no weights, got weights for {estimator!r}."
    )


def fit_learner(estimator: Any, X: Any, y: np.ndarray, *, weights: np.ndarray | None = None, seed: int = 0) -> Any:
    """Fit a clone. Every ``random_state`` that the user left at None is drawn from ``seed``."""
    model = clone(estimator)
    random = np.random.RandomState(seed)
    unset = [k for k, v in sorted(model.get_params().items()) if k.split("__")[-1] == "random_state" and v is None]
    if unset:
        model.set_params(**{name: random.randint(np.iinfo(np.int32).max) for name in unset})
    if weights is None:
        return model.fit(X, y)
    return model.fit(X, y, **{weight_keyword(model): weights})


def score_rows(model: Any, X: Any, positive: Any) -> np.ndarray:
    """Rounded score of each row: the model's probability of the label ``positive``."""
    if number_of_rows(X) == 0:
        return np.empty(0, dtype=np.int64)
    probabilities = np.asarray(model.predict_proba(X))
    classes = list(getattr(model, "classes_", [None, positive]))
    if probabilities.ndim != 2 or probabilities.shape[1] != len(classes):
        raise ValueError(
            f"estimator must give probabilities of {len(classes)} classes, got an array of shape {probabilities.shape} "
            f"from {model!r}."
        )
    if positive not in classes:  # trained without a single positive
        return np.zeros(len(probabilities), dtype=np.int64)
    return round_scores(probabilities[:, classes.index(positive)])


def is_steady(model: Any, rows: int) -> bool:
    """Whether a fitted learner is linear with few coefficients for so many rows.

    Scores of such a model, refitted on all rows, follow those of its fold models on rows they have not seen; those of a
    flexible learner do not.
    """
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    coefficients = getattr(last, "coef_", None)
    return coefficients is not None and rows >= _ROWS_PER_COEFFICIENT * np.size(coefficients)


@dataclass(frozen=True)
class Scorer:
    """Scores a batch with one model, or with all fold models whose histograms are then pooled."""

    models: list[Any]
    positive: Any

    def __call__(self, X: Any) -> np.ndarray:
        """Rounded scores of shape (n_models, n_rows)."""
        return np.stack([score_rows(model, X, self.positive) for model in self.models])


def as_probability(scores: np.ndarray) -> np.ndarray:
    """Rounded scores as numbers in [0, 1]."""
    return scores / ONE
