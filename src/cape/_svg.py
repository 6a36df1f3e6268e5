"""A chart as an inline SVG: one name, the reader's font, no ids that could collide."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from cape._packages import MissingExtra, require_extra
from cape._plot import INK

LINE = "#9a9a9a"
"""Colour of axes and grids."""

_AXIS = {
    "labelColor": INK,
    "titleColor": INK,
    "gridColor": LINE,
    "domainColor": LINE,
    "tickColor": LINE,
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "labelLimit": 155,
    "labelSeparation": 10,
}

_WORDS = {"color": INK, "subtitleColor": INK}

_CONFIG = {
    "axis": _AXIS,
    "header": {"labelColor": INK, "titleColor": INK},
    "legend": {"labelColor": INK, "titleColor": INK},
    "title": _WORDS,
    "view": {"stroke": None},
    "background": None,
    "font": "sans-serif",
}

# Vega measures text in its own font. The reader's may be wider, so that labels need
# room.
_PADDING = {
    "left": 14,
    "right": 6,
    "top": 5,
    "bottom": 5,
}

# Words have the colour of the text around the picture, whatever its ground.
_COLOURS = {INK: "currentColor", LINE: "#80808066"}

_LONGEST_REASON = 200
"""Characters of an error that stand in the place of a picture."""


def svg_or_reason(
    draw: Callable[[], Any], title: str, colours: Mapping[str, str] = _COLOURS
) -> str:
    """Draw a picture as SVG, or say in a sentence why it could not be drawn.

    Parameters
    ----------
    draw : callable
        Returns the chart.
    title, colours
        As in `svg_of`.

    Returns
    -------
    str
        An ``<svg>`` element, or a ``<p>`` element.

    Raises
    ------
    MissingExtra
        If altair or vl-convert is not installed.
    """
    try:
        return svg_of(draw(), title, colours)
    except (KeyboardInterrupt, SystemExit, MissingExtra):
        raise
    # A panic of the drawing library is no Exception. The numbers stand beside the
    # picture, and are worth more than it.
    except BaseException as error:
        reason = escape(f"{type(error).__name__}: {str(error)[:_LONGEST_REASON]}")
        return f"<p>This picture could not be drawn ({reason}).</p>"


def svg_of(chart: Any, title: str, colours: Mapping[str, str] = _COLOURS) -> str:
    """Draw a chart as SVG that can stand in a page.

    Parameters
    ----------
    chart : altair chart
        The chart, in the colours of `cape._plot`.
    title : str
        The name of the picture for screen readers.
    colours : mapping from str to str
        What the colours are exchanged for, such as the variables of a page.

    Returns
    -------
    str
        One ``<svg>`` element with one accessible name.

    Raises
    ------
    ImportError
        If vl-convert is not installed.

    Examples
    --------
    >>> import altair as alt
    >>> frame = pd.DataFrame({"x": [1]})
    >>> chart = alt.Chart(frame).mark_point(color="#3a7fd0").encode(x="x:Q")
    >>> svg = svg_of(chart, "One point", {"#3a7fd0": "blue"})
    >>> "<title>One point</title>" in svg, 'stroke="blue"' in svg
    (True, True)
    """
    require_extra("app", "vl_convert", what="plot()")
    import vl_convert

    # vl-convert draws without a browser and without a network.
    content = chart.to_dict()
    config = {**content.get("config", {}), **_CONFIG}
    spec = {**content, "config": config, "padding": _PADDING}
    svg = vl_convert.vegalite_to_svg(spec)
    for colour, css in colours.items():
        svg = svg.replace(f'"{colour}"', f'"{css}"')
    # Vega gives every mark a role and a label. Screen readers would read hundreds of
    # them; the picture has one name instead, and its numbers stand in a table.
    svg = re.sub(r'\s(role|aria-[a-z]+)="[^"]*"', "", svg)
    svg = re.sub(r'font-family="[^"]*"', 'font-family="inherit"', svg)
    return _with_own_ids(_with_name(svg, title))


def _with_name(svg: str, title: str) -> str:
    """Give a drawing one role and one name."""
    opening = re.search(r"<svg([^>]*)>", svg)
    if opening is None:
        raise ValueError("chart must be drawn as SVG, got a text without <svg>.")
    name = escape(title, quote=False)
    named = f'<svg{opening[1]} role="img"><title>{name}</title>'
    return svg[: opening.start()] + named + svg[opening.end() :]


def _with_own_ids(svg: str) -> str:
    """Make the ids of a drawing differ from those of all other drawings.

    Vega counts its clips from where it likes. In one page, the second drawing could be
    cut by the clip of the first. The ids depend on the drawing alone, so that the same
    chart is drawn as the same text.
    """
    own: dict[str, str] = {}
    for place, name in enumerate(re.findall(r'\sid="([^"]*)"', svg)):
        own[name] = f"clip{place}"
    for name, place_name in own.items():
        svg = svg.replace(f' id="{name}"', f' id="{place_name}"')
        svg = svg.replace(f"url(#{name})", f"url(#{place_name})")
    mark = hashlib.sha256(svg.encode()).hexdigest()[:8]
    svg = re.sub(r'(\sid="[^"]*)"', rf'\1-{mark}"', svg)
    return re.sub(r"(url\(#[^)]*)\)", rf"\1-{mark})", svg)
