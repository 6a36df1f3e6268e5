"""Samplers: PP-SAMPLING with its grid, and batches of chosen prevalences.

Samplers return the indices of rows and not copies of rows, so that features, labels and
groups stay aligned.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from cape.base._groups import Group, check_groups
from cape.base._validation import (
    check_binary_labels,
    check_prevalence,
    check_random_state,
    check_same_length,
    check_weights,
    take_rows,
)

__all__ = ["pp_sampling", "shift"]


def prevalence_grid(k: int) -> np.ndarray:
    """Return the centres of k bins of equal width.

    Every prevalence is within 1 / (2 k) of a centre.

    Parameters
    ----------
    k : int
        Number of bins, at least 1.

    Returns
    -------
    ndarray of shape (k,)

    Notes
    -----
    For k = 10 this is the paper's grid Theta. Theorem 3 of the paper places
    floor(1/eps + 1/2) points that are eps apart, which leaves prevalences near 1
    uncovered for most eps: for eps = 0.3 its points are .15, .45 and .75. The
    k = ceil(1/eps) centres are within eps / 2 of every prevalence for every eps.

    Examples
    --------
    >>> prevalence_grid(4).tolist()
    [0.125, 0.375, 0.625, 0.875]
    """
    if not isinstance(k, Integral) or k < 1:
        raise ValueError(f"k must be a whole number of at least 1, got {k!r}.")
    # Theorem 3 of the paper with the grid that covers all of [0, 1]; see Notes.
    return (np.arange(k) + 0.5) / k


def pp_sampling(
    y: Any, theta: float, *, sample_weight: Any = None, random_state: Any = None
) -> np.ndarray:
    """Draw rows with replacement so that a share ``theta`` of them is positive.

    This is PP-SAMPLING of the paper. As many rows are drawn as there are:
    round(theta * n_samples) positives and the rest negatives, at least one of each.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive one.
    theta : float in (0, 1)
        Prevalence of the rows drawn.
    sample_weight : array-like of shape (n_samples,), default=None
        Probabilities of being drawn, up to a factor, within each class. They do not
        change the number of rows drawn.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    ndarray of shape (n_samples,)
        Indices of the rows drawn: the positives first, then the negatives.

    Raises
    ------
    ValueError
        If ``y`` does not hold two classes, ``theta`` is not in (0, 1), or the weights
        of a class are all zero.

    Examples
    --------
    >>> rows = pp_sampling([0, 0, 0, 1], 0.5, random_state=0)
    >>> sorted(rows.tolist())[2:]
    [3, 3]
    """
    _, positive = check_binary_labels(y)
    theta = check_prevalence("theta", theta, closed=False)
    check_same_length(y=y, sample_weight=sample_weight)
    weights = check_weights(sample_weight, positive)
    random = check_random_state(random_state)
    return draw_rows(positive, theta, weights, random)


def draw_rows(
    positive: np.ndarray,
    theta: float,
    weights: np.ndarray | None,
    random: np.random.RandomState,
) -> np.ndarray:
    """Draw as `pp_sampling` does, from labels that have been checked.

    Parameters
    ----------
    positive : ndarray of bool of shape (n_samples,)
        Whether each row is positive.
    theta : float in (0, 1)
        Prevalence of the rows drawn.
    weights : ndarray of shape (n_samples,) or None
        Probabilities of being drawn, up to a factor, within each class.
    random : RandomState

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> random = np.random.RandomState(0)
    >>> draw_rows(np.array([True, False, False]), 0.4, None, random).tolist()
    [0, 1, 2]
    """
    n_rows = len(positive)
    # The paper's round(theta N); a sample of one class could train no classifier.
    n_positive = min(max(round(theta * n_rows), 1), n_rows - 1)
    n_negative = n_rows - n_positive
    positives = np.flatnonzero(positive)
    negatives = np.flatnonzero(~positive)
    drawn_positives = _draw_with_replacement(positives, n_positive, weights, random)
    drawn_negatives = _draw_with_replacement(negatives, n_negative, weights, random)
    return np.concatenate([drawn_positives, drawn_negatives])


def shift(
    X: Any,
    y: Any,
    sensitive_features: Any,
    prevalences: float | Mapping[Any, float],
    *,
    size: int | Mapping[Any, int] | None = None,
    random_state: Any = None,
) -> tuple[Any, Any, Any]:
    """Draw a batch with a chosen prevalence in each group.

    Only prevalences differ between the data and the batch: it is a prior probability
    shift whose truth is known.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Features: array, sparse matrix, list, pandas or polars table.
    y : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive one.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_columns)
        Group of each row. With several columns a group is a combination of values.
    prevalences : float or mapping from group to float
        Share of positives in all groups, or in each group. Groups that the mapping
        does not name are left out of the batch.
    size : int or mapping from group to int, default=None
        Number of rows of each group. None, and groups that the mapping does not name,
        get as many rows as can be drawn.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    X, y, sensitive_features
        The rows drawn, of the types that were given. Rows are drawn without replacement
        and stay in their order.

    Raises
    ------
    ValueError
        If a group is unknown, a prevalence is not in [0, 1], or there are too few rows
        for a size.

    Examples
    --------
    >>> X, y, z = train.data, train.target, train.sensitive_features
    >>> _, y_new, z_new = shift(X, y, z, {0: 0.2, 1: 0.8}, size=50, random_state=0)
    >>> y_new.groupby(z_new).mean().tolist()
    [0.2, 0.8]
    """
    check_same_length(X=X, y=y, sensitive_features=sensitive_features)
    _, positive = check_binary_labels(y)
    groups = check_groups(sensitive_features)
    random = check_random_state(random_state)
    if not isinstance(prevalences, Mapping):
        prevalences = dict.fromkeys(groups.keys, prevalences)
    # A misspelt group would be left out without a word, if it were not refused.
    unknown = [group for group in prevalences if group not in groups.keys]
    if unknown:
        raise ValueError(
            f"prevalences must name groups among {groups.keys}, got {unknown}."
        )

    # The empty array is what is drawn if the mapping names no group.
    drawn = [np.empty(0, dtype=np.int64)]
    for code, group in enumerate(groups.keys):
        if group not in prevalences:
            continue
        in_group = groups.codes == code
        positives = np.flatnonzero(in_group & positive)
        negatives = np.flatnonzero(in_group & ~positive)
        prevalence = check_prevalence(f"prevalences[{group!r}]", prevalences[group])
        n_rows = size.get(group) if isinstance(size, Mapping) else size
        n_positive, n_negative = _class_sizes(
            group, prevalence, n_rows, len(positives), len(negatives)
        )
        # Without replacement: a row drawn twice would count as two independent rows.
        drawn.append(random.choice(positives, size=n_positive, replace=False))
        drawn.append(random.choice(negatives, size=n_negative, replace=False))
    # In the order in which they came, which may be that of time.
    rows = np.sort(np.concatenate(drawn))
    return take_rows(X, rows), take_rows(y, rows), take_rows(sensitive_features, rows)


def _class_sizes(
    group: Group,
    prevalence: float,
    size: int | None,
    n_positives: int,
    n_negatives: int,
) -> tuple[int, int]:
    """Positives and negatives to draw from a group, or an error if it has too few.

    Parameters
    ----------
    group : group
        Named in the error.
    prevalence : float in [0, 1]
        Share of positives wanted.
    size : int or None
        Number of rows wanted; None is as many as there are.
    n_positives, n_negatives : int
        Rows to draw from.

    Returns
    -------
    n_positive, n_negative : int
    """
    # n rows take prevalence * n positives and (1 - prevalence) * n negatives.
    allowed = float(n_positives + n_negatives)
    if prevalence > 0:
        allowed = min(allowed, n_positives / prevalence)
    if prevalence < 1:
        allowed = min(allowed, n_negatives / (1 - prevalence))
    # 7 / 0.07 is 99.99999999999999 in floating point; int would make 99 of it.
    most = int(allowed + 1e-9)
    if size is None:
        size = most
    if isinstance(size, Integral) and size >= 1:
        n_positive = round(prevalence * size)
        n_negative = size - n_positive
        if n_positive <= n_positives and n_negative <= n_negatives:
            return n_positive, n_negative
    raise ValueError(
        f"size must be from 1 to {most} for group {group!r} at prevalence {prevalence} "
        f"({n_positives} positives and {n_negatives} negatives to draw from), "
        f"got {size!r}."
    )


def _draw_with_replacement(
    rows: np.ndarray,
    size: int,
    weights: np.ndarray | None,
    random: np.random.RandomState,
) -> np.ndarray:
    """Draw ``size`` of the rows of one class, evenly or in proportion to weights."""
    if weights is None:
        return rows[random.randint(len(rows), size=size)]
    # Weights act within a class: between the classes theta decides.
    weight = weights[rows]
    if not weight.any():
        raise ValueError(
            "sample_weight must be positive in some row of each class, "
            "got a class whose weights are all zero."
        )
    return random.choice(rows, size=size, p=weight / weight.sum())
