"""Pictures of the pages, and the numbers behind each.

A function ``frame_*`` returns the numbers, and a function of `cape._plot` draws them.
To add a picture, add it to `batch_pictures` or `audit_pictures`, and put
``{{ gallery(pictures.name) }}`` into ``page/page.html``. Pictures are 340 pixels wide,
so that they can be read on a phone without being scaled.

The points of the section "What to aim at" are computed here, too (`frontier_summary`);
the script of the page (``page/frontier.js``) shows them, and computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cape import _plot
from cape._plot import ALARM, INK, LINE, NOW, SOFT, THEN, svg_or_reason
from cape._wording._audit import CLASSIFIERS, RATE_HEADINGS
from cape._wording._page import PICTURES, Summary
from cape._wording._results import CRITERION_NAMES, RULE_NAMES
from cape.examination import Examination, Frontier

MOST_HISTOGRAMS = 12
"""Histograms on a page; those of the largest groups are shown."""

MOST_COLUMNS = 10
"""Columns in a picture."""

# A column with a larger error speaks for any prevalence.
_LARGEST_ERROR = 0.15
_NORMAL_95 = 1.96

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

# Vega can draw fixed colours only, but the page has two themes. The colours of a chart
# are exchanged for the CSS variables of the page once the picture is drawn.
_CSS_COLOURS = {
    INK: "currentColor",
    LINE: "var(--line)",
    NOW: "var(--now)",
    THEN: "var(--then)",
    SOFT: "var(--soft)",
    ALARM: "var(--bad)",
}


def picture(heading: str, title: str, chart: Any, frame: pd.DataFrame) -> Summary:
    """Return one picture as the template shows it, with the numbers behind it.

    Parameters
    ----------
    heading : str
        The text above the picture, such as the name of a group.
    title : str
        What the picture shows, for readers who cannot see it.
    chart : altair chart
        The drawing.
    frame : DataFrame
        The numbers behind the drawing.
    """
    svg = svg_or_reason(lambda: chart, title, _CSS_COLOURS)
    numbers = list(frame.itertuples(index=False, name=None))
    columns = list(frame.columns)
    return {
        "heading": heading,
        "title": title,
        "svg": svg,
        "columns": columns,
        "rows": numbers,
    }


def batch_pictures(summary: Summary) -> dict[str, list[Summary]]:
    """Draw the pictures of the batch page.

    Parameters
    ----------
    summary : dict
        From `batch_summary`.

    Returns
    -------
    dict
        Lists of pictures under the names by which the page asks for them.
    """
    frame = frame_moved(summary["groups"], summary["labels"])
    moved = picture("", PICTURES["moved title"], _plot.moved(frame), frame)
    return {
        "moved": [moved],
        "histograms": _histogram_pictures(summary),
        "columns": _column_pictures(summary),
        "rates": rate_pictures(summary),
        "frontiers": frontier_pictures(summary),
    }


def audit_pictures(summary: Summary) -> dict[str, list[Summary]]:
    """Draw the pictures of the audit page.

    Parameters
    ----------
    summary : dict
        From `audit_summary`.

    Returns
    -------
    dict
        Lists of pictures under the names by which the page asks for them.
    """
    frame = frame_shares(summary["observed"]["cape"]["groups"])
    return {
        "shares": [picture("", PICTURES["audit title"], _plot.audit(frame), frame)],
        "rates": rate_pictures(summary),
    }


def frame_shares(findings: list[Summary]) -> pd.DataFrame:
    """Return the predicted and the true share of each group, with their intervals.

    Parameters
    ----------
    findings : list of dict
        The entry ``groups`` of an audit.

    Returns
    -------
    DataFrame
        One row for each group: group, rows, predicted, predicted_low, predicted_high,
        true, true_low and true_high.
    """
    names = {"predicted_prevalence": "predicted", "prevalence": "true"}
    groups: dict[str, Summary] = {}
    for finding in findings:
        if finding["metric"] not in names:
            continue
        name = names[finding["metric"]]
        row = groups.setdefault(finding["group"], {"group": finding["group"]})
        row["rows"] = finding["rows"]
        row[name] = finding["value"]
        row[f"{name}_low"] = finding["low"]
        row[f"{name}_high"] = finding["high"]
    columns = ["group", "rows"]
    for name in names.values():
        columns += [name, f"{name}_low", f"{name}_high"]
    return pd.DataFrame(list(groups.values()), columns=columns)


def _histogram_pictures(summary: Summary) -> list[Summary]:
    """Draw the scores of the largest groups."""
    rows = {group["group"]: group["rows"] for group in summary["groups"]}
    largest_first = sorted(
        summary["histograms"], key=lambda entry: rows[entry["group"]], reverse=True
    )
    pictures = []
    for entry in largest_first[:MOST_HISTOGRAMS]:
        name = entry["group"]
        frame = frame_histogram(entry)
        title = PICTURES["scores title"].format(name)
        pictures.append(picture(name, title, _plot.scores(frame), frame))
    return pictures


def _column_pictures(summary: Summary) -> list[Summary]:
    """Draw what single columns say of the prevalence, in the largest groups."""
    columns = {}
    for entry in summary["columns"]["groups"]:
        columns[entry["group"]] = entry["columns"]
    largest_first = sorted(
        summary["groups"], key=lambda group: group["rows"], reverse=True
    )
    pictures = []
    for group in largest_first[:MOST_HISTOGRAMS]:
        name = group["group"]
        frame = frame_columns(columns.get(name, []), group)
        # One column alone has nothing to disagree with.
        if len(frame) > 1:
            title = PICTURES["columns title"].format(name)
            pictures.append(picture(name, title, _plot.columns(frame), frame))
    return pictures


def frame_columns(columns: list[Summary], group: Summary) -> pd.DataFrame:
    """Return the prevalence that each column by itself speaks for.

    Parameters
    ----------
    columns : list of dict
        The columns of one group in a batch summary, the largest effect first.
    group : dict
        The entry of the group in ``groups``.

    Returns
    -------
    DataFrame
        One row for each of at most ten columns that tell the classes apart, those that
        moved first and then those with the smallest error: column, prevalence, low and
        high (cut at 0 and 1), moved, and the three lines: estimate, mean score and
        training.
    """
    telling = []
    for column in columns:
        error = column["prevalence_error"]
        if error is not None and error <= _LARGEST_ERROR:
            telling.append(column)
    telling.sort(key=lambda column: (not column["moved"], column["prevalence_error"]))
    rows = []
    for column in telling[:MOST_COLUMNS]:
        share = column["prevalence"]
        reach = _NORMAL_95 * column["prevalence_error"]
        # By itself a column may speak for more than everybody.
        ends = np.clip([share, share - reach, share + reach], 0, 1)
        rows.append(
            {
                "column": column["column"],
                **dict(zip(("prevalence", "low", "high"), ends.tolist(), strict=True)),
                "moved": "yes" if column["moved"] else "no",
                "estimate": group["estimate"],
                "mean score": group["mean_score"],
                "training": group["training_prevalence"],
            }
        )
    return pd.DataFrame(rows)


def rate_pictures(summary: Summary) -> list[Summary]:
    """Draw FPR, FNR and accuracy by group, for the batch page and the audit page.

    Parameters
    ----------
    summary : dict
        From `batch_summary` or `audit_summary`.

    Returns
    -------
    list of dict
        One picture for each rate.
    """
    rates = frame_rates(summary)
    # One picture a rate, because readers compare groups and not rates.
    pictures = []
    for rate, name in RATE_HEADINGS.items():
        frame = rates[rates["rate"] == rate].drop(columns="rate")
        title = PICTURES["rates title"].format(name)
        pictures.append(picture(name, title, _plot.rates(frame), frame))
    return pictures


def frame_moved(groups: list[Summary], labels: Summary | None = None) -> pd.DataFrame:
    """Return the prevalence of each group in training and now, with its interval.

    Parameters
    ----------
    groups : list of dict
        The entry ``groups`` of a batch summary.
    labels : dict or None, default=None
        Its entry ``labels``.

    Returns
    -------
    DataFrame
        One row for each group: group, training, now, low and high. With labels also
        compared, compared_low and compared_high: what they say, or, where they decide,
        what was estimated without them. Missing where labels cannot be used.
    """
    names = {
        "group": "group",
        "training_prevalence": "training",
        "estimate": "now",
        "low": "low",
        "high": "high",
    }
    frame = pd.DataFrame(groups)[list(names)].rename(columns=names)
    if labels is None:
        return frame
    compared = ("label_estimate", "low", "high")
    if labels["decide"]:
        compared = ("without_labels", "without_labels_low", "without_labels_high")
    checks = pd.DataFrame(labels["groups"])
    cannot_be_used = checks["label_verdict"].isna()
    names_of_compared = ("compared", "compared_low", "compared_high")
    for name, column in zip(names_of_compared, compared, strict=True):
        frame[name] = checks[column].astype(float).mask(cannot_be_used)
    return frame


def frame_histogram(entry: Summary) -> pd.DataFrame:
    """Return the share of scores in each cell, in the batch and in the best mixture.

    Parameters
    ----------
    entry : dict
        One entry of ``histograms`` of a batch summary.

    Returns
    -------
    DataFrame
        One row for each cell: from, to, batch and mixture.
    """
    n_cells = len(entry["batch"])
    return pd.DataFrame(
        {
            "from": [cell / n_cells for cell in range(n_cells)],
            "to": [(cell + 1) / n_cells for cell in range(n_cells)],
            "batch": entry["batch"],
            "mixture": entry["mixture"],
        }
    )


def frame_rates(summary: Summary) -> pd.DataFrame:
    """Return FPR, FNR and accuracy of each group and classifier.

    Rates are the observed ones if there are labels, and the expected ones if not.

    Parameters
    ----------
    summary : dict
        From `batch_summary` or `audit_summary`.

    Returns
    -------
    DataFrame
        With the columns rate, group, classifier, value, low and high.
    """
    rows: list[Summary] = []
    for rate in RATE_HEADINGS:
        found = _observed_rates if summary.get("observed") else _expected_rates
        rows += [{"rate": rate, **row} for row in found(summary, rate)]
    columns = ["rate", "group", "classifier", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _observed_rates(summary: Summary, rate: str) -> Iterator[Summary]:
    """Yield one observed rate of each group and classifier."""
    observed = summary["observed"]
    for who, audit in observed.items():
        # The predictions of an audit may be anybody's, and are not called CAPE.
        name = who if len(observed) > 1 else "predictions"
        for finding in audit["groups"]:
            if finding["metric"] == rate:
                numbers = {key: finding[key] for key in ("value", "low", "high")}
                whose = {"group": finding["group"], "classifier": CLASSIFIERS[name]}
                yield {**whose, **numbers}


def _expected_rates(summary: Summary, rate: str) -> Iterator[Summary]:
    """Yield one expected rate of each group and classifier."""
    for group in summary["expected"]["groups"]:
        yield {
            "group": group["group"],
            "classifier": CLASSIFIERS["cape"],
            "value": group[rate],
            "low": group[f"{rate}_low"],
            "high": group[f"{rate}_high"],
        }
    for group in summary["expected"]["unadapted"]["groups"]:
        name = CLASSIFIERS["unadapted"]
        yield {"group": group["group"], "classifier": name, "value": group[rate]}


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


def frontier_pictures(summary: Summary) -> list[Summary]:
    """Draw the frontier of each criterion.

    Parameters
    ----------
    summary : dict
        From `batch_summary`.

    Returns
    -------
    list of dict
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
        pictures.append(picture(heading, title, chart, frame))
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
