"""All that training leaves of one group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cape._learners._linear import LinearStack
from cape._learners._scoring import RowsOf, Scorer
from cape._shift_test import pairs_together
from cape.evidence import GroupEvidence
from cape.histogram import HALF, ScoreHistogram
from cape.pool import ResampledPool, ThresholdPool
from cape.quantify import Quantifier

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
    transformer : fitted transformer or None, default=None
        What rows go through before any learner sees them, with ``preprocessing="once"``.
    """

    size: int
    prevalence: float
    positives: ScoreHistogram
    negatives: ScoreHistogram
    scorer: Scorer
    quantifier: Quantifier
    pool: ResampledPool | ThresholdPool
    follows: bool = True
    transformer: Any = None

    @property
    def edges(self) -> np.ndarray:
        """Edges of every histogram of this group."""
        return self.positives.edges

    def prepared(self, X: Any) -> RowsOf:
        """Rows (of a table or `RowsOf`) as learners see them."""
        rows = RowsOf.of(X)
        if self.transformer is None or len(rows) == 0:
            return rows
        return RowsOf(self.transformer.transform(rows.table()))

    def read(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Of each row its scores, of shape (n_models, n_rows), and what members decide by."""
        return self.pool.read(self.prepared(X), self.scorer)

    def look(self, X: Any) -> tuple[GroupEvidence, np.ndarray]:
        """Evidence of rows of this group, and what members decide by, so that no row is scored twice."""
        scores, read = self.read(X)
        return self._evidence(scores, read), read

    def look_closely(self, X: Any) -> tuple[GroupEvidence, np.ndarray, np.ndarray]:
        """Evidence of rows of this group, and all that any member, or the model without CAPE, will say of them.

        Returns
        -------
        evidence : GroupEvidence
        scores : ndarray of int64 of shape (n_models, n_rows)
            By each of ``pool.models``.
        unadapted : ndarray of bool of shape (n_rows,)
            Whether the model as trained, cut at 1/2, calls a row positive.
        """
        scores, by_models = self.pool.score_all(self.prepared(X), self.scorer)
        unadapted = (
            by_models[0]
            if isinstance(self.pool, ThresholdPool)
            else scores.mean(axis=0)
        )
        return (
            self._evidence(scores, self.pool.read_of(by_models)),
            by_models,
            unadapted > HALF,
        )

    def _evidence(self, scores: np.ndarray, read: np.ndarray) -> GroupEvidence:
        histogram = ScoreHistogram.of(
            scores, self.edges, unit=len(scores), keep_rows=self.quantifier.keeps_rows
        )
        return GroupEvidence(
            histogram, self.pool.tally(read, self.edges), self.together(scores)
        )

    def no_evidence(self) -> GroupEvidence:
        """Evidence of no rows, the zero of the addition."""
        histogram = ScoreHistogram.empty(
            self.edges,
            unit=len(self.scorer.models),
            keep_rows=self.quantifier.keeps_rows,
        )
        nothing = self.together(np.empty((len(self.scorer.models), 0), dtype=np.int64))
        return GroupEvidence(
            histogram, self.pool.tally(self.pool.nothing(), self.edges), nothing
        )

    def together(self, scores: np.ndarray) -> np.ndarray | None:
        """Of rows with several scores, how often two of them fell together; None with one."""
        return (
            pairs_together(scores, self.positives, self.negatives)
            if len(scores) > 1
            else None
        )

    @property
    def learners(self) -> list[Any]:
        """The fitted learners that read a batch, each once."""
        return list(
            {
                id(model): model for model in (*self.scorer.models, *self.pool.models)
            }.values()
        )

    @property
    def is_linear(self) -> bool:
        """Whether to score is to multiply matrices: work that threads can share without getting in each other's way."""
        return (
            self.transformer is None
            and LinearStack.of(self.learners, self.pool.positive) is not None
        )

    def unadapted_rates(self) -> tuple[float, float]:
        """True and false positive rate of the model as trained, cut at 1/2, from the out-of-fold scores."""
        cut = (
            int(np.searchsorted(self.edges, HALF)) + 1
        )  # the first place of `above` is the cut that calls all
        return tuple(
            float(h.above()[cut] / h.counts.sum())
            for h in (self.positives, self.negatives)
        )  # type: ignore[return-value]

    def parts(self) -> list[bytes]:
        """What a fingerprint is made of: histograms, members, and who scores and quantifies."""
        rates = self.pool.rates
        arrays = [
            self.edges,
            self.pool.thetas,
            rates.true_positives,
            rates.false_positives,
        ]
        arrays += [
            part
            for h in (self.positives, self.negatives)
            for part in (h.counts, h.sums)
        ]
        params: dict[str, Any] = getattr(self.quantifier, "get_params", dict)()
        plain = {
            name: params[name]
            for name in sorted(params)
            if isinstance(params[name], (str, int, float, bool))
        }
        roles = (
            type(self.pool).__name__,
            len(self.scorer.models),
            type(self.quantifier).__name__,
            plain,
        )
        return [
            repr(roles).encode(),
            *(np.ascontiguousarray(array).tobytes() for array in arrays),
        ]
