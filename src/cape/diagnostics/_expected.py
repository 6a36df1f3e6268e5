"""Performance without labels: what the members' rates and the estimated prevalences let one expect of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._group_model import GroupModel
from cape._groups import Group, group_name
from cape._prediction import check_same_model
from cape.adaptation import Adaptation, GroupAdaptation
from cape.classifier import CapeClassifier
from cape.diagnostics._common import frame, json_ready
from cape.evidence import Evidence, GroupEvidence
from cape.metrics import confusion_by_group

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ExpectedPair",
    "ExpectedPerformance",
    "GroupExpected",
    "compare_expected",
    "expected_performance",
]

_LEVELS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)


@dataclass(frozen=True)
class GroupExpected:
    """What to expect of one group: each rate as it will be found in this batch, once labels arrive.

    Parameters
    ----------
    rows : int
        Rows of the group in the batch.
    fpr, fpr_low, fpr_high, fnr, fnr_low, fnr_high, accuracy, accuracy_low, accuracy_high : float
        Expected rate and the interval of the observed one; NaN with [0, 1] where a rate is unknown.
    known : bool
        Whether both rates of the member rest on at least ten unseen rows.
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
    known: bool


@dataclass(frozen=True)
class ExpectedPair:
    """PE to expect of an ordered pair of groups, from the estimated and the predicted prevalences."""

    group: Group
    other: Group
    pe: float
    pe_low: float
    pe_high: float


@dataclass(frozen=True)
class ExpectedPerformance:
    """What `expected_performance` found.

    Parameters
    ----------
    groups : mapping from group to GroupExpected
    between : tuple of ExpectedPair
    level : float
        Confidence level of the intervals.
    """

    groups: Mapping[Group, GroupExpected]
    between: tuple[ExpectedPair, ...]
    level: float

    def table(self) -> pd.DataFrame:
        """One row a group: fpr, fnr and accuracy with their low and high ends."""
        return frame(self.groups)

    def pairs(self) -> pd.DataFrame:
        """One row for each ordered pair of groups: pe, pe_low, pe_high."""
        import pandas as pd

        names = [(_name(pair.group), _name(pair.other)) for pair in self.between]
        index = (
            pd.MultiIndex.from_tuples(names, names=["group", "other"])
            if names
            else None
        )
        values = [[pair.pe, pair.pe_low, pair.pe_high] for pair in self.between]
        return pd.DataFrame(values, columns=["pe", "pe_low", "pe_high"], index=index)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON can hold it; what is unknown is None."""
        pairs = [
            {"group": group_name(p.group), "other": group_name(p.other)}
            | {name: _finite(getattr(p, name)) for name in ("pe", "pe_low", "pe_high")}
            for p in self.between
        ]
        return {"level": self.level, "groups": json_ready(self.groups), "pairs": pairs}


def expected_performance(
    clf: CapeClassifier,
    evidence: Evidence,
    adaptation: Adaptation,
    *,
    n_draws: int = 2000,
    random_state: Any = 0,
) -> ExpectedPerformance:
    """Expected FPR, FNR and accuracy of each group in this batch, and PE of each pair, before labels are known.

    Under prior shift a member's FPR and FNR do not move, so those of its unseen training rows are to be expected again.
    The intervals are for the rates as they will be observed in this batch: they count the noise of the training rates,
    of the estimated prevalence and of the batch itself.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    evidence : Evidence
        Of the batch.
    adaptation : Adaptation
        To it; the intervals have its level.
    n_draws : int, default=2000
        Simulated batches behind the intervals.
    random_state : int, Generator or None, default=0

    Returns
    -------
    ExpectedPerformance

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape import CapeClassifier
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(2000, random_state=0)
    >>> clf = CapeClassifier(LogisticRegression(), pool="threshold", random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> new = make_synthetic(1000, prevalences=(0.2, 0.8), random_state=2)
    >>> evidence = clf.evidence(new.data, sensitive_features=new.sensitive_features)
    >>> expected = expected_performance(clf, evidence, clf.adapt(evidence=evidence))
    >>> bool((expected.table()["accuracy"] > 0.8).all())
    True
    """
    check_same_model(clf, "evidence", evidence, Evidence)
    check_same_model(clf, "adaptation", adaptation, Adaptation)
    random = np.random.default_rng(random_state)
    groups, prevalences = {}, {}
    for group, part in evidence.groups.items():
        model, found = clf.model_of(group), adaptation.groups[group]
        prevalences[group] = _draw_prevalence(model, part, found, n_draws, random)
        groups[group] = _expect(
            model, found, prevalences[group], adaptation.level, random
        )
    between = tuple(
        _expect_pe(one, other, adaptation, prevalences)
        for one in groups
        for other in groups
        if one != other
    )
    return ExpectedPerformance(groups, between, adaptation.level)


def compare_expected(
    expected: ExpectedPerformance,
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any = None,
    pos_label: Any = None,
) -> pd.DataFrame:
    """Expected and observed rates side by side, once labels are there.

    Parameters
    ----------
    expected : ExpectedPerformance
    y_true, y_pred : array-like of shape (n_samples,)
        Labels and predictions of the same batch.
    sensitive_features : array-like or table of n_samples rows, default=None
    pos_label : label, default=None

    Returns
    -------
    DataFrame
        Indexed by group and metric: expected, low, high, observed, inside.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape import CapeClassifier
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(2000, random_state=0)
    >>> clf = CapeClassifier(LogisticRegression(), pool="threshold", random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> new = make_synthetic(1000, prevalences=(0.2, 0.8), random_state=2)
    >>> evidence = clf.evidence(new.data, sensitive_features=new.sensitive_features)
    >>> adaptation = clf.adapt(evidence=evidence)
    >>> y_pred = clf.predict(new.data, sensitive_features=new.sensitive_features, adaptation=adaptation)
    >>> expected = expected_performance(clf, evidence, adaptation)
    >>> both = compare_expected(expected, new.target, y_pred, sensitive_features=new.sensitive_features)
    >>> bool(both.loc[(0, "accuracy"), "inside"])
    True
    """
    import pandas as pd

    observed = confusion_by_group(
        y_true, y_pred, sensitive_features=sensitive_features, pos_label=pos_label
    )
    rows = {}
    for group, found in expected.groups.items():
        if group not in observed:
            raise ValueError(
                f"sensitive_features must hold every expected group, got {list(observed)} without {group!r}."
            )
        for metric in ("fpr", "fnr", "accuracy"):
            low, high = (
                getattr(found, f"{metric}_low"),
                getattr(found, f"{metric}_high"),
            )
            value = getattr(observed[group], metric)
            rows[_name(group), metric] = [
                getattr(found, metric),
                low,
                high,
                value,
                low <= value <= high,
            ]
    columns = ["expected", "low", "high", "observed", "inside"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    table.index = pd.MultiIndex.from_tuples(list(rows), names=["group", "metric"])
    return table


def _draw_prevalence(
    model: GroupModel,
    part: GroupEvidence,
    found: GroupAdaptation,
    n_draws: int,
    random: np.random.Generator,
) -> np.ndarray:
    """Draws of the realised prevalence: the ends of its intervals at many levels make a distribution function."""
    ends = [model.quantifier.interval(part.scores, level) for level in _LEVELS]
    points = (
        [low for low, _ in reversed(ends)]
        + [found.estimate]
        + [high for _, high in ends]
    )
    below = (
        [(1 - level) / 2 for level in reversed(_LEVELS)]
        + [0.5]
        + [(1 + level) / 2 for level in _LEVELS]
    )
    return np.interp(random.random(n_draws), below, np.maximum.accumulate(points))


def _expect(
    model: GroupModel,
    found: GroupAdaptation,
    prevalence: np.ndarray,
    level: float,
    random: np.random.Generator,
) -> GroupExpected:
    rates, j = model.pool.rates, found.member
    fpr, tpr = float(rates.fpr[j]), float(rates.tpr[j])
    n_positive = np.rint(prevalence * found.rows).astype(int)
    false = _draw_called(
        rates.false_positives[j], rates.negatives[j], found.rows - n_positive, random
    )
    true = _draw_called(rates.true_positives[j], rates.positives[j], n_positive, random)
    n_negative = found.rows - n_positive
    right = (true + n_negative - false) / found.rows
    knows_fpr, knows_tpr = not np.isnan(fpr), not np.isnan(tpr)
    fpr_low, fpr_high = _central(false, n_negative, level) if knows_fpr else (0.0, 1.0)
    fnr_low, fnr_high = (
        _central(n_positive - true, n_positive, level) if knows_tpr else (0.0, 1.0)
    )
    known = knows_fpr and knows_tpr
    acc_low, acc_high = (
        _central(right, np.ones_like(right), level) if known else (0.0, 1.0)
    )
    return GroupExpected(
        rows=found.rows,
        fpr=fpr,
        fpr_low=fpr_low,
        fpr_high=fpr_high,
        fnr=1 - tpr,
        fnr_low=fnr_low,
        fnr_high=fnr_high,
        accuracy=float(right.mean()) if known else float("nan"),
        accuracy_low=acc_low,
        accuracy_high=acc_high,
        known=known,
    )


def _draw_called(
    called: float, rows: float, new: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """How many of ``new`` rows will be called positive: a rate drawn from its posterior (Jeffreys), then a binomial."""
    rate = random.beta(called + 0.5, max(rows - called, 0.0) + 0.5, size=len(new))
    return random.binomial(new, rate)


def _central(part: np.ndarray, whole: np.ndarray, level: float) -> tuple[float, float]:
    """Central ``level`` of part / whole, where a rate without rows counts as 0, as the metrics have it."""
    share = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    low, high = np.quantile(
        share, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf"
    )
    return float(low), float(high)


def _expect_pe(
    one: Group,
    other: Group,
    adaptation: Adaptation,
    prevalences: Mapping[Group, np.ndarray],
) -> ExpectedPair:
    """PE = |rho_z / rho_z' - rho-hat_z / rho-hat_z'|; the predicted prevalences are known."""
    a, b = adaptation.groups[one], adaptation.groups[other]
    if b.predicted_prevalence == 0 or b.estimate == 0:
        return ExpectedPair(one, other, float("nan"), 0.0, float("inf"))
    predicted = a.predicted_prevalence / b.predicted_prevalence
    rho, rho_ = prevalences[one], prevalences[other]
    ratio = (
        np.divide(rho, rho_, out=np.full(len(rho), np.inf), where=rho_ > 0) - predicted
    )
    low, high = np.quantile(
        ratio,
        [(1 - adaptation.level) / 2, (1 + adaptation.level) / 2],
        method="inverted_cdf",
    )
    folded = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return ExpectedPair(
        one,
        other,
        abs(a.estimate / b.estimate - predicted),
        float(folded),
        float(max(abs(low), abs(high))),
    )


def _name(group: Group) -> Any:
    return group_name(group) if isinstance(group, tuple) else group


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
