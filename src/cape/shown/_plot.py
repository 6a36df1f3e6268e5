"""Pictures of data frames, one function for each picture.

A picture takes the frame with its numbers and returns an altair chart. Results have a
method ``plot`` that draws one, and pages show the same pictures.
Charts have no background and no colours of text of their own, so that a theme of altair
decides them; the colours of the marks can be seen on white and on dark grounds.

Altair is imported when a picture is drawn, and not before.

All pictures take ``title``, which is written above the picture with what its marks
mean; None writes neither. ``width`` and ``height`` are in pixels. With a column
``rows``, the largest groups are drawn if there are many.

`svg_of` draws a chart as an inline SVG, for notebooks and pages: one name, the reader's
font, no ids that could collide.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from html import escape
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from cape.base._numbers import printable
from cape.base._packages import MissingExtra, require_extra
from cape.shown._render import draw as draw_in_child

if TYPE_CHECKING:
    import pandas as pd

# Each has a contrast of at least 3 with white and with the grounds of dark themes
# (#111, #1e1e1e and #333). A page exchanges them for the colours of its two themes.
_SHARE_AXIS = "share of positives"

INK = "#858585"
NOW = "#3a7fd0"
THEN = "#a8741a"
SOFT = "#8593a8"
ALARM = "#de5044"

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
_PADDING = {"left": 14, "right": 6, "top": 5, "bottom": 5}

# Words have the colour of the text around the picture, whatever its ground.
_COLOURS = {INK: "currentColor", LINE: "#80808066"}

_BAR = {"strokeWidth": 8, "opacity": 0.35}
"""An interval is a bar; a share alone is one from 0."""

_DIAMOND = {"shape": "diamond", "filled": True, "opacity": 1, "color": INK}
"""What an estimate is compared with."""

_LONGEST_REASON = 200
"""Characters of an error that stand in the place of a picture."""

MOST_ROWS = 24
"""Groups, or other rows, in one picture: with more of them nobody sees the whole."""

_MOST_PANELS = 8

_ENDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def import_altair() -> ModuleType:
    """Import altair, or say which extra installs it."""
    # Altair itself needs jinja2.
    require_extra("app", "altair", "jinja2", what="plot()")
    import altair

    return altair


def moved(
    frame: pd.DataFrame,
    *,
    title: str | None = None,
    now: str = "now",
    compared: str = "what it is compared with",
) -> Any:
    """Draw training as a ring, and now as a dot with its interval as a bar.

    Parameters
    ----------
    frame : DataFrame
        One row for each group: group, now, low and high. With training, it is a ring.
        With compared, compared_low and compared_high, a diamond below the dot is what
        the estimate is compared with. A number that is missing is not drawn.
    now, compared : str
        What the dot and the diamond are, below the title.

    Examples
    --------
    >>> from cape.shown import _plot
    >>> frame = pd.DataFrame({
    ...     "group": ["a", "b"], "training": [0.5, 0.5], "now": [0.4, 0.2],
    ...     "low": [0.3, 0.1], "high": [0.5, 0.3],
    ... })
    >>> type(_plot.moved(frame)).__name__
    'LayerChart'
    """
    alt = import_altair()
    drawn, left_out = drawable(frame)
    shares = ["training", "now", "low", "high", "compared", "compared_high"]
    domain = share_domain(drawn[drawn.columns.intersection(shares)])
    x = alt.X("now:Q", title=_SHARE_AXIS, **_scale_of_shares(alt, domain))
    y = _in_order(alt)
    base = alt.Chart(drawn).encode(y=y)
    layers = [base.mark_rule(**_BAR, color=NOW).encode(x="low:Q", x2="high:Q")]
    keys = [f"dot: {now} and its interval"]
    if "training" in drawn:
        # The ring lies below the dot: where nothing moved, the estimate stays visible.
        ring = base.mark_point(size=95, strokeWidth=2.5, opacity=1, color=THEN)
        layers.append(ring.encode(x="training:Q"))
        keys.insert(0, "ring: in training")
    layers.append(base.mark_circle(size=110, opacity=1, color=NOW).encode(x=x))
    if "compared" in drawn and drawn["compared"].notna().any():
        known = alt.Chart(drawn.dropna(subset="compared_low")).encode(y=y)
        # Pixels part the two marks of a group, so that none of them hides the other.
        line = known.mark_rule(strokeWidth=2, color=INK, yOffset=10)
        layers.append(line.encode(x="compared_low:Q", x2="compared_high:Q"))
        diamond = known.mark_point(**_DIAMOND, size=70, yOffset=10)
        layers.append(diamond.encode(x="compared:Q"))
        keys.append(f"diamond: {compared}")
    chart = alt.layer(*layers).properties(width=300, height=alt.Step(34))
    return _with_title(chart, title, "\n".join(keys), left_out)


def scores(frame: pd.DataFrame) -> Any:
    """Draw the scores of a batch as bars, and a mixture as a line of steps over them.

    Parameters
    ----------
    frame : DataFrame
        One row for each cell of the histogram: from, to, and batch, the share of rows
        in it; with a column ``mixture``, the share that the best mixture of the
        training classes has there.

    Examples
    --------
    >>> from cape.shown import _plot
    >>> frame = pd.DataFrame({
    ...     "from": [0.0, 0.5], "to": [0.5, 1.0], "batch": [0.4, 0.6],
    ...     "mixture": [0.5, 0.5],
    ... })
    >>> type(_plot.scores(frame)).__name__
    'LayerChart'
    """
    import pandas as pd

    alt = import_altair()
    x = alt.X("from:Q", scale=alt.Scale(domain=[0, 1]), title="score")
    y = alt.Y(
        "batch:Q",
        title="share of rows",
        scale=alt.Scale(zero=True),
        axis=alt.Axis(format="%", tickCount=4),
    )
    bars = alt.Chart(frame).mark_rect(color=SOFT, opacity=1)
    layers = [bars.encode(x=x, x2="to:Q", y=y, y2=alt.datum(0))]
    if "mixture" in frame:
        # A line of steps ends where its last point begins: one more point closes it.
        steps = pd.concat([frame, frame.tail(1).assign(**{"from": 1.0})])
        line = alt.Chart(steps).mark_line(
            interpolate="step-after", strokeWidth=2, color=NOW
        )
        layers.append(line.encode(x=x, y="mixture:Q"))
    return alt.layer(*layers).properties(width=270, height=110)


def drawable(
    frame: pd.DataFrame, name: str = "group", *, most: int = MOST_ROWS
) -> tuple[pd.DataFrame, str]:
    """Return the rows of a frame that are drawn, and a sentence about the rest.

    Parameters
    ----------
    frame : DataFrame
        The numbers behind a picture.
    name : str, default="group"
        Column with the names of the rows. They become printable text: a NUL in a name
        ends the whole process inside the library that draws.
    most : int, default=24
        Names that are drawn.

    Returns
    -------
    frame : DataFrame
        The rows of so many names in their order, those with the largest ``rows`` if
        there is such a column.
    sentence : str
        Empty if all rows are drawn.
    """
    names = frame[name].map(lambda value: printable(str(value)))
    frame = frame.assign(**{name: names})
    n_names = names.nunique()
    if n_names <= most:
        return frame, ""
    which = "first"
    kept = names.unique()[:most]
    if "rows" in frame:
        which = "largest"
        rows = frame.groupby(name, sort=False)["rows"].max()
        kept = rows.nlargest(most).index.to_numpy()
    # Groups stay in their order; sorted by size they would look ranked.
    drawn = frame[names.isin(kept)]
    words = {"which": which, "most": most, "n": n_names, "name": name}
    return drawn, "Only the {which} {most} of {n} {name}s are shown.".format(**words)


def share_domain(shares: Any) -> list[float]:
    """Return the ends of an axis of shares: 0 and 1, or less if all shares are small.

    Parameters
    ----------
    shares : DataFrame or sequence of float
        All that is drawn along the axis, ends of intervals among it; NaN or None where
        there is nothing to draw.

    Returns
    -------
    list of two floats
    """
    numbers = np.asarray(shares, dtype=float)
    highest = np.fmax.reduce(numbers, axis=None, initial=np.nan)
    for end in _ENDS:
        if highest <= end:
            return [0.0, end]
    return [0.0, 1.0]


def _with_title(chart: Any, title: str | None, key: str, sentence: str = "") -> Any:
    """Write a title above a chart, and below it what its marks mean.

    Parameters
    ----------
    chart : altair chart
    title : str or None
        None leaves out title and key, as on a page, which explains the marks itself.
    key : str
        What the marks mean, line by line.
    sentence : str, default=""
        What is left out of the picture. It is written in any case.

    Returns
    -------
    altair chart
    """
    if title is None:
        title, lines = sentence, []
    else:
        lines = [line for line in (*key.splitlines(), sentence) if line]
    if not title:
        return chart
    altair = import_altair()
    words = altair.TitleParams(
        title,
        subtitle=lines,
        anchor="start",
        frame="bounds",
        fontSize=13,
        fontWeight="normal",
        subtitlePadding=6,
    )
    return chart.properties(title=words)


def _in_order(alt: Any, name: str = "group") -> Any:
    """Names in their order; sorted by value they would look ranked."""
    return alt.Y(f"{name}:N", sort=None, title=None)


def _scale_of_shares(alt: Any, domain: list[float], n_ticks: int = 5) -> dict[str, Any]:
    return {"scale": alt.Scale(domain=domain), "axis": alt.Axis(tickCount=n_ticks)}


def svg_or_reason(
    draw: Callable[[], Any], title: str, colours: Mapping[str, str] = _COLOURS
) -> tuple[str, str]:
    """Draw a picture as SVG, or say in a sentence why it could not be drawn.

    Parameters
    ----------
    draw : callable
        Returns the chart.
    title, colours
        As in `svg_of`.

    Returns
    -------
    element : str
        An ``<svg>`` element, or a ``<p>`` element with the sentence.
    sentence : str
        Empty if the picture was drawn.

    Raises
    ------
    MissingExtra
        If altair or vl-convert is not installed.
    """
    try:
        return svg_of(draw(), title, colours), ""
    except MissingExtra:
        raise
    # The numbers stand beside the picture, and are worth more than it.
    except Exception as error:
        reason = printable(str(error)[:_LONGEST_REASON])
        sentence = f"This picture could not be drawn ({reason})."
        return f"<p>{escape(sentence)}</p>", sentence


def svg_of(chart: Any, title: str, colours: Mapping[str, str] = _COLOURS) -> str:
    """Draw a chart as SVG that can stand in a page.

    Parameters
    ----------
    chart : altair chart
        The chart, in the colours of `cape.shown._plot`.
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
    spec = chart.to_dict()
    config = {**spec.get("config", {}), **_CONFIG}
    spec = {**spec, "config": config, "padding": _PADDING}
    svg = draw_in_child(spec, "svg").decode()
    for colour, css in colours.items():
        svg = svg.replace(f'"{colour}"', f'"{css}"')
    # Vega gives every mark a role and a label. Screen readers would read hundreds of
    # them; the picture has one name instead, and its numbers stand in a table.
    svg = re.sub(r'\s(role|aria-[a-z]+)="[^"]*"', "", svg)
    svg = re.sub(r'font-family="[^"]*"', 'font-family="inherit"', svg)
    # The first tag is the drawing's own.
    opening, _, content = svg.partition(">")
    name = escape(title, quote=False)
    return _with_own_ids(f'{opening} role="img"><title>{name}</title>{content}')


def _with_own_ids(svg: str) -> str:
    """Make the ids of a drawing differ from those of all other drawings.

    Vega counts its clips from where it likes. In one page, the second drawing could be
    cut by the clip of the first. The ids depend on the drawing alone, so that the same
    chart is drawn as the same text.
    """
    for place, name in enumerate(re.findall(r'\sid="([^"]*)"', svg)):
        svg = svg.replace(f' id="{name}"', f' id="clip{place}"')
        svg = svg.replace(f"url(#{name})", f"url(#clip{place})")
    mark = hashlib.sha256(svg.encode()).hexdigest()[:8]
    svg = re.sub(r'(\sid="[^"]*)"', rf'\1-{mark}"', svg)
    return re.sub(r"(url\(#[^)]*)\)", rf"\1-{mark})", svg)


def watched(frame: pd.DataFrame, *, width: int = 480) -> Any:
    """Draw the share of positives of each group over looks, with its interval.

    Parameters
    ----------
    frame : DataFrame
        From `cape.Watch.history`: look, group, share, low, high and alarm.
    width : int, default=480

    Returns
    -------
    altair chart
        A row for each group; alarms are red dots.
    """
    alt = import_altair()
    drawn, left_out = drawable(frame)
    order = drawn["look"].unique().tolist()
    axis = alt.Axis(labelOverlap=True, labelAngle=0)
    x = alt.X("look:O", sort=order, title=None, axis=axis)
    domain = share_domain(drawn[["share", "high"]])
    base = alt.Chart(drawn).encode(x=x)
    y = alt.Y("share:Q", title=None, **_scale_of_shares(alt, domain, n_ticks=2))
    layers = [
        base.mark_area(opacity=0.35, color=NOW).encode(y="low:Q", y2="high:Q"),
        base.mark_line(color=NOW).encode(y=y),
        base.mark_circle(size=90, opacity=1, color=ALARM)
        .encode(y="share:Q")
        .transform_filter("datum.alarm != ''"),
    ]
    chart = alt.layer(*layers, data=drawn).properties(width=width, height=90)
    header = alt.Header(labelAngle=0, labelAlign="left", labelLimit=60)
    rows = alt.Row("group:N", sort=None, title=None, header=header)
    return _with_title(chart.facet(row=rows), None, "", left_out)


def backtested(
    frame: pd.DataFrame,
    *,
    title: str | None = None,
    key: str = "",
    domain: list[float] | None = None,
    width: int = 200,
) -> Any:
    """Draw truth, estimate and last share of each group over time, a panel a group.

    Parameters
    ----------
    frame : DataFrame
        One row for each period and group: period, group, rows, truth, estimate, low,
        high and last.
    key : str
        What the marks mean.
    domain : list of two floats, default=None
        Ends of the axis of shares; None is that of all panels.
    width : int, default=200

    Examples
    --------
    >>> from cape.shown import _plot
    >>> frame = pd.DataFrame({
    ...     "period": ["2023", "2024"], "group": ["a", "a"], "truth": [0.3, 0.4],
    ...     "estimate": [0.3, 0.5], "low": [0.2, 0.4], "high": [0.4, 0.6],
    ...     "last": [0.2, 0.3],
    ... })
    >>> type(_plot.backtested(frame)).__name__
    'ConcatChart'
    """
    alt = import_altair()
    periods = frame["period"].unique().tolist()
    drawn, left_out = drawable(frame, most=_MOST_PANELS)
    domain = domain or share_domain(drawn[["truth", "high", "last"]])
    axis = alt.Axis(labelOverlap=True, labelAngle=0, grid=False)
    x = alt.X("period:O", sort=periods, title=None, axis=axis)
    y = alt.Y("estimate:Q", title=None, **_scale_of_shares(alt, domain, n_ticks=3))
    panels = []
    for name, part in drawn.groupby("group", sort=False):
        base = alt.Chart(part).encode(x=x)
        bars = base.mark_rule(**_BAR, color=NOW)
        last = base.mark_tick(thickness=2.5, size=16, color=THEN)
        dots = base.mark_circle(size=60, opacity=1, color=NOW)
        truth = base.mark_point(**_DIAMOND, size=60, xOffset=7)
        layers = [bars.encode(y="low:Q", y2="high:Q"), last.encode(y="last:Q")]
        layers += [dots.encode(y=y), truth.encode(y="truth:Q")]
        panel = alt.layer(*layers).properties(width=width, height=90)
        if title is not None:
            panel = panel.properties(title=name)
        panels.append(panel)
    return _with_title(alt.concat(*panels, columns=2), title, key, left_out)
