"""What to do with the predictions of a batch: one code for each group, and one for all.

The codes, and what they mean, are in the table of `cape.shown._action`. The chance that
a share is within the tolerance of its estimate comes from the posterior; how often it
was right on public series is in docs/trust.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cape.base._groups import Group, GroupResult
from cape.base._limits import CHANCE, FAR_OFF, TOLERANCE
from cape.drift._find import ColumnDrift
from cape.examination._expected import GroupExpected
from cape.examination._needed import LabelChecks
from cape.metrics._rates import FEWEST_ROWS
from cape.rules._adaptation import GroupAdaptation
from cape.shown import _action as words
from cape.shown._notebook import InNotebook

CODES = tuple(words.ACTIONS)
"""Actions, the gravest first."""


@dataclass(frozen=True)
class GroupAction:
    """What to do with the predictions of one group.

    Parameters
    ----------
    code : {"use", "shares", "label", "hold_off", "do_not_use"}
    reason : str
        Why: a code of `cape.shown._action.REASONS`, such as a verdict.
    chance : float, default=0
        That the share is within the tolerance of the estimate.
    labels : int
        Rows to label, those included that have a label; 0 if none, or if the
        group has fewer rows than labels are used of.
    expected_labels : int, default=0
        How many of them are expected to be enough.
    columns : list of str
        Columns to fix; empty if none.
    predicted_positives, true_positives : float, default=0
        Where shares alone can be used: the rows predicted positive, and how many of
        them are expected to be right.
    gap, proposal : float, default=None
        Where decisions are left as they are and the share is known: by how much the
        share of positive decisions lies above the estimate, and what it would be if
        CAPE decided.
    """

    code: str
    reason: str
    chance: float = 0.0
    labels: int = 0
    columns: list[str] = field(default_factory=list)
    predicted_positives: float = 0.0
    true_positives: float = 0.0
    expected_labels: int = 0
    gap: float | None = None
    proposal: float | None = None

    @property
    def text(self) -> str:
        """The action and its reason, in a few words."""
        return words.action_text(self)


@dataclass(frozen=True, repr=False)
class Action(InNotebook, GroupResult):
    """What to do with the predictions of a batch.

    Parameters
    ----------
    groups : mapping from group to GroupAction
    tolerance : float, default=0.05
        How far off an estimate may be to be used.
    group_columns : sequence of str, default=None
        Columns whose values the groups combine; used in their names.

    Examples
    --------
    >>> from cape import examine
    >>> seen = examine(clf, new.data, sensitive_features=new.sensitive_features)
    >>> seen.action.code, seen.action.labels, seen.action.groups[0].reason
    ('use', 0, 'consistent')
    """

    groups: Mapping[Group, GroupAction]
    tolerance: float = TOLERANCE

    @property
    def code(self) -> str:
        """The gravest action of a group; "hold_off" if there are no rows."""
        codes = {action.code for action in self.groups.values()}
        return next((code for code in CODES if code in codes), "hold_off")

    @property
    def labels(self) -> int:
        """Rows to label, in all groups together."""
        return sum(action.labels for action in self.groups.values())

    @property
    def columns(self) -> list[str]:
        """Columns to fix."""
        names: dict[str, None] = {}
        for action in self.groups.values():
            names.update(dict.fromkeys(action.columns))
        return list(names)

    def _facts(self) -> dict[str, Any]:
        facts = {"code": self.code, "tolerance": self.tolerance}
        return {**facts, "labels": self.labels, "columns": self.columns}

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        chance = words.chance_head(self.tolerance)
        rows = []
        for action in self.groups.values():
            rows.append(
                {chance: words.chance_text(action.chance), "action": action.text}
            )
        return words.action_head(self.to_dict()["groups"]), rows, ()


def choose_action(
    adapted: GroupAdaptation,
    verdict: str,
    at_fault: Sequence[ColumnDrift],
    labels: LabelChecks | None,
    group: Group,
    labels_asked: int,
    chance: float,
) -> GroupAction:
    """Choose what to do with the predictions of a group, by its share of positives.

    Parameters
    ----------
    adapted : GroupAdaptation
    verdict : str
        The word of its `GroupVerdict`.
    at_fault : sequence of ColumnDrift
        Columns that are plainly not what they were in training.
    labels : LabelChecks or None
        What labels say, whether they decided or not.
    group : value, or tuple of values
    labels_asked : int
        Labels that make the share likely enough; 0 if it is, or if none would.
    chance : float
        That the share is within the tolerance of the estimate.

    Returns
    -------
    GroupAction
    """
    if at_fault:
        reason = "outgrown" if all(one.outgrown for one in at_fault) else "fault"
        columns = [column.column for column in at_fault]
        return GroupAction("do_not_use", reason, columns=columns)
    if labels is not None and labels.groups[group].labels.contradict_scores:
        return GroupAction("do_not_use", "contradicted", chance)
    reason = verdict
    if adapted.labels.verdict is not None:
        reason = "labels"
    if labels is not None and not labels.decide:
        check = labels.groups[group]
        distance = abs(check.labels.estimate - adapted.estimate.value)
        if group in labels.refuted and distance > FAR_OFF:
            return GroupAction("do_not_use", "refuted", chance)
        # PE divides shares: a distance that is small for a share of a half is not for
        # one of a tenth.
        is_near = distance <= check.labels.estimate / 2
        if check.labels.verdict == "confirmed" and is_near:
            return GroupAction("use", "labels", chance)
        if check.fully_labelled and chance < CHANCE:
            return GroupAction("hold_off", "given", chance)
    # Nobody can say what the chance is where drift was found and is ignored, or where
    # rows of training had weights.
    is_told = reason not in ("ignored", "weighted")
    if is_told and chance >= CHANCE:
        return GroupAction("use", reason, chance)
    if adapted.labels.rows:
        reason = "few_labels"
    elif is_told and verdict not in ("drifted", "some_drift"):
        reason = "uncertain"
    code = "label" if labels_asked else "hold_off"
    return GroupAction(code, reason, chance, labels_asked)


_LEAST_SKILL = 0.25
"""Part of the way from chance to no error (Cohen's kappa) that is of use even where one
label is so common that to predict it alone errs less. In 42 batches of 34 series it
parts predictions that find a rare class three to five times as often as chance from
those that are right in 44 to 47 of 100 predicted positives, where 32 are positive."""

_MOST_MISSED = 0.9
"""FNR from which on hardly a positive is found."""


def check_predictions(
    action: GroupAction,
    adapted: GroupAdaptation,
    expected: GroupExpected,
    proposal: float | None,
    tolerance: float,
) -> GroupAction:
    """Keep an action, unless only the shares of the group can be used.

    Parameters
    ----------
    action : GroupAction
        As from `choose_action`.
    adapted : GroupAdaptation
    expected : GroupExpected
        The rates to expect of its predictions.
    proposal : float or None
        Where decisions are left as they are, the share that CAPE would decide positive.
    tolerance : float
        How far such decisions may lie from the estimate.

    Returns
    -------
    GroupAction
    """
    if action.code != "use":
        return action
    called = adapted.predicted_prevalence
    if proposal is not None:
        gap = called - adapted.estimate.value
        action = replace(action, gap=gap, proposal=proposal)
        if abs(gap) > tolerance:
            return replace(action, code="shares", reason="decisions")
    if _tell_rows_apart(adapted, expected):
        return action
    found = adapted.estimate.value * (1 - expected.fnr.value)
    return replace(
        action,
        code="shares",
        reason="rates",
        predicted_positives=adapted.rows * called,
        true_positives=adapted.rows * min(found, called),
    )


def _tell_rows_apart(adapted: GroupAdaptation, expected: GroupExpected) -> bool:
    """Tell whether predictions are expected to be of use for single rows."""
    share = adapted.estimate.value
    called = adapted.predicted_prevalence
    # Of hardly a row of a class there is little to find, and rates may be unknown.
    rarer = adapted.effective_rows * min(share, 1 - share)
    if not expected.known or rarer < FEWEST_ROWS:
        return True
    accuracy = expected.accuracy.value
    by_chance = share * called + (1 - share) * (1 - called)
    skill = (accuracy - by_chance) / (1 - by_chance)
    beats_commonest = accuracy > max(share, 1 - share)
    finds_positives = expected.fnr.value < _MOST_MISSED
    return finds_positives and (beats_commonest or skill >= _LEAST_SKILL)
