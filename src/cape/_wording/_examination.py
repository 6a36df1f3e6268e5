"""What is said of an examination and its parts: ``repr``, notebooks and verdicts.

A function ``..._repr`` returns what `print` shows; ``..._shown`` what a notebook shows:
a title, the rows of a table under their headings, and sentences below it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from cape._wording._action import action_head
from cape._wording._audit import RATE_NAMES
from cape._wording._numbers import (
    estimate_text,
    group_name,
    level_text,
    p_value_text,
    rows_text,
    share_text,
    shortened,
)
from cape._wording._results import (
    REFITTED,
    column_line,
    describe_label_free,
    describe_labels,
    few_labels,
    what_is_called,
)

if TYPE_CHECKING:
    from cape import examination as results
    from cape.examination._needed import RowsToLabel
    from cape.examination._shift import GroupShiftTest
    from cape.examination._suspicious import SuspiciousColumns

Table = list[dict[str, Any]]

WITHOUT_LABELS = "estimated without labels"
BY_LABELS = "according to the labels"
COLUMNS_NOT_COUNTED = "Columns were not checked"
UNEXPLAINED_SCORES = "Share of scores that fit no mix of the training classes"
UNEXPLAINED_COLUMNS = "Columns that fit no mix of the training classes"
KEY_OF_SCORES = "red diamond: not a prior shift"
KEY_OF_COLUMNS = "red diamond: the column changed"
WITH_AND_WITHOUT_LABELS = "Share of positives with and without labels"

_MOST_NOTES = 10
_MOST_LINES = 5
_MOST_COLUMNS = 3
"""Columns that moved, shown for each group."""


def _in_brackets(name: str, lines: Sequence[str], head: str = "") -> str:
    """Write the repr of a result, a line for each finding."""
    return "\n".join([f"{name}({head}", *(f"  {line}" for line in lines), ")"])


# What has moved


def moved_repr(moved: results.PrevalenceMoved) -> str:
    """Say which prevalences have moved."""
    if not moved.moved:
        return "PrevalenceMoved(no group moved)"
    lines = []
    names = moved.names
    for group, test in moved.groups.items():
        lines.append(
            f"{names[group]}: {_moved(test.moved)}, "
            f"{share_text(test.training_prevalence)} -> {test.estimate:.3f} "
            f"(p = {test.p_adjusted:.3g})"
        )
    return _in_brackets("PrevalenceMoved", lines)


def _moved(has_moved: bool) -> str:
    return "moved" if has_moved else "no clear change"


NOT_SOUND = f"This test rejects too often: {REFITTED}"


def prior_shift_repr(tests: results.PriorShiftTest) -> str:
    """Say what the tests of the scores found."""
    lines = []
    names = tests.names
    for group, test in tests.groups.items():
        found = f"too few rows to test ({test.rows})"
        if test.tested:
            found = (
                f"{_verdict_of_scores(test)} (p = {test.p_adjusted:.3g}, "
                f"{test.effect:.1%} of {test.rows} rows unexplained)"
            )
        lines.append(f"{names[group]}: {found}")
    if tests.advice:
        lines.append(tests.advice)
    return _in_brackets("PriorShiftTest", lines)


def prior_shift_shown(tests: results.PriorShiftTest) -> tuple[str, Table, list[str]]:
    """Show the tests of the scores."""
    rows = []
    for test in tests.groups.values():
        row = {
            "rows": test.rows,
            "unexplained": test.effect,
            "p": p_value_text(test.p_value),
            "p, adjusted": p_value_text(test.p_adjusted),
            "scores": _verdict_of_scores(test),
        }
        rows.append(row)
    title = (
        "Do the scores fit a mix of the training classes? Tested at the "
        f"{level_text(tests.alpha)} level across all groups."
    )
    return title, rows, [tests.advice] if tests.advice else []


def _verdict_of_scores(test: GroupShiftTest) -> str:
    if not test.tested:
        return "too few rows to test"
    if test.rejected:
        return "not a prior shift"
    # A test that does not reject has not shown that the assumption holds.
    return "consistent with a prior shift"


def columns_repr(shift: results.ColumnShift) -> str:
    """Say which columns moved, a few of each group."""
    if not shift.counted:
        return "ColumnShift(columns were not checked)"
    lines = []
    for group, name in shift.names.items():
        moved = shift.moved(group)
        if not moved:
            lines.append(f"{name}: no column has clearly changed")
            continue
        lines.append(f"{name}:")
        found = [column_line(one.column, one.what_happened) for one in moved]
        lines += [f"  {line}" for line in shortened(found, _MOST_LINES, end="and ")]
    return _in_brackets("ColumnShift", lines)


COLUMN_HEADINGS = {
    "group": "group",
    "column": "column",
    "effect": "unexplained",
    "p_adjusted": "p, adjusted",
    "what_happened": "what happened",
}


def columns_title(n_columns: int, n_moved: int) -> str:
    """Say how many columns moved."""
    found = f"{n_moved:,} of {n_columns:,}" if n_moved else "none clearly"
    return f"Columns by group, largest change first: {found} changed"


# What to expect


def expected_repr(expected: results.ExpectedPerformance) -> str:
    """Say which rates to expect."""
    lines = []
    names = expected.names
    for group, entry in expected.groups.items():
        rates = []
        for name, rate in entry.rates.items():
            rates.append(f"{name} {estimate_text(rate)}")
        lines.append(f"{names[group]}: {', '.join(rates)}")
    return _in_brackets("ExpectedPerformance", lines, f"level={expected.level:g}")


def expected_title(level: float) -> str:
    """Name the rates to expect."""
    return f"Expected rates, with {level_text(level)} intervals"


def expected_shown(
    expected: results.ExpectedPerformance,
) -> tuple[str, Table, list[str]]:
    """Show the rates to expect."""
    rows = []
    for entry in expected.groups.values():
        row: dict[str, Any] = {"rows": entry.rows}
        for name, rate in entry.rates.items():
            row[RATE_NAMES[name]] = rate
        rows.append(row)
    notes = []
    for worst in _worst_pe(expected):
        notes.append(f"{worst} pairs() lists all {len(expected.between)} pairs.")
    return expected_title(expected.level), rows, notes


def criteria_repr(criteria: results.ExpectedCriteria) -> str:
    """Say what to expect of every criterion."""
    lines = []
    for name, estimate in criteria.values.items():
        line = f"{name} {estimate_text(estimate)}"
        if criteria.bounds.get(name) is not None:
            line = f"{line}, bound {criteria.bounds[name]:g}"
        if name in criteria.probabilities:
            line = f"{line}, met with probability {criteria.probabilities[name]:.2f}"
        lines.append(line)
    return _in_brackets("ExpectedCriteria", lines, f"level={criteria.level:g}")


def frontier_repr(frontier: results.Frontier) -> str:
    """Say what each rule leads to."""
    lines = []
    for point in frontier.rules:
        value = getattr(point, frontier.value).value
        lines.append(
            f"{point.rule}: {frontier.criterion} {point.criterion:.3f}, "
            f"{frontier.value} {value:.3f}"
        )
    head = f"a curve of {len(frontier.curve)} points and a point for each rule"
    return _in_brackets("Frontier", lines, head)


def frontier_heading(frontier: results.Frontier) -> str:
    """Name a curve."""
    return f"What {frontier.criterion} costs in {frontier.value}"


def frontier_shown(frontier: results.Frontier) -> tuple[str, Table, list[str]]:
    """Show the rules: the picture shows the curve."""
    rows = []
    for point in frontier.rules:
        value = getattr(point, frontier.value)
        row = {"rule": point.rule, frontier.criterion: point.criterion}
        rows.append({**row, frontier.value: value})
    title = (
        f"What each rule achieves, with {level_text(frontier.level)} intervals for "
        f"{frontier.value}"
    )
    note = f"table() lists all {len(frontier.curve)} points of the curve."
    return title, rows, [note]


# Labels


def labels_shown(checks: results.LabelChecks) -> tuple[str, Table, list[str]]:
    """Show what labels say of the estimates."""
    rows = []
    for group, check in checks.groups.items():
        row = {
            "rows": check.rows,
            "labeled": check.labels.rows,
            "without labels": check.without_labels,
            "by the labels": checks.by_labels(group),
            "verdict": describe_labels(check, decide=checks.decide),
        }
        rows.append(row)
    return "What the labels say about the label-free estimates", rows, []


def rows_to_label_repr(drawn: RowsToLabel) -> str:
    """Count the rows that were drawn."""
    counts = Counter(map(group_name, drawn.groups))
    of_groups = ", ".join(f"{name}: {count}" for name, count in sorted(counts.items()))
    n_rows = len(drawn.inclusion_probability)
    few = ""
    if drawn.enough > len(drawn):
        few = f"; {few_labels(len(drawn), len(counts), drawn.enough)}"
    return f"RowsToLabel({len(drawn)} of {n_rows} rows; {of_groups}{few})"


# The whole


def examination_title(examination: results.Examination) -> str:
    """Name the picture of an examination."""
    level = level_text(examination.level)
    return f"Share of positives in training and now, with {level} intervals"


def examination_shown(examination: results.Examination) -> tuple[str, Table, list[str]]:
    """Show the most important numbers, and what labels say."""
    rows = []
    for group, adapted in examination.adaptation.groups.items():
        expected = examination.expected.groups[group]
        row = {
            "rows": adapted.rows,
            "in training": adapted.training_prevalence,
            "now": adapted.estimate,
            "predicted positive": adapted.predicted_prevalence,
            "FPR": expected.fpr.value,
            "FNR": expected.fnr.value,
            "accuracy": expected.accuracy.value,
            "verdict": examination.verdict(group).text,
        }
        rows.append(row)
    title = (
        f"Examination of {examination.rows:,} rows, with "
        f"{level_text(examination.level)} intervals. FPR, FNR and accuracy are "
        "expected values."
    )
    notes = []
    if examination.labels is not None:
        decide = examination.labels.decide
        for group, check in examination.labels.groups.items():
            said = describe_labels(check, decide=decide)
            notes.append(f"{examination.names[group]}: {said}.")
    return title, rows, notes[:_MOST_NOTES]


def examination_repr(examination: results.Examination) -> str:
    """Say the most important things of a batch."""
    if not examination.adaptation.groups:
        return "Examination(no rows)"
    # Lines of at most 88 characters, because a terminal would break longer ones.
    level = level_text(examination.level)
    lines = [f"Examination of {rows_text(examination.rows)}, with {level} intervals"]
    action = examination.action
    actions = action.to_dict()["groups"]
    lines.append(f"{action_head(actions)}.")
    for group, name in examination.names.items():
        lines += _group_lines(examination, group, name)
    if all(entry["code"] in _RELIED_ON for entry in actions):
        lines += _worst_pe(examination.expected)
    if examination.prior_shift.advice:
        lines.append(examination.prior_shift.advice)
    return "\n".join(lines)


_RELIED_ON = ("use", "label")
"""Actions under which expected rates are shown: otherwise nothing is known of them."""


def _worst_pe(expected: results.ExpectedPerformance) -> list[str]:
    """Name the pair of groups with the largest expected PE, if there is one."""
    worst = expected.worst_pair()
    if worst is None:
        return []
    pair = f"{expected.names[worst[0]]} / {expected.names[worst[1]]}"
    return [f"Largest expected PE: {estimate_text(expected.between[worst])}, {pair}."]


def _group_lines(examination: results.Examination, group: Any, name: str) -> list[str]:
    adapted = examination.adaptation.groups[group]
    action = examination.action.groups[group]
    rates = []
    if action.code in _RELIED_ON:
        expected = examination.expected.groups[group]
        rates.append(
            f"  expected FPR {expected.fpr.value:.3f}, FNR {expected.fnr.value:.3f}, "
            f"accuracy {expected.accuracy.value:.3f}"
        )
    moved = _moved(examination.moved.groups[group].moved)
    worst = examination.columns.moved(group)[:_MOST_COLUMNS]
    return [
        f"{name}, {rows_text(adapted.rows)}: {action.text}",
        f"  prevalence {share_text(adapted.training_prevalence)} -> "
        f"{estimate_text(adapted.estimate)}, {moved}",
        *_label_lines(examination.labels, group),
        f"  {examination.verdict(group).text}",
        *[f"    {column_line(one.column, one.what_happened)}" for one in worst],
        f"  {what_is_called(adapted)}, PD at most {adapted.pd_bound:.3f}",
        *rates,
    ]


def _label_lines(checks: results.LabelChecks | None, group: Any) -> list[str]:
    if checks is None:
        return []
    check = checks.groups[group]
    said = describe_labels(check, decide=checks.decide)
    lines = wrap(said, 88, initial_indent="  ", subsequent_indent="  ")
    if check.labels.verdict is None:
        return lines
    if checks.decide:
        return [f"  {describe_label_free(check)}", *lines]
    _, low, high = checks.by_labels(group)
    return [*lines, f"  interval from the labels: {low:.3f} to {high:.3f}"]


# Before there is a batch


def suspicious_repr(found: SuspiciousColumns) -> str:
    """Say which columns should not be learned from."""
    if not found.findings:
        return "SuspiciousColumns(none found)"
    lines = [f"{one.column}: {one.kind}, {one.why}" for one in found.findings]
    return _in_brackets("SuspiciousColumns", lines)


def suspicion_text(code: str, *numbers: Any) -> str:
    """Say why a column should not be learned from.

    Parameters
    ----------
    code : str
        What was seen.
    *numbers
        What belongs to it: see `cape.examination.suspicious_columns`.

    Returns
    -------
    str

    Examples
    --------
    >>> suspicion_text("differ", 500, 500, 1998.0)
    'all 500 values are distinct, out of 1,998 possible'
    >>> suspicion_text("all positive", 1200, "with", 3.0)
    'all 1,200 rows with 3 are positive'
    """
    if code == "differ":
        return _differ(*numbers)
    if code == "in order":
        n, direction, share = numbers
        text = f"all {n:,} values are distinct and {direction}"
        return text if share == 1 else f"{text} in {share:.1%} of the rows"
    if code == "all positive":
        n, which, *level = numbers
        words = " ".join([which, *map(_level_name, level)])
        return f"all {n:,} rows {words} are positive"
    return _SUSPICIONS[code].format(*numbers)


_SUSPICIONS: Mapping[str, str] = {
    "counts": "goes up by one in each row",
    "auc": "has an AUC of {:.3f} on its own",
    "dates": "holds dates",
    "text as dates": "text that looks like dates ({})",
    "numbers as dates": "numbers that look like dates ({})",
    "since 1970": "numbers that look like dates ({} since 1970)",
    "years": "looks like years, {} to {}",
}


def _differ(n_distinct: int, n: int, n_possible: float | None = None) -> str:
    differ = f"{n_distinct:,} of {n:,} values are distinct"
    if n_distinct == n:
        differ = f"all {n:,} values are distinct"
    if n_possible is None:
        return differ
    return f"{differ}, out of {n_possible:,.0f} possible"


def _level_name(name: object) -> str:
    """Write a level: a number in short, a text in quotes."""
    if isinstance(name, str):
        return repr(name[:40])
    return f"{name:g}"
