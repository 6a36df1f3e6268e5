"""Headings and sentences of the pages.

Functions take numbers and codes, mostly entries of the summary that a page shows, and
return text. Captions that are said once stand in the template, ``report/page``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cape.base._numbers import (
    counted,
    first_of,
    joined,
    points,
    share_text,
)
from cape.shown._action import MARKS
from cape.shown._audit import RATE_NAMES
from cape.shown._results import said_by_labels

if TYPE_CHECKING:
    from cape.examination import LabelChecks

Summary = dict[str, Any]
"""All that a page says, as JSON can hold it; also a part of it."""

_NEAR = 0.1
"""A headline says it where labels and estimate are farther apart."""


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
        rate = RATE_NAMES[first["metric"].removesuffix("_difference")]
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
        f"{first['group']}: {share_text(called)} predicted positive, "
        f"{share_text(true)} labeled positive ({range_of} points {more})"
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
    for code in sorted(together, key=list(MARKS).index):
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
            said = share_text(said_by_labels(check, decide=labels.decide))
            estimate = share_text(check.without_labels.value)
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
            said = said_by_labels(check, decide=labels.decide)
            gaps[group] = abs(said - check.without_labels.value)
    return gaps


COLUMNS_NOT_CHECKED = (
    "Columns were not checked: the model was trained on a sparse matrix or with "
    "drift='ignore'."
)
