"""Performance without labels: the rates to expect before labels arrive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from cape import plot
from cape._estimate import Estimate
from cape._groups import Group, group_labels, name_index, unique_names
from cape._labelled import check_calls
from cape._notebook import InNotebook, Shown
from cape._prediction import check_same_model
from cape._wording._numbers import level_text
from cape.adaptation import Adaptation
from cape.classifier import CapeClassifier
from cape.diagnostics._chosen_draws import BatchDraws, ExpectedRates
from cape.diagnostics._expected_draws import (
    draw_batches,
    fold,
    interval_of_pe,
    interval_of_rate,
    noise_of_rates,
)
from cape.diagnostics._result import GroupResult, json_ready
from cape.evidence import Evidence
from cape.metrics import confusion_by_group
from cape.metrics._between import pe_of_prevalences
from cape.metrics._rates import FEWEST_ROWS

if TYPE_CHECKING:
    import pandas as pd

    from cape._group_model import GroupModel
    from cape.adaptation import GroupAdaptation
    from cape.evidence import GroupEvidence
    from cape.metrics import Confusion

__all__ = [
    "ExpectedPair",
    "ExpectedPerformance",
    "GroupExpected",
    "compare_counts",
    "compare_expected",
    "expected_of_draws",
    "expected_performance",
]

_RATES = {
    "fpr": "fpr",
    "fnr": "fnr",
    "accuracy": "accuracy",
    "pd": "prevalence_difference",
}
"""Rates that are compared, and what `Confusion` calls them."""

_NAMES = {
    "fpr": "false positive rate",
    "fnr": "false negative rate",
    "accuracy": "accuracy",
}
"""Rates that are drawn."""


@dataclass(frozen=True)
class GroupExpected:
    """The rates to expect of one group, as they will be observed once labels arrive.

    Parameters
    ----------
    rows : int
        Rows of the group in the batch.
    fpr, fpr_low, fpr_high : float
        Expected false positive rate, and the interval of the observed one. A rate that
        is unknown is NaN, with the interval [0, 1].
    fnr, fnr_low, fnr_high : float
        The same for the false negative rate.
    accuracy, accuracy_low, accuracy_high : float
        The same for the accuracy.
    pd, pd_low, pd_high : float
        The same for the prevalence difference.
    known : bool
        Whether both rates of the member rest on at least ten unseen rows, or on labels.
    """

    rows: int
    fpr: float
    fpr_low: float
    fpr_high: float
    fnr: float
    fnr_low: float
    fnr_high: float
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    pd: float
    pd_low: float
    pd_high: float
    known: bool


@dataclass(frozen=True)
class ExpectedPair:
    """The proportional equality to expect of an ordered pair of groups.

    Parameters
    ----------
    group, other : group
        PE compares ``group`` with ``other``, whose prevalences are the denominators.
    pe, pe_low, pe_high : float
        Expected PE and its interval. PE is NaN, with the interval [0, inf], if a
        denominator is 0.
    """

    group: Group
    other: Group
    pe: float
    pe_low: float
    pe_high: float


@dataclass(frozen=True)
class ExpectedPerformance(InNotebook, GroupResult):
    """Result of `expected_performance`.

    Parameters
    ----------
    groups : mapping from group to GroupExpected
        The rates to expect of each group.
    between : tuple of ExpectedPair
        The PE to expect of each ordered pair of groups.
    level : float
        Confidence level of the intervals.
    """

    groups: Mapping[Group, GroupExpected]
    between: tuple[ExpectedPair, ...]
    level: float

    def pairs(self) -> pd.DataFrame:
        """Return the expected PE of all ordered pairs of groups.

        Returns
        -------
        DataFrame
            Indexed by ``group`` and ``other``, with the columns pe, pe_low and pe_high.
        """
        import pandas as pd

        label_of = group_labels(self.groups)
        labels = []
        values = []
        for pair in self.between:
            labels.append((label_of[pair.group], label_of[pair.other]))
            values.append([pair.pe, pair.pe_low, pair.pe_high])
        index = None
        if labels:
            index = pd.MultiIndex.from_tuples(labels, names=["group", "other"])
        return pd.DataFrame(values, columns=["pe", "pe_low", "pe_high"], index=index)

    def worst_pair(self) -> ExpectedPair | None:
        """Return the pair with the greatest expected PE.

        Returns
        -------
        ExpectedPair or None
            None if there is one group only, or if no pair is defined. Groups of fewer
            than ten rows are left out: one person against another is no comparison of
            groups.
        """
        # Comparisons with NaN are False, and max would depend on the order of pairs.
        defined = [pair for pair in self.between if not np.isnan(pair.pe)]
        large = [pair for pair in defined if self._has_rows(pair)]
        return max(large, key=lambda pair: pair.pe, default=None)

    def plot(self) -> Any:
        """Draw the rates to expect of each group; needs altair.

        Returns
        -------
        altair chart
        """
        import pandas as pd

        rows = []
        names = unique_names(self.groups)
        for rate, rate_name in _NAMES.items():
            for group, expected in self.groups.items():
                row = {"rate": rate_name, "group": names[group], "rows": expected.rows}
                value, low, high = _rate_of(expected, rate)
                rows.append({**row, "value": value, "low": low, "high": high})
        title = f"Rates to expect, with {level_text(self.level)} intervals"
        return plot.rates(pd.DataFrame(rows), title=title)

    def _shown(self) -> Shown:
        import pandas as pd

        rows = []
        for expected in self.groups.values():
            row: dict[str, Any] = {"rows": expected.rows}
            for rate in _RATES:
                name = rate if rate == "accuracy" else rate.upper()
                row[name] = _rate_of(expected, rate)
            rows.append(row)
        table = pd.DataFrame(rows, index=name_index(self.groups))
        title = f"Rates to expect, with {level_text(self.level)} intervals"
        return Shown(title, table, self._worst_in_words())

    def __repr__(self) -> str:
        lines = [f"ExpectedPerformance(level={self.level:g}"]
        names = unique_names(self.groups)
        for group, expected in self.groups.items():
            rates = []
            for rate in _RATES:
                value, low, high = _rate_of(expected, rate)
                rates.append(f"{rate} {value:.3f} ({low:.3f} to {high:.3f})")
            lines.append(f"  {names[group]}: {', '.join(rates)}")
        lines.append(")")
        return "\n".join(lines)

    def _worst_in_words(self) -> list[str]:
        worst = self.worst_pair()
        if worst is None:
            return []
        names = unique_names(self.groups)
        return [
            f"Greatest PE to expect: {worst.pe:.3f} ({worst.pe_low:.3f} to "
            f"{worst.pe_high:.3f}), {names[worst.group]} to {names[worst.other]}. "
            f"pairs() has all {len(self.between)} pairs."
        ]

    def _has_rows(self, pair: ExpectedPair) -> bool:
        """Tell whether both groups of a pair have enough rows to be compared."""
        rows = [self.groups[pair.group].rows, self.groups[pair.other].rows]
        return min(rows) >= FEWEST_ROWS

    def _facts(self) -> dict[str, Any]:
        pairs = []
        names = unique_names(self.groups)
        for pair in self.between:
            entry = json_ready(asdict(pair))
            entry["group"] = names[pair.group]
            entry["other"] = names[pair.other]
            pairs.append(entry)
        return {
            "level": self.level,
            "pairs": pairs,
        }


def _rate_of(expected: GroupExpected, rate: str) -> Estimate:
    """Return a rate with its interval."""
    value = getattr(expected, rate)
    low = getattr(expected, f"{rate}_low")
    return Estimate(value, low, getattr(expected, f"{rate}_high"))


def expected_performance(
    clf: CapeClassifier,
    evidence: Evidence,
    adaptation: Adaptation,
    *,
    n_draws: int = 2000,
    random_state: Any = 0,
) -> ExpectedPerformance:
    """Compute the rates to expect of each group, and the PE of each pair.

    Under prior shift the FPR and FNR of a member do not move, so that those of its
    unseen training rows are to be expected again, but for noise. How many rows the
    member calls positive is known, and the rates are the mean over simulated batches in
    which it calls so many.
    Where labels of some rows are known, they correct the rates, and the intervals hold
    whatever has moved.
    The intervals are for the rates as they will be observed in this batch: they include
    the noise of the training rates, of the estimated prevalence and of the batch
    itself.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    evidence : Evidence
        Evidence of the batch.
    adaptation : Adaptation
        Adaptation to the same batch. The intervals have its level.
    n_draws : int, default=2000
        Number of simulated batches behind the intervals.
    random_state : int, Generator or None, default=0
        Seed of the simulation.

    Returns
    -------
    ExpectedPerformance

    See Also
    --------
    compare_expected : Expected and observed rates side by side, once labels arrive.

    Examples
    --------
    >>> from cape.diagnostics import expected_performance
    >>> evidence = clf.evidence(new.data, sensitive_features=new.sensitive_features)
    >>> expected = expected_performance(clf, evidence, clf.adapt(evidence=evidence))
    >>> bool((expected.table()["accuracy"] > 0.8).all())
    True
    """
    check_same_model(clf, "evidence", evidence, Evidence)
    check_same_model(clf, "adaptation", adaptation, Adaptation)
    draws = BatchDraws(
        clf, evidence, adaptation, n_draws=n_draws, random_state=random_state
    )
    return expected_of_draws(draws, clf, evidence, adaptation)


def expected_of_draws(
    draws: BatchDraws, clf: CapeClassifier, evidence: Evidence, adaptation: Adaptation
) -> ExpectedPerformance:
    """Compute the rates to expect from simulated batches.

    Parameters
    ----------
    draws : BatchDraws
        Of the same batch.
    clf, evidence, adaptation
        As in `expected_performance`.

    Returns
    -------
    ExpectedPerformance
    """
    members = {group: chosen.member for group, chosen in adaptation.groups.items()}
    groups = {}
    for group, rates in draws.expected(members).items():
        model = clf.model_of(group)
        chosen = adaptation.groups[group]
        level = adaptation.level
        if chosen.label_verdict is None:
            intervals = _intervals_of_draws(draws, group, model, chosen, level)
        else:
            part = evidence.groups[group]
            intervals = _intervals_of_labels(model, part, chosen, level)
        groups[group] = _group_expected(chosen, rates, intervals)
    pairs = []
    # PE is not symmetric, so that both orders of a pair are computed.
    for group, other in permutations(groups, 2):
        pairs.append(_expect_pe(group, other, adaptation, draws))
    return ExpectedPerformance(groups, tuple(pairs), adaptation.level)


@dataclass(frozen=True)
class _Intervals:
    """Both ends of the interval of each rate of one group."""

    fpr: tuple[float, float]
    fnr: tuple[float, float]
    accuracy: tuple[float, float]


def _group_expected(
    chosen: GroupAdaptation, rates: ExpectedRates, intervals: _Intervals
) -> GroupExpected:
    """Put rates and their intervals together."""
    ends = {}
    for name in ("fpr", "fnr", "accuracy"):
        low, high = getattr(intervals, name)
        value = getattr(rates, name)
        # The two come from different draws. NaN, unknown, leaves the interval alone.
        ends[f"{name}_low"] = float(np.fmin(low, value))
        ends[f"{name}_high"] = float(np.fmax(high, value))
    ends["pd_low"], ends["pd_high"] = _interval_of_pd(chosen)
    return GroupExpected(
        rows=chosen.rows,
        fpr=rates.fpr,
        fnr=rates.fnr,
        accuracy=rates.accuracy,
        pd=abs(chosen.estimate - chosen.predicted_prevalence),
        known=rates.known,
        **ends,
    )


def _intervals_of_draws(
    draws: BatchDraws,
    group: Group,
    model: GroupModel,
    chosen: GroupAdaptation,
    level: float,
) -> _Intervals:
    """Compute the intervals of one group from simulated batches of its size."""
    rates = model.pool.rates
    batches = draw_batches(
        rates,
        chosen,
        draws.prevalences(group),
        draws.generator(group),
        noise=noise_of_rates(model),
    )
    # Fewer than ten unseen rows of a class say nothing about a rate: it is NaN then.
    known_fpr = not np.isnan(rates.fpr[chosen.member])
    known_fnr = not np.isnan(rates.tpr[chosen.member])
    return _Intervals(
        fpr=interval_of_rate(batches.fpr, level, known_fpr),
        fnr=interval_of_rate(batches.fnr, level, known_fnr),
        accuracy=interval_of_rate(batches.accuracy, level, known_fpr and known_fnr),
    )


def _intervals_of_labels(
    model: GroupModel, evidence: GroupEvidence, chosen: GroupAdaptation, level: float
) -> _Intervals:
    """Compute the intervals of one group from labels of some of its rows.

    They are those of labels alone: what labels and training agree on makes an estimate
    better, but nobody knows by how much.
    """
    calls = check_calls(model, evidence)
    tpr_low, tpr_high = calls.tpr.interval(chosen.member, level)
    return _Intervals(
        fpr=calls.fpr.interval(chosen.member, level),
        fnr=(1 - tpr_high, 1 - tpr_low),
        accuracy=calls.accuracy.interval(chosen.member, level),
    )


def _interval_of_pd(chosen: GroupAdaptation) -> tuple[float, float]:
    """Return the interval of PD; the predicted prevalence is known exactly."""
    return fold(
        chosen.low - chosen.predicted_prevalence,
        chosen.high - chosen.predicted_prevalence,
    )


def _expect_pe(
    group: Group,
    other: Group,
    adaptation: Adaptation,
    draws: BatchDraws,
) -> ExpectedPair:
    """Compute the PE of one ordered pair, whose predicted prevalences are known."""
    own = adaptation.groups[group]
    others = adaptation.groups[other]
    pe = pe_of_prevalences(
        own.estimate,
        others.estimate,
        own.predicted_prevalence,
        others.predicted_prevalence,
    )
    # Relative to a group without positives, any PE is possible.
    if np.isnan(pe):
        return ExpectedPair(group, other, float("nan"), 0.0, float("inf"))
    predicted_ratio = own.predicted_prevalence / others.predicted_prevalence
    low, high = interval_of_pe(
        draws.prevalences(group),
        draws.prevalences(other),
        predicted_ratio,
        adaptation.level,
    )
    return ExpectedPair(group, other, float(pe), low, high)


def compare_expected(
    expected: ExpectedPerformance,
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any = None,
    pos_label: Any = None,
) -> pd.DataFrame:
    """Put expected and observed rates side by side, once labels have arrived.

    Parameters
    ----------
    expected : ExpectedPerformance
        What was expected of the batch.
    y_true : array-like of shape (n_samples,)
        Labels of the same batch.
    y_pred : array-like of shape (n_samples,)
        Predictions of the same batch.
    sensitive_features : array-like or table of n_samples rows, default=None
        Groups of the rows. They must include every group of ``expected``.
    pos_label : label, default=None
        The positive label. None is the greater of the two labels.

    Returns
    -------
    DataFrame
        Indexed by ``group`` and ``metric``, with the columns expected, low, high,
        observed and inside. An observed rate is NaN, and not outside, if the batch has
        no row of the class that it is about.

    Examples
    --------
    >>> from cape.diagnostics import compare_expected, examine
    >>> groups = {"sensitive_features": new.sensitive_features}
    >>> seen = examine(clf, new.data, **groups)
    >>> y_pred = clf.predict(new.data, adaptation=seen.adaptation, **groups)
    >>> both = compare_expected(seen.expected, new.target, y_pred, **groups)
    >>> bool(both.loc[(0, "accuracy"), "inside"])
    True
    """
    observed = confusion_by_group(
        y_true, y_pred, sensitive_features=sensitive_features, pos_label=pos_label
    )
    # Labels of groups that were not in the batch are passed over.
    counts = {}
    for group in expected.groups:
        if group not in observed:
            raise ValueError(
                "sensitive_features must include every group of expected, "
                f"got {list(observed)} without {group!r}."
            )
        counts[group] = observed[group]
    return compare_counts(expected, counts)


def compare_counts(
    expected: ExpectedPerformance, observed: Mapping[Group, Confusion]
) -> pd.DataFrame:
    """Compare as `compare_expected` does, by the confusion counts of groups.

    Parameters
    ----------
    expected : ExpectedPerformance
    observed : mapping from group to Confusion
        Groups that are missing are left out.

    Returns
    -------
    DataFrame
    """
    import pandas as pd

    label_of = group_labels(expected.groups)
    labels = []
    rows = []
    for group, counts in observed.items():
        for rate, attribute in _RATES.items():
            labels.append((label_of[group], rate))
            value = getattr(counts, attribute)
            rows.append(_compare_rate(expected.groups[group], rate, value))
    index = pd.MultiIndex.from_tuples(labels, names=["group", "metric"])
    return pd.DataFrame(rows, index=index)


def _compare_rate(expected: GroupExpected, rate: str, value: float) -> dict[str, Any]:
    """Compare one observed rate with its interval, whose ends belong to it."""
    low = getattr(expected, f"{rate}_low")
    high = getattr(expected, f"{rate}_high")
    return {
        "expected": getattr(expected, rate),
        "low": low,
        "high": high,
        "observed": value,
        # An undefined rate is NaN, and no comparison with it is true.
        "inside": not (value < low or value > high),
    }
