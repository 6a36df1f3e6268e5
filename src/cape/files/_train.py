"""Training on a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cape._learners import LEARNERS, make_learner
from cape._newfile import check_apart, check_free
from cape._tables import Dialect, is_csv
from cape._validation import check_choice
from cape.classifier import CapeClassifier
from cape.files._describe import describe_groups
from cape.files._model import TableModel, single_thread_if_small
from cape.files._notes import Notes
from cape.files._on_rows import OnRows, ignore_progress
from cape.files._suspicious import find_suspicious, note_suspicious
from cape.files._training_table import ColumnChoice, TrainingTable, read_training_table
from cape.rules import describe_rule

__all__ = [
    "DEFAULT_SETTINGS",
    "FILE_LEARNERS",
    "MAX_ROWS_PER_CLASS",
    "PAPER_SETTINGS",
    "train_file",
]

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
    notes: Notes | None = None,
    on_rows: OnRows = ignore_progress,
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
        names see `make_learner`.
    settings : dict, optional
        Parameters of `CapeClassifier` that replace those in `DEFAULT_SETTINGS`.
    dialect : Dialect, optional
        How a CSV is written: its separator, encoding and decimal sign. The model
        remembers it for later files.
    most : int, default=200000
        How many rows of each group and label are trained on.
    overwrite : bool, default=False
        Whether to replace a file that exists.
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
    if notes is None:
        notes = Notes()
    # Training can take hours: what can be wrong is checked first.
    if out is not None:
        check_free(out, overwrite=overwrite)
        check_apart([out], [path])
    check_choice("learner", learner, FILE_LEARNERS)
    estimator = None if learner == "auto" else make_learner(learner)
    choice = ColumnChoice(label, tuple(group), tuple(drop), positive)
    table = read_training_table(
        path, choice, dialect=dialect, most=most, notes=notes, on_rows=on_rows
    )
    found = find_suspicious(table)
    note_suspicious(found, notes, dropped=drop_suspicious)
    if drop_suspicious:
        table = table.without(found.columns, path)
    on_rows("training", 0)
    # A fixed seed by default: the same file gives the same model.
    used_settings = {"random_state": 0, **DEFAULT_SETTINGS, **(settings or {})}
    if used_settings["preprocessing"] == "auto":
        # The encoders are ours, whichever learner was named: they never see labels.
        used_settings["preprocessing"] = "once"
    clf = _fit(estimator, table, used_settings, notes)
    if drop_suspicious or not found.of_kind("tells the answer"):
        _note_perfect_scores(clf, notes)
    details = {
        "columns": table.columns.to_dict(),
        "learner": _describe_learner(learner, clf),
        "data": _describe_data(path, table, dialect or Dialect()),
        "groups": describe_groups(clf),
        "settings": {**used_settings, "rule": _rule_as_json(used_settings["rule"])},
        "suspicious": {**found.to_dict(), "dropped": drop_suspicious},
    }
    if out is not None:
        # Imported here because only saving needs skops.
        from cape import persist

        persist.save(clf, out, details=details, overwrite=overwrite)
    return TableModel(clf, table.columns, details)


def _rule_as_json(rule: Any) -> Any:
    """Return the name of a rule, or the description of an instance."""
    return rule if isinstance(rule, str) else describe_rule(rule)


def _fit(
    estimator: Any, table: TrainingTable, settings: dict[str, Any], notes: Notes
) -> CapeClassifier:
    """Fit CAPE on a table."""
    # The classifier takes the groups from X and drops them before the learner sees X.
    group_columns = list(table.columns.groups) or None
    clf = CapeClassifier(estimator, group_columns=group_columns, **settings)
    with notes.listening(), single_thread_if_small(len(table.X)):
        clf.fit(table.X, table.y)
    return clf


def _note_perfect_scores(clf: CapeClassifier, notes: Notes) -> None:
    """Note that columns may give the label away together."""
    if all(model.auc() > _SUSPICIOUS_AUC for model in clf.models_.values()):
        notes.say(
            "the scores tell the classes apart almost perfectly: does a column hold "
            "the answer, or something that came after it?"
        )


def _describe_learner(learner: str, clf: CapeClassifier) -> str:
    """Name the learner, and which one was chosen if the user left it open."""
    if learner != "auto":
        return learner
    chosen = clf.candidates_.index[clf.candidates_["chosen"]][0]
    return f"auto: {chosen}"


def _describe_data(
    path: str | Path, table: TrainingTable, dialect: Dialect
) -> dict[str, Any]:
    """Record which file a model was trained on, and how it was written."""
    content = {
        "file": Path(path).name,
        "rows": len(table.X),
        "rows_in_file": table.rows_in_file,
        "sha256": table.sha256,
    }
    if is_csv(path):
        content["dialect"] = asdict(dialect)
    return content
