"""What is printed of a sheet of checked rows."""

from __future__ import annotations

from typing import Any

from cape.cli._app import console, give_line
from cape.cli._show import interval, number

__all__ = ["show_checked"]

# The level at which labelled rows are taken for no sample of the file.
_SAMPLE_LEVEL = 0.01

_VERDICTS = {
    "confirmed": "the labels confirm the estimate to within 0.1",
    "not_contradicted": "the labels do not contradict the estimate",
    "refuted": "the labels refute the estimate",
}


def show_checked(checked: list[dict[str, Any]], groups: list[dict[str, Any]]) -> None:
    """Print what the labels of checked rows say of each group.

    Parameters
    ----------
    checked : list of dict
        From `cape.files.CheckedSheet.to_dict`.
    groups : list of dict
        The groups of a summary of `cape.report`.
    """
    adapted = {group["group"]: group for group in groups}
    console.print()
    for entry in checked:
        give_line(_sentence(entry, adapted[entry["group"]]))


def _sentence(entry: dict[str, Any], group: dict[str, Any]) -> str:
    """Say what came back of the rows of a group, and what it means."""
    came_back = (
        f"{entry['group']}: {entry['returned']} of {entry['drawn']} drawn rows were "
        "checked"
    )
    label_free = number(group["label_free_estimate"])
    span = interval(group["label_free_low"], group["label_free_high"])
    without = f"{label_free} ({span}) without labels"
    if group["label_verdict"] is None:
        return f"{came_back}; {without}. {_why_unused(entry, group)}"
    with_labels = (
        f"{number(group['estimate'])} ({interval(group['low'], group['high'])})"
    )
    verdict = _VERDICTS[group["label_verdict"]]
    p_value = number(group["label_p_value"])
    return (
        f"{came_back}; {without}, {with_labels} with them: {verdict} (p = {p_value})."
    )


def _why_unused(entry: dict[str, Any], group: dict[str, Any]) -> str:
    """Say why labels make no difference to a group."""
    if entry["returned"] == 0:
        return "No label, no change."
    if not entry["used"]:
        return (
            "The rows that came back are no random sample of those drawn (p = "
            f"{number(entry['p_value'])}): their labels are not used."
        )
    p_value = group["sample_p_value"]
    if p_value is not None and p_value < _SAMPLE_LEVEL:
        return (
            f"The checked rows do not look drawn from the file (p = {number(p_value)}):"
            " their labels are not used."
        )
    return "Too few labels: it takes ten, or those of all rows."
