"""The rule that picks a member, and what it found: all that has to be sent to where rows are predicted."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._group_model import GroupModel
from cape._groups import Group, group_name
from cape._shift_test import check_assumption
from cape.evidence import Evidence, GroupEvidence, group_from_json, group_to_json

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Adaptation",
    "AdaptationWarning",
    "GroupAdaptation",
    "adapt_group",
    "choose_member",
    "nearest_member",
    "warn_of_doubts",
]


def nearest_member(
    predicted_prevalences: np.ndarray, thetas: np.ndarray, estimate: Any
) -> np.ndarray:
    """J = argmin |rho-hat_theta - q|, step 3 of Algorithm 1's prediction phase.

    Ties go to the theta nearest the estimate, then to the smaller theta. With single rows ties are the rule.

    Parameters
    ----------
    predicted_prevalences : ndarray of shape (..., n_members)
    thetas : ndarray of shape (n_members,)
    estimate : float or ndarray of shape (...,)

    Returns
    -------
    int or ndarray of shape (...,)
        Index of the member chosen.

    Examples
    --------
    >>> int(nearest_member(np.array([0.1, 0.4, 0.4]), np.array([0.2, 0.5, 0.8]), 0.5))
    1
    """
    if np.ndim(predicted_prevalences) == 1:
        return _nearest(predicted_prevalences, thetas, estimate)
    q = np.asarray(estimate)[..., None]
    order = np.argsort(
        thetas, kind="stable"
    )  # the first of equals is then the smaller theta
    distance = np.round(np.abs(predicted_prevalences[..., order] - q), 12)
    tied = distance == distance.min(axis=-1, keepdims=True)
    return order[
        np.where(tied, np.round(np.abs(thetas[order] - q), 12), np.inf).argmin(axis=-1)
    ]


def _nearest(
    predicted_prevalences: np.ndarray, thetas: np.ndarray, q: float
) -> np.ndarray:
    """The same for one batch, several times faster: only the nearest have to be rounded and told apart."""
    distance = np.abs(predicted_prevalences - q)
    near = np.flatnonzero(distance <= distance.min() + 1e-11)
    if len(near) == 1:
        return near[0]
    rounded = np.round(distance[near], 12)
    tied = near[rounded == rounded.min()]
    return tied[
        np.lexsort((tied, thetas[tied], np.round(np.abs(thetas[tied] - q), 12)))[0]
    ]


@dataclass(frozen=True)
class GroupAdaptation:
    """What CAPE found and chose for one group.

    Parameters
    ----------
    rows : int
        Rows of the group in the batch.
    training_prevalence : float
    estimate, low, high : float
        Estimated prevalence of the batch and its interval.
    member : int
        Index of the chosen member in the group's pool.
    theta : float
        The prevalence for which the member was made.
    predicted_prevalence : float
        Share of the batch that it calls positive.
    pd_bound : float
        PD <= |estimate - predicted_prevalence| + the farther end of the interval (at its level).
    """

    rows: int
    training_prevalence: float
    estimate: float
    low: float
    high: float
    member: int
    theta: float
    predicted_prevalence: float
    pd_bound: float


def choose_member(model: GroupModel, evidence: GroupEvidence) -> int:
    """The member that `adapt_group` chooses, without its interval."""
    predicted = model.pool.predicted_prevalences(evidence)
    return int(
        nearest_member(
            predicted, model.pool.thetas, model.quantifier.estimate(evidence.scores)
        )
    )


def adapt_group(
    model: GroupModel, evidence: GroupEvidence, level: float
) -> GroupAdaptation:
    """Estimate the group's prevalence and choose the member whose predicted prevalence is nearest."""
    estimate = model.quantifier.estimate(evidence.scores)
    low, high = model.quantifier.interval(evidence.scores, level)
    predicted = model.pool.predicted_prevalences(evidence)
    member = int(nearest_member(predicted, model.pool.thetas, estimate))
    distance = abs(estimate - predicted[member])
    return GroupAdaptation(
        rows=int(evidence.scores.size),
        training_prevalence=model.prevalence,
        estimate=estimate,
        low=low,
        high=high,
        member=member,
        theta=float(model.pool.thetas[member]),
        predicted_prevalence=float(predicted[member]),
        pd_bound=float(
            min(distance + max(estimate - low, high - estimate), 1.0)
        ),  # section 6.6 of the design
    )


@dataclass(frozen=True)
class Adaptation:
    """What CAPE found in a batch and chose for it, per group. Prediction with it is row by row.

    Parameters
    ----------
    fingerprint : str
        Of the model that made it; another model refuses it.
    groups : mapping from group to GroupAdaptation
    level : float
        Confidence level of the intervals and of the bound on PD.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape import CapeClassifier
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(2000, random_state=0)
    >>> clf = CapeClassifier(LogisticRegression(), random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> new = make_synthetic(2000, prevalences=(0.2, 0.8), random_state=1)
    >>> adaptation = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> adaptation.table()["estimate"].round(1).to_dict()
    {0: 0.2, 1: 0.8}
    >>> Adaptation.from_json(adaptation.to_json()) == adaptation
    True
    """

    fingerprint: str
    groups: Mapping[Group, GroupAdaptation]
    level: float = 0.95

    def table(self) -> pd.DataFrame:
        """One row a group, as a DataFrame."""
        import pandas as pd

        names = pd.Index(
            [group_name(g) if isinstance(g, tuple) else g for g in self.groups],
            name="group",
        )
        columns = list(GroupAdaptation.__dataclass_fields__)
        return pd.DataFrame(
            [asdict(found) for found in self.groups.values()],
            index=names,
            columns=columns,
        )

    def to_json(self) -> str:
        """The adaptation as JSON text."""
        groups = [
            {"group": group_to_json(group), **asdict(found)}
            for group, found in self.groups.items()
        ]
        return json.dumps(
            {"fingerprint": self.fingerprint, "level": self.level, "groups": groups},
            indent=1,
        )

    @classmethod
    def from_json(cls, text: str) -> Adaptation:
        """Read what `to_json` wrote."""
        try:
            content = json.loads(text)
            groups = {
                group_from_json(entry.pop("group")): GroupAdaptation(**entry)
                for entry in content["groups"]
            }
            return cls(content["fingerprint"], groups, content["level"])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(
                f"text must be an adaptation's JSON, as to_json writes it, got {str(text)[:60]!r}."
            ) from error

    def __repr__(self) -> str:
        if not self.groups:
            return "Adaptation(no rows)"
        lines = [
            f"  {group_name(group)}: {found.rows} rows, prevalence {found.training_prevalence:.3f} -> "
            f"{found.estimate:.3f} ({found.low:.3f} to {found.high:.3f}), member for {found.theta:.3f} predicts "
            f"{found.predicted_prevalence:.3f}, PD at most {found.pd_bound:.3f}"
            for group, found in self.groups.items()
        ]
        return "\n".join(["Adaptation(", *lines, ")"])


def adapt_evidence(
    models: Mapping[Group, GroupModel], evidence: Evidence, level: float
) -> Adaptation:
    """Adapt each group that occurs in the evidence; ``models`` holds a model for each of them."""
    groups = {
        group: adapt_group(models[group], found, level)
        for group, found in evidence.groups.items()
    }
    return Adaptation(evidence.fingerprint, groups, level)


_WARNING_LEVEL = 0.01
_WIDEST = 0.5


class AdaptationWarning(UserWarning):
    """An adaptation that may mislead: the batch is no prior shift, or says too little.

    Examples
    --------
    >>> import warnings
    >>> from cape import AdaptationWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", AdaptationWarning)  # for those who look at the diagnostics themselves
    """


def warn_of_doubts(
    models: Mapping[Group, GroupModel], evidence: Evidence, adaptation: Adaptation
) -> None:
    """Warn, once for all groups, of batches that are no prior shift, and once of those that say too little.

    The first is said at the 1 % level over all groups, and only where the test is sound; the second where the interval
    of the prevalence is wider than 0.5.
    """
    sound = {group: model for group, model in models.items() if model.follows}
    tested = check_assumption(sound, evidence)
    odd = {
        group: found.fit.effect
        for group, found in tested.items()
        if found.p_adjusted < _WARNING_LEVEL
    }
    if odd:
        listed = ", ".join(
            f"{group_name(group)!r} ({effect:.0%} of its rows)"
            for group, effect in odd.items()
        )
        warnings.warn(
            f"more than the prevalence has moved in {listed}: no mixture of the two classes as they were in training "
            "has such scores. The estimated prevalences and the choice of members rest on that assumption; "
            "cape.diagnostics.prior_shift_test tells more.",
            AdaptationWarning,
            stacklevel=3,
        )
    vague = [
        group
        for group, found in adaptation.groups.items()
        if found.high - found.low > _WIDEST
    ]
    if vague:
        listed = ", ".join(
            f"{group_name(group)!r} ({adaptation.groups[group].rows} rows)"
            for group in vague[:10]
        )
        more = f" and {len(vague) - 10} more" if len(vague) > 10 else ""
        warnings.warn(
            f"the batch says too little of {listed}{more}: the interval of the prevalence is wider than {_WIDEST}. "
            "cape.diagnostics.rows_needed tells how many rows would do.",
            AdaptationWarning,
            stacklevel=3,
        )
