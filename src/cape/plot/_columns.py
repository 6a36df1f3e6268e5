"""What single columns say of a prevalence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cape.plot._base import (
    ALARM,
    INK,
    NOW,
    THEN,
    drawable,
    import_altair,
    with_title,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["columns"]

_WIDTH = 200


def columns(
    frame: pd.DataFrame, *, title: str | None = None, width: int = _WIDTH
) -> Any:
    """Draw a dot with a bar for each column of one group, and three upright lines.

    Parameters
    ----------
    frame : DataFrame
        One row for each column: column, the prevalence that it speaks for, low, high,
        moved ("yes" or "no"), and the three lines: estimate, mean score and training.
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
    ...     "column": ["age", "income"], "prevalence": [0.4, 0.9], "low": [0.3, 0.8],
    ...     "high": [0.5, 1.0], "moved": ["no", "yes"], "estimate": 0.4,
    ...     "mean score": 0.45, "training": 0.5,
    ... })
    >>> type(plot.columns(frame)).__name__
    'LayerChart'
    """
    alt = import_altair()
    drawn, left_out = drawable(frame, "column")
    y = alt.Y("column:N", sort=None, title=None)
    domain = alt.Scale(domain=[0, 1])
    x = alt.X("prevalence:Q", scale=domain, title="share of positives")
    first = alt.Chart(drawn.head(1))
    dashes = {
        "training": (THEN, [5, 4]),
        "mean score": (INK, [2, 3]),
        "estimate": (NOW, [1, 0]),
    }
    layers = []
    for name, (colour, dash) in dashes.items():
        line = first.mark_rule(strokeWidth=2, color=colour, strokeDash=dash)
        layers.append(line.encode(x=alt.X(f"{name}:Q")))
    for moved, colour in (("no", NOW), ("yes", ALARM)):
        part = alt.Chart(drawn[drawn["moved"] == moved])
        bar = part.mark_rule(strokeWidth=6, opacity=0.35, color=colour)
        layers.append(bar.encode(y=y, x="low:Q", x2="high:Q"))
        dot = part.mark_circle(size=80, opacity=1, color=colour)
        layers.append(dot.encode(x=x, y=y))
    # The order of the columns must not depend on which of them moved.
    order = alt.Chart(drawn).mark_point(opacity=0).encode(x=x, y=y)
    chart = alt.layer(order, *layers).properties(width=width, height=alt.Step(24))
    key = [
        "dot: what a column speaks for, red if it moved",
        "lines: estimate (solid), mean score (dotted), training (dashed)",
    ]
    return with_title(chart, title, key, left_out)
