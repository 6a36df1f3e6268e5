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
    verdicts = {}
    if summary["labels"] is not None:
        for check in summary["labels"]["groups"]:
            verdicts[check["group"]] = check["text"]
    adapted = {group["group"]: group for group in summary["groups"]}
    console.print()
    for entry in checked:
        name = entry["group"]
        estimates = _estimates(adapted[name])
        verdict = verdicts.get(name, "")
        give_line(
            f"{name}: {entry['returned']} of {entry['drawn']} drawn rows were checked; "
            f"{estimates}: {_unused(entry) or verdict}."
        )


def _estimates(group: dict[str, Any]) -> str:
    """Write the estimates without labels and, if labels were used, with them."""
    label_free = number(group["without_labels"])
    span = interval(group["without_labels_low"], group["without_labels_high"])
    without = f"{label_free} ({span}) without labels"
    if group["label_verdict"] is None:
        return without
    estimate = number(group["estimate"])
    return f"{without}, {estimate} ({interval(group['low'], group['high'])}) with them"


def _unused(entry: dict[str, Any]) -> str:
    """Say why the labels of a group were put aside; empty if they were not."""
    if entry["returned"] == 0:
        return "no label came back"
    if entry["used"]:
        return ""
    return (
        "the rows that came back are no random sample of those drawn (p = "
        f"{number(entry['p_value'])}), and their labels are not used"
    )
