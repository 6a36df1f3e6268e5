"""Training on a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cape._groups import unique_names
from cape._io import check_apart, check_free
from cape._learners._choice import LEARNERS, make_learner
from cape._tables import Dialect
from cape._validation import check_choice
from cape.classifier import CapeClassifier
from cape.examination import suspicious_columns
from cape.examination._suspicious import SuspiciousColumns
from cape.files._model import TableModel
from cape.files._notes import Notes
from cape.files._scan import OnRows, Scan, single_thread_if_small
from cape.files._training_table import ColumnChoice, read_training_table
from cape.rules._names import describe_rule

_SETTINGS = (
    "pool",
    "quantifier",
    "scores",
    "cv",
    "rule",
    "drift",
    "preprocessing",
    "share_estimator",
)


def _settings_of(clf: CapeClassifier) -> dict[str, Any]:
    """Return the parameters of a classifier that say how it is trained."""
    parameters = clf.get_params(deep=False)
    return {name: parameters[name] for name in _SETTINGS}


DEFAULT_SETTINGS: dict[str, Any] = _settings_of(CapeClassifier())
"""Parameters of `CapeClassifier` that `train_file` uses unless told otherwise."""

PAPER_SETTINGS: dict[str, Any] = _settings_of(CapeClassifier.paper())
"""Parameters of `CapeClassifier` in the paper."""

FILE_LEARNERS = ("auto", *LEARNERS)
"""Learners that `train_file` knows by name."""

MAX_ROWS_PER_CLASS = 200_000
"""How many rows of each group and label `train_file` trains on."""

# Real data hardly ever tell the classes apart so well without the help of a column that
# was filled in after the outcome was known.
_SUSPICIOUS_AUC = 0.995


def train_file(
    path: str | Path,
    out: str | Path | None,
    *,
    label: str,
    group: Sequence[str] = (),
    drop: Sequence[str] = (),
    drop_suspicious: bool = False,
    positive: str | None = None,
    learner: str = "auto",
    settings: dict[str, Any] | None = None,
    dialect: Dialect | None = None,
    most: int = MAX_ROWS_PER_CLASS,
    overwrite: bool = False,
    key: bytes | str | Path | None = None,
    notes: Notes | None = None,
    on_rows: OnRows | None = None,
) -> TableModel:
    """Train CAPE on a labelled table and save the model.

    The file is read in parts and may be larger than memory. If a group has more than
    ``most`` rows with a label, a random sample of the group is trained on, which has
    the prevalence of the file.

    Parameters
    ----------
    path : str or Path
        CSV, Parquet or Arrow.
    out : str, Path or None
        Where to save the model; None does not save it.
    label : str
        Column with the label; it must hold two values.
    group : sequence of str, default=()
        Columns that make the groups. Without any, all rows are one group.
    drop : sequence of str, default=()
        Columns that must not be used.
    drop_suspicious : bool, default=False
        Whether not to use the columns that `suspicious_columns` finds, either: row
        numbers, identifiers, dates, and columns that tell the answer. They are noted in
        any case.
    positive : str, optional
        The label that counts as positive; by default the greater of the two.
    learner : {"auto", "boosting", "logistic"}, default="auto"
        What is trained: "auto" chooses as ``CapeClassifier()`` does; for the other
        names see ``make_learner``.
    settings : dict, optional
        Parameters of `CapeClassifier` that replace those in ``DEFAULT_SETTINGS``.
    dialect : Dialect, optional
        How a CSV is written: its separator, encoding and decimal sign. The model
        remembers it for later files.
    most : int, default=200000
        How many rows of each group and label are trained on.
    overwrite : bool, default=False
        Whether to replace a file that exists.
    key : bytes, str or Path, default=None
        The secret that signs the model file, as for `cape.persist.save`.
    notes : Notes, optional
        Collects remarks and warnings.
    on_rows : callable, optional
        Called with the stage, "reading" or "training", and the number of rows that have
        just been done.

    Returns
    -------
    TableModel

    Raises
    ------
    TableError
        If the table cannot be trained on; the message names the column.
    FileExistsError
        If ``out`` exists and ``overwrite`` is False. Nothing has been read then.

    Examples
    --------
    >>> train.frame.to_csv(folder / "train.csv", index=False)
    >>> model = train_file(
    ...     folder / "train.csv", None, label="y", group=["z"], learner="logistic"
    ... )
    >>> model.clf.groups_
    ['0', '1']
    """
    notes = Notes() if notes is None else notes
    # Training can take hours: what can be wrong is checked first.
    if out is not None:
        check_free(out, overwrite=overwrite)
        check_apart([out], [path])
    if isinstance(key, Path):
        key = key.read_bytes()
    check_choice("learner", learner, FILE_LEARNERS)
    estimator = None if learner == "auto" else make_learner(learner)
    choice = ColumnChoice(label, tuple(group), tuple(drop), positive)
    scan = Scan(path, dialect, on_rows)
    table = read_training_table(scan, choice, most=most, notes=notes)
    # The groups are named by the user, who needs them.
    found = suspicious_columns(table.X[list(table.columns.features)], table.y)
    _note_suspicious(found, notes, dropped=drop_suspicious)
    if drop_suspicious:
        table = table.without(found.columns, scan.path)
    scan.on_rows("training", 0)
    # A fixed seed by default: the same file gives the same model.
    used = {"random_state": 0, **DEFAULT_SETTINGS, **(settings or {})}
    if used["preprocessing"] == "auto":
        # The encoders are ours, whichever learner was named: they never see labels.
        used["preprocessing"] = "once"
    # The classifier takes the groups from X and drops them before the learner sees X.
    group_columns = list(table.columns.groups) or None
    clf = CapeClassifier(estimator, group_columns=group_columns, **used)
    with notes.listening(), single_thread_if_small(len(table.X)):
        clf.fit(table.X, table.y)
    # Columns may give the label away together.
    perfect = all(model.auc() > _SUSPICIOUS_AUC for model in clf.models_.values())
    if perfect and (drop_suspicious or not found.of_kind("tells the answer")):
        notes.say("perfect_scores")
    if learner == "auto":
        chosen = clf.candidates_.index[clf.candidates_["chosen"]][0]
        learner = f"auto: {chosen}"
    rule = used["rule"]
    details = {
        "columns": table.columns.to_dict(),
        "learner": learner,
        "data": _describe_data(scan, len(table.X)),
        "groups": _describe_groups(clf),
        "settings": {
            **used,
            "rule": rule if isinstance(rule, str) else describe_rule(rule),
        },
        "suspicious": {**found.to_dict(), "dropped": drop_suspicious},
    }
    if out is not None:
        # Imported here because only saving needs skops.
        from cape import persist

        persist.save(clf, out, key=key, details=details, overwrite=overwrite)
    return TableModel(clf, table.columns, details)


def _note_suspicious(found: SuspiciousColumns, notes: Notes, *, dropped: bool) -> None:
    """Note the suspicious columns, a note for each kind."""
    for kind in ("row number", "tells the answer", "date", "identifier"):
        columns = [(column.column, column.why) for column in found.of_kind(kind)]
        if columns:
            code = "dropped" if dropped else "suspicious"
            notes.say(code, kind=kind, columns=columns)


def _describe_groups(clf: CapeClassifier) -> list[dict[str, Any]]:
    """Describe the groups of a classifier as JSON can hold them."""
    names = unique_names(clf.models_)
    content = []
    for group, model in clf.models_.items():
        content.append(
            {
                "group": names[group],
                "rows": int(model.size),
                "prevalence": float(model.prevalence),
                "auc": model.auc(),
            }
        )
    return content


def _describe_data(scan: Scan, rows: int) -> dict[str, Any]:
    """Record which file a model was trained on, and how it was written."""
    content = {
        "file": scan.path.name,
        "rows": rows,
        "rows_in_file": scan.rows,
        "sha256": scan.sha256,
    }
    if scan.table.is_csv:
        content["dialect"] = asdict(scan.table.dialect)
    return content
