"""Training on a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape._group_model import GroupModel
from cape._newfile import check_free
from cape._tables import Dialect, TableError, iter_table, table_kinds
from cape.classifier import CapeClassifier
from cape.files._columns import Columns, check_named_once, missing_column, plain_text
from cape.files._learner import make_learner
from cape.files._model import TableModel, few_threads, file_hash
from cape.files._notes import Notes
from cape.files._reservoir import Reservoir

__all__ = ["FOR_PEOPLE", "MOST", "THE_PAPERS", "separation", "train_file"]

FOR_PEOPLE: dict[str, Any] = {
    "pool": "threshold",
    "quantifier": "histogram",
    "scores": "folds",
    "cv": 5,
    "preprocessing": "once",
}
"""What `train_file` uses unless told otherwise: cheap, the most accurate in trials, and with a test of the assumption
that keeps its level for every learner. Its transformers never look at labels, so that once is enough."""

MOST = 200_000
"""Rows of each group and label that are trained on."""

_MANY_LABELS = 20

THE_PAPERS: dict[str, Any] = {
    "pool": "resampled",
    "quantifier": "spa",
    "scores": "refit",
    "cv": 10,
}


def train_file(
    path: str | Path,
    out: str | Path | None,
    *,
    label: str,
    group: Sequence[str] = (),
    drop: Sequence[str] = (),
    positive: str | None = None,
    learner: str = "boosting",
    settings: dict[str, Any] | None = None,
    dialect: Dialect | None = None,
    most: int = MOST,
    overwrite: bool = False,
    notes: Notes | None = None,
    on_rows: Callable[[str, int], None] = lambda stage, rows: None,
) -> TableModel:
    """Train CAPE on a labelled table and save the model.

    The file is read in parts and may be larger than memory: of each group and label a sample of at most ``most`` rows
    is trained on, with the prevalences of the file.

    Parameters
    ----------
    path : str or Path
        CSV, Parquet or Arrow.
    out : str, Path or None
        Where to save; None does not.
    label : str
        Column with the label; it must hold two values.
    group : sequence of str
        Columns that make the groups; none is one group.
    drop : sequence of str
        Columns that must not be used.
    positive : str, optional
        The label that counts as positive; by default the greater of the two.
    learner : {"boosting", "logistic"}, default="boosting"
    settings : dict, optional
        Parameters of `CapeClassifier` in place of those in `FOR_PEOPLE`.
    dialect : Dialect, optional
        Of a CSV.
    most : int, default=200000
        Rows of each group and label.
    overwrite : bool, default=False
    notes : Notes, optional
        Gathers remarks.
    on_rows : callable, optional
        Told the stage, "reading" or "training", and how many rows have just been done.

    Returns
    -------
    TableModel

    Examples
    --------
    >>> import tempfile
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(600, random_state=0)
    >>> file = Path(tempfile.mkdtemp()) / "train.csv"
    >>> d.data.assign(y=d.target, z=d.sensitive_features).to_csv(file, index=False)
    >>> train_file(file, None, label="y", group=["z"], learner="logistic").clf.groups_
    ['0', '1']
    """
    notes = Notes() if notes is None else notes
    if out is not None:
        check_free(out, overwrite=overwrite)
    estimator = make_learner(learner)
    columns, frame, n_rows = _read(
        path, label, tuple(group), tuple(drop), positive, dialect, most, on_rows
    )
    if len(frame) < n_rows:
        notes.say(
            f"trained on a sample of {len(frame)} of {n_rows} rows, at most {most} of each group and label."
        )
    X, y = columns.table(frame, path, notes), columns.positive(frame, path)
    _check_groups_named(X, columns, path)
    _check_something_to_learn(X, columns, path)
    _point_out_identifiers(X, columns, notes)
    on_rows("training", 0)
    chosen = {"random_state": 0, **FOR_PEOPLE, **(settings or {})}
    clf = CapeClassifier(
        estimator, group_columns=list(columns.groups) or None, **chosen
    )
    with notes.listening(), few_threads(len(X)):
        clf.fit(X, y)
    _point_out_leaks(clf, notes)
    details = {
        "columns": columns.to_dict(),
        "learner": learner,
        "data": {
            "file": Path(path).name,
            "rows": len(X),
            "rows_in_file": n_rows,
            "sha256": file_hash(path),
        },
        "settings": chosen,
    }
    model = TableModel(clf, columns, details)
    if out is not None:
        from cape import persist

        persist.save(clf, out, details=details, overwrite=overwrite)
    return model


def separation(model: GroupModel) -> float:
    """Chance that a positive scores above a negative (AUC), from the out-of-fold scores; ties count half.

    Examples
    --------
    >>> from cape import CapeClassifier
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(400, random_state=0)
    >>> clf = CapeClassifier(pool="threshold", cv=3, random_state=0).fit(d.data, d.target)
    >>> 0.7 < separation(clf.models_["everyone"]) < 1
    True
    """
    p, n = model.positives.shares, model.negatives.shares
    return float(p @ (np.cumsum(n) - n / 2))


def _read(
    path, label, group, drop, positive, dialect, most, on_rows
) -> tuple[Columns, pd.DataFrame, int]:
    """Look at the file's columns, then read those that are needed; gives a sample of the rows and their number."""
    kinds = table_kinds(path, dialect=dialect)
    for name in (label, *group, *drop):
        if name not in kinds:
            raise missing_column(name, kinds, path)
    check_named_once(group)
    if label in group:
        raise TableError(f"{label!r} cannot be both the label and a group.")
    needed = [name for name in drop if name in (label, *group)]
    if needed:
        raise TableError(
            f"{needed[0]!r} is the label or a group: it is no feature anyway, and cannot be dropped."
        )
    features = {
        name: kind for name, kind in kinds.items() if name not in (label, *group, *drop)
    }
    if not features:
        raise TableError(
            f"{path} has no column left to learn from beside the label and the groups."
        )
    odd = [name for name, kind in features.items() if kind == "other"]
    if odd:
        raise TableError(
            f"{path}, column {odd[0]!r} holds lists or bytes, which no learner takes: leave it out (--drop)."
        )
    types = {**features, **dict.fromkeys((*group, label), "text")}
    reservoir = Reservoir(group, label, most=most)
    for part in iter_table(path, columns=list(types), types=types, dialect=dialect):
        reservoir.add(part)
        on_rows("reading", len(part))
        if (
            len(reservoir.labels()) > _MANY_LABELS
        ):  # no label column: what is said of it needs no more rows
            break
    if not reservoir.seen:
        raise TableError(f"{path} has a header but no rows.")
    frame = reservoir.sample()
    labels = _two_labels(frame[label], label, positive, path)
    kind = kinds[label] if kinds[label] in ("number", "flag") else "text"
    return Columns(label, labels, kind, group, features), frame, reservoir.seen


def _two_labels(
    values: pd.Series, name: str, positive: str | None, path: str | Path
) -> tuple[str, str]:
    text, _ = plain_text(values)
    missing = int(text.isna().sum())
    if missing:
        raise TableError(
            f"{path}, label column {name!r}: {missing} of {len(text)} rows have no label."
        )
    counts = text.value_counts()
    if len(counts) != 2:
        found = ", ".join(
            f"{value!r} ({n} rows)" for value, n in counts.head(4).items()
        )
        more = f" and {len(counts) - 4} more" if len(counts) > 4 else ""
        raise TableError(
            f"{path}, label column {name!r} must hold two values, got {len(counts)}: {found}{more}."
        )
    negative_, positive_ = sorted(counts.index, key=_sort_key)
    if positive is not None:
        wanted = plain_text(pd.Series([positive]))[0].iloc[0]
        if wanted not in (negative_, positive_):
            raise TableError(
                f"the positive label must be {negative_!r} or {positive_!r}, got {positive!r}."
            )
        negative_, positive_ = (
            (positive_, negative_) if wanted == negative_ else (negative_, positive_)
        )
    return negative_, positive_


def _sort_key(text: str) -> tuple[bool, float, str]:
    """Numbers by value, then text: 9 is less than 10."""
    try:
        return False, float(text), text
    except ValueError:
        return True, 0.0, text


def _check_something_to_learn(
    X: pd.DataFrame, columns: Columns, path: str | Path
) -> None:
    if not X[list(columns.features)].notna().any().any():
        raise TableError(
            f"{path}: all values of all columns to learn from are missing."
        )


def _check_groups_named(X: pd.DataFrame, columns: Columns, path: str | Path) -> None:
    for name in columns.groups:
        missing = int(X[name].isna().sum())
        if missing:
            raise TableError(
                f"{path}, group column {name!r}: {missing} of {len(X)} rows have no value."
            )


def _point_out_identifiers(X: pd.DataFrame, columns: Columns, notes: Notes) -> None:
    unique = [
        name
        for name, kind in columns.features.items()
        if kind == "text" and X[name].is_unique
    ]
    if unique and len(X) > 20:
        names = ", ".join(map(repr, unique[:5]))
        notes.say(
            f"every row has another value in {names}: names or numbers of cases teach nothing (--drop)."
        )


def _point_out_leaks(clf: CapeClassifier, notes: Notes) -> None:
    if all(separation(model) > 0.995 for model in clf.models_.values()):
        notes.say(
            "the classes are told apart almost perfectly: does a column hold the answer, or what came after it?"
        )
