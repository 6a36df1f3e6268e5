"""Pictures of the folded parts of a batch page, and the numbers behind each.

A function ``frame_*`` returns the numbers, and a function of `cape._plot` draws them.
To add a picture, add it to `batch_pictures`, and put ``{{ gallery(pictures.name) }}``
into ``page/batch.html``. Pictures are 340 pixels wide, so that they can be read on a
phone without being scaled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from cape import _plot
from cape._plot import ALARM, INK, LINE, NOW, SOFT, THEN, svg_or_reason
from cape._wording._page import PICTURES, Summary

MOST_HISTOGRAMS = 12
"""Histograms on a page; those of the largest groups are shown."""

MOST_COLUMNS = 10
"""Columns in a picture."""

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
    return {
        "histograms": _histogram_pictures(summary),
        "columns": _column_pictures(summary),
    }


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
