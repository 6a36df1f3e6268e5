"""Names of rates, and what is said of an audit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from cape._wording._numbers import (
    counted,
    joined,
    level_text,
    percent,
    points,
    rows_text,
)

if TYPE_CHECKING:
    from cape.metrics import Audit
    from cape.metrics._audit import Finding

Names = Mapping[Hashable, str]

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

IN_NOTEBOOKS = {
    "predicted_prevalence": "predicted positive",
    "prevalence": "positive",
    "pd": "PD",
    "fpr": "FPR",
    "fnr": "FNR",
    "precision": "precision",
    "accuracy": "accuracy",
}
"""The same rates, and what a notebook calls them."""

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
    "predicted_prevalence_difference": "difference in predicted share",
    "predicted_prevalence_ratio": "ratio of predicted shares (four-fifths rule)",
}
"""Metrics of pairs of groups, as pages call them."""

GLOSSARY = [
    (
        "positive",
        "One of the two labels, named at the top of this page. Positive does not mean "
        "good: it may mean that a loan is repaid, or that a crime is expected.",
    ),
    ("true share", "Share of a group's rows whose label is positive; its prevalence."),
    ("predicted share", "Share of a group's rows that are predicted positive."),
    (
        "FPR",
        "False positive rate: of the rows whose label is negative, the share predicted "
        "positive.",
    ),
    (
        "FNR",
        "False negative rate: of the rows whose label is positive, the share predicted "
        "negative.",
    ),
    ("accuracy", "Share of rows predicted correctly."),
    (
        "precision",
        "Of the rows predicted positive, the share whose label is positive.",
    ),
    (
        "PD",
        "Prevalence difference: distance between a group's predicted and true share. "
        "0 is best.",
    ),
    (
        "PE",
        "Proportional equality of two groups: distance between the ratio of their "
        "predicted shares and the ratio of their true shares. 0 is best.",
    ),
    (
        "ratio of predicted shares",
        "The predicted share of one group divided by that of another. 1 means equal. "
        "The four-fifths rule of thumb, from American rules on hiring, calls for a "
        "closer look below 0.8. It ignores the labels.",
    ),
    (
        "interval",
        "Where the value may lie if the rows are a sample of many more. Fewer rows "
        "make it wider. It does not allow for wrong labels.",
    ),
    (
        "too few rows",
        "Fewer than ten rows. Only an interval is shown.",
    ),
]
"""Terms of the audit page."""


def rate_is_undefined(rate: str, groups: list[str]) -> str:
    """Warn of groups that are left out of a comparison."""
    return (
        f"{rate} is undefined for groups without rows to compute it from, which are "
        f"left out: {', '.join(groups)}."
    )


def pe_is_undefined(groups: list[str]) -> str:
    """Warn of groups that no other group can be compared with."""
    return (
        "proportional equality is undefined relative to groups without positives "
        f"or without predicted positives: {', '.join(groups)}. The value is NaN there."
    )


def audit_title(n_groups: int, level: float) -> str:
    """Return the line above an audit in a notebook."""
    return (
        f"Audit of {n_groups} groups, with {level_text(level)} intervals. "
        '"positive" is the share by the labels.'
    )


def shares_title(level: float) -> str:
    """Return the title of the picture of an audit."""
    return f"Predicted positive and positive, with {level_text(level)} intervals"


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
    lines.append(f"pairs() lists all {len(audit.between)} findings for pairs of groups")
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
    return [*lines, "table() lists the intervals of all groups"]


RATIO = "predicted_prevalence_ratio"


def audit_words(
    audit: Audit,
    names: Names,
    rows: int,
    columns: Mapping[str, str],
) -> list[dict[str, str]]:
    """Say in plain words what an audit found, for readers who know no FPR.

    Parameters
    ----------
    audit : Audit
    names : mapping from group to str
    rows : int
        Of all groups.
    columns : mapping
        Names of the columns and labels; what it does not name is left out.

    Returns
    -------
    list of dict
        Each has a ``head`` of a few words and a ``text`` of a few sentences.
    """
    texts = {
        "What is compared": _what_is_compared(rows, len(names), columns),
        "How often each group is predicted positive": _predicted(audit, names),
        "Who is wrongly predicted positive": _wronged(audit, names, "fpr"),
        "Who is wrongly predicted negative": _wronged(audit, names, "fnr"),
        "How sure this is": (
            f"Numbers in parentheses are {level_text(audit.level)} intervals; fewer "
            "rows make them wider. The labels are taken as the truth. Whether it is "
            "worse to be predicted positive or negative depends on what the "
            "predictions are used for."
        ),
    }
    return [{"head": head, "text": text} for head, text in texts.items()]


def _what_is_compared(rows: int, n_groups: int, columns: Mapping[str, str]) -> str:
    """Say what the predictions are compared with, and which label is positive."""
    groups = counted(n_groups, "group")
    text = f"Predictions are compared with the labels of {rows_text(rows)} in {groups}."
    if "label" in columns and "prediction" in columns:
        text += f" The label is {columns['label']}, and {columns['prediction']} the "
        text += "prediction."
    if "positive" in columns:
        text += f" Positive is {columns['positive']}"
        if "negative" in columns:
            text += f", and negative {columns['negative']}"
        text += "."
    return text


def _predicted(audit: Audit, names: Names) -> str:
    """Say whose predicted share is not that of the labels, then compare two groups."""
    called = _rates(audit, "predicted_prevalence")
    true = _rates(audit, "prevalence")
    if not true:
        return "There are too few rows in every group to say."

    def share(group: Hashable) -> str:
        return (
            f"{names[group]}: {percent(called[group])} are predicted positive, and "
            f"{percent(true[group])} are positive by the labels"
        )

    sentences = []
    for finding in audit.differences()[:1]:
        if finding.metric == "pd":
            size, *ends = map(points, finding.estimate)
            more = "more" if called[finding.group] > true[finding.group] else "fewer"
            sentences.append(
                f"{share(finding.group)}: {size} ({' to '.join(ends)}) percentage "
                f"points {more}, which is more than chance."
            )
    pair = audit.worst_pairs().get(RATIO)
    if pair is None:
        if not sentences:
            sentences.append(f"{joined([share(group) for group in true])}.")
        return " ".join(sentences)
    if not sentences:
        sentences.append(
            "No group's predicted share differs from its true share by more than "
            "chance."
        )
    value, low, high = pair.estimate
    by_the_labels = ""
    if true[pair.other]:
        ratio = true[pair.group] / true[pair.other]
        by_the_labels = f"; by the labels it would be {ratio:.2f} times"
    four_fifths = "There are too few rows to say whether that is below four fifths."
    if high < 0.8:
        four_fifths = "That is below four fifths."
    elif low >= 0.8:
        four_fifths = "That is above four fifths."
    sentences.append(
        f"The predicted share of {names[pair.group]} is {value:.2f} ({low:.2f} to "
        f"{high:.2f}) times that of {names[pair.other]}{by_the_labels}. {four_fifths}"
    )
    for finding in audit.between:
        same = (finding.group, finding.other) == (pair.group, pair.other)
        if same and finding.metric == "pe" and finding.estimate.low == 0:
            sentences.append("The labels explain this difference.")
    return " ".join(sentences)


def _rates(audit: Audit, metric: str) -> dict[Hashable, float]:
    """Return a rate of the groups that have enough rows."""
    rates = {}
    for finding in audit.findings:
        if finding.metric == metric and finding.enough:
            rates[finding.group] = finding.estimate.value
    return rates


def _wronged(audit: Audit, names: Names, rate: str) -> str:
    """Say which group an error strikes more often."""
    true, called = ("positive", "negative")
    if rate == "fpr":
        true, called = ("negative", "positive")
    metric = f"{rate}_difference"
    whose = f"Of the rows whose label is {true},"
    shares = {}
    for group, share in _rates(audit, rate).items():
        shares[group] = f"{percent(share)} of {names[group]}"
    pair = audit.worst_pairs().get(metric)
    if pair is None and not shares:
        return f"{whose} there are too few in every group to compare."
    if pair is None:
        return f"{whose} {joined(list(shares.values()))} are predicted {called}."
    chance = "may be chance"
    for finding in audit.differences():
        if finding.metric == metric:
            pair, chance = finding, "is more than chance"
            break
    size, low, high = map(points, pair.estimate)
    return (
        f"{whose} {shares[pair.group]} and {shares[pair.other]} are predicted "
        f"{called}: a difference of {size} ({low} to {high}) percentage points, which "
        f"{chance}."
    )


def left_out_groups(names: list[str], fewest_rows: int) -> str:
    """Say which groups are too small for the worst pair."""
    return (
        f"Pairs with {joined(names)} are left out: groups of fewer than "
        f"{fewest_rows} rows are too small to compare."
    )


def observed_caption(level: float, *, both: bool) -> str:
    """Return the caption of the table of observed rates."""
    caption = f"Each rate with its {level_text(level)} interval"
    if both:
        caption += (
            "; as trained: the same model without CAPE, with the cutoff that predicts "
            "as many positives as training had"
        )
    return caption


LAST_CHANGED = "not given; the file was last changed on {}"

IMPACT_COLUMNS = {
    "selection_rate": ("selected", "selection rate", "impact ratio"),
    "scoring_rate": ("above median", "scoring rate", "impact ratio"),
}
"""Heads of the columns of a bias audit, by its rate."""

NOT_ADVICE = (
    "This is the kind of table that the rules on New York City's Local Law 144 ask for "
    "(6 RCNY 5-300 to 5-304). It is not legal advice. The law sets no threshold: no "
    "impact ratio passes or fails. CAPE does not judge whether the tool, the data, "
    "the categories and the auditor meet the law."
)


def impact_words(summary: Mapping[str, Any]) -> list[str]:
    """Say what a bias audit shows, and what it is not."""
    meaning = "The selection rate is the share of a category that is selected."
    if "median" in summary:
        meaning = (
            "The scoring rate is the share of a category with a score above the median "
            f"of all rows, which is {summary['median']:.4g}."
        )
    source, date = summary["source"], summary["data_date"]
    return [
        f"Data source: {source}. Date of the data: {date}.",
        f"{meaning} The impact ratio is that rate divided by the highest rate.",
        NOT_ADVICE,
    ]


def unknown_category(name: str, rows: list[Mapping[str, Any]]) -> str:
    """Say how many rows of a table are of an unknown category."""
    n = sum(row["applicants"] for row in rows if row["status"] == "unknown")
    return (
        f"Rows of an unknown category (no value in {name.replace(' x ', ' or ')}), "
        f"not in this table: {n:,}."
    )


def small_categories(min_share: float) -> str:
    """Say why categories of a bias audit have no impact ratio."""
    return (
        f"Below {100 * min_share:g} % of the rows of their table, so left out of the "
        "impact ratios. The rules let an independent auditor do so (6 RCNY 5-301 (d)), "
        "but the published summary must then give the auditor's reason."
    )
