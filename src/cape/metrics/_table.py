"""The fairness table: all metrics of one classifier as one row of the paper's table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cape.metrics._between import worst_pe_of_groups
from cape.metrics._rates import confusion_by_group, index_label

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
        "predicted_prevalence", "prevalence" and "pd" of each group. For the first
        three, the entry "difference" is the greatest value less the least. The entry
        ("pe", "worst pair") is the PE of the worst ordered pair of groups; see
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
    # Lists and not a dict: two groups may have the same label, or be called
    # "difference", and both must stay in the table.
    index: list[tuple[str, Any]] = []
    values: list[float] = []
    for metric, attribute in _RATES.items():
        rates = [getattr(confusion, attribute) for confusion in groups.values()]
        index += [(metric, index_label(group)) for group in groups]
        values += rates
        if metric in _WITH_DIFFERENCE:
            index.append((metric, "difference"))
            values.append(max(rates) - min(rates))
    index.append(("pe", "worst pair"))
    values.append(worst_pe_of_groups(groups))
    names = ["metric", "group"]
    return pd.Series(values, pd.MultiIndex.from_tuples(index, names=names))
