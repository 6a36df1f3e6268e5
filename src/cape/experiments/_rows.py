"""A row of the results table under the names of the paper's columns, and the mean of several."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from cape.metrics import confusion_by_group, proportional_equality_matrix

__all__ = ["DIFFERENCES", "RATES", "mean_and_sd", "result_row"]

RATES = {
    "fpr": "fpr",
    "fnr": "fnr",
    "accuracy": "accuracy",
    "predicted_prevalence": "predicted_prevalence",
    "pd": "prevalence_difference",
}
"""Columns of the paper's table that every group has, in order, and the property of `Confusion` behind each."""

DIFFERENCES = ("fpr", "fnr", "accuracy")
"""Columns that are followed by the difference between groups."""

Row = dict[str, float | None]


def result_row(
    y_true: Any, y_pred: Any, sensitive_features: Any, groups: Sequence[Any]
) -> Row:
    """FPR, FNR, accuracy, predicted prevalence and PD of each group, differences and PE.

    Keys are those of `published`: ``fpr_0`` is of the first of ``groups``. ``pe`` is of the worst ordered pair, and
    with two groups ``pe_01`` is the paper's; None where undefined.

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
        values = [float(getattr(counts[group], rate)) for group in groups]
        row |= {f"{short}_{z}": value for z, value in enumerate(values)}
        if short in DIFFERENCES:
            row[f"{short}_diff"] = max(values) - min(values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # undefined is told by None
        pairs = proportional_equality_matrix(
            y_true, y_pred, sensitive_features=sensitive_features, pos_label=1
        )
    ordered = pairs.loc[list(groups), list(groups)].to_numpy()
    row["pe"] = _defined(np.nan if np.isnan(ordered).any() else ordered.max())
    if len(groups) == 2:
        row["pe_01"] = _defined(ordered[0, 1])
    return row


def mean_and_sd(rows: Sequence[Row]) -> tuple[Row, Row]:
    """Mean and standard deviation over repetitions; a column that is undefined in any is undefined.

    Examples
    --------
    >>> mean_and_sd([{"pd_0": 1.0, "pe": None}, {"pd_0": 3.0, "pe": 0.2}])[0]
    {'pd_0': 2.0, 'pe': None}
    """
    mean: Row = {}
    sd: Row = {}
    for column in rows[0]:
        values = [row[column] for row in rows]
        known = [value for value in values if value is not None]
        defined = len(known) == len(values)
        mean[column] = float(np.mean(known)) if defined else None
        sd[column] = (
            float(np.std(known, ddof=1))
            if defined and len(known) > 1
            else (0.0 if defined else None)
        )
    return mean, sd


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
