"""Pools and quantifiers side by side: the picture of a recommendation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cape.plot._base import NOW, THEN, import_altair, with_title

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["recommendation"]

_SHAPES = ("circle", "diamond", "square", "triangle-up")


def recommendation(
    frame: pd.DataFrame,
    *,
    metric: str = "pd",
    title: str | None = None,
    width: int = 200,
) -> Any:
    """Draw the unfairness of every configuration, a panel for each batch size.

    Parameters
    ----------
    frame : DataFrame
        From `cape.examination.Recommendation.table`, with batch_size, pool, quantifier,
        the metric and its standard error as columns.
    metric : str, default="pd"
        Column of the metric, with the column ``{metric}_error``.
    title : str, default=None
        Written above the picture, with what its marks mean. None writes neither.
    width : int, default=200
        Of a panel, in pixels.

    Returns
    -------
    altair chart

    Examples
    --------
    >>> from cape import plot
    >>> frame = pd.DataFrame({
    ...     "batch_size": [100, 100], "pool": ["threshold", "resampled"],
    ...     "quantifier": ["spa", "spa"], "pd": [0.04, 0.05], "pd_error": [0.01, 0.01],
    ... })
    >>> type(plot.recommendation(frame)).__name__
    'HConcatChart'
    """
    alt = import_altair()
    error = frame[f"{metric}_error"].fillna(0)
    drawn = frame.assign(low=frame[metric] - 2 * error, high=frame[metric] + 2 * error)
    scale = alt.Scale(domain=[0, float(drawn["high"].max())], nice=True, clamp=True)
    panels = []
    for size, part in drawn.groupby("batch_size"):
        heading = f"batches of {size} rows"
        panels.append(
            _panel(part, metric, scale).properties(title=heading, width=width)
        )
    chart = alt.hconcat(*panels)
    key = ["mark: mean over batches; bar: two standard errors; left is fairer"]
    return with_title(chart, title, key)


def _panel(frame: pd.DataFrame, metric: str, scale: Any) -> Any:
    """Draw the configurations of one batch size."""
    alt = import_altair()
    pools = sorted(frame["pool"].unique())
    y = alt.Y("quantifier:N", title=None)
    # Pools stand below each other, or one would hide the other.
    offset = alt.YOffset("pool:N", sort=pools)
    colours = alt.Scale(domain=pools, range=[NOW, THEN])
    shapes = alt.Scale(domain=pools, range=list(_SHAPES[: len(pools)]))
    base = alt.Chart(frame).encode(
        y=y, yOffset=offset, color=alt.Color("pool:N", scale=colours)
    )
    x = alt.X(
        f"{metric}:Q", scale=scale, axis=alt.Axis(tickCount=5), title=metric.upper()
    )
    bars = base.mark_rule(strokeWidth=5, opacity=0.35)
    bars = bars.encode(x=alt.X("low:Q", scale=scale, title=metric.upper()), x2="high:Q")
    marks = base.mark_point(filled=True, size=80, opacity=1)
    marks = marks.encode(x=x, shape=alt.Shape("pool:N", scale=shapes))
    return alt.layer(bars, marks).properties(height=alt.Step(16))
