"""What page and terminal say of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cape._wording._audit import RATE_NAMES
from cape._wording._numbers import counted, joined, rows_text

_ON_TERMINAL = ("prevalence", "predicted_prevalence", "pd", "fpr", "fnr", "accuracy")

ON_TERMINAL = {rate: RATE_NAMES[rate] for rate in _ON_TERMINAL}
"""As many rates as fit into 80 characters: a further one has to take the place of one
of them."""

BESIDE_ANOTHER = ("fpr", "fnr", "accuracy", "prevalence", "predicted_prevalence", "pd")
"""Rates for which a page has room beside the names of two classifiers."""

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
