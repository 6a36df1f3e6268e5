"""How much of a batch does not fit: the picture of the tests of groups and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cape.plot._base import (
    ALARM,
    NOW,
    drawable,
    import_altair,
    share_domain,
    with_title,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["unexplained"]

_WIDTH = 200


def unexplained(
    frame: pd.DataFrame,
    *,
    name: str = "group",
    title: str | None = None,
    key: str = "red: it does not fit",
    width: int = _WIDTH,
) -> Any:
    """Draw the share of rows that do not fit, of each group or of each column.

    Parameters
    ----------
    frame : DataFrame
        One row for each group or column: its name, effect, the share of rows, and
        clear, whether the test rejects.
    name : str, default="group"
        Column with the names.
    title : str, default=None
        Written above the picture, with ``key``. None writes neither.
    key : str
        What the marks of ``clear`` mean.
    width : int, default=200
        In pixels.

    Returns
    -------
    altair chart

    Examples
    --------
    >>> from cape import plot
    >>> frame = pd.DataFrame({
    ...     "group": ["a", "b"], "effect": [0.01, 0.2], "clear": [False, True],
    ... })
    >>> type(plot.unexplained(frame)).__name__
    'LayerChart'
    """
    alt = import_altair()
    drawn, left_out = drawable(frame, name)
    y = alt.Y(f"{name}:N", sort=None, title=None)
    x = alt.X(
        "effect:Q",
        scale=alt.Scale(domain=share_domain(drawn, ["effect"])),
        axis=alt.Axis(format="%", tickCount=5),
        title="share of rows that do not fit",
    )
    # The order of the names must not depend on which of them are clear.
    layers = [alt.Chart(drawn).mark_point(opacity=0).encode(x=x, y=y)]
    for clear, colour, shape in ((False, NOW, "circle"), (True, ALARM, "diamond")):
        part = alt.Chart(drawn[drawn["clear"] == clear])
        bar = part.mark_rule(strokeWidth=6, opacity=0.35, color=colour)
        layers.append(bar.encode(y=y, x=x, x2=alt.datum(0)))
        dot = part.mark_point(
            shape=shape, filled=True, size=100, opacity=1, color=colour
        )
        layers.append(dot.encode(x=x, y=y))
    chart = alt.layer(*layers).properties(width=width, height=alt.Step(24))
    return with_title(chart, title, [key], left_out)
