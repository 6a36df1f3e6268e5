"""What is done with each group's rows of a batch: read them, choose the member, decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from cape._validation import available_threads
from cape.adaptation import Adaptation, choose_member, nearest_member
from cape.group import GroupModel
from cape.scoring import RowsOf

__all__ = ["Part", "decide_individually", "decide_part", "each_part"]

_MANY_ROWS = 50_000
"""From so many rows on, threads save more than they cost."""


class Part(NamedTuple):
    """The rows of a batch that are of one group: which (None: all of them), and their features."""

    group: Any
    model: GroupModel
    rows: np.ndarray | None
    features: RowsOf


def each_part(work: Callable[[Part], Any], parts: list[Part]) -> Iterator[tuple[Part, Any]]:
    """Do the work of each group; linear ones of many rows side by side, since their learners start no threads."""
    threads = min(len(parts), available_threads())
    many = sum(len(part.features) for part in parts) >= _MANY_ROWS
    if threads < 2 or not many or not all(part.model.is_linear for part in parts):
        yield from ((part, work(part)) for part in parts)
        return
    with ThreadPoolExecutor(threads) as executor:
        yield from zip(parts, executor.map(work, parts), strict=True)


def decide_part(part: Part, adaptation: Adaptation | None, how: str) -> np.ndarray:
    """``decide`` or ``probability`` of one group's rows, by the member of the adaptation or of the rows' own."""
    model, pool = part.model, part.model.pool
    if adaptation is None:
        evidence, read = model.look(part.features)
        member = choose_member(model, evidence)
        if how == "decide":
            return pool.decide_by(read, member)
        return pool.probability(pool.scores_of(part.features, member, read), member)
    if part.group not in adaptation.groups:
        raise ValueError(
            f"adaptation must hold every group of X, got {list(adaptation.groups)} without {part.group!r}."
        )
    member = adaptation.groups[part.group].member
    return getattr(pool, how)(pool.scores_of(part.features, member), member)


def decide_individually(model: GroupModel, X, block: int = 1000) -> np.ndarray:
    """Algorithm 1 with each row as a batch: a member's predicted prevalence is then 0 or 1."""
    scores, read = model.read(X)
    estimates = model.quantifier.estimate_each(scores)
    positive = np.zeros(len(read), dtype=bool)
    for start in range(0, len(read), block):
        part = slice(start, start + block)
        decided = model.pool.decide_each(read[part])
        member = nearest_member(decided, model.pool.thetas, estimates[part])
        positive[part] = np.take_along_axis(decided, member[:, None], axis=1)[:, 0]
    return positive
