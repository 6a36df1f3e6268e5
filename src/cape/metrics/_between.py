"""Proportional equality (PE): how far predictions distort the ratio of two prevalences.

PE is computed in `pe_of_prevalences` and nowhere else. The matrix of all pairs, the
worst pair, the audit and its resamples all call it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._groups import Group, group_labels, group_name
from cape._validation import check_same_length
from cape.metrics._rates import Confusion, confusion_by_group

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "pe_of_prevalences",
    "proportional_equality",
    "proportional_equality_matrix",
    "worst_pe",
    "worst_pe_of_groups",
]


def pe_of_prevalences(
    prevalence: Any,
    other_prevalence: Any,
    predicted: Any,
    other_predicted: Any,
    *,
    signed: bool = False,
) -> Any:
    """PE of an ordered pair of groups, from their true and predicted prevalences.

    PE(z, z') = abs(rho_z / rho_z' - rhohat_z / rhohat_z'), equation (4) of the paper.
    0 is best, and there is no upper limit. PE is not symmetric in z and z'.

    Parameters
    ----------
    prevalence, other_prevalence : float or array-like
        Share of positives of the group z and of the group z' it is compared with.
    predicted, other_predicted : float or array-like
        Share of predicted positives of the same two groups. All four arguments are
        broadcast against each other.
    signed : bool, default=False
        Whether to return the difference of the ratios instead of its absolute value.
        Intervals need the sign: they reach 0 only where the sign is uncertain.

    Returns
    -------
    float or ndarray
        A float if all arguments are scalars. NaN where PE is undefined, which is where
        the group z' has no positives or no predicted positives.

    Examples
    --------
    >>> pe_of_prevalences(0.2, 0.4, 0.1, 0.4)
    0.25
    >>> pe_of_prevalences([0.2, 0.2], [0.4, 0.0], 0.3, 0.3).tolist()
    [0.5, nan]
    """
    # Equation (4) of the paper: the ratio that is, and the ratio that is predicted.
    true_ratio = _ratio(prevalence, other_prevalence)
    predicted_ratio = _ratio(predicted, other_predicted)
    pe = true_ratio - predicted_ratio
    if not signed:
        pe = np.abs(pe)
    if np.ndim(pe) == 0:
        return float(pe)
    return pe


def worst_pe(prevalences: Any, predicted: Any) -> float:
    """Return the greatest PE over all ordered pairs of groups.

    Parameters
    ----------
    prevalences : array-like of shape (n_groups,)
        Share of positives of each group.
    predicted : array-like of shape (n_groups,)
        Share of predicted positives of each group.

    Returns
    -------
    float
        Pairs for which PE is undefined are left out. NaN if PE is defined for no pair,
        in particular if there is only one group.

    Examples
    --------
    >>> worst_pe([0.2, 0.4], [0.2, 0.5])
    0.5
    >>> worst_pe([0.2, 0.0], [0.2, 0.5])
    2.5
    """
    check_same_length(prevalences=prevalences, predicted=predicted)
    pe = _pe_of_all_pairs(prevalences, predicted)
    # The PE of a group with itself is 0 and would hide that no pair is defined.
    is_pair = ~np.eye(len(pe), dtype=bool)
    pe_of_pairs = pe[is_pair]
    # nanmax warns when it is given nothing but NaN, or nothing at all.
    if np.isnan(pe_of_pairs).all():
        return float("nan")
    return float(np.nanmax(pe_of_pairs))


def proportional_equality_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> pd.DataFrame:
    """Compute the PE of all ordered pairs of groups.

    The entry in row z and column z' is abs(rho_z / rho_z' - rhohat_z / rhohat_z').
    0 is best. The matrix is not symmetric.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_columns)
        Group of each row. With several columns a group is a combination of values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    pos_label : label, default=None
        The positive label; None takes the greater of the two labels.

    Returns
    -------
    DataFrame of shape (n_groups, n_groups)
        NaN where the group of the column has no positives or no predicted positives.
        A warning names these groups.

    Examples
    --------
    >>> y_true, y_pred, z = [1, 0, 1, 1], [1, 1, 1, 0], ["a", "a", "b", "b"]
    >>> pairs = proportional_equality_matrix(y_true, y_pred, sensitive_features=z)
    >>> pairs.loc["a", "b"]
    np.float64(1.5)
    """
    import pandas as pd

    groups = confusion_by_group(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        pos_label=pos_label,
    )
    _warn_of_undefined_pairs(groups, stacklevel=3)
    prevalences, predicted = _prevalences_of(groups)
    # The diagonal is 0, or NaN for a group that nothing can be compared with.
    labels = list(group_labels(groups).values())
    pe = _pe_of_all_pairs(prevalences, predicted)
    return pd.DataFrame(pe, index=labels, columns=labels)


def proportional_equality(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Compute the PE of the worst ordered pair of groups.

    0 is best, and there is no upper limit.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_columns)
        Group of each row. With several columns a group is a combination of values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    pos_label : label, default=None
        The positive label; None takes the greater of the two labels.

    Returns
    -------
    float
        Pairs for which PE is undefined (the second group has no positives or no
        predicted positives) are left out with a warning. NaN if no pair is defined,
        and 0 for a single group.

    Examples
    --------
    >>> y_true, y_pred, z = [1, 0, 1, 1], [1, 1, 1, 0], ["a", "a", "b", "b"]
    >>> proportional_equality(y_true, y_pred, sensitive_features=z)
    1.5
    """
    groups = confusion_by_group(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        pos_label=pos_label,
    )
    return worst_pe_of_groups(groups)


def worst_pe_of_groups(groups: Mapping[Group, Confusion]) -> float:
    """PE of the worst ordered pair, with a warning for groups that leave PE undefined.

    Called by public metrics only: the warning points at the caller of the caller.
    """
    # A single group cannot be treated unlike another; `worst_pe`, which knows numbers
    # only, says NaN.
    if len(groups) == 1:
        return 0.0
    _warn_of_undefined_pairs(groups, stacklevel=4)
    prevalences, predicted = _prevalences_of(groups)
    return worst_pe(prevalences, predicted)


def _warn_of_undefined_pairs(
    groups: Mapping[Group, Confusion], *, stacklevel: int
) -> None:
    """Name the groups that no other group can be compared with."""
    undefined = []
    for group, confusion in groups.items():
        if not (confusion.positives and confusion.predicted_positives):
            undefined.append(repr(group_name(group)))
    if undefined and len(groups) > 1:
        warnings.warn(
            "proportional equality is undefined relative to groups without positives "
            f"or without predicted positives: {', '.join(undefined)}; NaN there.",
            stacklevel=stacklevel,
        )


def _prevalences_of(
    groups: Mapping[Group, Confusion],
) -> tuple[np.ndarray, np.ndarray]:
    """True and predicted prevalence of every group."""
    prevalences = [confusion.prevalence for confusion in groups.values()]
    predicted = [confusion.predicted_prevalence for confusion in groups.values()]
    return np.array(prevalences), np.array(predicted)


def _pe_of_all_pairs(prevalences: Any, predicted: Any) -> np.ndarray:
    """Matrix of PE: the row is the group z, the column the group z'."""
    rho = np.asarray(prevalences, dtype=float)
    rho_hat = np.asarray(predicted, dtype=float)
    return pe_of_prevalences(rho[:, None], rho, rho_hat[:, None], rho_hat)


def _ratio(numerator: Any, denominator: Any) -> np.ndarray:
    """Divide and broadcast; NaN where the denominator is 0.

    A ratio to 0 is undefined rather than infinite: two infinite ratios have no
    difference.
    """
    numerator = np.asarray(numerator, dtype=float)
    denominator = np.asarray(denominator, dtype=float)
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    undefined = np.full(shape, np.nan)
    return np.divide(numerator, denominator, out=undefined, where=denominator != 0)
