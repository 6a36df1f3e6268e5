"""Checks of input, and the only door to scikit-learn's private helpers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing, check_random_state, column_or_1d
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import (
    _num_features,
    _num_samples,
    check_array,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

__all__ = [
    "EVERYONE",
    "UNUSED",
    "Group",
    "Groups",
    "HasMethods",
    "Interval",
    "StrOptions",
    "all_if_none",
    "among",
    "check_binary_labels",
    "check_choice",
    "check_columns",
    "check_groups",
    "check_is_fitted",
    "check_labels",
    "check_prevalence",
    "check_random_state",
    "check_same_length",
    "check_weights",
    "everyone",
    "fit_context",
    "group_name",
    "has_fit_parameter",
    "number_of_rows",
    "pickable",
    "positive_label",
    "sorted_groups",
    "split_columns",
    "split_groups",
    "take_rows",
    "validate_data",
]

fit_context = _fit_context

Group = Hashable

EVERYONE = "everyone"
"""The name of the one group there is when no sensitive feature is given."""


def pickable(X: Any) -> Any:
    """X in a form whose rows can be picked: as it came, unless it is a sparse format or array-like that has none."""
    if sparse.issparse(X):
        return X if X.format in ("csr", "csc") else X.tocsr()
    if hasattr(X, "__getitem__") and not isinstance(X, str):
        return X
    array = np.asarray(X)
    if array.ndim == 0:
        raise ValueError(f"X must be a table of rows and columns, got {X!r}.")
    return array


def number_of_rows(X: Any) -> int:
    """Of a table or a column of any kind."""
    # scikit-learn's way takes 40 times as long
    return len(X) if isinstance(X, Groups) or (type(X) is np.ndarray and X.ndim) else _num_samples(X)


def check_columns(estimator: Any, X: Any) -> None:
    """Raise unless X has the columns that the fitted estimator knows."""
    if hasattr(estimator, "n_features_in_") and getattr(X, "ndim", 2) != 2:
        raise ValueError(
            f"X must be a table of shape (n_samples, {estimator.n_features_in_}), got an array of shape {X.shape}. "
            "Reshape your data: X.reshape(1, -1) if it is one row."
        )
    nameless = type(X) is np.ndarray and not hasattr(estimator, "feature_names_in_")
    if nameless and X.shape[1:] == (getattr(estimator, "n_features_in_", None),):
        return  # nothing else would be looked at, and a single row should not wait for it
    validate_data(estimator, X, skip_check_array=True, reset=False)


def take_rows(X: Any, rows: np.ndarray | slice | None) -> Any:
    """Rows of a table of any kind that scikit-learn can index; ``None`` is all of them, without a copy."""
    return X if rows is None else _safe_indexing(X, rows)


def all_if_none(rows: np.ndarray | slice | None) -> np.ndarray | slice:
    """The index of the same rows: a slice of everything for ``None``."""
    return slice(None) if rows is None else rows


def among(rows: np.ndarray | None, some: np.ndarray) -> np.ndarray:
    """Some of the rows of a group as rows of the whole table; ``None`` is the group of all rows."""
    return some if rows is None else rows[some]


def split_columns(X: Any, columns: Any, name: str = "group_columns") -> tuple[Any, Any]:
    """Take columns (names, or integers for arrays) out of X; gives the rest and the columns."""
    wanted = [columns] if isinstance(columns, (str, Integral)) else list(columns)
    if not wanted:
        raise ValueError(f"{name} must name at least one column, got none.")
    if hasattr(X, "columns"):
        names = list(X.columns)
        unknown = [column for column in wanted if column not in names]
        places = [names.index(column) for column in wanted if column in names]
    else:
        n_columns = _num_features(X)
        unknown = [c for c in wanted if not isinstance(c, Integral) or not -n_columns <= c < n_columns]
        places = [int(c) % n_columns for c in wanted if c not in unknown]
        names = list(range(n_columns))
    if unknown:
        raise ValueError(f"{name} must be columns of X, among {names[:20]}, got {unknown}.")
    rest = [place for place in range(len(names)) if place not in places]
    X = np.asarray(X) if isinstance(X, list) else X
    return _safe_indexing(X, rest, axis=1), _safe_indexing(X, places, axis=1)


def split_groups(X: Any, sensitive_features: Any, group_columns: Any) -> tuple[Any, Groups]:
    """The features that the estimator sees, and the group of each row."""
    if group_columns is None:
        if sensitive_features is None:
            return X, everyone(number_of_rows(X))
        return X, check_groups(sensitive_features)
    if sensitive_features is not None:
        raise ValueError("sensitive_features must be None when group_columns names columns of X; got both.")
    features, columns = split_columns(X, group_columns)
    return features, check_groups(columns, "group_columns")


def check_choice(name: str, value: Any, accepted: Sequence[str]) -> None:
    """Raise unless ``value`` is one of the names ``accepted``."""
    if value not in accepted:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, accepted))}, got {value!r}.")


def check_same_length(**columns: Any) -> int:
    """Number of rows that all named columns share, or an error that names each length."""
    lengths = {name: number_of_rows(column) for name, column in columns.items() if column is not None}
    if len(set(lengths.values())) > 1:
        came = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ValueError(f"{' and '.join(lengths)} must have the same number of rows, but {came}.")
    return next(iter(lengths.values()))


def check_prevalence(name: str, value: float, *, closed: bool = True) -> float:
    """A share of positives: in [0, 1], or in (0, 1) when not ``closed``."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (0 <= number <= 1 if closed else 0 < number < 1):
        raise ValueError(f"{name} must be in {'[0, 1]' if closed else '(0, 1)'}, got {value!r}.")
    return number


def check_labels(y: Any, name: str = "y") -> np.ndarray:
    """One-dimensional labels without missing values."""
    if y is None:
        raise ValueError(f"requires y to be passed, but the target y is None: {name} must be a column of labels.")
    import pandas as pd  # here, since importing it costs more than the rest of cape

    y = column_or_1d(y, warn=True)
    missing = int(pd.isna(y).sum())
    if missing:
        raise ValueError(f"{name} must have a label in every row, got {missing} missing (NaN or None).")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"{name} must have a label in every row, got an infinity.")
    return y


def check_binary_labels(y: Any, name: str = "y") -> tuple[np.ndarray, np.ndarray]:
    """The two classes, sorted, and for each row whether it is of the second, the positive one."""
    y = check_labels(y, name)
    if len(y) == 0:
        raise ValueError(f"{name} must have at least one row of each of two classes, got 0 rows.")
    kind = type_of_target(y, input_name=name)
    if kind.startswith("continuous") or kind == "unknown":
        raise ValueError(f"Unknown label type: {name} must hold two classes of one type, got {kind} values.")
    classes = np.unique(y)
    if len(classes) > 2:
        shown = ", ".join(map(repr, classes[:5].tolist())) + (", ..." if len(classes) > 5 else "")
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}: "
            f"{name} must hold two classes, got {len(classes)} classes ({shown})."
        )
    if len(classes) < 2:
        raise ValueError(
            f"{name} must hold two classes, got {len(classes)} class: {classes.tolist()} (n_samples = {len(y)})."
        )
    return classes, y == classes[1]


def positive_label(*columns: np.ndarray, pos_label: Any = None) -> Any:
    """Which label counts as positive: the greater of the two that occur, as scikit-learn sorts classes.

    When only one label occurs it must be 0, 1 or -1 (or a bool), whose partner is known; any other needs ``pos_label``.
    """
    labels = np.unique(np.concatenate(columns))
    if len(labels) > 2:
        raise ValueError(
            f"y_true and y_pred must hold two labels between them, got {len(labels)}: {labels[:5].tolist()}."
        )
    if pos_label is not None:
        if len(labels) == 2 and pos_label not in labels.tolist():
            raise ValueError(f"pos_label must be one of {labels.tolist()}, got {pos_label!r}.")
        return pos_label
    if len(labels) == 2:
        return labels[1]
    if len(labels) == 1 and labels[0] in (-1, 0, 1):
        return 1
    raise ValueError(f"pos_label must be given when y_true and y_pred hold one label only, got {labels.tolist()}.")


def check_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Weights of the rows of X, none negative and not all zero; ``None`` stays ``None``."""
    if sample_weight is None:
        return None
    weights = check_array(sample_weight, dtype=np.float64, ensure_2d=False, input_name="sample_weight")
    if weights.shape != (number_of_rows(X),):
        raise ValueError(f"sample_weight must be a number for each of {number_of_rows(X)} rows, got {weights.shape}.")
    if (weights < 0).any():
        raise ValueError(f"sample_weight must be at least 0 in every row, got {weights.min()}.")
    if not weights.any():
        raise ValueError("sample_weight must be positive in some row, got all zeros.")
    return weights


@dataclass(frozen=True)
class Groups:
    """The group of each row: ``keys[codes[i]]`` is the group of row i; keys are sorted and all occur.

    A key is one value, or a tuple with one value a column when there are several sensitive columns.
    """

    codes: np.ndarray
    keys: list[Group]

    def __len__(self) -> int:
        return len(self.codes)

    def rows(self) -> list[tuple[Group, np.ndarray | None]]:
        """Each group with its rows in ascending order; ``None`` stands for all rows when there is one group."""
        if len(self.keys) == 1:
            return [(self.keys[0], None)]
        return list(zip(self.keys, self.rows_between(0, len(self)), strict=True))

    def rows_between(self, start: int, stop: int) -> list[np.ndarray]:
        """For each key where its rows are after ``start`` and before ``stop``, in ascending order, if there are any."""
        codes = self.codes[start:stop]
        if len(self.keys) <= 4:
            return [np.flatnonzero(codes == code) for code in range(len(self.keys))]
        order = np.argsort(codes, kind="stable")  # by radix, since codes have few bits
        return np.split(order, np.cumsum(np.bincount(codes, minlength=len(self.keys)))[:-1])


def check_groups(sensitive_features: Any, name: str = "sensitive_features") -> Groups:
    """Read groups from an array, a Series, a list, or a table of several columns (pandas, polars, numpy)."""
    columns = [_factorize(column, name) for column in _columns(sensitive_features, name)]
    check_same_length(**{f"{name}[{i}]": codes for i, (codes, _) in enumerate(columns)})
    codes, keys = columns[0]
    if len(columns) > 1:
        codes, keys = _combine(columns)
    order = _sorted_positions(keys)
    codes = codes.astype(np.min_scalar_type(-len(keys)))
    if order == list(range(len(keys))):
        return Groups(codes, keys)
    rank = np.empty(len(keys), dtype=codes.dtype)
    rank[order] = np.arange(len(keys))
    return Groups(rank[codes], [keys[i] for i in order])


def everyone(n_rows: int) -> Groups:
    """One group of all rows."""
    return Groups(np.zeros(n_rows, dtype=np.int64), [EVERYONE] if n_rows else [])


def sorted_groups(groups: Iterable[Group]) -> list[Group]:
    """Groups in the order in which they are always shown."""
    keys = list(groups)
    return [keys[place] for place in _sorted_positions(keys)]


def group_name(group: Group) -> str:
    """How a group is called where people read it."""
    return ", ".join(map(str, group)) if isinstance(group, tuple) else str(group)


def _columns(features: Any, name: str) -> list[Any]:
    """The columns of a one- or two-dimensional container of sensitive features."""
    if hasattr(features, "columns"):
        if len(features.columns) == 0:
            raise ValueError(f"{name} must have at least one column, got a table with none.")
        return [_safe_indexing(features, place, axis=1) for place in range(len(features.columns))]
    if hasattr(features, "toarray"):
        features = features.toarray()
    array = (
        features if hasattr(features, "ndim") else np.asarray(features, dtype=object)
    )  # or 1 becomes "1" beside text
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise ValueError(f"{name} must be a column or a table of columns, got an array of shape {array.shape}.")
    return [array] if array.ndim == 1 else list(array.T)


def _factorize(column: Any, name: str) -> tuple[np.ndarray, list[Group]]:
    import pandas as pd

    values = column if isinstance(column, pd.Series) else np.asarray(column)
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iu" and np.can_cast(values.dtype, np.int64):
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 256)
        if high - low < 256:
            return _small_numbers(np.asarray(values, dtype=np.int64), low)
    try:
        codes, uniques = pd.factorize(values)
    except TypeError as error:
        raise ValueError(f"{name} must hold one value a row and column, such as text or a number: {error}.") from None
    missing = np.count_nonzero(codes < 0)
    if missing:
        raise ValueError(f"{name} must name a group in every row, got {missing} missing of {len(codes)}.")
    return codes, [getattr(key, "item", lambda key=key: key)() for key in uniques]


def _small_numbers(values: np.ndarray, low: int) -> tuple[np.ndarray, list[Group]]:
    """What factorize finds, faster, of whole numbers of a small range."""
    values = values - low if low else values
    seen = np.zeros(256, dtype=bool)
    seen[values] = True
    present = np.flatnonzero(seen)
    keys: list[Group] = [int(value) + low for value in present]
    if present[-1] == len(present) - 1:
        return values, keys
    place = np.cumsum(seen) - 1
    return place.take(values), keys


def _combine(columns: list[tuple[np.ndarray, list[Group]]]) -> tuple[np.ndarray, list[Group]]:
    """Cross several columns; a key is the tuple of their values, and only combinations that occur are kept."""
    import pandas as pd

    code = np.zeros(len(columns[0][0]), dtype=np.int64)
    for codes, keys in columns:
        code = code * len(keys) + codes
    code, present = pd.factorize(code)
    combinations = []
    for number in present.tolist():
        key: tuple[Group, ...] = ()
        for _, keys in reversed(columns):
            number, place = divmod(number, len(keys))
            key = (keys[place], *key)
        combinations.append(key)
    return code, combinations  # type: ignore[return-value]


def _sorted_positions(keys: list[Group]) -> list[int]:
    try:
        return sorted(range(len(keys)), key=lambda i: keys[i])  # type: ignore[arg-type, return-value]
    except TypeError:
        return sorted(range(len(keys)), key=lambda i: (type(keys[i]).__name__, str(keys[i])))
