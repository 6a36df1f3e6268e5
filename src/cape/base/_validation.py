"""Checks of the input: tables, labels, weights and settings.

A check returns the input in the form that the caller needs, or raises an error that
names the parameter, what came and what is accepted.

The private helpers of scikit-learn for checks, parameter constraints and indexing enter
cape here, so that there is one file to mend when they change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Number, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils import check_random_state as check_random_state
from sklearn.utils._param_validation import HasMethods as HasMethods
from sklearn.utils._param_validation import Interval as Interval
from sklearn.utils._param_validation import StrOptions as StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import (
    _num_features,
    _num_samples,
    check_is_fitted,
    validate_data,
)
from sklearn.utils.validation import has_fit_parameter as has_fit_parameter

from cape.base._errors import ParameterError

_Rows = np.ndarray | slice | None

fit_context = _fit_context
"""Decorator of ``fit``: checks the parameters against ``_parameter_constraints``."""

number_of_columns = _num_features
"""Number of columns of a table of any kind."""


def check_fitted_cape(clf: Any) -> None:
    """Raise unless ``clf`` is a fitted `CapeClassifier`.

    Parameters
    ----------
    clf : any object

    Raises
    ------
    TypeError
        If it is something else, such as a classifier of scikit-learn.
    NotFittedError
        If it is not fitted.
    """
    # By what it can do: this file lies below the classifier.
    if not hasattr(clf, "model_of"):
        raise TypeError(f"clf must be a fitted CapeClassifier, got {clf!r:.200}.")
    check_is_fitted(clf)


def check_same_model(clf: Any, name: str, thing: Any, kind: type[Any]) -> None:
    """Raise unless evidence or an adaptation was made by this model.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    name : str
        What the thing is called in the error.
    thing : Evidence or Adaptation
    kind : type
        The type that it must have.
    """
    if not isinstance(thing, kind):
        raise TypeError(
            f"{name} must be of type {kind.__name__}, got {type(thing).__name__}."
        )
    if thing.fingerprint != clf.fingerprint_:
        raise ValueError(
            f"{name} must come from this model (fingerprint {clf.fingerprint_[:12]}), "
            f"got one from another model ({thing.fingerprint[:12]})."
        )


def number_of_rows(X: Any) -> int:
    """Number of rows of a table or a column of any kind."""
    # scikit-learn's function takes 40 times as long, which a single row would feel.
    if type(X) is np.ndarray and X.ndim > 0:
        return len(X)
    return _num_samples(X)


def pickable(X: Any) -> Any:
    """Return a table whose rows can be picked with `take_rows`.

    Parameters
    ----------
    X : table of any kind
        Array, data frame, sparse matrix, list of rows or another array-like.

    Returns
    -------
    table
        As `admit` returns it; an array if X is a list or cannot be indexed, in which
        numbers beside text stay numbers.

    Raises
    ------
    TypeError
        If X is not in memory.
    ValueError
        If X is no table, but a number, a text, a dict or None, or if two columns have
        the same name.
    """
    if type(X) is np.ndarray and X.dtype.isnative and X.dtype.kind != "c":
        return X
    refuse_lazy("X", X)
    X = admit("X", X)
    if hasattr(X, "columns") and not X.columns.is_unique:
        repeated = X.columns[X.columns.duplicated()][0]
        raise ValueError(
            f"X must have columns of different names, got {repeated!r} twice."
        )
    if hasattr(X, "__getitem__") and not isinstance(X, (str, bytes, list, tuple)):
        return X
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(
            "X must have the same number of values in every row, got a "
            f"{type(X).__name__} of rows that differ."
        ) from error
    # A text can be indexed too, but it is most likely the name of a file.
    holds_dicts = array.dtype == object and isinstance(array.flat[0], Mapping)
    if array.ndim == 0 or holds_dicts:
        raise ValueError(
            f"X must be a table of rows and columns, got {X!r:.60}. Read the file, or "
            "call pandas.DataFrame(X), first."
        )
    # In an array of text, the number 1.5 would be the text "1.5" from here on.
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


def admit(name: str, table: Any) -> Any:
    """Let a table or column of any package in: the one door of X, y and groups.

    Parameters
    ----------
    name : str
        Name of the parameter, for the error.
    table : table or column of any kind

    Returns
    -------
    table or column
        What comes from polars, pyarrow or DuckDB, or has named fields, is one of
        pandas; masked cells are missing; a sparse table is a matrix whose rows can be
        picked; numbers are numpy's, in the byte order of this machine. All else is as
        it came.

    Raises
    ------
    ValueError
        If it is a dict, or holds complex numbers.
    """
    import pandas as pd

    if sparse.issparse(table):
        has_rows = table.format in ("csr", "csc") and sparse.isspmatrix(table)
        return table if has_rows else sparse.csr_matrix(table)
    if isinstance(table, Mapping):
        raise ValueError(
            f"{name} must be a table or a column, got a dict: call "
            f"pandas.DataFrame({name}) first."
        )
    # By what it can do: neither polars nor pyarrow need be installed.
    if hasattr(table, "to_pandas"):
        try:
            table = table.to_pandas()
        except ImportError:
            # polars converts by pyarrow.
            table = _without_pyarrow(table)
    elif hasattr(table, "to_df"):
        table = table.to_df()
    if isinstance(table, np.ma.MaskedArray):
        table = pd.DataFrame(table) if table.ndim == 2 else pd.Series(table)
        table = table.to_numpy()
    if isinstance(table, np.ndarray):
        if table.dtype.names:
            return admit(name, pd.DataFrame(table))
        _refuse_complex(name, table.dtype)
        # A matrix has two dimensions whatever is picked.
        return np.asarray(table, dtype=table.dtype.newbyteorder("="))
    if isinstance(table, pd.DataFrame):
        for dtype in table.dtypes:
            _refuse_complex(name, dtype)
        return _plain_columns(table)
    return table


def _refuse_complex(name: str, dtype: Any) -> None:
    if dtype.kind == "c":
        # The first words are those that scikit-learn's estimator checks look for.
        raise ValueError(
            f"Complex data not supported: {name} must hold real numbers. Make two "
            "columns of the real and the imaginary parts."
        )


def refuse_odd_cells(X: Any) -> None:
    """Raise if a cell of a training table holds more than one value.

    Parameters
    ----------
    X : table
        As `pickable` returns it.
    """
    import pandas as pd

    is_frame = isinstance(X, pd.DataFrame)
    if not is_frame and (getattr(X, "ndim", 1) != 2 or X.dtype != object):
        return
    for place in range(X.shape[1]):
        column = X.iloc[:, place] if is_frame else X[:, place]
        if column.dtype != object or pd.api.types.infer_dtype(column) == "string":
            continue
        for value in column:
            if isinstance(value, (list, tuple, dict, set, np.ndarray, complex)):
                label = X.columns[place] if is_frame else place
                # The words in brackets are those that scikit-learn's checks look for.
                raise TypeError(
                    "X must hold one value per row and column (an argument must be a "
                    f"string or a number), got {value!r:.60} in column {label!r}. Make "
                    "columns of its parts."
                )


def _plain_columns(table: Any) -> Any:
    """Make columns of numbers those of numpy, so that all learners read them alike."""
    from pandas.api.types import is_numeric_dtype

    plain = table
    for place, dtype in enumerate(table.dtypes):
        of_numpy = isinstance(dtype, np.dtype)
        if dtype.isnative if of_numpy else not is_numeric_dtype(dtype):
            continue
        values = table.iloc[:, place]
        if of_numpy:
            values = values.astype(dtype.newbyteorder("="))
        elif values.isna().any():
            values = values.to_numpy(np.float64, na_value=np.nan)
        else:
            values = values.to_numpy()
        if plain is table:
            plain = table.copy(deep=False)
        plain.isetitem(place, values)
    return plain


def _without_pyarrow(table: Any) -> Any:
    """Make a table or column of polars one of pandas, value by value."""
    import pandas as pd

    if hasattr(table, "columns"):
        columns = {name: _without_pyarrow(table[name]) for name in table.columns}
        return pd.DataFrame(columns)
    if table.dtype.is_numeric() or table.dtype.is_temporal():
        return pd.Series(table.to_numpy(), name=table.name)
    return pd.Series(table.to_list(), name=table.name)


_LONGEST_MESSAGE = 1500


@contextmanager
def short_errors() -> Iterator[None]:
    """Shorten the messages of errors: libraries print values, which may be megabytes.

    It is a decorator, too.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        text = str(error)
        if len(text) > _LONGEST_MESSAGE and error.args == (text,):
            half = _LONGEST_MESSAGE // 2
            error.args = (f"{text[:half]} ... {text[-half:]}",)
        raise


def refuse_lazy(name: str, table: Any) -> None:
    """Raise if a table or column is not in memory, and say what to call.

    Parameters
    ----------
    name : str
        Name of the parameter, for the error.
    table : object

    Raises
    ------
    TypeError
        If it is a lazy frame of polars or a collection of Dask.
    """
    if hasattr(table, "__dask_graph__"):
        raise TypeError(
            f"{name} must be in memory, got a Dask {type(table).__name__}: call "
            f"{name}.compute() first, or predict part by part with "
            "cape.elsewhere.dask."
        )
    if hasattr(table, "collect") and hasattr(table, "collect_schema"):
        raise TypeError(
            f"{name} must be in memory, got a {type(table).__name__}: call "
            f"{name}.collect() first."
        )


def take_rows(X: Any, rows: _Rows) -> Any:
    """Pick rows of a table or column of any kind; None means all, without a copy."""
    if rows is None:
        return X
    return _safe_indexing(X, rows)


def take_columns(X: Any, columns: Any) -> Any:
    """Pick columns of a table by position: one as a column, several as a table."""
    return _safe_indexing(X, columns, axis=1)


def all_if_none(rows: _Rows) -> np.ndarray | slice:
    """Return an index of the rows in which None, for all rows, is a slice."""
    return slice(None) if rows is None else rows


def check_columns(estimator: Any, X: Any) -> None:
    """Raise unless X has the columns with which the estimator was fitted."""
    if hasattr(estimator, "n_features_in_") and getattr(X, "ndim", 2) != 2:
        raise ValueError(
            f"X must be a table of shape (n_samples, {estimator.n_features_in_}), "
            f"got an array of shape {X.shape}. "
            "Reshape your data: X.reshape(1, -1) if it is one row."
        )
    # Of a plain array, scikit-learn would compare the number of columns and nothing
    # else, but at a cost that dominates the prediction of a single row.
    nameless = type(X) is np.ndarray and not hasattr(estimator, "feature_names_in_")
    expected = getattr(estimator, "n_features_in_", None)
    if nameless and X.shape[1:] == (expected,):
        return
    validate_data(estimator, X, skip_check_array=True, reset=False)


def check_choice(name: str, value: Any, accepted: Sequence[str]) -> None:
    """Raise unless ``value`` is one of the names in ``accepted``."""
    if value not in accepted:
        choices = ", ".join(map(repr, accepted))
        raise ParameterError(name, f"must be one of {choices}, got {value!r}.")


def check_same_length(**columns: Any) -> int:
    """Check that all columns have the same number of rows, and the same order.

    Parameters
    ----------
    **columns : table or column of any kind, or None
        By the names that the error shall use. None is skipped.

    Returns
    -------
    int
        The number of rows.

    Raises
    ------
    ValueError
        If the lengths differ; the message names every length. Or as in
        `check_same_order`.
    """
    lengths = {}
    for name, column in columns.items():
        if column is None:
            continue
        # Dask's columns become arrays by themselves, and are served.
        if not hasattr(column, "__array__"):
            refuse_lazy(name, column)
        lengths[name] = number_of_rows(column)
    if len(set(lengths.values())) > 1:
        names = " and ".join(lengths)
        received = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ValueError(f"{names} must have the same number of rows, but {received}.")
    check_same_order(**columns)
    return next(iter(lengths.values()))


def check_same_order(**columns: Any) -> None:
    """Raise if two columns have the same values in their indexes, in another order.

    Rows are taken by position, as in scikit-learn: a column that was sorted by itself
    would go to other rows. Unlike indexes say nothing about rows.

    Parameters
    ----------
    **columns : table or column of any kind, or None
        By the names that the error shall use. Those without an index are skipped.
    """
    # Here, since importing pandas takes longer than importing the rest of cape.
    import pandas as pd

    seen: dict[str, Any] = {}
    for name, column in columns.items():
        index = getattr(column, "index", None)
        if not isinstance(index, pd.Index):
            continue
        for first, other in seen.items():
            same_type = index.dtype == other.dtype
            if len(index) != len(other) or (same_type and index.equals(other)):
                continue
            # Most unlike indexes are told by their ends, at no cost.
            if len(index) < 2 or index[0] not in other or index[-1] not in other:
                continue
            if index.equals(other) or len(
                index.symmetric_difference(other, sort=False)
            ):
                continue
            align = f"align them, {name}.loc[{first}.index], or, "
            if not index.is_unique:
                align = ""
            raise ValueError(
                f"{name} must have its rows in the order of {first}, got an index with "
                f"the same values in another order: {align}if the rows belong together "
                f"by position, drop the index, {name}.reset_index(drop=True)."
            )
        seen[name] = index


def check_drift(drift: Any) -> str:
    """Return what to do about drift, or raise."""
    if drift not in ("cautious", "ignore"):
        problem = f"must be 'cautious' or 'ignore', got {drift!r}."
        raise ParameterError("drift", problem)
    return str(drift)


def check_prevalence(name: str, value: float, *, closed: bool = True) -> float:
    """Check a share: a prevalence, a confidence level or another probability.

    Parameters
    ----------
    name : str
        Name of the parameter, for the error.
    value : float
        The share.
    closed : bool, default=True
        Whether 0 and 1 are accepted.

    Returns
    -------
    float
        The share.

    Raises
    ------
    ValueError
        If ``value`` is not a number, or outside [0, 1], or not inside (0, 1) when not
        ``closed``.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    # A comparison with NaN is False, so that NaN is never accepted.
    if closed:
        accepted = 0 <= number <= 1
        interval = "[0, 1]"
    else:
        accepted = 0 < number < 1
        interval = "(0, 1)"
    if not accepted:
        raise ParameterError(name, f"must be in {interval}, got {value!r}.")
    return number


def check_number(
    name: str, value: Any, *, low: float = -np.inf, high: float = np.inf
) -> float:
    """Check a finite number between two ends, which are accepted.

    Parameters
    ----------
    name : str
        Name of the parameter, for the error.
    value : float
        The number.
    low, high : float, default=-inf and inf
        The ends.

    Returns
    -------
    float
        The number.

    Raises
    ------
    TypeError
        If ``value`` is not a number.
    ValueError
        If it is not between the ends, or not finite.
    """
    accepted = f"a number in [{low:g}, {high:g}]"
    if np.isinf(high):
        accepted = f"a finite number of at least {low:g}"
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be {accepted}, got {value!r}.")
    number = float(value)
    if not (low <= number <= high) or not np.isfinite(number):
        raise ParameterError(name, f"must be {accepted}, got {value!r}.")
    return number


def check_labels(y: Any, name: str = "y") -> tuple[np.ndarray, list[Any]]:
    """Check that labels are one column without missing values.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any type.
    name : str, default="y"
        Name of the parameter, for the error.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    order : list
        The categories of labels that have an order of their own (an ordered
        ``pandas.Categorical``); else empty.

    Raises
    ------
    ValueError
        If there are no labels, more than one column, or missing or infinite labels.
    """
    if y is None:
        # The first words are those that scikit-learn's estimator checks look for.
        raise ValueError(
            "requires y to be passed, but the target y is None: "
            f"{name} must be a column of labels."
        )
    # Here, since importing pandas takes longer than importing the rest of cape.
    import pandas as pd

    y = admit(name, y)
    order: list[Any] = []
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        y = y.iloc[:, 0]
    if isinstance(y, (pd.Series, pd.Index, pd.api.extensions.ExtensionArray)):
        if isinstance(y.dtype, pd.CategoricalDtype) and y.dtype.ordered:
            order = y.dtype.categories.tolist()
        # scikit-learn makes floats of whole numbers and flags that can be missing.
        y = pd.Series(y).to_numpy()
    y = column_or_1d(y, warn=True)
    n_missing = int(pd.isna(y).sum())
    if n_missing:
        raise ValueError(
            f"{name} must have a label in every row, "
            f"got {n_missing} missing (NaN or None)."
        )
    # pandas does not count an infinity as missing, and only floats can be one.
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise ValueError(f"{name} must have a label in every row, got an infinity.")
    return y, order


def check_same_kind(**columns: np.ndarray) -> None:
    """Raise if labels are texts here and numbers there: no two of them are equal.

    Parameters
    ----------
    **columns : ndarray of shape (n_samples,)
        Labels, by the names that the error shall use.
    """
    # Here, since importing pandas takes longer than importing the rest of cape.
    import pandas as pd

    found: dict[str, str] = {}
    for name, labels in columns.items():
        # Numbers of numpy are of one kind, and may be as many as there are rows.
        distinct = labels[:1] if labels.dtype.kind in "biuf" else pd.unique(labels)
        for label in distinct:
            kind, example = type(label).__name__, str(label)[:40]
            if isinstance(label, str):
                kind, example = "text", repr(example)
            elif isinstance(label, (Number, np.bool_)):
                kind = "numbers"
            found.setdefault(kind, f"{kind} such as {example} in {name}")
    if len(found) > 1:
        raise ValueError(
            f"{' and '.join(columns)} must hold labels of one kind, got a mix of label "
            f"input types: {', '.join(found.values())}. Convert one of them."
        )


def check_binary_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Check labels of two classes.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of two values; the greater is the positive class, in their own order if
        they have one.

    Returns
    -------
    classes : ndarray of shape (2,)
        The two values; the second is positive.
    positive : ndarray of bool of shape (n_samples,)
        Whether the label is ``classes[1]``.

    Raises
    ------
    ValueError
        If the labels are not of exactly two classes, or as in `check_labels`.
    """
    y, order = check_labels(y)
    if len(y) == 0:
        raise ValueError(
            "y must have at least one row of each of two classes, got 0 rows."
        )
    # Whole numbers are classes. All other types are looked at before np.unique, which
    # cannot sort values of different types.
    kind = "multiclass"
    if y.dtype.kind not in "biu":
        check_same_kind(y=y)
        kind = type_of_target(y, input_name="y")
    if kind.startswith("continuous") or kind == "unknown":
        raise ValueError(
            f"Unknown label type: y must hold two classes of one type, got {kind} "
            f"values such as {y[0]!r:.60}. Convert them first, such as with astype."
        )
    classes = np.unique(y)
    if len(classes) > 2:
        listed = ", ".join(map(repr, classes[:5].tolist()))
        if len(classes) > 5:
            listed += ", ..."
        # scikit-learn's estimator checks look for the first two sentences.
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{kind}: y must hold two classes, got {len(classes)} classes "
            f"({listed})."
        )
    if len(classes) < 2:
        raise ValueError(
            f"y must hold two classes, got {len(classes)} class: "
            f"{classes.tolist()} (n_samples = {len(y)})."
        )
    if order:
        classes = classes[np.argsort([order.index(label) for label in classes])]
    return classes, y == classes[1]


def positive_label(
    *columns: np.ndarray, pos_label: Any = None, order: Sequence[Any] = ()
) -> Any:
    """Return the label that counts as positive.

    Parameters
    ----------
    *columns : ndarray of shape (n_samples,)
        Labels, predicted or true, that hold at most two values between them.
    pos_label : object, default=None
        The positive label. None means the greater of the two values, as scikit-learn
        sorts classes. If there is one value only, it must be 0, 1 or -1 (or a bool),
        since the other value is then known; it is 1 that is positive.
    order : sequence, default=()
        The values in their own order, if they have one.

    Returns
    -------
    object
        The positive label.

    Raises
    ------
    ValueError
        If there are more than two values, or text and numbers, if ``pos_label`` is none
        of two, or if it is missing and cannot be told from one value.
    """
    names = ("y_true", "y_pred")
    check_same_kind(**dict(zip(names, columns, strict=False)))
    labels = np.unique(np.concatenate(columns))
    listed = labels[:5].tolist()
    if len(labels) > 2:
        raise ValueError(
            "y_true and y_pred must together hold two labels, "
            f"got {len(labels)}: {listed}."
        )
    if pos_label is not None:
        check_same_kind(pos_label=np.array([pos_label]), y_true=labels)
        # With one label only, the other may be any.
        if len(labels) == 2 and pos_label not in listed:
            raise ValueError(f"pos_label must be one of {listed}, got {pos_label!r}.")
        return pos_label
    # A category that does not occur may be the other of two.
    ordered = [label for label in order if len(order) == 2 or label in listed]
    if len(ordered) == 2 and set(listed) <= set(ordered):
        return ordered[1]
    if len(labels) == 2:
        return labels[1]
    # Of 0 and 1, and of -1 and 1, the positive label is 1.
    if len(labels) == 1 and labels[0] in (-1, 0, 1):
        return 1
    raise ValueError(
        "pos_label must be given when y_true and y_pred hold one label only, "
        f"got {listed}."
    )


def check_weights(
    sample_weight: Any, X: Any, *, of_part: bool = False
) -> np.ndarray | None:
    """Check the weights of rows.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), or None
        The weights. None stays None.
    X : table or column of any kind
        The rows that the weights are for.
    of_part : bool, default=False
        Whether there may be other rows, so that these may all weigh nothing.

    Returns
    -------
    ndarray of float64 of shape (n_samples,), or None
        The weights.

    Raises
    ------
    ValueError
        If a weight is negative, missing or infinite, if all weights are zero, or if
        their number is not the number of rows.
    """
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        problem = f"must be numbers, got {str(sample_weight)[:60]!r}."
        raise ParameterError("sample_weight", problem) from None
    n_rows = number_of_rows(X)
    if weights.shape != (n_rows,):
        raise ParameterError(
            "sample_weight",
            f"must be a number for each of {n_rows} rows, got an array of shape "
            f"{weights.shape}.",
        )
    # Weights are draw probabilities in PP-SAMPLING, and counts in every rate. A
    # comparison with NaN is False.
    bad = weights[~((weights >= 0) & (weights < np.inf))]
    if len(bad):
        problem = f"must be at least 0 in every row, got {bad[0]}: 0 leaves a row out."
        raise ParameterError("sample_weight", problem)
    if not of_part and n_rows and not weights.any():
        problem = "must be positive in some row, got all zeros."
        raise ParameterError("sample_weight", problem)
    return weights


def unequal_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Check the weights of all rows of a table; None if they are equal.

    Equal weights are as none. Of unequal ones only ratios matter, but to learners that
    weigh rows against a penalty.
    """
    weights = check_weights(sample_weight, X)
    if weights is None or (weights == weights[:1]).all():
        return None
    return weights
