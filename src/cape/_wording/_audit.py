"""Names of rates, and what is said of an audit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cape._wording._numbers import counted, joined, level_text, rows_text

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

_ON_TERMINAL = ("prevalence", "predicted_prevalence", "pd", "fpr", "fnr", "accuracy")
ON_TERMINAL = {rate: RATE_NAMES[rate] for rate in _ON_TERMINAL}
"""As many rates as fit into 80 characters: a further one has to take the place of one
of them."""

BESIDE_ANOTHER = ("fpr", "fnr", "accuracy", "prevalence", "predicted_prevalence", "pd")
"""Rates for which a page has room beside the names of two classifiers."""

RATE_HEADINGS = {
    "fpr": "False positive rate",
    "fnr": "False negative rate",
    "accuracy": "Accuracy",
}
"""Rates of which a page has a picture."""

ALONE = {"cape": "the predictions"}
"""The one classifier of an audit, which may be anybody's."""

COMPARED = {"cape": "CAPE", "unadapted": "as trained"}
"""The two classifiers of a batch with labels: the model as trained, cut where it calls
as many positive as training had, is what the user would have without CAPE."""

BETWEEN_NAMES = {
    "pe": "PE",
    "fpr_difference": "difference in FPR",
    "fnr_difference": "difference in FNR",
    "accuracy_difference": "difference in accuracy",
    "predicted_prevalence_difference": "difference in predicted shares",
    "predicted_prevalence_ratio": "ratio of predicted shares (four-fifths rule)",
}
"""Metrics of pairs of groups, as pages call them."""

GLOSSARY = {
    "positive": "One of the two labels, named at the top of this page. Positive does "
    "not mean good: it may mean that a loan was repaid or that a crime is expected.",
    "true share": "Share of a group's rows with a positive label; also called "
    "prevalence.",
    "predicted share": "Share of a group's rows that are predicted positive.",
    "FPR": "False positive rate, the share of negatives that are predicted positive.",
    "FNR": "False negative rate, the share of positives that are predicted negative.",
    "accuracy": "Share of rows that are predicted correctly.",
    "precision": "Share of predicted positives whose label is positive.",
    "PD": "Prevalence difference, the distance between a group's predicted and true "
    "shares. 0 is best.",
    "PE": "Proportional equality, the distance between the ratio of two groups' "
    "predicted shares and the ratio of their true shares. 0 is best.",
    "ratio of predicted shares": "One group's predicted share divided by another's. "
    "1 means equal. The four-fifths rule of thumb, from U.S. hiring guidelines, calls "
    "for a closer look below 0.8. It ignores the labels.",
    "interval": "Range that probably holds the true value if the rows are a sample "
    "from a larger population. Fewer rows make it wider. It does not account for wrong "
    "labels.",
    "too few rows": "With fewer than 10 rows, only an interval is shown.",
}
"""Terms of the audit page."""


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


def why_no_pe(audit: Mapping[str, Any]) -> str:
    """Say why an audit has no PE; empty if it has one.

    Parameters
    ----------
    audit : mapping
        From `cape.report._audit.audit_content`.
    """
    if len({finding["group"] for finding in audit["groups"]}) == 1:
        return "PE compares groups, and there is only one."
    if not audit["pairs"]:
        return "PE is not computed for this many groups."
    if "pe" not in audit["worst"]:
        return "PE is undefined: no two groups have enough rows and positives."
    return ""


def left_out_groups(names: list[str], fewest_rows: int) -> str:
    """Say which groups are too small for the worst pair."""
    return (
        f"Pairs with {joined(names)} are left out because groups of fewer than "
        f"{fewest_rows} rows are too small to compare."
    )


_AS_TRAINED = (
    "As trained: the same model without CAPE, with the cutoff at which it predicts as "
    "many positives in training as there were."
)


def observed_caption(level: float, *, both: bool) -> str:
    """Return the caption of the table of observed rates."""
    caption = f"Rates with {level_text(level)} intervals"
    return f"{caption}. {_AS_TRAINED}" if both else caption


LAST_CHANGED = "not given; the file was last changed on {}"

IMPACT_COLUMNS = {
    "selection_rate": ("selected", "selection rate", "impact ratio"),
    "scoring_rate": ("above median", "scoring rate", "impact ratio"),
}
"""Heads of the columns of a bias audit, by its rate."""

_NOT_ADVICE = (
    "The rules for New York City's Local Law 144 (6 RCNY 5-300 to 5-304) ask for "
    "tables of this kind. These tables are not legal advice. The law sets no "
    "threshold: no impact ratio passes or fails. CAPE does not judge whether the tool, "
    "the data, the categories or the auditor comply with the law."
)


def impact_words(summary: Mapping[str, Any]) -> list[str]:
    """Say what a bias audit shows, and what it is not."""
    if "median" not in summary:
        meaning = (
            "The selection rate is the share of a category that is selected "
            f"({summary['selected']!r}, set by --positive)."
        )
    else:
        meaning = (
            "The scoring rate is the share of a category with a score above "
            f"{summary['median']:.4g}, the median of all rows."
        )
    texts = [
        f"Data source: {summary['source']}. Date of the data: {summary['data_date']}.",
        f"{meaning} The impact ratio is a category's rate divided by the highest rate.",
    ]
    statuses = [row["status"] for rows in summary["tables"].values() for row in rows]
    if "small" in statuses:
        texts.append(
            f"Categories with less than {100 * summary['min_share']:g}% of the rows in "
            "their table have no impact ratio. The rules let an independent auditor "
            "leave them out (6 RCNY 5-301 (d)), but the published summary must then "
            "give the auditor's reason."
        )
    return [*texts, _NOT_ADVICE]


def lowest_ratio(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Name the category with the lowest impact ratio."""
    rows = [row for table in tables.values() for row in table]
    compared = [row for row in rows if row["impact_ratio"] is not None]
    if not compared:
        return "No category is large enough to compare"
    lowest = min(compared, key=lambda row: row["impact_ratio"])
    return f"Lowest impact ratio: {lowest['impact_ratio']:.3f} ({lowest['category']})"


def more_categories(name: str, rows: Sequence[Any], is_rest: bool) -> str:
    """Return the heading above categories that are folded away."""
    more = "more " if is_rest else ""
    return f"{name}: {counted(len(rows), f'{more}category', f'{more}categories')}"


def unknown_category(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Say how many rows of a table are of an unknown category."""
    n = sum(row["applicants"] for row in rows if row["status"] == "unknown")
    return (
        f"Not in this table: {rows_text(n)} with unknown {name.replace(' x ', ' or ')}"
    )
