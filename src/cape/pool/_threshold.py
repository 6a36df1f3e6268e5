"""One model with a moved threshold: every cut of its score is a member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cape.evidence import GroupEvidence
from cape.histogram import ONE, ScoreHistogram
from cape.pool._base import Pool
from cape.pool._rates import MemberRates

__all__ = ["ThresholdPool"]


@dataclass(frozen=True)
class ThresholdPool(Pool):
    """The cuts of one model's score.

    Under prior shift the best classifier at prevalence theta is the training one with
    its odds scaled by theta (1 - pi) / ((1 - theta) pi), where pi is the prevalence in
    training (Saerens et al. 2002). So the cut c of the training score stands for
    theta = pi (1 - c) / (pi (1 - c) + (1 - pi) c).

    With several models, the fold models of cross-validation, the mean of their scores
    decides: it is sharper than any of them, and nothing has to be refitted.

    Parameters
    ----------
    models : list of fitted learners
    cuts : ndarray of int64 of shape (n_members,)
        In units of 2^-32: -1 calls all rows positive, 2^32 none.
    thetas : ndarray of shape (n_members,)
    rates : MemberRates
        From the two out-of-fold histograms.

    Examples
    --------
    >>> pool = clf.models_[0].pool
    >>> scores = np.array([0, 1 << 31, 1 << 32])
    >>> pool.calls(scores, member=0).tolist()
    [True, True, True]
    """

    models: list[Any]
    cuts: np.ndarray
    thetas: np.ndarray
    rates: MemberRates

    decides_by_scoring_models = True

    @classmethod
    def of(
        cls,
        models: list[Any],
        positives: ScoreHistogram,
        negatives: ScoreHistogram,
    ) -> ThresholdPool:
        """Make a member of every edge of the out-of-fold histograms.

        Parameters
        ----------
        models : list of fitted learners
        positives, negatives : ScoreHistogram
            Out-of-fold scores of the two classes, with the same edges.

        Returns
        -------
        ThresholdPool
        """
        # Every edge is a cut; so are "all rows" and "no row", since a batch may have no
        # negatives or no positives at all.
        cuts = np.concatenate([[-1], positives.edges, [ONE]])
        c = np.clip(cuts / ONE, 0, 1)
        pi = positives.size / (positives.size + negatives.size)
        thetas = pi * (1 - c) / (pi * (1 - c) + (1 - pi) * c)
        rates = MemberRates(
            true_positives=positives.above(),
            positives=np.full(len(cuts), float(positives.size)),
            false_positives=negatives.above(),
            negatives=np.full(len(cuts), float(negatives.size)),
        )
        return cls(models, cuts, thetas, rates)

    def combine(self, scores: np.ndarray) -> np.ndarray:
        """Compute the mean score of each row, rounded half up.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_models, n_rows)

        Returns
        -------
        ndarray of int64 of shape (1, n_rows)
        """
        n_models = len(scores)
        if n_models == 1:
            return scores
        # In integers, so that the mean does not depend on the order of additions.
        return (scores.sum(axis=0, keepdims=True) + n_models // 2) // n_models

    def deciding_row(self, member: int) -> int:
        """Return 0: all members decide by the same score."""
        return 0

    def models_of(self, member: int) -> list[Any]:
        """Return all models: every member decides by their mean."""
        return self.models

    def calls(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Tell which scores are above the cut of a member, strictly.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_rows,)
        member : int

        Returns
        -------
        ndarray of bool of shape (n_rows,)
        """
        return scores > self.cuts[member]

    def probability(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Compute the posterior at the theta of a member.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_rows,)
        member : int

        Returns
        -------
        ndarray of float of shape (n_rows,)
            Above 1/2 exactly where the member calls the row positive.
        """
        called = self.calls(scores, member)
        s = scores / ONE
        c = np.clip(self.cuts[member] / ONE, 0, 1)
        # Bayes at theta, with theta written in terms of the cut: the posterior is 1/2
        # where s = c. A cut at 0 or 1 leaves 0/0 for some scores; there the decision
        # itself is the probability.
        positive = s * (1 - c)
        negative = (1 - s) * c
        total = positive + negative
        posterior = np.divide(
            positive, total, out=called.astype(float), where=total > 0
        )
        just_above_half = np.nextafter(0.5, 1)
        return np.where(
            called,
            np.maximum(posterior, just_above_half),
            np.minimum(posterior, 0.5),
        )

    def tally(self, deciding: np.ndarray, edges: np.ndarray) -> ScoreHistogram | None:
        """Count the deciding scores, unless the quantifier's histogram has them.

        Parameters
        ----------
        deciding : ndarray of int64 of shape (1, n_rows)
        edges : ndarray of int64

        Returns
        -------
        ScoreHistogram or None
        """
        if len(self.models) == 1:
            return None
        return ScoreHistogram.of(deciding, edges)

    def called(self, evidence: GroupEvidence) -> np.ndarray:
        """Count the rows of the evidence above each cut.

        Parameters
        ----------
        evidence : GroupEvidence

        Returns
        -------
        ndarray of shape (n_members,)
        """
        if evidence.tally is None:
            return evidence.scores.above()
        return evidence.tally.above()
