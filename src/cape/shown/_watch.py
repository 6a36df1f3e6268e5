"""What a watch says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cape.base._numbers import MOST_GROUPS, first_of, rows_text

NO_PROMISE = (
    "the rate of false alarms cannot be guaranteed: the model scored its reference "
    "rows in folds or was refitted. Use cape.Scores, cv='prefit' or one split instead."
)

ALARMS = {
    "moved": "Share of positives moved by more than {}",
    "changed": "Share of positives changed",
    "broken": "Scores no longer fit any share of positives",
    "parity": "Rates of positive decisions differ by more than {}",
    "fpr_gap": "False positive rates differ by more than {}",
    "fnr_gap": "False negative rates differ by more than {}",
    "pd": "Predicted share of positives is more than {} off",
}
"""What an alarm to each question means, in a group or between two groups."""

YES = "YES"

_ANSWERS = {True: YES, False: "no", None: "not tested"}

NOT_TESTED = "Not tested: too few training rows of a class, or scores too weak."

_OF_PAIRS = ("parity", "fpr_gap", "fnr_gap")


def head(summary: Mapping[str, Any]) -> str:
    """Name the look, and say how far an alarm can be trusted."""
    if not summary["number"]:
        return "No rows checked yet."
    look = f"Look {summary['number']} ({summary['look']}), {rows_text(summary['rows'])}"
    return f"{look}. {chance_text(summary)}"


def chance_text(summary: Mapping[str, Any]) -> str:
    """Say how far an alarm can be trusted."""
    if not summary["promises"]:
        return "The rate of false alarms is not known."
    return f"Chance of a false alarm over all looks: about {summary['alpha']:.0%}."


def question_text(question: str) -> str:
    """Write a question as the heading of a column.

    Examples
    --------
    >>> question_text("moved>0.05")
    'moved > 0.05'
    """
    return question.replace(">", " > ")


def alarm_texts(alarms: Iterable[Mapping[str, Any]]) -> list[str]:
    """Say which alarms stand, a line for each question.

    Examples
    --------
    >>> alarm = {"question": "moved>0.05", "groups": ["a"], "since": "2026-04-18"}
    >>> alarm_texts([alarm])
    ['Share of positives moved by more than 0.05: a, in rows since 2026-04-18']
    >>> alarm_texts([alarm, alarm])
    ['Share of positives moved by more than 0.05: a and 1 more group']
    """
    by_question: dict[str, list[Mapping[str, Any]]] = {}
    for alarm in alarms:
        by_question.setdefault(alarm["question"], []).append(alarm)
    texts = []
    for question, alike in by_question.items():
        name, _, tolerance = question.partition(">")
        noun = "pair" if name in _OF_PAIRS else "group"
        names = [" vs. ".join(alarm["groups"]) for alarm in alike]
        text = f"{ALARMS[name].format(tolerance)}: {first_of(names, noun)}"
        if len(alike) == 1:
            text = f"{text}, in rows since {alike[0]['since']}"
        texts.append(text)
    return texts


def is_untested(rows: Iterable[Iterable[str]]) -> bool:
    """Tell whether a question is not asked of a group, so that a reader asks why."""
    return any(_ANSWERS[None] in row for row in rows)


def answers(summary: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the table of the groups; of many, those with an alarm come first.

    Returns
    -------
    columns : list of str
    rows : list of list of str
    """
    by_group = []
    for question in summary["questions"]:
        if question.partition(">")[0] not in _OF_PAIRS:
            by_group.append(question)
    raised: dict[tuple[str, str], str] = {}
    for alarm in summary["alarms"]:
        raised |= {(alarm["question"], name): alarm["look"] for name in alarm["groups"]}
    rows = []
    for group in summary["groups"]:
        name = group["group"]
        share = group["share"]
        between = f"{_short(share['low'])}-{_short(share['high'])}"
        if share["low"] is None:
            between = "-"
        row = [name, group["since"] or "-", _short(share["value"]), between]
        for question in by_group:
            answer = _ANSWERS[group["answers"][question]]
            look = raised.get((question, name), summary["look"])
            # An alarm stands until it is acknowledged, whatever rows since then say.
            row.append(answer if look == summary["look"] else f"{YES}, {look}")
        rows.append([*row, _short(group["decided"])])
    if len(rows) > MOST_GROUPS:
        rows.sort(key=lambda row: not any(cell.startswith(YES) for cell in row[4:]))
    questions = [question_text(question) for question in by_group]
    return ["group", "since", "share", "interval", *questions, "decided"], rows


def _short(value: float | None) -> str:
    """Write a share with two digits; a dash if it is unknown."""
    return "-" if value is None else f"{value:.2f}"
