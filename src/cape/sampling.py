"""Choosing rows: PP-SAMPLING with its grid, and batches of a chosen prevalence from labelled data.

Samplers return indices, not copies, so that features, labels and groups stay aligned.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from cape._groups import check_groups
from cape._validation import (
    check_binary_labels,
    check_prevalence,
    check_random_state,
    check_same_length,
    check_weights,
    take_rows,
)

__all__ = ["pp_sampling", "prevalence_grid", "shift", "shift_rows"]


def prevalence_grid(k: int) -> np.ndarray:
    """Centres of k bins of equal width, so that every prevalence is within 1 / (2 k) of one.

    The paper's Theta for k = 10. Its Theorem 3 places floor(1/eps + 1/2) points eps apart, which leaves prevalences
    near 1 uncovered for most eps (eps = 0.3: .15 .45 .75); k = ceil(1/eps) centres are within eps / 2 for every eps.

    Examples
    --------
    >>> prevalence_grid(4).tolist()
    [0.125, 0.375, 0.625, 0.875]
    """
    if not isinstance(k, Integral) or k < 1:
        raise ValueError(f"k must be a whole number of at least 1, got {k!r}.")
    return (np.arange(k) + 0.5) / k


def pp_sampling(
    y: Any, theta: float, *, sample_weight: Any = None, random_state: Any = None
) -> np.ndarray:
    """Draw as many rows as there are, with replacement, so that a share ``theta`` of them is positive.

    PP-SAMPLING of the paper: round(theta N) positives and the rest negatives, at least one of each.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of two classes; the greater is the positive one.
    theta : float in (0, 1)
        The prevalence wanted.
    sample_weight : array-like of shape (n_samples,), optional
        Draw probabilities within a class, up to a factor. The number of rows drawn does not change.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    ndarray of shape (n_samples,)
        Indices of rows: positives first, then negatives.

    Examples
    --------
    >>> rows = pp_sampling([0, 0, 0, 1], 0.5, random_state=0)
    >>> sorted(rows.tolist())[2:]
    [3, 3]
    """
    _, positive = check_binary_labels(y)
    theta = check_prevalence("theta", theta, closed=False)
    check_same_length(y=positive, sample_weight=sample_weight)
    return draw_rows(
        positive,
        theta,
        check_weights(sample_weight, positive),
        check_random_state(random_state),
    )


def draw_rows(
    positive: np.ndarray, theta: float, weights: np.ndarray | None, random: Any
) -> np.ndarray:
    """PP-SAMPLING of labels already checked: ``positive`` is a bool for each row."""
    n = len(positive)
    n_positive = min(max(round(theta * n), 1), n - 1)
    drawn = []
    for rows, size in (
        (np.flatnonzero(positive), n_positive),
        (np.flatnonzero(~positive), n - n_positive),
    ):
        if weights is None:
            drawn.append(rows[random.randint(len(rows), size=size)])
        else:
            weight = weights[rows]
            if not weight.any():
                raise ValueError(
                    "sample_weight must be positive in some row of each class, got a class of zeros."
                )
            drawn.append(random.choice(rows, size=size, p=weight / weight.sum()))
    return np.concatenate(drawn)


def shift(
    X: Any,
    y: Any,
    sensitive_features: Any,
    prevalences: float | Mapping[Any, float],
    *,
    size: int | Mapping[Any, int] | None = None,
    random_state: Any = None,
) -> tuple[Any, Any, Any]:
    """Draw a batch with a chosen prevalence in each group: a prior probability shift with known truth.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels of two classes; the greater is the positive one.
    sensitive_features : array-like or table of n_samples rows
    prevalences : float or mapping from group to float
        Share of positives wanted, in all groups or in each. Groups that a mapping does not name are left out.
    size : int or mapping from group to int, optional
        Rows a group. By default, and for groups that a mapping does not name, as many as can be drawn.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X, y, sensitive_features
        The rows drawn, without replacement, in the order in which they came.

    Examples
    --------
    >>> import numpy as np
    >>> y, z = np.tile([0, 1], 50), np.repeat(["a", "b"], 50)
    >>> _, y_new, z_new = shift(np.arange(100), y, z, {"a": 0.2, "b": 0.8}, size=20, random_state=0)
    >>> y_new[z_new == "a"].mean(), y_new[z_new == "b"].mean()
    (np.float64(0.2), np.float64(0.8))
    """
    check_same_length(X=X, y=y, sensitive_features=sensitive_features)
    rows = shift_rows(
        y, sensitive_features, prevalences, size=size, random_state=random_state
    )
    return take_rows(X, rows), take_rows(y, rows), take_rows(sensitive_features, rows)


def shift_rows(
    y: Any,
    sensitive_features: Any,
    prevalences: float | Mapping[Any, float],
    *,
    size: int | Mapping[Any, int] | None = None,
    random_state: Any = None,
) -> np.ndarray:
    """Row indices of a batch with a chosen prevalence in each group; see `shift`.

    Examples
    --------
    >>> rows = shift_rows([0, 0, 1, 1], list("aaaa"), 0.5, size=2, random_state=0)
    >>> len(rows)
    2
    """
    _, positive = check_binary_labels(y)
    groups = check_groups(sensitive_features)
    check_same_length(y=positive, sensitive_features=groups)
    random = check_random_state(random_state)
    wanted = (
        prevalences
        if isinstance(prevalences, Mapping)
        else dict.fromkeys(groups.keys, prevalences)
    )
    absent = [group for group in wanted if group not in groups.keys]
    if absent:
        raise ValueError(
            f"prevalences must name groups among {groups.keys}, got {absent}."
        )
    drawn = []
    for code, group in enumerate(groups.keys):
        if group in wanted:
            in_group = groups.codes == code
            share = check_prevalence(f"prevalences[{group!r}]", wanted[group])
            rows = (
                np.flatnonzero(in_group & positive),
                np.flatnonzero(in_group & ~positive),
            )
            n_rows = size.get(group) if isinstance(size, Mapping) else size
            drawn += _draw(rows, share, n_rows, group, random)
    return np.sort(np.concatenate(drawn)) if drawn else np.empty(0, dtype=np.int64)


def _draw(rows, share, size, group, random):
    positives, negatives = rows
    limits = [
        len(part) / of_all
        for part, of_all in ((positives, share), (negatives, 1 - share))
        if of_all > 0
    ]
    most = int(min(*limits, len(positives) + len(negatives)) + 1e-9)
    if size is None:
        size = most
    n_positive = round(share * size) if isinstance(size, Integral) else 0
    if (
        not isinstance(size, Integral)
        or size < 1
        or n_positive > len(positives)
        or size - n_positive > len(negatives)
    ):
        raise ValueError(
            f"size must be from 1 to {most} for group {group!r} at prevalence {share} "
            f"({len(positives)} positives and {len(negatives)} negatives to draw from), got {size!r}."
        )
    return [
        random.choice(positives, size=n_positive, replace=False),
        random.choice(negatives, size=size - n_positive, replace=False),
    ]
