"""Labels that contradict the scores: they are of other rows, or the scores have failed.

Whatever share the labels speak for, those of a prior shift keep the AUC: positives
score above negatives as often as in training, or as often as rows with these scores
would, if all of them are more alike than those of training.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot, isnan, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtr

from cape.base._groups import Group
from cape.base._limits import FEWEST_LABELS, LEVEL
from cape.drift._find import GroupDrift
from cape.drift._mixture import holm
from cape.evidence._evidence import GroupEvidence
from cape.labels._sample import (
    SAMPLE_LEVEL,
    LabelledSample,
    drawn_p_value,
    labelled_sample,
    predictions,
)
from cape.training._group_model import GroupModel, auc_error


def find_contradicted(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    drifts: Mapping[Group, GroupDrift],
) -> dict[Group, tuple[float, float]]:
    """Find the groups whose labels contradict the scores.

    There, scores are less than half as good as in training (by 2 AUC - 1), which chance
    does not explain: in the group by itself, by Holm's method, or in all groups
    together, since each of them may have few labels.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : mapping from group to GroupEvidence
        With or without labelled rows.
    drifts : mapping from group to GroupDrift
        Where a column is at fault, that is why scores fail, and labels are not to
        blame, unless they say the opposite of the scores.

    Returns
    -------
    dict from group to (float, float)
        The AUC among labelled rows, and that of training.
    """
    aucs = {}
    gaps = []
    for group, part in evidence.items():
        if part.labelled_rows < FEWEST_LABELS:
            continue
        sample = labelled_sample(part)
        if not sample.weights.sum(axis=1).all():
            continue
        model = models[group]
        found, expected, error = _compare(model, sample)
        # A column at fault explains scores that say nothing, not the opposite.
        is_reversed = ndtr((found - 0.5) / error) < LEVEL
        if group in drifts and drifts[group].faults and not is_reversed:
            continue
        is_worse = _is_less_than_half(found, expected)
        # Rows that were not drawn may lie where scores differ little.
        is_biased = is_worse and drawn_p_value(model, part, sample) < SAMPLE_LEVEL
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


def _compare(model: GroupModel, sample: LabelledSample) -> tuple[float, float, float]:
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
