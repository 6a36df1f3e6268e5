"""Metrics between groups: PE, parity of rates, and the paper's table.

PE is computed in `pe_of_prevalences` and nowhere else. The parity metrics are what the
rules of `cape.rules` bound. On the same arrays they are Fairlearn's metrics of the same
names, except where a rate is undefined: Fairlearn counts it as 0.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from cape.base._groups import Group, group_labels, group_name
from cape.metrics._rates import Confusion, confusion_by_group, divide
from cape.shown._audit import pe_is_undefined, rate_is_undefined


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
    # A ratio to 0 is undefined rather than infinite: two infinite ratios have no
    # difference.
    true_ratio = divide(prevalence, other_prevalence)
    predicted_ratio = divide(predicted, other_predicted)
    pe = true_ratio - predicted_ratio
    return pe if signed else abs(pe)


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
    pe = _pe_of_all_pairs(prevalences, predicted)
    # The PE of a group with itself is 0 and would hide that no pair is defined.
    is_pair = ~np.eye(len(pe), dtype=bool)
    pe_of_pairs = pe[is_pair]
    # nanmax warns when it is given nothing but NaN, or nothing at all.
    if np.isnan(pe_of_pairs).all():
        return float("nan")
    return float(np.nanmax(pe_of_pairs))


_Value = TypeVar("_Value")

_PARAMETERS = """

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
"""
"""What the docstrings of all metrics between groups have in common."""


def _metric_of_rows(
    compute: Callable[[Mapping[Group, Confusion]], _Value],
) -> Callable[..., _Value]:
    """Turn a function of the counts of all groups into a metric of labels."""

    def metric(
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        pos_label: Any = None,
    ) -> _Value:
        groups = confusion_by_group(
            y_true,
            y_pred,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            pos_label=pos_label,
        )
        return compute(groups)

    description = inspect.getdoc(compute) or ""
    metric.__doc__ = description.replace("\n\nReturns\n", _PARAMETERS)
    metric.__name__ = metric.__qualname__ = compute.__name__
    return metric


@_metric_of_rows
def proportional_equality_matrix(groups: Mapping[Group, Confusion]) -> pd.DataFrame:
    """Compute the PE of all ordered pairs of groups.

    The entry in row z and column z' is abs(rho_z / rho_z' - rhohat_z / rhohat_z').
    0 is best. The matrix is not symmetric.

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
    _warn_of_undefined_pairs(groups)
    # The diagonal is 0, or NaN for a group that nothing can be compared with.
    labels = list(group_labels(groups).values())
    pe = _pe_of_all_pairs(*_prevalences_of(groups))
    return pd.DataFrame(pe, index=labels, columns=labels)


@_metric_of_rows
def proportional_equality(groups: Mapping[Group, Confusion]) -> float:
    """Compute the PE of the worst ordered pair of groups.

    0 is best, and there is no upper limit.

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
    _warn_of_undefined_pairs(groups)
    return _worst_pe_of_groups(groups)


def _worst_pe_of_groups(groups: Mapping[Group, Confusion]) -> float:
    # A single group cannot be treated unlike another; `worst_pe`, which knows numbers
    # only, says NaN.
    if len(groups) == 1:
        return 0.0
    return worst_pe(*_prevalences_of(groups))


def _warn_of_undefined_pairs(groups: Mapping[Group, Confusion]) -> None:
    """Name the groups that no other group can be compared with."""
    undefined = []
    for group, confusion in groups.items():
        if not (confusion.positives and confusion.predicted_positives):
            undefined.append(repr(group_name(group)))
    if undefined and len(groups) > 1:
        # The caller of the public metric.
        warnings.warn(pe_is_undefined(undefined), stacklevel=4)


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


_COMPARED = {
    "demographic_parity": (["predicted_prevalence"], "predicted prevalence"),
    "equal_opportunity": (["tpr"], "true positive rate"),
    "false_positive_rate": (["fpr"], "false positive rate"),
    "equalized_odds": (["tpr", "fpr"], "true or false positive rate"),
    "precision": (["precision"], "precision"),
}
"""What parity metrics compare, by their names without "_difference" or "_ratio"."""

_HOW = {
    "difference": "the largest difference of {}s between two groups (0 is best)",
    "ratio": "the smallest {} as a share of the greatest (1 is best)",
}

_PARITY_DOCSTRING = """Compute {what}.

Returns
-------
float in [0, 1]
    Groups whose rate is undefined are left out with a warning; Fairlearn counts the
    rate as 0. NaN if fewer than two of several groups are left, or if all rates of a
    ratio are 0.

Examples
--------
>>> y_true, y_pred = [1, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1]
>>> z = ["a", "a", "b", "b", "b", "b"]
>>> {name}(y_true, y_pred, sensitive_features=z)
0.5
"""


def _parity_metric(concept: str, how: str) -> Callable[..., float]:
    """Make the metric of a row of the table, compared in one of two ways."""
    rates, noun = _COMPARED[concept]

    def compute(groups: Mapping[Group, Confusion]) -> float:
        compared = []
        for rate in rates:
            compared.append(_compare(_defined(rate, groups), len(groups), how))
        worst = np.min if how == "ratio" else np.max
        return float(worst(compared))

    compute.__name__ = f"{concept}_{how}"
    compute.__doc__ = _PARITY_DOCSTRING.format(
        what=_HOW[how].format(noun), name=compute.__name__
    )
    return _metric_of_rows(compute)


def _compare(values: np.ndarray, n_groups: int, how: str) -> float:
    """Compare a rate of the groups where it is defined: "difference" or "ratio"."""
    # One group that is left of several cannot be compared with any: 0 would say "no
    # difference". The ratio of rates that are all 0 is undefined, too.
    is_alone = len(values) < min(n_groups, 2)
    if is_alone or (how == "ratio" and not values.any()):
        return float("nan")
    # With any number of groups: no group is the reference for the others.
    if how == "ratio":
        return values.min() / values.max()
    return np.ptp(values)


def _defined(rate: str, groups: Mapping[Group, Confusion]) -> np.ndarray:
    """Return a rate of every group for which it is defined."""
    rates = []
    undefined = []
    for group, confusion in groups.items():
        value = getattr(confusion, rate)
        if math.isnan(value):
            undefined.append(repr(group_name(group)))
        else:
            rates.append(value)
    if undefined:
        # The caller of the public metric.
        warnings.warn(rate_is_undefined(rate, undefined), stacklevel=4)
    return np.array(rates)


PARITY: dict[str, Callable[..., float]] = {
    f"{concept}_{how}": _parity_metric(concept, how)
    for concept in _COMPARED
    for how in _HOW
}
"""The parity metrics by name: differences and ratios of predicted prevalences
("demographic_parity"), of true positive rates ("equal_opportunity"), of false positive
rates, of both ("equalized_odds"), and of precisions."""


_TABLE = {
    "fpr": "fpr",
    "fnr": "fnr",
    "accuracy": "accuracy",
    "predicted_prevalence": "predicted_prevalence",
    "prevalence": "prevalence",
    "pd": "prevalence_difference",
}
"""Metrics of the fairness table, and the properties of `Confusion` that hold them."""

# The paper's table has differences of these only; PD is a difference already.
_WITH_DIFFERENCE = ("fpr", "fnr", "accuracy")


@_metric_of_rows
def fairness_table(groups: Mapping[Group, Confusion]) -> pd.Series:
    """Compute the rates of each group, their differences and PE.

    This is one row of the paper's table. Rows of several classifiers make a table:
    ``pd.DataFrame({"CAPE": fairness_table(...), ...}).T``.

    Returns
    -------
    Series
        Indexed by metric and group. The metrics are "fpr", "fnr", "accuracy",
        "predicted_prevalence", "prevalence" and "pd" of each group. A rate is NaN if it
        is undefined, such as the FPR of a group without negatives. For the first three,
        the entry "difference" is the greatest minus the smallest value, over the groups
        where the rate is defined; NaN if it is defined in only one of them. The entry
        ("pe", "worst pair") is the PE of the worst ordered pair of groups; see
        `proportional_equality_matrix` for all pairs.

    Examples
    --------
    >>> y_true, y_pred, z = [1, 0, 1, 0], [1, 1, 1, 0], ["a", "a", "b", "b"]
    >>> row = fairness_table(y_true, y_pred, sensitive_features=z)
    >>> row["fpr", "a"], row["fpr", "difference"], row["pe", "worst pair"]
    (np.float64(1.0), np.float64(1.0), np.float64(1.0))
    """
    _warn_of_undefined_pairs(groups)
    labels = list(group_labels(groups).values())
    # A list and not a dict: two groups may have the same label, or a group may be
    # called "difference", and all of them must stay in the table.
    entries: list[tuple[str, Any, float]] = []
    for metric, attribute in _TABLE.items():
        values = [getattr(confusion, attribute) for confusion in groups.values()]
        entries += [(metric, *entry) for entry in zip(labels, values, strict=True)]
        if metric in _WITH_DIFFERENCE:
            defined = [value for value in values if not math.isnan(value)]
            spread = _compare(np.array(defined), len(values), "difference")
            entries.append((metric, "difference", float(spread)))
    entries.append(("pe", "worst pair", _worst_pe_of_groups(groups)))

    metrics, labels_of_entries, numbers = zip(*entries, strict=True)
    names = ["metric", "group"]
    index = pd.MultiIndex.from_arrays([metrics, labels_of_entries], names=names)
    return pd.Series(numbers, index)
