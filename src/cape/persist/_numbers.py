"""Words that the checks of a loaded model share."""

from __future__ import annotations

from typing import Any

import numpy as np

from cape.persist._damage import Unsound

__all__ = ["n_columns_of", "plain_array", "require"]


def require(condition: Any, complaint: str) -> None:
    """Raise `Unsound` with a complaint unless a condition holds."""
    if not condition:
        raise Unsound(complaint)


def plain_array(value: Any, name: str, *, ndim: int, kind: str) -> np.ndarray:
    """Check that a value is an ordinary array, and return it.

    A masked array would hide numbers from the checks which compiled code then sees.

    Parameters
    ----------
    value : object
        The value.
    name : str
        The name of the attribute, for the error.
    ndim : int
        How many axes it must have.
    kind : str
        The accepted kinds of numbers, as in ``numpy.dtype.kind``.

    Returns
    -------
    ndarray
    """
    is_plain = type(value) is np.ndarray
    require(
        is_plain and value.ndim == ndim and value.dtype.kind in kind,
        f"its {name} is not an array of {ndim} axes with numbers of kind {kind!r}.",
    )
    return value


def n_columns_of(estimator: Any) -> int:
    """Return ``n_features_in_``; without it, scikit-learn lets every table pass."""
    n_columns = vars(estimator).get("n_features_in_")
    require(
        type(n_columns) is int and n_columns > 0,
        f"its {type(estimator).__name__} does not say how many columns it reads.",
    )
    return n_columns
