"""A row of the results table under the names of the paper's columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cape.metrics import (
    confusion_by_group,
    demographic_parity_difference,
    demographic_parity_ratio,
    equalized_odds_difference,
    precision_difference,
    proportional_equality_matrix,
)

__all__ = [
    "DIFFERENCES",
    "PARITY",
    "RATES",
    "Results",
    "Row",
    "Summary",
    "mean_and_sd",
    "result_row",
]

Results = dict[str, Any]
"""Numbers of a run, or a part of them, as JSON can hold them."""

RATES = {
    "fpr": "fpr",
    "fnr": "fnr",
    "accuracy": "accuracy",
    "predicted_prevalence": "predicted_prevalence",
    "pd": "prevalence_difference",
}
"""Columns of every group in the paper's order, and the properties of `Confusion`."""

DIFFERENCES = ("fpr", "fnr", "accuracy")
"""Columns that are followed by the difference between groups."""

PARITY = {
    "demographic_parity_difference": demographic_parity_difference,
    "demographic_parity_ratio": demographic_parity_ratio,
    "equalized_odds_difference": equalized_odds_difference,
    "precision_difference": precision_difference,
}
"""Columns of criteria that the paper does not have, and their metrics.

The differences of TPR and of FPR are those of the columns fnr_diff and fpr_diff.
"""

Row = dict[str, float | None]
"""Values by the names of columns; None where a value is undefined."""


class Summary(NamedTuple):
    """Mean and standard deviation of every column over repetitions.

    Parameters
    ----------
    mean, sd : dict
        Values by the names of columns.
    """

    mean: Row
    sd: Row


def result_row(
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    groups: Sequence[Any],
) -> Row:
    """Compute a row of the results table.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels and predictions, 0 and 1.
    sensitive_features : array-like of shape (n_samples,)
        The group of each row.
    groups : sequence
        Groups in the order of the table.

    Returns
    -------
    dict
        FPR, FNR, accuracy, predicted prevalence and PD of every group, differences
        between groups, PE, and the metrics of `PARITY`. Keys are those of `published`:
        ``fpr_0`` belongs to the first of ``groups``. ``pe`` is the PE of the worst
        ordered pair; with two groups ``pe_01`` is the paper's PE. What is undefined is
        None.

    Examples
    --------
    >>> row = result_row([1, 0, 1, 0], [1, 1, 1, 0], ["a", "a", "b", "b"], ["a", "b"])
    >>> row["fpr_0"], row["fpr_diff"], row["pe_01"]
    (1.0, 1.0, 1.0)
    """
    counts = confusion_by_group(
        y_true, y_pred, sensitive_features=sensitive_features, pos_label=1
    )
    row: Row = {}
    for short, rate in RATES.items():
        values = []
        for z, group in enumerate(groups):
            value = float(getattr(counts[group], rate))
            row[f"{short}_{z}"] = value
            values.append(value)
        if short in DIFFERENCES:
            # With more than two groups: between the two that are farthest apart.
            row[f"{short}_diff"] = max(values) - min(values)
    pe_columns = _pe_columns(y_true, y_pred, sensitive_features, list(groups))
    parity_columns = _parity_columns(y_true, y_pred, sensitive_features)
    return {**row, **pe_columns, **parity_columns}


def _parity_columns(y_true: Any, y_pred: Any, sensitive_features: Any) -> Row:
    """Compute every metric of `PARITY`; None where it is undefined."""
    columns = {}
    with warnings.catch_warnings():
        # The warning names groups without rows to compute a rate from.
        warnings.simplefilter("ignore")
        for name, metric in PARITY.items():
            value = metric(
                y_true, y_pred, sensitive_features=sensitive_features, pos_label=1
            )
            columns[name] = _none_if_nan(value)
    return columns


def _pe_columns(
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    groups: list[Any],
) -> Row:
    """Compute PE of the worst ordered pair, and with two groups that of the paper."""
    with warnings.catch_warnings():
        # The warning says that PE is undefined; the row says so by None.
        warnings.simplefilter("ignore")
        matrix = proportional_equality_matrix(
            y_true, y_pred, sensitive_features=sensitive_features, pos_label=1
        )
    pairs = matrix.loc[groups, groups].to_numpy()
    # `max` of an array with a NaN is NaN: one undefined pair makes the worst undefined.
    columns = {"pe": _none_if_nan(pairs.max())}
    if len(groups) == 2:
        columns["pe_01"] = _none_if_nan(pairs[0, 1])
    return columns


def mean_and_sd(rows: Sequence[Row]) -> Summary:
    """Average rows over repetitions.

    Parameters
    ----------
    rows : sequence of dict
        Rows with the same columns, at least one.

    Returns
    -------
    Summary
        A column that is undefined in any repetition is undefined. The standard
        deviation of a single row is 0.

    Examples
    --------
    >>> mean_and_sd([{"pd_0": 1.0, "pe": None}, {"pd_0": 3.0, "pe": 0.2}]).mean
    {'pd_0': 2.0, 'pe': None}
    """
    mean: Row = {}
    sd: Row = {}
    for column in rows[0]:
        values = [row[column] for row in rows]
        if None in values:
            mean[column] = None
            sd[column] = None
        else:
            numbers = np.array(values, dtype=float)
            mean[column] = float(np.mean(numbers))
            sd[column] = _standard_deviation(numbers)
    return Summary(mean, sd)


def _standard_deviation(values: np.ndarray) -> float:
    """Estimate the spread over seeds from a sample of them."""
    if len(values) == 1:
        # ddof=1 would give NaN, which JSON cannot hold.
        return 0.0
    return float(np.std(values, ddof=1))


def _none_if_nan(value: float) -> float | None:
    """Make an undefined number one that JSON can hold."""
    if np.isnan(value):
        return None
    return float(value)
