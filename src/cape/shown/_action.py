"""What to do with the predictions of a batch, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cape.base._numbers import counted, listed, rows_text
from cape.shown._results import LABELS_OR_SCORES

if TYPE_CHECKING:
    from cape.examination._action import GroupAction

_MOST_COLUMNS = 3

MARKS = {
    "do_not_use": "bad",
    "label": "warn",
    "hold_off": "warn",
    "shares": "warn",
    "use": "good",
}
"""Actions, the gravest first, and the color of each."""

ACTIONS = {
    "use": "use",
    "shares": "use the shares alone",
    "label": "label {rows}",
    "hold_off": "hold off: {more}",
    "do_not_use": "do not use",
}
"""What to do with the predictions of a group; the rows are those to label."""

REASONS = {
    "fault": "fix {columns} first",
    "refuted": "the labels contradict the estimate",
    "contradicted": LABELS_OR_SCORES,
    "rates": "single predictions hardly beat chance",
    "uncertain": "share too uncertain",
    "some_drift": "other changes found",
    "drifted": "other changes found",
    "ignored": "other changes found but ignored",
    "weighted": "training rows were weighted",
    "few_labels": "too few labels",
    "given": "all rows have labels",
    "labels": "backed by labels",
    "consistent": "no other changes found",
    "not_tested": "not tested for other changes",
}
"""Why a group has its action, by the reason's code."""

_SAID_ABOVE = ("fault", "contradicted", "consistent")
"""What rows of a table leave out: broken columns are named above it."""

_LET_CORRECT = "let the labels correct the estimates"

COUNTED = {
    "do_not_use": "unusable",
    "label": "to label",
    "hold_off": "on hold",
    "shares": "to use for shares alone",
    "use": "to use",
}
"""What to do with several groups or batches, behind their number."""


def reason_text(reason: str, columns: Iterable[str]) -> str:
    """Say why a group has its action."""
    return REASONS[reason].format(columns=_named(columns))


def chance_head(tolerance: float) -> str:
    """Name the chance that a share is near its estimate.

    Examples
    --------
    >>> chance_head(0.05), chance_text(0.798)
    ('±5 points', '79%')
    """
    return f"±{100 * tolerance:g} points"


def chance_text(chance: float) -> str:
    """Write the chance that a share is near its estimate, rounded down."""
    return f"{int(100 * chance)}%"


def _named(columns: Iterable[str]) -> str:
    names = [f"`{name}`" for name in dict.fromkeys(columns)]
    return listed(names, _MOST_COLUMNS, "columns")


def reason_in_row(action: Mapping[str, Any]) -> str:
    """Say why a group has its action, where nothing above the table says it."""
    if action["reason"] in _SAID_ABOVE:
        return ""
    return reason_text(action["reason"], action["columns"])


def action_words(code: str, labels: int, reason: str = "", expected: int = 0) -> str:
    """Name an action, with the rows to label, of which fewer may be enough.

    Examples
    --------
    >>> action_words("label", 97), action_words("label", 97, expected=40)
    ('label 97 rows', 'label up to 97 rows')
    >>> action_words("hold_off", 54), action_words("hold_off", 0)
    ('hold off: label 54 rows', 'hold off: collect more rows')
    """
    rows = _rows_to_label(labels, expected)
    more = _LET_CORRECT if reason == "given" else "collect more rows"
    if labels:
        more = f"label {rows}"
    return ACTIONS[code].format(rows=rows, more=more)


def _rows_to_label(labels: int, expected: int) -> str:
    return ("up to " if 0 < expected < labels else "") + rows_text(labels)


def action_text(action: GroupAction) -> str:
    """Name the action of a group and say why."""
    why = reason_text(action.reason, action.columns)
    what = action_words(
        action.code, action.labels, action.reason, action.expected_labels
    )
    return f"{what} ({why})"


def action_head(actions: Sequence[Mapping[str, Any]]) -> str:
    """Say what to do with the predictions of a batch.

    Parameters
    ----------
    actions : sequence of mappings
        The ``code``, the ``labels`` and the ``columns`` to fix of each group.

    Examples
    --------
    >>> action_head([{"code": "label", "labels": 97}])
    'Label 97 rows before you use the predictions'
    >>> print(action_head([{"code": "label", "labels": 97, "expected_labels": 40}]))
    Label up to 97 rows (40 will often do) before you use the predictions
    >>> action_head([{"code": "label", "labels": 97}, {"code": "use", "labels": 0}])
    'Use the predictions for 1 of 2 groups; for the rest, label 97 rows'
    >>> action_head([{"code": "do_not_use", "labels": 0, "columns": ["age"]}])
    'Do not use the predictions: fix `age` first'
    >>> useless = {"predicted_positives": 50.0, "true_positives": 3.0}
    >>> print(action_head([{"code": "shares", "labels": 0, **useless}]))
    The shares can be used; the predictions of single rows cannot: of 100 predicted
    positives, 6 are right
    """
    if not actions:
        return "No rows, so no predictions"
    codes = [action["code"] for action in actions]
    labels = sum(action["labels"] for action in actions)
    expected = sum(action.get("expected_labels", 0) for action in actions)
    broken = [name for action in actions for name in action.get("columns", [])]
    steps = []
    if broken:
        steps.append(f"fix {_named(broken)}")
    if labels:
        often = f" ({expected:,} will often do)" if 0 < expected < labels else ""
        steps.append(f"label {_rows_to_label(labels, expected)}{often}")
    if any(action.get("reason") == "given" for action in actions):
        steps.append(_LET_CORRECT)
    elif any(
        action["code"] == "hold_off" and not action["labels"] for action in actions
    ):
        steps.append("collect more" if labels else "collect more rows")
    first = " and ".join(steps)
    n_used = codes.count("use")
    if n_used == len(codes):
        return "Use the predictions"
    if codes.count("shares") == len(codes):
        return (
            "The shares can be used; the predictions of single rows cannot: "
            f"{_right_of_100(actions)}"
        )
    if n_used + codes.count("shares") == len(codes):
        return (
            f"Use the predictions for {n_used} of {len(codes)} groups; for the rest, "
            f"use the shares alone: {_right_of_100(actions)}"
        )
    if n_used:
        head = f"Use the predictions for {n_used} of {len(codes)} groups"
        return f"{head}; for the rest, {first}" if steps else head
    if "do_not_use" in codes:
        head = "Do not use the predictions"
        if not steps and any(a.get("reason") == "contradicted" for a in actions):
            return f"{head}: {LABELS_OR_SCORES}"
        return f"{head}: {first} first" if steps else head
    if "label" in codes:
        return f"{first[0].upper()}{first[1:]} before you use the predictions"
    return f"Hold off: {first}"


def _right_of_100(actions: Sequence[Mapping[str, Any]]) -> str:
    """Say how many predicted positives are right, where shares alone can be used."""
    useless = [action for action in actions if action["code"] == "shares"]
    predicted = sum(action["predicted_positives"] for action in useless)
    if not predicted:
        return "no row is predicted positive"
    right = 100 * sum(action["true_positives"] for action in useless) / predicted
    return f"of 100 predicted positives, {right:.0f} are right"


def more_rows(actions: Sequence[Mapping[str, Any]], noun: str, nouns: str = "") -> str:
    """Count rows that are not shown, by what to do with them.

    Examples
    --------
    >>> rest = [{"code": "use", "labels": 0}, {"code": "label", "labels": 97}]
    >>> more_rows(rest, "group")
    '2 more groups: 1 to label, 1 to use (label 97 rows)'
    """
    codes = [action["code"] for action in actions]
    counts = []
    for code in MARKS:
        if code in codes:
            counts.append(f"{codes.count(code)} {COUNTED[code]}")
    text = counted(len(actions), f"more {noun}", nouns and f"more {nouns}")
    text = f"{text}: {', '.join(counts)}"
    labels = sum(action["labels"] for action in actions)
    return f"{text} (label {rows_text(labels)})" if labels else text
