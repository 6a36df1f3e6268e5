"""Prediction of a file in two passes: evidence summed over its parts, one adaptation, then part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape._validation import Group, all_if_none, check_groups, everyone, group_name
from cape.adaptation import Adaptation
from cape.classifier import CapeClassifier
from cape.evidence import Evidence
from cape.files._model import Part, TableModel, few_threads
from cape.files._notes import Notes
from cape.metrics import Confusion, confusion_by_group
from cape.tables import Dialect, TableError, TableWriter, iter_table

__all__ = ["Prediction", "gather_evidence", "predict_file"]

Each = Callable[[Callable[..., Any], tuple, Iterable[Part]], Iterator[tuple[Part, Any]]]
"""Does ``work(*shared, part)`` for each part and gives parts and results, in their order."""

ROWS = 100_000
"""Of a part: enough that the fixed costs of tables do not matter."""

_ADDED = ("prediction", "probability", "prevalence")


def here(work: Callable[..., Any], shared: tuple, parts: Iterable[Part]) -> Iterator[tuple[Part, Any]]:
    """Do the parts in this process, one after the other."""
    return ((part, work(*shared, part)) for part in parts)


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
    rows: int = ROWS,
    dialect: Dialect | None = None,
    overwrite: bool = False,
    notes: Notes | None = None,
    on_rows: Callable[[str, int], None] = lambda stage, rows: None,
    each: Each = here,
) -> Prediction:
    """Adapt to a file and predict it, never holding more than a part of it in memory.

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
    rows : int
        Of a part.
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
    writing: Any = nullcontext() if out is None else TableWriter(out, overwrite=overwrite, dialect=dialect)
    with writing as writer, notes.listening():
        evidence, labelled = gather_evidence(
            model, path, rows=rows, dialect=dialect, notes=notes, on_rows=lambda n: on_rows("reading", n), each=each
        )
        adaptation = model.clf.adapt(evidence=evidence, level=level)
        found = Prediction(evidence, adaptation, sum(evidence.rows.values()))
        if writer is None and not labelled:
            return found
        parts = model.parts(path, notes, rows=rows, dialect=dialect)
        copies = repeat(None) if writer is None else iter_table(path, rows, verbatim=True, dialect=dialect)
        for (part, probability), copy in zip(each(_probability, (model.clf, adaptation), parts), copies, strict=False):
            if writer is not None:
                writer.write(_with_predictions(copy, part, probability, model, adaptation))
            if part.positive is not None and (part.positive >= 0).any():
                _count(found, part, probability > 0.5, model)
            on_rows("predicting", len(part))
    return found


def gather_evidence(
    model: TableModel,
    path: str | Path,
    *,
    rows: int = ROWS,
    dialect: Dialect | None = None,
    notes: Notes | None = None,
    on_rows: Callable[[int], None] = lambda rows: None,
    each: Each = here,
) -> tuple[Evidence, bool]:
    """Sum the evidence over the parts of a file: the first pass.

    Groups that the model does not know, and rows without a group, are counted to the end of the file and are an error
    then.

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
    parts = model.parts(path, notes, rows=rows, dialect=dialect)
    for part, (nameless, strangers, seen) in each(_look, (model,), parts):
        missing, unknown, total = missing + nameless, unknown + strangers, total + len(part)
        if seen is not None:
            evidence = evidence + seen
        labelled |= part.positive is not None and bool((part.positive >= 0).any())
        on_rows(len(part))
    if not total:
        raise TableError(f"{path} has a header but no rows.")
    if missing:
        names = " or ".join(map(repr, model.columns.groups))
        raise TableError(f"{path}: {missing} of {total} rows have no value in {names}, so no group.")
    if unknown:
        listed = ", ".join(f"{name!r} ({n} rows)" for name, n in unknown.most_common(5))
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        raise TableError(
            f"{path} has groups that were not in training: {listed}{more}. The model knows "
            f"{', '.join(repr(group_name(group)) for group in model.clf.groups_[:10])}; "
            "train with --unknown-groups pooled to predict others as all groups together."
        )
    return evidence, labelled


def _look(model: TableModel, part: Part) -> tuple[int, Counter[str], Evidence | None]:
    """Of a part the rows without a group, those of groups that the model does not know, and else its evidence."""
    unknown: Counter[str] = Counter()
    missing = _count_unknown(model, part.X, unknown)
    if missing or unknown:
        return missing, unknown, None
    with few_threads(len(part)):
        return missing, unknown, model.clf.evidence(part.X)


def _probability(clf: CapeClassifier, adaptation: Adaptation, part: Part) -> np.ndarray:
    with few_threads(len(part)):
        return clf.predict_proba(part.X, adaptation=adaptation)[:, 1]


def _count_unknown(model: TableModel, X: pd.DataFrame, unknown: Counter[str]) -> int:
    """Count the rows of groups that the model does not know into ``unknown``; gives the rows without a group."""
    if not model.columns.groups:
        return 0
    table = X[list(model.columns.groups)]
    named = table.notna().all(axis=1)
    if named.any() and model.clf.unknown_groups != "pooled":
        groups = check_groups(table[named])
        for group, size in zip(groups.keys, np.bincount(groups.codes), strict=True):
            if group not in model.clf.models_:
                unknown[group_name(group)] += int(size)
    return int((~named).sum())


def _groups_of(model: TableModel, X: pd.DataFrame) -> Any:
    return check_groups(X[list(model.columns.groups)]) if model.columns.groups else everyone(len(X))


def _with_predictions(copy, part, probability, model, adaptation) -> pd.DataFrame:
    """The rows as they came and three columns, under names that are free."""
    groups = _groups_of(model, part.X)
    thetas = np.array([adaptation.groups[key].theta for key in groups.keys])
    added = {
        "prediction": model.columns.as_labels(probability > 0.5).to_numpy(),
        "probability": np.round(probability, 9),
        "prevalence": np.round(thetas[groups.codes], 9),
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


def _count(found: Prediction, part: Part, called: np.ndarray, model: TableModel) -> None:
    """Add a part's labelled rows to the confusion counts."""
    assert part.positive is not None
    rows = part.positive >= 0
    X, truth = part.X[rows], part.positive[rows]
    groups = _groups_of(model, X)
    for total, decided in ((found.cape, called[rows]), (found.unadapted, _decide_unadapted(model.clf, X))):
        counts = confusion_by_group(truth, decided.astype(np.int8), sensitive_features=groups.codes, pos_label=1)
        for code, confusion in counts.items():
            key = groups.keys[code]
            total[key] = total[key] + confusion if key in total else confusion


def _decide_unadapted(clf: CapeClassifier, X: pd.DataFrame) -> np.ndarray:
    """What the model as trained, cut at 1/2, makes of each row."""
    called = np.zeros(len(X), dtype=bool)
    for part in clf._batch(X, None).parts():
        called[all_if_none(part.rows.rows)] = part.model.decide_unadapted(part.rows)
    return called
