"""What a criterion costs: the picture of a frontier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cape.plot._base import NOW, THEN, import_altair, with_title

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["frontier"]


def frontier(
    frame: pd.DataFrame,
    *,
    criterion: str,
    value: str = "accuracy",
    title: str | None = None,
    heading: str | None = None,
    label: str | None = None,
    x_domain: Sequence[float] | None = None,
    y_domain: Sequence[float] | None = None,
    width: int = 400,
    height: int = 260,
) -> Any:
    """Draw what a criterion costs: a curve with its band, and rules as marks.

    Parameters
    ----------
    frame : DataFrame
        From `cape.examination.Frontier.table`: rows without a rule are the curve.
    criterion : str
        Column of the criterion, drawn from left to right.
    value : str, default="accuracy"
        Column of the accuracy or cost, with the columns ``{value}_low`` and
        ``{value}_high``.
    title : str, default=None
        Title of the horizontal axis; None is ``criterion``.
    heading : str, default=None
        Written above the picture, with what its marks mean. None writes neither.
    label : str, default=None
        Column with short texts to write beside the marks of rules. None has a legend of
        the rules instead.
    x_domain, y_domain : pair of float, default=None
        Ends of the axes; None fits them to the points.
    width, height : int
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
    ...     "rule": [None, None, "accuracy"], "pe": [0.0, 0.5, 0.6],
    ...     "accuracy": [0.8, 0.9, 0.9], "accuracy_low": [0.7, 0.8, 0.8],
    ...     "accuracy_high": [0.9, 1.0, 1.0],
    ... })
    >>> type(plot.frontier(frame, criterion="pe")).__name__
    'LayerChart'
    """
    alt = import_altair()
    is_rule = frame["rule"].notna()
    curve = alt.Chart(frame[~is_rule])
    rules = alt.Chart(frame[is_rule])
    few_ticks = alt.Axis(tickCount=5)
    x = alt.X(
        f"{criterion}:Q",
        title=title or criterion,
        scale=_scale(alt, x_domain),
        axis=alt.Axis(tickCount=5, grid=False, labelFlush=False),
    )
    vertical = {"title": value, "scale": _scale(alt, y_domain), "axis": few_ticks}
    y = alt.Y(f"{value}:Q", **vertical)
    y_low = alt.Y(f"{value}_low:Q", **vertical)
    band = curve.mark_area(opacity=0.2, color=NOW)
    line = curve.mark_line(color=NOW, strokeWidth=2)
    layers = [
        band.encode(x=x, y=y_low, y2=f"{value}_high:Q"),
        line.encode(x=x, y=y),
    ]
    if label is None:
        marks = rules.mark_point(filled=True, size=90, opacity=1)
        layers.append(marks.encode(x=x, y=y, color="rule:N", shape="rule:N"))
    else:
        marks = rules.mark_circle(size=60, opacity=1, color=THEN)
        texts = rules.mark_text(
            align="left", dx=3, dy=-9, fontWeight="bold", color=THEN
        )
        layers.append(marks.encode(x=x, y=y))
        layers.append(texts.encode(x=x, y=y, text=f"{label}:N"))
    chart = alt.layer(*layers).properties(width=width, height=height)
    key = ["curve: the best choice for each bound, with its interval", "marks: rules"]
    return with_title(chart, heading, key)


def _scale(alt: Any, domain: Sequence[float] | None) -> Any:
    """Return the scale of an axis, with given ends or around the points."""
    if domain is None:
        return alt.Scale(zero=False)
    return alt.Scale(domain=list(domain), nice=False)
