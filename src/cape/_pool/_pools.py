"""Pools: the members of a group, one for each prevalence, and what they decide."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cape._evidence import GroupEvidence
from cape._histogram import HALF, ONE, ScoreHistogram
from cape.metrics._rates import FEWEST_ROWS


@dataclass(frozen=True)
class MemberRates:
    """True and false positive rates of the members, with the rows behind them.

    Parameters
    ----------
    true_positives, positives : ndarray of shape (n_members,)
        Positives that each member called positive, and all positives it was tested on.
        The rows were not used to train the member; weighted rows count their weight.
    false_positives, negatives : ndarray of shape (n_members,)
        Negatives that each member called positive, and all negatives.

    Examples
    --------
    >>> from cape._pool import MemberRates
    >>> counts = [[40.0, 3.0], [50.0, 5.0], [8.0, 1.0], [80.0, 20.0]]
    >>> rates = MemberRates(*np.array(counts))
    >>> rates.tpr.tolist(), rates.fpr.tolist()
    ([0.8, nan], [0.1, 0.05])
    """

    true_positives: np.ndarray
    positives: np.ndarray
    false_positives: np.ndarray
    negatives: np.ndarray

    @property
    def tpr(self) -> np.ndarray:
        """True positive rate; NaN, unknown, with fewer than ten positives."""
        return _rate(self.true_positives, self.positives)

    @property
    def fpr(self) -> np.ndarray:
        """False positive rate; NaN, unknown, with fewer than ten negatives."""
        return _rate(self.false_positives, self.negatives)


def _rate(called: np.ndarray, rows: np.ndarray) -> np.ndarray:
    unknown = np.full(len(rows), np.nan)
    return np.divide(called, rows, out=unknown, where=rows >= FEWEST_ROWS)


class Pool(ABC):
    """The classifiers of one group, one member for each prevalence theta.

    A pool does not score rows. It is handed the rounded scores of the model behind a
    member (see `cape._histogram.round_scores`) and says what that member makes of them.

    Attributes
    ----------
    thetas : ndarray of shape (n_members,)
        Prevalence that each member was made for.
    rates : MemberRates
        True and false positive rates of the members on rows they were not trained on.
    models : list of fitted learners
        The learners behind the members, each once.

    Examples
    --------
    >>> from cape._pool import Pool
    >>> issubclass(type(clf.models_[0].pool), Pool)
    True
    """

    thetas: np.ndarray
    rates: MemberRates
    models: list[Any]

    decides_by_scoring_models = False
    """Whether ``models`` are those that score a batch for the quantifier."""

    @property
    def has_a_model_each(self) -> bool:
        """Whether every member has a model of its own.

        Such a member calls a row positive if its score is above 1/2. Whoever needs no
        probabilities can then keep one bit a row and member instead of the score.
        """
        # Cuts of few distinct scores may happen to be as many as the fold models.
        n_members = len(self.thetas)
        return len(self.models) == n_members and not self.decides_by_scoring_models

    def combine(self, scores: np.ndarray) -> np.ndarray:
        """Turn scores by ``models`` into the scores that members decide by.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_models, n_rows)

        Returns
        -------
        ndarray of int64 of shape (n_deciding, n_rows)
        """
        return scores

    @abstractmethod
    def deciding_row(self, member: int) -> int:
        """Return which row of the deciding scores belongs to a member."""

    @abstractmethod
    def models_of(self, member: int) -> list[Any]:
        """Return the models that have to be asked for a member to decide."""

    @abstractmethod
    def calls(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Tell which rows a member calls positive.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_rows,)
            Rounded scores by the model behind the member.
        member : int

        Returns
        -------
        ndarray of bool of shape (n_rows,)
        """

    @abstractmethod
    def probability(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Compute a member's probability that rows are positive.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_rows,)
            Rounded scores by the model behind the member.
        member : int

        Returns
        -------
        ndarray of float of shape (n_rows,)
            Above 1/2 exactly where the member calls the row positive.
        """

    @abstractmethod
    def tally(self, deciding: np.ndarray, edges: np.ndarray) -> Any:
        """Count what evidence has to keep so that `called` can be computed from it.

        Parameters
        ----------
        deciding : ndarray of shape (n_models, n_rows)
            Rounded scores by ``models``; or, for a pool with a model for each member,
            whether they are above 1/2.
        edges : ndarray of int64
            Edges of the group's histograms.

        Returns
        -------
        ndarray of int64, ScoreHistogram or None
            Something that adds up over the rows; None if the evidence holds it anyway.
        """

    @abstractmethod
    def called(self, evidence: GroupEvidence) -> np.ndarray:
        """Count the rows of the evidence that each member calls positive.

        Parameters
        ----------
        evidence : GroupEvidence

        Returns
        -------
        ndarray of shape (n_members,)
        """


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
        cls, models: list[Any], positives: ScoreHistogram, negatives: ScoreHistogram
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
        """Compute the mean score of each row, rounded half up."""
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
        """Tell which scores are above the cut of a member, strictly."""
        return scores > self.cuts[member]

    def probability(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Compute the posterior at the theta of a member."""
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
            called, np.maximum(posterior, just_above_half), np.minimum(posterior, 0.5)
        )

    def tally(self, deciding: np.ndarray, edges: np.ndarray) -> ScoreHistogram | None:
        """Count the deciding scores, unless the quantifier's histogram has them."""
        if len(self.models) == 1:
            return None
        return ScoreHistogram.of(deciding, edges)

    def called(self, evidence: GroupEvidence) -> np.ndarray:
        """Count the rows of the evidence above each cut."""
        if evidence.tally is None:
            return evidence.scores.above()
        return evidence.tally.above()


@dataclass(frozen=True)
class ResampledPool(Pool):
    """The paper's pool: one fitted classifier for each theta of the grid.

    Parameters
    ----------
    thetas : ndarray of shape (n_members,)
    models : list of fitted learners
        One for each member.
    rates : MemberRates
        Out-of-bag: from the rows that a member's sample left out.

    Examples
    --------
    >>> from cape._pool import ResampledPool, fit_member
    >>> thetas = np.array([0.2, 0.8])
    >>> members = [
    ...     fit_member(LogisticRegression(), train.data, train.target, 1, theta)
    ...     for theta in thetas
    ... ]
    >>> pool = ResampledPool.of(thetas, members)
    >>> bool(pool.rates.tpr[0] < pool.rates.tpr[1])
    True
    """

    thetas: np.ndarray
    models: list[Any]
    rates: MemberRates

    @classmethod
    def of(cls, thetas: np.ndarray, members: Sequence[Any]) -> ResampledPool:
        """Put together what `fit_member` returned for each theta."""
        models = [model for model, _ in members]
        counts = np.array([counts for _, counts in members])
        return cls(thetas, models, MemberRates(*counts.T.copy()))

    def deciding_row(self, member: int) -> int:
        """Return the member's own position: every member has a model of its own."""
        return member

    def models_of(self, member: int) -> list[Any]:
        """Return the model of the member."""
        return [self.models[member]]

    def calls(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Tell which scores are above 1/2, strictly."""
        return scores > HALF

    def probability(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Return the member's own probability of a positive."""
        return scores / ONE

    def tally(self, deciding: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Count the rows that each member calls positive."""
        votes = deciding
        if deciding.dtype != bool:
            votes = deciding > HALF
        counts = [np.count_nonzero(votes_of_member) for votes_of_member in votes]
        return np.array(counts, dtype=np.int64)

    def called(self, evidence: GroupEvidence) -> np.ndarray:
        """Return how many rows of the evidence each member calls positive."""
        return evidence.tally
