"""The fairness audit: metrics of groups and pairs of groups, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from cape._groups import Group, check_groups
from cape._validation import check_prevalence, check_weights
from cape.metrics._between import pe_of_prevalences
from cape.metrics._findings import Audit, Finding
from cape.metrics._intervals import (
    Interval,
    absolute_interval,
    central_interval,
    wilson_interval,
)
from cape.metrics._rates import FEWEST_ROWS, Confusion, confusion_by_group

__all__ = ["audit", "audit_counts"]

# 30 groups are 870 ordered pairs; more would be a table that nobody reads.
_MOST_GROUPS_COMPARED = 30

_RATES_WITH_DIFFERENCE = ("fpr", "fnr", "accuracy", "predicted_prevalence")


def audit(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    pairs: bool | None = None,
    random_state: Any = 0,
) -> Audit:
    """Compute rates, PD and PE of every group and every pair, with intervals.

    Rates have Wilson's interval. PD, PE and differences between groups have the central
    interval of draws from the posterior of each group's shares of true and false
    positives and negatives, under Jeffreys' prior. The cost does not depend on the
    number of rows. What rests on fewer than ten rows is marked: see `Finding.why`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_columns)
        Group of each row. With several columns a group is a combination of values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row. Intervals of weighted rows rest on Kish's effective number
        of rows of each group, (sum w)^2 / sum w^2.
    pos_label : label, default=None
        The positive label; None takes the greater of the two labels.
    level : float in (0, 1), default=0.95
        Confidence level of the intervals.
    n_resamples : int, default=2000
        Number of draws behind the intervals of PD, PE and differences.
    pairs : bool, default=None
        Whether to compare all ordered pairs of groups. None compares them if there are
        at most 30 groups (870 ordered pairs).
    random_state : int, Generator or None, default=0
        Seed of the draws.

    Returns
    -------
    Audit
        ``table()`` and ``pairs()`` are DataFrames, ``to_dict()`` is for JSON.

    Examples
    --------
    >>> y_true, y_pred = [1, 0] * 50, [1, 1, 0, 0] * 25
    >>> result = audit(y_true, y_pred, sensitive_features=["a"] * 60 + ["b"] * 40)
    >>> result.table().loc[("a", "fpr"), ["value", "rows"]].tolist()
    [0.5, 30.0]
    >>> result.pairs().loc[("a", "b", "pe"), "value"]
    np.float64(0.0)
    """
    groups = confusion_by_group(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        pos_label=pos_label,
    )
    effective_rows = _effective_rows(sensitive_features, sample_weight, y_true)
    return audit_counts(
        groups,
        worth=effective_rows,
        level=level,
        n_resamples=n_resamples,
        pairs=pairs,
        random_state=random_state,
    )


def audit_counts(
    groups: Mapping[Group, Confusion],
    *,
    worth: Sequence[float] | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    pairs: bool | None = None,
    random_state: Any = 0,
) -> Audit:
    """Compute the `audit` from confusion counts, which add up over parts of a file.

    Parameters
    ----------
    groups : mapping from group to Confusion
        Counts of every group, for example from `confusion_by_group`.
    worth : sequence of float of length n_groups, default=None
        Effective number of rows of each group. None takes the sum of its counts.
    level : float in (0, 1), default=0.95
        Confidence level of the intervals.
    n_resamples : int, default=2000
        Number of draws behind the intervals of PD, PE and differences.
    pairs : bool, default=None
        Whether to compare all ordered pairs of groups. None compares them if there are
        at most 30 groups (870 ordered pairs).
    random_state : int, Generator or None, default=0
        Seed of the draws.

    Returns
    -------
    Audit

    Raises
    ------
    ValueError
        If ``level`` is not in (0, 1) or ``n_resamples`` is below 1.

    Examples
    --------
    >>> counts = {"a": Confusion(tp=30, fp=10, fn=10, tn=50, rows=100)}
    >>> audit_counts(counts).table().loc[("a", "accuracy"), "value"]
    np.float64(0.8)
    """
    check_prevalence("level", level, closed=False)
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples!r}.")
    if worth is None:
        worth = [confusion.total for confusion in groups.values()]
    if pairs is None:
        pairs = len(groups) <= _MOST_GROUPS_COMPARED

    # Each group is drawn once, and its draws serve all pairs that it is in, so that
    # (a, b) mirrors (b, a).
    random = np.random.default_rng(random_state)
    audited = []
    for group, effective_rows in zip(groups, worth, strict=True):
        confusion = groups[group]
        draws = _draw_rates(confusion, effective_rows, n_resamples, random)
        audited.append(_AuditedGroup(group, confusion, effective_rows, draws))
    return _audit_of(audited, level, pairs)


def _audit_of(audited: list[_AuditedGroup], level: float, pairs: bool) -> Audit:
    """Findings of all groups and, if wanted, of all ordered pairs."""
    findings: list[Finding] = []
    for one in audited:
        findings += _findings_of_group(one, level)
    between: list[Finding] = []
    if pairs:
        for one, other in permutations(audited, 2):
            between += _findings_of_pair(one, other, level)
    return Audit(tuple(findings), tuple(between), level)


@dataclass(frozen=True)
class _Rates:
    """Rates of many confusion tables at once; NaN where a rate is undefined."""

    fpr: np.ndarray
    fnr: np.ndarray
    accuracy: np.ndarray
    prevalence: np.ndarray
    predicted_prevalence: np.ndarray

    @classmethod
    def of_counts(cls, counts: np.ndarray) -> _Rates:
        """Rates of ``counts``, of shape (n_tables, 4) in the order TP, FP, FN, TN."""
        tp, fp, fn, tn = counts.T
        total = counts.sum(axis=1)
        return cls(
            fpr=_divide(fp, fp + tn),
            fnr=_divide(fn, fn + tp),
            accuracy=_divide(tp + tn, total),
            prevalence=_divide(tp + fn, total),
            predicted_prevalence=_divide(tp + fp, total),
        )


@dataclass(frozen=True)
class _AuditedGroup:
    """One group: its counts, its effective number of rows and its drawn rates."""

    group: Group
    confusion: Confusion
    effective_rows: float
    draws: _Rates

    def observed(self) -> _Rates:
        """The rates of the counts themselves, undefined where `draws` would be."""
        return _Rates.of_counts(_as_array(self.confusion)[None, :])

    def rows_behind(self, rate: str) -> _RowsBehind:
        """Rows that the denominator of a rate counts.

        The FPR is a share of the negatives, the FNR of the positives, precision of the
        rows that are called positive, and every other rate of all rows.
        """
        confusion = self.confusion
        if not confusion.total:
            return _RowsBehind(0, 0.0)
        weight = confusion.total
        if rate == "fpr":
            weight = confusion.negatives
        elif rate == "fnr":
            weight = confusion.positives
        elif rate == "precision":
            weight = confusion.predicted_positives
        # Of weighted rows only the weight in the denominator is known, not the number.
        share = weight / confusion.total
        return _RowsBehind(round(confusion.rows * share), self.effective_rows * share)


class _RowsBehind(NamedTuple):
    """Number of rows behind a metric, and how many rows of equal weight they equal."""

    number: int
    effective: float

    def fewer(self, other: _RowsBehind) -> _RowsBehind:
        """Rows behind a comparison, which rests on the smaller of two numbers."""
        return _RowsBehind(
            min(self.number, other.number), min(self.effective, other.effective)
        )


def _findings_of_group(one: _AuditedGroup, level: float) -> list[Finding]:
    """Rates of a group with Wilson's intervals, and PD with that of its draws."""
    confusion = one.confusion
    # Weighted counts are scaled to the rows that they are worth, or an interval of rows
    # with weight 1000 would be as narrow as that of 1000 times as many rows.
    scale = 0.0
    if confusion.total:
        scale = one.effective_rows / confusion.total
    shares = {
        "fpr": (confusion.fp, confusion.negatives),
        "fnr": (confusion.fn, confusion.positives),
        "accuracy": (confusion.tp + confusion.tn, confusion.total),
        "precision": (confusion.tp, confusion.predicted_positives),
        "prevalence": (confusion.positives, confusion.total),
        "predicted_prevalence": (confusion.predicted_positives, confusion.total),
    }
    findings = []
    for metric, (part, whole) in shares.items():
        low, high = wilson_interval(part * scale, whole * scale, level)
        value = float("nan")
        if whole:
            value = part / whole
        interval = Interval(float(low), float(high))
        rows = one.rows_behind(metric)
        findings.append(_finding(metric, one.group, None, value, interval, rows))
    findings.append(_finding_of_pd(one, level))
    return findings


def _finding_of_pd(one: _AuditedGroup, level: float) -> Finding:
    """PD of a group; its interval reaches 0 where the sign of the excess is open."""
    observed = one.observed()
    # Equation (3) of the paper before the absolute value is taken.
    excess = observed.predicted_prevalence[0] - observed.prevalence[0]
    draws = one.draws.predicted_prevalence - one.draws.prevalence
    signed = central_interval(draws, level, value=excess, widest=Interval(-1.0, 1.0))
    interval = absolute_interval(signed)
    rows = one.rows_behind("pd")
    return _finding("pd", one.group, None, abs(excess), interval, rows)


def _findings_of_pair(
    one: _AuditedGroup, other: _AuditedGroup, level: float
) -> list[Finding]:
    """PE of an ordered pair, the differences of its rates, and the ratio of shares."""
    findings = [_finding_of_pe(one, other, level)]
    observed = one.observed()
    observed_of_other = other.observed()
    for rate in _RATES_WITH_DIFFERENCE:
        value = getattr(observed, rate)[0] - getattr(observed_of_other, rate)[0]
        draws = getattr(one.draws, rate) - getattr(other.draws, rate)
        widest = Interval(-1.0, 1.0)
        interval = central_interval(draws, level, value=value, widest=widest)
        rows = one.rows_behind(rate).fewer(other.rows_behind(rate))
        metric = f"{rate}_difference"
        finding = _finding(metric, one.group, other.group, value, interval, rows)
        findings.append(finding)
    findings.append(_finding_of_ratio(one, other, level))
    return findings


def _finding_of_pe(one: _AuditedGroup, other: _AuditedGroup, level: float) -> Finding:
    """PE of an ordered pair; it has no upper limit, and neither has its interval."""
    value = _pe(one.observed(), other.observed())[0]
    draws = _pe(one.draws, other.draws)
    widest = Interval(-np.inf, np.inf)
    signed = central_interval(draws, level, value=value, widest=widest)
    interval = absolute_interval(signed)
    rows = one.rows_behind("pe").fewer(other.rows_behind("pe"))
    return _finding("pe", one.group, other.group, abs(value), interval, rows)


def _finding_of_ratio(
    one: _AuditedGroup, other: _AuditedGroup, level: float
) -> Finding:
    """Ratio of the predicted prevalences of an ordered pair: 1 where they are equal.

    The four-fifths rule of the EEOC (29 CFR 1607.4 D) asks for 0.8 or more.
    """
    value = _ratio(one.observed(), other.observed())[0]
    draws = _ratio(one.draws, other.draws)
    widest = Interval(0.0, np.inf)
    interval = central_interval(draws, level, value=value, widest=widest)
    metric = "predicted_prevalence_ratio"
    rows = one.rows_behind(metric).fewer(other.rows_behind(metric))
    return _finding(metric, one.group, other.group, value, interval, rows)


def _ratio(one: _Rates, other: _Rates) -> np.ndarray:
    """Ratio of predicted prevalences; NaN where the other group has none."""
    return _divide(one.predicted_prevalence, other.predicted_prevalence)


def _pe(one: _Rates, other: _Rates) -> np.ndarray:
    """PE with its sign, which the interval needs."""
    return pe_of_prevalences(
        one.prevalence,
        other.prevalence,
        one.predicted_prevalence,
        other.predicted_prevalence,
        signed=True,
    )


def _finding(
    metric: str,
    group: Group,
    other: Group | None,
    value: float,
    interval: Interval,
    rows: _RowsBehind,
) -> Finding:
    """A finding, with the verdict whether it rests on enough rows."""
    # A hundred rows of which one has all the weight are worth one row. The sum of
    # weights, and so the effective number, may miss a whole number by rounding.
    effective = min(rows.number, rows.effective + 1e-9)
    enough = effective >= FEWEST_ROWS and np.isfinite(value)
    return Finding(
        metric=metric,
        group=group,
        other=other,
        value=float(value),
        low=interval.low,
        high=interval.high,
        rows=rows.number,
        enough=bool(enough),
    )


def _draw_rates(
    confusion: Confusion,
    effective_rows: float,
    n_draws: int,
    random: np.random.Generator,
) -> _Rates:
    """Rates of a group, drawn from their posterior under Jeffreys' prior.

    A bootstrap of one row has nothing to draw but that row, and says that it is sure.
    The posterior of the four shares is a Dirichlet distribution, which half a row in
    each cell keeps wide where rows are few. In particular an FPR is drawn from
    Jeffreys' posterior of a rate, Beta(FP + 1/2, TN + 1/2).
    """
    counts = _as_array(confusion)
    total = counts.sum()
    scale = 0.0
    if total:
        scale = effective_rows / total
    shares = random.dirichlet(counts * scale + 0.5, size=n_draws)
    return _Rates.of_counts(shares)


def _effective_rows(
    sensitive_features: Any, sample_weight: Any, y_true: Any
) -> list[float]:
    """Effective number of rows of each group, (sum w)^2 / sum w^2 (Kish 1965)."""
    groups = check_groups(sensitive_features)
    weights = check_weights(sample_weight, np.asarray(y_true))
    if weights is None:
        weights = np.ones(len(groups))
    n_groups = len(groups.keys)
    total = np.bincount(groups.codes, weights=weights, minlength=n_groups)
    squares = np.bincount(groups.codes, weights=weights**2, minlength=n_groups)
    # A group of weights that are all 0 is worth no rows.
    return np.nan_to_num(_divide(total**2, squares), nan=0.0).tolist()


def _as_array(confusion: Confusion) -> np.ndarray:
    """Counts in the order TP, FP, FN, TN."""
    return np.array([confusion.tp, confusion.fp, confusion.fn, confusion.tn])


def _divide(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Divide; NaN where ``whole`` is 0."""
    # `where` instead of a division by zero, whose warning is an error in our tests.
    part = np.asarray(part, dtype=float)
    whole = np.asarray(whole, dtype=float)
    undefined = np.full(part.shape, np.nan)
    return np.divide(part, whole, out=undefined, where=whole != 0)
