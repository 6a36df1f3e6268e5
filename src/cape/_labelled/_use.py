"""What the labels of a group say, and how far to use them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import nan
from typing import Any

from cape._estimate import Estimate
from cape._evidence import GroupEvidence
from cape._group_model import GroupModel
from cape._labelled._prevalence import (
    PoweredEstimate,
    combine,
    compare_with_labels,
    estimate_with_labels,
)
from cape._labelled._rates import CheckedCalls, check_calls
from cape._labelled._sample import drawn_p_value, labelled_sample, predictions
from cape._limits import FEWEST_LABELS

SAMPLE_LEVEL = 0.01
"""Labelled rows with a smaller p-value are no sample of the batch."""


@dataclass(frozen=True)
class LabelFindings:
    """What the labels of a group say.

    Parameters
    ----------
    rows : int
        Rows whose label is known.
    estimate : float, default=nan
        Prevalence according to labels and predictions, before it was combined with the
        label-free estimate: right whatever has moved. NaN if no label was used.
    verdict : {"confirmed", "not_contradicted", "refuted"} or None, default=None
        What labels say of the label-free estimate; None if no label was used.
    p_value : float, default=nan
        Probability of a difference as large between the two, if the label-free estimate
        were right.
    sample_p_value : float, default=nan
        Probability that a random sample of the batch differs from it as much as the
        labelled rows do. Below 0.01 they are no sample, and no label is used.
    """

    rows: int
    estimate: float = nan
    verdict: str | None = None
    p_value: float = nan
    sample_p_value: float = nan

    def to_json(self) -> dict[str, Any]:
        """Return a dict that JSON can hold, but for NaN."""
        return asdict(self)


def use_labels(
    model: GroupModel, evidence: GroupEvidence, label_free: Estimate, level: float
) -> tuple[LabelFindings, Estimate, CheckedCalls | None]:
    """Estimate the prevalence of a group from its labels, if they can be used.

    Parameters
    ----------
    model : GroupModel
    evidence : GroupEvidence
        With or without labelled rows.
    label_free : Estimate
        What was estimated without them.
    level : float
        Level of the intervals.

    Returns
    -------
    findings : LabelFindings
    estimate : Estimate
        Prevalence according to labels and label-free estimate; the label-free one if
        labels cannot be used.
    calls : CheckedCalls or None
        What labels say of the calls of members; None if they cannot be used.
    """
    sample = labelled_sample(evidence)
    labelled_rows = evidence.labelled_rows
    if sample is None:
        return LabelFindings(labelled_rows), label_free, None
    is_complete = sample.excess.sum() == 0
    if sample.n_labelled < FEWEST_LABELS and not is_complete:
        return LabelFindings(labelled_rows), label_free, None
    sample_p_value = drawn_p_value(model, evidence, sample)
    if sample_p_value < SAMPLE_LEVEL:
        unused = LabelFindings(labelled_rows, sample_p_value=sample_p_value)
        return unused, label_free, None
    labels = label_estimate(model, evidence, label_free.value)
    error = label_free.standard_error(level)
    comparison = compare_with_labels(labels, label_free.value, error)
    findings = LabelFindings(
        labelled_rows,
        labels.estimate,
        comparison.verdict,
        comparison.p_value,
        sample_p_value,
    )
    combined = combine(labels, label_free.value, error, level)
    estimate = Estimate(combined, *labels.interval(level))
    return findings, estimate, check_calls(model, evidence)


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
