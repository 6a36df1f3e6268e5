"""The fairness audit: metrics of groups and pairs of groups, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from cape.base._estimate import Estimate
from cape.base._groups import Group, check_groups, group_labels, unique_names
from cape.base._json_fields import strict_json
from cape.base._validation import check_prevalence, check_weights
from cape.metrics._between import pe_of_prevalences
from cape.metrics._rates import (
    FEWEST_ROWS,
    RATES,
    Confusion,
    confusion_by_group,
    divide,
    estimate_of_draws,
    wilson_interval,
)
from cape.shown import _plot
from cape.shown._audit import RATE_NAMES, audit_title, shares_title, worst_lines
from cape.shown._notebook import InNotebook

# 30 groups are 870 ordered pairs; more would be a table that nobody reads.
_MOST_GROUPS_COMPARED = 30

_COMPARED = ("pd", "fpr_difference", "fnr_difference")


@dataclass(frozen=True)
class Finding:
    """One metric of a group, or of an ordered pair of groups, with its interval.

    Parameters
    ----------
    metric : str
        Of a group: "fpr", "fnr", "accuracy", "precision", "prevalence",
        "predicted_prevalence" or "pd". Of an ordered pair: "pe", "fpr_difference",
        "fnr_difference", "accuracy_difference", "predicted_prevalence_difference" or
        "predicted_prevalence_ratio".
    group : group
        The group, or the first group of the pair.
    other : group or None
        The second group of the pair; None for the metric of a single group.
    estimate : Estimate
        The value, NaN where the metric is undefined, and its interval.
    rows : int
        Rows in the denominator of the metric; for a pair, those of the group that has
        fewer.
    enough : bool
        Whether the value is defined and rests on at least ten rows, which weighted rows
        must be worth. What rests on fewer rows is never the worst of a headline.

    Examples
    --------
    >>> from cape import Estimate
    >>> finding = Finding("fpr", "a", None, Estimate(0.1, 0.05, 0.2), 90, enough=True)
    >>> finding.estimate.high
    0.2
    """

    metric: str
    group: Group
    other: Group | None
    estimate: Estimate
    rows: int
    enough: bool

    @property
    def why(self) -> str | None:
        """Why the value says nothing: "undefined", "too few rows", or None."""
        if self.enough:
            return None
        # One person compared with one person is a matter of rows, even where the
        # ratio of the two is undefined as well.
        undefined = np.isnan(self.estimate.value)
        if self.rows == 0 or (undefined and self.rows >= FEWEST_ROWS):
            return "undefined"
        return "too few rows"

    def to_dict(self, names: Mapping[Group, str]) -> dict[str, Any]:
        """Return the finding as JSON can hold it, which has neither NaN nor infinity.

        Parameters
        ----------
        names : mapping from group to str
            What the groups are called.

        Returns
        -------
        dict
            See `Audit.to_dict`.
        """
        entry: dict[str, Any] = {"metric": self.metric, "group": names[self.group]}
        if self.other is not None:
            entry["other"] = names[self.other]
        entry |= strict_json(self.estimate._asdict())
        # A rate of two rows would be read, sorted and plotted as any other.
        if not self.enough:
            entry["value"] = None
        return {**entry, "rows": self.rows, "enough": self.enough, "why": self.why}


@dataclass(frozen=True, repr=False)
class Audit(InNotebook):
    """Metrics of every group and of every ordered pair of groups, with intervals.

    `audit` makes it.

    Parameters
    ----------
    findings : tuple of Finding
        Metrics of single groups.
    between : tuple of Finding
        Metrics of ordered pairs of groups.
    level : float
        Confidence level of the intervals.

    Examples
    --------
    >>> from cape import Estimate
    >>> finding = Finding("fpr", "a", None, Estimate(0.1, 0.05, 0.2), 90, enough=True)
    >>> Audit((finding,), (), level=0.95)
    Audit of 1 group, with 95% intervals
    group rows                     FPR
    a       90  0.100 (0.050 to 0.200)
    """

    findings: tuple[Finding, ...]
    between: tuple[Finding, ...]
    level: float

    def table(self) -> pd.DataFrame:
        """Metrics of single groups.

        Returns
        -------
        DataFrame
            Indexed by group and metric, with the columns value, low, high, rows and
            enough.
        """
        return _frame(self.findings, ["group", "metric"])

    def pairs(self) -> pd.DataFrame:
        """Metrics of ordered pairs of groups.

        Returns
        -------
        DataFrame
            Indexed by group, other and metric, with the columns value, low, high, rows
            and enough.
        """
        return _frame(self.between, ["group", "other", "metric"])

    def worst_pairs(self) -> dict[str, Finding]:
        """Find, for each metric, the pair with the largest difference beyond doubt.

        Pairs are ranked by the end of their interval that is nearer to equality,
        because the greatest value often comes from a dozen rows and says nothing.

        Returns
        -------
        dict from str to Finding
            By metric. Pairs with too few rows are left out.
        """

        def badness(finding: Finding) -> tuple[float, float]:
            value, low, high = finding.estimate
            if finding.metric.endswith("_ratio"):
                value, low = 1 - value, 1 - high
            # Of a pair in both orders, one is above the other, or both are equal.
            return (low, value) if value > 0 else (-np.inf, 0.0)

        compared: dict[str, list[Finding]] = {}
        for finding in self.between:
            # Others are undefined, or compare one person with another.
            if finding.enough:
                compared.setdefault(finding.metric, []).append(finding)
        return {metric: max(pairs, key=badness) for metric, pairs in compared.items()}

    def differences(self) -> list[Finding]:
        """Find what differs by more than chance, the clearest difference first.

        It compares the predicted and the true share of each group ("pd"), and the FPR
        and the FNR of every two groups. It does not compare the predicted shares of two
        groups, which differ where true shares do.

        An interval of k comparisons holds for all of them together (Bonferroni): the
        distance from a difference d to the end of its own interval, d - low, is
        multiplied by z(k) / z(1), where z(k) is the normal quantile at
        1 - (1 - level) / (2 k). If the rest of d, d - (d - low) z(k) / z(1), is above
        0, the difference is a finding; findings are sorted by this rest. If predictions
        follow the labels equally well in all groups, an audit finds nothing with
        probability ``level`` or more.

        Returns
        -------
        list of Finding
            Those of "pd" first, then those between groups; with the wider intervals.
        """
        compared = [
            finding
            for finding in (*self.findings, *self.between)
            if finding.metric in _COMPARED and finding.enough
        ]
        # Pairs come in both orders, of which one has a low end below 0.
        n = sum(0.5 if finding.other is not None else 1 for finding in compared)
        tails = np.array([(1 - self.level) / max(n, 1), 1 - self.level]) / 2
        wider, plain = norm.isf(tails)
        found = []
        for finding in compared:
            value, low, high = finding.estimate
            low = value - (value - low) * wider / plain
            high = value + (high - value) * wider / plain
            if low > 0:
                found.append(replace(finding, estimate=Estimate(value, low, high)))
        found.sort(key=lambda one: (one.metric != "pd", -one.estimate.low))
        return found

    def plot(self) -> Any:
        """Draw the predicted against the true share of each group; needs altair.

        Returns
        -------
        altair chart
        """
        return _plot.moved(
            self._shares(),
            title=shares_title(self.level),
            now="share predicted positive",
            compared="share labeled positive",
        )

    def to_dict(self, names: Mapping[Group, str] | None = None) -> dict[str, Any]:
        """Return the audit as a dict that JSON can hold.

        Parameters
        ----------
        names : mapping from group to str, default=None
            What the groups are called where they stand beside groups without labels.

        Returns
        -------
        dict
            "level", "groups" and "pairs". A value that means nothing is None, with the
            reason in the entry "why": "too few rows" or "undefined". Ends of intervals
            that are not finite are None.
        """
        if names is None:
            names = self.names
        return {
            "level": self.level,
            "groups": [finding.to_dict(names) for finding in self.findings],
            "pairs": [finding.to_dict(names) for finding in self.between],
        }

    @property
    def names(self) -> dict[Group, str]:
        """The name of each group; no two are alike."""
        return unique_names(finding.group for finding in self.findings)

    def _by_group(self) -> dict[Group, dict[str, Finding]]:
        """Findings of each group, by metric."""
        by_group: dict[Group, dict[str, Finding]] = {}
        for finding in self.findings:
            by_group.setdefault(finding.group, {})[finding.metric] = finding
        return by_group

    def _shares(self) -> pd.DataFrame:
        """Return the numbers of the picture."""
        names = self.names
        shares = {
            "predicted_prevalence": ("now", "low", "high"),
            "prevalence": ("compared", "compared_low", "compared_high"),
        }
        rows = []
        for group, findings in self._by_group().items():
            row: dict[str, Any] = {"group": names[group], "rows": _most_rows(findings)}
            for metric, (name, low, high) in shares.items():
                finding = findings[metric]
                row |= zip((name, low, high), finding.estimate, strict=True)
                if not finding.enough:
                    # A share of two rows would be seen as any other.
                    row[name] = np.nan
            rows.append(row)
        return pd.DataFrame(rows)

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        by_group = self._by_group()
        rows = []
        for findings in by_group.values():
            row: dict[str, Any] = {"rows": _most_rows(findings)}
            for metric, name in RATE_NAMES.items():
                if metric in findings:
                    finding = findings[metric]
                    value: Any = finding.why or finding.estimate.value
                    row[name] = finding.estimate._replace(value=value)
            rows.append(row)
        title = audit_title(len(by_group), self.level)
        return title, rows, worst_lines(self, self.names)


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
    number of rows. Values from fewer than ten rows are marked: see ``Finding.why``.

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
    weights = check_weights(sample_weight, np.asarray(y_true))
    worth = None
    if weights is not None:
        codes = check_groups(sensitive_features).codes
        squares = np.bincount(codes, weights=weights**2, minlength=len(groups))
        total = np.bincount(codes, weights=weights, minlength=len(groups))
        # (sum w)^2 / sum w^2 (Kish 1965). Weights that are all 0 are worth no rows.
        worth = np.nan_to_num(divide(total**2, squares), nan=0.0).tolist()
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
    """Compute the `audit` from confusion counts, which add up over parts of a file.

    Parameters
    ----------
    groups : mapping from group to Confusion
        Counts of every group, for example from `confusion_by_group`.
    worth : sequence of float of length n_groups, default=None
        Effective number of rows of each group. None takes the sum of its counts.
    level, n_resamples, pairs, random_state
        As in `audit`.

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
    for (group, confusion), rows in zip(groups.items(), worth, strict=True):
        audited.append(_AuditedGroup(group, confusion, rows, n_resamples, random))
    compared = permutations(audited, 2) if pairs else ()
    findings = product([(one,) for one in audited], (*RATES, "pd"))
    between = product(compared, _BETWEEN)
    return Audit(
        tuple(_finding(metric, one, level) for one, metric in findings),
        tuple(_finding(metric, pair, level) for pair, metric in between),
        level,
    )


class _AuditedGroup:
    """One group: its counts, its rates, and rates drawn from their posterior.

    A bootstrap of one row has nothing to draw but that row, and says that it is sure.
    The posterior of the four shares under Jeffreys' prior is a Dirichlet distribution,
    which half a row in each cell keeps wide where rows are few. In particular an FPR is
    drawn from Jeffreys' posterior of a rate, Beta(FP + 1/2, TN + 1/2).

    Parameters
    ----------
    group : group
    confusion : Confusion
    worth : float
        Effective number of rows.
    n_draws : int
    random : Generator
    """

    def __init__(
        self,
        group: Group,
        confusion: Confusion,
        worth: float,
        n_draws: int,
        random: np.random.Generator,
    ):
        self.group = group
        self.confusion = confusion
        # Weighted counts are scaled to the rows that they are worth, or an interval of
        # rows with weight 1000 would be as narrow as that of 1000 times as many rows.
        self.scale = worth / confusion.total if confusion.total else 0.0
        counts = np.array(astuple(confusion)[:4])
        shares: Any = random.dirichlet(counts * self.scale + 0.5, size=n_draws)
        tp, fp, fn, tn = shares.T
        drawn = Confusion(tp, fp, fn, tn, confusion.rows)
        self.observed = {name: getattr(confusion, name) for name in RATES}
        self.draws = {name: getattr(drawn, name) for name in RATES}

    def rows_behind(self, counts: str) -> tuple[int, float]:
        """Return rows in a denominator, and how many rows of equal weight they equal.

        Parameters
        ----------
        counts : str
            The counts of `Confusion` in the denominator of the metric.
        """
        weight = getattr(self.confusion, counts)
        if not self.confusion.total:
            return 0, 0.0
        # Of weighted rows only the weight in the denominator is known, not the number.
        share = weight / self.confusion.total
        return round(self.confusion.rows * share), self.scale * weight


_BETWEEN = {
    "pe": (-np.inf, np.inf),
    "fpr_difference": (-1.0, 1.0),
    "fnr_difference": (-1.0, 1.0),
    "accuracy_difference": (-1.0, 1.0),
    "predicted_prevalence_difference": (-1.0, 1.0),
    "predicted_prevalence_ratio": (0.0, np.inf),
}
"""Metrics of ordered pairs, and all values that they can have with their sign."""


def _compute(
    metric: str, one: Mapping[str, Any], other: Mapping[str, Any] | None = None
) -> Any:
    """Compute a metric, with its sign, from rates or from many drawn ones."""
    predicted = one["predicted_prevalence"]
    if other is None:
        # Equation (3) of the paper, PD, before the absolute value is taken.
        return predicted - one["prevalence"]
    of_other = other["predicted_prevalence"]
    if metric == "pe":
        shares = one["prevalence"], other["prevalence"], predicted, of_other
        return pe_of_prevalences(*shares, signed=True)
    if metric == "predicted_prevalence_ratio":
        # The four-fifths rule of the EEOC (29 CFR 1607.4 D) asks for 0.8 or more.
        return divide(predicted, of_other)
    rate = metric.removesuffix("_difference")
    return one[rate] - other[rate]


def _finding(metric: str, groups: Sequence[_AuditedGroup], level: float) -> Finding:
    """A metric of a group or of an ordered pair, with its interval.

    Rates of a group have Wilson's interval, other metrics that of their draws.
    """
    part, whole = RATES.get(metric.removesuffix("_difference"), ("", "total"))
    if metric in RATES:
        (one,) = groups
        successes = getattr(one.confusion, part) * one.scale
        trials = getattr(one.confusion, whole) * one.scale
        low, high = wilson_interval(successes, trials, level)
        estimate = Estimate(one.observed[metric], float(low), float(high))
    else:
        lowest, highest = _BETWEEN.get(metric, (-1.0, 1.0))
        estimate = estimate_of_draws(
            _compute(metric, *[one.observed for one in groups]),
            _compute(metric, *[one.draws for one in groups]),
            level,
            lowest=lowest,
            highest=highest,
            absolute=metric in ("pd", "pe"),
        )
    rows, worth = zip(*[one.rows_behind(whole) for one in groups], strict=True)
    # A comparison rests on the smaller of two numbers. A hundred rows of which one has
    # all the weight are worth one row. The sum of weights, and so the effective number,
    # may miss a whole number by rounding.
    effective = min(*rows, min(worth) + 1e-9)
    enough = effective >= FEWEST_ROWS and np.isfinite(estimate.value)
    other = groups[1].group if len(groups) > 1 else None
    return Finding(metric, groups[0].group, other, estimate, min(rows), bool(enough))


def _most_rows(findings: Mapping[str, Finding]) -> int:
    """Rows of a group: an accuracy has all of them in its denominator."""
    return max(finding.rows for finding in findings.values())


def _frame(findings: Sequence[Finding], index_names: list[str]) -> pd.DataFrame:
    """One row for each finding, indexed by the fields named."""
    # Tuples, which are combinations of groups, cannot be labels of an index.
    labels = group_labels(finding.group for finding in findings)
    rows = []
    for finding in findings:
        whose = [labels[getattr(finding, name)] for name in index_names[:-1]]
        numbers = [*finding.estimate, finding.rows, finding.enough]
        rows.append([*whose, finding.metric, *numbers])
    columns = ["value", "low", "high", "rows", "enough"]
    return pd.DataFrame(rows, columns=[*index_names, *columns]).set_index(index_names)
