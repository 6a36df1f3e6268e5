"""Quantifiers of cape as quantifiers of QuaPy. QuaPy is imported here alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from quapy.method.aggregative import (
    AggregativeSoftQuantifier,
    BinaryAggregativeQuantifier,
)
from sklearn.base import clone

from cape.evidence._histogram import ScoreHistogram, edges_for, round_scores


class InQuaPy(AggregativeSoftQuantifier, BinaryAggregativeQuantifier):
    """What `Quantifier.as_quapy` returns."""

    def __init__(
        self,
        quantifier: Any,
        classifier: Any = None,
        fit_classifier: bool = True,
        val_split: Any = 5,
    ):
        super().__init__(classifier, fit_classifier, val_split)
        self.quantifier = quantifier

    def aggregation_fit(self, classif_predictions: np.ndarray, labels: Any) -> None:
        scores = round_scores(classif_predictions[:, 1])
        is_positive = np.asarray(labels) == self.pos_label
        positives = scores[is_positive]
        negatives = scores[~is_positive]
        self.edges_ = edges_for(positives, negatives)
        self.fitted_ = clone(self.quantifier)
        self.fitted_.fit(self._counted(positives), self._counted(negatives))

    def aggregate(self, classif_predictions: np.ndarray) -> np.ndarray:
        batch = self._counted(round_scores(classif_predictions[:, 1]))
        prevalence = self.fitted_.estimate(batch)
        return np.array([1 - prevalence, prevalence])

    def _counted(self, scores: np.ndarray) -> ScoreHistogram:
        return ScoreHistogram.of(
            scores, self.edges_, keep_rows=self.quantifier.keeps_rows
        )
