"""Scores of a group: the picture behind the test of a prior shift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cape.plot._base import NOW, SOFT, drawable, import_altair, with_title

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["scores"]

_MOST_PANELS = 8


def scores(
    frame: pd.DataFrame,
    *,
    title: str | None = None,
    width: int = 270,
    height: int = 110,
) -> Any:
    """Draw the scores of a batch as bars, and a mixture as a line of steps over them.

    Parameters
    ----------
    frame : DataFrame
        One row for each cell of the histogram: from, to, and batch, the share of rows
        in it; with a column ``mixture``, the share that the best mixture of the
        training classes has there. With a column ``group``, each of the largest or
        first groups has a panel.
    title : str, default=None
        Written above the picture, with what its marks mean. None writes neither.
    width, height : int
        In pixels.

    Returns
    -------
    altair chart

    Examples
    --------
    >>> from cape import plot
    >>> frame = pd.DataFrame({
    ...     "from": [0.0, 0.5], "to": [0.5, 1.0], "batch": [0.4, 0.6],
    ...     "mixture": [0.5, 0.5],
    ... })
    >>> type(plot.scores(frame)).__name__
    'LayerChart'
    """
    if "group" in frame:
        return _panels(frame, title)
    alt = import_altair()
    x = alt.X("from:Q", scale=alt.Scale(domain=[0, 1]), title="score")
    y = alt.Y(
        "batch:Q",
        title="share of rows",
        scale=alt.Scale(zero=True),
        axis=alt.Axis(format="%", tickCount=4),
    )
    bars = alt.Chart(frame).mark_rect(color=SOFT, opacity=1)
    bars = bars.encode(
        x=x,
        x2="to:Q",
        y=y,
        y2=alt.datum(0),
    )
    layers = [bars]
    key = []
    if "mixture" in frame:
        layers.append(_steps(frame, x))
        key = ["bars: the batch", "line: the best mixture of the training classes"]
    chart = alt.layer(*layers).properties(width=width, height=height)
    return with_title(chart, title, key)


def _panels(frame: pd.DataFrame, title: str | None) -> Any:
    """Draw the scores of each group, two groups a line."""
    alt = import_altair()
    drawn, left_out = drawable(frame, most=_MOST_PANELS)
    panels = []
    for name, part in drawn.groupby("group", sort=False):
        panel = scores(part.drop(columns="group"), width=220, height=90)
        panels.append(panel.properties(title=name))
    chart = alt.concat(*panels, columns=2)
    return with_title(chart, title, [], left_out)


def _steps(frame: pd.DataFrame, x: Any) -> Any:
    """Draw the mixture as a line of steps."""
    import pandas as pd

    alt = import_altair()
    # A line of steps ends where its last point begins: one more point closes the cell.
    end = frame.tail(1).assign(**{"from": 1.0})
    steps = alt.Chart(pd.concat([frame, end]))
    line = steps.mark_line(
        interpolate="step-after",
        strokeWidth=2,
        color=NOW,
    )
    return line.encode(x=x, y="mixture:Q")
