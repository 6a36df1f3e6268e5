"""What to do with the predictions of a batch, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cape._wording._numbers import counted, listed, rows_text

if TYPE_CHECKING:
    from cape.examination._action import Action, GroupAction

_MOST_COLUMNS = 3

MARKS = {"do_not_use": "bad", "label": "warn", "not_adapted": "warn", "use": "good"}
"""Actions, the gravest first, and the color of each."""

ACTIONS = {
    "use": "use",
    "label": "label {rows}",
    "not_adapted": "not adapted",
    "do_not_use": "do not use",
}
"""What to do with the predictions of a group; the rows are those to label."""

REASONS = {
    ("do_not_use", "fault"): "fix {columns}",
    ("do_not_use", "refuted"): "labels disagree",
    ("label", "scores"): "share too uncertain",
    ("label", "columns"): "columns disagree",
    ("label", "labels"): "too few labels",
    ("label", "ignored"): "other changes ignored",
    ("not_adapted", "scores"): "weak scores",
    ("not_adapted", "few_rows"): "too few rows",
    ("not_adapted", "drift"): "other changes",
    ("use", "labels"): "backed by labels",
    ("use", "consistent"): "no other change found",
    ("use", "some_drift"): "other changes allowed for",
    ("use", "not_tested"): "not tested",
}
"""Why, by action and reason."""

SAID_ABOVE = [("do_not_use", "fault"), ("use", "consistent"), ("use", "labels")]
"""What rows of a table leave out: broken columns and labels are named above it."""

_COUNTED = {
    "do_not_use": "not to use",
    "label": "to label",
    "not_adapted": "not adapted",
    "use": "to use",
}
"""What to do with several groups or batches, behind their number."""


def reason_text(code: str, reason: str, columns: Iterable[str]) -> str:
    """Say why a group has its action."""
    names = [f"`{name}`" for name in columns]
    shown = listed(names, _MOST_COLUMNS, "columns")
    return REASONS[code, reason].format(columns=shown)


def action_words(code: str, labels: int) -> str:
    """Name an action, with the rows to label.

    Examples
    --------
    >>> action_words("label", 97)
    'label 97 rows'
    >>> action_words("not_adapted", 54)
    'not adapted: label 54 rows'
    """
    rows = rows_text(labels)
    text = ACTIONS[code].format(rows=rows)
    if code == "not_adapted" and labels:
        return f"{text}: label {rows}"
    return text


def action_text(action: GroupAction) -> str:
    """Name the action of a group and say why."""
    why = reason_text(action.code, action.reason, action.columns)
    return f"{action_words(action.code, action.labels)} ({why})"


def action_head(actions: Sequence[Mapping[str, Any]]) -> str:
    """Say what to do with the predictions of a batch.

    Parameters
    ----------
    actions : sequence of mappings
        The ``code``, the ``labels`` and the ``columns`` to fix of each group.

    Examples
    --------
    >>> action_head([{"code": "label", "labels": 97}])
    'Label 97 rows first'
    >>> action_head([{"code": "label", "labels": 97}, {"code": "use", "labels": 0}])
    'Use the predictions for 1 of 2 groups; to use more, label 97 rows'
    >>> action_head([{"code": "do_not_use", "labels": 0, "columns": ["age"]}])
    'Do not use the predictions: fix `age` first'
    """
    codes = [action["code"] for action in actions]
    labels = sum(action["labels"] for action in actions)
    more = f"label {rows_text(labels)}" if labels else "collect more rows"
    n_used = codes.count("use")
    if n_used == len(codes):
        return "Use the predictions"
    if n_used:
        head = f"Use the predictions for {n_used} of {len(codes)} groups"
        only_faults = not labels and "not_adapted" not in codes
        return head if only_faults else f"{head}; to use more, {more}"
    if "do_not_use" in codes:
        broken = [
            f"`{name}`" for action in actions for name in action.get("columns", [])
        ]
        first = listed(list(dict.fromkeys(broken)), _MOST_COLUMNS, "columns")
        return "Do not use the predictions" + (f": fix {first} first" if broken else "")
    if "label" in codes:
        return f"Label {rows_text(labels)} first"
    return f"Predictions not adapted; {more} first"


def more_rows(actions: Sequence[Mapping[str, Any]], noun: str, nouns: str = "") -> str:
    """Count rows that are not shown, by what to do with them.

    Examples
    --------
    >>> more_rows([{"code": "use"}, {"code": "label"}], "group")
    '2 more groups: 1 to label, 1 to use'
    """
    codes = [action["code"] for action in actions]
    counts = []
    for code in MARKS:
        if code in codes:
            counts.append(f"{codes.count(code)} {_COUNTED[code]}")
    text = counted(len(actions), f"more {noun}", nouns and f"more {nouns}")
    return f"{text}: {', '.join(counts)}"


def action_repr(action: Action) -> str:
    """Say what to do with each group."""
    lines = [action_head(action.to_dict()["groups"])]
    for group, name in action.names.items():
        lines.append(f"  {name}: {action.groups[group].text}")
    return "\n".join(lines)
