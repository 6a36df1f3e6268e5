"""Metrics between groups: PE, parity of rates, and the paper's table.

PE is computed in `pe_of_prevalences` and nowhere else. The parity metrics are what the
rules of `cape.rules` bound. On the same arrays they are Fairlearn's metrics of the same
names, except where a rate is undefined: Fairlearn counts it as 0.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cape._groups import Group, group_labels, group_name
from cape._validation import check_same_length
from cape._wording._audit import pe_is_undefined, rate_is_undefined
from cape.metrics._rates import Confusion, confusion_by_group, divide

if TYPE_CHECKING:
    import pandas as pd


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
        warnings.warn(pe_is_undefined(undefined), stacklevel=stacklevel)


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


_SECTIONS = """

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
        defined{or_zero}.

    Examples
    --------
    >>> y_true, y_pred = [1, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1]
    >>> z = ["a", "a", "b", "b", "b", "b"]
    >>> {name}(y_true, y_pred, sensitive_features=z)
    {example}
    """


class _Compared(NamedTuple):
    """What a parity metric compares between groups."""

    rates: tuple[str, ...]
    noun: str
    remark: str = ""


_COMPARED = {
    "demographic_parity": _Compared(("predicted_prevalence",), "predicted prevalence"),
    "equal_opportunity": _Compared(("tpr",), "true positive rate"),
    "false_positive_rate": _Compared(("fpr",), "false positive rate"),
    "equalized_odds": _Compared(("tpr", "fpr"), "true or false positive rate"),
    "precision": _Compared(
        ("precision",),
        "precision",
        "Precision is the share of predicted positives that are positive; it moves "
        "with the prevalence.",
    ),
}
"""Names of parity metrics without "_difference" or "_ratio"."""


def _parity_metric(name: str, example: float) -> Callable[..., float]:
    """Make the metric of a row of the table, compared as the end of its name says."""
    concept, how = name.rsplit("_", 1)
    rates, noun, remark = _COMPARED[concept]
    compare = _difference
    what = f"the greatest difference of {noun}s between two groups"
    best = "0 is best and 1 is worst."
    or_zero = ""
    if how == "ratio":
        compare = _ratio
        what = f"the smallest {noun} as a share of the greatest"
        best = "1 is best and 0 is worst."
        or_zero = ", or if the greatest is 0"

    def metric(
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        pos_label: Any = None,
    ) -> float:
        groups = confusion_by_group(
            y_true,
            y_pred,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            pos_label=pos_label,
        )
        compared = [compare(_defined(rate, groups)) for rate in rates]
        return float(np.max(compared))

    paragraphs = "\n\n    ".join([f"Compute {what}.", f"{best} {remark}".rstrip()])
    sections = _SECTIONS.format(or_zero=or_zero, name=name, example=example)
    metric.__doc__ = paragraphs + sections
    metric.__name__ = metric.__qualname__ = name
    return metric


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


demographic_parity_difference = _parity_metric("demographic_parity_difference", 0.5)
# The four-fifths rule of the US guidelines on selection asks for at least 0.8.
demographic_parity_ratio = _parity_metric("demographic_parity_ratio", 0.5)
equal_opportunity_difference = _parity_metric("equal_opportunity_difference", 0.5)
equal_opportunity_ratio = _parity_metric("equal_opportunity_ratio", 0.5)
equalized_odds_difference = _parity_metric("equalized_odds_difference", 0.5)
false_positive_rate_difference = _parity_metric("false_positive_rate_difference", 0.5)
false_positive_rate_ratio = _parity_metric("false_positive_rate_ratio", 0.5)
precision_difference = _parity_metric("precision_difference", 0.0)
precision_ratio = _parity_metric("precision_ratio", 1.0)

PARITY = {
    metric.__name__: metric
    for metric in (
        demographic_parity_difference,
        demographic_parity_ratio,
        equal_opportunity_difference,
        equal_opportunity_ratio,
        equalized_odds_difference,
        false_positive_rate_difference,
        false_positive_rate_ratio,
        precision_difference,
        precision_ratio,
    )
}


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


def fairness_table(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> pd.Series:
    """Compute the rates of each group, their differences and PE.

    This is one row of the paper's table. Rows of several classifiers make a table:
    ``pd.DataFrame({"CAPE": fairness_table(...), ...}).T``.

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
    Series
        Indexed by metric and group. The metrics are "fpr", "fnr", "accuracy",
        "predicted_prevalence", "prevalence" and "pd" of each group. A rate is NaN where
        it is undefined, as the FPR of a group without negatives is. For the first
        three, the entry "difference" is the greatest value less the least, over the
        groups where the rate is defined; NaN if it is defined in one of them only. The
        entry ("pe", "worst pair") is the PE of the worst ordered pair of groups; see
        `proportional_equality_matrix` for all pairs.

    Examples
    --------
    >>> y_true, y_pred, z = [1, 0, 1, 0], [1, 1, 1, 0], ["a", "a", "b", "b"]
    >>> row = fairness_table(y_true, y_pred, sensitive_features=z)
    >>> row["fpr", "a"], row["fpr", "difference"], row["pe", "worst pair"]
    (np.float64(1.0), np.float64(1.0), np.float64(1.0))
    """
    import pandas as pd

    groups = confusion_by_group(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        pos_label=pos_label,
    )
    labels = list(group_labels(groups).values())
    # A list and not a dict: two groups may have the same label, or a group may be
    # called "difference", and all of them must stay in the table.
    entries: list[tuple[str, Any, float]] = []
    for metric, attribute in _TABLE.items():
        values = [getattr(confusion, attribute) for confusion in groups.values()]
        entries += [(metric, *entry) for entry in zip(labels, values, strict=True)]
        if metric in _WITH_DIFFERENCE:
            entries.append((metric, "difference", _spread(values)))
    entries.append(("pe", "worst pair", worst_pe_of_groups(groups)))

    metrics, labels_of_entries, numbers = zip(*entries, strict=True)
    names = ["metric", "group"]
    index = pd.MultiIndex.from_arrays([metrics, labels_of_entries], names=names)
    return pd.Series(numbers, index)


def _spread(values: list[float]) -> float:
    """Greatest value less the least, over the groups where it is defined."""
    # With any number of groups: no group is the reference for the others.
    defined = [value for value in values if not math.isnan(value)]
    # One group that is left of several cannot be compared: 0 would say "no difference".
    if len(defined) < min(len(values), 2):
        return float("nan")
    return max(defined) - min(defined)
