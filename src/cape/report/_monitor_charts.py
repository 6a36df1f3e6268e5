"""Pictures of the monitor page.

To add a picture, write its ``frame_*`` and ``draw_*`` here, add it to
`monitor_pictures`, and put ``{{ gallery(pictures.name) }}`` into ``page/page.html``.
"""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import pandas as pd

from cape.report._picture import ALARM, NOW, THEN, Picture
from cape.report._types import Summary

__all__ = ["draw_over_time", "frame_over_time", "monitor_pictures"]

_MOST_TICKS = 12
_DRIFTED = ["fault", "drifted", "ignored"]


def monitor_pictures(summary: Summary) -> dict[str, list[Picture]]:
    """Draw the pictures of the monitor page.

    Parameters
    ----------
    summary : dict
        From `monitor_summary`.

    Returns
    -------
    dict
        Lists of pictures under the names by which the page asks for them.
    """
    pictures = []
    for group in summary["groups"]:
        name = group["group"]
        frame = frame_over_time(group)
        title = f"Share of positives of {name} over {len(frame)} batches"
        pictures.append(Picture(name, title, draw_over_time(frame), frame))
    return {"over_time": pictures}


def frame_over_time(group: Summary) -> pd.DataFrame:
    """Return the prevalence of one group in each batch, in order of time.

    Parameters
    ----------
    group : dict
        One entry of ``groups`` of a monitor summary.

    Returns
    -------
    DataFrame
        One row for each batch: batch, place, estimate, low, high, verdict and
        training.
    """
    columns = ["batch", "place", "estimate", "low", "high", "verdict", "training"]
    return pd.DataFrame(group["batches"])[columns]


def draw_over_time(frame: pd.DataFrame) -> Any:
    """Draw the prevalence as a line with its band.

    The training prevalence is a dashed line. Batches in which more than the prevalence
    moved are marked by crosses.

    Parameters
    ----------
    frame : DataFrame
        From `frame_over_time`.

    Returns
    -------
    altair chart
    """
    # One batch alone would give an axis without length.
    last = max(int(frame["place"].max()), 2)
    x = alt.X(
        "place:Q",
        title="batch",
        scale=alt.Scale(domain=[1, last]),
        axis=alt.Axis(values=_places(last), format="d"),
    )
    y = alt.Y("estimate:Q", title="share of positives", scale=alt.Scale(domain=[0, 1]))
    base = alt.Chart(frame)
    band = base.mark_area(opacity=0.25, color=NOW)
    band = band.encode(
        x=x,
        y=alt.Y("low:Q"),
        y2="high:Q",
    )
    line = base.mark_line(strokeWidth=2, color=NOW).encode(x=x, y=y)
    dots = base.mark_circle(
        size=28,
        opacity=1,
        color=NOW,
    ).encode(x=x, y=y)
    training = base.mark_line(
        strokeDash=[5, 4],
        strokeWidth=1.5,
        color=THEN,
    )
    training = training.encode(x=x, y="training:Q")
    # Crosses are drawn last, so that a line never hides one.
    drifted = alt.Chart(frame[frame["verdict"].isin(_DRIFTED)])
    crosses = drifted.mark_point(
        shape="cross", angle=45, size=130, filled=True, opacity=1, color=ALARM
    )
    crosses = crosses.encode(x=x, y=y)
    layers = alt.layer(band, training, line, dots, crosses)
    return layers.properties(width=350, height=130)


def _places(last: int) -> list[int]:
    """Return the batches that the axis names, evenly spaced.

    Vega would put ticks between them and round their labels, so that some come twice.
    """
    step = math.ceil(last / _MOST_TICKS)
    return list(range(1, last + 1, step))
