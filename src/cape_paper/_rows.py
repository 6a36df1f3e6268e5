"""A row of the results table under the names of the paper's columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from cape import metrics

RATES = ("fpr", "fnr", "accuracy", "predicted_prevalence", "pd")
"""Columns of every group, in the paper's order."""

DIFFERENCES = ("fpr", "fnr", "accuracy")
"""Columns that are followed by the difference between groups."""

PARITY = {
    "demographic_parity_difference": metrics.demographic_parity_difference,
    "demographic_parity_ratio": metrics.demographic_parity_ratio,
    "equalized_odds_difference": metrics.equalized_odds_difference,
    "precision_difference": metrics.precision_difference,
}
"""Columns of criteria that the paper does not have, and their metrics.

The differences of TPR and of FPR are those of the columns fnr_diff and fpr_diff.
"""

Row = dict[str, float | None]
"""Values by the names of columns; None where a value is undefined."""


def result_row(y_true: Any, y_pred: Any, z: Any, groups: Sequence[Any]) -> Row:
    """Compute a row of the results table.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels and predictions, 0 and 1.
    z : array-like of shape (n_samples,)
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
    with warnings.catch_warnings():
        # A warning says that a number is undefined; the row says so by None.
        warnings.simplefilter("ignore")
        judged = {"sensitive_features": z, "pos_label": 1}
        table = metrics.fairness_table(y_true, y_pred, **judged)
        parity = {}
        for name, metric in PARITY.items():
            parity[name] = metric(y_true, y_pred, **judged)
    values = {}
    for rate in RATES:
        for place, group in enumerate(groups):
            values[f"{rate}_{place}"] = table[rate, group]
        if rate in DIFFERENCES:
            # With more than two groups: between the two that are farthest apart.
            values[f"{rate}_diff"] = table[rate, "difference"]
    pairs = _ratios(table["prevalence"], groups)
    pairs = abs(pairs - _ratios(table["predicted_prevalence"], groups))
    # `max` of an array with a NaN is NaN: one undefined pair makes the worst undefined.
    values["pe"] = pairs.max()
    if len(groups) == 2:
        values["pe_01"] = pairs[0, 1]
    return {name: _none_if_nan(value) for name, value in (values | parity).items()}


def _ratios(shares: Any, groups: Sequence[Any]) -> np.ndarray:
    """Divide the share of each group by that of each; NaN where it is 0."""
    of_groups = np.array([shares[group] for group in groups])
    divisors = np.where(of_groups == 0, np.nan, of_groups)
    return of_groups[:, None] / divisors


def mean_and_sd(rows: Sequence[Row]) -> tuple[Row, Row]:
    """Average rows over repetitions.

    Parameters
    ----------
    rows : sequence of dict
        Rows with the same columns, at least one.

    Returns
    -------
    mean, sd : dict
        A column that is undefined in any repetition is undefined. The standard
        deviation of a single row is 0.

    Examples
    --------
    >>> mean_and_sd([{"pd_0": 1.0, "pe": None}, {"pd_0": 3.0, "pe": 0.2}])[0]
    {'pd_0': 2.0, 'pe': None}
    """
    mean: Row = {}
    sd: Row = {}
    for column in rows[0]:
        # None becomes NaN, which spreads to the mean.
        values = np.array([row[column] for row in rows], dtype=float)
        mean[column] = _none_if_nan(values.mean())
        sd[column] = _none_if_nan(values.std(ddof=min(1, len(values) - 1)))
    return mean, sd


def _none_if_nan(value: float) -> float | None:
    """Make an undefined number one that JSON can hold."""
    return None if np.isnan(value) else float(value)
