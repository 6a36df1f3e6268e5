"""Reading the scores of fitted learners, rounded once and for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cape._learners._linear import LinearStack
from cape._learners._rows import Rows
from cape._validation import number_of_rows
from cape.histogram import HALF, round_scores

__all__ = ["score_rows", "score_with_models", "vote_on_rows"]


def score_rows(model: Any, X: Any, positive: Any) -> np.ndarray:
    """Score rows with one model.

    Parameters
    ----------
    model : fitted learner
    X : table or Rows
    positive : label
        The positive label.

    Returns
    -------
    ndarray of int64 of shape (n_rows,)
        The model's probability of the positive label, rounded to multiples of 2^-32.
    """
    scores, _ = score_with_models(X, positive, scoring=[model])
    return scores[0]


def vote_on_rows(model: Any, X: Any, positive: Any) -> np.ndarray:
    """Tell which rows a model scores above 1/2.

    Parameters
    ----------
    model : fitted learner
    X : table or Rows
    positive : label

    Returns
    -------
    ndarray of bool of shape (n_rows,)
    """
    _, votes = score_with_models(X, positive, voting=[model])
    return votes[0]


def score_with_models(
    X: Any, positive: Any, *, scoring: Sequence[Any] = (), voting: Sequence[Any] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Score rows with several models.

    Logistic regressions on a numeric table share one matrix product. All other learners
    are asked one after the other.

    Parameters
    ----------
    X : table or Rows
    positive : label
        The positive label.
    scoring : sequence of fitted learners
        Learners whose scores are wanted.
    voting : sequence of fitted learners
        Learners of which it is enough to know whether the score is above 1/2.

    Returns
    -------
    scores : ndarray of int64 of shape (n_scoring, n_rows)
        Rounded scores.
    votes : ndarray of bool of shape (n_voting, n_rows)
    """
    rows = Rows.of(X)
    stack = LinearStack.of([*scoring, *voting], positive)
    if stack is not None and stack.can_read(rows.array):
        result = stack.read(rows, n_scoring=len(scoring))
        if result is not None:
            return result
    return score_one_by_one(rows, positive, scoring, voting)


def score_one_by_one(
    rows: Rows, positive: Any, scoring: Sequence[Any], voting: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Score rows with each model in turn, by its ``predict_proba``."""
    scores = np.empty((len(scoring), len(rows)), dtype=np.int64)
    votes = np.empty((len(voting), len(rows)), dtype=bool)
    table = rows.table()
    for i, model in enumerate(scoring):
        scores[i] = _score(model, table, positive)
    for i, model in enumerate(voting):
        votes[i] = _score(model, table, positive) > HALF
    return scores, votes


def _score(model: Any, X: Any, positive: Any) -> np.ndarray:
    """Return the rounded probability of the positive label, by ``predict_proba``."""
    if number_of_rows(X) == 0:
        return np.empty(0, dtype=np.int64)
    # `predict` is never used: a decision and a count of decisions must not differ by
    # how a learner breaks ties at 1/2.
    probabilities = np.asarray(model.predict_proba(X))
    classes = list(getattr(model, "classes_", [None, positive]))
    if probabilities.ndim != 2 or probabilities.shape[1] != len(classes):
        raise ValueError(
            f"estimator must give probabilities of {len(classes)} classes, got an "
            f"array of shape {probabilities.shape} from {model!r}."
        )
    # One row would be broadcast to all, in silence.
    if len(probabilities) != number_of_rows(X):
        raise ValueError(
            f"estimator must give probabilities of {number_of_rows(X)} rows, got "
            f"{len(probabilities)} from {model!r}."
        )
    if positive not in classes:
        # The learner was trained without a single positive.
        return np.zeros(len(probabilities), dtype=np.int64)
    return round_scores(probabilities[:, classes.index(positive)])
