"""What training leaves of one group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from cape._columns import ColumnCounts, TableCells
from cape._histogram import HALF, ScoreHistogram
from cape._learners._scoring import LinearStack, Rows, score_with_models
from cape._learners._shared import add_group_code
from cape._pool import Pool
from cape.quantify import Quantifier

__all__ = ["GroupModel", "TrainedColumns"]

_ROWS_AT_ONCE = 1 << 14
"""Rows whose columns are copied at the same time."""


@dataclass(frozen=True)
class TrainedColumns:
    """What training leaves of the columns of one group.

    Parameters
    ----------
    cells : TableCells
        The same for all groups.
    positives, negatives : ndarray of shape (n_cells,)
        Counts of the two classes; float64 if rows are weighted.
    """

    cells: TableCells
    positives: np.ndarray
    negatives: np.ndarray

    def count(self, rows: Rows) -> ColumnCounts:
        """Count the columns of some rows of a batch."""
        if rows.array is None:
            return self.cells.count(rows.table())
        counted = self.cells.nothing()
        # Numbers are copied block by block, so that they are counted in the cache.
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, len(rows))
            counted += self.cells.count(rows.numbers_between(start, stop))
        return counted

    def codes(self, rows: Rows) -> np.ndarray:
        """Find the cell of every value of some rows, one byte each."""
        return self.cells.codes(rows.table())


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
    def stack(self) -> LinearStack | None:
        """The learners as one matrix, if all of them are logistic regressions."""
        return LinearStack.of(self.learners, self.positive)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: what was computed from them is computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def is_linear(self) -> bool:
        """Whether to score is to multiply matrices.

        Threads can share such work without getting in each other's way.
        """
        if self.transformer is not None or self.group_code is not None:
            return False
        return self.stack is not None

    def prepare(self, rows: Rows) -> Rows:
        """Transform rows as the learners of this group expect them."""
        if len(rows) == 0:
            return rows
        if self.transformer is not None:
            rows = Rows(self.transformer.transform(rows.table()))
        if self.group_code is not None:
            codes = np.full(len(rows), self.group_code)
            rows = Rows(add_group_code(rows.table(), codes))
        return rows

    def score(
        self, rows: Rows, *, scoring: Sequence[Any], voting: Sequence[Any] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Score rows with learners of this group; see `score_with_models`."""
        return score_with_models(
            self.prepare(rows),
            self.positive,
            scoring=scoring,
            voting=voting,
            stack=self.stack,
        )

    def unadapted_rates(self) -> tuple[float, float]:
        """Compute the rates of the model as trained, cut at 1/2.

        Returns
        -------
        tpr, fpr : float
            From the out-of-fold scores.
        """
        # `above` starts with the cut that calls all rows, one before the first edge.
        cut = int(np.searchsorted(self.edges, HALF)) + 1
        tpr = self.positives.above()[cut] / self.positives.counts.sum()
        fpr = self.negatives.above()[cut] / self.negatives.counts.sum()
        return float(tpr), float(fpr)

    def auc(self) -> float:
        """Compute the chance that a positive scores above a negative (ties: half)."""
        # Mann and Whitney (1947): the share of negatives below a positive, averaged
        # over the positives. Scores in the same cell are ties, and a tie counts half.
        below = np.cumsum(self.negatives.shares) - self.negatives.shares / 2
        return float(self.positives.shares @ below)

    def auc_error(self) -> float:
        """Compute the standard error of the AUC (Hanley and McNeil 1982)."""
        auc = self.auc()
        n1 = self.positives.size
        n0 = self.negatives.size
        q1 = auc / (2 - auc)
        q2 = 2 * auc**2 / (1 + auc)
        variance = auc * (1 - auc) + (n1 - 1) * (q1 - auc**2) + (n0 - 1) * (q2 - auc**2)
        return float(np.sqrt(max(variance, 0.0) / (n1 * n0)))

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
            contents.append(self.columns.cells.to_json().encode())
        return [repr(roles).encode(), *contents]


def _plain_parameters(quantifier: Any) -> dict[str, Any]:
    """Return those parameters of a quantifier whose text tells their value."""
    if not hasattr(quantifier, "get_params"):
        return {}
    plain = {}
    for name, value in sorted(quantifier.get_params().items()):
        if isinstance(value, (str, int, float, bool)):
            plain[name] = value
    return plain
