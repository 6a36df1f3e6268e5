"""What is printed of a sheet of checked rows."""

from __future__ import annotations

from typing import Any

from cape.cli._app import console, give_line
from cape.cli._show import interval, number

__all__ = ["show_checked"]


def show_checked(checked: list[dict[str, Any]], summary: dict[str, Any]) -> None:
    """Print what the labels of checked rows say of each group.

    Parameters
    ----------
    checked : list of dict
        From `cape.files.CheckedSheet.to_dict`.
    summary : dict
        From `cape.report.batch_summary`.
    """
    adapted = {group["group"]: group for group in summary["groups"]}
    verdicts = {}
    # No label at all may have come back.
    if summary["labels"] is not None:
        for check in summary["labels"]["groups"]:
            verdicts[check["group"]] = check["text"]
    console.print()
    for entry in checked:
        name = entry["group"]
        give_line(_sentence(entry, adapted[name], verdicts.get(name, "")))


def _sentence(entry: dict[str, Any], group: dict[str, Any], verdict: str) -> str:
    """Say what came back of the rows of a group, and what it means."""
    came_back = (
        f"{entry['group']}: {entry['returned']} of {entry['drawn']} drawn rows were "
        "checked"
    )
    label_free = number(group["label_free_estimate"])
    span = interval(group["label_free_low"], group["label_free_high"])
    without = f"{label_free} ({span}) without labels"
    if group["label_verdict"] is None:
        return f"{came_back}; {without}; {_why_unused(entry, verdict)}."
    with_labels = (
        f"{number(group['estimate'])} ({interval(group['low'], group['high'])})"
    )
    return f"{came_back}; {without}, {with_labels} with them: {verdict}."


def _why_unused(entry: dict[str, Any], verdict: str) -> str:
    """Say why labels make no difference to a group."""
    if entry["returned"] == 0:
        return "no label, no change"
    if not entry["used"]:
        return (
            "the rows that came back are no random sample of those drawn (p = "
            f"{number(entry['p_value'])}): their labels are not used"
        )
    return verdict
