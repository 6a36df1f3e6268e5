"""What a page says of labels: the verdict on the estimates, and on expected rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cape._groups import group_labels
from cape._wording._numbers import counted, joined
from cape.adaptation import GroupAdaptation
from cape.examination import Examination, LabelChecks
from cape.report._types import Summary

__all__ = ["WIDTHS", "compared_summary", "label_summary"]

WIDTHS = (0.2, 0.1, 0.05)
"""Widths of intervals for which the page says how many labels they need."""

_TOLERATED = 0.1
"""Distance of labels and estimate that a refuted estimate may have without an alarm.
Labels of a million rows refute estimates that are good for every purpose."""

_MOST_GROUPS = 6
_RATES = {"fpr": "FPR", "fnr": "FNR", "accuracy": "accuracy", "pd": "PD"}


def label_summary(examination: Examination) -> Summary | None:
    """Summarise what labels say of the estimates.

    Parameters
    ----------
    examination : Examination

    Returns
    -------
    dict or None
        None if no row has a label. ``decide``, ``refuted`` and ``groups`` as in
        `LabelChecks.to_dict`; ``used``, whether labels corrected any estimate;
        ``verdict`` with ``mark``, ``head`` and ``text``; ``needed``, how many labels a
        group needs for intervals of some widths, if labels decide.
    """
    labels = examination.labels
    if labels is None:
        return None
    verdicts = [check.labels.verdict for check in labels.groups.values()]
    return {
        **labels.to_dict(),
        "used": labels.decide and any(verdicts),
        "verdict": _verdict(labels),
        "needed": _labels_needed(labels),
    }


def _verdict(labels: LabelChecks) -> Summary:
    """Say in a headline and a few sentences what labels say of the estimates."""
    sentences = []
    if labels.refuted:
        sentences += _refuted_sentences(labels)
    confirmed = _names(labels, "confirmed")
    if confirmed and len(confirmed) < len(labels.groups):
        confirm = (
            "The labels confirm the estimate" if sentences else "They confirm that"
        )
        sentences.append(f"{confirm} of {joined(confirmed)} to within 0.1.")
    sentences += _unclear_sentences(labels)
    sentences += _unused_sentences(labels)
    mark, head = _head(labels)
    return {"mark": mark, "head": head, "text": " ".join(sentences)}


def _head(labels: LabelChecks) -> tuple[str, str]:
    """Choose the colour and the headline: those of the gravest verdict."""
    estimates = _estimates(labels)
    verdicts = {check.labels.verdict for check in labels.groups.values()}
    if labels.refuted:
        mark = "bad"
        if labels.decide or not _is_far_off(labels):
            mark = "warn"
        names = joined([labels.names[group] for group in labels.refuted])
        return mark, f"The labels refute the {estimates} of {names}"
    if verdicts == {None}:
        return "open", f"The labels cannot tell whether the {estimates} are right"
    if verdicts == {"confirmed"}:
        return "good", f"The labels confirm the {estimates} to within 0.1"
    return "open", f"The labels do not contradict the {estimates}"


def _estimates(labels: LabelChecks) -> str:
    """Name the estimates that labels are compared with."""
    return "label-free estimates" if labels.decide else "estimates"


def _is_far_off(labels: LabelChecks) -> bool:
    """Tell whether a refuted estimate is wrong by more than is mostly tolerated."""
    for group in labels.refuted:
        check = labels.groups[group]
        if abs(check.labels.estimate - check.without_labels.value) > _TOLERATED:
            return True
    return False


def _refuted_sentences(labels: LabelChecks) -> list[str]:
    """Say what labels and estimates are in groups whose estimate is refuted."""
    sentences = []
    for group in labels.refuted[:_MOST_GROUPS]:
        check = labels.groups[group]
        sentences.append(
            f"Share of positives in {labels.names[group]}: {_both(check)}."
        )
    more = len(labels.refuted) - _MOST_GROUPS
    if more > 0:
        sentences.append(f"{counted(more, 'more group')}: see below.")
    if labels.decide:
        sentences.append("The estimates below were corrected by the labels.")
    else:
        sentences.append(
            "The predictions rest on the estimates, which were made without labels."
        )
    return sentences


def _both(check: GroupAdaptation) -> str:
    """Put what labels say beside the label-free estimate."""
    interval = f"{check.without_labels.low:.3f} to {check.without_labels.high:.3f}"
    share = f"{check.labels.estimate:.3f}"
    if not check.fully_labelled:
        share += f" ({check.estimate.low:.3f} to {check.estimate.high:.3f})"
    without = f"{check.without_labels.value:.3f} ({interval})"
    return f"{share} according to the labels, {without} without them"


def _unclear_sentences(labels: LabelChecks) -> list[str]:
    """Name the groups that labels neither confirm nor refute."""
    sentences = []
    open_names = _names(labels, "not_contradicted")
    if open_names:
        sentences.append(
            f"In {joined(open_names)} they are no sign against the estimate, but do "
            "not confirm it to within 0.1."
        )
    # Of twenty good estimates, one is refuted by chance.
    by_itself = []
    for group, check in labels.groups.items():
        if check.labels.verdict == "refuted" and group not in labels.refuted:
            by_itself.append(labels.names[group])
    if by_itself:
        sentences.append(
            f"By itself, {joined(by_itself)} would be refuted, but among "
            f"{len(labels.groups)} groups chance explains it."
        )
    return sentences


def _unused_sentences(labels: LabelChecks) -> list[str]:
    """Name the groups whose labels cannot be used, and why."""
    no_sample = []
    few = []
    without = []
    for group, check in labels.groups.items():
        if check.labels.verdict is not None:
            continue
        if check.labels.rows == 0:
            without.append(labels.names[group])
        elif check.labels.sample_p_value == check.labels.sample_p_value:
            no_sample.append(labels.names[group])
        else:
            few.append(labels.names[group])
    sentences = []
    if no_sample:
        sentences.append(
            f"The labelled rows of {joined(no_sample)} do not look drawn from the "
            "batch, which is how early outcomes look: nothing is concluded from them."
        )
    if few:
        sentences.append(f"Fewer than 10 rows of {joined(few)} have a label.")
    if without:
        sentences.append(f"No row of {joined(without)} has a label.")
    return sentences


def _names(labels: LabelChecks, verdict: str) -> list[str]:
    names = []
    for group, check in labels.groups.items():
        if check.labels.verdict == verdict:
            names.append(labels.names[group])
    return names


def _labels_needed(labels: LabelChecks) -> list[Summary]:
    """Say how many labels would narrow the intervals of groups to some widths."""
    if not labels.decide:
        return []
    entries = []
    for group, check in labels.groups.items():
        if check.labels.verdict is None or check.fully_labelled:
            continue
        entries.append(
            {
                "group": labels.names[group],
                "labelled": check.labels.rows,
                "width": check.estimate.width,
                "needed": [labels_for_width(check, width) for width in WIDTHS],
            }
        )
    return entries


def labels_for_width(check: GroupAdaptation, width: float) -> int:
    """Compute how many labels an interval of some width needs.

    Parameters
    ----------
    check : GroupAdaptation
        Of labels that were used, of some of the rows.
    width : float

    Returns
    -------
    int
        All labels, those that are there included.
    """
    # The variance of m of N rows is proportional to 1/m - 1/N.
    now = 1 / check.labels.rows - 1 / check.rows
    wanted = now * (width / check.estimate.width) ** 2
    return round(1 / (wanted + 1 / check.rows))


def compared_summary(examination: Examination) -> Summary | None:
    """Summarise how observed rates compare with those that were expected.

    Parameters
    ----------
    examination : Examination

    Returns
    -------
    dict or None
        ``rates``, one entry for each group and rate, and ``text``; None if no group has
        labels of all its rows.
    """
    both = examination.expected_and_observed()
    if both is None:
        return None
    names = {}
    for group, label in group_labels(examination.adaptation.groups).items():
        names[label] = examination.names[group]
    rates = []
    for row in both.reset_index().to_dict("records"):
        name = names[row["group"]]
        rates.append({"group": name, "metric": row["metric"], **_numbers(row)})
    return {"rates": rates, "text": _compared_text(rates)}


def _numbers(row: Any) -> Summary:
    """Return one row of a comparison as JSON can hold it."""
    numbers: Summary = {"inside": bool(row["inside"])}
    for name in ("expected", "low", "high", "observed"):
        value = float(row[name])
        numbers[name] = None if value != value else value
    return numbers


def _compared_text(rates: Sequence[Summary]) -> str:
    """Count the rates that are inside their intervals, and name the others."""
    known = [rate for rate in rates if rate["observed"] is not None]
    outside = []
    for rate in known:
        if not rate["inside"]:
            outside.append(f"{_RATES[rate['metric']]} of {rate['group']}")
    inside = len(known) - len(outside)
    text = f"{inside} of {counted(len(known), 'observed rate')} lie in the interval "
    text += "that was expected before labels were known"
    if not outside:
        return f"{text}."
    return f"{text}; outside: {joined(outside, 'rates')}."
