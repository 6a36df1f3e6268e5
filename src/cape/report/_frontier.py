"""What the section "What to aim at" shows: all its points are computed here.

The script of the page (``page/frontier.js``) shows them, and computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from cape import _plot
from cape._wording._criteria import CRITERION_NAMES, RULE_NAMES
from cape._wording._page import PICTURES, Summary
from cape.examination import Examination, Frontier
from cape.report._pictures import Picture

CRITERIA_SHOWN = (
    "demographic_parity_difference",
    "equal_opportunity_difference",
    "false_positive_rate_difference",
    "proportional_equality",
)
"""The criteria that a person can choose from."""

MOST_GROUPS = 12
"""With more groups the search takes seconds, and the tables are too long to read."""

_MOST_POINTS = 30
_FEWEST_POINTS = 8
_MOST_OUTCOMES = 90
"""Points times groups of one curve."""

# Six, though the page shows three: a number that is rounded twice, such as 0.04246
# by way of 0.0425, would differ from the same number elsewhere on the page.
_DIGITS = 6
_WIDTH = 260
_HEIGHT = 180
_NEAR = 14
"""Pixels between two marks, below which their texts would overlap."""

_OUTCOMES = ("predicted_prevalence", "fpr", "fnr", "accuracy", "pd")
"""What is shown of each group, in the order of the table's columns."""


def frontier_summary(examination: Examination) -> Summary | None:
    """Return the frontiers of a batch, as its page shows them.

    Parameters
    ----------
    examination : Examination

    Returns
    -------
    dict or None
        ``groups`` are their names, ``columns`` the rates of a group, ``rules`` the
        choices of the named rules and that of this batch, and ``curves`` has one entry
        for each criterion. None if there are too few or too many groups.
    """
    n_groups = len(examination.adaptation.groups)
    if not 1 < n_groups <= MOST_GROUPS:
        return None
    n_points = _MOST_OUTCOMES // n_groups
    found = examination.frontiers(
        CRITERIA_SHOWN, n_points=min(max(n_points, _FEWEST_POINTS), _MOST_POINTS)
    )
    curves = []
    for frontier in found.values():
        # A criterion without two groups that it is defined for has no curve.
        if len(frontier.curve) > 1:
            curves.append(_curve(frontier))
    if not curves:
        return None
    return {
        "groups": list(examination.names.values()),
        "columns": list(_OUTCOMES),
        "rules": _rules(next(iter(found.values()))),
        "curves": curves,
        "width": _WIDTH,
        "height": _HEIGHT,
    }


def _rules(frontier: Frontier) -> list[Summary]:
    """Return what the rules choose, and last what was chosen for this batch."""
    entries = []
    for number, point in enumerate(frontier.rules, 1):
        names = {"name": RULE_NAMES[str(point.rule)], "mark": str(number)}
        entries.append({**names, **_choice(point)})
    chosen = {"name": PICTURES["chosen"], "mark": "now"}
    entries.append({**chosen, **_choice(frontier.chosen)})
    return entries


def _curve(frontier: Frontier) -> Summary:
    points = []
    for point in frontier.curve:
        points.append({"criterion": _rounded(point.criterion), **_choice(point)})
    choices = [*frontier.rules, frontier.chosen]
    x_domain, y_domain = _domains(frontier)
    return {
        "criterion": frontier.criterion,
        "name": CRITERION_NAMES[frontier.criterion],
        "points": points,
        "rules": [_rounded(point.criterion) for point in choices],
        "x_domain": x_domain,
        "y_domain": y_domain,
    }


def _domains(frontier: Frontier) -> tuple[list[float], list[float]]:
    """Return the ends of the axes, of the criterion and of the accuracy.

    Rules that are far from the curve stay outside: it would be flat beside them.
    """
    widest = frontier.curve[-1].criterion
    lowest = min(point.accuracy.low for point in frontier.curve)
    highest = max(point.accuracy.high for point in frontier.curve)
    farthest = 2 * widest
    worst = 2 * lowest - highest
    for point in [*frontier.rules, frontier.chosen]:
        accuracy = point.accuracy.value
        if point.criterion <= farthest and accuracy >= worst:
            widest = max(widest, point.criterion)
            lowest = min(lowest, accuracy)
            highest = max(highest, accuracy)
    return [0.0, _up(widest)], [-_up(-lowest), _up(highest)]


def _up(value: float) -> float:
    """Round up, so that rounded points stay inside."""
    return math.ceil(value * 10**_DIGITS) / 10**_DIGITS


def _choice(point: Any) -> Summary:
    """Return what a choice of members leads to."""
    outcomes = []
    for outcome in point.groups.values():
        outcomes.append([_rounded(getattr(outcome, name)) for name in _OUTCOMES])
    return {
        "accuracy": _rounded(point.accuracy.value),
        "low": _rounded(point.accuracy.low),
        "high": _rounded(point.accuracy.high),
        "pe": _rounded(point.proportional_equality),
        "outcomes": outcomes,
    }


def _rounded(value: float) -> float | None:
    """Round a number for the page; what is undefined is None."""
    return round(float(value), _DIGITS) if np.isfinite(value) else None


def frontier_pictures(summary: Summary) -> list[Picture]:
    """Draw the frontier of each criterion.

    Parameters
    ----------
    summary : dict
        From `batch_summary`.

    Returns
    -------
    list of Picture
    """
    frontiers_shown = summary["frontiers"]
    if frontiers_shown is None:
        return []
    pictures = []
    for curve in frontiers_shown["curves"]:
        frame = frame_frontier(curve, frontiers_shown["rules"])
        heading = curve["name"][0].upper() + curve["name"][1:]
        title = PICTURES["frontier title"].format(curve["name"])
        chart = _plot.frontier(
            frame,
            criterion="criterion",
            title=curve["name"],
            label="mark",
            x_domain=curve["x_domain"],
            y_domain=curve["y_domain"],
            width=_WIDTH,
            height=_HEIGHT,
        )
        pictures.append(Picture(heading, title, chart, frame))
    return pictures


def frame_frontier(curve: Summary, rules: Sequence[Summary]) -> pd.DataFrame:
    """Return the points of a frontier, then the rules, as far as the picture reaches.

    Parameters
    ----------
    curve : dict
        One of ``curves``.
    rules : list of dict
        The ``rules`` of the summary.

    Returns
    -------
    DataFrame
        Columns criterion, accuracy, accuracy_low, accuracy_high, rule and mark.
    """
    rows = []
    for point in curve["points"]:
        rows.append(_row(point["criterion"], point, None, None))
    marked: list[dict[str, Any]] = []
    for value, rule in zip(curve["rules"], rules, strict=True):
        right, bottom = curve["x_domain"][1], curve["y_domain"][0]
        if value is None or value > right or rule["accuracy"] < bottom:
            continue
        row = _row(value, rule, rule["name"], rule["mark"])
        neighbour = _neighbour(row, marked, curve)
        if neighbour is not None:
            # One text for marks that lie on each other.
            neighbour["mark"] += f" {rule['mark']}"
            row["mark"] = ""
        marked.append(row)
    return pd.DataFrame([*rows, *marked])


def _neighbour(
    row: dict[str, Any], marked: list[dict[str, Any]], curve: Summary
) -> dict[str, Any] | None:
    """Return the first mark with a text that is too near to write another one."""
    left, right = curve["x_domain"]
    bottom, top = curve["y_domain"]
    for other in marked:
        across = _WIDTH * abs(row["criterion"] - other["criterion"])
        up = _HEIGHT * abs(row["accuracy"] - other["accuracy"])
        room = _NEAR * len(other["mark"].split())
        is_near = across < room * (right - left) and up < _NEAR * (top - bottom)
        if other["mark"] and is_near:
            return other
    return None


def _row(value: float, choice: Summary, rule: Any, mark: Any) -> dict[str, Any]:
    return {
        "criterion": value,
        "accuracy": choice["accuracy"],
        "accuracy_low": choice["low"],
        "accuracy_high": choice["high"],
        "rule": rule,
        "mark": mark,
    }
