"""A chart as it stands on a page or in a file.

The other chart modules say *what* is drawn: a function ``frame_*`` returns the numbers,
and a function of `cape.plot`, or a function ``draw_*``, draws them. This module knows
how a chart becomes an SVG in the colours of the page, or a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cape.plot._base import ALARM, INK, NOW, SOFT, THEN
from cape.plot._svg import LINE, svg_or_reason
from cape.plot._svg import svg_of as plot_svg_of

__all__ = [
    "ALARM",
    "INK",
    "NOW",
    "SOFT",
    "THEN",
    "Picture",
    "save_chart",
    "svg_of",
]

# Vega can draw fixed colours only, but the page has two themes. The colours of a chart
# are exchanged for the CSS variables of the page once the picture is drawn.
_CSS_COLOURS = {
    INK: "currentColor",
    LINE: "var(--line)",
    NOW: "var(--now)",
    THEN: "var(--then)",
    SOFT: "var(--soft)",
    ALARM: "var(--bad)",
}


@dataclass(frozen=True)
class Picture:
    """One picture of a page, with the numbers behind it.

    Parameters
    ----------
    heading : str
        The text above the picture, such as the name of a group.
    title : str
        What the picture shows, for readers who cannot see it.
    chart : altair chart
        The drawing.
    frame : DataFrame
        The numbers behind the drawing.
    """

    heading: str
    title: str
    chart: Any
    frame: pd.DataFrame

    @property
    def svg(self) -> str:
        """The drawing as SVG in the colours of the page, or a sentence why not."""
        return svg_or_reason(lambda: self.chart, self.title, _CSS_COLOURS)

    @property
    def columns(self) -> list[str]:
        """Column names of the numbers."""
        return list(self.frame.columns)

    @property
    def rows(self) -> list[list[str]]:
        """The numbers as text, with three digits; what is missing is empty."""
        rows = []
        for values in self.frame.itertuples(index=False):
            rows.append(_cells(values))
        return rows


def _cells(values: Sequence[Any]) -> list[str]:
    """Return one row of numbers as text."""
    cells = []
    for value in values:
        # None and NaN: an unadapted classifier has no interval.
        if pd.isna(value):
            cells.append("")
        elif isinstance(value, float):
            cells.append(f"{value:.3f}")
        else:
            cells.append(str(value))
    return cells


def svg_of(chart: Any, title: str) -> str:
    """Draw a chart as SVG for a page.

    Parameters
    ----------
    chart : altair chart
        The chart, in the colours of this module.
    title : str
        The name of the picture for screen readers.

    Returns
    -------
    str
        One ``<svg>`` element with one accessible name.

    Examples
    --------
    >>> import altair as alt
    >>> frame = pd.DataFrame({"x": [1]})
    >>> chart = alt.Chart(frame).mark_point(color=NOW).encode(x="x:Q")
    >>> svg = svg_of(chart, "One point")
    >>> "<title>One point</title>" in svg, "var(--now)" in svg
    (True, True)
    """
    return plot_svg_of(chart, title, _CSS_COLOURS)


def save_chart(chart: Any, path: Path) -> Path:
    """Write a chart as PNG, SVG or HTML, by the ending of ``path``.

    The page of HTML contains all scripts, so that it opens without a network. A missing
    folder is made.

    Parameters
    ----------
    chart : altair chart
        The chart.
    path : Path
        Where to write it.

    Returns
    -------
    Path
        The same path.

    Examples
    --------
    >>> import altair as alt
    >>> chart = alt.Chart(pd.DataFrame({"x": [1]})).mark_point().encode(x="x:Q")
    >>> save_chart(chart, folder / "charts" / "point.svg").name
    'point.svg'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {}
    # Twice the pixels, for screens that have them; scripts inlined, for use offline.
    if path.suffix == ".png":
        options["scale_factor"] = 2
    if path.suffix == ".html":
        options["inline"] = True
    chart.save(str(path), **options)
    return path
