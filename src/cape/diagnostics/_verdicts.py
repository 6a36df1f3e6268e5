"""What the tests of a group say of a prior shift, with the reason, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cape.adaptation._group import (
    GroupAdaptation,
    describe_verdict,
    estimate_name,
    reservation,
    without_labels,
)
from cape.diagnostics._column_shift import ColumnFinding

__all__ = ["GroupVerdict", "judge_group"]

_WIDEST = 0.5
"""Width of an interval that says nothing, as in `cape._drift`."""


@dataclass(frozen=True)
class GroupVerdict:
    """What the tests of one group say, for people.

    Parameters
    ----------
    word : str
        The ``verdict`` of the adaptation; "fault" where a column is plainly not what it
        was in training, and "ignored" where columns moved but drift is to be ignored.
    text : str
        A sentence without its full stop.
    clear : bool
        Whether the group is consistent with a prior shift without reservation: scores
        and columns were both tested, and nothing held the estimate back.
    """

    word: str
    text: str
    clear: bool = False


def judge_group(
    adapted: GroupAdaptation,
    columns: Sequence[ColumnFinding],
    *,
    scores_tested: bool,
    auc: float,
    cautious: bool,
) -> GroupVerdict:
    """Say what was found in a group, and why nothing could be told if that is so.

    Parameters
    ----------
    adapted : GroupAdaptation
    columns : sequence of ColumnFinding
        All columns of the group; empty if they were not counted.
    scores_tested : bool
        Whether the test of the scores keeps its level for this model.
    auc : float
        How well the scores tell the classes apart in training.
    cautious : bool
        Whether drift held the estimate back.

    Returns
    -------
    GroupVerdict
    """
    at_fault = [finding.column for finding in columns if finding.fault]
    if at_fault:
        return GroupVerdict("fault", _fault_text(adapted, at_fault, cautious))
    moved = any(finding.moved for finding in columns)
    if not cautious and (moved or adapted.verdict == "some_drift"):
        text = "more moved than the prevalence, and it was ignored as you asked"
        return GroupVerdict("ignored", text)
    if adapted.verdict == "cannot_tell":
        return GroupVerdict("cannot_tell", _cannot_tell(adapted, auc))
    text = describe_verdict(adapted)
    if adapted.verdict != "consistent":
        return GroupVerdict(adapted.verdict, text)
    untested = _untested(scores_tested, bool(columns))
    clear = not untested and not reservation(adapted)
    return GroupVerdict("consistent", text + untested, clear)


def _fault_text(adapted: GroupAdaptation, names: list[str], cautious: bool) -> str:
    listed = ", ".join(f"`{name}`" for name in names[:3])
    if len(names) > 3:
        listed += f" and {len(names) - 3} more"
    reason = f"because of {listed}, not what it was in training"
    if cautious:
        return f"cannot tell the prevalence{without_labels(adapted)} {reason}"
    return f"{estimate_name(adapted)} is worthless {reason}"


def _cannot_tell(adapted: GroupAdaptation, auc: float) -> str:
    """Name the reason: too few rows for these scores, or parts that disagree."""
    without = without_labels(adapted)
    if adapted.prior_shift_high - adapted.prior_shift_low > _WIDEST:
        return (
            f"cannot tell from so few rows{without}: {adapted.rows:,} are too few for "
            f"scores with an AUC of {auc:.2f}"
        )
    return (
        f"cannot tell{without}: columns and scores disagree on the prevalence, and "
        f"{estimate_name(adapted)} was held back from "
        f"{adapted.prior_shift_estimate:.3f}"
    )


def _untested(scores_tested: bool, columns_counted: bool) -> str:
    """Say what was not looked at."""
    if not columns_counted:
        return ", as far as the scores tell: no column was looked at"
    if not scores_tested:
        return ", as far as the columns tell: the scores were not tested"
    return ""
