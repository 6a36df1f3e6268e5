"""Prediction of a file in two passes: evidence summed over its parts, one adaptation, then part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cape._groups import Group, Groups, check_groups, group_name
from cape._learners._threads import available_threads, blas_in_one_thread, in_threads
from cape._prediction import batch_of, look_closely
from cape._tables import (
    Dialect,
    TableError,
    TableWriter,
    is_csv,
    iter_table,
    table_columns,
)
from cape.adaptation import Adaptation
from cape.classifier import CapeClassifier
from cape.evidence import Evidence
from cape.files._kept import KeptRows, row_type
from cape.files._model import Part, TableModel, few_threads, rows_of_a_part
from cape.files._notes import Notes
from cape.metrics import Confusion, confusion_by_group

__all__ = ["Prediction", "gather_evidence", "predict_file"]

Each = Callable[[Callable[..., Any], tuple, Iterable[Part]], Iterator[tuple[Part, Any]]]
"""Does ``work(*shared, part)`` for each part and gives parts and results, in their order."""

_ADDED = ("prediction", "probability", "prevalence")


_AT_ONCE = 2
"""Parts that are worked on in this process. More would only wait for Python's lock, and take memory."""


def here(
    work: Callable[..., Any], shared: tuple, parts: Iterable[Part]
) -> Iterator[tuple[Part, Any]]:
    """Do the parts in this process, two at a time."""
    with blas_in_one_thread():
        yield from in_threads(
            lambda part: (part, work(*shared, part)),
            parts,
            threads=min(_AT_ONCE, available_threads()),
        )


@dataclass
class Prediction:
    """What came of predicting a file.

    Parameters
    ----------
    evidence : Evidence
    adaptation : Adaptation
    rows : int
    cape, unadapted : dict from group to Confusion
        Where rows had labels: CAPE's predictions, and those of the model as trained, cut at 1/2. Else empty.
    """

    evidence: Evidence
    adaptation: Adaptation
    rows: int
    cape: dict[Group, Confusion] = field(default_factory=dict)
    unadapted: dict[Group, Confusion] = field(default_factory=dict)


def predict_file(
    model: TableModel,
    path: str | Path,
    out: str | Path | None = None,
    *,
    level: float = 0.95,
    rows: int | None = None,
    dialect: Dialect | None = None,
    overwrite: bool = False,
    notes: Notes | None = None,
    on_rows: Callable[[str, int], None] = lambda stage, rows: None,
    each: Each = here,
) -> Prediction:
    """Adapt to a file and predict it, holding no more than a few parts of it in memory.

    The file is read twice and each row is scored once: scores wait in a temporary file beside ``out``, 14 bytes a row
    with one model a group, and 8 more for each further member of a resampled pool.

    Parameters
    ----------
    model : TableModel
    path : str or Path
        The batch.
    out : str, Path or None
        Where to write its rows with a prediction, the probability of a positive and the prevalence that the chosen
        member of the group was made for; None only counts what the labels say, if there are any.
    level : float, default=0.95
        Of the intervals.
    rows : int, optional
        Of a part; by default the wider the table, the fewer.
    dialect : Dialect, optional
        Of a CSV, read and written.
    overwrite : bool, default=False
    notes : Notes, optional
        Gathers remarks.
    on_rows : callable, optional
        Told the stage, "reading" or "predicting", and how many rows have just been done.
    each : callable, optional
        Who does the parts: this process, or the workers of a cluster (`cape.scale.on_workers`).

    Returns
    -------
    Prediction

    Examples
    --------
    >>> import tempfile
    >>> from cape.datasets import make_synthetic
    >>> from cape.files import train_file
    >>> folder = Path(tempfile.mkdtemp())
    >>> d = make_synthetic(600, random_state=0)
    >>> frame = d.data.assign(z=d.sensitive_features)
    >>> frame.assign(y=d.target).to_csv(folder / "train.csv", index=False)
    >>> frame.to_csv(folder / "new.csv", index=False)
    >>> model = train_file(folder / "train.csv", None, label="y", group=["z"], learner="logistic")
    >>> predict_file(model, folder / "new.csv", folder / "out.csv").rows
    600
    >>> list(pd.read_csv(folder / "out.csv"))
    [..., 'z', 'prediction', 'probability', 'prevalence']
    """
    notes = Notes() if notes is None else notes
    # The writer comes first, so that a place that cannot be written is known before the work is done.
    writing: Any = nullcontext()
    if out is not None:
        writing = TableWriter(
            out, overwrite=overwrite, dialect=dialect, background=True
        )
    columns, n_scores, version = (
        table_columns(path, dialect=dialect),
        _scores_of_a_row(model.clf),
        _version(path),
    )
    rows = rows_of_a_part(len(columns) + n_scores) if rows is None else rows
    keeping: Any = nullcontext()
    if out is not None or model.columns.label in columns:
        keeping = KeptRows(None if out is None else Path(out).parent, n_scores)
    with writing as writer, notes.listening(), keeping as kept:
        evidence, labelled = gather_evidence(
            model,
            path,
            rows=rows,
            dialect=dialect,
            notes=notes,
            on_rows=lambda n: on_rows("reading", n),
            each=each,
            kept=kept,
        )
        adaptation = model.clf.adapt(evidence=evidence, level=level)
        found = Prediction(evidence, adaptation, sum(evidence.rows.values()))
        if writer is None and not labelled:
            return found
        for copy, records in _again(path, kept, rows, dialect, writer):
            probability = _probability(model.clf, adaptation, kept.groups, records)
            if copy is not None:
                writer.write(
                    _with_predictions(
                        copy, kept.groups, records, probability, model, adaptation
                    )
                )
            _count(found, kept.groups, records, probability > 0.5)
            on_rows("predicting", len(records))
        if _version(path) != version:
            raise TableError(f"{path} has changed while it was read.")
    if writer is not None and writer.disarmed:
        notes.say(
            f"{writer.disarmed} fields that a spreadsheet would run have an apostrophe in front in {out}: "
            "to predict that file again, write Parquet instead."
        )
    return found


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
) -> tuple[Evidence, bool]:
    """Sum the evidence over the parts of a file: the first pass.

    Groups that the model does not know, and rows without a group, are counted to the end of the file and are an error
    then. What is found of each row goes to ``kept``, if it is given, so that rows need not be scored again.

    Returns
    -------
    evidence : Evidence
    labelled : bool
        Whether any row has a label.
    """
    notes = Notes() if notes is None else notes
    evidence, labelled = Evidence(model.clf.fingerprint_), False
    unknown: Counter[str] = Counter()
    missing, total = 0, 0
    rows = (
        rows_of_a_part(len(table_columns(path, dialect=dialect)))
        if rows is None
        else rows
    )
    parts = model.parts(path, notes, rows=rows, dialect=dialect)
    for part, seen in each(_look if kept is None else _look_closely, (model,), parts):
        missing, unknown, total = (
            missing + seen.missing,
            unknown + seen.unknown,
            total + len(part),
        )
        if seen.evidence is not None:
            evidence = evidence + seen.evidence
        if kept is not None and seen.records is not None:
            kept.add(seen.records, seen.groups)
        labelled |= part.positive is not None and bool((part.positive >= 0).any())
        on_rows(len(part))
    if not total:
        raise TableError(f"{path} has a header but no rows.")
    if missing:
        names = " or ".join(map(repr, model.columns.groups))
        raise TableError(
            f"{path}: {missing} of {total} rows have no value in {names}, so no group."
        )
    if unknown:
        listed = ", ".join(f"{name!r} ({n} rows)" for name, n in unknown.most_common(5))
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        raise TableError(
            f"{path} has groups that were not in training: {listed}{more}. The model knows "
            f"{', '.join(repr(group_name(group)) for group in model.clf.groups_[:10])}; "
            "train with --unknown-groups pooled to predict others as all groups together."
        )
    return evidence, labelled


class _Seen(NamedTuple):
    """What the first pass found of a part: rows without a group, those of unknown groups; without such, all else."""

    missing: int
    unknown: Counter[str]
    evidence: Evidence | None = None
    records: np.ndarray | None = None
    groups: Sequence[Group] = ()


def _look(model: TableModel, part: Part) -> _Seen:
    """Evidence alone."""
    seen = _nameless_and_strangers(model, part.X)
    if seen.missing or seen.unknown:
        return seen
    with few_threads(len(part)):
        return seen._replace(evidence=model.clf.evidence(part.X))


def _look_closely(model: TableModel, part: Part) -> _Seen:
    """Evidence, and the record of each row."""
    seen = _nameless_and_strangers(model, part.X)
    if seen.missing or seen.unknown:
        return seen
    with few_threads(len(part)):
        batch = batch_of(model.clf, part.X, None)
        evidence, scores, unadapted = look_closely(batch)
    records = np.zeros(len(part), row_type(len(scores)))
    records["group"], records["unadapted"], records["scores"] = (
        batch.groups.codes,
        unadapted,
        scores.T,
    )
    records["positive"] = -1 if part.positive is None else part.positive
    return seen._replace(
        evidence=Evidence(model.clf.fingerprint_, evidence),
        records=records,
        groups=batch.groups.keys,
    )


def _nameless_and_strangers(model: TableModel, X: pd.DataFrame) -> _Seen:
    if not model.columns.groups:
        return _Seen(0, Counter())
    table = X[list(model.columns.groups)]
    named = table.notna().all(axis=1)
    unknown: Counter[str] = Counter()
    if named.any() and model.clf.unknown_groups != "pooled":
        groups = check_groups(table[named])
        for group, size in zip(groups.keys, np.bincount(groups.codes), strict=True):
            if group not in model.clf.models_:
                unknown[group_name(group)] += int(size)
    return _Seen(int((~named).sum()), unknown)


def _scores_of_a_row(clf: CapeClassifier) -> int:
    """How many scores a row has that some member may decide by: the same for all groups."""
    return len(next(iter(clf.models_.values())).pool.models)


def _again(
    path, kept, rows, dialect, writer
) -> Iterator[tuple[pd.DataFrame | None, np.ndarray]]:
    """The second pass: what was kept of the rows and, if they are to be written, the rows themselves.

    They are as they stand in the file, unless that is a CSV and the other a format that has types.
    """
    kept.rewind()
    if writer is None:
        while len(records := kept.take(rows)):
            yield None, records
        return
    for copy in iter_table(
        path, rows, verbatim=writer.is_text or not is_csv(path), dialect=dialect
    ):
        records = kept.take(len(copy))
        if len(records) < len(copy):
            raise TableError(f"{path} has changed while it was read.")
        yield copy, records


def _version(path: str | Path) -> tuple[int, ...]:
    """What tells a file from itself before a change."""
    status = Path(path).stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _probability(
    clf: CapeClassifier,
    adaptation: Adaptation,
    groups: list[Group],
    records: np.ndarray,
) -> np.ndarray:
    """Of each row the probability that the member of its group gives a positive."""
    probability = np.empty(len(records))
    of_rows = Groups(np.ascontiguousarray(records["group"]), groups)
    for group, rows in zip(groups, of_rows.rows_between(0, len(records)), strict=True):
        if len(rows):
            pool, member = clf.model_of(group).pool, adaptation.groups[group].member
            probability[rows] = pool.probability(
                records["scores"][rows, pool.model_of(member)], member
            )
    return probability


def _with_predictions(
    copy, groups, records, probability, model, adaptation
) -> pd.DataFrame:
    """The rows as they came and three columns, under names that are free."""
    thetas = np.array([adaptation.groups[group].theta for group in groups])
    added = {
        "prediction": model.columns.as_labels(probability > 0.5).to_numpy(),
        "probability": np.round(probability, 9),
        "prevalence": np.round(thetas, 9)[records["group"]],
    }
    names = free_names(list(copy))
    return copy.assign(**{names[name]: values for name, values in added.items()})


def free_names(taken: list[str]) -> dict[str, str]:
    """What the three added columns are called in a table that may have columns of that name."""
    names = {}
    for name in _ADDED:
        free = name
        while free in taken:
            free = f"cape_{free}"
        names[name] = free
    return names


def _count(
    found: Prediction, groups: list[Group], records: np.ndarray, called: np.ndarray
) -> None:
    """Add the labelled rows to the confusion counts."""
    rows = np.flatnonzero(records["positive"] >= 0)
    if len(rows) == 0:
        return
    some = records[rows]
    for total, decided in (
        (found.cape, called[rows]),
        (found.unadapted, some["unadapted"]),
    ):
        counts = confusion_by_group(
            some["positive"],
            decided.astype(np.int8),
            sensitive_features=some["group"],
            pos_label=1,
        )
        for code, confusion in counts.items():
            group = groups[code]  # type: ignore[call-overload]
            total[group] = total[group] + confusion if group in total else confusion
