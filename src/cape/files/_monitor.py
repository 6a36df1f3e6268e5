"""Batches that are only counted: monitor many of them, or plan for the next."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cape._adaptation import AdaptationWarning
from cape._groups import Group, unique_names
from cape._tables import Dialect
from cape._validation import check_drift
from cape.examination import Examination, examine, rows_needed
from cape.examination._shift import ColumnFinding
from cape.files._model import TableModel
from cape.files._notes import Notes
from cape.files._scan import OnRows, Scan, examine_batch, note_training_file
from cape.rules._names import make_rule

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
    on_batch: OnRows | None = None,
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
        scan = Scan(path, dialect or model.dialect)
        with notes.listening():
            evidence, _ = scan.batch(model, notes, rows=rows)
            note_training_file(model, scan, notes)
            examination = examine_batch(
                model,
                evidence,
                notes,
                path.name,
                level=level,
                rule=rule,
                drift=drift,
                labels_decide=False,
            )
            yield _summarise(path.name, scan.sha256, examination)
        if on_batch is not None:
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


def rows_needed_of_file(
    model: TableModel,
    path: str | Path | None,
    width: float,
    *,
    level: float = 0.95,
    prevalence: float | None = None,
    dialect: Dialect | None = None,
    notes: Notes | None = None,
    on_rows: OnRows | None = None,
) -> list[dict[str, Any]]:
    """Compute how many rows of each group give an interval no wider than ``width``.

    Parameters
    ----------
    model : TableModel
    path : str, Path or None
        A batch. What else than the prevalence has moved in it widens intervals, and the
        labels are counted that give an interval of that width. None expects no drift.
    width : float in (0, 1)
        Width of the interval of the prevalence, from its low end to its high end.
    level : float in (0, 1), default=0.95
        Confidence level of the interval.
    prevalence : float in [0, 1], default=None
        As in `cape.examination.rows_needed`.
    dialect : Dialect, default=None
        How a CSV is written; None is as that of training.
    notes : Notes, default=None
        Collects remarks.
    on_rows : callable, default=None
        Called with the stage, "reading", and the rows just done.

    Returns
    -------
    list of dict
        For each group its name, ``rows_needed`` (None if no number of rows is enough),
        ``narrowest``, the width that no number of rows goes below, and, of a batch,
        its ``rows``, ``labels_needed`` if they are drawn as `sample_file` does, and
        ``labels_needed_drawn_plainly``.

    Examples
    --------
    >>> from cape.files import rows_needed_of_file, train_file
    >>> train.frame.to_csv(folder / "train.csv", index=False)
    >>> model = train_file(
    ...     folder / "train.csv", None, label="y", group=["z"], learner="logistic"
    ... )
    >>> needs = rows_needed_of_file(model, None, 0.2)
    >>> [need["group"] for need in needs]
    ['0', '1']
    >>> [20 < need["rows_needed"] < 200 for need in needs]
    [True, True]
    """
    clf = model.clf
    groups = list(clf.groups_)
    labels: dict[Group, dict[Any, Any]] = {}
    if path is None:
        planned = rows_needed(clf, width, level=level, prevalence=prevalence)
    else:
        notes = Notes() if notes is None else notes
        with notes.listening():
            scan = Scan(path, dialect or model.dialect, on_rows)
            evidence, _ = scan.batch(model, notes)
        groups = list(evidence.groups)
        with warnings.catch_warnings():
            # What it would warn of is what is being computed.
            warnings.simplefilter("ignore", AdaptationWarning)
            seen = examine(clf, evidence=evidence, level=level)
        planned = seen.rows_needed(width, prevalence=prevalence)
        for_width = seen.labels_needed(width)
        labels = dict(zip(groups, for_width.to_dict("records"), strict=True))
    rows = dict(zip(clf.groups_, planned.to_dict("records"), strict=True))
    names = unique_names(groups)
    needs = []
    for group in groups:
        # A group that training did not have has no line, and nothing to plan with.
        found = rows.get(group, {"rows": math.inf, "narrowest": 1.0})
        enough = math.isfinite(found["rows"])
        need = {
            "group": names[group],
            # JSON has no infinity.
            "rows_needed": int(found["rows"]) if enough else None,
            "narrowest": found["narrowest"],
        }
        if group in labels:
            need["rows"] = labels[group]["rows"]
            need["labels_needed"] = labels[group]["labels"]
            need["labels_needed_drawn_plainly"] = labels[group]["plain"]
        needs.append(need)
    return needs
