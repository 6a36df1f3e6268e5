"""Pictures of a page. Each ``frame_`` gives the numbers behind one, each ``draw_`` draws them.

They are SVG in the page's own colours, so that they read in the dark and in print; 340 pixels wide, so that they read
on a phone without being scaled down.
"""

from __future__ import annotations

import re
from typing import Any

import altair as alt
import pandas as pd

__all__ = [
    "draw_histogram",
    "draw_moved",
    "draw_over_time",
    "draw_rates",
    "frame_histogram",
    "frame_moved",
    "frame_over_time",
    "frame_rates",
    "svg_of",
]

# Colours that stand for the page's variables; they are exchanged once the picture is drawn.
_INK, _LINE, _NOW, _THEN, _SOFT, _BAD = (
    "#010101",
    "#020202",
    "#030303",
    "#040404",
    "#050505",
    "#060606",
)
_VARIABLES = {
    _INK: "currentColor",
    _LINE: "var(--line)",
    _NOW: "var(--now)",
    _THEN: "var(--then)",
    _SOFT: "var(--soft)",
    _BAD: "var(--bad)",
}
_WIDTH = 200


def frame_moved(groups: list[dict[str, Any]]) -> pd.DataFrame:
    """Prevalence of each group in training and now, with its interval."""
    names = {
        "group": "group",
        "training_prevalence": "training",
        "estimate": "now",
        "low": "low",
        "high": "high",
    }
    return pd.DataFrame(groups)[list(names)].rename(columns=names)


def draw_moved(frame: pd.DataFrame) -> Any:
    """Training as a ring, now as a dot with its interval as a bar."""
    y = alt.Y("group:N", sort=None, title=None)
    x = alt.X("now:Q", scale=alt.Scale(domain=[0, 1]), title="share of positives")
    base = alt.Chart(frame)
    band = base.mark_rule(strokeWidth=8, opacity=0.35, color=_NOW).encode(
        y=y, x=alt.X("low:Q"), x2="high:Q"
    )
    now = base.mark_circle(size=110, opacity=1, color=_NOW).encode(x=x, y=y)
    then = base.mark_point(size=95, strokeWidth=2.5, opacity=1, color=_THEN).encode(
        x="training:Q", y=y
    )
    return alt.layer(band, then, now).properties(width=_WIDTH, height=alt.Step(34))


def frame_histogram(entry: dict[str, Any]) -> pd.DataFrame:
    """Share of scores in each cell, in the batch and in the best mixture of the training classes."""
    n = len(entry["batch"])
    return pd.DataFrame(
        {
            "from": [i / n for i in range(n)],
            "to": [(i + 1) / n for i in range(n)],
            "batch": entry["batch"],
            "mixture": entry["mixture"],
        }
    )


def draw_histogram(frame: pd.DataFrame) -> Any:
    """The batch as bars, the mixture as a line of steps over them."""
    x = alt.X("from:Q", scale=alt.Scale(domain=[0, 1]), title="score")
    y = alt.Y(
        "batch:Q",
        title="share of rows",
        scale=alt.Scale(zero=True),
        axis=alt.Axis(format="%", tickCount=4),
    )
    bars = (
        alt.Chart(frame)
        .mark_rect(color=_SOFT, opacity=1)
        .encode(x=x, x2="to:Q", y=y, y2=alt.datum(0))
    )
    steps = pd.concat([frame, frame.tail(1).assign(**{"from": 1.0})])
    line = (
        alt.Chart(steps)
        .mark_line(interpolate="step-after", strokeWidth=2, color=_NOW)
        .encode(x=x, y="mixture:Q")
    )
    return alt.layer(bars, line).properties(width=270, height=110)


def frame_rates(summary: dict[str, Any]) -> pd.DataFrame:
    """FPR, FNR and accuracy of each group: observed where there are labels, else expected; CAPE and unadapted.

    An audit has predictions alone, which may be anybody's.
    """
    rows = []
    observed = summary.get("observed")
    first = "CAPE" if not observed or "unadapted" in observed else "the predictions"
    for rate in ("fpr", "fnr", "accuracy"):
        if observed:
            for who, label in (("cape", first), ("unadapted", "unadapted")):
                for found in observed.get(who, {"groups": []})["groups"]:
                    if found["metric"] == rate:
                        rows.append(
                            [
                                rate,
                                found["group"],
                                label,
                                found["value"],
                                found["low"],
                                found["high"],
                            ]
                        )
            continue
        for found in summary["expected"]["groups"]:
            rows.append(
                [
                    rate,
                    found["group"],
                    "CAPE",
                    found[rate],
                    found[f"{rate}_low"],
                    found[f"{rate}_high"],
                ]
            )
        for found in summary["expected"]["unadapted"]["groups"]:
            rows.append([rate, found["group"], "unadapted", found[rate], None, None])
    return pd.DataFrame(
        rows, columns=["rate", "group", "classifier", "value", "low", "high"]
    )


def draw_rates(frame: pd.DataFrame) -> Any:
    """One rate: a dot and a bar for CAPE, a ring for the unadapted classifier, one row a group."""
    y = alt.Y("group:N", sort=None, title=None)
    x = alt.X("value:Q", scale=alt.Scale(domain=[0, 1]), title=None)
    cape = frame[frame["classifier"] != "unadapted"]
    plain = frame[frame["classifier"] == "unadapted"]
    band = (
        alt.Chart(cape)
        .mark_rule(strokeWidth=8, opacity=0.35, color=_NOW)
        .encode(y=y, x="low:Q", x2="high:Q")
    )
    dot = alt.Chart(cape).mark_circle(size=100, opacity=1, color=_NOW).encode(x=x, y=y)
    ring = (
        alt.Chart(plain)
        .mark_point(size=90, strokeWidth=2.5, opacity=1, color=_THEN)
        .encode(x=x, y=y)
    )
    return alt.layer(band, ring, dot).properties(width=_WIDTH, height=alt.Step(30))


def frame_over_time(group: dict[str, Any]) -> pd.DataFrame:
    """Prevalence of one group in each batch, in order."""
    return pd.DataFrame(group["batches"])[
        ["batch", "place", "estimate", "low", "high", "assumption", "training"]
    ]


def draw_over_time(frame: pd.DataFrame) -> Any:
    """A line with its band; the training prevalence dashed; batches where the assumption fails as crosses."""
    last = max(int(frame["place"].max()), 2)
    x = alt.X(
        "place:Q",
        title="batch",
        scale=alt.Scale(domain=[1, last]),
        axis=alt.Axis(tickMinStep=1, format="d"),
    )
    y = alt.Y("estimate:Q", title="share of positives", scale=alt.Scale(domain=[0, 1]))
    base = alt.Chart(frame)
    band = base.mark_area(opacity=0.25, color=_NOW).encode(
        x=x, y=alt.Y("low:Q"), y2="high:Q"
    )
    line = base.mark_line(strokeWidth=2, color=_NOW).encode(x=x, y=y)
    dots = base.mark_circle(size=28, opacity=1, color=_NOW).encode(x=x, y=y)
    then = base.mark_line(strokeDash=[5, 4], strokeWidth=1.5, color=_THEN).encode(
        x=x, y="training:Q"
    )
    failed = alt.Chart(frame[frame["assumption"] == "fails"])
    marks = failed.mark_point(
        shape="cross", angle=45, size=130, filled=True, opacity=1, color=_BAD
    ).encode(x=x, y=y)
    return alt.layer(band, then, line, dots, marks).properties(width=350, height=130)


def svg_of(chart: Any, title: str) -> str:
    """The picture as SVG for a page: in its colours, one image with one name for those who hear it."""
    import vl_convert

    axis: dict[str, Any] = {
        "labelColor": _INK,
        "titleColor": _INK,
        "gridColor": _LINE,
        "domainColor": _LINE,
    }
    axis |= {
        "tickColor": _LINE,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 155,
    }
    config = {
        "axis": axis,
        "view": {"stroke": None},
        "background": None,
        "font": "sans-serif",
    }
    room = {
        "left": 14,
        "right": 6,
        "top": 5,
        "bottom": 5,
    }  # the reader's font may be wider than the one measured here
    svg = vl_convert.vegalite_to_svg(
        {**chart.to_dict(), "config": config, "padding": room}
    )
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(f'"{colour}"', f'"{variable}"')
    svg = re.sub(r'\s(role|aria-[a-z]+)="[^"]*"', "", svg)
    svg = re.sub(r'font-family="[^"]*"', 'font-family="inherit"', svg)
    name = title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(
        r"<svg([^>]*)>",
        lambda found: f'<svg{found[1]} role="img"><title>{name}</title>',
        svg,
        count=1,
    )
