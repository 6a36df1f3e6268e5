"""What was found of one group and chosen for it, and its verdicts in words."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Any

from cape._labelled import FEWEST_LABELS

__all__ = [
    "GroupAdaptation",
    "LabelCheck",
    "describe_group",
    "describe_label_free",
    "describe_labels",
    "describe_verdict",
    "estimate_name",
    "reservation",
    "without_labels",
]

_NOTABLY_HELD_BACK = 0.1
"""Share by which an estimate is held back that a reader should know of."""


@dataclass(frozen=True, eq=False)
class GroupAdaptation:
    """What CAPE estimated and picked for one group.

    Parameters
    ----------
    rows : int
        Rows of the group in the batch.
    labelled : int
        Rows whose label is known.
    training_prevalence : float
        Share of positives in training.
    estimate, low, high : float
        Estimated prevalence of the batch, and its interval.
    label_free_estimate, label_free_low, label_free_high : float
        The same without labels; equal to the estimate if no label was used.
    prior_shift_estimate, prior_shift_low, prior_shift_high : float
        What the quantifier says: right if nothing but the prevalence has moved.
    mean_score : float
        Mean score of the batch, corrected by what it misses in training: right if
        P(y | x) has not moved.
    label_estimate : float
        What the labels say, before they were combined with the label-free estimate:
        right whatever has moved. NaN if no label was used.
    drift : float
        What else has moved: the standard deviation between the prevalences that single
        columns and the scores speak for, beyond noise. NaN if nobody looked.
    held_back : float
        How far the estimate slid from the quantifier's answer towards the mean score or
        the training prevalence: 0 is not at all, 1 is all the way.
    verdict : {"consistent", "some_drift", "drifted", "cannot_tell", "not_tested"}
        What the tests of scores and columns say of the assumption of a prior shift.
    label_verdict : {"confirmed", "not_contradicted", "refuted"} or None
        What the labels say of the label-free estimate. None if no label was used.
    label_p_value : float
        Probability of a difference as large between the two, if the label-free estimate
        were right.
    sample_p_value : float
        Probability that a random sample of the batch differs from it as much as the
        labelled rows do. Below 0.01 they are no sample, and no label is used.
    member : int
        Index of the picked member in the group's pool.
    theta : float
        Prevalence for which the member was made.
    predicted_prevalence : float
        Share of the group's rows that the member calls positive.
    pd_bound : float
        Upper bound on the prevalence difference, at the level of the interval. It holds
        if the interval does.

    Examples
    --------
    >>> adaptation = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> adaptation.groups[0].rows
    500
    """

    rows: int
    labelled: int
    training_prevalence: float
    estimate: float
    low: float
    high: float
    label_free_estimate: float
    label_free_low: float
    label_free_high: float
    prior_shift_estimate: float
    prior_shift_low: float
    prior_shift_high: float
    mean_score: float
    label_estimate: float
    drift: float
    held_back: float
    verdict: str
    label_verdict: str | None
    label_p_value: float
    sample_p_value: float
    member: int
    theta: float
    predicted_prevalence: float
    pd_bound: float

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupAdaptation):
            return NotImplemented
        pairs = zip(astuple(self), astuple(other), strict=True)
        return all(_are_equal(one, another) for one, another in pairs)

    __hash__ = None  # type: ignore[assignment]


def _are_equal(one: Any, other: Any) -> bool:
    """Compare two numbers or words; NaN, which is unknown, is equal to itself."""
    both_unknown = one != one and other != other
    return both_unknown or one == other


@dataclass(frozen=True)
class LabelCheck:
    """What labels say of the label-free estimate of one group.

    Parameters
    ----------
    rows, labelled : int
        Rows of the group in the batch, and those whose label is known.
    label_free_estimate, label_free_low, label_free_high : float
        Prevalence that was estimated without labels, and its interval.
    label_estimate : float
        What the labels say: the true share if all rows have one. NaN if the labels
        cannot be used.
    low, high : float
        Interval with labels; the label-free one if they cannot be used.
    label_verdict : {"confirmed", "not_contradicted", "refuted"} or None
    label_p_value, sample_p_value : float
        As in `GroupAdaptation`.

    Examples
    --------
    >>> groups = new.sensitive_features
    >>> labels = new.target.where(groups == 0)
    >>> adaptation = clf.adapt(new.data, labels, sensitive_features=groups)
    >>> check = LabelCheck.of(adaptation.groups[0])
    >>> check.text
    'labels of all 500 rows confirm the label-free estimate to within 0.1'
    """

    rows: int
    labelled: int
    label_free_estimate: float
    label_free_low: float
    label_free_high: float
    label_estimate: float
    low: float
    high: float
    label_verdict: str | None
    label_p_value: float
    sample_p_value: float

    @classmethod
    def of(cls, adapted: GroupAdaptation) -> LabelCheck:
        """Take the check out of an adaptation that was made with labels."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: getattr(adapted, name) for name in names})

    @property
    def is_complete(self) -> bool:
        """Whether all rows have a label."""
        return self.labelled == self.rows

    @property
    def text(self) -> str:
        """The verdict in words, without a full stop."""
        return describe_labels(self)


def describe_group(adapted: GroupAdaptation) -> str:
    parts = [
        f"{adapted.rows} rows",
        f"prevalence {adapted.training_prevalence:.3f} -> "
        f"{adapted.estimate:.3f} ({adapted.low:.3f} to {adapted.high:.3f})",
    ]
    check = LabelCheck.of(adapted)
    if check.label_verdict is not None:
        parts.append(describe_label_free(check))
    if check.labelled:
        parts.append(check.text)
    parts += [
        describe_verdict(adapted),
        f"member for {adapted.theta:.3f} predicts {adapted.predicted_prevalence:.3f}",
        f"PD at most {adapted.pd_bound:.3f}",
    ]
    return ", ".join(parts)


def describe_label_free(check: LabelCheck) -> str:
    """Say in a few words what was estimated without labels."""
    return (
        f"without labels {check.label_free_estimate:.3f} "
        f"({check.label_free_low:.3f} to {check.label_free_high:.3f})"
    )


def describe_labels(check: LabelCheck) -> str:
    """Say in a few words what labels say of the label-free estimate.

    Parameters
    ----------
    check : LabelCheck

    Returns
    -------
    str
        A sentence without its full stop.
    """
    if check.labelled == 0:
        return "no row has a label"
    labels = f"labels of {check.labelled:,} rows"
    if check.labelled == check.rows:
        labels = f"labels of all {check.rows:,} rows"
    p_value = _p_text(check.label_p_value)
    if check.label_verdict == "confirmed":
        return f"{labels} confirm the label-free estimate to within 0.1"
    if check.label_verdict == "not_contradicted":
        return f"{labels} do not contradict the label-free estimate ({p_value})"
    if check.label_verdict == "refuted":
        return f"{labels} refute the label-free estimate ({p_value})"
    if check.labelled < FEWEST_LABELS:
        return f"fewer than {FEWEST_LABELS} labels ({check.labelled}): not used"
    return (
        "labels were not used: the labelled rows do not look drawn from the batch "
        f"({_p_text(check.sample_p_value)})"
    )


def _p_text(p_value: float) -> str:
    # Further digits would claim more than a large-sample test can tell.
    if p_value < 0.001:
        return "p < 0.001"
    return f"p = {p_value:.3f}"


def describe_verdict(adapted: GroupAdaptation) -> str:
    """Say in a few words what the tests say of the assumption of a prior shift.

    Parameters
    ----------
    adapted : GroupAdaptation

    Returns
    -------
    str
    """
    if adapted.verdict == "consistent":
        return f"consistent with a prior shift{reservation(adapted)}"
    if adapted.verdict == "some_drift":
        return f"some drift{_widened(adapted)}"
    if adapted.verdict == "drifted":
        return (
            f"more moved than the prevalence: {estimate_name(adapted)} was held back "
            f"from {adapted.prior_shift_estimate:.3f}"
        )
    if adapted.verdict == "cannot_tell":
        return f"cannot tell the prevalence{without_labels(adapted)}"
    return "not tested for other shifts"


def reservation(adapted: GroupAdaptation) -> str:
    """Say that signs too weak for a verdict held the estimate back, if they did.

    Parameters
    ----------
    adapted : GroupAdaptation

    Returns
    -------
    str
        To be added to a verdict; empty if the estimate was not held back notably.
    """
    # Drift begins to count before it is significant, so that estimates do not jump.
    if not adapted.held_back > _NOTABLY_HELD_BACK:
        return ""
    return (
        f", but not clearly: {estimate_name(adapted)} was held back from "
        f"{adapted.prior_shift_estimate:.3f}"
    )


def estimate_name(adapted: GroupAdaptation) -> str:
    """Name the estimate that tests without labels are about."""
    if adapted.label_verdict is None:
        return "the estimate"
    return "the label-free estimate"


def without_labels(adapted: GroupAdaptation) -> str:
    """Restrict what is said to the estimate without labels, where labels were used."""
    if adapted.label_verdict is None:
        return ""
    return " without labels"


def _widened(adapted: GroupAdaptation) -> str:
    before = adapted.prior_shift_high - adapted.prior_shift_low
    after = adapted.label_free_high - adapted.label_free_low
    if not after > before:
        return ""
    interval = "interval"
    if adapted.label_verdict is not None:
        interval = "label-free interval"
    return f": {interval} widened from {before:.2f} to {after:.2f}"
