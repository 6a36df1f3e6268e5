"""Adaptations: what was found in a batch and chosen for it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from cape._column_words import describe_column
from cape._drift import LEVEL, GroupDrift
from cape._groups import Group, group_from_json, group_name, group_to_json
from cape.rules import Prevalence, describe_rule

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Adaptation", "AdaptationWarning", "GroupAdaptation"]

_WIDEST_INTERVAL = 0.5
_MOST_NAMES = 10
_MOST_COLUMNS = 5


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
    prior_shift_estimate, prior_shift_low, prior_shift_high : float
        What the quantifier says: right if nothing but the prevalence has moved.
    mean_score : float
        Mean score of the batch, corrected by what it misses in training: right if
        P(y | x) has not moved.
    drift : float
        What else has moved: the standard deviation between the prevalences that single
        columns and the scores speak for, beyond noise. NaN if nobody looked.
    held_back : float
        How far the estimate slid from the quantifier's answer towards the mean score or
        the training prevalence: 0 is not at all, 1 is all the way.
    verdict : {"consistent", "some_drift", "drifted", "cannot_tell", "not_tested"}
        What the tests of scores and columns say of the assumption of a prior shift.
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
    training_prevalence: float
    estimate: float
    low: float
    high: float
    prior_shift_estimate: float
    prior_shift_low: float
    prior_shift_high: float
    mean_score: float
    drift: float
    held_back: float
    verdict: str
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
    drift : {"cautious", "ignore"}, default="cautious"
        Whether what else has moved holds the estimates back.
    rule : mapping, default={"name": "prevalence"}
        The rule that picked the members, as `cape.rules.describe_rule` describes it:
        its name and its parameters.
    notes : tuple of str, default=()
        What the rule has to say of its choice, such as a bound that it misses.

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
    drift: str = "cautious"
    rule: Mapping[str, Any] = field(default_factory=lambda: describe_rule(Prevalence()))
    notes: tuple[str, ...] = ()

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
            "drift": self.drift,
            "rule": dict(self.rule),
            "notes": list(self.notes),
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
            return cls(
                fingerprint=str(content["fingerprint"]),
                groups=groups,
                level=float(content["level"]),
                drift=str(content["drift"]),
                rule=_check_described(content["rule"]),
                notes=tuple(map(str, content["notes"])),
            )
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


def _check_described(rule: Any) -> Mapping[str, Any]:
    """Raise unless this is the description of a rule, of cape's or of the user's."""
    if not isinstance(rule, Mapping) or not isinstance(rule.get("name"), str):
        raise ValueError(f"rule must have a name, got {rule!r}.")
    return rule


def _describe(adapted: GroupAdaptation) -> str:
    return (
        f"{adapted.rows} rows, prevalence {adapted.training_prevalence:.3f} -> "
        f"{adapted.estimate:.3f} ({adapted.low:.3f} to {adapted.high:.3f}), "
        f"{describe_verdict(adapted)}, member for {adapted.theta:.3f} predicts "
        f"{adapted.predicted_prevalence:.3f}, PD at most {adapted.pd_bound:.3f}"
    )


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
        return "consistent with a prior shift"
    if adapted.verdict == "some_drift":
        return f"some drift{_widened(adapted)}"
    if adapted.verdict == "drifted":
        return (
            "more moved than the prevalence: the estimate was held back from "
            f"{adapted.prior_shift_estimate:.3f}"
        )
    if adapted.verdict == "cannot_tell":
        return "cannot tell the prevalence"
    return "not tested for other shifts"


def _widened(adapted: GroupAdaptation) -> str:
    before = adapted.prior_shift_high - adapted.prior_shift_low
    after = adapted.high - adapted.low
    if not after > before:
        return ""
    return f": interval widened from {before:.2f} to {after:.2f}"


class AdaptationWarning(UserWarning):
    """An adaptation may mislead: more moved than the prevalence, or rows are too few.

    Silence it if you look at the diagnostics anyway.

    Examples
    --------
    >>> import warnings
    >>> from cape import AdaptationWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", AdaptationWarning)
    """


def warn_if_doubtful(adaptation: Adaptation, found: Mapping[Group, GroupDrift]) -> None:
    """Warn of groups in which more than the prevalence moved, and of too few rows.

    Parameters
    ----------
    adaptation : Adaptation
    found : mapping from group to GroupDrift
        What speaks against a prior shift.
    """
    _warn_of_faults(found)
    _warn_of_drift(adaptation, found)
    _warn_of_untested_scores(found)
    _warn_of_wide_intervals(adaptation, found)
    for note in adaptation.notes:
        warnings.warn(note, AdaptationWarning, stacklevel=3)


def _warn_of_faults(found: Mapping[Group, GroupDrift]) -> None:
    """Warn of columns that are plainly not what they were in training."""
    sentences = []
    for drift in found.values():
        for column in drift.faults:
            sentences.append(describe_column(column))
    if sentences:
        # Mostly the same column is at fault in every group, in much the same words.
        distinct = _few(list(dict.fromkeys(sentences)), _MOST_COLUMNS)
        warnings.warn(
            f"columns are not what they were in training: {'; '.join(distinct)}. "
            "Nothing can be said of the prevalences until this is mended.",
            AdaptationWarning,
            stacklevel=4,
        )


def _warn_of_drift(adaptation: Adaptation, found: Mapping[Group, GroupDrift]) -> None:
    """Warn of groups in which more than the prevalence has moved, at 1 %."""
    listed = []
    columns: dict[str, None] = {}
    for group, drift in found.items():
        if drift.faults or drift.p_adjusted >= LEVEL:
            continue
        held = adaptation.groups[group].held_back
        kept = "kept" if held == 0 else f"held back by {held:.0%}"
        listed.append(f"{group_name(group)!r} (estimate {kept})")
        columns.update(dict.fromkeys(column.name for column in drift.moved_columns))
    if not listed:
        return
    where = "the scores"
    if columns:
        where = f"the columns {', '.join(_few(list(columns), _MOST_COLUMNS))}"
    warnings.warn(
        f"more than the prevalence has moved in {', '.join(_few(listed))}: look at "
        f"{where}. cape.diagnostics.column_shift has the details.",
        AdaptationWarning,
        stacklevel=4,
    )


def _warn_of_untested_scores(found: Mapping[Group, GroupDrift]) -> None:
    """Warn of learners whose scores cannot be tested."""
    listed = [group_name(group) for group in found if found[group].score is None]
    if listed:
        names = ", ".join(_few([repr(name) for name in listed]))
        warnings.warn(
            f"the scores of {names} were not tested: those of a flexible learner that "
            "was refitted on all rows do not follow its out-of-fold scores. Fit with "
            "scores='folds' for a test that keeps its level.",
            AdaptationWarning,
            stacklevel=4,
        )


def _few(names: list[str], most: int = _MOST_NAMES) -> list[str]:
    """Shorten a list of names."""
    if len(names) <= most:
        return names
    return [*names[:most], f"{len(names) - most} more"]


def _warn_of_wide_intervals(
    adaptation: Adaptation, found: Mapping[Group, GroupDrift]
) -> None:
    """Warn where the interval of the prevalence is wider than 0.5 for lack of rows."""
    listed = []
    for group, adapted in adaptation.groups.items():
        width = adapted.prior_shift_high - adapted.prior_shift_low
        if width > _WIDEST_INTERVAL and not found[group].faults:
            listed.append(f"{group_name(group)!r} ({adapted.rows} rows)")
    if listed:
        warnings.warn(
            f"too few rows to estimate the prevalence of {', '.join(_few(listed))}: "
            f"its {adaptation.level:.0%} interval is wider than {_WIDEST_INTERVAL}. "
            "cape.diagnostics.rows_needed computes how many rows are needed.",
            AdaptationWarning,
            stacklevel=4,
        )
