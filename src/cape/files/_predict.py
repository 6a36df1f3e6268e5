"""Predict a file in two passes: sum evidence and adapt, then decide part by part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape._adaptation import Adaptation
from cape._evidence import Evidence
from cape._groups import Group, Groups
from cape._io import check_apart
from cape._prediction import Reading, decide
from cape._tables import Dialect, Table, TableError, TableWriter
from cape._validation import check_drift
from cape.examination import Examination
from cape.examination._examination import Observed
from cape.files._checked import CheckedGroup, SheetLabels
from cape.files._model import TableModel
from cape.files._notes import Notes
from cape.files._scan import (
    Each,
    KeptRows,
    OnRows,
    Scan,
    examine_batch,
    note_training_file,
    rows_of_a_part,
    scores_per_row,
)
from cape.metrics import confusion_by_group
from cape.rules._names import make_rule


@dataclass(frozen=True)
class Prediction:
    """What came of predicting a file.

    Parameters
    ----------
    examination : Examination
        All there is to say of the batch. Where rows have labels, its ``labels`` says
        whether they refute the estimates, and its ``observed`` counts how CAPE's
        predictions compare with them; else they are None.
    sha256 : str
        Hash of the bytes that were read.
    checked : dict from group to CheckedGroup, default=None
        What came back of a sheet of checked rows.
    """

    examination: Examination
    sha256: str
    checked: dict[Group, CheckedGroup] | None = None

    @property
    def adaptation(self) -> Adaptation:
        """The adaptation that the rows were predicted with."""
        return self.examination.adaptation

    @property
    def evidence(self) -> Evidence:
        """The evidence of the file."""
        return self.examination.evidence

    @property
    def rows(self) -> int:
        """Number of rows of the file."""
        return self.examination.rows


def predict_file(
    model: TableModel,
    path: str | Path,
    out: str | Path | None = None,
    *,
    level: float = 0.95,
    rows: int | None = None,
    dialect: Dialect | None = None,
    rule: Any = None,
    drift: str | None = None,
    checked: str | Path | None = None,
    overwrite: bool = False,
    notes: Notes | None = None,
    on_rows: OnRows | None = None,
    each: Each | None = None,
) -> Prediction:
    """Adapt to a file and predict it, holding only a few parts of it in memory.

    The file is read twice and each row is scored once. Between the two passes the
    scores wait in a temporary file beside ``out``: 14 bytes a row with one model a
    group, and 8 more for each further member of a resampled pool.

    Parameters
    ----------
    model : TableModel
    path : str or Path
        The batch.
    out : str, Path or None, default=None
        Where to write the rows, with a prediction, the probability of a positive and
        the estimated prevalence of the group. None writes nothing, and only counts what
        the labels say, if there are any.
    level : float, default=0.95
        Confidence level of the intervals.
    rows : int, default=None
        Rows of a part. None chooses fewer rows for wider tables.
    dialect : Dialect, default=None
        Of a CSV, for reading and writing; None is as that of training.
    rule : str or Rule, default=None
        What to aim at, as in `CapeClassifier.adapt`; None is the choice of the model.
    drift : {"cautious", "ignore"}, default=None
        What to do where more than the prevalence has moved; None is the choice of the
        model.
    checked : str, Path or None, default=None
        A sheet of `sample_file` that was filled in. Its labels correct the estimates.
    overwrite : bool, default=False
    notes : Notes, default=None
        Collects remarks.
    on_rows : callable, default=None
        Called with the stage, "reading" or "predicting", and the rows just done.
    each : callable, default=None
        Who does the parts: None is this process; `cape.scale.on_workers` are the
        workers of a cluster.

    Returns
    -------
    Prediction

    Examples
    --------
    >>> from cape.files import predict_file, train_file
    >>> train.frame.to_csv(folder / "train.csv", index=False)
    >>> new.frame.to_csv(folder / "new.csv", index=False)
    >>> model = train_file(
    ...     folder / "train.csv", None, label="y", group=["z"], learner="logistic"
    ... )
    >>> predict_file(model, folder / "new.csv", folder / "out.csv").rows
    1000
    >>> list(pd.read_csv(folder / "out.csv"))[-3:]
    ['prediction', 'probability', 'estimated_prevalence']
    """
    notes = Notes() if notes is None else notes
    if rule is not None:
        rule = make_rule(rule)
    if drift is not None:
        check_drift(drift)
    inputs = [path] if checked is None else [path, checked]
    check_apart([out], inputs)
    sheet = None if checked is None else SheetLabels(checked, model)
    scan = Scan(path, dialect or model.dialect, on_rows)
    names = scan.table.names
    writing: Any = nullcontext()
    keeping: Any = nullcontext()
    n_scores = scores_per_row(model.clf)
    if out is not None:
        writing = TableWriter(
            out,
            overwrite=overwrite,
            dialect=scan.table.dialect_to_write(),
            background=True,
        )
    if out is not None or sheet is not None or model.columns.label in names:
        keeping = KeptRows(None if out is None else Path(out).parent, n_scores)
    rows = rows or rows_of_a_part(len(names) + n_scores)
    came_back = None
    # The writer comes first: whether the place can be written is known before the work.
    with writing as writer, notes.listening(), keeping as kept:
        evidence, has_labels = scan.batch(
            model,
            notes,
            rows=rows,
            each=each,
            kept=kept,
            on_part=None if sheet is None else sheet.collect,
        )
        note_training_file(model, scan, notes)
        if sheet is not None:
            # What the file has of labels is no random sample; the sheet is.
            evidence, came_back = sheet.add_to(
                evidence.without_labels(), kept, scan.sha256, notes
            )
        examination = examine_batch(
            model,
            evidence,
            notes,
            level=level,
            rule=rule,
            drift=drift,
            labels_decide=sheet is not None,
        )
        if writer is None and not has_labels:
            return Prediction(examination, scan.sha256, came_back)
        adaptation = examination.adaptation
        observed = Observed({}, {})
        for table, records in _second_pass(scan.table, kept, rows, writer):
            probability = _probabilities(model, adaptation, kept.groups, records)
            if table is not None:
                adapted = [adaptation.groups[group] for group in kept.groups]
                estimates = [group.estimate.value for group in adapted]
                of_rows = np.round(estimates, 9)[records["group"]]
                writer.write(_with_predictions(table, model, probability, of_rows))
            _count_labelled(observed, kept.groups, records, probability > 0.5)
            scan.on_rows("predicting", len(records))
        scan.table.check_unchanged()
    if writer is not None and writer.disarmed:
        notes.say("disarmed", n=writer.disarmed, path=str(out), predicted=True)
    if observed.cape:
        examination.observed = observed
    return Prediction(examination, scan.sha256, came_back)


def _second_pass(
    table: Table, kept: KeptRows, rows: int, writer: TableWriter | None
) -> Iterator[tuple[pd.DataFrame | None, np.ndarray]]:
    """Yield the records of rows and, if they are to be written, the rows themselves.

    Rows come as they stand in the file, unless that is a CSV and the output has types.
    """
    kept.rewind()
    if writer is None:
        while len(records := kept.take(rows)):
            yield None, records
        return
    for frame in table.parts(rows, verbatim=writer.is_text or not table.is_csv):
        records = kept.take(len(frame))
        if len(records) < len(frame):
            raise TableError(f"{table.path} has changed while it was read.")
        yield frame, records


def _probabilities(
    model: TableModel,
    adaptation: Adaptation,
    groups: list[Group],
    records: np.ndarray,
) -> np.ndarray:
    """Compute the probability that the picked member of its group gives each row."""
    row_groups = Groups(np.ascontiguousarray(records["group"]), groups)
    rows_of_groups = row_groups.rows_between(0, len(records))
    readings = []
    for group, index in zip(groups, rows_of_groups, strict=True):
        if len(index):
            deciding = records["scores"][index].T
            of_group = model.clf.model_of(group)
            readings.append(Reading(group, of_group, index, deciding, deciding))
    return decide(readings, adaptation, n_rows=len(records), probabilities=True)


def _with_predictions(
    table: pd.DataFrame,
    model: TableModel,
    probability: np.ndarray,
    estimates: np.ndarray,
) -> pd.DataFrame:
    """Append three columns to the rows as they came, under names that are free."""
    values = {
        "prediction": model.columns.as_labels(probability > 0.5).to_numpy(),
        "probability": np.round(probability, 9),
        "estimated_prevalence": estimates,
    }
    added = {}
    for name, column in values.items():
        while name in table:
            name = f"cape_{name}"
        added[name] = column
    return table.assign(**added)


def _count_labelled(
    observed: Observed,
    groups: list[Group],
    records: np.ndarray,
    called: np.ndarray,
) -> None:
    """Add the rows that have a label to the confusion counts."""
    has_label = records["positive"] >= 0
    labelled = records[has_label]
    if not len(labelled):
        return
    both: Any = (
        (observed.cape, called[has_label]),
        (observed.unadapted, labelled["unadapted"]),
    )
    for totals, predicted in both:
        counts = confusion_by_group(
            labelled["positive"],
            predicted.astype(np.int8),
            sensitive_features=labelled["group"],
            pos_label=1,
        )
        for code, confusion in counts.items():
            group = groups[code]  # type: ignore[call-overload]
            if group in totals:
                confusion = totals[group] + confusion
            totals[group] = confusion
