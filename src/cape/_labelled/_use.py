"""What the labels of a group say, and how far to use them."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

from scipy.special import ndtri

from cape._group_model import GroupModel
from cape._labelled._drawn import drawn_p_value
from cape._labelled._prevalence import (
    PoweredEstimate,
    combine,
    compare_with_labels,
    estimate_with_labels,
)
from cape._labelled._rates import CheckedCalls, check_calls
from cape._labelled._sample import labelled_sample, predictions
from cape.evidence import GroupEvidence

__all__ = [
    "FEWEST_LABELS",
    "SAMPLE_LEVEL",
    "LabelFindings",
    "LabelFree",
    "label_estimate",
    "use_labels",
]

FEWEST_LABELS = 10
"""With fewer labels in a group, unless these are all its rows, no use is made of them:
intervals were checked from ten labels on."""

SAMPLE_LEVEL = 0.01
"""Labelled rows with a smaller p-value are no sample of the batch."""


@dataclass(frozen=True)
class LabelFree:
    """What was estimated without labels.

    Parameters
    ----------
    estimate, low, high : float
    level : float
        Level of the interval.
    """

    estimate: float
    low: float
    high: float
    level: float

    @property
    def standard_error(self) -> float:
        """Standard error that fits the width of the interval."""
        z = float(ndtri((1 + self.level) / 2))
        return (self.high - self.low) / (2 * z)


@dataclass(frozen=True)
class LabelFindings:
    """What the labels of a group say.

    Parameters
    ----------
    labelled : int
        Rows with a label.
    estimate, low, high : float
        Prevalence according to labels and label-free estimate, and its interval; the
        label-free ones if labels cannot be used.
    label_estimate : float
        Prevalence according to labels and predictions, before it was combined with the
        label-free estimate. NaN if labels cannot be used.
    verdict : {"confirmed", "not_contradicted", "refuted"} or None
        What labels say of the label-free estimate.
    p_value : float
        Of the test of the label-free estimate; NaN if labels cannot be used.
    sample_p_value : float
        Of the test whether labelled rows look drawn from the batch; NaN if there was
        none.
    calls : CheckedCalls or None
        What labels say of the calls of members; None if they cannot be used.
    """

    labelled: int
    estimate: float
    low: float
    high: float
    label_estimate: float = nan
    verdict: str | None = None
    p_value: float = nan
    sample_p_value: float = nan
    calls: CheckedCalls | None = None


def use_labels(
    model: GroupModel, evidence: GroupEvidence, label_free: LabelFree
) -> LabelFindings:
    """Estimate the prevalence of a group from its labels, if they can be used.

    Parameters
    ----------
    model : GroupModel
    evidence : GroupEvidence
        With or without labelled rows.
    label_free : LabelFree
        What was estimated without them.

    Returns
    -------
    LabelFindings
    """
    unused = LabelFindings(
        evidence.labelled_rows, label_free.estimate, label_free.low, label_free.high
    )
    sample = labelled_sample(evidence)
    if sample is None:
        return unused
    is_complete = sample.excess.sum() == 0
    if sample.n_labelled < FEWEST_LABELS and not is_complete:
        return unused
    sample_p_value = drawn_p_value(model, evidence, sample)
    if sample_p_value < SAMPLE_LEVEL:
        return LabelFindings(
            evidence.labelled_rows,
            label_free.estimate,
            label_free.low,
            label_free.high,
            sample_p_value=sample_p_value,
        )
    labels = label_estimate(model, evidence, label_free.estimate)
    low, high = labels.interval(label_free.level)
    error = label_free.standard_error
    comparison = compare_with_labels(labels, label_free.estimate, error)
    return LabelFindings(
        labelled=evidence.labelled_rows,
        estimate=combine(labels, label_free.estimate, error, label_free.level),
        low=low,
        high=high,
        label_estimate=labels.estimate,
        verdict=comparison.verdict,
        p_value=comparison.p_value,
        sample_p_value=sample_p_value,
        calls=check_calls(model, evidence),
    )


def label_estimate(
    model: GroupModel, evidence: GroupEvidence, label_free: float
) -> PoweredEstimate:
    """Estimate the prevalence of a group from its labels and predictions.

    Parameters
    ----------
    model : GroupModel
    evidence : GroupEvidence
        With labelled rows.
    label_free : float
        The label-free estimate: predictions are made for it.

    Returns
    -------
    PoweredEstimate
    """
    sample = labelled_sample(evidence)
    if sample is None:
        raise ValueError("evidence must have labelled rows, got none.")
    return estimate_with_labels(sample, predictions(model, label_free))
