"""The adapter through which QuaPy's aggregative quantifiers can be used."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from cape.histogram import ONE, ScoreHistogram
from cape.quantify._base import Quantifier

__all__ = ["QuaPyQuantifier"]


class _Scores(ClassifierMixin, BaseEstimator):
    """Stands where QuaPy expects a fitted classifier: the scores are already there."""

    classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return X

    def __sklearn_is_fitted__(self):
        return True


class QuaPyQuantifier(Quantifier):
    """A quantifier of QuaPy that aggregates scores, such as ``KDEyML`` or ``EMQ``.

    QuaPy reads the scores of rows, so histograms keep them: evidence grows with the batch, has no ``-``, and cannot
    come from a file in parts, a cluster or a stream. Its interval is that of `SPA`, stretched to hold the estimate.

    Parameters
    ----------
    quantifier : quapy.method.aggregative.AggregativeQuantifier
        Its classifier is ignored: the scores are those of `CapeClassifier`.

    Examples
    --------
    >>> from quapy.method.aggregative import SMM  # doctest: +SKIP
    >>> CapeClassifier(quantifier=QuaPyQuantifier(SMM()))  # doctest: +SKIP
    """

    keeps_rows = True

    def __init__(self, quantifier: Any):
        self.quantifier = quantifier

    def _fit(self) -> None:
        if not hasattr(self.quantifier, "aggregation_fit"):
            raise TypeError(
                f"quantifier must be an aggregative one of QuaPy (with aggregation_fit), got {self.quantifier!r}."
            )
        scores = np.concatenate([_rows(self.positives_), _rows(self.negatives_)])
        labels = np.repeat(
            [1, 0], [len(_rows(self.positives_)), len(_rows(self.negatives_))]
        )
        self.fitted_ = copy.deepcopy(self.quantifier)
        self.fitted_.classifier = _Scores()
        self.fitted_.train_prevalence = np.array([1 - labels.mean(), labels.mean()])
        self.fitted_.aggregation_fit(self._as_quapy(scores), labels)

    def _estimate(self, batch: ScoreHistogram) -> float:
        return float(self.fitted_.aggregate(self._as_quapy(_rows(batch)))[1])

    def _as_quapy(self, scores: np.ndarray) -> np.ndarray:
        """Labels for quantifiers that count, probabilities of both classes for the others."""
        if self.quantifier._classifier_method() == "predict":
            return (scores > 0.5).astype(int)
        return np.column_stack([1 - scores, scores])


def _rows(histogram: ScoreHistogram) -> np.ndarray:
    if histogram.rows is None:
        raise TypeError(
            "a quantifier of QuaPy needs histograms that keep their rows (keep_rows=True)."
        )
    return histogram.rows / ONE
