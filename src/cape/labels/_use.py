"""Whether labels of a few rows can be used, and what they say of an estimate.

Labels that contradict the scores are of other rows, or the scores have failed: nobody
can know which, and they are no evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot, isnan, nan, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtr

from cape.base._estimate import Estimate
from cape.base._groups import Group
from cape.base._limits import FEWEST_LABELS, LEVEL, ONE_CLASS
from cape.drift._find import GroupDrift
from cape.drift._mixture import holm
from cape.evidence._evidence import PLAIN, GroupEvidence
from cape.evidence._histogram import ONE
from cape.labels._factor import LabelFactor
from cape.labels._sample import (
    SAMPLE_LEVEL,
    LabelledSample,
    drawn_p_value,
    labelled_sample,
    predictions,
)
from cape.training._group_model import GroupModel, auc_error


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
    findings = {}
    samples = {}
    for group, part in evidence.items():
        findings[group] = LabelFindings(part.labelled_rows)
        if findings[group].rows >= FEWEST_LABELS:
            samples[group] = labelled_sample(part)
    contradicted = {}
    if not alone:
        contradicted = find_contradicted(models, evidence, drifts, samples)
    factors = {}
    for group, sample in samples.items():
        findings[group], factor = _read_group(
            models[group],
            evidence[group],
            sample,
            label_free[group],
            level,
            contradicted.get(group),
        )
        if factor is not None:
            factors[group] = factor
    return findings, factors


def _read_group(
    model: GroupModel,
    evidence: GroupEvidence,
    sample: LabelledSample,
    label_free: Estimate,
    level: float,
    contradiction: tuple[float, float] | None,
) -> tuple[LabelFindings, LabelFactor | None]:
    labelled_rows = evidence.labelled_rows
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


def find_contradicted(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    drifts: Mapping[Group, GroupDrift],
    samples: Mapping[Group, LabelledSample],
) -> dict[Group, tuple[float, float]]:
    """Find the groups whose labels contradict the scores.

    Whatever share the labels speak for, those of a prior shift keep the AUC: positives
    score above negatives as often as in training, or as often as rows with these scores
    would, if all of them are more alike than those of training. In these groups scores
    are less than half as good (by 2 AUC - 1), which chance does not explain: in the
    group by itself, by Holm's method, or in all groups together, since each of them may
    have few labels.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : mapping from group to GroupEvidence
    drifts : mapping from group to GroupDrift
        Where a column is at fault, that is why scores fail, and labels are not to
        blame, unless they say the opposite of the scores.
    samples : mapping from group to LabelledSample
        Of the groups with enough labels.

    Returns
    -------
    dict from group to (float, float)
        The AUC among labelled rows, and that of training.
    """
    aucs = {}
    gaps = []
    for group, sample in samples.items():
        if not sample.weights.sum(axis=1).all():
            continue
        model = models[group]
        found, expected, error = _compare_aucs(model, sample)
        # A column at fault explains scores that say nothing, not the opposite.
        is_reversed = ndtr((found - 0.5) / error) < _REFUTED
        if group in drifts and drifts[group].faults and not is_reversed:
            continue
        is_worse = _is_less_than_half(found, expected)
        # Rows that were not drawn may lie where scores differ little.
        is_biased = (
            is_worse and drawn_p_value(model, evidence[group], sample) < SAMPLE_LEVEL
        )
        # The AUC of a tiny group is unknown.
        if is_biased or isnan(expected):
            continue
        aucs[group] = found, model.auc()
        gaps.append((found, expected, error))
    if not aucs:
        return {}
    found, expected, errors = np.array(gaps).T
    p_values = np.array(holm(ndtr((found - expected) / errors).tolist()))
    # As studies are pooled: the noise of each decides how much it counts.
    precision = errors**-2.0
    together = np.average([found, expected], axis=1, weights=precision)
    p_together = ndtr((together[0] - together[1]) * sqrt(precision.sum()))
    fail_together = p_together < LEVEL and _is_less_than_half(*together)
    contradict = _is_less_than_half(found, expected)
    contradict &= (p_values < LEVEL) | fail_together
    chosen = zip(aucs, contradict, strict=True)
    return {group: aucs[group] for group, is_so in chosen if is_so}


def _is_less_than_half(auc: Any, expected: Any) -> Any:
    return auc - 0.5 < (expected - 0.5) / 2


def _compare_aucs(
    model: GroupModel, sample: LabelledSample
) -> tuple[float, float, float]:
    """Return the AUC of labelled rows, what to expect of it, and the error of both."""
    found = _auc(*sample.weights)
    # Rows that are alike cannot be told apart, whatever training had.
    share = predictions(model, model.prevalence)
    rows = sample.weights.sum(axis=0)
    expected = min(model.auc(), _auc(rows * (1 - share), rows * share))
    n0, n1 = sample.weights.sum(axis=1) ** 2 / sample.squares.sum(axis=1)
    # Few labelled rows may be in perfect order by chance.
    noise = max(auc_error(found, n1, n0), auc_error(expected, n1, n0), 1e-9)
    return found, expected, hypot(noise, model.auc_error())


def _auc(negatives: np.ndarray, positives: np.ndarray) -> float:
    """Compute the AUC from weights of cells; scores in the same cell are ties."""
    below = np.cumsum(negatives) - negatives / 2
    return float(positives @ below / (positives.sum() * negatives.sum()))
