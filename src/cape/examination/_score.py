"""An examination beside the truth that came later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from cape.base._estimate import Estimate
from cape.base._groups import Group, GroupResult
from cape.base._limits import TOLERANCE
from cape.evidence._histogram import HALF
from cape.metrics._between import pe_of_prevalences
from cape.metrics._rates import FEWEST_ROWS
from cape.rules._adaptation import Adaptation, GroupAdaptation
from cape.shown import _backtest as words
from cape.shown._notebook import InNotebook
from cape.training._group_model import GroupModel, ThresholdPool
from cape.training._scores import Scores

_ROUNDING = 1e-9

_USED = ("use", "shares")
"""Actions by which somebody relies on the estimate."""

_MEANS = ("off", "last_off", "mean_score_off", "pd", "learner_pd")
"""Distances from the truth."""


def beside_truth(estimate: Estimate, truth: float, rows: int) -> dict[str, Any]:
    """Return an estimate, how far it is off, and whether its interval held the truth.

    Examples
    --------
    >>> beside_truth(Estimate(0.1, 0.05, 0.15), 0.2, rows=10)["held"]
    True
    """
    # Give or take half a row.
    room = 0.5 / rows + _ROUNDING
    value, low, high = estimate
    held = bool(low - room <= truth <= high + room)
    off = abs(value - truth)
    return {"estimate": value, "low": low, "high": high, "held": held, "off": off}


def score_group(
    adapted: GroupAdaptation,
    truth: float,
    *,
    last: float,
    learner: float,
    expected_pd: Estimate,
    action: str,
    tolerance: float,
) -> dict[str, Any]:
    """Put what was said of a group beside its true share of positives.

    Parameters
    ----------
    adapted : GroupAdaptation
    truth : float
    last : float
        Share of positives in training.
    learner : float
        Share of the learner's scores above 1/2.
    expected_pd : Estimate
    action : str
        Code of its action.
    tolerance : float

    Returns
    -------
    dict
        A row of `ScoredExamination.table`.
    """
    predicted = adapted.predicted_prevalence
    pd_now = abs(predicted - truth)
    of_pd = beside_truth(expected_pd, pd_now, adapted.rows)
    score = {
        "rows": adapted.rows,
        "truth": truth,
        **beside_truth(adapted.estimate, truth, adapted.rows),
        "last": last,
        "last_off": abs(last - truth),
        "mean_score": adapted.mean_score,
        "mean_score_off": abs(adapted.mean_score - truth),
        "predicted": predicted,
        "pd": pd_now,
        "pd_expected": of_pd["estimate"],
        "pd_held": of_pd["held"],
        "learner": learner,
        "learner_pd": abs(learner - truth),
        "action": action,
    }
    score["within"] = bool(score["off"] <= tolerance)
    score["right"] = score["within"] if action in _USED else None
    return score


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
    groups : mapping from group to dict
        For each group its rows and ``truth``; the estimate with its interval, whether
        this ``held`` the truth, and how far the estimate was ``off``; the same
        distances of the ``last`` share and the ``mean_score``; the share ``predicted``
        with its ``pd``, what was expected of it, and whether the expected interval held
        it; PD of the ``learner`` cut at 1/2; the ``action``, whether the estimate was
        ``within`` the tolerance, and whether "use" was ``right``.
    expected_pe : mapping from pair of groups to Estimate
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
    >>> scored.totals["cells"], len(scored.pairs())
    (2, 2)
    """

    groups: Mapping[Group, dict[str, Any]]
    expected_pe: Mapping[tuple[Group, Group], Estimate] = field(default_factory=dict)
    tolerance: float = TOLERANCE

    def pairs(self) -> pd.DataFrame:
        """Return PE of every ordered pair of groups with ten rows or more.

        Returns
        -------
        DataFrame
            Indexed by ``group`` and ``other``, with the columns pe, pe_expected,
            pe_held and learner_pe; NaN where a share is 0.
        """
        rows = []
        names = self.names
        for (group, other), expected in self.expected_pe.items():
            one, reference = self.groups[group], self.groups[other]
            if min(one["rows"], reference["rows"]) < FEWEST_ROWS:
                continue
            row: dict[str, Any] = {"group": names[group], "other": names[other]}
            for name, called in (("pe", "predicted"), ("learner_pe", "learner")):
                truths = one["truth"], reference["truth"]
                shares = one[called], reference[called]
                row[name] = float(pe_of_prevalences(*truths, *shares))
            row["pe_expected"] = expected.value
            room = _ROUNDING
            held = expected.low - room <= row["pe"] <= expected.high + room
            rows.append({**row, "pe_held": held})
        columns = ["group", "other", "pe", "pe_expected", "pe_held", "learner_pe"]
        return pd.DataFrame(rows, columns=columns).set_index(["group", "other"])

    @property
    def totals(self) -> dict[str, Any]:
        """Sums and means over the groups, as in `cape.Backtest.summary`."""
        return {**totals([*self.groups.values()]), **totals_of_pairs([self.pairs()])}

    def _facts(self) -> dict[str, Any]:
        pairs = self.pairs().reset_index().to_dict("records")
        return {"tolerance": self.tolerance, **self.totals, "pairs": pairs}

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        rows = [words.score_row(score) for score in self.groups.values()]
        known = {**self.totals, "tolerance": self.tolerance}
        notes = [words.actions_text(known), *words.against_baselines(known)]
        return words.held_text(known), rows, notes


def totals(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sum up the scores of groups.

    Parameters
    ----------
    rows : sequence of mappings
        From `score_group`.

    Returns
    -------
    dict
        How many ``cells`` there are, in how many the interval ``held``, and that of PD
        (``pd_held``); mean ``off``, ``last_off``, ``mean_score_off``, ``pd`` and
        ``learner_pd``; how often "use" was said, be it of shares alone (``use``), and
        how often it was ``right``; and, of each action that was ``told``, how often,
        and how often the estimate was ``within`` the tolerance.
    """
    table = pd.DataFrame(rows)
    by_action = table.groupby("action")["within"]
    used = table[table["action"].isin(_USED)]
    return {
        "cells": len(table),
        "held": int(table["held"].sum()),
        "pd_held": int(table["pd_held"].sum()),
        **{name: float(table[name].mean()) for name in _MEANS},
        "use": len(used),
        "right": int(used["within"].sum()),
        "told": by_action.size().to_dict(),
        "within": by_action.sum().astype(int).to_dict(),
    }


def totals_of_pairs(pairs: Sequence[pd.DataFrame]) -> dict[str, Any]:
    """Return the median ``pe`` and ``learner_pe`` of pairs, and how many were expected.

    PE divides shares: the mean would be that of the few pairs with the smallest. A
    median is None if there is no pair.
    """
    table = pd.concat(pairs)
    found: dict[str, Any] = {}
    for name in ("pe", "learner_pe"):
        median = float(table[name].astype(float).median())
        found[name] = None if np.isnan(median) else median
    known = table[table["pe"].notna()]
    return {**found, "pairs": len(known), "pe_held": int(known["pe_held"].sum())}
