"""Names of rates, and what is said of an audit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from cape.base._numbers import counted, level_text, rows_text

if TYPE_CHECKING:
    from cape.metrics import Audit
    from cape.metrics._audit import Finding

_MOST_GROUPS = 12

RATE_NAMES = {
    "fpr": "FPR",
    "fnr": "FNR",
    "accuracy": "accuracy",
    "precision": "precision",
    "prevalence": "true",
    "predicted_prevalence": "predicted",
    "pd": "PD",
}
"""Rates of a group, and the heads of their columns on pages."""


def rate_is_undefined(rate: str, groups: list[str]) -> str:
    """Warn of groups that are left out of a comparison."""
    return (
        f"{rate} is undefined for groups with no rows to compute it from. These groups "
        f"are left out: {', '.join(groups)}."
    )


def pe_is_undefined(groups: list[str]) -> str:
    """Warn of groups that no other group can be compared with."""
    return (
        "proportional equality is undefined (NaN) relative to these groups, which have "
        f"no positives or no predicted positives: {', '.join(groups)}."
    )


def audit_title(n_groups: int, level: float) -> str:
    """Return the line above an audit in a notebook."""
    return f"Audit of {counted(n_groups, 'group')}, with {level_text(level)} intervals"


def shares_title(level: float) -> str:
    """Return the title of the picture of an audit."""
    intervals = f"{level_text(level)} intervals"
    return f"Predicted and actual shares of positives, with {intervals}"


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
    lines.append(f"pairs() lists all {len(audit.between)} comparisons")
    return lines
