"""Pictures of the pages: the numbers behind each, and how a chart becomes an SVG.

A function ``frame_*`` returns the numbers, and a function of `cape._plot` draws them.
To add a picture, add it to `batch_pictures` or `audit_pictures`, and put
``{{ gallery(pictures.name) }}`` into ``page/page.html``. Pictures are 340 pixels wide,
so that they can be read on a phone without being scaled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape import _plot
from cape._plot import ALARM, INK, NOW, SOFT, THEN
from cape._svg import LINE, svg_or_reason
from cape._wording._audit import CLASSIFIERS, RATE_HEADINGS
from cape._wording._page import PICTURES, Summary

MOST_HISTOGRAMS = 12
"""Histograms on a page; those of the largest groups are shown."""

MOST_COLUMNS = 10
"""Columns in a picture."""

_KINDS = {
    "true prevalence": "prevalence",
    "predicted prevalence": "predicted_prevalence",
}
# The colours of Okabe and Ito, which readers with any colour vision can tell apart.
_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]

# A column with a larger error speaks for any prevalence.
_LARGEST_ERROR = 0.15
_NORMAL_95 = 1.96

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


@dataclass(frozen=True)
class Picture:
    """One picture of a page, with the numbers behind it.

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

    heading: str
    title: str
    chart: Any
    frame: pd.DataFrame

    @property
    def svg(self) -> str:
        """The drawing as SVG in the colours of the page, or a sentence why not."""
        return svg_or_reason(lambda: self.chart, self.title, _CSS_COLOURS)

    @property
    def columns(self) -> list[str]:
        """Column names of the numbers."""
        return list(self.frame.columns)

    @property
    def rows(self) -> list[list[str]]:
        """The numbers as text, with three digits; what is missing is empty."""
        rows = []
        for values in self.frame.itertuples(index=False):
            rows.append([_cell(value) for value in values])
        return rows


def _cell(value: Any) -> str:
    # None and NaN: an unadapted classifier has no interval.
    if pd.isna(value):
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def save_chart(chart: Any, path: Path) -> Path:
    """Write a chart as PNG, SVG or HTML, by the ending of ``path``.

    The page of HTML contains all scripts, so that it opens without a network. A missing
    folder is made.

    Parameters
    ----------
    chart : altair chart
        The chart.
    path : Path
        Where to write it.

    Returns
    -------
    Path
        The same path.

    Examples
    --------
    >>> import altair as alt
    >>> chart = alt.Chart(pd.DataFrame({"x": [1]})).mark_point().encode(x="x:Q")
    >>> save_chart(chart, folder / "charts" / "point.svg").name
    'point.svg'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {}
    # Twice the pixels, for screens that have them; scripts inlined, for use offline.
    if path.suffix == ".png":
        options["scale_factor"] = 2
    if path.suffix == ".html":
        options["inline"] = True
    chart.save(str(path), **options)
    return path


def batch_pictures(summary: Summary) -> dict[str, list[Picture]]:
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
    moved = Picture("", PICTURES["moved title"], _plot.moved(frame), frame)
    return {
        "moved": [moved],
        "histograms": _histogram_pictures(summary),
        "columns": _column_pictures(summary),
        "rates": rate_pictures(summary),
    }


def audit_pictures(summary: Summary) -> dict[str, list[Picture]]:
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
        "shares": [Picture("", PICTURES["audit title"], _plot.audit(frame), frame)],
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


def _histogram_pictures(summary: Summary) -> list[Picture]:
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
        pictures.append(Picture(name, title, _plot.scores(frame), frame))
    return pictures


def _column_pictures(summary: Summary) -> list[Picture]:
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
            pictures.append(Picture(name, title, _plot.columns(frame), frame))
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


def rate_pictures(summary: Summary) -> list[Picture]:
    """Draw FPR, FNR and accuracy by group, for the batch page and the audit page.

    Parameters
    ----------
    summary : dict
        From `batch_summary` or `audit_summary`.

    Returns
    -------
    list of Picture
        One picture for each rate.
    """
    rates = frame_rates(summary)
    # One picture a rate, because readers compare groups and not rates.
    pictures = []
    for rate, name in RATE_HEADINGS.items():
        frame = rates[rates["rate"] == rate].drop(columns="rate")
        title = PICTURES["rates title"].format(name)
        pictures.append(Picture(name, title, _plot.rates(frame), frame))
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


def frame_prevalences(table: pd.DataFrame) -> pd.DataFrame:
    """Return the true and predicted prevalence of each group by each classifier.

    Parameters
    ----------
    table : DataFrame
        Rows of `cape.metrics.fairness_table`, one for each classifier.

    Returns
    -------
    DataFrame
        With the columns classifier, group, kind and prevalence.

    Examples
    --------
    >>> from cape.metrics import fairness_table
    >>> groups = [0, 0, 1, 1]
    >>> row = fairness_table([0, 1, 1, 0], [0, 1, 1, 1], sensitive_features=groups)
    >>> frame_prevalences(pd.DataFrame({"one": row}).T)["prevalence"].tolist()
    [0.5, 0.5, 0.5, 1.0]
    """
    rows = []
    for name, row in table.iterrows():
        for group in table["predicted_prevalence"].columns:
            for kind, column in _KINDS.items():
                share = float(row[column, group])
                rows.append([name, f"group {group}", kind, share])
    return pd.DataFrame(rows, columns=["classifier", "group", "kind", "prevalence"])


def draw_prevalences(frame: pd.DataFrame) -> Any:
    """Draw predicted prevalences as dots and true ones as ticks; the gap between is PD.

    Parameters
    ----------
    frame : DataFrame
        From `frame_prevalences`.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from cape.metrics import fairness_table
    >>> groups = [0, 0, 1, 1]
    >>> row = fairness_table([0, 1, 1, 0], [0, 1, 1, 1], sensitive_features=groups)
    >>> chart = draw_prevalences(frame_prevalences(pd.DataFrame({"one": row}).T))
    >>> len(chart.layer)
    3
    """
    alt = _plot.import_altair()
    # In the order of the table, not of the alphabet.
    order = list(dict.fromkeys(frame["classifier"]))
    axis = alt.Axis(labelLimit=220)
    y = alt.Y("classifier:N", sort=order, title=None, axis=axis)
    x = alt.X(
        "prevalence:Q", scale=alt.Scale(domain=[0, 1]), title=PICTURES["share axis"]
    )
    colour = alt.Color("group:N", title=None, scale=alt.Scale(range=_COLOURS))
    true = frame["kind"] == "true prevalence"
    gap = alt.Chart(_both_prevalences(frame)).mark_rule(strokeWidth=3, opacity=0.45)
    gap = gap.encode(
        y=y, color=colour, x="true prevalence:Q", x2="predicted prevalence:Q"
    )
    tick = alt.Chart(frame[true]).mark_tick(thickness=3, size=26)
    tick = tick.encode(x=x, y=y, color=colour)
    dot = alt.Chart(frame[~true]).mark_circle(size=130, opacity=1)
    dot = dot.encode(x=x, y=y, color=colour)
    title = alt.TitleParams(
        PICTURES["demo title"],
        subtitle=PICTURES["demo subtitle"],
        anchor="start",
    )
    layers = gap + tick + dot
    return layers.properties(width=520, height=60 * len(order), title=title)


def _both_prevalences(frame: pd.DataFrame) -> pd.DataFrame:
    """Return both prevalences side by side, a row for each classifier and group."""
    wide = frame.pivot_table(
        index=["classifier", "group"], columns="kind", values="prevalence"
    )
    return wide.reset_index().rename_axis(columns=None)
