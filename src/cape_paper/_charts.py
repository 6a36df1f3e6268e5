"""Pictures of the paper's experiments.

``frame_figure`` and ``draw_figure`` are the figure of the paper, ``*_pairs`` all pairs
of test prevalences, ``*_theorem`` the parts of Theorem 3, ``*_comparison`` all methods
on one data set; `_shift_chart` has that of real shifts. To add a picture, write its two
functions and add it to `_charts_of`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from cape.report import save_chart
from cape.report._types import Summary
from cape_paper._shift_chart import draw_shifts, frame_shifts

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

# The colours of Okabe and Ito, which readers with any colour vision can tell apart.
_METHOD_COLOURS = {
    "CAPE-D": "#0072b2",
    "CAPE default": "#009e73",
    "Max_Acc": "#d55e00",
}
_OTHER_METHODS = ["#cc79a7", "#56b4e9", "#e69f00", "#000000"]
_GROUP_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"]
_BETWEEN_GROUPS = "between groups"
_BETWEEN_COLOUR = "#444444"

_FIGURE_METRICS = {
    "accuracy_1": "accuracy of group 1",
    "pd_1": "PD of group 1",
    "pe_01": "PE of groups 0, 1",
}
_THEOREM_PARTS = {
    "pd": "PD observed",
    "delta_1": "delta_1, error of the quantifier",
    "delta_2": "delta_2, error of the members",
    "theorem_3": "Theorem 3's bound",
    "our_bound": "our bound (95 %)",
}
_THEOREM_COLOURS = ["#000000", "#56b4e9", "#e69f00", "#d55e00", "#009e73"]
_THEOREM_DASHES = [[1, 0], [4, 3], [4, 3], [1, 0], [1, 0]]


def save_pictures(results: Summary, folder: Path) -> list[Path]:
    """Draw the results of an experiment, each picture as PNG and as HTML.

    Parameters
    ----------
    results : dict
        From `run_synthetic`, `compare_methods` or `run_shifts` of `cape_paper`.
    folder : Path
        Where to write the pictures.

    Returns
    -------
    list of Path
        The files written. The pages of HTML open without a network.
    """
    paths = []
    for name, chart in _charts_of(results).items():
        for ending in ("png", "html"):
            path = folder / f"{results['experiment']}-{name}.{ending}"
            paths.append(save_chart(chart, path))
    return paths


def _charts_of(results: Summary) -> Summary:
    """Draw all pictures of one experiment, by name."""
    if results["experiment"] == "shifts":
        return {"estimates": draw_shifts(frame_shifts(results))}
    if results["experiment"] != "synthetic":
        return {"methods": draw_comparison(frame_comparison(results))}
    return {
        "figure": draw_figure(frame_figure(results)),
        "pairs": draw_pairs(frame_pairs(results)),
        "theorem": draw_theorem(frame_theorem(results)),
    }


def frame_figure(results: Summary) -> pd.DataFrame:
    """Return the numbers of the paper's figure.

    Parameters
    ----------
    results : dict
        From `cape_paper.run_synthetic`.

    Returns
    -------
    DataFrame
        Mean accuracy, PD and PE over rho_1 where rho_0 is 0.5, with one standard
        deviation on either side.
    """
    rows: list[Summary] = []
    for pair in results["pairs"]:
        if pair["rho_0"] == 0.5:
            rows += _figure_points(pair)
    columns = ["rho_1", "classifier", "metric", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _figure_points(pair: Summary) -> Iterator[Summary]:
    """Yield the points of the figure at one pair of test prevalences."""
    for method, result in pair["methods"].items():
        for column, title in _FIGURE_METRICS.items():
            mean = result["mean"][column]
            if mean is None:
                # PE has no mean if it was undefined in every repetition.
                continue
            deviation = result["sd"][column]
            yield {
                "rho_1": pair["rho_1"],
                "classifier": method,
                "metric": title,
                "mean": mean,
                "low": max(mean - deviation, 0.0),
                "high": mean + deviation,
            }


def draw_figure(frame: pd.DataFrame) -> alt.HConcatChart:
    """Draw three panels of lines, each with a band of one standard deviation.

    Parameters
    ----------
    frame : DataFrame
        From `frame_figure`.

    Returns
    -------
    altair chart
    """
    colour = _method_colour(frame)
    panels = []
    for title in _FIGURE_METRICS.values():
        base = alt.Chart(frame[frame["metric"] == title])
        base = base.encode(x=_axis_of_rho_1(), color=colour)
        # 0 is the best PD and PE, but no classifier comes near an accuracy of 0.
        scale = alt.Scale(zero=not title.startswith("accuracy"))
        low = alt.Y("low:Q", title=title, scale=scale)
        band = base.mark_area(opacity=0.3).encode(y=low, y2="high:Q")
        mean = alt.Y("mean:Q", title=title, scale=scale)
        line = base.mark_line(point=True).encode(y=mean)
        panels.append((band + line).properties(width=230, height=210))
    heading = _title(
        "Accuracy, PD and PE while group 1 moves and group 0 stays at 0.5",
        "Both had 0.5 in training. "
        "Lines: means over repetitions; bands: one standard deviation.",
    )
    return alt.hconcat(*panels, title=heading)


def frame_pairs(results: Summary) -> pd.DataFrame:
    """Return PD and PE of each classifier at every pair of test prevalences.

    Parameters
    ----------
    results : dict
        From `cape_paper.run_synthetic`.

    Returns
    -------
    DataFrame
        With the columns rho_0, rho_1, classifier, metric and value. PD is the mean over
        the two groups.
    """
    rows = []
    for pair in results["pairs"]:
        for method, result in pair["methods"].items():
            mean = result["mean"]
            values = {
                "PD, mean of groups": (mean["pd_0"] + mean["pd_1"]) / 2,
                "PE of groups 0, 1": mean["pe_01"],
            }
            for metric, value in values.items():
                rows.append([pair["rho_0"], pair["rho_1"], method, metric, value])
    columns = ["rho_0", "rho_1", "classifier", "metric", "value"]
    return pd.DataFrame(rows, columns=columns)


def draw_pairs(frame: pd.DataFrame) -> alt.VConcatChart:
    """Draw heat maps of all pairs: one row for each metric, one column a classifier.

    Parameters
    ----------
    frame : DataFrame
        From `frame_pairs`.

    Returns
    -------
    altair chart
    """
    order = list(dict.fromkeys(frame["classifier"]))
    x_axis = alt.Axis(labelAngle=0)
    x = alt.X("rho_1:O", title="test prevalence of group 1", axis=x_axis)
    y = alt.Y("rho_0:O", title="group 0", sort="descending")
    rows = []
    for metric in dict.fromkeys(frame["metric"]):
        # PE is a difference of ratios: a few pairs are far greater than the rest, and
        # on a linear scale all the others would look alike.
        kind: Any = "sqrt" if metric.startswith("PE") else "linear"
        scale = alt.Scale(scheme="viridis", type=kind)
        cells = alt.Chart(frame[frame["metric"] == metric]).mark_rect()
        cells = cells.encode(
            x=x,
            y=y,
            color=alt.Color("value:Q", title=metric, scale=scale),
            column=alt.Column("classifier:N", sort=order, title=None),
        )
        rows.append(cells.properties(width=190, height=190))
    title = _title(
        "All pairs of test prevalences",
        "Trained where both groups have 0.5. Dark is fair.",
    )
    return alt.vconcat(*rows, title=title).resolve_scale(color="independent")


def frame_theorem(results: Summary) -> pd.DataFrame:
    """Return the parts of Theorem 3 in group 1 where rho_0 is 0.5.

    Parameters
    ----------
    results : dict
        From `cape_paper.run_synthetic`.

    Returns
    -------
    DataFrame
        Means of delta_1, delta_2, both bounds and the observed PD, with the columns
        rho_1, what and mean.
    """
    rows = []
    for point in results["theorem"]:
        # The slice of the paper's figure.
        if point["rho_0"] != 0.5:
            continue
        means_of_group_1 = point["mean"][1]
        for column, title in _THEOREM_PARTS.items():
            rows.append([point["rho_1"], title, means_of_group_1[column]])
    return pd.DataFrame(rows, columns=["rho_1", "what", "mean"])


def draw_theorem(frame: pd.DataFrame) -> alt.Chart:
    """Draw lines of PD, of what bounds it, and of the parts of the bound.

    Parameters
    ----------
    frame : DataFrame
        From `frame_theorem`.

    Returns
    -------
    altair chart
    """
    # Both colour and dash, so that the lines can be told apart in black and white.
    titles = list(_THEOREM_PARTS.values())
    colour = alt.Color(
        "what:N",
        title=None,
        sort=titles,
        scale=alt.Scale(domain=titles, range=_THEOREM_COLOURS),
        legend=alt.Legend(labelLimit=260),
    )
    dash = alt.StrokeDash(
        "what:N",
        sort=titles,
        legend=None,
        scale=alt.Scale(domain=titles, range=_THEOREM_DASHES),
    )
    lines = alt.Chart(frame).mark_line(point=True)
    lines = lines.encode(
        x=_axis_of_rho_1(),
        y=alt.Y("mean:Q", title="mean over repetitions"),
        color=colour,
        strokeDash=dash,
    )
    title = _title(
        "Theorem 3 at work",
        "It needs delta_1 and delta_2, which a test batch does not tell; "
        "our bound needs no label.",
    )
    return lines.properties(
        width=480,
        height=300,
        title=title,
    )


def frame_comparison(results: Summary) -> pd.DataFrame:
    """Return PD and accuracy of each group, and PE, of every method that ran.

    Parameters
    ----------
    results : dict
        From `cape_paper.compare_methods`.

    Returns
    -------
    DataFrame
        With the columns method, metric, group, kind ("ours" or "print"), value, low and
        high. Ours have one standard deviation on either side.
    """
    rows: list[Summary] = []
    for row in results["rows"]:
        for panel in _comparison_columns(results["groups"]):
            rows += _comparison_points(row, *panel)
    columns = ["method", "metric", "group", "kind", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _comparison_columns(groups: list[str]) -> list[tuple[str, str, str]]:
    """Return the columns of the results with the metric and the group they show."""
    columns = []
    for rate, metric in (("pd", "PD"), ("accuracy", "accuracy")):
        for place, group in enumerate(groups):
            columns.append((f"{rate}_{place}", metric, group))
    # The paper prints PE of two groups in one order; of more, we show the worst pair.
    pe = "pe_01" if len(groups) == 2 else "pe"
    columns.append((pe, "PE", _BETWEEN_GROUPS))
    return columns


def _comparison_points(
    row: Summary, column: str, metric: str, group: str
) -> Iterator[Summary]:
    """Yield our number and the printed one, as far as they exist."""
    for kind, values in (("ours", row.get("mean")), ("print", row["printed"])):
        if values is None or values.get(column) is None:
            continue
        # The paper prints no deviations.
        deviation = row["sd"][column] if kind == "ours" else 0.0
        value = values[column]
        yield {
            "method": row["method"],
            "metric": metric,
            "group": group,
            "kind": kind,
            "value": value,
            "low": max(value - deviation, 0.0),
            "high": value + deviation,
        }


def draw_comparison(frame: pd.DataFrame) -> alt.HConcatChart:
    """Draw three panels of dots, a row for each method: filled ours, hollow printed.

    Parameters
    ----------
    frame : DataFrame
        From `frame_comparison`.

    Returns
    -------
    altair chart
    """
    order = list(dict.fromkeys(frame["method"]))
    colour = _group_colour(frame)
    panels = []
    for metric in ("PD", "PE", "accuracy"):
        # Methods are named once, beside the first panel.
        axis = alt.Axis(labelLimit=200) if metric == "PD" else None
        scale = alt.Scale(domain=order)
        y = alt.Y(
            "method:N",
            sort=order,
            title=None,
            axis=axis,
            scale=scale,
        )
        base = alt.Chart(frame[frame["metric"] == metric]).encode(y=y, color=colour)
        layers = _comparison_layers(base, metric)
        panels.append(layers.properties(width=230, height=22 * len(order)))
    title = _title("PD, PE and accuracy of every method", _how_to_read(frame))
    return alt.hconcat(*panels, title=title)


def _how_to_read(frame: pd.DataFrame) -> str:
    """Say what the marks of a comparison are, as far as there are any."""
    sentences = []
    has_spread = (frame["high"] > frame["value"]).any()
    has_print = (frame["kind"] == "print").any()
    if has_print:
        spread = ", with one standard deviation over seeds" if has_spread else ""
        sentences.append(f"Filled: ours{spread}. Hollow: the paper's.")
    elif has_spread:
        sentences.append("Lines: one standard deviation over seeds.")
    sentences.append("PD and PE: lower is fairer.")
    return " ".join(sentences)


def _comparison_layers(base: alt.Chart, metric: str) -> alt.LayerChart:
    """Draw the dots of one panel, printed ones below ours."""
    x = alt.X("value:Q", title=metric, scale=alt.Scale(zero=metric != "accuracy"))
    of_ours = base.transform_filter("datum.kind == 'ours'")
    of_print = base.transform_filter("datum.kind == 'print'")
    spread = of_ours.mark_rule(strokeWidth=2, opacity=0.5)
    spread = spread.encode(x=alt.X("low:Q", title=metric), x2="high:Q")
    ours = of_ours.mark_circle(size=70, opacity=1).encode(x=x)
    printed = of_print.mark_point(size=70, filled=False).encode(x=x)
    # What is drawn last lies on top.
    return spread + printed + ours


def _group_colour(frame: pd.DataFrame) -> alt.Color:
    """Give every group a colour, again from the first one if there are more groups."""
    names = dict.fromkeys(frame["group"])
    groups = [name for name in names if name != _BETWEEN_GROUPS]
    colours = []
    for place, _ in enumerate(groups):
        colours.append(_GROUP_COLOURS[place % len(_GROUP_COLOURS)])
    scale = alt.Scale(
        domain=[*groups, _BETWEEN_GROUPS], range=[*colours, _BETWEEN_COLOUR]
    )
    return alt.Color("group:N", title=None, scale=scale)


def _method_colour(frame: pd.DataFrame) -> alt.Color:
    """Give every classifier its colour."""
    names = list(dict.fromkeys(frame["classifier"]))
    others = cycle(_OTHER_METHODS)
    colours = []
    for name in names:
        colours.append(_METHOD_COLOURS.get(name) or next(others))
    scale = alt.Scale(domain=names, range=colours)
    return alt.Color(
        "classifier:N",
        title=None,
        sort=names,
        scale=scale,
    )


def _axis_of_rho_1() -> alt.X:
    """Return the axis of the figure and of the theorem, as the paper draws it."""
    # The test prevalences of the paper: 0.1, 0.2, ..., 0.9.
    tenths = [round(0.1 * i, 1) for i in range(1, 10)]
    axis = alt.Axis(
        values=tenths,
        format=".1f",
        labelFlush=False,
    )
    scale = alt.Scale(domain=[0.1, 0.9])
    title = "test prevalence of group 1"
    return alt.X(
        "rho_1:Q",
        title=title,
        scale=scale,
        axis=axis,
    )


def _title(text: str, subtitle: str) -> alt.TitleParams:
    """Return a title with a line below that says how to read the picture."""
    return alt.TitleParams(text, subtitle=subtitle, anchor="start")
