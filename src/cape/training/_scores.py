"""A model that exists already, whose scores and decisions are columns of a table."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score

from cape.base._numbers import quoted
from cape.base._validation import check_binary_labels
from cape.shown._results import decisions_run_against_labels

_MOST_NAMES = 6
"""Values or columns that an error names."""

_CLEARLY = 4
"""Standard errors of the AUC below 1/2 from which on scores run the wrong way."""


class Scores(ClassifierMixin, BaseEstimator):
    """The model you have, whose scores and decisions are columns of X.

    It replaces the learner, so nothing is trained. `CapeClassifier.fit` then takes a
    labelled reference table that the model was not trained on, and counts scores,
    decisions and columns. The rule is "unchanged": the decisions stay as they were
    made, and `cape.examine` says what to expect of them.

    Parameters
    ----------
    score : str or int
        Column of X with the score: a number that is higher for rows more likely to be
        positive. It need not be a probability.
    decision : str, int or None, default=None
        Column of X with the decision that was made; it has two values. None means that
        decisions are not known: "unchanged" then predicts the highest scores positive,
        as many as there are positives in the reference table.
    positive : value or None, default=None
        The decision that counts as positive. None is the positive label if decisions
        have the values of the labels, and otherwise the greater of the two values (1,
        True, "yes").

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive one.
    centre_, width_ : float or None
        Median and spread of the scores of the reference table, which bring scores of
        any range to [0, 1]; None if they are in [0, 1] already.
    decision_values_ : tuple of two values, or None
        The decisions that predict a negative, and a positive.

    See Also
    --------
    CapeClassifier : With ``cv="prefit"`` it takes a fitted model that can be called.

    Notes
    -----
    A score s outside [0, 1] becomes (1 + z / (1 + abs(z))) / 2 with z = (s - centre) /
    width. The map keeps the order of scores and has room for scores beyond those of the
    reference table. It uses only the four basic operations, so that a database computes
    it to the last bit.

    Examples
    --------
    >>> from cape import CapeClassifier, Scores, examine
    >>> def logged(data):
    ...     p = known.predict_proba(data)[:, 1]
    ...     return pd.DataFrame({"p": p, "approved": p > 0.5})
    >>> known = LogisticRegression().fit(train.data[:500], train.target[:500])
    >>> clf = CapeClassifier(Scores("p", "approved")).fit(
    ...     logged(train.data[500:]),
    ...     train.target[500:],
    ...     sensitive_features=train.sensitive_features[500:],
    ... )
    >>> seen = examine(
    ...     clf, logged(new.data), sensitive_features=new.sensitive_features
    ... )
    >>> sorted(seen.expected.table())[:3]
    ['accuracy', 'accuracy_high', 'accuracy_low']
    """

    def __init__(self, score="score", decision=None, *, positive=None):
        self.score = score
        self.decision = decision
        self.positive = positive

    @property
    def columns(self) -> list[Any]:
        """The columns of X that hold the model's scores and decisions."""
        return [name for name in (self.score, self.decision) if name is not None]

    def fit(self, X, y):
        """Learn the range of the scores and the values of the decisions.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        scores = _numbers(X, self.score)
        classes, is_positive = check_binary_labels(y)
        self._check_direction(scores, is_positive)
        centre = width = None
        if not ((scores >= 0) & (scores <= 1)).all():
            finite = scores[np.isfinite(scores)]
            if len(finite) == 0:
                raise ValueError(
                    f"score column {self.score!r} must hold finite numbers, got "
                    "infinities alone."
                )
            low, centre, high = np.quantile(finite, [0.25, 0.5, 0.75]).tolist()
            # Where half of the scores are equal, any width keeps the order.
            width = high - low if high > low else 1.0
        values = None
        if self.decision is not None:
            values = self._values(_values(X, self.decision), classes.tolist())
        # Attributes are set last: a fit that fails leaves no half-fitted model behind.
        self.classes_ = classes
        self.centre_ = centre
        self.width_ = width
        self.decision_values_ = values
        if values is not None:
            decided = self.decided(X)
            if decided[is_positive].mean() < decided[~is_positive].mean():
                text = decisions_run_against_labels(self.decision, values[1])
                warnings.warn(text, stacklevel=8)
        return self

    def predict_proba(self, X):
        """Return the scores, scaled to [0, 1], as if they were probabilities.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        scores = _numbers(X, self.score)
        if self.centre_ is None:
            inside = (scores >= 0) & (scores <= 1)
            if not inside.all():
                raise ValueError(
                    f"score column {self.score!r} must hold scores in [0, 1], as the "
                    f"reference table does, got {scores[~inside][0]}."
                )
        else:
            # The order of operations is that of cape.elsewhere.sql.
            with np.errstate(invalid="ignore", over="ignore"):
                z = (scores - self.centre_) / self.width_
                squashed = 0.5 + 0.5 * (z / (1 + np.abs(z)))
            scores = np.where(np.isinf(z), (z > 0).astype(float), squashed)
        return np.column_stack([1 - scores, scores])

    def decided(self, X):
        """Return which rows have a positive decision.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of float of shape (n_samples,)
            1 for positives, 0 for negatives.
        """
        decisions = _values(X, self.decision)
        negative, positive = self.decision_values_
        is_positive = decisions == positive
        unknown = ~is_positive & (decisions != negative)
        if unknown.any():
            accepted = quoted([negative, positive], _MOST_NAMES)
            raise ValueError(
                f"decision column {self.decision!r} must hold {accepted}, got "
                f"{decisions[unknown][0]!r} in {np.count_nonzero(unknown)} rows."
            )
        return is_positive.astype(float)

    def _check_direction(self, scores: np.ndarray, is_positive: np.ndarray) -> None:
        """Raise if positives have the lower scores."""
        finite = np.nan_to_num(scores)
        auc = roc_auc_score(is_positive, finite)
        n_positive = np.count_nonzero(is_positive)
        n_negative = len(is_positive) - n_positive
        # The variance of the AUC without any signal (Mann and Whitney 1947).
        error = ((len(is_positive) + 1) / (12 * n_positive * n_negative)) ** 0.5
        if auc < 0.5 - _CLEARLY * error:
            raise ValueError(
                f"score column {self.score!r} must be higher for rows that are more "
                f"likely positive, got an AUC of {auc:.2f}. Reverse it (1 - score), or "
                "say which label is positive."
            )

    def _values(self, decisions: np.ndarray, classes: list[Any]) -> tuple[Any, Any]:
        """Return the two decisions, the one that calls a row positive last."""
        distinct = sorted(set(decisions.tolist()), key=lambda value: str(value))
        if len(distinct) == 1 and set(distinct) < set(classes):
            # A model may have decided alike on all rows of a short table.
            distinct = classes
        if len(distinct) != 2:
            raise ValueError(
                f"decision column {self.decision!r} must hold two values, got "
                f"{quoted(distinct, _MOST_NAMES)}."
            )
        if set(distinct) == set(classes):
            distinct = classes
        if self.positive is not None:
            if self.positive not in distinct:
                raise ValueError(
                    f"positive must be a value of the decision column "
                    f"{self.decision!r} ({quoted(distinct, _MOST_NAMES)}), got "
                    f"{self.positive!r}."
                )
            distinct = sorted(distinct, key=lambda value: value == self.positive)
        return distinct[0], distinct[1]


class Decisions(BaseEstimator):
    """The decisions of `Scores`, read as if they were a model's probabilities.

    Parameters
    ----------
    scores : Scores
        Fitted, with a decision column.
    """

    def __init__(self, scores):
        self.scores = scores
        self.classes_ = scores.classes_

    def predict_proba(self, X):
        """Return 1 for the class that was decided on, 0 for the other."""
        decided = self.scores.decided(X)
        return np.column_stack([1 - decided, decided])


def model_columns(estimator: Any, names: list[str]) -> list[int]:
    """Return the positions of the columns that hold scores and decisions.

    Parameters
    ----------
    estimator : estimator
        Any learner; only `Scores` has these columns.
    names : list of str
        Names of the columns of X.

    Returns
    -------
    list of int
    """
    if not isinstance(estimator, Scores):
        return []
    positions = []
    for column in estimator.columns:
        is_name = isinstance(column, str) and column in names
        positions.append(names.index(column) if is_name else column)
    return positions


def _values(X: Any, column: Any) -> np.ndarray:
    """Return a column as an array, after checking that no value is missing."""
    # Importing pandas takes longer than importing the rest of cape.
    import pandas as pd

    try:
        values = X[column] if hasattr(X, "columns") else X[:, column]
    except (KeyError, IndexError, TypeError):
        names = list(getattr(X, "columns", range(X.shape[1])))
        raise ValueError(
            f"X must have the column {column!r} of the model's scores or decisions, "
            f"got {quoted(names, _MOST_NAMES)}."
        ) from None
    missing = np.asarray(pd.isna(values))
    if missing.any():
        raise ValueError(
            f"column {column!r} of the model's scores or decisions must have a value "
            f"in every row, got {np.count_nonzero(missing)} missing. Leave out rows "
            "without a value."
        )
    return np.asarray(values.astype(object) if hasattr(values, "cat") else values)


def _numbers(X: Any, column: Any) -> np.ndarray:
    """Return a column of numbers as float64."""
    values = _values(X, column)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"score column {column!r} must hold numbers, got {values[0]!r}."
        ) from None
