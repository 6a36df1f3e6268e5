"""One row of the paper's results table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cape._groups import group_name
from cape.metrics._between import worst_pe
from cape.metrics._rates import confusion_by_group

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["fairness_table"]

_RATES = (
    "fpr",
    "fnr",
    "accuracy",
    "predicted_prevalence",
    "prevalence",
    "prevalence_difference",
)
_WITH_DIFFERENCE = ("fpr", "fnr", "accuracy")


def fairness_table(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> pd.Series:
    """FPR, FNR, accuracy, predicted prevalence and PD of each group, differences and PE: a row of the paper's table.

    Rows of several classifiers stack into a table: ``pd.DataFrame({"CAPE": fairness_table(...), ...}).T``.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
    sensitive_features : array-like or table of n_samples rows
    sample_weight : array-like of shape (n_samples,), default=None
    pos_label : label, default=None
        None is the greater of the two labels.

    Returns
    -------
    Series
        Indexed by metric and group; "difference" is the greatest less the least over the groups, and PE that of the
        worst ordered pair (see `proportional_equality_matrix` for all).

    Examples
    --------
    >>> row = fairness_table([1, 0, 1, 0], [1, 1, 1, 0], sensitive_features=["a", "a", "b", "b"])
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
    names = [
        group_name(group) if isinstance(group, tuple) else group for group in groups
    ]
    row: list[tuple[Any, Any, float]] = []
    for rate in _RATES:
        values = [getattr(confusion, rate) for confusion in groups.values()]
        row += [
            (_SHORT.get(rate, rate), name, value)
            for name, value in zip(names, values, strict=True)
        ]
        if rate in _WITH_DIFFERENCE:
            row.append((rate, "difference", max(values) - min(values)))
    row.append(("pe", "worst pair", worst_pe(groups)))
    metric, group, value = zip(*row, strict=True)
    return pd.Series(
        value, pd.MultiIndex.from_arrays([metric, group], names=["metric", "group"])
    )


_SHORT = {"prevalence_difference": "pd"}
