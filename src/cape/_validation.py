"""Checks of input, and the only door to scikit-learn's private helpers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing, check_random_state, column_or_1d
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import (
    _num_samples,
    check_array,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

__all__ = [
    "UNUSED",
    "HasMethods",
    "Interval",
    "StrOptions",
    "all_if_none",
    "among",
    "check_binary_labels",
    "check_choice",
    "check_columns",
    "check_is_fitted",
    "check_labels",
    "check_prevalence",
    "check_random_state",
    "check_same_length",
    "check_weights",
    "fit_context",
    "has_fit_parameter",
    "number_of_rows",
    "pickable",
    "positive_label",
    "take_rows",
    "validate_data",
]

fit_context = _fit_context


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
    return len(X) if type(X) is np.ndarray and X.ndim else _num_samples(X)


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


def check_choice(name: str, value: Any, accepted: Sequence[str]) -> None:
    """Raise unless ``value`` is one of the names ``accepted``."""
    if value not in accepted:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, accepted))}, got {value!r}."
        )


def check_same_length(**columns: Any) -> int:
    """Number of rows that all named columns share, or an error that names each length."""
    lengths = {
        name: number_of_rows(column)
        for name, column in columns.items()
        if column is not None
    }
    if len(set(lengths.values())) > 1:
        came = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ValueError(
            f"{' and '.join(lengths)} must have the same number of rows, but {came}."
        )
    return next(iter(lengths.values()))


def check_prevalence(name: str, value: float, *, closed: bool = True) -> float:
    """A share of positives: in [0, 1], or in (0, 1) when not ``closed``."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (0 <= number <= 1 if closed else 0 < number < 1):
        raise ValueError(
            f"{name} must be in {'[0, 1]' if closed else '(0, 1)'}, got {value!r}."
        )
    return number


def check_labels(y: Any, name: str = "y") -> np.ndarray:
    """One-dimensional labels without missing values."""
    if y is None:
        raise ValueError(
            f"requires y to be passed, but the target y is None: {name} must be a column of labels."
        )
    import pandas as pd  # here, since importing it costs more than the rest of cape

    y = column_or_1d(y, warn=True)
    missing = int(pd.isna(y).sum())
    if missing:
        raise ValueError(
            f"{name} must have a label in every row, got {missing} missing (NaN or None)."
        )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"{name} must have a label in every row, got an infinity.")
    return y


def check_binary_labels(y: Any, name: str = "y") -> tuple[np.ndarray, np.ndarray]:
    """The two classes, sorted, and for each row whether it is of the second, the positive one."""
    y = check_labels(y, name)
    if len(y) == 0:
        raise ValueError(
            f"{name} must have at least one row of each of two classes, got 0 rows."
        )
    kind = type_of_target(y, input_name=name)
    if kind.startswith("continuous") or kind == "unknown":
        raise ValueError(
            f"Unknown label type: {name} must hold two classes of one type, got {kind} values."
        )
    classes = np.unique(y)
    if len(classes) > 2:
        shown = ", ".join(map(repr, classes[:5].tolist())) + (
            ", ..." if len(classes) > 5 else ""
        )
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
            raise ValueError(
                f"pos_label must be one of {labels.tolist()}, got {pos_label!r}."
            )
        return pos_label
    if len(labels) == 2:
        return labels[1]
    if len(labels) == 1 and labels[0] in (-1, 0, 1):
        return 1
    raise ValueError(
        f"pos_label must be given when y_true and y_pred hold one label only, got {labels.tolist()}."
    )


def check_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Weights of the rows of X, none negative and not all zero; ``None`` stays ``None``."""
    if sample_weight is None:
        return None
    weights = check_array(
        sample_weight, dtype=np.float64, ensure_2d=False, input_name="sample_weight"
    )
    if weights.shape != (number_of_rows(X),):
        raise ValueError(
            f"sample_weight must be a number for each of {number_of_rows(X)} rows, got {weights.shape}."
        )
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight must be at least 0 in every row, got {weights.min()}."
        )
    if not weights.any():
        raise ValueError("sample_weight must be positive in some row, got all zeros.")
    return weights
