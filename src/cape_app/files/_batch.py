"""Batches in files: predict one, or plan for the next.

A file is predicted in two passes: sum evidence and adapt, then decide part by part. A
batch that nothing is written of, or that is planned with, is only counted.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from cape import Adaptation, AdaptationWarning, Evidence
from cape.base._errors import ParameterError
from cape.base._groups import Group, Groups
from cape.base._io import check_apart
from cape.base._validation import check_drift
from cape.drift._find import with_usual_values
from cape.evidence._columns import take_column
from cape.examination import Examination, examine
from cape.examination._examination import Observed
from cape.metrics import confusion_by_group
from cape.rules._deciding import decide
from cape.rules._rules import make_rule
from cape.training._reading import Reading
from cape_app.files import _scan
from cape_app.files._model import TableModel
from cape_app.files._notes import Notes
from cape_app.tables import Dialect, Source, TableError, check_outside, source_files
from cape_app.tables._write import TableWriter

if TYPE_CHECKING:
    from cape_app.files._sample import CheckedGroup


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
    def came_back(self) -> list[dict[str, Any]] | None:
        """What came back of a sheet of checked rows, by the names of the groups."""
        if self.checked is None:
            return None
        names = self.examination.names
        return [
            {"group": names[group], **found._asdict()}
            for group, found in self.checked.items()
        ]

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
    path: Source,
    out: str | Path | None = None,
    *,
    level: float = 0.95,
    tolerance: float = 0.05,
    rows: int | None = None,
    dialect: Dialect | None = None,
    rule: Any = None,
    drift: str | None = None,
    checked: str | Path | None = None,
    blank_means: str | None = None,
    counts: bool = False,
    overwrite: bool = False,
    notes: Notes | None = None,
    on_rows: _scan.OnRows | None = None,
) -> Prediction:
    """Adapt to a file and predict it, with only a few parts of it in memory.

    The file is read twice, and each row is scored once. Between the two passes the
    scores are kept in a temporary file beside ``out``: 14 bytes per row with one model
    per group, 8 for a weight, and 8 more for each further member of a resampled pool.

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
    tolerance : float, default=0.05
        How far off an estimate may be to be used.
    rows : int, default=None
        Rows of a part. None chooses fewer rows for wider tables.
    dialect : Dialect, default=None
        Of a CSV, for reading and writing; None is as that of training.
    rule : str or Rule, default=None
        What to aim at, as in `CapeClassifier.adapt`; None is the choice of the model.
    drift : {"cautious", "ignore"}, default=None
        What to do where more than the prevalence changed; None is the choice of the
        model.
    checked : str, Path or None, default=None
        A sheet of `sample_file` that was filled in. Its labels correct the estimates.
        If it is ``path``, the labels of the batch do.
    blank_means : str, default=None
        The label of rows of the sheet whose label was left empty; None is no label.
    counts : bool, default=False
        Whether the file is the result of a statement of `cape.elsewhere.sql.query`. It
        has no rows to write; its labels correct the estimates.
    overwrite : bool, default=False
    notes : Notes, default=None
        Collects remarks.
    on_rows : callable, default=None
        Called with the stage, "reading" or "predicting", and the rows just done.

    Returns
    -------
    Prediction

    Examples
    --------
    >>> from cape_app.files import predict_file, train_file
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
    rule = _check_aim(rule, drift)
    inputs = source_files(path) + ([] if checked is None else source_files(checked))
    check_apart([out], inputs)
    if out is not None:
        check_outside(out, path)
    own_labels = checked is not None and source_files(checked) == source_files(path)
    sheet = None
    settings: dict[str, Any] = {"level": level, "rule": rule, "drift": drift}
    settings["tolerance"] = tolerance
    if blank_means is not None and (checked is None or own_labels):
        raise ParameterError("blank_means", "needs a sheet (checked).")
    if counts:
        for name, given in {"out": out, "checked": checked}.items():
            if given is not None:
                problem = "must be left out with counts, which have no rows to write"
                raise ParameterError(name, f"{problem}, got {str(given)!r}.")
        with notes.listening():
            evidence, sha256 = _scan.read_counts(model, path, dialect, notes)
            examination = _examine(model, evidence, notes, path, **settings)
            return Prediction(examination, sha256)
    if checked is not None and not own_labels:
        from cape_app.files._sample import SheetLabels

        sheet = SheetLabels(checked, model, blank_means)
    scan = _scan.Scan(path, dialect or model.dialect, notes, on_rows)
    names = scan.table.names
    if own_labels and model.columns.label not in names:
        raise TableError(f"{checked} has no label column {model.columns.label!r}.")
    writing: Any = nullcontext()
    keeping: Any = nullcontext()
    if out is not None:
        writing = TableWriter(out, overwrite=overwrite, dialect=scan.table.dialect)
    if out is not None or sheet is not None or model.columns.label in names:
        keeping = _scan.KeptRows(None if out is None else Path(out).parent, model)
    rows = rows or _scan.rows_of_a_part(len(names), model.clf)
    came_back = None
    # The writer comes first: whether the place can be written is known before the work.
    with writing as writer, notes.listening(), keeping as kept:
        evidence, has_labels = scan.batch(
            model,
            rows=rows,
            kept=kept,
            labelled=kept is not None,
            on_part=None if sheet is None else sheet.collect,
        )
        _note_training_file(model, scan, notes)
        if sheet is not None:
            # What the file has of labels is no random sample; the sheet is.
            evidence, came_back = sheet.add_to(
                evidence.without_labels(), kept, scan.sha256, notes
            )
        settings["labels_decide"] = sheet is not None or own_labels
        examination = _examine(model, evidence, notes, path, **settings)
        _name_usual_values(examination, model, scan)
        if writer is None and not has_labels:
            return Prediction(examination, scan.sha256, came_back)
        adaptation = examination.adaptation
        observed = Observed({}, {})
        for table, records in _second_pass(scan, kept, rows, writer):
            probability = _probabilities(model, adaptation, kept.groups, records)
            if table is not None:
                estimates = []
                for group in kept.groups:
                    estimates.append(adaptation.groups[group].estimate.value)
                of_rows = np.round(estimates, 9)[records["group"]]
                writer.write(_with_predictions(table, model, probability, of_rows))
            worth = _worth_of_rows(examination, kept.groups, records)
            _count_labelled(observed, kept.groups, records, probability > 0.5, worth)
            scan.on_rows("predicting", len(records))
        scan.table.check_unchanged()
    if writer is not None and writer.disarmed:
        notes.say("disarmed", n=writer.disarmed, path=str(out), predicted=True)
    if observed.cape:
        examination.observed = observed
    return Prediction(examination, scan.sha256, came_back)


def _name_usual_values(
    examination: Examination, model: TableModel, scan: _scan.Scan
) -> None:
    """Look into columns out of range again: counts do not tell which value it is."""
    adaptation = examination.adaptation
    drifts = adaptation.drifts
    out_of_range: dict[str, Any] = {}
    for drift in drifts.values():
        for column in drift.faults:
            if column.fault == "range":
                out_of_range[column.column] = column.cells
    for name, cells in out_of_range.items():
        types = {name: model.columns.features[name]}
        outside = []
        for frame in scan.table.parts(columns=[name], types=types):
            numbers = take_column(frame, 0).numbers
            is_outside = (numbers < cells.lowest) | (numbers > cells.highest)
            outside.append(frame[is_outside])
        drifts = with_usual_values(drifts, pd.concat(outside))
    examination.adaptation = replace(adaptation, drifts=drifts)


def _second_pass(
    scan: _scan.Scan, kept: _scan.KeptRows, rows: int, writer: TableWriter | None
) -> Iterator[tuple[pd.DataFrame | None, np.ndarray]]:
    """Yield the records of rows and, if they are to be written, the rows themselves.

    Rows come as they stand in the file; those of a CSV get types if the output has any.
    """
    parts = kept.parts(rows)
    if writer is None:
        for records in parts:
            yield None, records
        return
    table = scan.table
    frames = table.parts(rows, verbatim=True, typed=not writer.is_text)
    # A total below the rows was not read as a row, and may be a part by itself.
    for frame, records in zip(frames, parts, strict=False):
        if scan.total:
            frame = frame.iloc[: len(records)]
        if len(records) != len(frame):
            raise TableError(f"{table.path} changed while it was being read.")
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


def _worth_of_rows(
    examination: Examination, groups: list[Group], records: np.ndarray
) -> np.ndarray | None:
    """Return weights that sum to the rows that each group is worth, if there are any.

    Intervals of rates then count the noise that unequal weights add.
    """
    evidence = examination.evidence.effective().groups
    factors = np.ones(len(groups))
    for place, group in enumerate(groups):
        part = evidence[group]
        if part.counted is not None:
            factors[place] = part.scores.size / part.weight
    if (factors == 1).all():
        return None
    return records["weight"] * factors[records["group"]]


def _count_labelled(
    observed: Observed,
    groups: list[Group],
    records: np.ndarray,
    called: np.ndarray,
    worth: np.ndarray | None,
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
            sample_weight=None if worth is None else worth[has_label],
            pos_label=1,
        )
        for code, confusion in counts.items():
            group = groups[code]  # type: ignore[call-overload]
            if group in totals:
                confusion = totals[group] + confusion
            totals[group] = confusion


def _check_aim(rule: Any, drift: str | None) -> Any:
    """Check what the user wants of batches, and return the rule; None stays None."""
    if drift is not None:
        check_drift(drift)
    return None if rule is None else make_rule(rule)


def _examine(
    model: TableModel, evidence: Evidence, notes: Notes, path: Source, **settings: Any
) -> Examination:
    """Examine a batch, and note what the rule says of it."""
    file = Path(str(path)).name
    if not evidence.groups:
        # Counts of an empty table, or only rows that are dropped.
        raise ValueError(f"{file} has no rows to adapt to.")
    with warnings.catch_warnings():
        # What the adaptation would warn of is in the examination, in more detail.
        warnings.simplefilter("ignore", AdaptationWarning)
        examination = examine(model.clf, evidence=evidence, **settings)
    for note in examination.adaptation.notes:
        notes.say("rule", text=note, file=file)
    worth = sum(one.effective_rows for one in examination.adaptation.groups.values())
    if worth != examination.rows:
        notes.say("weights", n=examination.rows, worth=worth, file=file)
    return examination


def _note_training_file(model: TableModel, scan: _scan.Scan, notes: Notes) -> None:
    """Note that a file is the one that the model was trained on."""
    if scan.sha256 == model.details.get("data", {}).get("sha256"):
        notes.say("training_file", path=str(scan.path))
