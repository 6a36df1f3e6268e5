"""Pictures of the monitor page.

To add a picture, write its ``frame_*`` and ``draw_*`` here, add it to
`monitor_pictures`, and put ``{{ gallery(pictures.name) }}`` into ``page/page.html``.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from cape.plot._base import share_domain
from cape.report._batch_axis import batch_labels, with_gaps
from cape.report._picture import ALARM, NOW, THEN, Picture
from cape.report._types import Summary

__all__ = ["draw_over_time", "frame_over_time", "monitor_pictures"]

_MOST_TICKS = 12
_DRIFTED = ["fault", "drifted", "ignored"]
_WIDTH = 330


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
    names = [batch["batch"] for batch in summary["batches"]]
    labels = batch_labels(names)
    frames = {}
    for group in summary["groups"]:
        frames[group["group"]] = frame_over_time(group, labels)
    # One scale for all: groups are compared with each other, too.
    domain = share_domain(pd.concat(frames.values()), ["high", "estimate", "training"])
    pictures = []
    for name, frame in frames.items():
        title = f"Share of positives of {name} over {len(names)} batches"
        chart = draw_over_time(frame, domain)
        pictures.append(Picture(name, title, chart, frame))
    return {"over_time": pictures}


def frame_over_time(group: Summary, labels: list[str]) -> pd.DataFrame:
    """Return the prevalence of one group in each batch, in order of time.

    Parameters
    ----------
    group : dict
        One entry of ``groups`` of a monitor summary.
    labels : list of str
        What the axis calls all batches, in order of time.

    Returns
    -------
    DataFrame
        One row for each batch: batch, estimate, low, high, verdict and training.
        Numbers are missing where the group is not in the batch, and where there is no
        batch of a month or day.
    """
    rows = []
    for batch in group["batches"]:
        row = {name: batch[name] for name in ("estimate", "low", "high", "verdict")}
        rows.append({"batch": labels[batch["place"] - 1], **row})
    columns = ["batch", "estimate", "low", "high", "verdict"]
    frame = pd.DataFrame(rows, columns=columns).set_index("batch")
    frame = frame.reindex(with_gaps(labels)).rename_axis("batch").reset_index()
    return frame.assign(training=group["batches"][0]["training"])


def draw_over_time(frame: pd.DataFrame, domain: list[float]) -> Any:
    """Draw the prevalence as a line with bars, broken where a batch is missing.

    The training prevalence is a dashed line. Batches in which more than the prevalence
    moved are marked by crosses.

    Parameters
    ----------
    frame : DataFrame
        From `frame_over_time`.
    domain : list of two floats
        Ends of the axis of shares.

    Returns
    -------
    altair chart
    """
    labels = frame["batch"].tolist()
    axis = alt.Axis(
        values=labels[:: -(-len(labels) // _MOST_TICKS)],
        labelAngle=-40,
        labelLimit=110,
        grid=False,
    )
    x = alt.X("batch:O", title=None, scale=alt.Scale(domain=labels), axis=axis)
    scale = alt.Scale(domain=domain)
    y = alt.Y("estimate:Q", title="share of positives", scale=scale)
    base = alt.Chart(frame)
    there = alt.Chart(frame.dropna(subset="estimate"))
    bars = there.mark_rule(strokeWidth=7, opacity=0.3, color=NOW)
    bars = bars.encode(x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q")
    # A line ends where a number is missing.
    line = base.mark_line(strokeWidth=2, color=NOW).encode(x=x, y=y)
    dots = there.mark_circle(
        size=40,
        opacity=1,
        color=NOW,
    ).encode(x=x, y=y)
    training = alt.Chart(frame.head(1)).mark_rule(
        strokeDash=[5, 4],
        strokeWidth=1.5,
        color=THEN,
    )
    training = training.encode(y="training:Q")
    # Crosses are drawn last, so that a line never hides one.
    drifted = alt.Chart(frame[frame["verdict"].isin(_DRIFTED)])
    crosses = drifted.mark_point(
        shape="cross", angle=45, size=130, filled=True, opacity=1, color=ALARM
    )
    crosses = crosses.encode(x=x, y=y)
    layers = alt.layer(bars, training, line, dots, crosses)
    return layers.properties(width=_WIDTH, height=130)
