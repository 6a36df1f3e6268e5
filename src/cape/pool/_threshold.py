"""One model with a moved threshold: every cut is a member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cape._learners._scoring import Scorer, read_rows, score_rows
from cape.evidence import GroupEvidence
from cape.histogram import ONE, ScoreHistogram
from cape.pool._rates import MemberRates

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
        cls,
        model: Any,
        positive: Any,
        positives: ScoreHistogram,
        negatives: ScoreHistogram,
        *,
        shares_scores: bool,
    ) -> ThresholdPool:
        """All cuts at the edges of the out-of-fold histograms."""
        cuts = np.concatenate([[-1], positives.edges, [ONE]])
        c = np.clip(cuts / ONE, 0, 1)
        pi = positives.size / (positives.size + negatives.size)
        thetas = pi * (1 - c) / (pi * (1 - c) + (1 - pi) * c)
        n1, n0 = (np.full(len(cuts), float(h.size)) for h in (positives, negatives))
        return cls(
            model,
            positive,
            cuts,
            thetas,
            MemberRates(positives.above(), n1, negatives.above(), n0),
            shares_scores,
        )

    @property
    def models(self) -> list[Any]:
        """The fitted learners behind the members."""
        return [self.model]

    def read(self, X: Any, scorer: Scorer) -> tuple[np.ndarray, np.ndarray]:
        """Scores by the scorer, and those that all cuts decide by."""
        if self.shares_scores:
            scores = scorer(X)
            return scores, scores[0]
        scores = read_rows(X, self.positive, scoring=[*scorer.models, self.model])[0]
        return scores[:-1], scores[-1]

    def score_all(self, X: Any, scorer: Scorer) -> tuple[np.ndarray, np.ndarray]:
        """Scores by the scorer, and by each of ``models``."""
        scores, read = self.read(X, scorer)
        return scores, read[None]

    def read_of(self, scores: np.ndarray) -> np.ndarray:
        """What `read` gives, from the scores by each of ``models``."""
        return scores[0]

    def model_of(self, member: int) -> int:
        """Which of ``models`` a member decides by: there is one."""
        return 0

    def scores_of(self, X: Any, member: int) -> np.ndarray:
        """Rounded scores by which one member decides: the same for all."""
        return score_rows(self.model, X, self.positive)

    def nothing(self) -> np.ndarray:
        """What `read` gives of no rows."""
        return np.empty(0, dtype=np.int64)

    def tally(self, read: np.ndarray, edges: np.ndarray) -> ScoreHistogram | None:
        """Histogram of the deciding scores; None when the quantifier's is the same."""
        return None if self.shares_scores else ScoreHistogram.of(read, edges)

    def predicted_prevalences(self, evidence: GroupEvidence) -> np.ndarray:
        """Share of rows above each cut."""
        histogram = evidence.scores if evidence.tally is None else evidence.tally
        above = histogram.above()
        return above / above[0]

    def decide_each(self, read: np.ndarray) -> np.ndarray:
        """Each cut's decision on each row, of shape (n_rows, n_members)."""
        return read[:, None] > self.cuts

    def decide_by(self, read: np.ndarray, member: int) -> np.ndarray:
        """One cut's decision on each row."""
        return self.decide(read, member)

    def decide(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Whether the scores are above the member's cut, strictly."""
        return scores > self.cuts[member]

    def probability(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Posterior at the member's theta, above 1/2 just where the member calls a row positive."""
        called = self.decide(scores, member)
        s, c = scores / ONE, np.clip(self.cuts[member] / ONE, 0, 1)
        positive, negative = s * (1 - c), (1 - s) * c
        posterior = np.divide(
            positive,
            positive + negative,
            out=called.astype(float),
            where=positive + negative > 0,
        )
        return np.where(
            called,
            np.maximum(posterior, np.nextafter(0.5, 1)),
            np.minimum(posterior, 0.5),
        )
