"""The fairness table: all metrics of one classifier as one row of the paper's table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from cape._groups import Group, group_labels
from cape.metrics._between import worst_pe_of_groups
from cape.metrics._rates import Confusion, confusion_by_group

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["fairness_table"]

# The name of a metric in the table, and the attribute of `Confusion` that holds it.
_RATES = {
    "fpr": "fpr",
    "fnr": "fnr",
    "accuracy": "accuracy",
    "predicted_prevalence": "predicted_prevalence",
    "prevalence": "prevalence",
    "pd": "prevalence_difference",
}
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
    entries: list[_Entry] = []
    for metric in _RATES:
        entries += _entries_of_metric(metric, groups)
    pe = worst_pe_of_groups(groups)
    entries.append(_Entry("pe", "worst pair", pe))

    metrics, labels, values = zip(*entries, strict=True)
    index = pd.MultiIndex.from_arrays([metrics, labels], names=["metric", "group"])
    return pd.Series(values, index)


class _Entry(NamedTuple):
    """One number of the table.

    Entries are a list and not a dict: two groups may have the same label, or a group
    may be called "difference", and all of them must stay in the table.
    """

    metric: str
    label: Any
    value: float


def _entries_of_metric(metric: str, groups: Mapping[Group, Confusion]) -> list[_Entry]:
    """One metric of every group, and the difference between groups if it has one."""
    entries = []
    labels = group_labels(groups)
    for group, confusion in groups.items():
        value = getattr(confusion, _RATES[metric])
        entries.append(_Entry(metric, labels[group], value))
    if metric in _WITH_DIFFERENCE:
        # With any number of groups: no group is the reference for the others.
        values = [entry.value for entry in entries]
        entries.append(_Entry(metric, "difference", _difference(values)))
    return entries


def _difference(values: list[float]) -> float:
    """Greatest value less the least, over the groups where it is defined."""
    defined = [value for value in values if not math.isnan(value)]
    # One group that is left of several cannot be compared: 0 would say "no difference".
    if len(defined) < min(len(values), 2):
        return float("nan")
    return max(defined) - min(defined)
