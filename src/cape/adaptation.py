"""Adaptations: what was found in a batch and chosen for it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cape._groups import Group, group_from_json, group_name, group_to_json
from cape._shift_test import check_prior_shift

if TYPE_CHECKING:
    import pandas as pd

    from cape.evidence import Evidence

__all__ = ["Adaptation", "AdaptationWarning", "GroupAdaptation"]

_WARNING_LEVEL = 0.01
"""Level, over all groups, of the test that `warn_if_doubtful` reports."""

_WIDEST_INTERVAL = 0.5
_MOST_NAMES = 10


@dataclass(frozen=True)
class GroupAdaptation:
    """What CAPE estimated and picked for one group.

    Parameters
    ----------
    rows : int
        Rows of the group in the batch.
    training_prevalence : float
        Share of positives in training.
    estimate, low, high : float
        Estimated prevalence of the batch, and its interval.
    member : int
        Index of the picked member in the group's pool.
    theta : float
        Prevalence for which the member was made.
    predicted_prevalence : float
        Share of the group's rows that the member calls positive.
    pd_bound : float
        Upper bound on the prevalence difference, at the level of the interval. It rests
        on the assumption of a prior shift.

    Examples
    --------
    >>> adaptation = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> adaptation.groups[0].rows
    500
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


@dataclass(frozen=True)
class Adaptation:
    """What CAPE estimated in a batch and picked for it, group by group.

    Given an adaptation, prediction is row by row. It is small, can be saved as JSON,
    and is all that has to be sent to where rows are predicted.

    Parameters
    ----------
    fingerprint : str
        Hash of the model that made it; other models reject it.
    groups : mapping from group to GroupAdaptation
    level : float, default=0.95
        Confidence level of the intervals and of the bound on PD; NaN if nobody asked
        for intervals.

    Examples
    --------
    >>> adaptation = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> adaptation.table()["rows"].to_dict()
    {0: 500, 1: 500}
    >>> Adaptation.from_json(adaptation.to_json()) == adaptation
    True
    """

    fingerprint: str
    groups: Mapping[Group, GroupAdaptation]
    level: float = 0.95

    def table(self) -> pd.DataFrame:
        """Return a DataFrame with one row for each group."""
        import pandas as pd

        names = [
            group_name(group) if isinstance(group, tuple) else group
            for group in self.groups
        ]
        rows = [asdict(group) for group in self.groups.values()]
        columns = list(GroupAdaptation.__dataclass_fields__)
        index = pd.Index(names, name="group")
        return pd.DataFrame(rows, index=index, columns=columns)

    def to_json(self) -> str:
        """Write the adaptation as JSON text."""
        groups = []
        for group, adapted in self.groups.items():
            groups.append({"group": group_to_json(group), **asdict(adapted)})
        content = {
            "fingerprint": self.fingerprint,
            "level": self.level,
            "groups": groups,
        }
        return json.dumps(content, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Adaptation:
        """Read the text that `to_json` wrote."""
        try:
            content = json.loads(text)
            groups = {}
            for entry in content["groups"]:
                group = group_from_json(entry.pop("group"))
                groups[group] = GroupAdaptation(**entry)
            return cls(str(content["fingerprint"]), groups, float(content["level"]))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(
                "text must be JSON that Adaptation.to_json wrote, got "
                f"{str(text)[:60]!r}."
            ) from error

    def __repr__(self) -> str:
        if not self.groups:
            return "Adaptation(no rows)"
        lines = ["Adaptation("]
        for group, adapted in self.groups.items():
            lines.append(f"  {group_name(group)}: {_describe(adapted)}")
        lines.append(")")
        return "\n".join(lines)


def _describe(adapted: GroupAdaptation) -> str:
    return (
        f"{adapted.rows} rows, prevalence {adapted.training_prevalence:.3f} -> "
        f"{adapted.estimate:.3f} ({adapted.low:.3f} to {adapted.high:.3f}), "
        f"member for {adapted.theta:.3f} predicts "
        f"{adapted.predicted_prevalence:.3f}, PD at most {adapted.pd_bound:.3f}"
    )


class AdaptationWarning(UserWarning):
    """An adaptation may mislead: more than the prevalence moved, or rows are too few.

    Silence it if you look at the diagnostics anyway.

    Examples
    --------
    >>> import warnings
    >>> from cape import AdaptationWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", AdaptationWarning)
    """


def warn_if_doubtful(
    models: Mapping[Group, Any], evidence: Evidence, adaptation: Adaptation
) -> None:
    """Warn of groups that are no prior shift, and of groups with too few rows.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : Evidence
    adaptation : Adaptation
        Made from the evidence.
    """
    _warn_of_other_shifts(models, evidence)
    _warn_of_wide_intervals(adaptation)


def _warn_of_other_shifts(models: Mapping[Group, Any], evidence: Evidence) -> None:
    """Warn where the test rejects at 1 % over all groups, and where it is sound."""
    # Where the test does not keep its level, a rejection would cry wolf.
    sound = {group: model for group, model in models.items() if model.test_is_sound}
    listed = []
    for group, tested in check_prior_shift(sound, evidence.groups).items():
        if tested.p_adjusted < _WARNING_LEVEL:
            listed.append(
                f"{group_name(group)!r} ({tested.fit.effect:.0%} of its rows)"
            )
    if listed:
        warnings.warn(
            f"more than the prevalence has moved in {', '.join(listed)}: the scores of "
            "the batch are no mixture of the two classes' training scores. The "
            "estimated prevalences and the choice of members rest on that assumption. "
            "cape.diagnostics.prior_shift_test has the details.",
            AdaptationWarning,
            stacklevel=4,
        )


def _warn_of_wide_intervals(adaptation: Adaptation) -> None:
    """Warn where the interval of the prevalence is wider than 0.5."""
    listed = []
    for group, adapted in adaptation.groups.items():
        if adapted.high - adapted.low > _WIDEST_INTERVAL:
            listed.append(f"{group_name(group)!r} ({adapted.rows} rows)")
    if not listed:
        return
    if len(listed) > _MOST_NAMES:
        listed[_MOST_NAMES:] = [f"{len(listed) - _MOST_NAMES} more"]
    warnings.warn(
        f"too few rows to estimate the prevalence of {', '.join(listed)}: its "
        f"{adaptation.level:.0%} interval is wider than {_WIDEST_INTERVAL}. "
        "cape.diagnostics.rows_needed computes how many rows are needed.",
        AdaptationWarning,
        stacklevel=4,
    )
