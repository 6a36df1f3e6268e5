"""Picture of real shifts: estimate and interval of each group, and the truth."""

from __future__ import annotations

import altair as alt
import pandas as pd

from cape.report._types import Summary

__all__ = ["draw_shifts", "frame_shifts"]

# The colours of Okabe and Ito, which readers with any colour vision can tell apart;
# the shapes tell the marks apart in black and white.
_MARKS = {
    "estimate": ("#0072b2", "circle"),
    "truth": ("#d55e00", "diamond"),
    "training": ("#888888", "square"),
}


def frame_shifts(results: Summary) -> pd.DataFrame:
    """Return the shares of positives that the picture shows.

    Parameters
    ----------
    results : dict
        From `cape_paper.run_shifts`.

    Returns
    -------
    DataFrame
        With the columns shift, what ("estimate", "truth" or "training"), share, low and
        high. Only estimates have an interval. A case in which the first configuration
        failed has no estimate.
    """
    first = results["configurations"][0]
    rows = []
    for entry in results["shifts"]:
        shift = f"{entry['case']}, {entry['group']}"
        rows.append([shift, "training", entry["prevalence_train"], None, None])
        row = entry[first]
        if row is not None:
            rows.append([shift, "estimate", row["estimate"], row["low"], row["high"]])
        # Last, so that no mark hides the truth.
        rows.append([shift, "truth", entry["prevalence_test"], None, None])
    columns = ["shift", "what", "share", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def draw_shifts(frame: pd.DataFrame) -> alt.LayerChart:
    """Draw a line for each case and group: the interval, and three marks on it.

    Parameters
    ----------
    frame : DataFrame
        From `frame_shifts`.

    Returns
    -------
    altair chart
    """
    y = alt.Y("shift:N", sort=None, title=None, axis=alt.Axis(labelLimit=260))
    base = alt.Chart(frame).encode(y=y)
    estimates = base.transform_filter("datum.what === 'estimate'")
    intervals = estimates.mark_rule(color=_MARKS["estimate"][0], strokeWidth=2)
    intervals = intervals.encode(x=_axis("low"), x2="high:Q")
    marks = base.mark_point(filled=True, size=70, opacity=1)
    marks = marks.encode(x=_axis("share"), color=_colour(), shape=_shape())
    title = alt.TitleParams(
        "Real shifts over time: what CAPE estimates without labels",
        subtitle="Lines: 95 % intervals. The truth was not shown to it.",
        anchor="start",
    )
    return (intervals + marks).properties(width=480, title=title)


def _axis(column: str) -> alt.X:
    scale = alt.Scale(domain=[0, 1])
    return alt.X(f"{column}:Q", title="share of positives", scale=scale)


def _colour() -> alt.Color:
    colours = [colour for colour, _ in _MARKS.values()]
    scale = alt.Scale(domain=list(_MARKS), range=colours)
    return alt.Color("what:N", title=None, scale=scale)


def _shape() -> alt.Shape:
    shapes = [shape for _, shape in _MARKS.values()]
    scale = alt.Scale(domain=list(_MARKS), range=shapes)
    return alt.Shape("what:N", title=None, scale=scale)
