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
    "parity": "Gap between rates of positive decisions changed by more than {}",
    "fpr_gap": "Gap between false positive rates changed by more than {}",
    "fnr_gap": "Gap between false negative rates changed by more than {}",
    "pd": "Predicted less true share of positives changed by more than {}",
    "absolute parity": "Rates of positive decisions differ by more than {}",
    "absolute fpr_gap": "False positive rates differ by more than {}",
    "absolute fnr_gap": "False negative rates differ by more than {}",
    "absolute pd": "Predicted share of positives is more than {} off",
}
"""What an alarm to each question means, in a group or between two groups."""

CHANGES = (0.05, 0.1, 0.17)
"""Changes of which a watch says how soon it expects to see them."""

YES = "YES"

_ANSWERS = {True: YES, False: "no", None: "not tested"}

NOT_TESTED = "Not tested: too few training rows of a class, or scores too weak."

_UNSEEN = "more than 100"


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
    >>> alarm |= {"before": [0.25], "now": [0.42]}
    >>> alarm_texts([alarm])
    ['Share of positives moved by more than 0.05: a (0.25 to 0.42, since 2026-04-18)']
    """
    by_question: dict[str, list[Mapping[str, Any]]] = {}
    for alarm in alarms:
        by_question.setdefault(alarm["question"], []).append(alarm)
    texts = []
    for question, alike in by_question.items():
        name, _, tolerance = question.partition(">")
        noun = "group" if len(alike[0]["groups"]) == 1 else "pair"
        subjects = [_subject(alarm) for alarm in alike]
        texts.append(f"{ALARMS[name].format(tolerance)}: {first_of(subjects, noun)}")
    return texts


def _subject(alarm: Mapping[str, Any]) -> str:
    """Name the groups of an alarm, with their rates before and since."""
    since = f"since {alarm['since']}"
    groups = []
    for place, group in enumerate(alarm["groups"]):
        if alarm["now"]:
            rates = f"{alarm['before'][place]:.2f} to {alarm['now'][place]:.2f}"
            group = f"{group} ({rates}"
            group += f", {since})" if place == len(alarm["groups"]) - 1 else ")"
        else:
            group = f"{group} ({since})"
        groups.append(group)
    return " vs. ".join(groups)


def sight(summary: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the table of how many looks a change is expected to take to be seen.

    Examples
    --------
    >>> entry = {"question": "moved>0.05", "groups": ["a"], "looks": [None, 7, 3]}
    >>> sight({"sees": [entry]})[1]
    [['moved > 0.05', 'a', 'more than 100', '7', '3']]
    """
    rows = []
    for entry in summary["sees"]:
        looks = [_UNSEEN if look is None else str(look) for look in entry["looks"]]
        question = question_text(entry["question"])
        rows.append([question, " vs. ".join(entry["groups"]), *looks])
    return ["question", "group", *(f"change of {change:g}" for change in CHANGES)], rows


def sight_text(summary: Mapping[str, Any]) -> str:
    """Say in a line how soon the first question sees changes; empty if unknown.

    Examples
    --------
    >>> entry = {"question": "moved>0.05", "groups": ["a"], "looks": [None, 7, 3]}
    >>> sight_text({"sees": [entry]})
    'Looks until moved > 0.05 sees a change of 0.05, 0.1, 0.17: a more than 100, 7, 3.'
    """
    texts = []
    for entry in summary["sees"]:
        if entry["question"] == summary["sees"][0]["question"]:
            looks = [_UNSEEN if look is None else str(look) for look in entry["looks"]]
            texts.append(f"{' vs. '.join(entry['groups'])} {', '.join(looks)}")
    if not texts:
        return ""
    changes = ", ".join(f"{change:g}" for change in CHANGES)
    question = question_text(summary["sees"][0]["question"])
    return f"Looks until {question} sees a change of {changes}: {'; '.join(texts)}."


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
        for question in summary["questions"]:
            answer = _ANSWERS[group["answers"][question]]
            look = raised.get((question, name), summary["look"])
            # An alarm stands until it is acknowledged, whatever rows since then say.
            row.append(answer if look == summary["look"] else f"{YES}, {look}")
        rows.append([*row, _short(group["decided"])])
    if len(rows) > MOST_GROUPS:
        rows.sort(key=lambda row: not any(cell.startswith(YES) for cell in row[4:]))
    questions = [question_text(question) for question in summary["questions"]]
    return ["group", "since", "share", "interval", *questions, "decided"], rows


def _short(value: float | None) -> str:
    """Write a share with two digits; a dash if it is unknown."""
    return "-" if value is None else f"{value:.2f}"
