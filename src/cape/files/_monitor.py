"""Monitor many batches, one after the other, keeping a few numbers of each."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cape._groups import Group
from cape._tables import Dialect
from cape._validation import check_drift
from cape.adaptation import AdaptationWarning
from cape.examination import ColumnFinding, Examination, examine
from cape.files._model import TableModel
from cape.files._notes import Notes
from cape.files._predict import gather_evidence
from cape.rules import make_rule

__all__ = ["MonitoredBatch", "monitor_files"]

_MOST_COLUMNS = 3
"""Columns that moved, kept of each group and batch."""


@dataclass(frozen=True)
class MonitoredBatch:
    """What is kept of one batch.

    Parameters
    ----------
    name : str
        Name of its file.
    rows : int
    sha256 : str
        Hash of the bytes that were read.
    groups : list of dict
        For each group: training prevalence, estimate with its interval, bound on PD,
        whether the prevalence moved, the verdict on a prior shift (the ``word`` and
        ``text`` of a `GroupVerdict`), up to three columns that moved, the worst first,
        and expected rates.
    pe : float or None
        Expected PE of the worst pair; None if no pair is defined.
    """

    name: str
    rows: int
    sha256: str
    groups: list[dict[str, Any]]
    pe: float | None


def monitor_files(
    model: TableModel,
    paths: Iterable[str | Path],
    *,
    level: float = 0.95,
    rows: int | None = None,
    dialect: Dialect | None = None,
    rule: Any = None,
    drift: str | None = None,
    notes: Notes | None = None,
    on_batch: Callable[[str, int], None] = lambda stage, batches: None,
) -> Iterator[MonitoredBatch]:
    """Read batches one at a time, in parts, and yield what is kept of each.

    Parameters
    ----------
    model : TableModel
    paths : iterable of str or Path
        One file for each batch, in order of time.
    level : float, default=0.95
        Confidence level of the intervals.
    rows : int, default=None
        Rows of a part. None chooses fewer rows for wider tables.
    dialect : Dialect, default=None
        How a CSV is written; None is as that of training.
    rule : str or Rule, default=None
        What to aim at, as in `CapeClassifier.adapt`; None is the choice of the model.
    drift : {"cautious", "ignore"}, default=None
        What to do where more than the prevalence has moved; None is the choice of the
        model.
    notes : Notes, default=None
        Collects remarks.
    on_batch : callable, default=None
        Called when a batch is done.

    Yields
    ------
    MonitoredBatch

    Examples
    --------
    >>> from cape.files import monitor_files, train_file
    >>> train.frame.to_csv(folder / "train.csv", index=False)
    >>> model = train_file(
    ...     folder / "train.csv", None, label="y", group=["z"], learner="logistic"
    ... )
    >>> [batch.rows for batch in monitor_files(model, [folder / "train.csv"])]
    [2000]
    """
    notes = Notes() if notes is None else notes
    if rule is not None:
        rule = make_rule(rule)
    if drift is not None:
        check_drift(drift)
    for path in map(Path, paths):
        hasher = hashlib.sha256()
        with notes.listening():
            evidence, _ = gather_evidence(
                model, path, rows=rows, dialect=dialect, notes=notes, hasher=hasher
            )
            model.note_training_file(path, hasher.hexdigest(), notes)
            with warnings.catch_warnings():
                # What the adaptation would warn of is among the numbers that are kept.
                warnings.simplefilter("ignore", AdaptationWarning)
                examination = examine(
                    model.clf,
                    evidence=evidence,
                    level=level,
                    rule=rule,
                    drift=drift,
                    labels_decide=False,
                )
            for note in examination.adaptation.notes:
                notes.say(f"{path.name}: {note}")
            yield _summarise(path.name, hasher.hexdigest(), examination)
        on_batch("batches", 1)


def _summarise(name: str, sha256: str, examination: Examination) -> MonitoredBatch:
    """Keep the numbers of a batch that a monitor shows."""
    groups = []
    for group, group_name in examination.names.items():
        groups.append({"group": group_name, **_summarise_group(group, examination)})
    pairs = [pe.value for pe in examination.expected.between.values()]
    defined = [pe for pe in pairs if np.isfinite(pe)]
    worst = max(defined, default=None)
    return MonitoredBatch(name, examination.rows, sha256, groups, worst)


def _summarise_group(group: Group, examination: Examination) -> dict[str, Any]:
    adapted = examination.adaptation.groups[group]
    moved = examination.moved.groups[group]
    expected = examination.expected.groups[group]
    verdict = examination.verdict(group)
    columns = examination.columns.moved(group)
    return {
        "rows": adapted.rows,
        "training": adapted.training_prevalence,
        "estimate": adapted.estimate.value,
        "low": adapted.estimate.low,
        "high": adapted.estimate.high,
        "theta": adapted.made_for,
        "predicted_prevalence": adapted.predicted_prevalence,
        "pd_bound": adapted.pd_bound,
        "moved": moved.moved,
        # The interval beside it is that of the group by itself, too.
        "p_moved": moved.p_value,
        "p_moved_adjusted": moved.p_adjusted,
        "verdict": verdict.word,
        "verdict_text": verdict.text,
        "clear": verdict.clear,
        "columns": [_summarise_column(finding) for finding in columns[:_MOST_COLUMNS]],
        "columns_moved": len(columns),
        "unexplained": examination.prior_shift.groups[group].effect,
        "fpr": _finite(expected.fpr.value),
        "fnr": _finite(expected.fnr.value),
        "accuracy": _finite(expected.accuracy.value),
    }


def _summarise_column(finding: ColumnFinding) -> dict[str, Any]:
    return {
        "column": finding.column,
        "fault": finding.fault,
        "effect": finding.effect,
        "p_adjusted": finding.p_adjusted,
        "what_happened": finding.what_happened,
    }


def _finite(value: float) -> float | None:
    """Return the value, or None where it is unknown."""
    return value if np.isfinite(value) else None
