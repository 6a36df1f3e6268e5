"""Predict a file in two passes: sum evidence and adapt, then decide part by part."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape._groups import Group, Groups, check_groups, group_name
from cape._learners import available_threads, blas_in_one_thread, in_threads
from cape._newfile import check_apart
from cape._prediction import KnownLabels, Reading, batch_of, decide, read_batch
from cape._tables import (
    Dialect,
    TableError,
    TableWriter,
    file_version,
    is_csv,
    iter_table,
    same_dialect,
    table_columns,
)
from cape._validation import check_drift
from cape.adaptation import Adaptation, AdaptationWarning
from cape.classifier import CapeClassifier
from cape.evidence import Evidence
from cape.examination import Examination, Observed, examine
from cape.files._checked import CheckedSheet, SheetLabels
from cape.files._kept import KeptRows, row_type
from cape.files._model import Part, TableModel, rows_of_a_part, single_thread_if_small
from cape.files._notes import Notes
from cape.metrics import confusion_by_group
from cape.rules import make_rule

__all__ = [
    "Each",
    "Prediction",
    "gather_evidence",
    "here",
    "predict_file",
    "scores_per_row",
]

Each = Callable[[Callable[..., Any], tuple, Iterable[Part]], Iterator[tuple[Part, Any]]]
"""Does ``work(*shared, part)`` for each part and gives parts and results, in order."""

_ADDED_COLUMNS = ("prediction", "probability", "estimated_prevalence")

_PARTS_AT_ONCE = 2
"""Parts that this process works on at the same time. More parts would only wait for
Python's lock, and take memory."""

_MOST_NAMES = 5


def here(
    work: Callable[..., Any], shared: tuple, parts: Iterable[Part]
) -> Iterator[tuple[Part, Any]]:
    """Do the parts in this process, two at a time.

    Parameters
    ----------
    work : callable
        Called as ``work(*shared, part)``.
    shared : tuple
    parts : iterable of Part

    Yields
    ------
    part, result
        In the order of the parts.

    Examples
    --------
    >>> from cape.files import here
    >>> list(here(lambda factor, part: factor * part, (2,), [1, 2]))
    [(1, 2), (2, 4)]
    """

    def work_on(part: Part) -> tuple[Part, Any]:
        return part, work(*shared, part)

    threads = min(_PARTS_AT_ONCE, available_threads())
    with blas_in_one_thread():
        yield from in_threads(work_on, parts, threads=threads)


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
    checked : CheckedSheet, default=None
        What came back of a sheet of checked rows.
    """

    examination: Examination
    sha256: str
    checked: CheckedSheet | None = None

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
    on_rows: Callable[[str, int], None] = lambda stage, rows: None,
    each: Each = here,
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
    each : callable, default=here
        Who does the parts: this process, or the workers of a cluster
        (`cape.scale.on_workers`).

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
    sheet = None if checked is None else SheetLabels.read(checked, model)
    dialect = dialect or model.dialect
    # The writer comes first: whether the place can be written is known before the work.
    writing: Any = nullcontext()
    if out is not None:
        writing = TableWriter(
            out,
            overwrite=overwrite,
            dialect=same_dialect(path, dialect),
            background=True,
        )
    names = table_columns(path, dialect=dialect)
    version = file_version(path)
    n_scores = scores_per_row(model.clf)
    if rows is None:
        rows = rows_of_a_part(len(names) + n_scores)
    hasher = hashlib.sha256()
    keeping: Any = nullcontext()
    if out is not None or sheet is not None or model.columns.label in names:
        keeping = KeptRows(None if out is None else Path(out).parent, n_scores)
    with writing as writer, notes.listening(), keeping as kept:
        evidence, has_labels = gather_evidence(
            model,
            path,
            rows=rows,
            dialect=dialect,
            notes=notes,
            on_rows=lambda n: on_rows("reading", n),
            each=each,
            kept=kept,
            names=names,
            hasher=hasher,
            on_part=None if sheet is None else sheet.collect,
        )
        model.note_training_file(path, hasher.hexdigest(), notes)
        came_back = None
        if sheet is not None:
            # What the file has of labels is no random sample; the sheet is.
            evidence, came_back = sheet.add_to(
                evidence.without_labels(), kept, hasher.hexdigest(), notes
            )
        with warnings.catch_warnings():
            # What the adaptation would warn of is in the examination, in more detail.
            warnings.simplefilter("ignore", AdaptationWarning)
            examination = examine(
                model.clf,
                evidence=evidence,
                level=level,
                rule=rule,
                drift=drift,
                labels_decide=sheet is not None,
            )
        for note in examination.adaptation.notes:
            notes.say(note)
        if writer is None and not has_labels:
            return Prediction(examination, hasher.hexdigest(), came_back)
        adaptation = examination.adaptation
        observed = Observed({}, {})
        for table, records in _second_pass(path, kept, rows, dialect, writer, names):
            probability = _probabilities(model.clf, adaptation, kept.groups, records)
            if table is not None:
                predicted = _PredictedRows(kept.groups, records, probability)
                writer.write(_with_predictions(table, predicted, model, adaptation))
            _count_labelled(observed, kept.groups, records, probability > 0.5)
            on_rows("predicting", len(records))
        if file_version(path) != version:
            raise TableError(f"{path} has changed while it was read.")
    if writer is not None and writer.disarmed:
        notes.say(
            f"{writer.disarmed} fields that a spreadsheet would run have an apostrophe "
            f"in front in {out}: to predict that file again, write Parquet instead."
        )
    if observed.cape:
        examination.observed = observed
    return Prediction(examination, hasher.hexdigest(), came_back)


def gather_evidence(
    model: TableModel,
    path: str | Path,
    *,
    rows: int | None = None,
    dialect: Dialect | None = None,
    notes: Notes | None = None,
    on_rows: Callable[[int], None] = lambda rows: None,
    each: Each = here,
    kept: KeptRows | None = None,
    names: list[str] | None = None,
    hasher: Any = None,
    on_part: Callable[[Part], None] | None = None,
) -> tuple[Evidence, bool]:
    """Sum the evidence over the parts of a file: the first pass.

    Groups that the model does not know, and rows without a group, are counted to the
    end of the file and are an error then.

    Parameters
    ----------
    model : TableModel
    path : str or Path
    rows, dialect, notes, each
        As in `predict_file`.
    on_rows : callable, default=None
        Called with the number of rows just done.
    kept : KeptRows, default=None
        Takes what was read of each row, so that no row is scored again.
    names : list of str, default=None
        The columns of the file, if they are known already.
    hasher : hashlib object, default=None
        Fed with the bytes of the file, as it is read.
    on_part : callable, default=None
        Called with each part, in order.

    Returns
    -------
    evidence : Evidence
    has_labels : bool
        Whether any row has a label.
    """
    notes = Notes() if notes is None else notes
    dialect = dialect or model.dialect
    if names is None:
        names = table_columns(path, dialect=dialect)
    if rows is None:
        rows = rows_of_a_part(len(names))
    evidence = Evidence(model.clf.fingerprint_)
    has_labels = False
    problems = _GroupProblems(0, Counter())
    n_rows = 0
    work = _count_part if kept is None else _read_part
    parts = model.parts(
        path, notes, rows=rows, dialect=dialect, names=names, hasher=hasher
    )
    for part, result in each(work, (model,), parts):
        n_rows += len(part)
        if on_part is not None:
            on_part(part)
        problems = problems + result.problems
        if result.evidence is not None:
            evidence = evidence + result.evidence
        if kept is not None and result.records is not None:
            kept.add(result.records, result.groups)
        if part.positive is not None:
            has_labels |= bool((part.positive >= 0).any())
        on_rows(len(part))
    if not n_rows:
        raise TableError(f"{path} has a header but no rows.")
    problems.raise_if_any(path, n_rows, model)
    return evidence, has_labels


@dataclass(frozen=True)
class _GroupProblems:
    """Rows whose group the model cannot serve.

    Parameters
    ----------
    without_group : int
        Rows with no value in a group column.
    unknown : Counter from group name to int
        Rows of groups that were not in training.
    """

    without_group: int
    unknown: Counter[str]

    def __add__(self, other: _GroupProblems) -> _GroupProblems:
        without_group = self.without_group + other.without_group
        return _GroupProblems(without_group, self.unknown + other.unknown)

    def __bool__(self) -> bool:
        return bool(self.without_group or self.unknown)

    def raise_if_any(self, path: str | Path, n_rows: int, model: TableModel) -> None:
        if self.without_group:
            names = " or ".join(map(repr, model.columns.groups))
            raise TableError(
                f"{path}: {self.without_group} of {n_rows} rows have no value in "
                f"{names}, so no group."
            )
        if self.unknown:
            counts = self.unknown.most_common()
            listed = [f"{name!r} ({n} rows)" for name, n in counts[:_MOST_NAMES]]
            if len(counts) > _MOST_NAMES:
                listed.append(f"{len(counts) - _MOST_NAMES} more")
            known = [repr(group_name(group)) for group in model.clf.groups_[:10]]
            raise TableError(
                f"{path} has groups that were not in training: {', '.join(listed)}. "
                f"The model knows {', '.join(known)}; train with --unknown-groups "
                "pooled to predict unknown groups with the model of all groups."
            )


def _find_group_problems(model: TableModel, X: pd.DataFrame) -> _GroupProblems:
    """Count the rows of a part whose group the model cannot serve."""
    unknown: Counter[str] = Counter()
    if not model.columns.groups:
        return _GroupProblems(0, unknown)
    table = X[list(model.columns.groups)]
    has_group = table.notna().all(axis=1)
    if has_group.any() and model.clf.unknown_groups != "pooled":
        groups = check_groups(table[has_group])
        sizes = np.bincount(groups.codes)
        for group, size in zip(groups.keys, sizes, strict=True):
            if group not in model.clf.models_:
                unknown[group_name(group)] += int(size)
    return _GroupProblems(int((~has_group).sum()), unknown)


@dataclass(frozen=True)
class _PartResult:
    """What the first pass found in a part.

    Parameters
    ----------
    problems : _GroupProblems
        If there are any, nothing else was looked at.
    evidence : Evidence or None
    records : ndarray or None
        One record for each row, see `row_type`.
    groups : sequence of Group
        What the group codes of the records mean.
    """

    problems: _GroupProblems
    evidence: Evidence | None = None
    records: np.ndarray | None = None
    groups: Sequence[Group] = ()


def _count_part(model: TableModel, part: Part) -> _PartResult:
    """Count the evidence of a part, and nothing else."""
    problems = _find_group_problems(model, part.X)
    if problems:
        return _PartResult(problems)
    with single_thread_if_small(len(part)):
        return _PartResult(problems, model.clf.evidence(part.X))


def _read_part(model: TableModel, part: Part) -> _PartResult:
    """Count the evidence of a part, and record what was read of each row."""
    problems = _find_group_problems(model, part.X)
    if problems:
        return _PartResult(problems)
    with single_thread_if_small(len(part)):
        batch = batch_of(model.clf, part.X, None)
        readings, evidence = read_batch(
            batch, labels=_labels_of(part), probabilities=True
        )
    records = np.zeros(len(part), row_type(scores_per_row(model.clf)))
    records["group"] = batch.groups.codes
    records["positive"] = -1 if part.positive is None else part.positive
    for reading in readings:
        index = slice(None) if reading.index is None else reading.index
        records["unadapted"][index] = reading.unadapted()
        records["scores"][index] = reading.deciding.T
    of_part = Evidence(model.clf.fingerprint_, evidence)
    return _PartResult(problems, of_part, records, batch.groups.keys)


def _labels_of(part: Part) -> KnownLabels | None:
    """Return the labels of a part, which are those of whatever rows happen to have one.

    They are used for the verdict on the estimates alone: outcomes that are known early
    are no random sample, and a file with all its labels needs no estimate.
    """
    if part.positive is None:
        return None
    return KnownLabels(part.positive, None)


def scores_per_row(clf: CapeClassifier) -> int:
    """Return how many scores of a row members may decide by.

    The pools of all groups are of one kind: thresholds decide by one score, resampled
    members by one score each.
    """
    pool = next(iter(clf.models_.values())).pool
    if pool.has_a_model_each:
        return len(pool.models)
    return 1


def _second_pass(
    path: str | Path,
    kept: KeptRows,
    rows: int,
    dialect: Dialect | None,
    writer: TableWriter | None,
    names: list[str],
) -> Iterator[tuple[pd.DataFrame | None, np.ndarray]]:
    """Yield the records of rows and, if they are to be written, the rows themselves.

    Rows come as they stand in the file, unless that is a CSV and the output has types.
    """
    kept.rewind()
    if writer is None:
        while len(records := kept.take(rows)):
            yield None, records
        return
    verbatim = writer.is_text or not is_csv(path)
    tables = iter_table(path, rows, verbatim=verbatim, dialect=dialect, names=names)
    for table in tables:
        records = kept.take(len(table))
        if len(records) < len(table):
            raise TableError(f"{path} has changed while it was read.")
        yield table, records


def _probabilities(
    clf: CapeClassifier,
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
            model = clf.model_of(group)
            readings.append(Reading(group, model, index, deciding, deciding))
    return decide(readings, adaptation, n_rows=len(records), probabilities=True)


@dataclass(frozen=True)
class _PredictedRows:
    """Rows with the probability of a positive; groups are what the codes mean."""

    groups: list[Group]
    records: np.ndarray
    probability: np.ndarray


def _with_predictions(
    table: pd.DataFrame,
    predicted: _PredictedRows,
    model: TableModel,
    adaptation: Adaptation,
) -> pd.DataFrame:
    """Append three columns to the rows as they came, under names that are free."""
    estimates = []
    for group in predicted.groups:
        # A group that first comes later in the file is not in every part.
        estimates.append(adaptation.groups[group].estimate.value)
    codes = predicted.records["group"]
    values = {
        "prediction": model.columns.as_labels(predicted.probability > 0.5).to_numpy(),
        "probability": np.round(predicted.probability, 9),
        "estimated_prevalence": np.round(estimates, 9)[codes],
    }
    names = free_names(list(map(str, table)))
    return table.assign(**{names[name]: column for name, column in values.items()})


def free_names(taken: list[str]) -> dict[str, str]:
    """Name the three added columns in a table that may have columns of that name.

    Examples
    --------
    >>> free_names(["prediction", "age"])["prediction"]
    'cape_prediction'
    """
    names = {}
    for name in _ADDED_COLUMNS:
        free = name
        while free in taken:
            free = f"cape_{free}"
        names[name] = free
    return names


def _count_labelled(
    observed: Observed,
    groups: list[Group],
    records: np.ndarray,
    called: np.ndarray,
) -> None:
    """Add the rows that have a label to the confusion counts."""
    has_label = records["positive"] >= 0
    if not has_label.any():
        return
    labelled = records[has_label]
    _add_counts(observed.cape, groups, labelled, called[has_label])
    _add_counts(observed.unadapted, groups, labelled, labelled["unadapted"])


def _add_counts(
    totals: Any,
    groups: list[Group],
    labelled: np.ndarray,
    called: np.ndarray,
) -> None:
    counts = confusion_by_group(
        labelled["positive"],
        called.astype(np.int8),
        sensitive_features=labelled["group"],
        pos_label=1,
    )
    for code, confusion in counts.items():
        group = groups[code]  # type: ignore[call-overload]
        if group in totals:
            totals[group] = totals[group] + confusion
        else:
            totals[group] = confusion
