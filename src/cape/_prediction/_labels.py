"""Labels of some rows of a batch, and how these rows were drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cape._validation import check_same_length
from cape.evidence import PLAIN
from cape.histogram import ONE

__all__ = ["KnownLabels", "known_labels"]

_MISSING = -1


@dataclass(frozen=True)
class KnownLabels:
    """Labels of some rows of a batch.

    Parameters
    ----------
    codes : ndarray of int8 of shape (n_rows,)
        1 for positives, 0 for negatives, -1 for rows without a label.
    probabilities : ndarray of int64 of shape (n_rows,) or None
        Probability with which each labelled row was drawn, in units of 2^-32. None if
        they were drawn plainly: every row of a group with the same probability.
    """

    codes: np.ndarray
    probabilities: np.ndarray | None

    POSITIVE: ClassVar[int] = 1
    NEGATIVE: ClassVar[int] = 0

    @property
    def known(self) -> np.ndarray:
        """Whether each row has a label."""
        return self.codes != _MISSING

    def as_lists(self) -> tuple[list[int], list[int]]:
        """Return codes and probabilities of all rows; 0 for rows drawn plainly."""
        probabilities = [PLAIN] * len(self.codes)
        if self.probabilities is not None:
            probabilities = self.probabilities.tolist()
        return self.codes.tolist(), probabilities

    def distinct_probabilities(self, index: Any) -> list[int]:
        """Return the probabilities that occur among labelled rows, ascending."""
        is_labelled = self.known[index]
        if not is_labelled.any():
            return []
        if self.probabilities is None:
            return [PLAIN]
        distinct = np.unique(self.probabilities[index][is_labelled])
        return [int(probability) for probability in distinct]

    def positions(self, index: Any, label: int, probability: int) -> np.ndarray:
        """Find the rows of one label and probability.

        Parameters
        ----------
        index : ndarray or slice
            Rows of the batch.
        label : int
        probability : int

        Returns
        -------
        ndarray of int
            Positions among the rows of ``index``.
        """
        wanted = self.codes[index] == label
        if self.probabilities is not None:
            wanted &= self.probabilities[index] == probability
        return np.flatnonzero(wanted)


def known_labels(
    y: Any, classes: np.ndarray, n_rows: int, inclusion_probability: Any = None
) -> KnownLabels | None:
    """Check labels of some rows.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or None
        A label, or a missing value (None, NaN, NaT, NA, null). None means that no row
        has a label.
    classes : ndarray of shape (2,)
        The labels of the model.
    n_rows : int
    inclusion_probability : array-like of float of shape (n_rows,), default=None
        Only the values of labelled rows are read.

    Returns
    -------
    KnownLabels or None
        None if ``y`` is None.
    """
    if y is None:
        if inclusion_probability is not None:
            raise ValueError("inclusion_probability needs labels: y must be given.")
        return None
    labels = _as_objects(y)
    check_same_length(X=np.empty(n_rows), y=labels)
    codes = _encode(labels, classes)
    if inclusion_probability is None:
        return KnownLabels(codes, None)
    return KnownLabels(codes, _check_probabilities(inclusion_probability, codes))


def _as_objects(y: Any) -> np.ndarray:
    """Return labels as Python objects, so that missing values of any kind survive."""
    if hasattr(y, "to_list"):
        # Series of pandas, polars and pyarrow keep NA and null in lists; their arrays
        # turn whole numbers with missing values into floats.
        y = y.to_list()
    elif hasattr(y, "to_pylist"):
        y = y.to_pylist()
    given = np.asarray(y, dtype=object)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise ValueError(f"y must be one column of labels, got shape {given.shape}.")
    return given


def _encode(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return 1 for positives, 0 for negatives, -1 for missing labels."""
    # Here, since importing pandas takes longer than importing the rest of cape.
    import pandas as pd

    missing = np.asarray(pd.isna(labels), dtype=bool)
    codes = np.full(len(labels), _MISSING, dtype=np.int8)
    known = labels[~missing]
    encoded = np.full(len(known), _MISSING, dtype=np.int8)
    for code, label in enumerate(classes.tolist()):
        encoded[np.fromiter((value == label for value in known), bool, len(known))] = (
            code
        )
    if (encoded == _MISSING).any():
        unknown = known[encoded == _MISSING][0]
        raise ValueError(
            f"y must hold the labels {classes.tolist()} of the model, or missing "
            f"values for rows without a label, got {unknown!r}."
        )
    codes[~missing] = encoded
    return codes


def _check_probabilities(inclusion_probability: Any, codes: np.ndarray) -> np.ndarray:
    """Return probabilities in units of 2^-32, 0 for rows without a label."""
    try:
        given = np.asarray(inclusion_probability, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "inclusion_probability must be a number for each row, got "
            f"{str(inclusion_probability)[:60]!r}."
        ) from None
    if given.ndim == 0:
        given = np.full(len(codes), given)
    if given.ndim != 1:
        raise ValueError(
            "inclusion_probability must be one number for each row, got shape "
            f"{given.shape}."
        )
    check_same_length(X=codes, inclusion_probability=given)
    is_labelled = codes != _MISSING
    of_labelled = given[is_labelled]
    units = np.rint(of_labelled * ONE)
    # Comparisons with NaN are False, so that NaN is refused as well.
    good = (units >= 1) & (of_labelled <= 1)
    if not good.all():
        raise ValueError(
            "inclusion_probability must be in (0, 1] for every labelled row, got "
            f"{of_labelled[~good][0]}."
        )
    probabilities = np.zeros(len(codes), dtype=np.int64)
    probabilities[is_labelled] = units.astype(np.int64)
    return probabilities
