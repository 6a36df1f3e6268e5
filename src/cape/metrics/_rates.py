"""Per group: confusion counts, rates and prevalences. Every other metric is made from these."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from cape._groups import Group, check_groups, everyone
from cape._validation import (
    check_labels,
    check_same_length,
    check_weights,
    positive_label,
)

__all__ = ["Confusion", "confusion_by_group", "prevalence_difference"]


@dataclass(frozen=True)
class Confusion:
    """Confusion counts of one group, weighted if the rows are; and what follows from them.

    Examples
    --------
    >>> c = Confusion(tp=3, fp=1, fn=1, tn=5, rows=10)
    >>> c.accuracy, c.fpr, c.fnr, c.prevalence_difference
    (0.8, 0.16666666666666666, 0.25, 0.0)
    """

    tp: float
    fp: float
    fn: float
    tn: float
    rows: int

    def __add__(self, other: Confusion) -> Confusion:
        """Counts of both sets of rows together."""
        return Confusion(
            *(getattr(self, f.name) + getattr(other, f.name) for f in fields(self))
        )

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def prevalence(self) -> float:
        """Share of positives."""
        return _share(self.tp + self.fn, self.total)

    @property
    def predicted_prevalence(self) -> float:
        """Share predicted positive."""
        return _share(self.tp + self.fp, self.total)

    @property
    def prevalence_difference(self) -> float:
        """PD = |prevalence - predicted prevalence| = |FN - FP| / n (equation 3 of the paper)."""
        return _share(abs(self.fn - self.fp), self.total)

    @property
    def fpr(self) -> float:
        """False positive rate; 0 without negatives, as in scikit-learn and Fairlearn."""
        return _share(self.fp, self.fp + self.tn)

    @property
    def fnr(self) -> float:
        """False negative rate; 0 without positives."""
        return _share(self.fn, self.fn + self.tp)

    @property
    def accuracy(self) -> float:
        """Share predicted right."""
        return _share(self.tp + self.tn, self.total)


def confusion_by_group(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> dict[Group, Confusion]:
    """Confusion counts of each group.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Two labels between them.
    sensitive_features : array-like or table of n_samples rows, default=None
        None is one group.
    sample_weight : array-like of shape (n_samples,), default=None
    pos_label : label, default=None
        None is the greater of the two labels.

    Returns
    -------
    dict from group to Confusion

    Examples
    --------
    >>> confusion_by_group([0, 1, 1], [0, 1, 0], sensitive_features=["a", "a", "b"])["b"].fnr
    1.0
    """
    y_true, y_pred = check_labels(y_true, "y_true"), check_labels(y_pred, "y_pred")
    n = check_same_length(
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
    )
    if n == 0:
        raise ValueError("y_true must have at least one row, got 0.")
    groups = (
        everyone(n) if sensitive_features is None else check_groups(sensitive_features)
    )
    weights = (
        np.ones(n) if sample_weight is None else check_weights(sample_weight, y_true)
    )
    positive = positive_label(y_true, y_pred, pos_label=pos_label)
    cell = 2 * (y_true == positive) + (y_pred == positive)  # 0 TN, 1 FP, 2 FN, 3 TP
    counts = np.bincount(
        groups.codes.astype(np.int64) * 4 + cell,
        weights=weights,
        minlength=4 * len(groups.keys),
    ).reshape(-1, 4)
    rows = np.bincount(groups.codes)
    return {
        group: Confusion(tp=tp, fp=fp, fn=fn, tn=tn, rows=int(k))
        for group, (tn, fp, fn, tp), k in zip(
            groups.keys, counts.tolist(), rows, strict=True
        )
    }


def prevalence_difference(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, pos_label: Any = None
) -> float:
    """PD: how far predicted prevalence is from true prevalence. 0 is best, 1 worst.

    A plain metric of two columns, so Fairlearn's ``MetricFrame`` can take it apart by group.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), default=None
    pos_label : label, default=None
        None is the greater of the two labels.

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> prevalence_difference([0, 0, 1, 1], [0, 1, 1, 1])
    0.25
    """
    confusion = confusion_by_group(
        y_true, y_pred, sample_weight=sample_weight, pos_label=pos_label
    )
    return next(iter(confusion.values())).prevalence_difference


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
