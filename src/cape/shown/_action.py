"""What to do with the predictions of a batch, and why: one table of codes.

Terminal, page, notebook, JSON, warnings and ``docs/verdicts.md`` take their words from
`ACTIONS` and `REASONS`, so that a code has one name everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from cape.base._numbers import counted, first_of, listed, points, rows_text

if TYPE_CHECKING:
    from cape.examination._action import GroupAction

_MOST_COLUMNS = 3


class ActionWords(NamedTuple):
    """An action in words, its meaning, its color, and what follows a number of them."""

    words: str
    meaning: str
    mark: str
    counted: str


ACTIONS = {
    "do_not_use": ActionWords(
        "do not use",
        "A column is broken, or labels contradict the estimate or the scores.",
        "bad",
        "unusable",
    ),
    "label": ActionWords(
        "label {rows}",
        "The chance is lower. Look up the true outcome of so many of its rows: with "
        "these labels it is expected to be 80%.",
        "warn",
        "to label",
    ),
    "hold_off": ActionWords(
        "hold off: {more}",
        "The chance is lower, and labels of its rows would not do, or are not to "
        "decide.",
        "warn",
        "on hold",
    ),
    "shares": ActionWords(
        "shares alone",
        "The chance is 80% or more, but the predictions of single rows are of no use, "
        "or decisions lie far from the share.",
        "warn",
        "to use for shares alone",
    ),
    "use": ActionWords("use", "The chance is 80% or more.", "good", "to use"),
}
"""What to do with the predictions of a group, the gravest first."""

MARKS = {code: action.mark for code, action in ACTIONS.items()}
"""The color of each action."""


class Reason(NamedTuple):
    """A reason in words, what it means, and what would help."""

    words: str
    meaning: str
    helps: str


_BROKEN = (
    "A column is clearly not what it was in training, and nothing can be estimated."
)

VERDICTS = {
    "fault": Reason("a column is broken", _BROKEN, "fix {columns}"),
    "drifted": Reason(
        "other changes found",
        "More changed than the share of positives: columns and scores disagree, and "
        "the estimate is likely off by more than .05.",
        "train again on newer rows",
    ),
    "ignored": Reason(
        "other changes found but ignored",
        "More changed than the share of positives, and you asked CAPE to ignore it.",
        "let CAPE allow for them (drift='cautious')",
    ),
    "uncertain": Reason(
        "too little evidence",
        "The rows are too few or the scores too weak: the estimate is likely off by "
        "more than .05, or its interval is wider than 0.5.",
        "collect more rows",
    ),
    "weighted": Reason(
        "only training or batch is weighted",
        "The batch differs from training, and only one of them has unequal weights: "
        "they alone may be the difference.",
        "give weights in training and batch, or label some rows",
    ),
    "some_drift": Reason(
        "small other changes found",
        "More changed than the share of positives, but little, and the interval is "
        "wider for it.",
        "train again on newer rows",
    ),
    "not_tested": Reason(
        "not tested for other changes",
        "Neither scores nor columns could be tested: the rows are fewer than 32, or "
        "the model cannot be tested.",
        "collect more rows",
    ),
    "consistent": Reason(
        "no other changes found",
        "No test found any change but that of the share of positives, which is no "
        "proof.",
        "label some rows if much depends on it",
    ),
}
"""What the tests of a group found, the gravest first. Each is a reason, too."""

REASONS = VERDICTS | {
    "outgrown": Reason(
        "a column has outgrown training",
        "All values of a column lie above those in training, as those of a year do.",
        "fix {columns}, or train again with `{drop}`",
    ),
    "refuted": Reason(
        "the labels contradict the estimate",
        "Labels that were not to decide put the share far from the estimate.",
        "let the labels correct the estimates",
    ),
    "contradicted": Reason(
        "the labels contradict the scores",
        "Among labeled rows, scores hardly tell the classes apart, or the other way "
        "round.",
        "check how labels were joined to rows; if they are right, train again",
    ),
    "few_labels": Reason(
        "too few labels",
        "Some rows have labels, but more are needed.",
        "label more rows",
    ),
    "given": Reason(
        "all rows have labels",
        "All rows have labels, which were not to decide.",
        "let the labels correct the estimates",
    ),
    "labels": Reason(
        "backed by labels",
        "Labels of some rows correct or confirm the estimate.",
        "label more rows for a narrower interval",
    ),
    "rates": Reason(
        "single predictions hardly beat chance",
        "The predictions find hardly a positive, or are right hardly more often than "
        "by chance.",
        "train on columns that say more",
    ),
    "decisions": Reason(
        "decisions lie far from the share",
        "Decisions that were left as they are lie farther from the estimated share "
        "than the tolerance.",
        "decide as many rows positive as CAPE proposes (rule='prevalence')",
    ),
}
"""Why a group has its action."""

_SAID_ABOVE = ("fault", "outgrown", "contradicted", "consistent", "given")
"""What rows of a table leave out: the head says it, or a line above the table."""


def chance_head(tolerance: float) -> str:
    """Name the chance that a share is near its estimate.

    Examples
    --------
    >>> chance_head(0.05), chance_text(0.798)
    ('±5 points', '79%')
    """
    return f"±{100 * tolerance:g} points"


def chance_text(chance: float) -> str:
    """Write the chance that a share is near its estimate, rounded down."""
    return f"{int(100 * chance)}%"


def helps_text(reason: str, columns: Iterable[str] = ()) -> str:
    """Say what would help.

    Examples
    --------
    >>> print(helps_text("outgrown", ["year"]))
    fix `year`, or train again with `--drop year`
    """
    names = dict.fromkeys(columns)
    named = listed([f"`{name}`" for name in names], _MOST_COLUMNS, "columns")
    drop = " ".join(f"--drop {name}" for name in names)
    return REASONS[reason].helps.format(columns=named, drop=drop)


def reason_text(action: Mapping[str, Any]) -> str:
    """Say why a group has its action."""
    if action["reason"] == "decisions":
        return f"decisions lie {_far_off(action)} the share"
    return REASONS[action["reason"]].words


def _far_off(action: Mapping[str, Any]) -> str:
    side = "below" if action["gap"] < 0 else "above"
    return f"{points(abs(action['gap']))} points {side}"


def reason_in_row(action: Mapping[str, Any]) -> str:
    """Say why a group has its action, where nothing above the table says it."""
    return "" if action["reason"] in _SAID_ABOVE else reason_text(action)


def action_words(code: str, labels: int, reason: str = "", expected: int = 0) -> str:
    """Name an action, with the rows to label, of which fewer may be enough.

    Examples
    --------
    >>> action_words("label", 97), action_words("label", 97, expected=40)
    ('label 97 rows', 'label up to 97 rows')
    >>> action_words("hold_off", 54), action_words("hold_off", 0, "uncertain")
    ('hold off: label 54 rows', 'hold off: collect more rows')
    """
    rows = _rows_to_label(labels, expected)
    more = f"label {rows}" if labels or not reason else helps_text(reason)
    return ACTIONS[code].words.format(rows=rows, more=more)


def _rows_to_label(labels: int, expected: int) -> str:
    return ("up to " if 0 < expected < labels else "") + rows_text(labels)


def action_text(action: GroupAction) -> str:
    """Name the action of a group and say why."""
    what = action_words(
        action.code, action.labels, action.reason, action.expected_labels
    )
    return f"{what} ({reason_text(vars(action))})"


def action_head(actions: Sequence[Mapping[str, Any]]) -> str:
    """Say what to do with the predictions of a batch.

    Parameters
    ----------
    actions : sequence of mappings
        Entries of `Action.to_dict`.

    Examples
    --------
    >>> label = {"code": "label", "labels": 97, "reason": "uncertain"}
    >>> action_head([label])
    'Label 97 rows first (look up their true outcomes)'
    >>> print(action_head([{**label, "expected_labels": 40}]))
    Label up to 97 rows first (look up their true outcomes; 40 will often do)
    >>> print(action_head([label, {"code": "use", "labels": 0, "reason": "labels"}]))
    Use the predictions for 1 of 2 groups; for the rest, label 97 rows (look up their
    true outcomes)
    >>> broken = {"code": "do_not_use", "labels": 0, "reason": "fault"}
    >>> action_head([{**broken, "columns": ["age"]}])
    'Do not use the predictions: fix `age`'
    >>> useless = {"predicted_positives": 50.0, "true_positives": 3.0}
    >>> useless |= {"code": "shares", "labels": 0, "reason": "rates"}
    >>> print(action_head([useless]))
    The shares can be used; the predictions of single rows cannot: of 100 predicted
    positives, 6 are right
    >>> few = {"group": "grad", "gap": -0.06, "proposal": 0.38, "reason": "decisions"}
    >>> print(action_head([{**few, "code": "shares", "labels": 0}]))
    The shares can be used; decisions lie 6 points below the estimated share of grad
    (CAPE would decide 38%)
    """
    if not actions:
        return "No rows, so no predictions"
    codes = [action["code"] for action in actions]
    first = _steps(actions)
    what = "predictions"
    if any(action.get("proposal") is not None for action in actions):
        what = "decisions"
    n_used = codes.count("use")
    if n_used == len(codes):
        fit = ": they fit the estimated shares" if what == "decisions" else ""
        return f"Use the {what}{fit}"
    shares = [action for action in actions if action["code"] == "shares"]
    # Decisions that lie far off come first.
    shares.sort(key=lambda action: action["reason"])
    if len(shares) == len(codes):
        text = _of_shares(shares)
        if shares[0]["reason"] == "rates":
            text = f"the predictions of single rows cannot: {text}"
        return f"The shares can be used; {text}"
    if n_used:
        head = f"Use the {what} for {n_used} of {len(codes)} groups"
        if n_used + len(shares) == len(codes):
            first = f"use the shares alone: {_of_shares(shares)}"
        return f"{head}; for the rest, {first}" if first else head
    if "do_not_use" in codes:
        return f"Do not use the {what}: {first}"
    if "label" in codes:
        step, bracket, explained = first.partition(" (")
        return f"{step[0].upper()}{step[1:]} first{bracket}{explained}"
    return f"Hold off: {first}"


def _steps(actions: Sequence[Mapping[str, Any]]) -> str:
    """Say what would help all groups that need help: labels come last."""
    columns: dict[str, list[str]] = {}
    for action in actions:
        if not action["labels"] and action["code"] in ("do_not_use", "hold_off"):
            names = columns.setdefault(action["reason"], [])
            names += action.get("columns", [])
    if "fault" in columns:
        # What may have grown in one group is broken in another.
        columns["fault"] += columns.pop("outgrown", [])
    steps = [
        helps_text(reason, columns[reason]) for reason in REASONS if reason in columns
    ]
    labels = sum(action["labels"] for action in actions)
    if labels:
        expected = sum(action.get("expected_labels", 0) for action in actions)
        often = f"; {expected:,} will often do" if 0 < expected < labels else ""
        rows = _rows_to_label(labels, expected)
        steps.append(f"label {rows} (look up their true outcomes{often})")
    return " and ".join(dict.fromkeys(steps))


def _of_shares(actions: Sequence[Mapping[str, Any]]) -> str:
    """Say what is wrong with predictions of which shares alone can be used."""
    decided = [action for action in actions if action["reason"] == "decisions"]
    if decided:
        decided.sort(key=lambda action: -abs(action["gap"]))
        worst = decided[0]
        whose = first_of([action["group"] for action in decided])
        return (
            f"decisions lie {_far_off(worst)} the estimated share of {whose} (CAPE "
            f"would decide {points(worst['proposal'])}%)"
        )
    predicted = sum(action["predicted_positives"] for action in actions)
    if not predicted:
        return "no row is predicted positive"
    right = 100 * sum(action["true_positives"] for action in actions) / predicted
    return f"of 100 predicted positives, {right:.0f} are right"


def more_rows(actions: Sequence[Mapping[str, Any]], noun: str, nouns: str = "") -> str:
    """Count rows that are not shown, by what to do with them.

    Examples
    --------
    >>> rest = [{"code": "use", "labels": 0}, {"code": "label", "labels": 97}]
    >>> more_rows(rest, "group")
    '2 more groups: 1 to label, 1 to use (label 97 rows)'
    """
    codes = [action["code"] for action in actions]
    counts = []
    for code, action in ACTIONS.items():
        if code in codes:
            counts.append(f"{codes.count(code)} {action.counted}")
    text = counted(len(actions), f"more {noun}", nouns and f"more {nouns}")
    text = f"{text}: {', '.join(counts)}"
    labels = sum(action["labels"] for action in actions)
    return f"{text} (label {rows_text(labels)})" if labels else text
