"""What is said of an examination and its parts.

A function ``..._shown`` returns what `print` and a notebook show: a title, the rows of
a table under their headings, and sentences below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cape.base._estimate import Estimate
from cape.base._numbers import estimate_text, level_text, p_value_text, rows_text
from cape.shown._action import REASONS, action_head, chance_head, chance_text
from cape.shown._audit import RATE_NAMES
from cape.shown._results import REFITTED, column_line, describe_labels

if TYPE_CHECKING:
    from cape import examination as results
    from cape.drift._find import ColumnDrift
    from cape.examination._shift import GroupShiftTest

Table = list[dict[str, Any]]

WITHOUT_LABELS = "estimated without labels"
BY_LABELS = "according to the labels"
COLUMNS_NOT_COUNTED = "Columns were not checked"

_MOST_NOTES = 10


# What has moved


def moved_shown(moved: results.PrevalenceMoved) -> tuple[str, Table, list[str]]:
    """Show which prevalences have moved."""
    rows = []
    for test in moved.groups.values():
        row = {
            "training": test.training_prevalence,
            "now": test.estimate,
            "p, adjusted": p_value_text(test.p_adjusted),
            "moved": "yes" if test.moved else "no clear change",
        }
        rows.append(row)
    return "Has the share of positives moved since training?", rows, []


NOT_SOUND = f"This test rejects too often: {REFITTED}"


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
        return REASONS["not_tested"].words
    # A test that does not reject has not shown that the assumption holds.
    return REASONS["drifted" if test.rejected else "consistent"].words


COLUMN_HEADINGS = {
    "effect": "unexplained",
    "p_adjusted": "p, adjusted",
    "what_happened": "what happened",
}


def columns_title(n_columns: int, n_moved: int) -> str:
    """Say how many columns moved."""
    found = f"{n_moved:,} of {n_columns:,}" if n_moved else "none clearly"
    return f"Columns by group, largest change first: {found} changed"


def worst_column(moved: Sequence[ColumnDrift]) -> str:
    """Say what happened to the column that moved most, and count the others."""
    text = column_line(moved[0].column, moved[0].what_happened)
    more = len(moved) - 1
    return f"{text} (and {more} more)" if more else text


# What to expect


def expected_title(level: float, what: str = "rates") -> str:
    """Name the rates to expect."""
    return f"Expected {what}, with {level_text(level)} intervals"


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


def criteria_shown(criteria: results.ExpectedCriteria) -> tuple[str, Table, list[str]]:
    """Show what to expect of every criterion."""
    rows = []
    for name, value in criteria.values.items():
        bounds = {
            "bound": criteria.bounds.get(name),
            "met with probability": criteria.probabilities.get(name),
        }
        rows.append({"criterion": name, "expected": value, **bounds})
    return expected_title(criteria.level, "criteria"), rows, []


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


# The whole


def examination_title(examination: results.Examination) -> str:
    """Name the picture of an examination."""
    level = level_text(examination.level)
    return f"Share of positives in training and now, with {level} intervals"


def examination_shown(examination: results.Examination) -> tuple[str, Table, list[str]]:
    """Show what to do, the most important numbers, and what labels say."""
    rows = []
    notes: list[str] = []
    labels = examination.labels
    for group, facts in zip(examination.names, examination.facts(), strict=True):
        row = {
            "rows": facts["rows"],
            "training": facts["training_prevalence"],
            "now": Estimate(facts["estimate"], facts["low"], facts["high"]),
            "predicted": facts["predicted_prevalence"],
        }
        if "worth" in facts:
            row["worth"] = round(facts["worth"])
        # Nothing is known of the rates where too little is known of the group.
        is_known = facts["action"]["code"] in ("use", "shares", "label")
        for rate in ("fpr", "fnr", "accuracy"):
            row[RATE_NAMES[rate]] = facts[rate] if is_known else None
        action = examination.action.groups[group]
        chance = f"{chance_text(action.chance)} {chance_head(examination.tolerance)}"
        row["action"] = f"{action.text}, {chance}"
        # The reason may be all that there is to say.
        if facts["verdict_text"] != REASONS[action.reason].words:
            row["action"] += f"; {facts['verdict_text']}"
        rows.append(row)
        for column in facts["columns"]:
            changed = column_line(column["column"], column["what_happened"])
            notes.append(f"{facts['group']}: {changed}.")
        if labels is not None:
            said = describe_labels(labels.groups[group], decide=labels.decide)
            notes.append(f"{facts['group']}: {said}.")
    title = (
        f"{action_head(examination.action.to_dict()['groups'])}. Examination of "
        f"{rows_text(examination.rows)}, with {level_text(examination.level)} "
        "intervals; FPR, FNR and accuracy are expected values."
    )
    notes = notes[:_MOST_NOTES]
    if all(row["accuracy"] is not None for row in rows):
        notes += _worst_pe(examination.expected)
    if examination.prior_shift.advice:
        notes.append(examination.prior_shift.advice)
    return title, rows, notes


def _worst_pe(expected: results.ExpectedPerformance) -> list[str]:
    """Name the pair of groups with the largest expected PE, if there is one."""
    worst = expected.worst_pair()
    if worst is None:
        return []
    pair = f"{expected.names[worst[0]]} / {expected.names[worst[1]]}"
    return [f"Largest expected PE: {estimate_text(expected.between[worst])}, {pair}."]
