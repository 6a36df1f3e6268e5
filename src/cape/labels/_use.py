"""What the labels of a group say: the estimate, and the rates of members, corrected.

How many rows of the batch a member calls positive is known, labels or not. Labelled
rows tell which share of the called rows, and of the rows that are not called, are
positive. Both rates follow from these three numbers, whatever has moved.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import hypot, isnan, nan
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.optimize import brentq, isotonic_regression

from cape.base._estimate import Estimate
from cape.base._groups import Group
from cape.base._limits import FEWEST_LABELS, ONE_CLASS
from cape.drift._find import GroupDrift
from cape.evidence._evidence import PLAIN, GroupEvidence
from cape.evidence._histogram import ONE
from cape.labels._contradiction import find_contradicted
from cape.labels._factor import LabelFactor
from cape.labels._sample import (
    SAMPLE_LEVEL,
    LabelledSample,
    drawn_p_value,
    labelled_sample,
    proportion_interval,
    row_weights,
    shrinkage,
)
from cape.metrics._rates import FEWEST_ROWS
from cape.training._group_model import GroupModel, MemberRates

_ROUNDING = 1e-12


@dataclass(frozen=True)
class ClassShare:
    """Shares of a class among some rows, for every member.

    Parameters
    ----------
    share, variance : ndarray of shape (n_members,)
        1/2 and 1/4 without a labelled row.
    effective_rows : ndarray of shape (n_members,)
        Labelled rows that would tell as much if they were drawn with replacement;
        infinite if all rows are labelled.
    """

    share: np.ndarray
    variance: np.ndarray
    effective_rows: np.ndarray

    def scaled(
        self, member: int, size: float, level: float
    ) -> tuple[float, float, float]:
        """Return the share of one member and its interval, times a size."""
        share = float(self.share[member])
        rows = float(self.effective_rows[member])
        low, high = 0.0, 1.0
        if np.isinf(rows):
            low, high = share, share
        elif rows > 0:
            low, high = proportion_interval(share, rows, level)
        return size * share, size * float(low), size * float(high)


@dataclass(frozen=True)
class LabelledRate:
    """Rates of all members according to labels alone.

    Parameters
    ----------
    rate, variance : ndarray of shape (n_members,)
        NaN where a rate is undefined: there is no row of the class.
    rows : float
        Labelled rows of the class.
    parts : tuple or None, default=None
        Of rates part / (part + rest), where both parts are shares of all rows: the
        shares of the class among the rows that each member calls, and does not call,
        and the share of all rows that it calls.
    """

    rate: np.ndarray
    variance: np.ndarray
    rows: float
    parts: tuple[ClassShare, ClassShare, np.ndarray] | None = None

    def effective_rows(self) -> np.ndarray:
        """Return the rows of a binomial proportion with the same variance."""
        smoothed = (self.rows * self.rate + 1) / (self.rows + 2)
        with np.errstate(divide="ignore"):
            return smoothed * (1 - smoothed) / self.variance

    def interval(self, member: int, level: float) -> tuple[float, float]:
        """Return the interval of the rate of one member; it holds for any shift.

        A rate t = part / (part + rest) is inside if (1 - t) part - t rest may be 0,
        according to the intervals of part and rest (Fieller 1954; Zou and Donner 2008).
        Rates near 0 and 1 have intervals to one side, which a variance cannot tell.
        """
        rate = float(self.rate[member])
        if np.isnan(rate):
            return 0.0, 1.0
        if self.parts is None:
            rows = float(self.effective_rows()[member])
            if np.isinf(rows):
                return rate, rate
            low, high = proportion_interval(rate, rows, level)
            return float(low), float(high)
        called, passed, called_rows = self.parts
        size = float(called_rows[member])
        part, part_low, part_high = called.scaled(member, size, level)
        rest, rest_low, rest_high = passed.scaled(member, 1 - size, level)
        add: Callable[[float, float], float] = hypot
        if called.effective_rows[member] == 0 or passed.effective_rows[member] == 0:
            # Any share is as likely as another, and not in the middle of its interval.
            add = operator.add

        def too_low(t: float) -> float:
            noise = add((1 - t) * (part - part_low), t * (rest_high - rest))
            return (1 - t) * part - t * rest - noise

        def too_high(t: float) -> float:
            noise = add((1 - t) * (part_high - part), t * (rest - rest_low))
            return t * rest - (1 - t) * part - noise

        return _limit(too_low, rate, 0.0), _limit(too_high, rate, 1.0)


def _limit(excess: Callable[[float], float], rate: float, end: float) -> float:
    """Find the last possible rate on the way from a rate to an end."""
    if excess(rate) > -_ROUNDING:
        # There is no noise: all rows are labelled.
        return rate
    if excess(end) <= 0:
        return end
    return float(brentq(excess, rate, end))


@dataclass(frozen=True)
class CheckedCalls:
    """What labelled rows say of the calls of every member.

    Parameters
    ----------
    called : ndarray of shape (n_members,)
        Share of all rows that each member calls positive.
    of_called, of_passed : ClassShare
        Share of positives among the rows that it calls, and among those it does not.
    positives, negatives : float
        Labelled rows of the two classes.
    """

    called: np.ndarray
    of_called: ClassShare
    of_passed: ClassShare
    positives: float
    negatives: float

    @property
    def tpr(self) -> LabelledRate:
        """True positive rates."""
        return self._ratio(self.of_called, self.of_passed, self.positives)

    @property
    def fpr(self) -> LabelledRate:
        """False positive rates."""
        called = replace(self.of_called, share=1 - self.of_called.share)
        passed = replace(self.of_passed, share=1 - self.of_passed.share)
        return self._ratio(called, passed, self.negatives)

    @property
    def accuracy(self) -> LabelledRate:
        """Shares of right decisions."""
        right = self.called * self.of_called.share
        right = right + (1 - self.called) * (1 - self.of_passed.share)
        variance = self.called**2 * self.of_called.variance
        variance = variance + (1 - self.called) ** 2 * self.of_passed.variance
        return LabelledRate(right, variance, self.positives + self.negatives)

    def _ratio(
        self, of_called: ClassShare, of_passed: ClassShare, rows: float
    ) -> LabelledRate:
        """Compute part / (part + rest) and its variance, by the delta method."""
        part = self.called * of_called.share
        rest = (1 - self.called) * of_passed.share
        total = part + rest
        # Without a labelled row of the class, the shares are mere guesses.
        is_known = (total > 0) & (rows > 0)
        variance_of_part = (rest * self.called) ** 2 * of_called.variance
        variance_of_rest = (part * (1 - self.called)) ** 2 * of_passed.variance
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = part / total
            variance = (variance_of_part + variance_of_rest) / total**4
        rate = np.where(is_known, rate, np.nan)
        variance = np.where(is_known, variance, np.nan)
        return LabelledRate(rate, variance, rows, (of_called, of_passed, self.called))


def _positive_share(counts: np.ndarray) -> ClassShare:
    """Compute the share of positives for each member.

    Parameters
    ----------
    counts : ndarray of shape (3, 2, n_members)
        Labelled rows, sums of w and of w^2 - w, of negatives and positives.
    """
    rows, total, excess = counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Without a labelled row, any share is possible.
        share = np.where(total > 0, counts[1, 1] / total, 0.5)
        smoothed = (rows * share + 1) / (rows + 2)
        variance = smoothed * (1 - smoothed) * excess / total**2
        variance = np.where(total > 0, variance, 0.25)
        # Where all rows are labelled there is no excess.
        effective_rows = np.where(total > 0, total**2 / excess, 0.0)
    return ClassShare(share, variance, effective_rows)


def check_calls(model: GroupModel, evidence: GroupEvidence) -> CheckedCalls:
    """Count the calls of every member among labelled rows.

    Parameters
    ----------
    model : GroupModel
    evidence : GroupEvidence
        With labelled rows.

    Returns
    -------
    CheckedCalls
    """
    n_members = len(model.pool.thetas)
    n_rows = evidence.scores.size
    of_called = np.zeros((3, 2, n_members))
    of_passed = np.zeros((3, 2, n_members))
    weights = row_weights(evidence)
    for weight, rows in zip(weights, evidence.labelled.values(), strict=True):
        powers = np.array([1.0, weight, weight**2 - weight])[:, None]
        for label, part in enumerate((rows.negatives, rows.positives)):
            called = model.pool.called(part)
            of_called[:, label] += powers * called
            of_passed[:, label] += powers * (part.scores.size - called)
    rows_of_classes = (of_called + of_passed)[0, :, 0]
    return CheckedCalls(
        called=model.pool.called(evidence) / n_rows,
        of_called=_positive_share(of_called),
        of_passed=_positive_share(of_passed),
        positives=float(rows_of_classes[1]),
        negatives=float(rows_of_classes[0]),
    )


def corrected_rates(rates: MemberRates, calls: CheckedCalls) -> MemberRates:
    """Move the rates of labelled rows towards those of training, where they agree.

    Parameters
    ----------
    rates : MemberRates
        Of unseen training rows.
    calls : CheckedCalls

    Returns
    -------
    MemberRates
        In effective numbers of rows.
    """
    tpr, positives = _combine(calls.tpr, rates.tpr, rates.positives)
    fpr, negatives = _combine(calls.fpr, rates.fpr, rates.negatives)
    return MemberRates(tpr * positives, positives, fpr * negatives, negatives)


def _combine(
    labelled: LabelledRate, trained: np.ndarray, trained_rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the combined rates, and their effective numbers of rows.

    Where there is no labelled row of the class, the rate of training stays.
    """
    no_label = np.isnan(labelled.rate)
    rate = np.where(no_label, trained, labelled.rate)
    variance = np.where(no_label, 1.0, labelled.variance)
    unknown = np.isnan(trained)
    smoothed = (np.nan_to_num(trained) * trained_rows + 1) / (trained_rows + 2)
    error = np.sqrt(smoothed * (1 - smoothed) / np.maximum(trained_rows, 1))
    share = shrinkage(rate - trained, variance, error)
    share = np.where(unknown, 0.0, share)
    combined = np.where(unknown, rate, rate + share * (trained - rate))
    combined = _keep_order(combined, trained)
    rows = labelled.effective_rows() / np.maximum(1 - share, 1e-6)
    rows = np.where(no_label, trained_rows, rows)
    # Fewer than ten rows would make a rate unknown: labels have made it known.
    return combined, np.clip(rows, FEWEST_ROWS, 1e12)


def _keep_order(rates: np.ndarray, trained: np.ndarray) -> np.ndarray:
    """Let rates fall from cut to cut, if they do so in training."""
    falls = np.diff(trained) <= 0
    if not falls[:-1].all() or np.isnan(rates).any():
        return rates
    # Decisions that were made, the last member if it does not fall, are no cut.
    n_cuts = len(rates) - (not falls[-1:].all())
    cuts = isotonic_regression(rates[:n_cuts], increasing=False)
    return np.append(cuts.x, rates[n_cuts:])


@dataclass(frozen=True)
class LabelFindings:
    """What the labels of a group say.

    Parameters
    ----------
    rows : int
        Rows whose label is known.
    estimate : float, default=nan
        Prevalence according to labels alone: right whatever has moved. NaN if no label
        was used, unless all are of one class or contradict the scores.
    verdict : {"confirmed", "not_contradicted", "refuted"} or None, default=None
        What labels say of the label-free estimate; None if no label was used.
    p_value : float, default=nan
        Probability of a difference as large between the two, if the label-free estimate
        were right. Below 0.001, labels of one class only are not used: rows with the
        other label may have been left empty.
    sample_p_value : float, default=nan
        Probability that a random sample of the batch differs from it as much as the
        labelled rows do. Below 0.01 they are no sample, and no label is used.
    auc, training_auc : float, default=nan
        Where labels contradict the scores, the AUC among labelled rows and that of
        training; no label is used. Else NaN.
    """

    rows: int
    estimate: float = nan
    verdict: str | None = None
    p_value: float = nan
    sample_p_value: float = nan
    auc: float = nan
    training_auc: float = nan

    @property
    def contradict_scores(self) -> bool:
        """Whether labels are of other rows, or scores no longer tell classes apart."""
        return not isnan(self.auc)


def read_labels(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    label_free: Mapping[Group, Estimate],
    level: float,
    drifts: Mapping[Group, GroupDrift],
    *,
    alone: bool = False,
) -> tuple[dict[Group, LabelFindings], dict[Group, LabelFactor]]:
    """Tell whether labels can be used, and what they say of the share of each group.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : mapping from group to GroupEvidence
        With or without labelled rows.
    label_free : mapping from group to Estimate
        What was estimated without them.
    level : float
        Level of the intervals.
    drifts : mapping from group to GroupDrift
    alone : bool, default=False
        Whether to use labels that contradict the scores as well.

    Returns
    -------
    findings : dict from group to LabelFindings
    factors : dict from group to LabelFactor
        Of the groups whose labels can be used.
    """
    contradicted = {} if alone else find_contradicted(models, evidence, drifts)
    findings = {}
    factors = {}
    for group, part in evidence.items():
        findings[group], factor = _read_group(
            models[group], part, label_free[group], level, contradicted.get(group)
        )
        if factor is not None:
            factors[group] = factor
    return findings, factors


def _read_group(
    model: GroupModel,
    evidence: GroupEvidence,
    label_free: Estimate,
    level: float,
    contradiction: tuple[float, float] | None,
) -> tuple[LabelFindings, LabelFactor | None]:
    labelled_rows = evidence.labelled_rows
    if labelled_rows < FEWEST_LABELS:
        return LabelFindings(labelled_rows), None
    sample = labelled_sample(evidence)
    label = sample.positive_share
    if label in (0, 1) and _may_be_missing(evidence, sample):
        p_value = one_class_p_value(sample.n_labelled, label, label_free.value)
        if p_value < ONE_CLASS:
            return LabelFindings(labelled_rows, label, p_value=p_value), None
    drawn = drawn_p_value(model, evidence, sample)
    if drawn < SAMPLE_LEVEL:
        return LabelFindings(labelled_rows, sample_p_value=drawn), None
    if contradiction is not None:
        unused = LabelFindings(labelled_rows, label, None, nan, drawn, *contradiction)
        return unused, None
    factor = LabelFactor.of(model.log_odds, sample)
    said = _compare(factor, label_free, level)
    return LabelFindings(labelled_rows, *said, drawn), factor


_REFUTED = 0.05
_CONFIRMED_WITHIN = 0.1
_ONE_SIDED_95 = 1.645


def _compare(
    factor: LabelFactor, label_free: Estimate, level: float
) -> tuple[float, str, float]:
    """Return what labels alone say, their verdict on an estimate, and its p-value.

    It is refuted at 5 %; else confirmed if the two differ by at most 0.1, at 95 %
    confidence.
    """
    value, error = factor.estimate
    p_value = factor.p_value(label_free.value, label_free.standard_error(level))
    if p_value < _REFUTED:
        return value, "refuted", p_value
    if abs(value - label_free.value) + _ONE_SIDED_95 * error <= _CONFIRMED_WITHIN:
        return value, "confirmed", p_value
    return value, "not_contradicted", p_value


def _may_be_missing(evidence: GroupEvidence, sample: LabelledSample) -> bool:
    """Tell whether drawn rows may have been left without a label."""
    if evidence.labelled_rows >= evidence.rows:
        return False
    # Weights of a draw are 1 / p, unless labelled rows stand for too few rows.
    as_drawn = ONE / np.maximum(list(evidence.labelled), PLAIN + 1)
    return PLAIN in evidence.labelled or not np.allclose(sample.weight, as_drawn)


def one_class_p_value(n_labels: float, label: float, label_free: float) -> float:
    """Return how likely an estimate makes it that all labels are of one class.

    Parameters
    ----------
    n_labels : float
    label : {0, 1}
        The class of all labels.
    label_free : float
        What was estimated without labels.

    Returns
    -------
    float

    Examples
    --------
    >>> one_class_p_value(10, 1, 0.5)
    0.0009765625
    """
    return abs(1 - label - label_free) ** n_labels


LAST_DRAWS: WeakKeyDictionary[Any, tuple[Any, int]] = WeakKeyDictionary()
"""The last `DrawnRows` for each classifier, and how many rows its batch has."""

_NEARLY = 1.1
"""Strata of nearly as many rows have nearly the same probability."""


def was_drawn_unequally(clf: Any, known: np.ndarray) -> bool:
    """Tell whether labelled rows were drawn more often in some strata than in others.

    Parameters
    ----------
    clf : CapeClassifier
    known : ndarray of bool of shape (n_rows,)
        Which rows of a batch have a label.

    Returns
    -------
    bool
        True if all of them are rows of the last draw, from a batch of as many rows.
    """
    drawn, n_rows = LAST_DRAWS.get(clf, (None, 0))
    labelled = np.flatnonzero(known)
    if drawn is None or len(known) != n_rows or len(labelled) < FEWEST_LABELS:
        return False
    if not np.isin(labelled, drawn.rows).all():
        return False
    for group in np.unique(drawn.groups):
        of_group = drawn.probabilities[drawn.groups == group]
        if of_group.max() > _NEARLY * of_group.min():
            return True
    return False
