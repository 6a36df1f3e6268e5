"""Pictures. Each ``frame_`` gives the numbers behind one, each ``draw_`` draws them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

__all__ = ["draw_prevalences", "frame_prevalences", "save_chart"]

_TRUE = "true prevalence"


def frame_prevalences(table: pd.DataFrame) -> pd.DataFrame:
    """True and predicted prevalence of each group by each classifier, long, from stacked `fairness_table` rows."""
    groups = table["predicted_prevalence"].columns
    rows = [
        {
            "classifier": name,
            "group": f"group {group}",
            "kind": kind,
            "prevalence": float(row[column, group]),
        }
        for name, row in table.iterrows()
        for group in groups
        for kind, column in (
            (_TRUE, "prevalence"),
            ("predicted prevalence", "predicted_prevalence"),
        )
    ]
    return pd.DataFrame(rows)


def draw_prevalences(frame: pd.DataFrame) -> alt.LayerChart:
    """Predicted prevalence as a dot, true prevalence as a tick: the gap between them is PD."""
    order = list(dict.fromkeys(frame["classifier"]))
    y = alt.Y("classifier:N", sort=order, title=None, axis=alt.Axis(labelLimit=220))
    x = alt.X(
        "prevalence:Q", scale=alt.Scale(domain=[0, 1]), title="share of positives"
    )
    colour = alt.Color(
        "group:N",
        title=None,
        scale=alt.Scale(range=["#0072b2", "#d55e00", "#009e73", "#cc79a7"]),
    )
    wide = frame.pivot_table(
        index=["classifier", "group"], columns="kind", values="prevalence"
    ).reset_index()
    wide.columns.name = None
    gap = (
        alt.Chart(wide)
        .mark_rule(strokeWidth=3, opacity=0.45)
        .encode(y=y, color=colour, x=f"{_TRUE}:Q", x2="predicted prevalence:Q")
    )
    true = (
        alt.Chart(frame[frame["kind"] == _TRUE])
        .mark_tick(thickness=3, size=26)
        .encode(x=x, y=y, color=colour)
    )
    predicted = (
        alt.Chart(frame[frame["kind"] != _TRUE])
        .mark_circle(size=130, opacity=1)
        .encode(x=x, y=y, color=colour)
    )
    title = alt.TitleParams(
        "Predicted (dot) and true (tick) share of positives",
        subtitle="Both groups had 0.5 in training. The line between dot and tick is the prevalence difference.",
        anchor="start",
    )
    return (gap + true + predicted).properties(
        width=520, height=60 * len(order), title=title
    )


def save_chart(chart: Any, path: Path) -> Path:
    """Write a chart as PNG, SVG or a page of HTML, by the ending of ``path``; no browser and no network."""
    path.parent.mkdir(parents=True, exist_ok=True)
    options: dict[str, dict[str, Any]] = {
        ".png": {"scale_factor": 2},
        ".html": {"inline": True},
    }
    chart.save(str(path), **options.get(path.suffix, {}))
    return path
