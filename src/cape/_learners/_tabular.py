"""Tables as people have them: text, categories, dates, missing values."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["columns_to_encode", "note_on_text", "tabular"]

_MOST_NAMES = 5


def columns_to_encode(X: Any) -> list[str]:
    """List the columns of a data frame that a plain learner cannot read.

    These are columns of text, categories, dates or times, and columns with missing
    values. Arrays and sparse matrices have none: they go to the learner as they came.

    Examples
    --------
    >>> columns_to_encode(pd.DataFrame({"age": [1.0, 2.0], "race": ["a", "b"]}))
    ['race']
    """
    if not hasattr(X, "columns") or not hasattr(X, "shape"):
        return []
    names = []
    for name in X.columns:
        column = X[name]
        if not _is_plain_number(column.dtype) or _has_missing(column):
            names.append(str(name))
    return names


def _is_plain_number(dtype: Any) -> bool:
    if isinstance(dtype, np.dtype):
        return dtype.kind in "biuf"
    # polars
    return (
        bool(getattr(dtype, "is_numeric", lambda: False)()) or str(dtype) == "Boolean"
    )


def _has_missing(column: Any) -> bool:
    if hasattr(column, "is_null"):
        return bool(column.is_null().any())
    return bool(column.isna().any())


def tabular(learner: Any, columns: list[str]) -> Any:
    """Put skrub's encoders in front of a learner.

    Parameters
    ----------
    learner : estimator
    columns : list of str
        The columns that need it, for the error without skrub.

    Returns
    -------
    Pipeline
    """
    try:
        from skrub import tabular_pipeline
    except ImportError as error:
        listed = ", ".join(map(repr, columns[:_MOST_NAMES]))
        raise ImportError(
            f"X has columns that need encoding ({listed}), which skrub does: install "
            "cape-fair[app], or give an estimator that takes X as it is."
        ) from error
    return tabular_pipeline(learner)


def note_on_text(error: ValueError, X: Any) -> None:
    """Add to the error of a learner which columns it could not read, if it is text.

    Parameters
    ----------
    error : ValueError
        What the learner raised. numpy names a value, and not its column.
    X : table
    """
    columns = columns_to_encode(X)
    if not columns or "could not convert string" not in str(error):
        return
    listed = ", ".join(map(repr, columns[:_MOST_NAMES]))
    error.add_note(
        f"X has columns that need encoding ({listed}), and estimator gets X as it "
        "came: give a pipeline that encodes them, or None, which encodes by itself."
    )
