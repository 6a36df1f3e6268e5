"""Many batches, one after the other: what is kept of each is a few numbers a group."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cape._groups import group_name
from cape._tables import Dialect
from cape.diagnostics import expected_performance, prevalence_moved, prior_shift_test
from cape.files._model import TableModel, file_hash
from cape.files._notes import Notes
from cape.files._predict import gather_evidence

__all__ = ["MonitoredBatch", "monitor_files"]


@dataclass(frozen=True)
class MonitoredBatch:
    """What is kept of one batch.

    Parameters
    ----------
    name : str
        Of its file.
    rows : int
    sha256 : str
    groups : list of dict
        Of each group: training prevalence, estimate with its interval, bound on PD, whether it moved, whether the
        assumption "holds", "fails", has "too few rows" or is "unknown", and the expected rates.
    pe : float or None
        Expected PE of the worst pair.
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
    notes: Notes | None = None,
    on_batch: Callable[[str, int], None] = lambda stage, batches: None,
) -> Iterator[MonitoredBatch]:
    """Read batches one at a time, in parts, and yield what is found in each; none is kept in memory.

    Parameters
    ----------
    model : TableModel
    paths : iterable of str or Path
        One file a batch, in order of time.
    level : float, default=0.95
    rows : int, optional
        Of a part; by default the wider the table, the fewer.
    dialect : Dialect, optional
    notes : Notes, optional
    on_batch : callable, optional
        Told when a batch is done.

    Yields
    ------
    MonitoredBatch
    """
    notes = Notes() if notes is None else notes
    for path in map(Path, paths):
        with notes.listening():
            evidence, _ = gather_evidence(
                model, path, rows=rows, dialect=dialect, notes=notes
            )
            yield _look(model, path, evidence, level)
        on_batch("batches", 1)


def _look(model: TableModel, path: Path, evidence: Any, level: float) -> MonitoredBatch:
    clf = model.clf
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # what it would warn of is among the numbers kept
        adaptation = clf.adapt(evidence=evidence, level=level)
    test = prior_shift_test(clf, evidence=evidence)
    moved = prevalence_moved(clf, evidence=evidence)
    expected = expected_performance(clf, evidence, adaptation)
    rates = {entry["group"]: entry for entry in expected.to_dict()["groups"]}
    groups = []
    for group, found in adaptation.groups.items():
        checked, name = test.groups[group], group_name(group)
        holds = "fails" if checked.rejected else "holds"
        groups.append(
            {
                "group": name,
                "rows": found.rows,
                "training": found.training_prevalence,
                "estimate": found.estimate,
                "low": found.low,
                "high": found.high,
                "theta": found.theta,
                "predicted_prevalence": found.predicted_prevalence,
                "pd_bound": found.pd_bound,
                "moved": moved.groups[group].moved,
                "p_moved": moved.groups[group].p_adjusted,
                "assumption": "unknown"
                if not test.sound
                else holds
                if checked.tested
                else "too few rows",
                "unexplained": checked.effect,
                **{rate: rates[name][rate] for rate in ("fpr", "fnr", "accuracy")},
            }
        )
    pairs = [
        pair["pe"] for pair in expected.to_dict()["pairs"] if pair["pe"] is not None
    ]
    return MonitoredBatch(
        path.name,
        sum(evidence.rows.values()),
        file_hash(path),
        groups,
        max(pairs, default=None),
    )
