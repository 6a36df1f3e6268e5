"""What a watch says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cape._wording._numbers import counted, level_text, rows_text, share_text
from cape._wording._terminal import Blocks, Styled, TextTable, interval

NO_PROMISE = (
    "no false-alarm rate can be promised: the model scored its reference rows in folds "
    "or was refitted. Use cape.Scores, cv='prefit' or one split to get the promise."
)

_ALARMS = {
    "moved": "The share of positives of {group} has moved by more than {tolerance}",
    "changed": "The share of positives of {group} has changed",
    "broken": "The scores of {group} no longer fit any share of positives",
    "parity": "{group} and {other} differ by more than {tolerance} in how often they "
    "are decided positive",
    "fpr_gap": "The false positive rates of {group} and {other} differ by more than "
    "{tolerance}",
    "fnr_gap": "The false negative rates of {group} and {other} differ by more than "
    "{tolerance}",
    "pd": "The predicted share of positives of {group} is more than {tolerance} off",
}

_ANSWERS = {True: "YES", False: "no", None: "not tested"}

LABEL = "Label 100 rows to be sure:"
HISTORY = "Share of positives of each group; red dots are alarms"
PROMISE = (
    "The chance of any false alarm counts all looks, groups and questions together. "
    "It is exact for questions about decisions and labels, and approximate, for large "
    "numbers of rows, for questions about shares and fit. "
    "Rows must be independent, and the model must not have been trained on its "
    "reference."
)

_MEANINGS = {
    "moved": "Is the share of positives of a group more than {} from its reference?",
    "changed": "Has the share of positives of a group changed since the reference?",
    "broken": "Do the scores of a group no longer fit any share of positives?",
    "parity": "Do two groups differ by more than {} in how often they are decided as "
    "positive?",
    "fpr_gap": "Do the false positive rates of two groups differ by more than {}?",
    "fnr_gap": "Do the false negative rates of two groups differ by more than {}?",
    "pd": "Is the predicted share of positives of a group more than {} off?",
}
_OF_PAIRS = ("parity", "fpr_gap", "fnr_gap")


def meanings(questions: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Say what each question asks."""
    for question in questions:
        name, _, tolerance = question.partition(">")
        yield question_text(question), _MEANINGS[name].format(tolerance)


def verdict(n_alarms: int) -> str:
    """Say how many alarms stand."""
    return f"{counted(n_alarms, 'alarm')} raised" if n_alarms else "No alarm"


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
    return f"Chance of any false alarm, ever: about {level_text(summary['alpha'])}."


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
    'The share of positives of a has moved by more than 0.05, in rows since 2026-04-18.'
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
    columns, rows, decisions = answers(summary)
    yield TextTable("", columns, rows)
    yield decisions
    for alarm in summary["alarms"]:
        yield Styled(f"ALARM: {alarm_text(alarm)}", "bad")
    if summary["alarms"] and command:
        yield f"{LABEL} {command}"


def answers(summary: Mapping[str, Any]) -> tuple[list[str], list[list[str]], str]:
    """Return the table of the groups, and a line on what was decided.

    Returns
    -------
    columns : list of str
    rows : list of list of str
    decisions : str
    """
    by_group: list[str] = []
    of_pairs: list[str] = []
    for question in summary["questions"]:
        asks_pairs = question.partition(">")[0] in _OF_PAIRS
        (of_pairs if asks_pairs else by_group).append(question)
    rows = []
    rates = []
    for group in summary["groups"]:
        share = group["share"]
        row = [group["group"], group["since"] or "-", _short(share["value"])]
        row.append(f"{_short(share['low'])}-{_short(share['high'])}")
        rows.append([*row, *(_ANSWERS[group["answers"][q]] for q in by_group)])
        rates.append(f"{group['group']} {_short(group['decided'])}")
    columns = ["group", "since", "share now", "at all looks"]
    lines = [f"decisions: {', '.join(rates)}"]
    for question in of_pairs:
        yes = any(alarm["question"] == question for alarm in summary["alarms"])
        lines.append(f"{question_text(question)}: {_ANSWERS[yes]}")
    return [*columns, *map(question_text, by_group)], rows, "; ".join(lines)


def _short(value: float | None) -> str:
    """Write a share with two digits; a dash if it is unknown."""
    return "-" if value is None else f"{value:.2f}"
