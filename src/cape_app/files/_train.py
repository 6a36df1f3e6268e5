"""Training on a file: its table, or a random sample of it, and the model."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape import CapeClassifier, Scores, check, persist
from cape.base._errors import ParameterError
from cape.base._io import check_apart, check_free
from cape.base._numbers import quoted
from cape.base._table import (
    plain_text,
)
from cape.base._validation import check_choice, check_weights
from cape.rules._rules import describe_rule, rule_of
from cape.training._choice import LEARNERS, make_learner
from cape_app.files._check import look_at_texts, mend_kinds, split_labels
from cape_app.files._columns import (
    MOST_LABELS,
    Bins,
    Columns,
    check_bins,
    check_named_once,
    folded,
    label_text,
    named_values,
    note_many_groups,
)
from cape_app.files._model import TableModel, describe_groups
from cape_app.files._notes import Notes
from cape_app.files._reservoir import Reservoir
from cape_app.files._scan import OnRows, Scan, single_thread_if_small
from cape_app.tables import (
    Dialect,
    Source,
    TableError,
    check_columns_exist,
    source_files,
)
from cape_app.words._check import groups_stop, texts_stop

_SETTINGS = (
    "pool",
    "quantifier",
    "scores",
    "cv",
    "rule",
    "drift",
    "preprocessing",
    "share_estimator",
    "small_groups",
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

_OUTPUT = ("prediction", "probability", "estimated_prevalence")
"""Columns that `predict_file` writes, and that tell nothing of a row."""

# Real data hardly ever tell the classes apart so well without the help of a column that
# was filled in after the outcome was known.
_SUSPICIOUS_AUC = 0.995


def train_file(
    path: Source,
    out: str | Path | None,
    *,
    overwrite: bool = False,
    key: bytes | str | Path | None = None,
    **reading: Any,
) -> TableModel:
    """Train CAPE on a labelled table and save the model.

    The file is read in parts and may be larger than memory. If a group has more than
    ``most`` rows with a label, training uses a random sample of the group with the
    prevalence of the file.

    Parameters
    ----------
    path : str or Path
        CSV or JSON lines (also gzipped), Parquet, Arrow, ``data.sqlite::loans``,
        ``book.xlsx::May``, a folder or a pattern such as ``march/*.parquet``.
    out : str, Path or None
        Where to save the model; None does not save it.
    overwrite : bool, default=False
        Whether to replace a file that exists.
    key : bytes, str or Path, default=None
        The secret that signs the model file, as for `cape.persist.save`.
    **reading
        What `prepare` takes: at least ``label``.

    Returns
    -------
    TableModel

    Raises
    ------
    TableError
        If the table cannot be trained on; the message names the column.
    FileExistsError
        If ``out`` exists and ``overwrite`` is False. This is checked first.

    Examples
    --------
    >>> train.frame.to_csv(folder / "train.csv", index=False)
    >>> model = train_file(
    ...     folder / "train.csv", None, label="y", group=["z"], learner="logistic"
    ... )
    >>> model.clf.groups_
    ['0', '1']
    """
    # Training can take hours: what can be wrong is checked first.
    if out is not None:
        check_free(out, overwrite=overwrite)
        check_apart([out], source_files(path))
    if isinstance(key, Path):
        key = key.read_bytes()
    prepared = prepare(path, **reading)
    return prepared.fit(out, overwrite=overwrite, key=key)


@dataclass(frozen=True)
class Prepared:
    """A labelled table that was read and checked, and a classifier for it.

    Parameters
    ----------
    scan : Scan
    columns : Columns
    X : DataFrame
        Features and groups.
    y : ndarray of int8
        1 is positive.
    period : Series or None
        The period of each row, for a backtest.
    weights : ndarray or None
        Weights of the rows.
    clf : CapeClassifier
        Unfitted.
    settings : dict
        Its parameters, but for the learner and the groups.
    learner : str
        What to call the learner.
    found : Check
        What `cape.check` found.
    kept : tuple of str
        Columns that are learned from all the same.
    """

    scan: Scan
    columns: Columns
    X: pd.DataFrame
    y: np.ndarray
    period: pd.Series | None
    weights: np.ndarray | None
    clf: CapeClassifier
    settings: dict[str, Any]
    learner: str
    found: Any
    kept: tuple[str, ...]

    def of_rows(self, rows: np.ndarray) -> Prepared:
        """Return the same of some rows."""
        weights = None if self.weights is None else self.weights[rows]
        X = self.X.iloc[rows]
        return replace(self, X=X, y=self.y[rows], weights=weights)

    def fit(
        self,
        out: str | Path | None,
        *,
        overwrite: bool = False,
        key: bytes | str | None = None,
        **more: Any,
    ) -> TableModel:
        """Fit the classifier and save the model.

        Parameters
        ----------
        out, overwrite, key
            See `train_file`.
        **more
            What the details of the model say besides.

        Returns
        -------
        TableModel
        """
        clf, columns, scan = self.clf, self.columns, self.scan
        with scan.notes.listening(), single_thread_if_small(len(self.X)):
            clf.fit(self.X, self.y, sample_weight=self.weights)
        # Fitted on 0 and 1, since the positive label need not be the greater one.
        clf.classes_ = np.array(columns.as_labels(np.array([False, True])).tolist())
        # Columns may give the label away together.
        aucs = np.array([model.auc() for model in clf.models_.values()])
        known = aucs[~np.isnan(aucs)]
        perfect = len(known) > 0 and (known > _SUSPICIOUS_AUC).all()
        if perfect and not self.kept:
            scan.notes.say("perfect_scores")
        learner = self.learner
        if learner == "auto":
            chosen = clf.candidates_.index[clf.candidates_["chosen"]][0]
            learner = f"auto: {chosen}"
        rule = clf.rule
        if rule is None:
            rule = describe_rule(rule_of(clf))["name"]
        data = {
            "file": scan.path.name,
            "rows": len(self.X),
            "rows_in_file": scan.rows,
            "sha256": scan.sha256,
        }
        if scan.table.is_csv or scan.table.dialect != Dialect():
            # As JSON has it.
            data["dialect"] = json.loads(json.dumps(asdict(scan.table.dialect)))
        details = {
            "columns": columns.to_dict(),
            "learner": learner,
            "data": data,
            "groups": describe_groups(clf),
            "settings": {
                **self.settings,
                "rule": rule if isinstance(rule, str) else describe_rule(rule),
            },
            "suspicious": {
                "rows": self.found.rows,
                "rows_in_table": self.found.rows_in_table,
                "findings": self.found.to_dict()["findings"],
                "kept": list(self.kept),
            },
            **more,
        }
        if out is not None:
            # In Python, the saved model takes the table as it is in the file.
            saved = copy.copy(clf)
            saved.table_ = columns.trained
            persist.save(saved, out, key=key, details=details, overwrite=overwrite)
        return TableModel(clf, columns, details)


def prepare(
    path: Source,
    *,
    label: str,
    group: Sequence[str] = (),
    time: str | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    positive: str | Sequence[str] | None = None,
    missing_labels: str = "drop",
    bins: Bins | None = None,
    learner: str = "auto",
    score: str | None = None,
    decision: str | None = None,
    positive_decision: str | None = None,
    settings: dict[str, Any] | None = None,
    dialect: Dialect | None = None,
    most: int = MAX_ROWS_PER_CLASS,
    notes: Notes | None = None,
    on_rows: OnRows | None = None,
) -> Prepared:
    """Read a labelled table, check it, and make a classifier for it.

    Parameters
    ----------
    path : str or Path
        As in `train_file`.
    label : str
        Column with the label; it must hold two values, unless ``positive`` names the
        positive ones of several.
    group : sequence of str, default=()
        Columns that make the groups. Without any, all rows are one group.
    drop : sequence of str, default=()
        Columns that must not be used.
    keep : sequence of str, default=()
        Columns to learn from although `cape.check` would leave them out: constants, row
        numbers, identifiers, dates, free text, and columns that give the answer away.
        The others are left out, with a note.
    positive : str or sequence of str, optional
        The label that counts as positive; by default the greater of the two. If the
        column has more values, those that count as positive; predictions then call the
        rest, for example, "not Pass or Distinction".
    missing_labels : {"drop", "error"}, default="drop"
        What to do with rows without a label: leave them out, with a note on their
        number, or raise an error.
    bins : mapping from str to sequence of float, optional
        Numeric group columns to cut into ranges, with the edges: ``{"age": [18, 65]}``
        gives the groups "under 18", "18-64" and "65+". A range includes its lower edge.
        The model remembers them for later files.
    learner : {"auto", "boosting", "logistic"}, default="auto"
        What to train: "auto" chooses as ``CapeClassifier()`` does; for the other names
        see ``make_learner``.
    score : str, optional
        Column with the scores of a model that you have and that was not trained on this
        file. Nothing is trained; the file is the model's reference (`cape.Scores`).
    decision : str, optional
        Column with the decisions that were made with these scores.
    positive_decision : str, optional
        The decision that counts as positive, if that is not clear.
    settings : dict, optional
        Parameters of `CapeClassifier` that replace those in ``DEFAULT_SETTINGS``.
    dialect : Dialect, optional
        How a CSV is written: its separator, encoding and decimal sign. The model
        remembers it for later files.
    most : int, default=200000
        How many rows of each group and label are trained on.
    time : str, optional
        Column with the period of each row, which is no feature.
    weight : str, optional
        Column with the weight of each row, which is no feature. The model looks for it
        in later files.
    notes : Notes, optional
        Collects remarks and warnings.
    on_rows : callable, optional
        Called with the stage, "reading", "checking" (the columns) or "training", and
        the number of rows that have just been done.

    Returns
    -------
    Prepared
    """
    notes = Notes() if notes is None else notes
    check_choice("learner", learner, FILE_LEARNERS)
    check_choice("missing_labels", missing_labels, ("drop", "error"))
    model_columns = [name for name in (score, decision) if name is not None]
    if decision is not None and score is None:
        raise ParameterError("score", "must be given with decision.")
    if score is not None and learner != "auto":
        problem = "must not be given with score, since nothing is trained"
        raise ParameterError("learner", f"{problem}, got {learner!r}.")
    estimator = None if learner == "auto" else make_learner(learner)
    scan = Scan(path, dialect, notes, on_rows)
    missing = (settings or {}).get("missing_groups", "error")
    named = [*model_columns, *(name for name in (time, weight) if name is not None)]
    check_columns_exist(named, scan.table.names, scan.path)
    if set(_OUTPUT) <= set(scan.table.names):
        in_use = {label, *group, *drop, *model_columns}
        written = [name for name in _OUTPUT if name not in in_use]
        if written:
            notes.say("own_columns", columns=written)
            drop = [*drop, *written]
    columns, X, y = _read_table(
        scan,
        label,
        tuple(group),
        drop,
        positive=named_values(positive),
        most=most,
        missing=missing,
        missing_labels=missing_labels,
        bins=check_bins(bins, group),
        keep=keep,
        notes=notes,
    )
    period = weights = None
    for name, role in {time: "time", weight: "weight"}.items():
        if name is not None and name not in columns.features:
            problem = "must be a column other than the label and the groups"
            raise ParameterError(role, f"{problem}, got {name!r}.")
    if time is not None:
        period = X[time]
        columns, X = _without(columns, X, [time], "the period", scan.path)
    if weight is not None:
        weights = check_weights(X[weight], X)
        columns = replace(columns, weight=weight)
        columns, X = _without(columns, X, [weight], "the weights", scan.path)
    # The groups are named by the user, who needs them; so are scores and decisions.
    looked_at = [name for name in columns.features if name not in model_columns]
    scan.on_rows("checking", 0)
    groups = X[list(columns.groups)] if columns.groups else None
    found = check(X[looked_at], y, sensitive_features=groups, expect=False)
    scan.on_rows("checking", len(X))
    by_kind: dict[str, list[tuple[str, str]]] = {}
    for one in found.findings:
        if one.effect == "stop":
            raise TableError(f"{scan.path}: {groups_stop(columns.groups, one.reason)}")
        if one.effect == "drop" and one.column not in keep:
            by_kind.setdefault(one.kind, []).append((one.column, one.why))
    for kind, of_kind in by_kind.items():
        notes.say("left_out", kind=kind, columns=of_kind)
    left_out = [name for name in found.columns if name not in keep]
    columns, X = _without(columns, X, left_out, "left out", scan.path)
    scan.on_rows("training", 0)
    # A fixed seed by default: the same file gives the same model.
    used = {"random_state": 0, **DEFAULT_SETTINGS, **(settings or {})}
    if used["preprocessing"] == "auto":
        # The encoders are ours, whichever learner was named: they never see labels.
        used["preprocessing"] = "once"
    if score is not None:
        learner = "scores"
        positive_value = None
        if decision is not None:
            positive_value = _positive_decision(
                X[decision], positive_decision, columns.labels
            )
        estimator = Scores(score, decision, positive=positive_value)
    # The classifier takes the groups from X and drops them before the learner sees X.
    group_columns = list(columns.groups) or None
    clf = CapeClassifier(estimator, group_columns=group_columns, **used)
    kept = tuple(keep)
    return Prepared(
        scan, columns, X, y, period, weights, clf, used, learner, found, kept
    )


def _positive_decision(
    decisions: pd.Series, named: str | None, labels: Sequence[str]
) -> Any:
    """Find the decision that calls a row positive among the values of a column.

    It is the one that was named, or the one that is called as the positive label is.
    None leaves it to `Scores`.
    """
    texts = label_text(decisions)
    distinct = texts.dropna().unique().tolist()
    if named is None:
        if set(distinct) != set(labels):
            return None
        named = labels[1]
    if named not in distinct:
        raise TableError(
            f"column {decisions.name!r} must hold the decision {named!r}, got "
            f"{quoted(distinct, MOST_LABELS)}."
        )
    return decisions[texts == named].iloc[0]


def _without(
    columns: Columns, X: pd.DataFrame, names: Sequence[str], why: str, path: Path
) -> tuple[Columns, pd.DataFrame]:
    """Leave columns out of a table; raise if none is left to learn from."""
    features = {
        name: kind for name, kind in columns.features.items() if name not in names
    }
    if not features:
        raise TableError(
            f"{path} has no column left to learn from: all are {why} "
            f"({', '.join(map(repr, names))}). To learn from one, name it (--keep)."
        )
    return replace(columns, features=features), X[[*features, *columns.groups]]


def _read_table(
    scan: Scan,
    label: str,
    group: tuple[str, ...],
    drop: Sequence[str],
    *,
    positive: Sequence[str],
    most: int,
    missing: str,
    missing_labels: str,
    bins: Bins,
    keep: Sequence[str],
    notes: Notes,
) -> tuple[Columns, pd.DataFrame, np.ndarray]:
    """Read a labelled table, or a sample of it if it is long, and check it.

    Parameters
    ----------
    scan : Scan
        Of the file.
    label, group, drop, most, missing_labels, bins, keep, notes
        See `prepare`.
    positive : sequence of str
        The values that the user named.
    missing : {"error", "group", "drop"}
        What to do with rows without a group.

    Returns
    -------
    columns : Columns
        The columns, and what they hold.
    X : DataFrame of shape (n_samples, n_columns)
        Features and groups, as the classifier takes them.
    y : ndarray of int8 of shape (n_samples,)
        The labels: 1 is positive.

    Raises
    ------
    TableError
        If columns, labels or groups are missing, if there are not two labels, or if
        there is nothing to learn from.
    """
    kinds = scan.table.kinds()
    features = _features(kinds, label, group, drop, scan.path)
    # Groups and labels are read as text, so that 007 does not become 7.
    types = {**features, **dict.fromkeys((*group, label), "text")}
    reservoir = Reservoir(group, label, most=most)
    counts: Counter[str] = Counter()
    positives = set(map(folded, positive))
    parts = scan.labelled_parts(
        types,
        label,
        group,
        missing_groups=missing,
        missing_labels=missing_labels,
        bins=bins,
    )
    for part in parts:
        for value, n in part[label].value_counts().items():
            counts[str(value)] += n
        # One spelling of a group is one class of the reservoir, and so are all values
        # of the label that are positive.
        columns_of_class = {name: plain_text(part[name], notes) for name in group}
        if positive:
            in_positives = {value: folded(value) in positives for value in counts}
            columns_of_class[label] = part[label].map(in_positives)
        reservoir.add(part.assign(**columns_of_class))
        scan.on_rows("reading", len(part))
        if len(counts) > MOST_LABELS and not positive:
            # The error that says so needs no further rows.
            break
    where = f"{scan.path}, label column {label!r}"
    labels, values = split_labels(counts, positive, where, notes)
    frame = reservoir.sample()
    # Predictions are written in the kind of the label; dates were read as text, and so
    # were numbers, which may have a decimal comma.
    label_kind = kinds[label]
    if label_kind not in ("number", "flag") or values or "," in "".join(labels):
        label_kind = "text"
    features = mend_kinds(frame, features, scan)
    columns = Columns(label, labels, label_kind, group, features, values, bins)
    for name in group:
        note_many_groups(name, frame[name].dropna().astype(str).unique(), notes)
    if len(frame) < reservoir.n_rows:
        notes.say("sampled", n=len(frame), rows=scan.rows, most=most)
    for entry in look_at_texts(frame, features):
        if entry["column"] not in keep:
            raise TableError(f"{scan.path}, {texts_stop(entry)}")
    X = columns.trained.table(frame, scan.path, notes)
    is_positive = frame[label]
    if not positive:
        is_positive = is_positive.isin(columns.spellings[1])
    y = is_positive.to_numpy().astype(np.int8)
    if not X[list(features)].notna().any().any():
        raise TableError(
            f"{scan.path}: all values of all columns to learn from are missing."
        )
    return columns, X, y


def _features(
    kinds: dict[str, str],
    label: str,
    group: tuple[str, ...],
    drop: Sequence[str],
    path: Path,
) -> dict[str, str]:
    """Return the columns to learn from, with their kinds, in the order of the file.

    A column that was named must be there and have one role.
    """
    named = (label, *group)
    check_columns_exist((*named, *drop), kinds, path)
    check_named_once(group)
    if label in group:
        raise TableError(f"{label!r} cannot be both the label and a group.")
    for name in drop:
        if name in named:
            raise TableError(
                f"{name!r} is the label or a group: it is not a feature, and "
                "cannot be dropped."
            )
    features = {}
    for name, kind in kinds.items():
        if name in named or name in drop:
            continue
        if kind == "other":
            raise TableError(
                f"{path}, column {name!r} holds lists or bytes, which no learner "
                "takes: leave it out (--drop)."
            )
        features[name] = kind
    # Without features every learner would fail, with a message about arrays.
    if not features:
        raise TableError(
            f"{path} has no column left to learn from beside the label and the groups."
        )
    return features
