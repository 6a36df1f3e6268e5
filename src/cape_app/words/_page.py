"""Sentences and headings that need more than a template, for page and terminal.

Functions take numbers and codes, mostly entries of the summary that is shown, and
return text. Captions that are said once stand in the templates, in ``pages/page``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cape.base import _numbers
from cape.base._numbers import counted, first_of, joined, listed, points, shortened
from cape.shown import _action, _audit, _results

if TYPE_CHECKING:
    from cape.examination import LabelChecks

Summary = dict[str, Any]
"""All that a page says, as JSON can hold it; also a part of it."""

_NEAR = 0.1
"""A headline says it where labels and estimate are farther apart."""

MOST_ROWS = 8
"""Of more groups, batches or categories, the first screen shows some."""

_MOST_NAMES = 3
_MOST_PLACES = 6

BESIDE_ANOTHER = ("fpr", "fnr", "accuracy", "prevalence", "predicted_prevalence", "pd")
"""Rates for which there is room beside the names of two classifiers."""

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
"""Metrics of pairs of groups."""

COLUMNS_NOT_CHECKED = (
    "Columns were not checked: the model was trained on a sparse matrix or with "
    "drift='ignore'."
)


def positive_label(columns: Mapping[str, Any]) -> str:
    """Return which label is the positive one, in the words of the user's table."""
    return f"{columns['label']} = {columns['labels'][1]}"


def label_fact(columns: Mapping[str, Any]) -> str:
    """Say which label is positive and which is negative."""
    negative, positive = columns["labels"]
    return f"{columns['label']}: {positive} is positive and {negative} is negative"


def interval(low: float | None, high: float | None) -> str:
    """Write an interval of shares in percent; equal ends are none.

    Examples
    --------
    >>> interval(0.4, 0.52), interval(0.4, 0.4)
    ('40–52%', '')
    """
    if low is None or high is None or low == high:
        return ""
    return f"{points(low)}\N{EN DASH}{points(high)}%"


def number(value: float | None) -> str:
    """Write a number with three decimals, and an unknown or undefined one as a dash.

    Examples
    --------
    >>> number(0.25), number(None), number(float("nan"))
    ('0.250', '-', '-')
    """
    # NaN is the only number that differs from itself.
    if value is None or value != value:
        return "-"
    return f"{value:.3f}"


def range_of_numbers(low: float | None, high: float | None) -> str:
    """Write an interval as `number` writes its ends; equal ends are none.

    Examples
    --------
    >>> range_of_numbers(0.25, 0.5), range_of_numbers(None, None)
    ('0.250-0.500', '')
    """
    return "" if low == high else f"{number(low)}-{number(high)}"


def few(names: Iterable[str]) -> str:
    """List the first names, and count the others."""
    return listed(names, _MOST_NAMES)


def fault_line(fault: Mapping[str, Any], where: str) -> str:
    """Name a column at fault, and the groups or batches in which it is."""
    return f"`{fault['column']}` in {few(fault[where])}: {fault['what_happened']}"


def audit_head(audit: Summary) -> str:
    """Say what differs most for sure.

    Examples
    --------
    >>> audit_head({"differences": []})
    'No difference beyond chance'
    """
    if not audit["differences"]:
        return "No difference beyond chance"
    return difference_text(audit["differences"][0], audit["groups"])


def difference_text(first: Summary, findings: Sequence[Summary]) -> str:
    """Say what differs, and by how much.

    Parameters
    ----------
    first : mapping
        The difference.
    findings : sequence of mappings
        Those of all groups.
    """
    range_of = interval(first["low"], first["high"]).removesuffix("%")
    if "other" in first:
        rate = _audit.RATE_NAMES[first["metric"].removesuffix("_difference")]
        return (
            f"{rate} is {points(first['value'])} points ({range_of}) higher for "
            f"{first['group']} than for {first['other']}"
        )
    shares = {}
    for finding in findings:
        if finding["group"] == first["group"]:
            shares[finding["metric"]] = finding["value"]
    called, true = shares["predicted_prevalence"], shares["prevalence"]
    more = "too high" if called > true else "too low"
    return (
        f"{first['group']}: {_numbers.share_text(called)} predicted positive, "
        f"{_numbers.share_text(true)} labeled positive ({range_of} points {more})"
    )


def alike(actions: Sequence[Summary]) -> list[tuple[Summary, str]]:
    """Put groups together with which the same is to be done, and name or count them.

    Examples
    --------
    >>> groups = [{"group": name, "code": "label", "labels": 9} for name in "abc"]
    >>> alike(groups[:1])[0][1], alike(groups)[0][1]
    ('a', 'all groups')
    """
    together: dict[str, list[Summary]] = {}
    for action in actions:
        together.setdefault(action["code"], []).append(action)
    pairs = []
    for code in sorted(together, key=list(_action.MARKS).index):
        same = together[code]
        whose = same[0]["group"] if len(same) == 1 else counted(len(same), "group")
        if len(same) == len(actions) > 1:
            whose = "all groups"
        labels = sum(action["labels"] for action in same)
        pairs.append(({"code": code, "labels": labels}, whose))
    return pairs


def labels_head(labels: LabelChecks) -> str:
    """Return the headline of what labels say of the estimates."""
    verdicts = {check.labels.verdict for check in labels.groups.values()}
    if any(check.labels.contradict_scores for check in labels.groups.values()):
        return "The labels contradict the scores"
    if labels.refuted:
        names = first_of([labels.names[group] for group in labels.refuted])
        verb = "corrected" if labels.decide else "contradict"
        return f"The labels {verb} the estimates for {names}"
    if verdicts <= {None}:
        return "Too few labels to judge the estimates"
    gaps = _gaps(labels)
    if verdicts == {"confirmed"}:
        off = math.ceil(100 * max(gaps.values())) / 100
        return f"Judged by the labels, the estimates are off by at most {off:.2f}"
    far = []
    for group in sorted(gaps, key=lambda group: -gaps[group]):
        if gaps[group] > _NEAR:
            # "Not contradicted" would hide what the labels say.
            check = labels.groups[group]
            said = _numbers.share_text(
                _results.said_by_labels(check, decide=labels.decide)
            )
            estimate = _numbers.share_text(check.without_labels.value)
            shares = f"{said} (not {estimate})"
            if labels.decide:
                shares = f"from {estimate} to {said}"
            far.append(f"{shares} for {labels.names[group]}")
    if not far:
        return "The labels do not contradict the estimates"
    verb = "moved the share" if labels.decide else "say"
    return f"The labels {verb} {joined(far)}"


def _gaps(labels: LabelChecks) -> dict[Any, float]:
    """Return how far labels and estimate of each group with a verdict lie apart."""
    gaps = {}
    for group, check in labels.groups.items():
        if check.labels.verdict is not None:
            said = _results.said_by_labels(check, decide=labels.decide)
            gaps[group] = abs(said - check.without_labels.value)
    return gaps


def why_no_pe(audit: Mapping[str, Any]) -> str:
    """Say why an audit has no PE; empty if it has one.

    Parameters
    ----------
    audit : mapping
        From `cape_app.pages._audit.audit_content`.
    """
    if len({finding["group"] for finding in audit["groups"]}) == 1:
        return "PE compares groups, and there is only one."
    if not audit["pairs"]:
        return "PE is not computed for this many groups."
    if "pe" not in audit["worst"]:
        return "PE is undefined: no two groups have enough rows and positives."
    return ""


def pe_text(audit: Mapping[str, Any]) -> str:
    """Give the PE that is largest for sure, or say why there is none."""
    text = why_no_pe(audit)
    if not text:
        pair = audit["worst"]["pe"]
        ends = range_of_numbers(pair["low"], pair["high"])
        text = (
            f"Largest PE: {number(pair['value'])} ({ends}), "
            f"{pair['group']} / {pair['other']}."
        )
    without = []
    for finding in audit["groups"]:
        is_share = finding["metric"] in ("prevalence", "predicted_prevalence")
        if is_share and finding["value"] == 0 and finding["group"] not in without:
            without.append(finding["group"])
    if without and audit["pairs"]:
        text += (
            f" PE relative to {few(without)} is undefined for lack of positives or "
            "predicted positives."
        )
    return text


def observed_text(observed: Mapping[str, Any]) -> str:
    """Say in a line how CAPE and the model as trained compare with the labels."""
    right = [number(observed[who]["accuracy"]) for who in COMPARED]
    text = f"Judged by the labels: accuracy {right[0]} ({right[1]} as trained)"
    no_pe = why_no_pe(observed["cape"])
    if no_pe:
        return f"{text}. {no_pe}"
    worst = [observed[who]["worst"].get("pe", {}).get("value") for who in COMPARED]
    return f"{text}, PE {number(worst[0])} ({number(worst[1])} as trained)."


def breach_text(breach: Mapping[str, Any]) -> str:
    """Say that a condition of ``--fail-if`` was met.

    Examples
    --------
    >>> breach_text({"condition": "pd>0.1", "where": "a", "value": 0.3, "by": 0.2})
    'fail-if pd>0.1 is met: a: 0.300, 0.200 beyond the limit'
    >>> breach_text({"condition": "fault", "where": "a", "value": 1.0, "by": 1.0})
    'fail-if fault is met: a'
    """
    text = f"fail-if {breach['condition']} is met: {breach['where']}"
    if breach["condition"].isidentifier():
        return text
    return f"{text}: {breach['value']:.3f}, {breach['by']:.3f} beyond the limit"


def left_out_texts(left_out: Iterable[Mapping[str, Any]]) -> list[str]:
    """Say, in a line for each condition and reason, what could not be checked.

    Examples
    --------
    >>> why = {"condition": "pd>0.1", "why": "too few rows"}
    >>> left_out_texts([{**why, "where": "a"}, {**why, "where": "b"}])
    ['fail-if pd>0.1 skipped, too few rows: a; b']
    """
    places: dict[tuple[str, str], list[str]] = {}
    for one in left_out:
        places.setdefault((one["condition"], one["why"]), []).append(one["where"])
    lines = []
    for (condition, why), names in places.items():
        # Three small groups among ten are in fifty pairs.
        shown = "; ".join(shortened(names, _MOST_PLACES))
        lines.append(f"fail-if {condition} skipped, {why}: {shown}")
    return lines
