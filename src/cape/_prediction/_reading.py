"""Every learner of a group reads each of its rows once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from cape._group_model import GroupModel
from cape._groups import Group
from cape._learners._scoring import Rows
from cape._learners._threads import map_pieces
from cape._prediction._batch import Batch
from cape._prediction._labels import KnownLabels
from cape._shift_test import count_agreements
from cape._validation import all_if_none
from cape.columns import ColumnCounts
from cape.evidence import GroupEvidence, LabelledEvidence
from cape.histogram import HALF, ScoreHistogram

__all__ = [
    "Reading",
    "read_batch",
    "read_member",
    "read_rows",
    "readings_of",
    "zero_evidence",
]


@dataclass(frozen=True)
class Reading:
    """What the learners of one group say of its rows.

    Parameters
    ----------
    group : Group
    model : GroupModel
    index : ndarray, slice or None
        Which rows of the batch were read; None means all.
    scores : ndarray of int64 of shape (n_scoring_models, n_rows)
        Rounded scores for the quantifier.
    deciding : ndarray of shape (n_models, n_rows)
        Rounded scores by the models of the pool; or, where the pool has a model for
        each member and nobody needs probabilities, whether they are above 1/2.
    only_member : int or None, default=None
        The one member whose model was asked; ``deciding`` then has one row.
    columns : ColumnCounts or None, default=None
        Counts of the columns of the rows.
    """

    group: Group
    model: GroupModel
    index: np.ndarray | slice | None
    scores: np.ndarray
    deciding: np.ndarray
    only_member: int | None = None
    columns: ColumnCounts | None = None

    def calls(self, member: int) -> np.ndarray:
        """Tell which rows a member calls positive."""
        scores = self._deciding_of(member)
        if scores.dtype == bool:
            return scores
        return self.model.pool.calls(scores, member)

    def probability(self, member: int) -> np.ndarray:
        """Compute a member's probability that rows are positive."""
        return self.model.pool.probability(self._deciding_of(member), member)

    def unadapted(self) -> np.ndarray:
        """Tell which rows the model as trained, cut at 1/2, calls positive."""
        if self.model.pool.has_a_model_each:
            # Members were trained on resamples; only the scoring models have seen the
            # training rows as they are.
            return self.scores.mean(axis=0) > HALF
        return self.deciding[0] > HALF

    def evidence(self) -> GroupEvidence:
        """Count what the rows tell of their group."""
        model = self.model
        # A row with K scores counts 1/K in each of their cells, so that a histogram of
        # fold scores still has one unit of mass a row.
        histogram = ScoreHistogram.of(
            self.scores,
            model.edges,
            unit=len(self.scores),
            keep_rows=model.quantifier.keeps_rows,
        )
        agreements = None
        if len(self.scores) > 1:
            # Scores of one row are not independent. The shift test needs to know how
            # far they agree, which pooled counts cannot tell.
            agreements = count_agreements(self.scores, model.positives, model.negatives)
        tally = model.pool.tally(self.deciding, model.edges)
        return GroupEvidence(histogram, tally, agreements, self.columns)

    def of_rows(self, positions: np.ndarray, rows: Rows) -> Reading:
        """Return what the learners say of some of the rows that were read.

        Parameters
        ----------
        positions : ndarray of int
            Positions among the rows that were read.
        rows : Rows
            All rows that were read.

        Returns
        -------
        Reading
        """
        chosen = rows.take(positions)
        columns = None
        if self.columns is not None and self.model.columns is not None:
            columns = self.model.columns.count(chosen)
        return replace(
            self,
            index=chosen.index,
            scores=self.scores[:, positions],
            deciding=self.deciding[:, positions],
            columns=columns,
        )

    def _deciding_of(self, member: int) -> np.ndarray:
        if self.only_member is not None:
            return self.deciding[0]
        return self.deciding[self.model.pool.deciding_row(member)]


def read_rows(
    group: Group,
    model: GroupModel,
    rows: Rows,
    *,
    probabilities: bool = False,
    columns: bool = False,
) -> Reading:
    """Score rows of one group with all its learners, each row once.

    Parameters
    ----------
    group : Group
    model : GroupModel
    rows : Rows
    probabilities : bool, default=False
        Whether members will be asked for probabilities, and not for decisions alone.
    columns : bool, default=False
        Whether to count the columns, if the model knows them.

    Returns
    -------
    Reading
    """
    counted = None
    if columns and model.columns is not None:
        counted = model.columns.count(rows)
    scoring = model.scoring_models
    members = model.pool.models
    if model.pool.decides_by_scoring_models:
        # The models that decide are those that score: ask them once.
        scores, _ = model.score(rows, scoring=scoring)
        deciding = model.pool.combine(scores)
    elif model.pool.has_a_model_each and not probabilities:
        # Votes are enough: one byte a row and member, and no logistic function.
        scores, deciding = model.score(rows, scoring=scoring, voting=members)
    else:
        all_scores, _ = model.score(rows, scoring=[*scoring, *members])
        scores = all_scores[: len(scoring)]
        deciding = all_scores[len(scoring) :]
    return Reading(group, model, rows.index, scores, deciding, columns=counted)


def read_member(group: Group, model: GroupModel, rows: Rows, member: int) -> Reading:
    """Score rows of one group with the model behind one member, and no other."""
    scores, _ = model.score(rows, scoring=model.pool.models_of(member))
    deciding = model.pool.combine(scores)
    return Reading(group, model, rows.index, scores, deciding, only_member=member)


def read_batch(
    batch: Batch,
    *,
    labels: KnownLabels | None = None,
    probabilities: bool = False,
    columns: bool = True,
) -> tuple[list[Reading], dict[Group, GroupEvidence]]:
    """Read all rows of a batch, and sum up the evidence of each group.

    Parameters
    ----------
    batch : Batch
    labels : KnownLabels, default=None
        Labels of some rows.
    probabilities : bool, default=False
        As in `read_rows`.
    columns : bool, default=True
        As in `read_rows`.

    Returns
    -------
    readings : list of Reading
        Together they hold every row once.
    evidence : dict from group to GroupEvidence
    """
    readings = []
    evidence: dict[Group, GroupEvidence] = {}
    read = partial(_read_and_count, batch, labels, probabilities, columns)
    n_groups = len(batch.models)
    for parts in map_pieces(
        read, len(batch), n_groups=n_groups, linear=batch.is_linear
    ):
        for reading, counted in parts:
            readings.append(reading)
            if reading.group in evidence:
                counted = evidence[reading.group] + counted
            evidence[reading.group] = counted
    return readings, {group: evidence[group] for group in batch.groups.keys}


def _read_and_count(
    batch: Batch,
    labels: KnownLabels | None,
    probabilities: bool,
    columns: bool,
    piece: slice,
) -> list[tuple[Reading, GroupEvidence]]:
    """Read a piece of a batch, and count the evidence of each group in it.

    Counts are integers, so that the order in which pieces are added does not matter.
    """
    parts = []
    for group, rows in batch.parts(piece):
        reading = read_rows(
            group,
            batch.models[group],
            rows,
            probabilities=probabilities,
            columns=columns,
        )
        evidence = reading.evidence()
        if labels is not None:
            labelled = _labelled_evidence(reading, rows, labels)
            evidence = replace(evidence, labelled=labelled)
        parts.append((reading, evidence))
    return parts


def _labelled_evidence(
    reading: Reading, rows: Rows, labels: KnownLabels
) -> dict[int, LabelledEvidence]:
    """Count the rows whose label is known, one evidence a class and probability."""
    labelled = {}
    index = all_if_none(rows.index)
    for probability in labels.distinct_probabilities(index):
        of_classes = []
        for label in (labels.POSITIVE, labels.NEGATIVE):
            positions = labels.positions(index, label, probability)
            of_classes.append(reading.of_rows(positions, rows).evidence())
        labelled[probability] = LabelledEvidence(*of_classes)
    return labelled


def readings_of(
    batch: Batch, members: Mapping[Group, int] | None = None
) -> Iterator[Reading]:
    """Read all rows of a batch, without counting evidence.

    Parameters
    ----------
    batch : Batch
    members : mapping from group to int, default=None
        The only members whose models are asked; None asks all learners.

    Yields
    ------
    Reading
    """
    read = partial(_read_piece, batch, members)
    n_groups = len(batch.models)
    for parts in map_pieces(
        read, len(batch), n_groups=n_groups, linear=batch.is_linear
    ):
        yield from parts


def _read_piece(
    batch: Batch, members: Mapping[Group, int] | None, piece: slice
) -> list[Reading]:
    """Read the rows of each group within a piece of a batch."""
    readings = []
    for group, rows in batch.parts(piece):
        model = batch.models[group]
        if members is None:
            readings.append(read_rows(group, model, rows))
        else:
            readings.append(read_member(group, model, rows, members[group]))
    return readings


def zero_evidence(model: GroupModel, *, columns: bool = True) -> GroupEvidence:
    """Return the evidence of no rows, the zero of the addition."""
    no_scores = np.empty((len(model.scoring_models), 0), dtype=np.int64)
    no_decisions = no_scores
    if model.pool.has_a_model_each:
        no_decisions = np.empty((len(model.pool.models), 0), dtype=np.int64)
    no_columns = None
    if columns and model.columns is not None:
        no_columns = model.columns.cells.nothing()
    nothing = Reading(None, model, None, no_scores, no_decisions, columns=no_columns)
    return nothing.evidence()
