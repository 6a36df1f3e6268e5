"""Is there a shift at all? Whether the prevalence of each group has moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from cape._group_model import GroupModel
from cape._groups import Group, unique_names
from cape._labelled import compare_with_labels, label_estimate
from cape._prediction import adapt, find_evidence
from cape._shift_test import holm
from cape._validation import check_prevalence
from cape.adaptation import Adaptation, GroupAdaptation
from cape.classifier import CapeClassifier
from cape.diagnostics._result import GroupResult
from cape.evidence import Evidence, GroupEvidence
from cape.histogram import ScoreHistogram
from cape.quantify import Moments

__all__ = ["GroupMoved", "PrevalenceMoved", "moves_from_adaptation", "prevalence_moved"]


@dataclass(frozen=True)
class GroupMoved:
    """Whether the prevalence of one group has moved.

    Parameters
    ----------
    rows : int
        Rows of the group in the batch.
    training_prevalence : float
        Share of positives in training.
    estimate : float
        Estimated share of positives in the batch.
    p_value : float
        p-value of "nothing has moved" for the group by itself. This is the one to show
        beside the interval of the prevalence, which is for the group by itself, too.
    p_adjusted : float
        p-value after Holm's correction for the number of groups. The verdict rests on
        it.
    moved : bool
        Whether ``p_adjusted`` is below the level of the test, and drift does not
        explain it: an interval that drift has widened must not hold the training
        prevalence.
    """

    rows: int
    training_prevalence: float
    estimate: float
    p_value: float
    p_adjusted: float
    moved: bool


@dataclass(frozen=True)
class PrevalenceMoved(GroupResult):
    """Result of `prevalence_moved`.

    Parameters
    ----------
    groups : mapping from group to GroupMoved
        The test of each group of the batch.
    alpha : float
        Level of the test over all groups together.
    """

    groups: Mapping[Group, GroupMoved]
    alpha: float

    @property
    def moved(self) -> bool:
        """Whether any group has moved."""
        return any(test.moved for test in self.groups.values())

    def _facts(self) -> dict[str, Any]:
        return {
            "moved": self.moved,
            "alpha": self.alpha,
        }

    def __repr__(self) -> str:
        # "No group moved" is short for "no sign of a move in any group".
        if not self.moved:
            return "PrevalenceMoved(no group moved)"
        lines = ["PrevalenceMoved("]
        names = unique_names(self.groups)
        for group, test in self.groups.items():
            verdict = "moved" if test.moved else "no sign of a move"
            lines.append(
                f"  {names[group]}: {verdict}, {test.training_prevalence:.3f} "
                f"-> {test.estimate:.3f} (p = {test.p_adjusted:.3g})"
            )
        lines.append(")")
        return "\n".join(lines)


def prevalence_moved(
    clf: CapeClassifier,
    X: Any = None,
    *,
    sensitive_features: Any = None,
    evidence: Evidence | None = None,
    alpha: float = 0.05,
) -> PrevalenceMoved:
    """Test, in each group, whether the share of positives is still that of training.

    The statistic is the one by which the quantifier sees the prevalence (for SPA the
    mean score). If nothing has moved, its means over the batch and over the training
    rows differ only by noise: that of the batch and that of training. Where evidence
    has labels that can be used, their estimate takes the place of the scores.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    X : table of shape (n_samples, n_features), default=None
        The batch. Exactly one of ``X`` and ``evidence`` must be given.
    sensitive_features : array-like or table of n_samples rows, default=None
        Groups of the rows of ``X``.
    evidence : Evidence, default=None
        Evidence of the batch, from `CapeClassifier.evidence`.
    alpha : float in (0, 1), default=0.05
        Level of the test over all groups together.

    Returns
    -------
    PrevalenceMoved

    See Also
    --------
    examine : This test, and everything else there is to say about a batch.

    Examples
    --------
    >>> from cape.diagnostics import prevalence_moved
    >>> one = make_synthetic(1000, prevalences=(0.5, 0.8), random_state=1)
    >>> groups = one.sensitive_features
    >>> moved = prevalence_moved(clf, one.data, sensitive_features=groups)
    >>> moved.table()["moved"].to_dict()
    {0: False, 1: True}
    """
    check_prevalence("alpha", alpha, closed=False)
    evidence = find_evidence(clf, X, sensitive_features, evidence)
    models = {group: clf.model_of(group) for group in evidence.groups}
    adaptation = adapt(models, evidence, level=1 - alpha, drift=clf.drift)
    return moves_from_adaptation(clf, evidence, adaptation, alpha=alpha)


def moves_from_adaptation(
    clf: CapeClassifier,
    evidence: Evidence,
    adaptation: Adaptation,
    *,
    alpha: float = 0.05,
) -> PrevalenceMoved:
    """Test each group of a batch that was adapted to already.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    evidence : Evidence
        Evidence of the batch.
    adaptation : Adaptation
        Adaptation to the batch, with intervals.
    alpha : float in (0, 1), default=0.05
        Level of the test over all groups together.

    Returns
    -------
    PrevalenceMoved
    """
    p_values = {}
    for group, group_evidence in evidence.groups.items():
        model = clf.model_of(group)
        adapted = adaptation.groups[group]
        if adapted.label_verdict is None:
            p_values[group] = _p_value(model, group_evidence.scores)
        else:
            p_values[group] = _p_value_of_labels(model, group_evidence, adapted)
    # Holm (1979): the chance of any false alarm among the groups stays below alpha.
    adjusted = holm(list(p_values.values()))
    groups = {}
    for group, p_adjusted in zip(p_values, adjusted, strict=True):
        adapted = adaptation.groups[group]
        groups[group] = GroupMoved(
            rows=adapted.rows,
            training_prevalence=adapted.training_prevalence,
            estimate=adapted.estimate,
            p_value=p_values[group],
            p_adjusted=p_adjusted,
            moved=p_adjusted < alpha and not _drift_explains(adapted),
        )
    return PrevalenceMoved(groups, alpha)


def _drift_explains(adapted: GroupAdaptation) -> bool:
    """Tell whether drift widened the interval so far that it holds the old prevalence.

    The test asks whether the scores moved. Drift moves them without any change of the
    prevalence.
    """
    if adapted.label_verdict is not None:
        # Labels see the prevalence itself.
        return False
    within = adapted.low <= adapted.training_prevalence <= adapted.high
    return adapted.held_back > 0 and within


def _p_value_of_labels(
    model: GroupModel, evidence: GroupEvidence, adapted: GroupAdaptation
) -> float:
    """Return the p-value of "the prevalence is still that of training", from labels.

    As in the test of the scores, training and batch are samples of one population under
    the null hypothesis; the batch may be known by few labels.
    """
    labels = label_estimate(model, evidence, adapted.label_free_estimate)
    pi = model.prevalence
    noise = np.sqrt(pi * (1 - pi) * (1 / model.size + 1 / adapted.rows))
    return compare_with_labels(labels, pi, float(noise)).p_value


def _p_value(model: GroupModel, batch: ScoreHistogram) -> float:
    """Return the two-sided p-value of "the prevalence is still that of training".

    With t, f and m the means of the quantifier's statistic over the training positives,
    the training negatives and the batch, the null hypothesis says that m and
    pi t + (1 - pi) f are means of two samples of the same mixture.
    """
    pi = model.prevalence
    positives = _moments(model, model.positives)
    negatives = _moments(model, model.negatives)
    observed = _moments(model, batch)
    # Variance of a mixture: within the classes, plus between their means.
    within = pi * positives.variance + (1 - pi) * negatives.variance
    between = pi * (1 - pi) * (positives.mean - negatives.mean) ** 2
    training_rows = positives.size + negatives.size
    # Two independent samples of the mixture: their variances add up.
    inverse_rows = 1 / observed.size + 1 / training_rows
    noise = np.sqrt((within + between) * inverse_rows)
    of_positives = pi * positives.mean
    of_negatives = (1 - pi) * negatives.mean
    difference = abs(observed.mean - of_positives - of_negatives)
    if noise == 0:
        # A constant statistic is either that of training or it is not.
        return float(difference == 0)
    return float(2 * ndtr(-difference / noise))


def _moments(model: GroupModel, histogram: ScoreHistogram) -> Moments:
    """Return the moments of the quantifier's statistic at the training prevalence."""
    return model.quantifier.statistic_moments(histogram, model.prevalence)
