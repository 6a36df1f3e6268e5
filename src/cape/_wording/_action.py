"""What to do with the predictions of a batch, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cape._wording._numbers import listed, rows_text

if TYPE_CHECKING:
    from cape.examination._action import Action, GroupAction

_MOST_COLUMNS = 3

ACTIONS = {
    "use": "use",
    "label": "label {rows}",
    "not_adapted": "not adapted",
    "do_not_use": "do not use",
}
"""What to do with the predictions of a group; the rows are those to label."""

REASONS = {
    ("do_not_use", "fault"): "fix {columns} first",
    ("do_not_use", "refuted"): "the labels contradict the estimate",
    ("label", "scores"): "the share is too uncertain",
    ("label", "columns"): "the columns disagree about the share",
    ("label", "labels"): "too few usable labels so far",
    ("label", "ignored"): "more than the share changed, and drift was ignored",
    ("not_adapted", "scores"): "the scores say too little",
    ("not_adapted", "few_rows"): "too few rows",
    ("not_adapted", "drift"): "more than the share changed",
    ("use", "labels"): "backed by labels",
    ("use", "consistent"): "no other change found",
    ("use", "some_drift"): "the interval allows for other changes",
    ("use", "not_tested"): "not tested for other changes",
}
"""Why, by action and reason."""

_HEADS = {
    "do_not_use": "Do not use the predictions",
    "label": "Label {rows} first",
    "not_adapted": "Not adapted: label rows or collect more",
    "use": "Use the predictions",
}


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
    """
    return ACTIONS[code].format(rows=rows_text(labels))


def action_text(action: GroupAction) -> str:
    """Name the action of a group and say why."""
    why = reason_text(action.code, action.reason, action.columns)
    return f"{action_words(action.code, action.labels)} ({why})"


def action_head(action: Mapping[str, Any]) -> str:
    """Say in a few words what to do with the predictions of a batch.

    Examples
    --------
    >>> action_head({"code": "label", "labels": 97})
    'Label 97 rows first'
    """
    return _HEADS[action["code"]].format(rows=rows_text(action["labels"]))


def action_repr(action: Action) -> str:
    """Say what to do with each group."""
    lines = [action_head(action.to_dict())]
    for group, name in action.names.items():
        lines.append(f"  {name}: {action.groups[group].text}")
    return "\n".join(lines)
