"""One model with a moved threshold: every cut is a member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cape.evidence import GroupEvidence
from cape.histogram import ONE, ScoreHistogram
from cape.pool._rates import MemberRates
from cape.scoring import score_rows

__all__ = ["ThresholdPool"]


@dataclass(frozen=True)
class ThresholdPool:
    """The cuts of one model's score.

    Under prior shift the best classifier at prevalence theta is the training one with its odds scaled by
    theta (1 - pi) / ((1 - theta) pi), so the cut c stands for theta = pi (1 - c) / (pi (1 - c) + (1 - pi) c).

    Parameters
    ----------
    model : fitted learner
    positive : the positive label
    cuts : ndarray of int64 of shape (n_members,)
        In units of 2^-32: -1 calls all rows positive, 2^32 none.
    thetas : ndarray of shape (n_members,)
    rates : MemberRates
        From the two out-of-fold histograms.
    shares_scores : bool
        Whether the model that decides is the one that scores batches for the quantifier.
    """

    model: Any
    positive: Any
    cuts: np.ndarray
    thetas: np.ndarray
    rates: MemberRates
    shares_scores: bool

    @classmethod
    def of(
        cls, model: Any, positive: Any, positives: ScoreHistogram, negatives: ScoreHistogram, *, shares_scores: bool
    ) -> ThresholdPool:
        """All cuts at the edges of the out-of-fold histograms."""
        cuts = np.concatenate([[-1], positives.edges, [ONE]])
        c = np.clip(cuts / ONE, 0, 1)
        pi = positives.size / (positives.size + negatives.size)
        thetas = pi * (1 - c) / (pi * (1 - c) + (1 - pi) * c)
        n1, n0 = (np.full(len(cuts), float(h.size)) for h in (positives, negatives))
        return cls(
            model, positive, cuts, thetas, MemberRates(positives.above(), n1, negatives.above(), n0), shares_scores
        )

    def scores(self, X: Any) -> np.ndarray:
        """Rounded scores that all cuts decide by."""
        return score_rows(self.model, X, self.positive)

    def scores_of(self, X: Any, member: int) -> np.ndarray:
        """The same for every member."""
        return self.scores(X)

    def pick(self, scores: np.ndarray, member: int) -> np.ndarray:
        """The same for every member."""
        return scores

    def tally(self, scores: np.ndarray, edges: np.ndarray) -> ScoreHistogram | None:
        """Histogram of the deciding scores; None when the quantifier's is the same."""
        return None if self.shares_scores else ScoreHistogram.of(scores, edges)

    def predicted_prevalences(self, evidence: GroupEvidence) -> np.ndarray:
        """Share of rows above each cut."""
        histogram = evidence.scores if evidence.tally is None else evidence.tally
        return histogram.above() / histogram.counts.sum()

    def decide_each(self, scores: np.ndarray) -> np.ndarray:
        """Each cut's decision on each row, of shape (n_rows, n_members)."""
        return scores[:, None] > self.cuts

    def decide(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Whether the scores are above the member's cut, strictly."""
        return scores > self.cuts[member]

    def probability(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Posterior at the member's theta, above 1/2 just where the member calls a row positive."""
        called = self.decide(scores, member)
        s, c = scores / ONE, np.clip(self.cuts[member] / ONE, 0, 1)
        positive, negative = s * (1 - c), (1 - s) * c
        posterior = np.divide(positive, positive + negative, out=called.astype(float), where=positive + negative > 0)
        return np.where(called, np.maximum(posterior, np.nextafter(0.5, 1)), np.minimum(posterior, 0.5))
