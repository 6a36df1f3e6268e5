"""Is there a shift at all? Whether the prevalence of each group has moved from training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from cape._group_model import GroupModel
from cape._groups import Group, group_name
from cape._shift_test import holm
from cape._validation import check_prevalence
from cape.classifier import CapeClassifier
from cape.diagnostics._common import evidence_of, frame, json_ready
from cape.evidence import Evidence
from cape.histogram import ScoreHistogram
from cape.quantify._base import Moments

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GroupMoved", "PrevalenceMoved", "prevalence_moved"]


@dataclass(frozen=True)
class GroupMoved:
    """Whether one group has moved.

    Parameters
    ----------
    rows : int
        Rows of the group in the batch.
    training_prevalence, estimate : float
        Share of positives in training, and as estimated in the batch.
    p_value, p_adjusted : float
        Of "nothing moved", of the group alone and after Holm's correction for the number of groups.
    moved : bool
        Whether p_adjusted is below the level.
    """

    rows: int
    training_prevalence: float
    estimate: float
    p_value: float
    p_adjusted: float
    moved: bool


@dataclass(frozen=True)
class PrevalenceMoved:
    """What `prevalence_moved` found.

    Parameters
    ----------
    groups : mapping from group to GroupMoved
    alpha : float
        Level of the test over all groups.
    """

    groups: Mapping[Group, GroupMoved]
    alpha: float

    @property
    def moved(self) -> bool:
        """Whether any group has moved."""
        return any(found.moved for found in self.groups.values())

    def table(self) -> pd.DataFrame:
        """One row a group: rows, training_prevalence, estimate, p_value, p_adjusted, moved."""
        return frame(self.groups)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON can hold it."""
        return {
            "moved": self.moved,
            "alpha": self.alpha,
            "groups": json_ready(self.groups),
        }

    def __repr__(self) -> str:
        if not self.moved:
            return "PrevalenceMoved(no group moved)"
        lines = [
            f"  {group_name(group)}: {'moved' if found.moved else 'no sign of a move'}, "
            f"{found.training_prevalence:.3f} -> {found.estimate:.3f} (p = {found.p_adjusted:.3g})"
            for group, found in self.groups.items()
        ]
        return "\n".join(["PrevalenceMoved(", *lines, ")"])


def prevalence_moved(
    clf: CapeClassifier,
    X: Any = None,
    *,
    sensitive_features: Any = None,
    evidence: Evidence | None = None,
    alpha: float = 0.05,
) -> PrevalenceMoved:
    """Test, in each group, whether the share of positives is still that of training.

    The statistic is the one by which the quantifier sees the prevalence (for SPA the mean score): if nothing moved, its
    means over the batch and over the training rows differ by noise alone, that of the batch and that of training.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    X : table of shape (n_samples, n_features), default=None
        The batch; exactly one of ``X`` and ``evidence`` is given.
    sensitive_features : array-like or table of n_samples rows, default=None
    evidence : Evidence, default=None
    alpha : float in (0, 1), default=0.05
        Level of the test over all groups together.

    Returns
    -------
    PrevalenceMoved

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape import CapeClassifier
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(2000, random_state=0)
    >>> clf = CapeClassifier(LogisticRegression(), random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> new = make_synthetic(1000, prevalences=(0.5, 0.8), random_state=1)
    >>> prevalence_moved(clf, new.data, sensitive_features=new.sensitive_features).table()["moved"].to_dict()
    {0: False, 1: True}
    """
    check_prevalence("alpha", alpha, closed=False)
    found = evidence_of(clf, X, sensitive_features, evidence)
    models = {group: clf.model_of(group) for group in found.groups}
    p_values = [
        _p_value(models[group], part.scores) for group, part in found.groups.items()
    ]
    groups = {
        group: GroupMoved(
            rows=int(part.scores.size),
            training_prevalence=models[group].prevalence,
            estimate=models[group].quantifier.estimate(part.scores),
            p_value=p,
            p_adjusted=adjusted,
            moved=adjusted < alpha,
        )
        for (group, part), p, adjusted in zip(
            found.groups.items(), p_values, holm(p_values), strict=True
        )
    }
    return PrevalenceMoved(groups, alpha)


def _p_value(model: GroupModel, batch: ScoreHistogram) -> float:
    pi = model.prevalence
    t, f, m = (
        Moments.of(model.quantifier._statistic(h, pi), h)
        for h in (model.positives, model.negatives, batch)
    )
    within = pi * t.variance + (1 - pi) * f.variance
    spread = within + pi * (1 - pi) * (t.mean - f.mean) ** 2
    noise = np.sqrt(spread * (1 / m.size + 1 / (t.size + f.size)))
    difference = abs(m.mean - pi * t.mean - (1 - pi) * f.mean)
    if noise == 0:
        return float(difference == 0)
    return float(2 * ndtr(-difference / noise))
