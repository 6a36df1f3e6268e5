"""A model file of ``cape train``: a classifier, and the columns it was trained on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from cape import persist
from cape.base._json_fields import strict_json
from cape.base._table import kind_of, plain_value, words_for_missing
from cape.shown import _backtest
from cape_app.files._columns import Columns
from cape_app.files._notes import Notes
from cape_app.tables import Dialect, TableError

if TYPE_CHECKING:
    from cape import CapeClassifier

_DETAILS = ("columns", "learner", "data", "settings", "groups")
"""What `cape train` saves with a model, and pages and commands read."""

_OF_A_GROUP: dict[str, Any] = {
    "group": str,
    "rows": int,
    "prevalence": (float, type(None)),
    "auc": (float, type(None)),
}

WEIGHT = "\0weight"
"""The weights of rows beside their features, under a name that no file has."""


@dataclass(frozen=True)
class TableModel:
    """A classifier and the columns that it was trained on.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted. It takes the table that ``Columns.table`` makes of a file.
    columns : Columns
        The columns of the training table.
    details : dict
        What `train_file` saved with the model: ``columns``, ``learner``, ``data`` (the
        name of the training file, its rows and its hash), ``settings``, and ``groups``
        (the name of each, its training ``rows``, their ``prevalence`` and the ``auc``
        of their out-of-fold scores; None if they are too few to tell).
    """

    clf: CapeClassifier
    columns: Columns
    details: dict[str, Any]

    @property
    def dialect(self) -> Dialect:
        """How the training file was written, if it was a CSV: later files may be, too.

        A comma, UTF-8 and decimal points if the model does not say.
        """
        return Dialect(**self.details.get("data", {}).get("dialect", {}))

    def split(
        self, X: pd.DataFrame
    ) -> tuple[pd.DataFrame, pd.DataFrame | None, pd.Series | None]:
        """Separate groups, unless the classifier does it itself, and weights."""
        weights = None
        if WEIGHT in X:
            X, weights = X.drop(columns=WEIGHT), X[WEIGHT]
        if self.clf.group_columns is not None or not self.columns.groups:
            return X, None, weights
        groups = X[self.columns.trained.group_places]
        return X[list(self.columns.features)], groups, weights

    def labels(self, codes: np.ndarray) -> np.ndarray:
        """Turn 1, 0 and -1 (no label) into labels of the classifier, and None."""
        labels = np.full(len(codes), None, dtype=object)
        labels[codes >= 0] = self.clf.classes_[codes[codes >= 0]]
        return labels


def save_model(
    clf: CapeClassifier,
    path: str | Path,
    X: pd.DataFrame,
    *,
    sensitive_features: Any = None,
    label: str = "label",
    key: bytes | str | Path | None = None,
    overwrite: bool = False,
    trusted: Iterable[str] = (),
) -> Path:
    """Save a model that was fitted in Python, so that every command can use it.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted on a data frame, with any learner, including one that was already fitted
        (``cv="prefit"``).
    path : str or Path
        The file to write.
    X : DataFrame
        The rows that it was fitted on, or some of them: they show what each column
        holds. Files need columns with these names.
    sensitive_features : Series or DataFrame, default=None
        The groups of these rows, if `fit` got them separately from X. Its names are
        those of the group columns in files.
    label : str, default="label"
        Name of the label column in files that have one.
    key : bytes, str or Path, default=None
        The secret that signs the file, as for `cape.persist.save`.
    overwrite : bool, default=False
        Whether to replace a file that exists.
    trusted : iterable of str, default=()
        Types of other packages, as for `cape.persist.save`. For the commands, name them
        in the environment variable ``CAPE_TRUSTED``, too.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If a file could not hold these rows without a change, for example because of a
        column of categories, or if the classifier cannot be saved.

    Examples
    --------
    >>> from cape_app.files import load_model, save_model
    >>> table = train.frame[["U", "V"]]
    >>> groups = train.frame["z"]
    >>> path = save_model(clf, folder / "m.cape", table, sensitive_features=groups)
    >>> load_model(path).columns.groups
    ('z',)
    """
    # Imported here, since `cape info` reads a header without scikit-learn.
    from cape.base._validation import check_fitted_cape

    check_fitted_cape(clf)
    columns = _columns_of(clf, X, sensitive_features, label)
    settings = {}
    for name, value in clf.get_params(deep=False).items():
        is_plain = isinstance(value, (str, int, float, type(None)))
        settings[name] = value if is_plain else repr(value)
    n_rows = sum(int(model.size) for model in clf.models_.values())
    details = {
        "columns": columns.to_dict(),
        "learner": " ".join(repr(clf.estimator_).split()),
        "data": {"file": "a table in Python", "rows": n_rows, "sha256": ""},
        "groups": describe_groups(clf),
        "settings": settings,
    }
    model = TableModel(clf, columns, details)
    rows = X
    if sensitive_features is not None:
        apart = _named_groups(sensitive_features)
        rows = X.assign(**{str(name): apart[name].to_numpy() for name in apart})
    as_read, groups, _ = model.split(columns.trained.table(rows, "X", Notes()))
    expected = clf.evidence(X, sensitive_features=sensitive_features)
    if clf.evidence(as_read, sensitive_features=groups) != expected:
        raise ValueError(
            "X must have columns that a file can hold: numbers, text, dates, and true "
            "or false. Convert categories to text before fit."
        )
    return persist.save(
        clf, path, key=key, details=details, overwrite=overwrite, trusted=trusted
    )


def _named_groups(sensitive_features: Any) -> pd.DataFrame:
    """Return groups that are given apart as a table; raise if they have no names."""
    table = pd.DataFrame(sensitive_features)
    if not all(isinstance(name, str) for name in table):
        raise ValueError(
            "sensitive_features must be a Series or DataFrame with names, those of the "
            f"group columns of files, got {list(table)}."
        )
    return table


def _columns_of(
    clf: CapeClassifier, X: Any, sensitive_features: Any, label: str
) -> Columns:
    """Describe the table of a model that was fitted in Python."""
    if not hasattr(X, "columns") or not all(isinstance(name, str) for name in X):
        raise TypeError("X must be a data frame whose columns have names.")
    if sensitive_features is None:
        named = clf.group_columns or []
        groups = [named] if isinstance(named, str) else list(named)
        features = X.drop(columns=groups)
    else:
        groups = list(_named_groups(sensitive_features))
        features = X
    group_values = {}
    for place, name in enumerate(groups):
        values = list(clf.groups_)
        if len(groups) > 1:
            values = [group[place] for group in values]
        if not all(isinstance(value, str) for value in values):
            # JSON has no scalars of numpy.
            plain = [getattr(value, "item", lambda v=value: v)() for value in values]
            group_values[name] = tuple(dict.fromkeys(plain))
    known = words_for_missing(X)
    if sensitive_features is not None:
        known |= words_for_missing(_named_groups(sensitive_features))
    kinds = {"b": "flag", "i": "number", "u": "number", "f": "number"}
    negative, positive = (plain_value(value) for value in clf.classes_.tolist())
    return Columns(
        label,
        (negative, positive),
        kinds.get(clf.classes_.dtype.kind, "text"),
        tuple(groups),
        {name: kind_of(features[name]) for name in features},
        group_values=group_values,
        known=known,
    )


def describe_groups(clf: CapeClassifier) -> list[dict[str, Any]]:
    """Describe the groups of a classifier as JSON can hold them."""
    # Imported here, since they take scikit-learn along.
    from cape.base._groups import combined_columns, unique_names
    from cape.training._group_model import own_auc

    names = unique_names(clf.models_, combined_columns(clf.group_columns))
    content = []
    for group, model in clf.models_.items():
        content.append(
            {
                "group": names[group],
                "rows": int(model.size),
                "prevalence": strict_json(float(model.shown_prevalence)),
                "auc": strict_json(float(own_auc(model, clf.pooled_))),
            }
        )
    return content


def load_model(
    path: str | Path, *, key: bytes | str | Path | None = None
) -> TableModel:
    """Load a model that ``cape train`` or `train_file` wrote.

    Parameters
    ----------
    path : str or Path
    key : bytes, str or Path, default=None
        The secret that the file must be signed with, as for `cape.persist.load`.

    Returns
    -------
    TableModel

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TableError
        If the model was saved with `cape.persist.save`: it has no columns. `save_model`
        saves them.
    ValueError
        If the file is damaged or altered, or not signed with the key.

    Examples
    --------
    >>> load_model("nowhere.cape")
    Traceback (most recent call last):
    FileNotFoundError: there is no file nowhere.cape.
    """
    header, columns = _read_header(path, key)
    clf = persist.load(path, key=key)
    if clf.fingerprint_ != header["fingerprint"]:
        raise TableError(f"{path} was replaced while it was being read: try again.")
    # Files are converted as they are read.
    clf.table_ = None
    return TableModel(clf, columns, header["details"])


def describe_file(
    path: str | Path, *, key: bytes | str | Path | None = None
) -> dict[str, Any]:
    """Describe the model in a file that ``cape train`` wrote.

    What the header of the file says is taken for true, and the model is not loaded: a
    large one takes seconds.

    Parameters
    ----------
    path : str or Path
    key : bytes, str or Path, default=None
        As for `load_model`.

    Returns
    -------
    dict
        The ``details`` of the model, its ``fingerprint``, the time at which the file
        was ``saved``, and the ``versions`` of the packages that wrote it.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, or if it is no model of ``cape train``.

    Examples
    --------
    >>> describe_file("nowhere.cape")
    Traceback (most recent call last):
    FileNotFoundError: there is no file nowhere.cape.
    """
    header, _ = _read_header(path, key)
    facts = {name: header[name] for name in ("fingerprint", "saved", "versions")}
    return header["details"] | facts


def _read_header(
    path: str | Path, key: bytes | str | Path | None
) -> tuple[dict[str, Any], Columns]:
    """Read the header of a model file, and check what `cape train` saved in it."""
    # The error of cape.persist speaks of its parameter; a user of the command line
    # knows files.
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no file {path}.")
    if not Path(path).is_file() and not Path(path).is_dir():
        # Opening a pipe would wait for somebody to write to it.
        raise TableError(f"{path} is a pipe or a device: it must be a model file.")
    header = persist.read_header(path, key=key)
    # Without the columns a file could not be brought to the types of training.
    if "columns" not in header["details"]:
        raise TableError(
            f"{path} has no columns of a table: save the model with "
            "cape_app.files.save_model in Python, or load it there with cape.load."
        )
    # Anybody may have edited it.
    details = header["details"]
    missing = [name for name in _DETAILS if name not in details]
    if missing or not isinstance(details["data"], dict):
        lacks = ", ".join(missing or ["data"])
        raise TableError(f"{path} is damaged: its header lacks {lacks}.")
    try:
        Dialect(**details["data"].get("dialect", {}))
        if details.get("past"):
            _backtest.past_text(details["past"])
        for group in details["groups"]:
            for name, type_ in _OF_A_GROUP.items():
                if not isinstance(group[name], type_):
                    raise TypeError(f"{name} of a group must be of {type_}.")
        return header, Columns.from_dict(details["columns"])
    except (TypeError, AttributeError, LookupError, ValueError) as error:
        raise TableError(f"{path} is damaged: {error}") from error
