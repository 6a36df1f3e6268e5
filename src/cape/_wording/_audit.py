"""Names of rates, and what is said of an audit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from cape._wording._numbers import counted, level_text, rows_text

if TYPE_CHECKING:
    from cape.metrics import Audit, Finding

_MOST_GROUPS = 12

IN_NOTEBOOKS = {
    "predicted_prevalence": "called positive",
    "prevalence": "positive",
    "pd": "PD",
    "fpr": "FPR",
    "fnr": "FNR",
    "precision": "precision",
    "accuracy": "accuracy",
}
"""Metrics of a group, and what a notebook calls them."""


def rate_is_undefined(rate: str, groups: list[str]) -> str:
    """Warn of groups that are left out of a comparison."""
    return (
        f"{rate} is undefined for groups without rows to compute it from: "
        f"{', '.join(groups)}; they are left out."
    )


def pe_is_undefined(groups: list[str]) -> str:
    """Warn of groups that no other group can be compared with."""
    return (
        "proportional equality is undefined relative to groups without positives "
        f"or without predicted positives: {', '.join(groups)}; NaN there."
    )


def audit_title(n_groups: int, level: float) -> str:
    """Return the line above an audit in a notebook."""
    return (
        f"Audit of {n_groups} groups, with {level_text(level)} intervals. "
        '"positive" is the share by the labels.'
    )


def shares_title(level: float) -> str:
    """Return the title of the picture of an audit."""
    return f"Called positive and positive, with {level_text(level)} intervals"


def value_text(finding: Finding) -> str:
    """Write the value of a finding, or why it says nothing."""
    return finding.why or f"{finding.estimate.value:.3f}"


def finding_line(finding: Finding, names: Mapping[Hashable, str]) -> str:
    """Write one finding as a line of text."""
    whose = names[finding.group]
    if finding.other is not None:
        whose = f"{whose} / {names[finding.other]}"
    _, low, high = finding.estimate
    return (
        f"{whose}: {finding.metric} {value_text(finding)} ({low:.3f} to {high:.3f}), "
        f"{rows_text(finding.rows)}"
    )


def worst_lines(audit: Audit, names: Mapping[Hashable, str]) -> list[str]:
    """Describe the worst pair of each metric, and say where all pairs are."""
    if not audit.between:
        return []
    lines = []
    for finding in audit.worst_pairs().values():
        lines.append(f"worst pair: {finding_line(finding, names)}")
    lines.append(f"pairs() has all {len(audit.between)} findings between pairs")
    return lines


def groups_lines(
    by_group: Mapping[Hashable, Mapping[str, Finding]], names: Mapping[Hashable, str]
) -> list[str]:
    """Write the values of the first groups as lines of a table."""
    import pandas as pd

    rows = {}
    for group, findings in by_group.items():
        row = {}
        for metric, name in IN_NOTEBOOKS.items():
            if metric in findings:
                row[name] = value_text(findings[metric])
        rows[names[group]] = row
    table = pd.DataFrame.from_dict(rows, orient="index")
    lines = table.head(_MOST_GROUPS).to_string().splitlines()
    left_out = len(table) - _MOST_GROUPS
    if left_out > 0:
        lines.append(f"and {counted(left_out, 'more group')}")
    return [*lines, "table() has the intervals of all groups"]
