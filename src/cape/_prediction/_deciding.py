"""The picked member of each group decides on its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from cape._adaptation import Adaptation
from cape._estimate import Estimate
from cape._evidence import Evidence
from cape._prediction._adapting import adapt, check_same_model, choose_members
from cape._prediction._reading import Batch, Reading, read_batch, readings_of
from cape._validation import all_if_none
from cape.rules import GroupSituation
from cape.rules._names import make_rule

__all__ = ["decide", "decide_individually", "predict_batch"]

_ROWS_AT_ONCE = 1000
"""Rows whose decisions by all members are held in memory at the same time."""


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
        readings, counted = read_batch(
            batch, probabilities=probabilities, columns=clf.drift == "cautious"
        )
        evidence = Evidence(clf.fingerprint_, counted)
        rule = make_rule(clf.rule)
        adaptation = adapt(batch.models, evidence, rule=rule, drift=clf.drift)
    else:
        # Members are positions in the pools of one model.
        check_same_model(clf, "adaptation", adaptation, Adaptation)
        readings = _read_with(batch, adaptation)
    return decide(readings, adaptation, n_rows=len(batch), probabilities=probabilities)


def _read_with(batch: Batch, adaptation: Adaptation) -> Iterator[Reading]:
    """Read a batch with the members that an adaptation has picked."""
    members = {}
    for group in batch.groups.keys:
        if group not in adaptation.groups:
            raise ValueError(
                f"adaptation must hold every group of X, got "
                f"{list(adaptation.groups)} without {group!r}."
            )
        n_members = len(batch.models[group].pool.thetas)
        members[group] = adaptation.groups[group].classifier
        if members[group] >= n_members:
            raise ValueError(
                f"adaptation must pick a member below {n_members} for group "
                f"{group!r}, got {members[group]}."
            )
    return readings_of(batch, members)


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
        member = adaptation.groups[reading.group].classifier
        rows = all_if_none(reading.index)
        if probabilities:
            decisions[rows] = reading.probability(member)
        else:
            decisions[rows] = reading.calls(member)
    return decisions


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
    """Let the paper's rule pick a member for each single row, then decide."""
    model = reading.model
    members = range(len(model.pool.thetas))
    estimates = model.quantifier.estimate_each(reading.scores)
    decisions = np.zeros(len(estimates), dtype=bool)
    # A threshold pool has a thousand members, so that all decisions of all rows would
    # not fit into memory.
    for start in range(0, len(estimates), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        block = replace(reading, deciding=reading.deciding[:, rows])
        calls = np.array([block.calls(member) for member in members]).T
        situation = GroupSituation(
            share=1.0,
            estimate=Estimate(estimates[rows]),  # type: ignore[arg-type]
            thetas=model.pool.thetas,
            predicted_prevalences=calls.astype(float),
            rates=model.pool.rates,
        )
        chosen = choose_members({reading.group: situation})[reading.group]
        decisions[rows] = calls[np.arange(len(chosen)), chosen]
    return decisions
