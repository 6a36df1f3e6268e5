"""Predicted against true shares: the picture of an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cape.plot._base import (
    INK,
    NOW,
    drawable,
    import_altair,
    share_domain,
    with_title,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["audit"]

_WIDTH = 200
# Pixels that part the two marks of a group, so that none of them hides the other.
_APART = 6


def audit(frame: pd.DataFrame, *, title: str | None = None, width: int = _WIDTH) -> Any:
    """Draw how often each group is called positive, and how often it is positive.

    Parameters
    ----------
    frame : DataFrame
        One row for each group: group, predicted, predicted_low, predicted_high, true,
        true_low and true_high. A share that is missing is not drawn. With a column
        ``rows``, the largest groups are drawn if there are many.
    title : str, default=None
        Written above the picture, with what its marks mean. None writes neither.
    width : int, default=200
        In pixels.

    Returns
    -------
    altair chart

    Raises
    ------
    ImportError
        If altair is not installed.

    Examples
    --------
    >>> from cape import plot
    >>> frame = pd.DataFrame({
    ...     "group": ["a", "b"], "predicted": [0.4, 0.2], "true": [0.3, 0.3],
    ...     "predicted_low": [0.3, 0.1], "predicted_high": [0.5, 0.3],
    ...     "true_low": [0.2, 0.2], "true_high": [0.4, 0.4],
    ... })
    >>> type(plot.audit(frame)).__name__
    'LayerChart'
    """
    alt = import_altair()
    drawn, left_out = drawable(frame)
    shares = ["predicted", "predicted_low", "predicted_high"]
    shares += ["true", "true_low", "true_high"]
    domain = share_domain(drawn, shares)
    x = {
        "scale": alt.Scale(domain=domain),
        "axis": alt.Axis(tickCount=5),
        "title": "share of positives",
    }
    # Groups stay in their order; sorted by value they would look ranked.
    y = alt.Y("group:N", sort=None, title=None)
    base = alt.Chart(drawn).encode(y=y)
    interval = base.mark_rule(strokeWidth=8, opacity=0.35, color=NOW, yOffset=-_APART)
    dot = base.mark_circle(size=110, opacity=1, color=NOW, yOffset=-_APART)
    line = base.mark_rule(strokeWidth=2, color=INK, yOffset=_APART)
    diamond = base.mark_point(
        shape="diamond", size=70, filled=True, opacity=1, color=INK, yOffset=_APART
    )
    chart = alt.layer(
        interval.encode(x=alt.X("predicted_low:Q", **x), x2="predicted_high:Q"),
        dot.encode(x=alt.X("predicted:Q", **x)),
        line.encode(x=alt.X("true_low:Q", **x), x2="true_high:Q"),
        diamond.encode(x=alt.X("true:Q", **x)),
    )
    chart = chart.properties(width=width, height=alt.Step(34))
    key = ["dot: share called positive", "diamond: share positive by the labels"]
    return with_title(chart, title, key, left_out)
