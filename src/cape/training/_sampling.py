"""PP-SAMPLING with its grid.

It returns the indices of rows and not copies of rows, so that features, labels and
groups stay aligned.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from cape.base._validation import (
    check_binary_labels,
    check_prevalence,
    check_random_state,
    check_same_length,
    check_weights,
)


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
