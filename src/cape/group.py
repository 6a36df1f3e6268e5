"""All that training leaves of one group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cape.evidence import GroupEvidence
from cape.histogram import ScoreHistogram
from cape.pool import ResampledPool, ThresholdPool
from cape.quantify import Quantifier
from cape.scoring import Scorer

__all__ = ["GroupModel"]


@dataclass(frozen=True)
class GroupModel:
    """The trained parts of one group, or of all groups pooled.

    Parameters
    ----------
    size : int
        Training rows.
    prevalence : float
        Share of positives in training, weighted if the rows were.
    positives, negatives : ScoreHistogram
        Out-of-fold scores of the two classes.
    scorer : Scorer
        Scores a batch for the quantifier.
    quantifier : Quantifier
    pool : ResampledPool or ThresholdPool
    follows : bool
        Whether scores of new rows follow the distribution of the out-of-fold scores, so that the two can be tested
        against each other: with ``scores="folds"``, a hold-out, or a linear learner with few coefficients.
    """

    size: int
    prevalence: float
    positives: ScoreHistogram
    negatives: ScoreHistogram
    scorer: Scorer
    quantifier: Quantifier
    pool: ResampledPool | ThresholdPool
    follows: bool = True

    @property
    def edges(self) -> np.ndarray:
        """Edges of every histogram of this group."""
        return self.positives.edges

    def look(self, X: Any) -> tuple[GroupEvidence, np.ndarray]:
        """Evidence of rows of this group, and the scores that members decide by, so that no row is scored twice."""
        scores = self.scorer(X)
        deciding = scores[0] if self.pool.shares_scores else self.pool.scores(X)
        histogram = ScoreHistogram.of(scores, self.edges, unit=len(scores), keep_rows=self.quantifier.keeps_rows)
        return GroupEvidence(histogram, self.pool.tally(deciding, self.edges)), deciding

    def parts(self) -> list[bytes]:
        """What a fingerprint is made of: histograms, members, and who scores and quantifies."""
        rates = self.pool.rates
        arrays = [self.edges, self.pool.thetas, rates.true_positives, rates.false_positives]
        arrays += [part for h in (self.positives, self.negatives) for part in (h.counts, h.sums)]
        params: dict[str, Any] = getattr(self.quantifier, "get_params", dict)()
        plain = {name: params[name] for name in sorted(params) if isinstance(params[name], (str, int, float, bool))}
        roles = (type(self.pool).__name__, len(self.scorer.models), type(self.quantifier).__name__, plain)
        return [repr(roles).encode(), *(np.ascontiguousarray(array).tobytes() for array in arrays)]
