"""The one road from rows to decisions.

::

    rows --(read_batch)--> readings --(+)--> evidence --(adapt)--> adaptation
                               |                                       |
                               +---------------(decide)----------------+--> decisions

`CapeClassifier`, files, Dask and streams all take it. Each row is scored once, and the
rule that picks members is called in one place, `adapt_groups`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from cape._group_model import GroupModel
from cape._groups import Group, Groups, split_groups
from cape._learners import Rows, as_array, map_pieces, score_with_models
from cape._shift_test import count_agreements
from cape._validation import (
    all_if_none,
    check_columns,
    check_is_fitted,
    check_same_length,
    pickable,
)
from cape.adaptation import Adaptation, GroupAdaptation
from cape.evidence import Evidence, GroupEvidence
from cape.histogram import HALF, ScoreHistogram
from cape.rules import GroupSituation, Prevalence, Rule

__all__ = [
    "Batch",
    "Reading",
    "adapt",
    "adapt_groups",
    "batch_of",
    "check_same_model",
    "decide",
    "decide_individually",
    "find_evidence",
    "predict_batch",
    "read_batch",
    "read_member",
    "read_rows",
    "readings_of",
    "refuse_row_keepers",
    "zero_evidence",
]

T = TypeVar("T")

_ROWS_AT_ONCE = 1000
"""Rows whose decisions by all members are held in memory at the same time."""


@dataclass(frozen=True)
class Batch:
    """Rows to be predicted, and the model of every group that occurs.

    Parameters
    ----------
    features : table
        What the learners read.
    array : ndarray or None
        The features as numbers; see `cape._learners.as_array`.
    groups : Groups
        The group of each row.
    models : mapping from group to GroupModel
        In the order of ``groups.keys``.
    """

    features: Any
    array: np.ndarray | None
    groups: Groups
    models: Mapping[Group, GroupModel]

    def __len__(self) -> int:
        return len(self.groups)

    def parts(self, piece: slice) -> Iterator[tuple[Group, Rows]]:
        """Yield the rows of each group within a piece of the batch."""
        whole_batch = piece.stop - piece.start == len(self)
        if len(self.models) == 1:
            index = None if whole_batch else piece
            yield self.groups.keys[0], self._rows(index)
            return
        rows_of_groups = self.groups.rows_between(piece.start, piece.stop)
        for group, positions in zip(self.groups.keys, rows_of_groups, strict=True):
            if len(positions):
                yield group, self._rows(positions + piece.start)

    def _rows(self, index: np.ndarray | slice | None) -> Rows:
        return Rows(self.features, index, array=self.array)


def batch_of(clf: Any, X: Any, sensitive_features: Any) -> Batch:
    """Check rows to be predicted, and find their groups and the groups' models.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    X, sensitive_features
        As in ``clf.predict``.

    Returns
    -------
    Batch
    """
    check_is_fitted(clf)
    has_groups = sensitive_features is not None or clf.group_columns is not None
    if clf.grouped_ and not has_groups:
        raise ValueError(
            "sensitive_features must be given: the model was fitted with groups, "
            "got None."
        )
    if has_groups and not clf.grouped_:
        raise ValueError(
            "sensitive_features must be None: the model was fitted without groups."
        )
    X = pickable(X)
    check_columns(clf, X)
    features, groups = split_groups(X, sensitive_features, clf.group_columns)
    check_same_length(X=X, sensitive_features=groups)
    models = {group: clf.model_of(group, groups) for group in groups.keys}
    return Batch(features, as_array(features), groups, models)


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
    """

    group: Group
    model: GroupModel
    index: np.ndarray | slice | None
    scores: np.ndarray
    deciding: np.ndarray
    only_member: int | None = None

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
            return self.scores.mean(axis=0) > HALF
        return self.deciding[0] > HALF

    def evidence(self) -> GroupEvidence:
        """Count what the rows tell of their group."""
        model = self.model
        histogram = ScoreHistogram.of(
            self.scores,
            model.edges,
            unit=len(self.scores),
            keep_rows=model.quantifier.keeps_rows,
        )
        agreements = None
        if len(self.scores) > 1:
            agreements = count_agreements(self.scores, model.positives, model.negatives)
        tally = model.pool.tally(self.deciding, model.edges)
        return GroupEvidence(histogram, tally, agreements)

    def _deciding_of(self, member: int) -> np.ndarray:
        if self.only_member is not None:
            return self.deciding[0]
        return self.deciding[self.model.pool.model_of(member)]


def read_rows(
    group: Group, model: GroupModel, rows: Rows, *, probabilities: bool = False
) -> Reading:
    """Score rows of one group with all its learners, each row once.

    Parameters
    ----------
    group : Group
    model : GroupModel
    rows : Rows
    probabilities : bool, default=False
        Whether members will be asked for probabilities, and not for decisions alone.

    Returns
    -------
    Reading
    """
    prepared = model.prepare(rows)
    scoring = model.scoring_models
    members = model.pool.models
    if model.pool_shares_scores:
        scores, _ = score_with_models(prepared, model.positive, scoring=scoring)
        deciding = scores
    elif model.pool.has_a_model_each and not probabilities:
        scores, deciding = score_with_models(
            prepared, model.positive, scoring=scoring, voting=members
        )
    else:
        all_scores, _ = score_with_models(
            prepared, model.positive, scoring=[*scoring, *members]
        )
        scores = all_scores[: len(scoring)]
        deciding = all_scores[len(scoring) :]
    return Reading(group, model, rows.index, scores, deciding)


def read_member(group: Group, model: GroupModel, rows: Rows, member: int) -> Reading:
    """Score rows of one group with the model behind one member, and no other."""
    learner = model.pool.models[model.pool.model_of(member)]
    scores, _ = score_with_models(
        model.prepare(rows), model.positive, scoring=[learner]
    )
    return Reading(group, model, rows.index, scores, scores, only_member=member)


def read_batch(
    batch: Batch, *, probabilities: bool = False
) -> tuple[list[Reading], dict[Group, GroupEvidence]]:
    """Read all rows of a batch, and sum up the evidence of each group.

    Parameters
    ----------
    batch : Batch
    probabilities : bool, default=False
        As in `read_rows`.

    Returns
    -------
    readings : list of Reading
        Together they hold every row once.
    evidence : dict from group to GroupEvidence
    """

    def read(group: Group, rows: Rows) -> tuple[Reading, GroupEvidence]:
        model = batch.models[group]
        reading = read_rows(group, model, rows, probabilities=probabilities)
        return reading, reading.evidence()

    readings = []
    evidence: dict[Group, GroupEvidence] = {}
    for reading, counted in _map_parts(read, batch):
        readings.append(reading)
        _add_to(evidence, reading.group, counted)
    return readings, {group: evidence[group] for group in batch.groups.keys}


def readings_of(batch: Batch, *, probabilities: bool = False) -> Iterator[Reading]:
    """Read all rows of a batch, without counting evidence.

    Parameters
    ----------
    batch : Batch
    probabilities : bool, default=False
        As in `read_rows`.

    Yields
    ------
    Reading
    """

    def read(group: Group, rows: Rows) -> Reading:
        model = batch.models[group]
        return read_rows(group, model, rows, probabilities=probabilities)

    return _map_parts(read, batch)


def _map_parts(work: Callable[[Group, Rows], T], batch: Batch) -> Iterator[T]:
    """Do some work on the rows of each group, piece by piece of the batch.

    Linear learners share the threads; other learners start threads of their own.
    """

    def work_on_piece(piece: slice) -> list[T]:
        return [work(group, rows) for group, rows in batch.parts(piece)]

    linear = all(model.is_linear for model in batch.models.values())
    n_groups = len(batch.models)
    pieces = map_pieces(work_on_piece, len(batch), n_groups=n_groups, linear=linear)
    return chain.from_iterable(pieces)


def _add_to(
    evidence: dict[Group, GroupEvidence], group: Group, more: GroupEvidence
) -> None:
    if group in evidence:
        evidence[group] = evidence[group] + more
    else:
        evidence[group] = more


def zero_evidence(model: GroupModel) -> GroupEvidence:
    """Return the evidence of no rows, the zero of the addition."""
    no_scores = np.empty((len(model.scoring_models), 0), dtype=np.int64)
    no_decisions = np.empty((len(model.pool.models), 0), dtype=np.int64)
    return Reading(None, model, None, no_scores, no_decisions).evidence()


def adapt(
    models: Mapping[Group, GroupModel],
    evidence: Evidence,
    *,
    level: float | None = None,
    rule: Rule | None = None,
) -> Adaptation:
    """Estimate the prevalence of every group and pick its member.

    Parameters
    ----------
    models : mapping from group to GroupModel
        At least for the groups of the evidence.
    evidence : Evidence
    level : float, default=None
        Confidence level of intervals; None computes no intervals.
    rule : Rule, default=None
        None is the paper's, `Prevalence`.

    Returns
    -------
    Adaptation
    """
    groups = adapt_groups(models, evidence.groups, level=level, rule=rule)
    stated_level = float("nan") if level is None else level
    return Adaptation(evidence.fingerprint, groups, stated_level)


def adapt_groups(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    *,
    level: float | None = None,
    rule: Rule | None = None,
) -> dict[Group, GroupAdaptation]:
    """Adapt the groups of a batch together, as `adapt` does.

    Parameters
    ----------
    models, level, rule
        As in `adapt`.
    evidence : mapping from group to GroupEvidence

    Returns
    -------
    dict from group to GroupAdaptation
    """
    n_rows = sum(part.scores.size for part in evidence.values())
    situations = {}
    for group, part in evidence.items():
        share = part.scores.size / n_rows
        situations[group] = _situation(models[group], part, share, level)
    chosen = choose_members(situations, rule)
    groups = {}
    for group, situation in situations.items():
        groups[group] = _describe(
            models[group], evidence[group], situation, int(chosen[group])
        )
    return groups


def choose_members(
    situations: Mapping[Group, GroupSituation], rule: Rule | None = None
) -> dict[Group, Any]:
    """Let the rule pick a member for every group: it is called here alone."""
    if rule is None:
        rule = Prevalence()
    return rule.choose(situations)


def _situation(
    model: GroupModel, evidence: GroupEvidence, share: float, level: float | None
) -> GroupSituation:
    """Gather what the rule sees of one group."""
    low = high = float("nan")
    if level is not None:
        low, high = model.quantifier.interval(evidence.scores, level)
    return GroupSituation(
        share=share,
        estimate=model.quantifier.estimate(evidence.scores),
        low=low,
        high=high,
        thetas=model.pool.thetas,
        predicted_prevalences=model.pool.called(evidence) / evidence.scores.size,
        rates=model.pool.rates,
    )


def _describe(
    model: GroupModel,
    evidence: GroupEvidence,
    situation: GroupSituation,
    member: int,
) -> GroupAdaptation:
    """Write down what was estimated for a group and which member was picked."""
    estimate = float(situation.estimate)
    predicted = float(situation.predicted_prevalences[member])
    # PD <= |q - rho-hat_J| + delta_1, with delta_1 from the interval: the bound of
    # Theorem 2 that can be computed without labels. It holds if the assumption does.
    delta_1 = max(estimate - situation.low, situation.high - estimate)
    pd_bound = abs(estimate - predicted) + delta_1
    return GroupAdaptation(
        rows=int(evidence.scores.size),
        training_prevalence=model.prevalence,
        estimate=estimate,
        low=situation.low,
        high=situation.high,
        member=member,
        theta=float(model.pool.thetas[member]),
        predicted_prevalence=predicted,
        pd_bound=min(pd_bound, 1.0),
    )


def decide(
    readings: Iterable[Reading],
    adaptation: Adaptation,
    *,
    n_rows: int,
    probabilities: bool = False,
) -> np.ndarray:
    """Apply an adaptation: let the picked member of each group decide its rows.

    Parameters
    ----------
    readings : iterable of Reading
    adaptation : Adaptation
        Holds every group of the readings.
    n_rows : int
        Rows of the batch.
    probabilities : bool, default=False

    Returns
    -------
    ndarray of shape (n_rows,)
        Whether each row is called positive; or the probability of that.
    """
    decisions = np.zeros(n_rows, dtype=float if probabilities else bool)
    for reading in readings:
        member = adaptation.groups[reading.group].member
        rows = all_if_none(reading.index)
        if probabilities:
            decisions[rows] = reading.probability(member)
        else:
            decisions[rows] = reading.calls(member)
    return decisions


def predict_batch(
    clf: Any, batch: Batch, adaptation: Adaptation | None, *, probabilities: bool
) -> np.ndarray:
    """Decide on all rows of a batch, adapting to it unless an adaptation is given.

    Parameters
    ----------
    clf : CapeClassifier
    batch : Batch
    adaptation : Adaptation or None
        Given an adaptation, only the model of the picked member reads a row.
    probabilities : bool

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    if adaptation is None:
        readings: Iterable[Reading]
        readings, evidence = read_batch(batch, probabilities=probabilities)
        adaptation = adapt(batch.models, Evidence(clf.fingerprint_, evidence))
    else:
        check_same_model(clf, "adaptation", adaptation, Adaptation)
        readings = _read_with(batch, adaptation)
    return decide(readings, adaptation, n_rows=len(batch), probabilities=probabilities)


def _read_with(batch: Batch, adaptation: Adaptation) -> Iterator[Reading]:
    """Read a batch with the members that an adaptation has picked."""
    for group in batch.groups.keys:
        if group not in adaptation.groups:
            raise ValueError(
                f"adaptation must hold every group of X, got "
                f"{list(adaptation.groups)} without {group!r}."
            )

    def read(group: Group, rows: Rows) -> Reading:
        member = adaptation.groups[group].member
        return read_member(group, batch.models[group], rows, member)

    return _map_parts(read, batch)


def decide_individually(batch: Batch) -> np.ndarray:
    """Decide on each row as a batch of its own (CAPE-1 of the paper).

    The predicted prevalence of a member is then 0 or 1.

    Parameters
    ----------
    batch : Batch

    Returns
    -------
    ndarray of bool of shape (n_rows,)
    """
    decisions = np.zeros(len(batch), dtype=bool)
    for reading in readings_of(batch):
        decisions[all_if_none(reading.index)] = _each_row_by_itself(reading)
    return decisions


def _each_row_by_itself(reading: Reading) -> np.ndarray:
    """Let the rule pick a member for each single row, then decide."""
    model = reading.model
    members = range(len(model.pool.thetas))
    estimates = model.quantifier.estimate_each(reading.scores)
    decisions = np.zeros(len(estimates), dtype=bool)
    for start in range(0, len(estimates), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        block = replace(reading, deciding=reading.deciding[:, rows])
        calls = np.array([block.calls(member) for member in members]).T
        situation = GroupSituation(
            share=1.0,
            estimate=estimates[rows],
            low=float("nan"),
            high=float("nan"),
            thetas=model.pool.thetas,
            predicted_prevalences=calls.astype(float),
            rates=model.pool.rates,
        )
        chosen = choose_members({reading.group: situation})[reading.group]
        decisions[rows] = calls[np.arange(len(chosen)), chosen]
    return decisions


def find_evidence(
    clf: Any, X: Any, sensitive_features: Any, evidence: Evidence | None
) -> Evidence:
    """Return the evidence given, or count that of a batch.

    Everything that takes either a batch or its evidence calls this function.

    Parameters
    ----------
    clf : CapeClassifier
    X : table or None
        The batch. Exactly one of ``X`` and ``evidence`` is given.
    sensitive_features : array-like, table or None
    evidence : Evidence or None

    Returns
    -------
    Evidence
    """
    check_is_fitted(clf)
    if (X is None) == (evidence is None):
        given = "neither" if X is None else "both"
        raise ValueError(f"exactly one of X and evidence must be given, got {given}.")
    if evidence is None:
        return clf.evidence(X, sensitive_features=sensitive_features)
    if sensitive_features is not None:
        raise ValueError(
            "sensitive_features must be None when evidence is given, which has its "
            "groups."
        )
    check_same_model(clf, "evidence", evidence, Evidence)
    return evidence


def check_same_model(clf: Any, name: str, thing: Any, kind: type) -> None:
    """Raise unless evidence or an adaptation was made by this model.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    name : str
        What the thing is called in the error.
    thing : Evidence or Adaptation
    kind : type
        The type that it must have.
    """
    if not isinstance(thing, kind):
        raise TypeError(
            f"{name} must be of type {kind.__name__}, got {type(thing).__name__}."
        )
    if thing.fingerprint != clf.fingerprint_:
        raise ValueError(
            f"{name} must come from this model (fingerprint {clf.fingerprint_[:12]}), "
            f"got one made by another ({thing.fingerprint[:12]})."
        )


def refuse_row_keepers(clf: Any, caller: str) -> None:
    """Raise if a quantifier needs every score of a batch at once.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    caller : str
        Who cannot serve that quantifier.
    """
    for model in clf.models_.values():
        if model.quantifier.keeps_rows:
            raise TypeError(
                f"quantifier must be one that counts for {caller}, got "
                f"{model.quantifier!r}, which keeps every row."
            )
