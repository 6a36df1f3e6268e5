"""Pictures of the paper's experiments. Each ``frame_`` gives the numbers behind one, each ``draw_`` draws them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from cape.report._charts import save_chart

__all__ = [
    "draw_comparison",
    "draw_figure",
    "draw_pairs",
    "draw_theorem",
    "frame_comparison",
    "frame_figure",
    "frame_pairs",
    "frame_theorem",
    "save_pictures",
]

_COLOURS = {"CAPE-D": "#0072b2", "CAPE threshold": "#009e73", "Max_Acc": "#d55e00"}
_GROUPS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"]
_FIGURE = {
    "accuracy_1": "accuracy of group 1",
    "pd_1": "PD of group 1",
    "pe_01": "PE of groups 0, 1",
}
_THEOREM = {
    "pd": "PD observed",
    "delta_1": "delta_1, error of the quantifier",
    "delta_2": "delta_2, error of the members",
    "theorem_3": "Theorem 3's bound",
    "our_bound": "our bound (95 %)",
}


def save_pictures(results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw what a run found, each picture as PNG and as a page that opens without a network.

    Parameters
    ----------
    results : dict
        From `cape.experiments.run_synthetic` or `cape.experiments.compare_methods`.
    folder : Path

    Returns
    -------
    list of Path
    """
    if results["experiment"] == "synthetic":
        charts = {
            "figure": draw_figure(frame_figure(results)),
            "pairs": draw_pairs(frame_pairs(results)),
            "theorem": draw_theorem(frame_theorem(results)),
        }
    else:
        charts = {"methods": draw_comparison(frame_comparison(results))}
    return [
        save_chart(chart, folder / f"{results['experiment']}-{name}.{kind}")
        for name, chart in charts.items()
        for kind in ("png", "html")
    ]


def frame_figure(results: dict[str, Any]) -> pd.DataFrame:
    """The paper's figure: accuracy, PD and PE over rho_1 where rho_0 is 0.5, mean and mean +- one sd."""
    rows = [
        {
            "rho_1": pair["rho_1"],
            "classifier": method,
            "metric": title,
            "mean": found["mean"][column],
            "low": max(found["mean"][column] - found["sd"][column], 0.0),
            "high": found["mean"][column] + found["sd"][column],
        }
        for pair in results["pairs"]
        if pair["rho_0"] == 0.5
        for method, found in pair["methods"].items()
        for column, title in _FIGURE.items()
        if found["mean"][column] is not None
    ]
    return pd.DataFrame(
        rows, columns=["rho_1", "classifier", "metric", "mean", "low", "high"]
    )


def draw_figure(frame: pd.DataFrame) -> alt.HConcatChart:
    """Three panels of lines, each with a band of one standard deviation."""
    colour = _method_colour(frame)
    panels = []
    for title in _FIGURE.values():
        base = alt.Chart(frame[frame["metric"] == title]).encode(
            x=_over_rho_1(), color=colour
        )
        scale = alt.Scale(zero=not title.startswith("accuracy"))
        band = base.mark_area(opacity=0.3).encode(
            y=alt.Y("low:Q", title=title, scale=scale), y2="high:Q"
        )
        line = base.mark_line(point=True).encode(
            y=alt.Y("mean:Q", title=title, scale=scale)
        )
        panels.append((band + line).properties(width=230, height=210))
    heading = _title(
        "Accuracy, PD and PE while group 1 moves and group 0 stays at 0.5",
        "Both had 0.5 in training. Lines: means over repetitions; bands: one standard deviation.",
    )
    return alt.hconcat(*panels, title=heading)


def frame_pairs(results: dict[str, Any]) -> pd.DataFrame:
    """Mean PD over the groups, and PE, of each classifier at every pair of test prevalences."""
    rows = []
    for pair in results["pairs"]:
        for method, found in pair["methods"].items():
            mean = found["mean"]
            values = {
                "PD, mean of groups": (mean["pd_0"] + mean["pd_1"]) / 2,
                "PE of groups 0, 1": mean["pe_01"],
            }
            rows += [
                {
                    "rho_0": pair["rho_0"],
                    "rho_1": pair["rho_1"],
                    "classifier": method,
                    "metric": metric,
                    "value": value,
                }
                for metric, value in values.items()
            ]
    return pd.DataFrame(
        rows, columns=["rho_0", "rho_1", "classifier", "metric", "value"]
    )


def draw_pairs(frame: pd.DataFrame) -> alt.VConcatChart:
    """Heat maps of all pairs: a row for each metric, with one scale, and a column for each classifier."""
    order = list(dict.fromkeys(frame["classifier"]))
    rows = []
    for metric in dict.fromkeys(frame["metric"]):
        # PE is a difference of ratios: a few pairs are far greater than the rest, hence the root.
        kind: Any = "sqrt" if metric.startswith("PE") else "linear"
        rows.append(
            alt.Chart(frame[frame["metric"] == metric])
            .mark_rect()
            .encode(
                x=alt.X(
                    "rho_1:O",
                    title="test prevalence of group 1",
                    axis=alt.Axis(labelAngle=0),
                ),
                y=alt.Y("rho_0:O", title="group 0", sort="descending"),
                color=alt.Color(
                    "value:Q",
                    title=metric,
                    scale=alt.Scale(scheme="viridis", type=kind),
                ),
                column=alt.Column("classifier:N", sort=order, title=None),
            )
            .properties(width=190, height=190)
        )
    title = _title(
        "All pairs of test prevalences",
        "Trained where both groups have 0.5. Dark is fair.",
    )
    return alt.vconcat(*rows, title=title).resolve_scale(color="independent")


def frame_theorem(results: dict[str, Any]) -> pd.DataFrame:
    """Theorem 3 at work in group 1 where rho_0 is 0.5: deltas, bounds and the PD observed, means."""
    rows = [
        {"rho_1": found["rho_1"], "what": title, "mean": found["mean"][1][column]}
        for found in results["theorem"]
        if found["rho_0"] == 0.5
        for column, title in _THEOREM.items()
    ]
    return pd.DataFrame(rows, columns=["rho_1", "what", "mean"])


def draw_theorem(frame: pd.DataFrame) -> alt.Chart:
    """Lines of PD, of what bounds it, and of what the bound is made of."""
    colours = ["#000000", "#56b4e9", "#e69f00", "#d55e00", "#009e73"]
    dashes = [[1, 0], [4, 3], [4, 3], [1, 0], [1, 0]]
    titles = list(_THEOREM.values())
    return (
        alt.Chart(frame)
        .mark_line(point=True)
        .encode(
            x=_over_rho_1(),
            y=alt.Y("mean:Q", title="mean over repetitions"),
            color=alt.Color(
                "what:N",
                title=None,
                sort=titles,
                scale=alt.Scale(domain=titles, range=colours),
                legend=alt.Legend(labelLimit=260),
            ),
            strokeDash=alt.StrokeDash(
                "what:N",
                sort=titles,
                legend=None,
                scale=alt.Scale(domain=titles, range=dashes),
            ),
        )
        .properties(
            width=480,
            height=300,
            title=_title(
                "Theorem 3 at work",
                "It needs delta_1 and delta_2, which a test batch does not tell; our bound needs no label.",
            ),
        )
    )


def frame_comparison(results: dict[str, Any]) -> pd.DataFrame:
    """PD and accuracy of each group and PE of every method that ran: ours, with one sd, and printed."""
    rows = []
    pe = "pe_01" if len(results["groups"]) == 2 else "pe"
    columns = [
        (f"{rate}_{z}", name, group)
        for rate, name in (("pd", "PD"), ("accuracy", "accuracy"))
        for z, group in enumerate(results["groups"])
    ]
    for row in results["rows"]:
        for column, metric, group in [*columns, (pe, "PE", "between groups")]:
            for kind, values in (("ours", row.get("mean")), ("print", row["printed"])):
                if values is not None and values.get(column) is not None:
                    sd = row["sd"][column] if kind == "ours" else 0.0
                    rows.append(
                        {
                            "method": row["method"],
                            "metric": metric,
                            "group": group,
                            "kind": kind,
                            "value": values[column],
                            "low": max(values[column] - sd, 0.0),
                            "high": values[column] + sd,
                        }
                    )
    return pd.DataFrame(
        rows, columns=["method", "metric", "group", "kind", "value", "low", "high"]
    )


def draw_comparison(frame: pd.DataFrame) -> alt.HConcatChart:
    """Three panels of dots, a row for each method: filled ours, hollow printed."""
    order = list(dict.fromkeys(frame["method"]))
    groups = [
        group for group in dict.fromkeys(frame["group"]) if group != "between groups"
    ]
    colour = alt.Color(
        "group:N",
        title=None,
        scale=alt.Scale(
            domain=[*groups, "between groups"],
            range=[*(_GROUPS * len(groups))[: len(groups)], "#444444"],
        ),
    )
    panels = []
    for i, metric in enumerate(("PD", "PE", "accuracy")):
        axis = alt.Axis(labelLimit=200) if i == 0 else None
        y = alt.Y(
            "method:N", sort=order, title=None, axis=axis, scale=alt.Scale(domain=order)
        )
        part = frame[frame["metric"] == metric]
        base = alt.Chart(part).encode(y=y, color=colour)
        x = alt.X("value:Q", title=metric, scale=alt.Scale(zero=metric != "accuracy"))
        spread = (
            base.transform_filter("datum.kind == 'ours'")
            .mark_rule(strokeWidth=2, opacity=0.5)
            .encode(x=alt.X("low:Q", title=metric), x2="high:Q")
        )
        ours = (
            base.transform_filter("datum.kind == 'ours'")
            .mark_circle(size=70, opacity=1)
            .encode(x=x)
        )
        printed = (
            base.transform_filter("datum.kind == 'print'")
            .mark_point(size=70, filled=False)
            .encode(x=x)
        )
        panels.append(
            (spread + printed + ours).properties(width=230, height=22 * len(order))
        )
    title = _title(
        "PD, PE and accuracy of every method",
        "Filled: ours, with one standard deviation over seeds. Hollow: the paper's. PD and PE: lower is fairer.",
    )
    return alt.hconcat(*panels, title=title)


def _over_rho_1() -> alt.X:
    tenths = [round(0.1 * i, 1) for i in range(1, 10)]
    axis = alt.Axis(values=tenths, format=".1f", labelFlush=False)
    return alt.X(
        "rho_1:Q",
        title="test prevalence of group 1",
        scale=alt.Scale(domain=[0.1, 0.9]),
        axis=axis,
    )


def _method_colour(frame: pd.DataFrame) -> alt.Color:
    names = list(dict.fromkeys(frame["classifier"]))
    scale = alt.Scale(
        domain=names, range=[_COLOURS.get(name, "#cc79a7") for name in names]
    )
    return alt.Color("classifier:N", title=None, sort=names, scale=scale)


def _title(text: str, subtitle: str) -> alt.TitleParams:
    return alt.TitleParams(text, subtitle=subtitle, anchor="start")
