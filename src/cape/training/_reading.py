"""Rows become a batch, and every learner of a group reads each of its rows once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from cape.base._groups import Group, Groups, split_groups
from cape.base._validation import (
    admit,
    all_if_none,
    check_columns,
    check_fitted_cape,
    check_same_length,
    check_same_order,
    check_weights,
    pickable,
    short_errors,
    unequal_weights,
)
from cape.evidence._columns import ColumnCounts
from cape.evidence._evidence import PLAIN, GroupEvidence, LabelledEvidence
from cape.evidence._histogram import (
    ONE,
    ScoreHistogram,
    count_agreements,
    round_weights,
    sum_squares,
)
from cape.training._group_model import GroupModel
from cape.training._scoring import Rows, as_array
from cape.training._shared import read_together
from cape.training._threads import map_pieces


@dataclass(frozen=True)
class Batch:
    """Rows to be predicted, and the model of every group that occurs.

    Parameters
    ----------
    features : table
        What the learners read.
    array : ndarray or None
        The features as numbers; see `cape.training.as_array`.
    groups : Groups
        The group of each row.
    models : mapping from group to GroupModel
        In the order of ``groups.keys``.
    weights : ndarray of shape (n_rows,) or None, default=None
        Weights of the rows, rounded.
    """

    features: Any
    array: np.ndarray | None
    groups: Groups
    models: Mapping[Group, GroupModel]
    weights: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def is_linear(self) -> bool:
        """Whether to score is to multiply matrices, in all groups."""
        return all(model.is_linear for model in self.models.values())

    @property
    def n_readings(self) -> int:
        """How many readings a piece takes, of one group or of some together."""
        return len({model.read_with for model in self.models.values()})

    def parts(self, piece: slice) -> Iterator[tuple[Group, Rows]]:
        """Yield the rows of each group within a piece of the batch."""
        if len(self.models) == 1:
            # Rows of a single group lie side by side: a slice copies nothing, and None
            # hands the learner the very table of the user.
            whole_batch = piece.stop - piece.start == len(self)
            index = None if whole_batch else piece
            yield self.groups.keys[0], self.rows(index)
            return
        rows_of_groups = self.groups.rows_between(piece.start, piece.stop)
        parts = {}
        for group, positions in zip(self.groups.keys, rows_of_groups, strict=True):
            if len(positions):
                parts[group] = self.rows(positions + piece.start)
        told = read_together([(self.models[key], rows) for key, rows in parts.items()])
        yield from zip(parts, told, strict=True)

    def rows(self, index: np.ndarray | slice | None) -> Rows:
        """Return some of the rows."""
        return Rows(self.features, index, array=self.array)


@short_errors()
def batch_of(
    clf: Any,
    X: Any,
    sensitive_features: Any,
    sample_weight: Any = None,
    *,
    whole: bool = True,
) -> Batch:
    """Check rows to be predicted, and find their groups and the groups' models.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    X, sensitive_features, sample_weight
        As in ``clf.predict``.
    whole : bool, default=True
        Whether these are all rows of the batch: equal weights then say nothing.

    Returns
    -------
    Batch
    """
    check_fitted_cape(clf)
    has_groups = sensitive_features is not None or clf.group_columns is not None
    if clf.grouped_ and not has_groups:
        raise ValueError(
            "sensitive_features must be given, because the model was fitted with "
            "groups; got None."
        )
    if has_groups and not clf.grouped_:
        raise ValueError(
            "sensitive_features must be None: the model was fitted without groups."
        )
    check_same_order(
        X=X, sensitive_features=sensitive_features, sample_weight=sample_weight
    )
    weights = check_weights(sample_weight, X, of_part=not whole)
    if whole:
        weights = unequal_weights(weights, X)
    if weights is not None:
        weights = round_weights(weights)
    X = pickable(X)
    table = getattr(clf, "table_", None)
    if table is not None and hasattr(X, "columns"):
        X = table.as_trained(X)
    # Columns are compared before groups are split off: the group columns of X are among
    # the columns that `fit` has seen.
    check_columns(clf, X)
    features, groups = split_groups(
        X,
        sensitive_features,
        clf.group_columns,
        clf.missing_groups,
        # A model of an older file has no names.
        getattr(clf, "sensitive_names_", None),
    )
    check_same_length(X=X, sensitive_features=groups)
    models = {group: clf.model_of(group, groups) for group in groups.keys}
    array = as_array(features)
    # Where columns are not counted, nothing else would find another type. Models of
    # older files have no types.
    types = getattr(clf, "types_", None)
    if types is not None:
        types.check_types(features if array is None else array)
    return Batch(features, array, groups, models, weights)


def check_types(batch: Batch) -> None:
    """Raise if a column of a batch is of another type than in training.

    An adaptation to the batch finds this among its columns. Rows that are predicted
    without one would be read as if their values were missing, or all alike.
    """
    for model in batch.models.values():
        if model.columns is not None:
            table = batch.features if batch.array is None else batch.array
            model.columns.cells.check_types(table)
            # The cells of all groups are the same.
            return


_MISSING = -1


@dataclass(frozen=True)
class KnownLabels:
    """Labels of some rows of a batch.

    Parameters
    ----------
    codes : ndarray of int8 of shape (n_rows,)
        1 for positives, 0 for negatives, -1 for rows without a label.
    probabilities : ndarray of int64 of shape (n_rows,) or None
        Probability with which each labelled row was drawn, in units of 2^-32. None if
        they were drawn plainly: every row of a group with the same probability.
    """

    codes: np.ndarray
    probabilities: np.ndarray | None

    POSITIVE: ClassVar[int] = 1
    NEGATIVE: ClassVar[int] = 0

    @property
    def known(self) -> np.ndarray:
        """Whether each row has a label."""
        return self.codes != _MISSING

    def distinct_probabilities(self, index: Any) -> list[int]:
        """Return the probabilities that occur among labelled rows, ascending."""
        is_labelled = self.known[index]
        if not is_labelled.any():
            return []
        if self.probabilities is None:
            return [PLAIN]
        distinct = np.unique(self.probabilities[index][is_labelled])
        return [int(probability) for probability in distinct]

    def positions(self, index: Any, label: int, probability: int) -> np.ndarray:
        """Find the rows of one label and probability.

        Parameters
        ----------
        index : ndarray or slice
            Rows of the batch.
        label : int
        probability : int

        Returns
        -------
        ndarray of int
            Positions among the rows of ``index``.
        """
        wanted = self.codes[index] == label
        if self.probabilities is not None:
            wanted &= self.probabilities[index] == probability
        return np.flatnonzero(wanted)


@short_errors()
def known_labels(
    y: Any, classes: np.ndarray, n_rows: int, inclusion_probability: Any = None
) -> KnownLabels | None:
    """Check labels of some rows.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or None
        A label, or a missing value (None, NaN, NaT, NA, null). None means that no row
        has a label.
    classes : ndarray of shape (2,)
        The labels of the model.
    n_rows : int
    inclusion_probability : array-like of float of shape (n_rows,), default=None
        Only the values of labelled rows are read.

    Returns
    -------
    KnownLabels or None
        None if ``y`` is None.
    """
    if y is None:
        if inclusion_probability is not None:
            raise ValueError("inclusion_probability needs labels: pass y, too.")
        return None
    labels = _as_objects(y)
    check_same_length(X=np.empty(n_rows), y=labels)
    codes = _encode(labels, classes)
    if inclusion_probability is None:
        return KnownLabels(codes, None)
    return KnownLabels(codes, _check_probabilities(inclusion_probability, codes))


def _as_objects(y: Any) -> np.ndarray:
    """Return labels as Python objects, so that missing values of any kind survive."""
    y = admit("y", y)
    if hasattr(y, "to_list"):
        # An array would turn whole numbers with missing values into floats.
        y = y.to_list()
    given = np.asarray(y, dtype=object)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise ValueError(f"y must be one column of labels, got shape {given.shape}.")
    return given


def _encode(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return 1 for positives, 0 for negatives, -1 for missing labels."""
    # Here, since importing pandas takes longer than importing the rest of cape.
    import pandas as pd

    missing = np.asarray(pd.isna(labels), dtype=bool)
    codes = np.full(len(labels), _MISSING, dtype=np.int8)
    known = labels[~missing]
    encoded = np.full(len(known), _MISSING, dtype=np.int8)
    for code, label in enumerate(classes.tolist()):
        names = (label, str(label)) if isinstance(label, bool) else (label,)
        # Dask makes text of truth values beside missing ones.
        is_label = [value in names for value in known]
        encoded[np.array(is_label, dtype=bool)] = code
    if (encoded == _MISSING).any():
        unknown = known[encoded == _MISSING][0]
        raise ValueError(
            f"y must hold the labels {classes.tolist()} of the model, or missing "
            f"values for rows without a label, got {unknown!r}."
        )
    codes[~missing] = encoded
    return codes


def _check_probabilities(inclusion_probability: Any, codes: np.ndarray) -> np.ndarray:
    """Return probabilities in units of 2^-32, 0 for rows without a label."""
    try:
        given = np.asarray(inclusion_probability, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "inclusion_probability must be a number for each row, got "
            f"{str(inclusion_probability)[:60]!r}."
        ) from None
    if given.ndim == 0:
        given = np.full(len(codes), given)
    if given.ndim != 1:
        raise ValueError(
            "inclusion_probability must be one number for each row, got shape "
            f"{given.shape}."
        )
    check_same_length(X=codes, inclusion_probability=given)
    is_labelled = codes != _MISSING
    of_labelled = given[is_labelled]
    units = np.rint(of_labelled * ONE)
    # Comparisons with NaN are False, so that NaN is refused as well.
    good = (units >= 1) & (of_labelled <= 1)
    if not good.all():
        raise ValueError(
            "inclusion_probability must be in (0, 1] for every labelled row, got "
            f"{of_labelled[~good][0]}."
        )
    probabilities = np.zeros(len(codes), dtype=np.int64)
    probabilities[is_labelled] = units.astype(np.int64)
    return probabilities


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
        """Tell which rows the model as trained calls positive.

        It is cut where as many are called positive as in training. Where decisions
        were made without CAPE, they are what it calls.
        """
        if self.model.pool.unchanged is not None:
            return self.calls(self.model.pool.unchanged)
        cut = self.model.training_cut
        if self.model.pool.has_a_model_each:
            # Members were trained on resamples; only the scoring models have seen the
            # training rows as they are.
            return self.scores.mean(axis=0) > cut
        return self.deciding[0] > cut

    def evidence(
        self, weights: np.ndarray | None = None, weighed: ColumnCounts | None = None
    ) -> GroupEvidence:
        """Count what the rows tell of their group.

        Parameters
        ----------
        weights : ndarray of shape (n_rows,) or None, default=None
            Weights of the rows, rounded.
        weighed : ColumnCounts or None, default=None
            Their sums in the cells of the columns.

        Returns
        -------
        GroupEvidence
        """
        counted = self._count(self.columns)
        if weights is None:
            return counted
        of_scores = np.tile(weights, len(self.scores))
        squares = sum_squares(self.scores.ravel(), self.model.edges, of_scores)
        return replace(counted, weighed=self._count(weighed, weights), squares=squares)

    def _count(
        self, columns: ColumnCounts | None, weights: np.ndarray | None = None
    ) -> GroupEvidence:
        """Count rows, or sum up their weights."""
        model = self.model
        # A row with K scores counts 1/K in each of their cells, so that a histogram of
        # fold scores still has one unit of mass a row.
        histogram = ScoreHistogram.of(
            self.scores,
            model.edges,
            weights=None if weights is None else np.tile(weights, len(self.scores)),
            unit=len(self.scores),
        )
        agreements = None
        if len(self.scores) > 1:
            # Scores of one row are not independent. The shift test needs to know how
            # far they agree, which pooled counts cannot tell.
            agreements = count_agreements(
                self.scores, model.positives, model.negatives, weights
            )
        tally = model.pool.tally(self.deciding, model.edges, weights)
        return GroupEvidence(histogram, tally, agreements, columns)

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
    columns: ColumnCounts | None = None,
) -> Reading:
    """Score rows of one group with all its learners, each row once.

    Parameters
    ----------
    group : Group
    model : GroupModel
    rows : Rows
    probabilities : bool, default=False
        Whether members will be asked for probabilities, and not for decisions alone.
    columns : ColumnCounts or None, default=None
        Counts of the columns of the rows, if they are wanted.

    Returns
    -------
    Reading
    """
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
    return Reading(group, model, rows.index, scores, deciding, columns=columns)


def read_member(group: Group, model: GroupModel, rows: Rows, member: int) -> Reading:
    """Score rows of one group with the model behind one member, and no other."""
    scores, _ = model.score(rows, scoring=model.pool.models_of(member))
    deciding = model.pool.combine(scores)
    return Reading(group, model, rows.index, scores, deciding, only_member=member)


@short_errors()
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
        Whether to count the columns, if the models know them.

    Returns
    -------
    readings : list of Reading
        Together they hold every row once.
    evidence : dict from group to GroupEvidence
    """
    readings = []
    evidence: dict[Group, GroupEvidence] = {}
    read = partial(_read_and_count, batch, labels, probabilities, columns)
    for parts in map_pieces(
        read, len(batch), n_groups=batch.n_readings, linear=batch.is_linear
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
    counts = _count_columns(batch, piece) if columns else {}
    for group, rows in batch.parts(piece):
        reading = read_rows(
            group,
            batch.models[group],
            rows,
            probabilities=probabilities,
            columns=counts.get(group),
        )
        evidence = _evidence_of(reading, rows, batch.weights)
        if labels is not None:
            labelled = _labelled_evidence(reading, rows, labels, batch.weights)
            evidence = replace(evidence, labelled=labelled)
        parts.append((reading, evidence))
    return parts


def _evidence_of(
    reading: Reading, rows: Rows, weights: np.ndarray | None
) -> GroupEvidence:
    """Count rows of a group, and their weights beside them."""
    if weights is None:
        return reading.evidence()
    worth = weights[all_if_none(rows.index)]
    columns = None
    if reading.columns is not None:
        columns = reading.model.columns.weigh(rows, worth)  # type: ignore[union-attr]
    return reading.evidence(worth, columns)


def _count_columns(batch: Batch, piece: slice) -> dict[Group, ColumnCounts]:
    """Count the columns of each group in a piece, if the models know them."""
    keys = batch.groups.keys
    # The cells of all groups are the same.
    columns = batch.models[keys[0]].columns if keys else None
    if columns is None:
        return {}
    rows = batch.rows(piece).plainest()
    codes = batch.groups.codes[piece]
    return dict(
        zip(keys, columns.cells.count_each(rows, codes, len(keys)), strict=True)
    )


def _labelled_evidence(
    reading: Reading, rows: Rows, labels: KnownLabels, weights: np.ndarray | None
) -> dict[int, LabelledEvidence]:
    """Count the rows whose label is known, one evidence a class and probability."""
    labelled = {}
    index = all_if_none(rows.index)
    for probability in labels.distinct_probabilities(index):
        of_classes = []
        for label in (labels.POSITIVE, labels.NEGATIVE):
            positions = labels.positions(index, label, probability)
            part = reading.of_rows(positions, rows)
            of_classes.append(_evidence_of(part, rows.take(positions), weights))
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

    def read(piece: slice) -> list[Reading]:
        readings = []
        for group, rows in batch.parts(piece):
            model = batch.models[group]
            if members is None:
                readings.append(read_rows(group, model, rows))
            else:
                readings.append(read_member(group, model, rows, members[group]))
        return readings

    for parts in map_pieces(
        read, len(batch), n_groups=batch.n_readings, linear=batch.is_linear
    ):
        yield from parts
