"""The fairness table with intervals: what the labels of a batch can say of each group, and how surely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from cape._groups import Group, check_groups, group_name
from cape._validation import check_prevalence, check_weights
from cape.metrics._rates import Confusion, confusion_by_group

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Audit", "Finding", "audit", "audit_counts", "wilson_interval"]

_FEWEST = 10
_WIDEST = 0.5
_MOST_GROUPS_COMPARED = 30


@dataclass(frozen=True)
class Finding:
    """One number of an audit with its interval.

    Parameters
    ----------
    metric : str
        "fpr", "fnr", "accuracy", "prevalence", "predicted_prevalence" or "pd" of a group; "pe", "fpr_difference",
        "fnr_difference", "accuracy_difference" or "predicted_prevalence_difference" of an ordered pair.
    group, other : group
        ``other`` is None unless it is of a pair.
    value : float
        NaN where it is undefined.
    low, high : float
    rows : int
        Behind the number: those of the denominator; of a pair, those of the group with fewer.
    enough : bool
        Whether it says anything: at least ten rows, and an interval no wider than 0.5 (not asked of "pe").
    """

    metric: str
    group: Group
    other: Group | None
    value: float
    low: float
    high: float
    rows: int
    enough: bool


@dataclass(frozen=True)
class Audit:
    """What `audit` found.

    Parameters
    ----------
    findings : tuple of Finding
        Of each group.
    between : tuple of Finding
        Of each ordered pair of groups.
    level : float
        Confidence level of the intervals.
    """

    findings: tuple[Finding, ...]
    between: tuple[Finding, ...]
    level: float

    def table(self) -> pd.DataFrame:
        """One row for each group and metric: value, low, high, rows, enough."""
        return _frame(self.findings, ["group", "metric"])

    def pairs(self) -> pd.DataFrame:
        """One row for each ordered pair of groups and metric: value, low, high, rows, enough."""
        return _frame(self.between, ["group", "other", "metric"])

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON can hold it; what is undefined is None."""
        return {
            "level": self.level,
            "groups": [_to_dict(finding) for finding in self.findings],
            "pairs": [_to_dict(finding) for finding in self.between],
        }

    def __repr__(self) -> str:
        lines = [f"Audit(level={self.level:g}"]
        lines += [f"  {_words(finding)}" for finding in (*self.findings, *self.between)]
        return "\n".join([*lines, ")"])


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
    """Rates, PD and PE of every group with intervals, and of every pair of groups.

    Rates have Wilson's interval. PD, PE and differences between groups have a bootstrap's, stratified by group: what is
    resampled is the confusion counts of a group, as a multinomial, so that it costs the same for any number of rows.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
    sensitive_features : array-like or table of n_samples rows
    sample_weight : array-like of shape (n_samples,), default=None
        Intervals count the rows that the weighted ones are worth, (sum w)^2 / sum w^2 of each group.
    pos_label : label, default=None
        None is the greater of the two labels.
    level : float in (0, 1), default=0.95
    n_resamples : int, default=2000
    pairs : bool, default=None
        Whether to compare every group with every other; None does so for up to 30 groups (870 ordered pairs).
    random_state : int, Generator or None, default=0

    Returns
    -------
    Audit
        ``table()`` and ``pairs()`` are DataFrames, ``to_dict()`` is for JSON.

    Examples
    --------
    >>> y, y_hat, z = [1, 0] * 50, [1, 1, 0, 0] * 25, ["a"] * 60 + ["b"] * 40
    >>> found = audit(y, y_hat, sensitive_features=z)
    >>> found.table().loc[("a", "fpr"), "value"], found.table().loc[("a", "fpr"), "rows"]
    (np.float64(0.5), np.int64(30))
    >>> found.pairs().loc[("a", "b", "pe"), "value"]
    np.float64(0.0)
    """
    groups = confusion_by_group(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        pos_label=pos_label,
    )
    worth = _rows_worth(sensitive_features, sample_weight, y_true)
    return audit_counts(
        groups,
        worth=worth,
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
    """`audit` from confusion counts, which add up over the parts of a file.

    Parameters
    ----------
    groups : mapping from group to Confusion
    worth : sequence of float, default=None
        Rows that the weighted rows of each group are worth; None is all of them.
    level : float in (0, 1), default=0.95
    n_resamples : int, default=2000
    pairs : bool, default=None
        As in `audit`.
    random_state : int, Generator or None, default=0

    Returns
    -------
    Audit

    Examples
    --------
    >>> found = audit_counts({"a": Confusion(tp=30, fp=10, fn=10, tn=50, rows=100)})
    >>> found.table().loc[("a", "accuracy"), "value"]
    np.float64(0.8)
    """
    check_prevalence("level", level, closed=False)
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples!r}.")
    worth = [c.total for c in groups.values()] if worth is None else worth
    random = np.random.default_rng(random_state)
    counts = [np.array([c.tp, c.fp, c.fn, c.tn]) for c in groups.values()]
    resampled = [
        _resample(c, n, n_resamples, random) for c, n in zip(counts, worth, strict=True)
    ]
    findings = [
        finding
        for (group, confusion), n, drawn in zip(
            groups.items(), worth, resampled, strict=True
        )
        for finding in _of_group(group, confusion, n, drawn, level)
    ]
    wanted = len(groups) <= _MOST_GROUPS_COMPARED if pairs is None else pairs
    between = [
        finding
        for one, other in (
            permutations(zip(groups.items(), resampled, strict=True), 2)
            if wanted
            else ()
        )
        for finding in _of_pair(one, other, level)
    ]
    return Audit(tuple(findings), tuple(between), level)


def wilson_interval(
    successes: Any, trials: Any, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's score interval of a share; [0, 1] where there are no trials.

    Examples
    --------
    >>> low, high = wilson_interval(0, 10)
    >>> round(float(low), 3), round(float(high), 3)
    (0.0, 0.278)
    """
    x, n = np.broadcast_arrays(
        np.asarray(successes, dtype=float), np.asarray(trials, dtype=float)
    )
    z2 = ndtri((1 + level) / 2) ** 2
    centre = (x + z2 / 2) / (n + z2)
    share = np.divide(x, n, out=np.full(x.shape, 0.5), where=n > 0)
    half = np.sqrt(z2) / (n + z2) * np.sqrt(n * share * (1 - share) + z2 / 4)
    low = np.where(x <= 0, 0.0, np.clip(centre - half, 0, 1))
    high = np.where(x >= n, 1.0, np.clip(centre + half, 0, 1))
    return low, high


class _Rates:
    """Rates of many resampled confusion tables at once; NaN where undefined."""

    def __init__(self, counts: np.ndarray):
        tp, fp, fn, tn = counts.T
        n = counts.sum(axis=1)
        self.fpr, self.fnr = _divide(fp, fp + tn), _divide(fn, fn + tp)
        self.accuracy = _divide(tp + tn, n)
        self.prevalence, self.predicted_prevalence = (
            _divide(tp + fn, n),
            _divide(tp + fp, n),
        )
        self.excess = self.predicted_prevalence - self.prevalence


_DIFFERENCES = ("fpr", "fnr", "accuracy", "predicted_prevalence")


def _of_group(
    group: Group, c: Confusion, worth: float, drawn: np.ndarray, level: float
) -> list[Finding]:
    scale = worth / c.total if c.total else 0.0
    shares = {
        "fpr": (c.fp, c.fp + c.tn),
        "fnr": (c.fn, c.fn + c.tp),
        "accuracy": (c.tp + c.tn, c.total),
        "prevalence": (c.tp + c.fn, c.total),
        "predicted_prevalence": (c.tp + c.fp, c.total),
    }
    found = []
    for metric, (part, whole) in shares.items():
        ends = wilson_interval(part * scale, whole * scale, level)
        value = part / whole if whole else float("nan")
        found.append(
            _finding(metric, group, None, value, *ends, _rows_behind(whole, c))
        )
    low, high = _folded(_Rates(drawn).excess, level)
    excess = c.prevalence_difference if c.total else float("nan")
    found.append(
        _finding("pd", group, None, excess, low, high, _rows_behind(c.total, c))
    )
    return found


def _of_pair(one: Any, other: Any, level: float) -> list[Finding]:
    ((z, c), drawn), ((z_, c_), drawn_) = one, other
    a, b = _Rates(drawn), _Rates(drawn_)
    value, value_ = (_Rates(np.array([[k.tp, k.fp, k.fn, k.tn]])) for k in (c, c_))
    pe = _pe(value, value_)[0]
    low, high = _folded(_pe(a, b), level, undefined=np.inf)
    found = [_finding("pe", z, z_, abs(pe), low, high, min(c.rows, c_.rows))]
    for rate in _DIFFERENCES:
        difference = getattr(value, rate)[0] - getattr(value_, rate)[0]
        low, high = _quantiles(getattr(a, rate) - getattr(b, rate), level, (-1.0, 1.0))
        rows = min(_rows_of_rate(rate, c), _rows_of_rate(rate, c_))
        found.append(
            _finding(f"{rate}_difference", z, z_, float(difference), low, high, rows)
        )
    return found


def _pe(a: _Rates, b: _Rates) -> np.ndarray:
    """PE of (a, b) before its absolute value is taken (equation 4 of the paper)."""
    return _divide(a.prevalence, b.prevalence) - _divide(
        a.predicted_prevalence, b.predicted_prevalence
    )


def _finding(metric, group, other, value, low, high, rows) -> Finding:
    enough = (
        rows >= _FEWEST
        and np.isfinite(value)
        and (metric == "pe" or high - low <= _WIDEST)
    )
    return Finding(
        metric,
        group,
        other,
        float(value),
        float(low),
        float(high),
        int(rows),
        bool(enough),
    )


def _resample(
    counts: np.ndarray, worth: float, n_resamples: int, random: np.random.Generator
) -> np.ndarray:
    n = max(round(worth), 1)
    total = counts.sum()
    if not total:
        return np.zeros((n_resamples, 4))
    return random.multinomial(n, counts / total, size=n_resamples).astype(float)


def _folded(
    signed: np.ndarray, level: float, undefined: float = 1.0
) -> tuple[float, float]:
    """Interval of an absolute value, from that of the signed one: it reaches 0 just where the sign is open."""
    low, high = _quantiles(signed, level, (-undefined, undefined))
    return (0.0 if low <= 0 <= high else min(abs(low), abs(high))), max(
        abs(low), abs(high)
    )


def _quantiles(
    values: np.ndarray, level: float, otherwise: tuple[float, float]
) -> tuple[float, float]:
    """The central ``level`` of resamples; ``otherwise`` when more of them are undefined than it leaves out."""
    defined = values[np.isfinite(values)]
    if len(defined) < level * len(values):
        return otherwise
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _rows_of_rate(rate: str, c: Confusion) -> int:
    whole = {"fpr": c.fp + c.tn, "fnr": c.fn + c.tp}.get(rate, c.total)
    return _rows_behind(whole, c)


def _rows_behind(whole: float, c: Confusion) -> int:
    """Rows in a denominator; of weighted rows, the share of the group's rows that its weight is."""
    return round(c.rows * whole / c.total) if c.total else 0


def _rows_worth(
    sensitive_features: Any, sample_weight: Any, y_true: Any
) -> list[float]:
    """Rows that each group's weighted rows are worth (Kish)."""
    groups = check_groups(sensitive_features)
    given = check_weights(sample_weight, np.asarray(y_true))
    weights = np.ones(len(groups)) if given is None else given
    total, squares = (
        np.bincount(groups.codes, weights=w, minlength=len(groups.keys))
        for w in (weights, weights**2)
    )
    return _divide(total**2, squares, 0.0).tolist()


def _divide(
    part: np.ndarray, whole: np.ndarray, undefined: float = np.nan
) -> np.ndarray:
    part, whole = np.asarray(part, dtype=float), np.asarray(whole, dtype=float)
    return np.divide(part, whole, out=np.full(part.shape, undefined), where=whole != 0)


def _frame(findings: tuple[Finding, ...], index: list[str]) -> pd.DataFrame:
    import pandas as pd

    columns = [
        name
        for name in Finding.__dataclass_fields__
        if name not in ("group", "other", "metric")
    ]
    rows = [[getattr(finding, column) for column in columns] for finding in findings]
    names = [
        tuple(_name(getattr(finding, level)) for level in index) for finding in findings
    ]
    frame = pd.DataFrame(rows, columns=columns)
    frame.index = (
        pd.MultiIndex.from_tuples(names, names=index)
        if names
        else pd.MultiIndex.from_arrays([[]] * len(index), names=index)
    )
    return frame


def _name(group: Any) -> Any:
    return group_name(group) if isinstance(group, tuple) else group


def _to_dict(finding: Finding) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "metric": finding.metric,
        "group": group_name(finding.group),
        **({} if finding.other is None else {"other": group_name(finding.other)}),
    }
    for name in ("value", "low", "high"):
        number = getattr(finding, name)
        entry[name] = number if np.isfinite(number) else None
    return {**entry, "rows": finding.rows, "enough": finding.enough}


def _words(f: Finding) -> str:
    whose = (
        group_name(f.group)
        if f.other is None
        else f"{group_name(f.group)} / {group_name(f.other)}"
    )
    doubt = "" if f.enough else " - too few rows to say"
    return f"{whose}: {f.metric} {f.value:.3f} ({f.low:.3f} to {f.high:.3f}), {f.rows} rows{doubt}"
