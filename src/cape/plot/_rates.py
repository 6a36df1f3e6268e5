"""Rates by group: the picture of error rates, observed or expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cape.plot._base import (
    NOW,
    THEN,
    drawable,
    import_altair,
    share_domain,
    with_title,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["rates"]

_WIDTH = 200
_KEY = ["dot: the rate, with its interval"]


def rates(frame: pd.DataFrame, *, title: str | None = None, width: int = _WIDTH) -> Any:
    """Draw one rate of each group: a dot with its interval as a bar.

    Parameters
    ----------
    frame : DataFrame
        One row for each group: group, value, low and high. With a column
        ``classifier``, the rows of "unadapted" are rings. With a column ``rows``, the
        largest groups are drawn if there are many. With a column ``rate``, each rate
        has a panel.
    title : str, default=None
        Written above the picture, with what its marks mean. None writes neither.
    width : int, default=200
        In pixels.

    Returns
    -------
    altair chart

    Examples
    --------
    >>> from cape import plot
    >>> frame = pd.DataFrame({
    ...     "group": ["a", "b"], "value": [0.4, 0.2], "low": [0.3, 0.1],
    ...     "high": [0.5, 0.3],
    ... })
    >>> type(plot.rates(frame)).__name__
    'LayerChart'
    """
    if "rate" in frame:
        return _panels(frame, title, width)
    alt = import_altair()
    drawn, left_out = drawable(frame)
    y = alt.Y("group:N", sort=None, title=None)
    domain = share_domain(drawn, ["value", "high"])
    x = alt.X(
        "value:Q",
        scale=alt.Scale(domain=domain),
        axis=alt.Axis(tickCount=5),
        title=None,
    )
    # The ring lies below the dot: where both agree, CAPE stays visible.
    dots, rings = drawn, drawn.head(0)
    if "classifier" in drawn:
        is_ring = drawn["classifier"] == "unadapted"
        dots, rings = drawn[~is_ring], drawn[is_ring]
    main = alt.Chart(dots)
    interval = main.mark_rule(
        strokeWidth=8,
        opacity=0.35,
        color=NOW,
    )
    interval = interval.encode(
        y=y,
        x="low:Q",
        x2="high:Q",
    )
    dot = main.mark_circle(
        size=100,
        opacity=1,
        color=NOW,
    )
    dot = dot.encode(x=x, y=y)
    ring = alt.Chart(rings)
    ring = ring.mark_point(
        size=90,
        strokeWidth=2.5,
        opacity=1,
        color=THEN,
    )
    ring = ring.encode(x=x, y=y)
    layers = alt.layer(interval, ring, dot)
    chart = layers.properties(width=width, height=alt.Step(30))
    return with_title(chart, title, _KEY, left_out)


def _panels(frame: pd.DataFrame, title: str | None, width: int) -> Any:
    """Draw one rate beside the other."""
    alt = import_altair()
    drawn, left_out = drawable(frame)
    panels = []
    for rate, part in drawn.groupby("rate", sort=False):
        panel = rates(part.drop(columns="rate"), width=width)
        panels.append(panel.properties(title=rate))
    return with_title(alt.hconcat(*panels), title, _KEY, left_out)
