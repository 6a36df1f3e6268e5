"""Shares of positives in training and now: the picture of an adaptation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cape.plot._base import (
    INK,
    NOW,
    THEN,
    drawable,
    import_altair,
    share_domain,
    with_title,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["moved"]

_WIDTH = 200
# Pixels between the dot of an estimate and the diamond of what it is compared with.
_BELOW = 10
_SHARES = ["training", "now", "low", "high", "compared", "compared_high"]


def moved(
    frame: pd.DataFrame,
    *,
    title: str | None = None,
    now: str = "now",
    compared: str = "what it is compared with",
    width: int = _WIDTH,
) -> Any:
    """Draw training as a ring, and now as a dot with its interval as a bar.

    Parameters
    ----------
    frame : DataFrame
        One row for each group: group, now, low and high. With training, it is a ring.
        With compared,
        compared_low and compared_high, a diamond below the dot is what the estimate is
        compared with. With a column ``rows``, the largest groups are drawn if there are
        many.
    title : str, default=None
        Written above the picture, with what its marks mean. None writes neither.
    now, compared : str
        What the dot and the diamond are, below the title.
    width : int, default=200
        In pixels.

    Returns
    -------
    altair chart

    Examples
    --------
    >>> from cape import plot
    >>> frame = pd.DataFrame({
    ...     "group": ["a", "b"], "training": [0.5, 0.5], "now": [0.4, 0.2],
    ...     "low": [0.3, 0.1], "high": [0.5, 0.3],
    ... })
    >>> type(plot.moved(frame)).__name__
    'LayerChart'
    """
    alt = import_altair()
    drawn, left_out = drawable(frame)
    # Groups stay in their order; sorted by value they would look ranked.
    y = alt.Y("group:N", sort=None, title=None)
    domain = share_domain(drawn, list(drawn.columns.intersection(_SHARES)))
    x = alt.X(
        "now:Q",
        scale=alt.Scale(domain=domain),
        axis=alt.Axis(tickCount=5),
        title="share of positives",
    )
    base = alt.Chart(drawn)
    interval = base.mark_rule(
        strokeWidth=8,
        opacity=0.35,
        color=NOW,
    )
    interval = interval.encode(
        y=y,
        x=alt.X("low:Q"),
        x2="high:Q",
    )
    dot = base.mark_circle(
        size=110,
        opacity=1,
        color=NOW,
    )
    dot = dot.encode(x=x, y=y)
    ring = base.mark_point(
        size=95,
        strokeWidth=2.5,
        opacity=1,
        color=THEN,
    )
    ring = ring.encode(x="training:Q", y=y)
    layers = [interval, dot]
    key = [f"dot: {now}, with its interval"]
    if "training" in drawn:
        # The ring lies below the dot: where nothing moved, the estimate stays visible.
        layers = [interval, ring, dot]
        key.insert(0, "ring: in training")
    diamonds = _compared_layers(drawn, y)
    chart = alt.layer(*layers, *diamonds)
    chart = chart.properties(width=width, height=alt.Step(34))
    if diamonds:
        key.append(f"diamond: {compared}")
    return with_title(chart, title, key, left_out)


def _compared_layers(frame: pd.DataFrame, y: Any) -> list[Any]:
    """Draw what the estimate is compared with: a diamond with a thin bar, below it."""
    if "compared" not in frame or frame["compared"].isna().all():
        return []
    alt = import_altair()
    base = alt.Chart(frame.dropna(subset="compared"))
    line = base.mark_rule(strokeWidth=2, color=INK, yOffset=_BELOW)
    line = line.encode(y=y, x="compared_low:Q", x2="compared_high:Q")
    diamond = base.mark_point(
        shape="diamond",
        size=70,
        filled=True,
        opacity=1,
        color=INK,
        yOffset=_BELOW,
    )
    return [line, diamond.encode(y=y, x="compared:Q")]
