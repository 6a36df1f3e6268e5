"""Parity between groups: differences and ratios of shares and error rates.

These are what the rules of `cape.rules` bound. On the same arrays they are Fairlearn's
metrics of the same names, except where a rate is undefined: Fairlearn counts it as 0.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from cape._groups import group_name
from cape.metrics._rates import confusion_by_group

__all__ = [
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "equalized_odds_difference",
    "false_positive_rate_difference",
    "false_positive_rate_ratio",
    "precision_difference",
    "precision_ratio",
]


def demographic_parity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Compute the greatest difference of predicted prevalences between two groups.

    0 is best and 1 is worst.

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
    float in [0, 1]
        Groups whose rate is undefined are left out with a warning. NaN if no rate is
        defined.

    Examples
    --------
    >>> y_true, y_pred = [1, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1]
    >>> z = ["a", "a", "b", "b", "b", "b"]
    >>> demographic_parity_difference(y_true, y_pred, sensitive_features=z)
    0.5
    """
    rates = _rates(
        "predicted_prevalence",
        y_true,
        y_pred,
        sensitive_features,
        sample_weight,
        pos_label,
    )
    return _difference(rates)


def demographic_parity_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Compute the smallest predicted prevalence as a share of the greatest.

    The four-fifths rule of the US guidelines on selection asks for at least 0.8.

    1 is best and 0 is worst.

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
    float in [0, 1]
        Groups whose rate is undefined are left out with a warning. NaN if no rate is
        defined, or if the greatest is 0.

    Examples
    --------
    >>> y_true, y_pred = [1, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1]
    >>> z = ["a", "a", "b", "b", "b", "b"]
    >>> demographic_parity_ratio(y_true, y_pred, sensitive_features=z)
    0.5
    """
    rates = _rates(
        "predicted_prevalence",
        y_true,
        y_pred,
        sensitive_features,
        sample_weight,
        pos_label,
    )
    return _ratio(rates)


def equal_opportunity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Compute the greatest difference of true positive rates between two groups.

    0 is best and 1 is worst.

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
    float in [0, 1]
        Groups whose rate is undefined are left out with a warning. NaN if no rate is
        defined.

    Examples
    --------
    >>> y_true, y_pred = [1, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1]
    >>> z = ["a", "a", "b", "b", "b", "b"]
    >>> equal_opportunity_difference(y_true, y_pred, sensitive_features=z)
    0.5
    """
    rates = _rates("tpr", y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return _difference(rates)


def equal_opportunity_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Compute the smallest true positive rate as a share of the greatest.

    1 is best and 0 is worst.

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
    float in [0, 1]
        Groups whose rate is undefined are left out with a warning. NaN if no rate is
        defined, or if the greatest is 0.

    Examples
    --------
    >>> y_true, y_pred = [1, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1]
    >>> z = ["a", "a", "b", "b", "b", "b"]
    >>> equal_opportunity_ratio(y_true, y_pred, sensitive_features=z)
    0.5
    """
    rates = _rates("tpr", y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return _ratio(rates)


def false_positive_rate_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Compute the greatest difference of false positive rates between two groups.

    0 is best and 1 is worst.

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
    float in [0, 1]
        Groups whose rate is undefined are left out with a warning. NaN if no rate is
        defined.

    Examples
    --------
    >>> y_true, y_pred = [1, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1]
    >>> z = ["a", "a", "b", "b", "b", "b"]
    >>> false_positive_rate_difference(y_true, y_pred, sensitive_features=z)
    0.5
    """
    rates = _rates("fpr", y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return _difference(rates)


def false_positive_rate_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Compute the smallest false positive rate as a share of the greatest.

    1 is best and 0 is worst.

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
    float in [0, 1]
        Groups whose rate is undefined are left out with a warning. NaN if no rate is
        defined, or if the greatest is 0.

    Examples
    --------
    >>> y_true, y_pred = [1, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1]
    >>> z = ["a", "a", "b", "b", "b", "b"]
    >>> false_positive_rate_ratio(y_true, y_pred, sensitive_features=z)
    0.5
    """
    rates = _rates("fpr", y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return _ratio(rates)


def precision_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Compute the greatest difference of precisions between two groups.

    Precision is the share of predicted positives that are positive. Unlike the other
    rates it moves with the prevalence.

    0 is best and 1 is worst.

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
    float in [0, 1]
        Groups whose rate is undefined are left out with a warning. NaN if no rate is
        defined.

    Examples
    --------
    >>> y_true, y_pred = [1, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1]
    >>> z = ["a", "a", "b", "b", "b", "b"]
    >>> precision_difference(y_true, y_pred, sensitive_features=z)
    0.0
    """
    rates = _rates(
        "precision", y_true, y_pred, sensitive_features, sample_weight, pos_label
    )
    return _difference(rates)


def precision_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Compute the smallest precision as a share of the greatest.

    Precision is the share of predicted positives that are positive. Unlike the other
    rates it moves with the prevalence.

    1 is best and 0 is worst.

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
    float in [0, 1]
        Groups whose rate is undefined are left out with a warning. NaN if no rate is
        defined, or if the greatest is 0.

    Examples
    --------
    >>> y_true, y_pred = [1, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1]
    >>> z = ["a", "a", "b", "b", "b", "b"]
    >>> precision_ratio(y_true, y_pred, sensitive_features=z)
    1.0
    """
    rates = _rates(
        "precision", y_true, y_pred, sensitive_features, sample_weight, pos_label
    )
    return _ratio(rates)


def equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Compute the greater of the differences of true and of false positive rates.

    0 is best and 1 is worst.

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
    float in [0, 1]
        Groups whose rate is undefined are left out with a warning. NaN if no rate is
        defined.

    Examples
    --------
    >>> y_true, y_pred = [1, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1]
    >>> z = ["a", "a", "b", "b", "b", "b"]
    >>> equalized_odds_difference(y_true, y_pred, sensitive_features=z)
    0.5
    """
    differences = []
    for name in ("tpr", "fpr"):
        rates = _rates(
            name, y_true, y_pred, sensitive_features, sample_weight, pos_label
        )
        differences.append(_difference(rates))
    return float(np.max(differences))


def _rates(
    name: str,
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
    pos_label: Any,
) -> np.ndarray:
    """Return a rate of every group for which it is defined.

    Called by public metrics only: the warning points at their caller.
    """
    groups = confusion_by_group(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        pos_label=pos_label,
    )
    rates = []
    undefined = []
    for group, confusion in groups.items():
        rate = getattr(confusion, name)
        if np.isnan(rate):
            undefined.append(repr(group_name(group)))
        else:
            rates.append(rate)
    if undefined:
        warnings.warn(
            f"{name} is undefined for groups without rows to compute it from: "
            f"{', '.join(undefined)}; they are left out.",
            stacklevel=3,
        )
    return np.array(rates)


def _difference(rates: np.ndarray) -> float:
    """Return the greatest difference; NaN without rates."""
    if not len(rates):
        return float("nan")
    return float(rates.max() - rates.min())


def _ratio(rates: np.ndarray) -> float:
    """Return the smallest as a share of the greatest; NaN without rates, or for 0/0."""
    if not rates.any():
        return float("nan")
    return float(rates.min() / rates.max())
