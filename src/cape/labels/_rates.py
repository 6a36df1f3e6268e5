"""Rates of members, as labelled rows tell them, and those of training, corrected.

How many rows of the batch a member calls positive is known, labels or not. Labelled
rows tell which share of the called rows, and of the rows that are not called, are
positive. Both rates follow from these three numbers, whatever has moved.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import hypot, sqrt

import numpy as np
from scipy.optimize import isotonic_regression

from cape.evidence._evidence import GroupEvidence
from cape.labels._sample import proportion_interval, row_weights, shrinkage
from cape.metrics._rates import FEWEST_ROWS
from cape.training._group_model import GroupModel, MemberRates


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
        add: Callable = hypot
        if called.effective_rows[member] == 0 or passed.effective_rows[member] == 0:
            # Any share is as likely as another, and not in the middle of its interval.
            add = operator.add

        low = _lowest(part, part - part_low, rest, rest_high - rest, add)
        high = 1 - _lowest(rest, rest - rest_low, part, part_high - part, add)
        # All rows may be labelled, and rounding is not to move their rate.
        return min(low, rate), max(high, rate)


def _lowest(part: float, less: float, rest: float, more: float, add: Callable) -> float:
    """Solve (1 - t) part - t rest = add((1 - t) less, t more) for the least t."""
    if part <= less:
        return 0.0
    total = part + rest
    if add is operator.add:
        return (part - less) / (total - less + more)
    middle = part * total - less**2
    constant = part**2 - less**2
    square = total**2 - less**2 - more**2
    return constant / (middle + sqrt(max(middle**2 - square * constant, 0.0)))


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
