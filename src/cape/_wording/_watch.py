"""What a watch says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cape._wording._numbers import level_text, rows_text, share_text
from cape._wording._terminal import Blocks, Styled, TextTable, interval

NO_PROMISE = (
    "no false-alarm rate can be promised: the model scored its reference rows in folds "
    "or was refitted. With cape.Scores, cv='prefit' or one split it can."
)

_ALARMS = {
    "moved": "the share of positives of {group} has moved by more than {tolerance}",
    "changed": "the share of positives of {group} has changed",
    "broken": "the scores of {group} no longer fit any share of positives",
    "parity": "{group} and {other} differ by more than {tolerance} in how often they "
    "are decided positive",
    "fpr_gap": "the false positive rates of {group} and {other} differ by more than "
    "{tolerance}",
    "fnr_gap": "the false negative rates of {group} and {other} differ by more than "
    "{tolerance}",
    "pd": "the predicted share of positives of {group} is more than {tolerance} off",
}

_ANSWERS = {True: "YES", False: "no", None: "not tested"}

LABEL = "Label 100 rows to be sure: {command}"


def head(summary: Mapping[str, Any]) -> str:
    """Name the look, and say how far an alarm can be trusted."""
    if not summary["number"]:
        return "No rows checked yet."
    look = f"look {summary['number']} ({summary['look']}), {rows_text(summary['rows'])}"
    if not summary["promises"]:
        return f"{look}. The rate of false alarms is not known."
    chance = level_text(summary["alpha"])
    return f"{look}. Chance of any false alarm, ever: about {chance}."


def question_text(question: str) -> str:
    """Write a question as the heading of a column.

    Examples
    --------
    >>> question_text("moved>0.05")
    'moved > 0.05'
    """
    return question.replace(">", " > ")


def alarm_text(alarm: Mapping[str, Any]) -> str:
    """Say what an alarm is about.

    Examples
    --------
    >>> alarm = {"question": "moved>0.05", "groups": ["a"], "since": "2026-04-18"}
    >>> alarm_text(alarm)
    'the share of positives of a has moved by more than 0.05, in rows since 2026-04-18.'
    """
    name, _, tolerance = alarm["question"].partition(">")
    groups = [*alarm["groups"], ""]
    text = _ALARMS[name].format(group=groups[0], other=groups[1], tolerance=tolerance)
    return f"{text}, in rows since {alarm['since']}."


def lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Say in a few lines what a watch has found."""
    yield head(summary)
    for group in summary["groups"]:
        share = group["share"]
        between = interval(share["low"], share["high"])
        known = "unknown" if share["value"] is None else share_text(share["value"])
        yield f"  {group['group']}: {known} ({between}) since {group['since']}"
    for alarm in summary["alarms"]:
        yield f"ALARM: {alarm_text(alarm)}"


def watched(summary: Mapping[str, Any], command: str = "") -> Blocks:
    """Show a look on a terminal.

    Parameters
    ----------
    summary : mapping
        From `cape.Watch.to_dict`.
    command : str, default=""
        What draws rows to label.

    Yields
    ------
    str, Styled or TextTable
    """
    yield head(summary)
    by_group: list[str] = []
    of_pairs: list[str] = []
    for question in summary["questions"]:
        asks_pairs = question.partition(">")[0] in ("parity", "fpr_gap", "fnr_gap")
        (of_pairs if asks_pairs else by_group).append(question)
    rows = []
    for group in summary["groups"]:
        share = group["share"]
        row = [group["group"], group["since"] or "-"]
        row += [
            _short(share["value"]),
            f"{_short(share['low'])}-{_short(share['high'])}",
        ]
        rows.append([*row, *(_ANSWERS[group["answers"][q]] for q in by_group)])
    columns = ["group", "since", "share now", "at all looks"]
    yield TextTable("", [*columns, *map(question_text, by_group)], rows)
    rates = [
        f"{group['group']} {_short(group['decided'])}" for group in summary["groups"]
    ]
    answers = []
    for question in of_pairs:
        yes = any(alarm["question"] == question for alarm in summary["alarms"])
        answers.append(f"{question_text(question)}: {_ANSWERS[yes]}")
    yield "; ".join([f"decisions: {', '.join(rates)}", *answers])
    for alarm in summary["alarms"]:
        yield Styled(f"ALARM: {alarm_text(alarm)}", "bad")
    if summary["alarms"] and command:
        yield LABEL.format(command=command)


def _short(value: float | None) -> str:
    """Write a share with two digits; a dash if it is unknown."""
    return "-" if value is None else f"{value:.2f}"
