"""What is done with each group's rows of a batch: read them, choose the member, decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cape._group_model import GroupModel
from cape._groups import Group, Groups, split_groups
from cape._learners._linear import LinearStack
from cape._learners._scoring import RowsOf, Scratch, as_array
from cape._learners._threads import available_threads, blas_in_one_thread, in_threads
from cape._validation import (
    all_if_none,
    check_columns,
    check_is_fitted,
    check_same_length,
    pickable,
)
from cape.adaptation import Adaptation, choose_member, nearest_member
from cape.evidence import GroupEvidence

__all__ = [
    "Batch",
    "batch_of",
    "check_same_model",
    "refuse_row_keepers",
    "Part",
    "decide",
    "decide_individually",
    "each_part",
    "look",
    "look_closely",
]

_FEW_GROUPS = 4

_MOST_ROWS = {"linear": 125_000, "other": 250_000}
"""Rows of a group in a piece of a batch, so that copies of rows stay short."""

_LEAST_ROWS = 50_000
"""Rows of a piece: below, threads cost more than they save."""


class Part(NamedTuple):
    """Rows of a batch that are of one group."""

    group: Group
    model: GroupModel
    rows: RowsOf


@dataclass(frozen=True)
class Batch:
    """Rows to be predicted, and for each group that occurs the model it has."""

    features: Any
    array: np.ndarray | None  # the features as numbers, see `as_array`
    groups: Groups
    models: list[GroupModel]

    def __len__(self) -> int:
        return len(self.groups)

    @cached_property
    def _together(self) -> LinearStack | None:
        """The linear models of few groups that have one each, of many rows.

        To multiply all rows by all of them is then faster than to copy the rows of each group out.
        """
        if (
            self.array is None
            or len(self) < _LEAST_ROWS
            or not 1 < len(self.models) <= _FEW_GROUPS
        ):
            return None
        models = [
            model
            for group in self.models
            if group.transformer is None
            for model in group.learners
        ]
        if len(models) != len(self.models):
            return None
        stack = LinearStack.of(models, self.models[0].pool.positive)
        return (
            stack
            if stack is not None and stack.weights.shape[1] == self.array.shape[1]
            else None
        )

    def parts(
        self, start: int = 0, stop: int | None = None, scratch: Scratch | None = None
    ) -> list[Part]:
        """Group by group the rows from ``start`` to ``stop``; groups without any are left out."""
        stop = len(self) if stop is None else stop
        if len(self.models) == 1:
            rows = None if stop - start == len(self) else slice(start, stop)
            return [self._part(0, rows, scratch)]
        each = [
            (i, after)
            for i, after in enumerate(self.groups.rows_between(start, stop))
            if len(after)
        ]
        if self._together is None:
            return [self._part(i, after + start, scratch) for i, after in each]
        products = self._together.multiply(self.array, slice(start, stop))  # type: ignore[arg-type]
        return [
            self._part(
                i,
                after + start,
                scratch,
                {id(self.models[i].learners[0]): products[i].take(after)},
            )
            for i, after in each
        ]

    def _part(
        self, i: int, rows: Any, scratch: Scratch | None, known: Any = None
    ) -> Part:
        some = RowsOf(
            self.features, rows, array=self.array, scratch=scratch, known=known
        )
        return Part(self.groups.keys[i], self.models[i], some)


def each_part(work: Callable[[Part], Any], batch: Batch) -> Iterator[tuple[Part, Any]]:
    """Do some work on the rows of each group, piece by piece of the batch, since what they tell adds up.

    Pieces with linear learners are worked on side by side; other learners start threads of their own.
    """
    linear = all(model.is_linear for model in batch.models)
    threads, most = (
        (available_threads(), _MOST_ROWS["linear"])
        if linear
        else (1, _MOST_ROWS["other"])
    )
    size = (
        min(most * len(batch.models), max(-(-len(batch) // threads), _LEAST_ROWS)) or 1
    )
    starts = range(0, len(batch), size)
    scratch = None if threads > 1 else Scratch()

    def work_on(start: int) -> list[tuple[Part, Any]]:
        return [
            (part, work(part))
            for part in batch.parts(start, min(start + size, len(batch)), scratch)
        ]

    with blas_in_one_thread() if linear else nullcontext():
        for piece in in_threads(work_on, starts, min(threads, len(starts))):
            yield from piece


def look(
    batch: Batch,
) -> tuple[dict[Group, GroupEvidence], list[tuple[Part, np.ndarray]]]:
    """Evidence of each group, and parts with what members decide by, so that no row is scored twice."""
    evidence: dict[Group, GroupEvidence] = {}
    reads = []
    for part, (found, read) in each_part(
        lambda part: part.model.look(part.rows), batch
    ):
        evidence[part.group] = (
            evidence[part.group] + found if part.group in evidence else found
        )
        reads.append((part, read))
    return {group: evidence[group] for group in batch.groups.keys}, reads


def look_closely(
    batch: Batch,
) -> tuple[dict[Group, GroupEvidence], np.ndarray, np.ndarray]:
    """Evidence of each group; of each row the scores by all models of its pool, and what it is called without CAPE.

    Pools of all groups have the same number of models.
    """
    n_models = max((len(model.pool.models) for model in batch.models), default=0)
    scores, unadapted = (
        np.empty((n_models, len(batch)), dtype=np.int64),
        np.empty(len(batch), dtype=bool),
    )
    evidence: dict[Group, GroupEvidence] = {}
    for part, (found, *of_rows) in each_part(
        lambda part: part.model.look_closely(part.rows), batch
    ):
        evidence[part.group] = (
            evidence[part.group] + found if part.group in evidence else found
        )
        rows = all_if_none(part.rows.rows)
        scores[:, rows], unadapted[rows] = of_rows
    return {group: evidence[group] for group in batch.groups.keys}, scores, unadapted


def decide(
    batch: Batch, adaptation: Adaptation | None, how: str
) -> Iterator[tuple[Part, np.ndarray]]:
    """``decide`` or ``probability`` of rows, by the members of the adaptation or of the rows' own."""
    if adaptation is not None:
        absent = [
            group for group in batch.groups.keys if group not in adaptation.groups
        ]
        if absent:
            raise ValueError(
                f"adaptation must hold every group of X, got {list(adaptation.groups)} without {absent[0]!r}."
            )
        chosen = {group: found.member for group, found in adaptation.groups.items()}
    else:
        evidence, reads = look(batch)
        models = dict(zip(batch.groups.keys, batch.models, strict=True))
        chosen = {
            group: choose_member(models[group], found)
            for group, found in evidence.items()
        }
        if how == "decide":
            for part, read in reads:
                yield part, part.model.pool.decide_by(read, chosen[part.group])
            return

    def work(part: Part) -> np.ndarray:
        pool, member = part.model.pool, chosen[part.group]
        return getattr(pool, how)(
            pool.scores_of(part.model.prepared(part.rows), member), member
        )

    yield from each_part(work, batch)


def decide_individually(part: Part, block: int = 1000) -> np.ndarray:
    """Algorithm 1 with each row as a batch: a member's predicted prevalence is then 0 or 1."""
    model = part.model
    scores, read = model.read(part.rows)
    estimates = model.quantifier.estimate_each(scores)
    positive = np.zeros(len(part.rows), dtype=bool)
    for start in range(0, len(positive), block):
        some = slice(start, start + block)
        decided = model.pool.decide_each(read[..., some])
        member = nearest_member(decided, model.pool.thetas, estimates[some])
        positive[some] = np.take_along_axis(decided, member[:, None], axis=1)[:, 0]
    return positive


def batch_of(clf: Any, X: Any, sensitive_features: Any) -> Batch:
    """Check rows to be predicted, and find their groups and models."""
    check_is_fitted(clf)
    grouped = sensitive_features is not None or clf.group_columns is not None
    if clf.grouped_ and not grouped:
        raise ValueError(
            "sensitive_features must be given: the model was fitted with groups, "
            "got None."
        )
    if grouped and not clf.grouped_:
        raise ValueError(
            "sensitive_features must be None: the model was fitted without groups."
        )
    X = pickable(X)
    check_columns(clf, X)
    features, groups = split_groups(X, sensitive_features, clf.group_columns)
    check_same_length(X=X, sensitive_features=groups)
    models = [clf.model_of(group, groups) for group in groups.keys]
    return Batch(features, as_array(features), groups, models)


def check_same_model(clf: Any, name: str, thing: Any, kind: type) -> None:
    """Raise unless evidence or an adaptation was made by this model."""
    if thing is None:
        return
    if not isinstance(thing, kind):
        raise TypeError(
            f"{name} must be of type {kind.__name__}, got {type(thing).__name__}."
        )
    if thing.fingerprint != clf.fingerprint_:
        raise ValueError(
            f"{name} must come from this model (fingerprint {clf.fingerprint_[:12]}), "
            f"got one made by another ({thing.fingerprint[:12]})."
        )


def refuse_row_keepers(clf: Any, whose: str) -> None:
    """Raise if a quantifier needs every score of a batch at once."""
    for model in clf.models_.values():
        if model.quantifier.keeps_rows:
            raise TypeError(
                f"quantifier must be one that counts for {whose}, got "
                f"{model.quantifier!r}, which keeps every row."
            )
