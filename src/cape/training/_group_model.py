"""What is fitted for one group: learners, quantifier, and a pool of members."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.isotonic import isotonic_regression

from cape.evidence._columns import ColumnCounts, TableCells
from cape.evidence._evidence import GroupEvidence
from cape.evidence._histogram import HALF, ONE, ScoreHistogram, count_true
from cape.metrics._rates import FEWEST_ROWS
from cape.quantify import Quantifier
from cape.quantify._likelihood import quantile_cuts
from cape.training._scoring import LinearStack, Rows, score_with_models
from cape.training._shared import identities, prepare


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
    >>> from cape.training._group_model import MemberRates
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

    Every member has a model of its own, unless a subclass says otherwise. A pool does
    not score rows. It is handed the rounded scores of the model behind a
    member (see `cape.quantify.round_scores`) and says what that member makes of them.

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
    >>> from cape.training._group_model import Pool
    >>> issubclass(type(clf.models_[0].pool), Pool)
    True
    """

    thetas: np.ndarray
    rates: MemberRates
    models: list[Any]

    decides_by_scoring_models = False
    """Whether ``models`` are those that score a batch for the quantifier."""

    unchanged: int | None = None
    """The member that stands for decisions as they were made, if these are known."""

    @property
    def n_deciding(self) -> int:
        """How many numbers of a row its members decide by."""
        return 1 if self.decides_by_scoring_models else len(self.models)

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

    def deciding_row(self, member: int) -> int:
        """Return which row of the deciding scores belongs to a member."""
        return member

    def models_of(self, member: int) -> list[Any]:
        """Return the models that have to be asked for a member to decide."""
        return [self.models[self.deciding_row(member)]]

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
        return scores > HALF

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
        return scores / ONE

    @abstractmethod
    def tally(self, deciding: Any, edges: np.ndarray, weights: Any = None) -> Any:
        """Count what evidence has to keep so that `called` can be computed from it.

        Parameters
        ----------
        deciding : ndarray of shape (n_models, n_rows)
            Rounded scores by ``models``; or, for a pool with a model for each member,
            whether they are above 1/2.
        edges : ndarray of int64
            Edges of the group's histograms.
        weights : ndarray of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        ndarray, ScoreHistogram or None
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


def _cuts(edges: np.ndarray) -> np.ndarray:
    """Return every score that a group may be cut at.

    Every edge is a cut; so are "all rows" and "no row", since a batch may have no
    negatives or no positives at all.
    """
    return np.concatenate([[-1], edges, [ONE]])


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
        prevalence: float | None = None,
    ) -> ThresholdPool:
        """Make a member of every edge of the out-of-fold histograms.

        Parameters
        ----------
        models : list of fitted learners
        positives, negatives : ScoreHistogram
            Out-of-fold scores of the two classes, with the same edges.
        prevalence : float, default=None
            Share of positives in training; None is that of the histograms.

        Returns
        -------
        ThresholdPool
        """
        cuts = _cuts(positives.edges)
        c = np.clip(cuts / ONE, 0, 1)
        pi = prevalence
        if pi is None:
            pi = positives.size / (positives.size + negatives.size)
        thetas = pi * (1 - c) / (pi * (1 - c) + (1 - pi) * c)
        rates = MemberRates(
            true_positives=positives.above(),
            positives=np.broadcast_to(float(positives.size), len(cuts)),
            false_positives=negatives.above(),
            negatives=np.broadcast_to(float(negatives.size), len(cuts)),
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

    def tally(self, deciding: Any, edges: np.ndarray, weights: Any = None) -> Any:
        """Count the deciding scores, unless the quantifier's histogram has them."""
        if len(self.models) == 1:
            return None
        return ScoreHistogram.of(deciding, edges, weights=weights)

    def called(self, evidence: GroupEvidence) -> np.ndarray:
        """Count the rows of the evidence above each cut."""
        if evidence.tally is None:
            return evidence.scores.above()
        return evidence.tally.above()


@dataclass(frozen=True)
class DecidedPool(ThresholdPool):
    """The cuts of a score, and, as the last member, decisions as they were made.

    The last member is made for no prevalence: its theta is NaN, and rules do not choose
    it, but for `cape.rules.Unchanged`. A row has two numbers to decide by, its score
    and its decision.

    Parameters
    ----------
    models : list of Scores and Decisions
    cuts, thetas, rates
        As in `ThresholdPool`; the rates of the last member are those of the decisions
        in the reference table.
    """

    decides_by_scoring_models = False

    @classmethod
    def of_decisions(
        cls, cuts: ThresholdPool, decisions: Any, rates: MemberRates
    ) -> DecidedPool:
        """Add the member of the decisions to those of the cuts.

        Parameters
        ----------
        cuts : ThresholdPool
        decisions : Decisions
            Reads the decisions.
        rates : MemberRates
            Of the decisions in the reference table, one member.

        Returns
        -------
        DecidedPool
        """
        arrays = []
        for field_ in fields(MemberRates):
            parts = [getattr(cuts.rates, field_.name), getattr(rates, field_.name)]
            arrays.append(np.concatenate(parts))
        thetas = np.append(cuts.thetas, np.nan)
        return cls([*cuts.models, decisions], cuts.cuts, thetas, MemberRates(*arrays))

    @property
    def unchanged(self) -> int:  # type: ignore[override]
        """The last member."""
        return len(self.cuts)

    def combine(self, scores: np.ndarray) -> np.ndarray:
        """Return scores and decisions as they are."""
        return scores

    def deciding_row(self, member: int) -> int:
        """Return 1 for the decisions, 0 for a cut of the score."""
        return int(member == self.unchanged)

    def models_of(self, member: int) -> list[Any]:
        """Return what reads the decisions, or the scores."""
        return [self.models[self.deciding_row(member)]]

    def calls(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Tell which rows were decided as positive, or lie above a cut."""
        if member == self.unchanged:
            return scores > HALF
        return super().calls(scores, member)

    def probability(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Return the decision itself, or the posterior at the theta of a cut."""
        if member == self.unchanged:
            return scores / ONE
        return super().probability(scores, member)

    def tally(self, deciding: Any, edges: np.ndarray, weights: Any = None) -> Any:
        """Count the scores of the rows that were decided as positive."""
        scores, decisions = deciding
        decided = decisions > HALF
        worth = None if weights is None else weights[decided]
        return ScoreHistogram.of(scores[decided], edges, weights=worth)

    def called(self, evidence: GroupEvidence) -> np.ndarray:
        """Count the rows above each cut, and those decided as positive."""
        decided = evidence.tally.counts.sum()
        return np.append(evidence.scores.above(), decided)


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
    >>> from cape.training._group_model import ResampledPool
    >>> from cape.training._fitting import fit_member
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

    def tally(self, deciding: Any, edges: np.ndarray, weights: Any = None) -> Any:
        """Count the rows that each member calls positive."""
        votes = deciding
        if deciding.dtype != bool:
            votes = deciding > HALF
        return np.array([count_true(of_member, weights) for of_member in votes])

    def called(self, evidence: GroupEvidence) -> np.ndarray:
        """Return how many rows of the evidence each member calls positive."""
        return evidence.tally


_CELLS_OF_CALIBRATION = 10
"""Cells of the score for the mean score, recalibrated; 5 to 40 did about as well."""


@dataclass(frozen=True)
class TrainedColumns:
    """What training leaves of the columns of one group.

    Parameters
    ----------
    cells : TableCells
        The same for all groups.
    positives, negatives : ndarray of shape (n_cells,)
        Counts of the two classes; float64 if rows are weighted.
    are_own : bool, default=True
        Whether the counts are the group's. Those of all groups tell only what is
        plainly wrong: columns of groups differ.
    """

    cells: TableCells
    positives: np.ndarray
    negatives: np.ndarray
    are_own: bool = True

    def count(self, rows: Rows) -> ColumnCounts:
        """Count the columns of some rows of a batch."""
        return self.cells.count(rows.plainest())

    def weigh(self, rows: Rows, weights: np.ndarray) -> ColumnCounts:
        """Sum up the weights of some rows of a batch."""
        everyone = np.zeros(len(rows), dtype=np.int64)
        (sums,) = self.cells.count_each(rows.plainest(), everyone, 1, weights)
        # Unseen values are named beside the numbers of rows.
        return ColumnCounts(sums.counts)

    def codes(self, rows: Rows) -> np.ndarray:
        """Find the cell of every value of some rows, one byte each."""
        return self.cells.codes(rows.plainest())


@dataclass(frozen=True)
class OwnRows:
    """What the own training rows of a group say whose histograms are partly borrowed.

    Parameters
    ----------
    positives, negatives : float
        Own rows of the classes that were used; 0 in a group of fewer than ten rows.
    auc : float
        Of the own rows; NaN, unknown, with fewer than ten of a class.
    """

    positives: float
    negatives: float
    auc: float


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
    positive : label
        The positive label, whose probability is the score.
    scoring_models : list of fitted learners
        They score a batch for the quantifier. With several, a row has a score by each,
        and their histograms are pooled.
    quantifier : Quantifier
    pool : Pool
    test_is_sound : bool
        Whether scores of new rows follow the distribution of the out-of-fold scores, so
        that the two can be tested against each other. This is so with
        ``scores="folds"``, with a hold-out, and for a linear learner with few
        coefficients.
    transformer : fitted transformer, default=None
        What rows go through before any learner sees them, with
        ``preprocessing="once"``.
    group_code : int, default=None
        With a learner for all groups, the number by which it knows this group.
    columns : TrainedColumns or None, default=None
        Counts of the columns, which tell what else has moved; None if they were not
        counted (``drift="ignore"``) or cannot be (sparse matrices).
    own : OwnRows or None, default=None
        In a group that borrows, what its own rows say; None if everything is its own.
        The sizes of its histograms are then what they are worth, and their ratio is not
        the prevalence.
    weighted : bool, default=False
        Whether its rows had unequal weights in training. A batch without weights may
        differ from training for that alone.
    """

    size: int
    prevalence: float
    positives: ScoreHistogram
    negatives: ScoreHistogram
    positive: Any
    scoring_models: list[Any]
    quantifier: Quantifier
    pool: Pool
    test_is_sound: bool = True
    transformer: Any = None
    group_code: int | None = None
    columns: TrainedColumns | None = None
    own: OwnRows | None = None
    weighted: bool = False

    @property
    def shown_prevalence(self) -> float:
        """Share of positives of the own rows; NaN in groups of fewer than ten rows."""
        if self.own is None:
            return self.prevalence
        rows = self.own.positives + self.own.negatives
        return self.own.positives / rows if rows else float("nan")

    @property
    def borrowed(self) -> float:
        """Part of what its histograms are worth that comes from other groups."""
        if self.own is None:
            return 0.0
        worth = float(self.positives.size + self.negatives.size)
        return max(1 - (self.own.positives + self.own.negatives) / worth, 0.0)

    @property
    def edges(self) -> np.ndarray:
        """Edges of every histogram of this group."""
        return self.positives.edges

    @property
    def learners(self) -> list[Any]:
        """The fitted learners that read a batch, each once."""
        learners = {id(model): model for model in self.scoring_models}
        for model in self.pool.models:
            learners[id(model)] = model
        return list(learners.values())

    @cached_property
    def calibration(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Share of positives in training, by cells of the score.

        Returns
        -------
        cuts : ndarray of int64
            Edges between the cells.
        shares, rows : ndarray of shape (n_cells,)
            Share of positives and number of rows, with one more row of the training
            prevalence in each cell.
        """
        counts = self.positives.counts + self.negatives.counts
        cuts = quantile_cuts(counts, self.edges, _CELLS_OF_CALIBRATION)
        # The sizes of borrowed histograms are not those of the classes.
        size = self.positives.size + self.negatives.size
        positives = self.positives.merged(cuts) / self.positives.counts.sum()
        negatives = self.negatives.merged(cuts) / self.negatives.counts.sum()
        positives = size * self.prevalence * positives
        negatives = size * (1 - self.prevalence) * negatives
        rows = positives + negatives + 1
        return cuts, (positives + self.prevalence) / rows, rows

    @cached_property
    def log_odds(self) -> np.ndarray:
        """What each cell of the score adds to the logit of the prevalence.

        It rises from cell to cell.
        """
        positives = self.positives.counts / self.positives.unit
        negatives = self.negatives.counts / self.negatives.unit
        rows = positives + negatives
        # Half a row of each class, spread over all cells in proportion to their rows,
        # keeps logits finite. A cell without rows takes over the value of its
        # neighbours.
        spread = rows / rows.sum()
        share = np.full(len(rows), 0.5)
        np.divide(positives + spread / 2, rows + spread, out=share, where=rows > 0)
        share = isotonic_regression(share, sample_weight=np.maximum(rows, 1e-9))
        return logit(share) - logit(positives.sum() / rows.sum())

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: what was computed from them is computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def is_linear(self) -> bool:
        """Whether to score is to multiply matrices.

        Threads can share such work without getting in each other's way.
        """
        if self.transformer is not None or self.group_code is not None:
            return False
        return LinearStack.of(self.learners, self.positive) is not None

    @property
    def read_with(self) -> Any:
        """The same for groups whose rows are read together; see `read_together`."""
        if self.is_linear:
            # Products of matrices are shared in their own way.
            return id(self)
        if self.transformer is not None:
            return id(self.transformer)
        return identities(self.scoring_models)

    def score(
        self, rows: Rows, *, scoring: Sequence[Any], voting: Sequence[Any] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Score rows with learners of this group; see `score_with_models`."""
        if rows.together is not None:
            together, place = rows.together
            scores = together.scores(scoring, self.positive)
            if scores is not None and not voting:
                return scores[:, place], np.empty((0, len(rows)), dtype=bool)
            prepared = Rows(together.prepared.X, place)
        else:
            codes = None
            if self.group_code is not None:
                codes = np.full(len(rows), self.group_code)
            prepared = prepare(rows, self.transformer, codes)
        return score_with_models(
            prepared, self.positive, scoring=scoring, voting=voting
        )

    @cached_property
    def training_cut(self) -> int:
        """Score above which as many rows are called positive as in training.

        Whoever has the model without CAPE would cut it here: at 1/2 a rare class is
        hardly ever called.
        """
        cuts = _cuts(self.edges)
        called = self.prevalence * self.positives.above() / self.positives.size
        called += (1 - self.prevalence) * self.negatives.above() / self.negatives.size
        return int(cuts[np.abs(called - self.prevalence).argmin()])

    @property
    def unchanged(self) -> int:
        """The member that changes nothing.

        It stands for decisions as they were made. Where none are known it is the cut of
        training, or the member that was trained on about the prevalence of training.
        """
        pool = self.pool
        if pool.unchanged is not None:
            return pool.unchanged
        if isinstance(pool, ThresholdPool):
            return int(np.searchsorted(pool.cuts, self.training_cut))
        return int(np.abs(pool.thetas - self.prevalence).argmin())

    def auc(self) -> float:
        """Compute the chance that a positive scores above a negative (ties: half).

        It is that of the group's own rows, and NaN if they are too few.
        """
        if self.own is not None:
            return self.own.auc
        # Mann and Whitney (1947): the share of negatives below a positive, averaged
        # over the positives. Scores in the same cell are ties, and a tie counts half.
        below = np.cumsum(self.negatives.shares) - self.negatives.shares / 2
        return float(self.positives.shares @ below)

    def auc_error(self) -> float:
        """Compute the standard error of the AUC (Hanley and McNeil 1982)."""
        auc = self.auc()
        of_classes = (self.positives.size, self.negatives.size)
        if self.own is not None:
            of_classes = (self.own.positives, self.own.negatives)
        return auc_error(auc, *of_classes)

    def fingerprint_parts(self) -> list[bytes]:
        """Return what a fingerprint is made of.

        These are the histograms, the members, and who scores and quantifies.
        """
        rates = self.pool.rates
        arrays = [
            self.edges,
            self.pool.thetas,
            rates.true_positives,
            rates.false_positives,
            self.positives.counts,
            self.positives.sums,
            self.negatives.counts,
            self.negatives.sums,
        ]
        if self.columns is not None:
            arrays += [self.columns.positives, self.columns.negatives]
        roles = (
            type(self.pool).__name__,
            len(self.scoring_models),
            type(self.quantifier).__name__,
            _plain_parameters(self.quantifier),
        )
        contents = [np.ascontiguousarray(array).tobytes() for array in arrays]
        if self.columns is not None:
            contents.append(self.columns.cells.text.encode())
        return [repr(roles).encode(), *contents]


def auc_error(auc: float, n1: float, n0: float) -> float:
    """Compute the standard error of an AUC of n1 positives and n0 negatives."""
    q1 = auc / (2 - auc)
    q2 = 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (n1 - 1) * (q1 - auc**2) + (n0 - 1) * (q2 - auc**2)
    return float(np.sqrt(max(variance, 0.0) / (n1 * n0)))


def own_auc(model: GroupModel, pooled: GroupModel | None) -> float:
    """Return the AUC of a group; NaN if its model is that of all groups together."""
    if pooled is not None and model.pool is pooled.pool:
        return float("nan")
    return model.auc()


def _plain_parameters(quantifier: Any) -> dict[str, Any]:
    """Return those parameters of a quantifier whose text tells their value."""
    if not hasattr(quantifier, "get_params"):
        return {}
    plain = {}
    for name, value in sorted(quantifier.get_params().items()):
        if isinstance(value, (str, int, float, bool)):
            plain[name] = value
    return plain
