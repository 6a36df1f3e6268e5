"""An examination beside the truth that came later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from cape.base._estimate import Estimate
from cape.base._groups import Group, GroupResult
from cape.base._limits import TOLERANCE
from cape.evidence._histogram import HALF
from cape.metrics._between import pe_of_prevalences
from cape.metrics._rates import FEWEST_ROWS
from cape.rules._adaptation import Adaptation
from cape.shown import _backtest as words
from cape.shown._notebook import InNotebook
from cape.training._group_model import GroupModel, ThresholdPool
from cape.training._scores import Scores

_ROUNDING = 1e-9


_USED = ("use", "shares")
"""Actions by which somebody relies on the estimate."""

_DISTANCES = {
    "off": "estimate",
    "last_off": "last",
    "mean_score_off": "mean_score",
    "pd": "predicted",
    "learner_pd": "learner",
}
"""Distances from the truth, and of what."""


@dataclass(frozen=True)
class GroupScore:
    """What was said of one group, beside the truth.

    Parameters
    ----------
    rows : int
    truth : float
        Share of positives among the labels.
    estimate : Estimate
    last : float
        Share of positives in training.
    mean_score : float
        Share of positives that rows with these scores had in training.
    predicted : float
        Share predicted positive.
    learner : float
        Share of the learner's scores above 1/2; of positive decisions as they were
        made for `cape.Scores`.
    action : str
        Code of the action of `Examination.action`.
    tolerance : float
    """

    rows: int
    truth: float
    estimate: Estimate
    last: float
    mean_score: float
    predicted: float
    learner: float
    action: str
    tolerance: float

    def flat(self) -> dict[str, Any]:
        """Return the fields; whether the interval held; distances; and "use" right."""
        value, low, high = self.estimate
        held = holds(self.estimate, self.truth, self.rows)
        row: dict[str, Any] = {"rows": self.rows, "truth": self.truth}
        row |= {"estimate": value, "low": low, "high": high, "held": held}
        row |= {**vars(self), "estimate": value}
        for name, of in _DISTANCES.items():
            row[name] = float(abs(row[of] - self.truth))
        is_right = row["off"] <= self.tolerance
        row["right"] = is_right if self.action in _USED else None
        return row


def holds(estimate: Estimate, truth: float, rows: int) -> bool:
    """Tell whether an interval held the truth, give or take half a row."""
    room = 0.5 / rows + _ROUNDING
    return bool(estimate.low - room <= truth <= estimate.high + room)


def share_at_half(adaptation: Adaptation, group: Group, model: GroupModel) -> float:
    """Return the share of a group whose scores lie above 1/2.

    Scores that are given may be no probabilities: their decisions are what they are. A
    resampled pool has the member that was trained on the share in training.
    """
    member = model.unchanged
    pool = model.pool
    if isinstance(pool, ThresholdPool) and not isinstance(pool.models[0], Scores):
        member = int(np.abs(pool.cuts - HALF).argmin())
    return float(adaptation.situations[group].predicted_prevalences[member])


@dataclass(frozen=True, repr=False)
class ScoredExamination(InNotebook, GroupResult):
    """An examination beside the truth, from `Examination.score`.

    Parameters
    ----------
    groups : mapping from group to GroupScore
    tolerance : float, default=0.05
        Distance from the truth within which "use" was right.
    group_columns : sequence of str, default=None
        Columns whose values the groups combine; used in their names.

    Examples
    --------
    >>> from cape import examine
    >>> seen = examine(clf, new.data, sensitive_features=new.sensitive_features)
    >>> scored = seen.score(new.target)
    >>> scored.table()["truth"].to_dict()
    {0: 0.2, 1: 0.8}
    >>> scored.totals["cells"], scored.pairs().shape
    (2, (2, 2))
    """

    groups: Mapping[Group, GroupScore]
    tolerance: float = TOLERANCE

    def pairs(self) -> pd.DataFrame:
        """Return PE of every ordered pair of groups with ten rows or more.

        Returns
        -------
        DataFrame
            Indexed by ``group`` and ``other``, with the columns pe and learner_pe; NaN
            where a share is 0.
        """
        large = [
            group for group in self.groups if self.groups[group].rows >= FEWEST_ROWS
        ]
        scores = [self.groups[group] for group in large]
        truth = np.array([score.truth for score in scores])
        names = [self.names[group] for group in large]
        index = pd.MultiIndex.from_product([names, names], names=["group", "other"])
        frame = pd.DataFrame(index=index)
        for name, field_ in (("pe", "predicted"), ("learner_pe", "learner")):
            called = np.array([getattr(score, field_) for score in scores])
            pe = pe_of_prevalences(truth[:, None], truth, called[:, None], called)
            frame[name] = np.ravel(pe)
        is_pair = ~np.eye(len(large), dtype=bool)
        return frame[is_pair.ravel()]

    @property
    def totals(self) -> dict[str, Any]:
        """Sums and means over the groups, as in `cape.Backtest.summary`."""
        rows = [score.flat() for score in self.groups.values()]
        return {**totals(rows), **median_pe([self.pairs()])}

    def _facts(self) -> dict[str, Any]:
        pairs = self.pairs().reset_index().to_dict("records")
        return {"tolerance": self.tolerance, **self.totals, "pairs": pairs}

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        rows = [words.score_row(score.flat()) for score in self.groups.values()]
        return words.held_text(self.totals), rows, words.against_baselines(self.totals)


def totals(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sum up the scores of groups.

    Parameters
    ----------
    rows : sequence of mappings
        From `GroupScore.flat`.

    Returns
    -------
    dict
        How many ``cells`` there are, in how many the interval ``held``; mean ``off``,
        ``last_off``, ``mean_score_off``, ``pd`` and ``learner_pd``; how often "use" was
        said, be it of shares alone (``use``), and how often it was right (``right``).
    """
    found: dict[str, Any] = {"cells": len(rows)}
    found["held"] = sum(row["held"] for row in rows)
    for name in _DISTANCES:
        found[name] = float(np.mean([row[name] for row in rows]))
    right = [row["right"] for row in rows if row["action"] in _USED]
    return {**found, "use": len(right), "right": sum(right)}


def median_pe(pairs: Iterable[pd.DataFrame]) -> dict[str, float | None]:
    """Return the median ``pe`` and ``learner_pe`` of pairs; None if there is none.

    PE divides shares: the mean would be that of the few pairs with the smallest.
    """
    all_pairs = pd.concat(pairs)
    found = {}
    for name in ("pe", "learner_pe"):
        median = float(all_pairs[name].median())
        found[name] = None if np.isnan(median) else median
    return found
