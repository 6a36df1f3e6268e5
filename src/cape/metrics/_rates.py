"""Confusion counts, rates and prevalences of each group, and intervals of rates.

The metrics between groups, the fairness table and the audit are computed from these
counts. Counts of parts of the data add up to the counts of the whole.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from cape.base._estimate import Estimate
from cape.base._groups import Group, check_groups, everyone
from cape.base._validation import (
    check_labels,
    check_same_length,
    check_weights,
    positive_label,
    short_errors,
)

# A rate that rests on fewer rows says nothing (docs/design.md, decision 11): at ten
# rows Wilson's 95 % interval of a rate of 1/2 is 0.53 wide, at two rows 0.81. Members
# of a pool, groups of an audit and pairs of groups are all held to this number.
FEWEST_ROWS = 10
"""Fewest rows that a rate, PD or PE may rest on; below, there is no value."""

RATES = {
    "fpr": ("fp", "negatives"),
    "fnr": ("fn", "positives"),
    "accuracy": ("correct", "total"),
    "precision": ("tp", "predicted_positives"),
    "prevalence": ("positives", "total"),
    "predicted_prevalence": ("predicted_positives", "total"),
}
"""Rates of an audit, and the counts of `Confusion` that they divide."""


def _share(part: str, whole: str) -> Any:
    """Make a rate of `Confusion` from the names of two counts."""

    def share(self: Confusion) -> float:
        return divide(getattr(self, part), getattr(self, whole))

    return property(share, doc=f"``{part}`` / ``{whole}``; NaN if ``{whole}`` is 0.")


@dataclass(frozen=True)
class Confusion:
    """Confusion counts of one group, and the rates that follow from them.

    A rate is NaN where it is undefined, which is where its denominator counts no rows.
    Counts are sums of weights if the rows are weighted, and may be arrays of as many
    tables. ``+`` adds the counts of two sets of rows.

    Parameters
    ----------
    tp, fp, fn, tn : float
        True positives, false positives, false negatives and true negatives.
    rows : int
        Number of rows, whatever their weights.

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
        """Counts of both sets of rows."""
        return Confusion(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    @property
    def positives(self) -> float:
        """Weight of the rows whose true label is positive."""
        return self.tp + self.fn

    @property
    def negatives(self) -> float:
        """Weight of the rows whose true label is negative."""
        return self.fp + self.tn

    @property
    def predicted_positives(self) -> float:
        """Weight of the rows that are predicted positive."""
        return self.tp + self.fp

    @property
    def correct(self) -> float:
        """Weight of the rows whose label is predicted."""
        return self.tp + self.tn

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def prevalence_difference(self) -> float:
        """PD, the distance of predicted from true prevalence; 0 is best, 1 is worst."""
        # abs(rho - rhohat) = abs(FN - FP) / n, equation (3) of the paper.
        return divide(abs(self.fn - self.fp), self.total)

    prevalence = _share("positives", "total")
    predicted_prevalence = _share("predicted_positives", "total")
    accuracy = _share("correct", "total")
    tpr = _share("tp", "positives")
    fnr = _share("fn", "positives")
    fpr = _share("fp", "negatives")
    precision = _share("tp", "predicted_positives")


@short_errors()
def confusion_by_group(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> dict[Group, Confusion]:
    """Count true and false positives and negatives of each group.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, which hold two distinct labels between them.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_columns), \
default=None
        Group of each row. With several columns a group is a combination of values.
        None puts all rows into one group, called "everyone".
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    pos_label : label, default=None
        The positive label; None takes the greater of the two labels, in their own order
        if they are an ordered ``pandas.Categorical``.

    Returns
    -------
    dict from group to Confusion
        Groups are sorted.

    Raises
    ------
    ValueError
        If there are no rows, more than two labels, text and numbers, missing labels or
        groups, negative weights, or columns of different lengths or orders.

    Examples
    --------
    >>> counts = confusion_by_group([0, 1], [0, 0], sensitive_features=["a", "b"])
    >>> counts["b"].fnr
    1.0
    """
    truth, order = check_labels(y_true, "y_true")
    predicted, order_of_predictions = check_labels(y_pred, "y_pred")
    n_rows = check_same_length(
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
    )
    # Without rows there is no label to tell the positive class by.
    if n_rows == 0:
        raise ValueError("y_true must have at least one row, got 0.")
    groups = everyone(n_rows)
    if sensitive_features is not None:
        groups = check_groups(sensitive_features)
    weights = check_weights(sample_weight, truth)
    positive = positive_label(
        truth, predicted, pos_label=pos_label, order=order or order_of_predictions
    )
    cell = 2 * (truth == positive) + (predicted == positive)  # 0 TN, 1 FP, 2 FN, 3 TP
    # Counting the pairs of group and cell takes one pass for any number of groups.
    # int64: codes of few groups are int8, which 4 * code would overflow.
    n_groups = len(groups.keys)
    group_and_cell = 4 * groups.codes.astype(np.int64) + cell
    counts = np.bincount(group_and_cell, weights=weights, minlength=4 * n_groups)
    counts = counts.astype(float).reshape(n_groups, 4)
    rows = np.bincount(groups.codes, minlength=n_groups)

    confusions = {}
    for code, group in enumerate(groups.keys):
        tn, fp, fn, tp = counts[code].tolist()
        confusions[group] = Confusion(tp=tp, fp=fp, fn=fn, tn=tn, rows=int(rows[code]))
    return confusions


def prevalence_difference(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, pos_label: Any = None
) -> float:
    """Compute PD, the distance between predicted and true prevalence.

    PD = abs(rho - rhohat), equation (3) of the paper. 0 is best and 1 is worst. The
    function takes no groups, so that Fairlearn's ``MetricFrame`` can apply it to each
    group.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    pos_label : label, default=None
        The positive label; None takes the greater of the two labels.

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> prevalence_difference([0, 0, 1, 1], [0, 1, 1, 1])
    0.25
    """
    groups = confusion_by_group(
        y_true, y_pred, sample_weight=sample_weight, pos_label=pos_label
    )
    # Without sensitive features there is one group.
    (confusion,) = groups.values()
    return confusion.prevalence_difference


def divide(part: Any, whole: Any) -> Any:
    """Divide numbers or arrays; NaN where there is nothing to take a share of."""
    # scikit-learn and Fairlearn return 0, which would be the best of all error rates.
    if np.ndim(part) == np.ndim(whole) == 0:
        return float(part) / float(whole) if whole else float("nan")
    undefined = np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), np.nan)
    return np.divide(part, whole, out=undefined, where=np.not_equal(whole, 0))


def wilson_interval(
    successes: Any, trials: Any, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Compute Wilson's score interval of a share.

    Parameters
    ----------
    successes, trials : float or array-like
        Number of successes and number of trials, broadcast against each other. They
        need not be whole: weighted rows are worth fractions of rows.
    level : float in (0, 1), default=0.95
        Confidence level.

    Returns
    -------
    low, high : ndarray
        Ends of the interval; 0 and 1 where there are no trials.

    References
    ----------
    Wilson, E. B. (1927). "Probable inference, the law of succession, and statistical
    inference". Journal of the American Statistical Association 22, 209-212.

    Examples
    --------
    >>> low, high = wilson_interval(0, 10)
    >>> round(float(low), 3), round(float(high), 3)
    (0.0, 0.278)
    """
    successes = np.asarray(successes, dtype=float)
    trials = np.asarray(trials, dtype=float)
    x, n = np.broadcast_arrays(successes, trials)
    z = ndtri((1 + level) / 2)
    z2 = z**2

    # Wilson (1927): the shares p that a score test with |p - x/n| < z sqrt(p(1-p)/n)
    # does not reject.
    centre = (x + z2 / 2) / (n + z2)
    one_half = np.full(x.shape, 0.5)
    share = np.divide(x, n, out=one_half, where=n > 0)
    variance = n * share * (1 - share)
    scale = np.sqrt(z2) / (n + z2)
    half_width = scale * np.sqrt(variance + z2 / 4)

    low = np.clip(centre - half_width, 0, 1)
    high = np.clip(centre + half_width, 0, 1)
    # Without a success the interval begins at 0; rounding would leave 1e-17.
    low = np.where(x <= 0, 0.0, low)
    high = np.where(x >= n, 1.0, high)
    return low, high


def estimate_of_draws(
    value: float,
    draws: np.ndarray,
    level: float,
    *,
    lowest: float,
    highest: float,
    absolute: bool = False,
) -> Estimate:
    """Central interval of draws, stretched to hold the observed value.

    Parameters
    ----------
    value : float
        Observed value. It may lie at the end of what is possible, which draws only
        approach.
    draws : ndarray of shape (n_draws,)
        Drawn values.
    level : float in (0, 1)
        Confidence level.
    lowest, highest : float
        All values that are possible: the interval of an undefined value, NaN.
    absolute : bool, default=False
        Whether to return the absolute value. Draws of it would never reach 0, however
        uncertain the sign; the interval reaches 0 exactly where that of the signed
        value holds 0.

    Returns
    -------
    Estimate
    """
    low, high = lowest, highest
    if not np.isnan(value):
        low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
        low, high = float(min(low, value)), float(max(high, value))
    if absolute:
        low, high = fold(low, high)
        value = abs(value)
    return Estimate(float(value), low, high)


def fold(low: float, high: float) -> tuple[float, float]:
    """Return the interval of an absolute value from that of the signed value."""
    holds_zero = low <= 0 <= high
    low, high = sorted([abs(low), abs(high)])
    return 0.0 if holds_zero else low, high
