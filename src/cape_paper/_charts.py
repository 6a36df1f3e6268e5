"""Pictures of the experiments; the only module of the package that imports altair.

``frame_*`` returns the numbers behind a picture, and ``draw_*`` draws them: ``figure``
is the figure of the paper, ``pairs`` all pairs of test prevalences, ``theorem`` the
parts of Theorem 3, ``methods`` all methods on one data set, ``estimates`` real shifts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from cape_paper._cells import Results

# The colours of Okabe and Ito, which readers with any colour vision can tell apart.
_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"]
_METHOD_COLOURS = {
    "CAPE-D": "#0072b2",
    "CAPE default": "#009e73",
    "Max_Acc": "#d55e00",
}
_BETWEEN_GROUPS = "between groups"

_FIGURE_METRICS = {
    "accuracy_1": "accuracy of group 1",
    "pd_1": "PD of group 1",
    "pe_01": "PE of groups 0, 1",
}
# Both colour and dash, so that the lines can be told apart in black and white.
_THEOREM_PARTS: dict[str, tuple[str, str, list[int]]] = {
    "pd": ("PD observed", "#000000", [1, 0]),
    "delta_1": ("delta_1, error of the quantifier", "#56b4e9", [4, 3]),
    "delta_2": ("delta_2, error of the members", "#e69f00", [4, 3]),
    "theorem_3": ("Theorem 3's bound", "#d55e00", [1, 0]),
    "our_bound": ("our bound (95 %)", "#009e73", [1, 0]),
}
_MARKS = {
    "estimate": ("#0072b2", "circle"),
    "truth": ("#d55e00", "diamond"),
    "training": ("#888888", "square"),
}


def save_pictures(results: Results, folder: Path) -> list[Path]:
    """Draw the results of an experiment, each picture as PNG and as HTML.

    Parameters
    ----------
    results : dict
        From `run_synthetic`, `compare_methods` or `run_shifts`.
    folder : Path
        Where to write the pictures.

    Returns
    -------
    list of Path
        The files written. The pages of HTML open without a network.
    """
    charts: dict[str, Any] = {}
    if results["experiment"] == "shifts":
        charts = {"estimates": draw_estimates(frame_estimates(results))}
    elif results["experiment"] == "synthetic":
        charts = {
            "figure": draw_figure(frame_figure(results)),
            "pairs": draw_pairs(frame_pairs(results)),
            "theorem": draw_theorem(frame_theorem(results)),
        }
    elif "rows" in results:
        charts = {"methods": draw_methods(frame_methods(results))}
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, chart in charts.items():
        stem = folder / f"{results['experiment']}-{name}"
        # Twice the pixels, for screens that have them; scripts inlined, to use offline.
        chart.save(f"{stem}.png", scale_factor=2)
        chart.save(f"{stem}.html", inline=True)
        paths += [Path(f"{stem}.png"), Path(f"{stem}.html")]
    return paths


def frame_figure(results: Results) -> pd.DataFrame:
    """Return the numbers of the paper's figure, where rho_0 is 0.5.

    One standard deviation stands on either side of the means.
    """
    rows = []
    for pair in results["pairs"]:
        if pair["rho_0"] != 0.5:
            continue
        for method, result in pair["methods"].items():
            for column, title in _FIGURE_METRICS.items():
                mean = result["mean"][column]
                # PE has no mean if it was undefined in a repetition.
                if mean is None:
                    continue
                interval = _one_sd(mean, result["sd"][column])
                rows.append([pair["rho_1"], method, title, mean, *interval])
    columns = ["rho_1", "classifier", "metric", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _one_sd(mean: float, deviation: float) -> tuple[float, float]:
    """Return one standard deviation on either side; no metric is below 0."""
    return max(mean - deviation, 0.0), mean + deviation


def draw_figure(frame: pd.DataFrame) -> alt.HConcatChart:
    """Draw three panels of lines, each with a band of one standard deviation."""
    names = list(dict.fromkeys(frame["classifier"]))
    others = cycle(_COLOURS[3:])
    colours = [_METHOD_COLOURS.get(name) or next(others) for name in names]
    colour = _colour("classifier", names, colours, sort=names)
    panels = []
    for title in _FIGURE_METRICS.values():
        base = alt.Chart(frame[frame["metric"] == title])
        base = base.encode(x=_axis_of_rho_1(), color=colour)
        # 0 is the best PD and PE, but no classifier comes near an accuracy of 0.
        scale = alt.Scale(zero=not title.startswith("accuracy"))
        low, mean = [
            alt.Y(f"{name}:Q", title=title, scale=scale) for name in ("low", "mean")
        ]
        band = base.mark_area(opacity=0.3).encode(y=low, y2="high:Q")
        line = base.mark_line(point=True).encode(y=mean)
        panels.append((band + line).properties(width=230, height=210))
    heading = _title(
        "Accuracy, PD and PE while group 1 moves and group 0 stays at 0.5",
        "Both had 0.5 in training. "
        "Lines: means over repetitions; bands: one standard deviation.",
    )
    return alt.hconcat(*panels, title=heading)


def frame_pairs(results: Results) -> pd.DataFrame:
    """Return PD (mean of the groups) and PE at every pair of test prevalences."""
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
    """Draw heat maps of all pairs: one row for each metric, one column a classifier."""
    order = list(dict.fromkeys(frame["classifier"]))
    axis = alt.Axis(labelAngle=0)
    x = alt.X(
        "rho_1:O",
        title="test prevalence of group 1",
        axis=axis,
    )
    y = alt.Y(
        "rho_0:O",
        title="group 0",
        sort="descending",
    )
    rows = []
    for metric in dict.fromkeys(frame["metric"]):
        # PE is a difference of ratios: a few pairs are far greater than the rest, and
        # on a linear scale all the others would look alike.
        kind: Any = "sqrt" if metric.startswith("PE") else "linear"
        scale = alt.Scale(
            scheme="viridis",
            type=kind,
        )
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


def frame_theorem(results: Results) -> pd.DataFrame:
    """Return the parts of Theorem 3 in group 1 where rho_0 is 0.5."""
    rows = []
    for point in results["theorem"]:
        if point["rho_0"] == 0.5:
            for column, (title, _, _) in _THEOREM_PARTS.items():
                rows.append([point["rho_1"], title, point["mean"][1][column]])
    return pd.DataFrame(rows, columns=["rho_1", "what", "mean"])


def draw_theorem(frame: pd.DataFrame) -> alt.Chart:
    """Draw lines of PD, of what bounds it, and of the parts of the bound."""
    titles, colours, dashes = zip(*_THEOREM_PARTS.values(), strict=True)
    dash_scale = alt.Scale(domain=titles, range=dashes)
    legend = alt.Legend(labelLimit=260)
    lines = alt.Chart(frame).mark_line(point=True)
    lines = lines.encode(
        x=_axis_of_rho_1(),
        y=alt.Y("mean:Q", title="mean over repetitions"),
        color=_colour("what", titles, colours, sort=titles, legend=legend),
        strokeDash=alt.StrokeDash("what:N", sort=titles, legend=None, scale=dash_scale),
    )
    title = _title(
        "Theorem 3 at work",
        "It needs delta_1 and delta_2, which a test batch does not tell; "
        "our bound needs no label.",
    )
    return lines.properties(width=480, height=300, title=title)


def frame_methods(results: Results) -> pd.DataFrame:
    """Return PD and accuracy of each group, and PE, of every method that ran.

    The kind is "ours", with one standard deviation on either side, or "print".
    """
    shown = []
    for rate, metric in (("pd", "PD"), ("accuracy", "accuracy")):
        for place, group in enumerate(results["groups"]):
            shown.append((f"{rate}_{place}", metric, group))
    # The paper prints PE of two groups in one order; of more, we show the worst pair.
    pe = "pe_01" if len(results["groups"]) == 2 else "pe"
    shown.append((pe, "PE", _BETWEEN_GROUPS))
    rows = []
    for row in results["rows"]:
        for column, metric, group in shown:
            where = [row["method"], metric, group]
            ours = row.get("mean", {}).get(column)
            if ours is not None:
                interval = _one_sd(ours, row["sd"][column])
                rows.append([*where, "ours", ours, *interval])
            printed = (row["printed"] or {}).get(column)
            if printed is not None:
                # The paper prints no deviations.
                rows.append([*where, "print", printed, printed, printed])
    columns = ["method", "metric", "group", "kind", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def draw_methods(frame: pd.DataFrame) -> alt.HConcatChart:
    """Draw three panels of dots, a row for each method: filled ours, hollow printed."""
    order = list(dict.fromkeys(frame["method"]))
    groups = [name for name in dict.fromkeys(frame["group"]) if name != _BETWEEN_GROUPS]
    # More groups than colours begin again with the first one.
    colours = [colour for colour, _ in zip(cycle(_COLOURS), groups, strict=False)]
    names = [*groups, _BETWEEN_GROUPS]
    colour = _colour("group", names, [*colours, "#444444"])
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
        of_metric = frame[frame["metric"] == metric]
        base = alt.Chart(of_metric).encode(y=y, color=colour)
        x = alt.X(
            "value:Q",
            title=metric,
            scale=alt.Scale(zero=metric != "accuracy"),
        )
        of_ours = base.transform_filter("datum.kind == 'ours'")
        of_print = base.transform_filter("datum.kind == 'print'")
        spread = of_ours.mark_rule(strokeWidth=2, opacity=0.5)
        spread = spread.encode(x=alt.X("low:Q", title=metric), x2="high:Q")
        printed = of_print.mark_point(size=70, filled=False).encode(x=x)
        ours = of_ours.mark_circle(size=70, opacity=1).encode(x=x)
        # What is drawn last lies on top.
        layers = spread + printed + ours
        panels.append(layers.properties(width=230, height=22 * len(order)))
    subtitle = "PD and PE: lower is fairer. Lines: one standard deviation over seeds."
    if (frame["kind"] == "print").any():
        subtitle += " Filled: ours. Hollow: the paper's."
    title = _title("PD, PE and accuracy of every method", subtitle)
    return alt.hconcat(*panels, title=title)


def frame_estimates(results: Results) -> pd.DataFrame:
    """Return CAPE's estimate, truth and training share of each shift, all later rows.

    A case that failed has no estimate.
    """
    estimates = {}
    for row in results["records"]:
        if (row["method"], row["size"]) == ("CAPE", "all"):
            estimates[row["case"], row["group"]] = row
    rows = []
    for entry in results["shifts"]:
        shift = f"{entry['case']}, {entry['group']}"
        rows.append([shift, "training", entry["prevalence_train"], None, None])
        row = estimates.get((entry["case"], entry["group"]))
        if row is not None:
            rows.append([shift, "estimate", row["estimate"], row["low"], row["high"]])
        # Last, so that no mark hides the truth.
        rows.append([shift, "truth", entry["prevalence_test"], None, None])
    columns = ["shift", "what", "share", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def draw_estimates(frame: pd.DataFrame) -> alt.LayerChart:
    """Draw a line for each case and group: the interval, and three marks on it."""
    y = alt.Y(
        "shift:N",
        sort=None,
        title=None,
        axis=alt.Axis(labelLimit=260),
    )
    base = alt.Chart(frame).encode(y=y)
    scale = alt.Scale(domain=[0, 1])
    low, share = [
        alt.X(f"{name}:Q", title="share of positives", scale=scale)
        for name in ("low", "share")
    ]
    estimates = base.transform_filter("datum.what === 'estimate'")
    intervals = estimates.mark_rule(color=_MARKS["estimate"][0], strokeWidth=2)
    intervals = intervals.encode(x=low, x2="high:Q")
    # The shapes tell the marks apart in black and white.
    colours, shapes = zip(*_MARKS.values(), strict=True)
    shape_scale = alt.Scale(domain=list(_MARKS), range=shapes)
    marks = base.mark_point(filled=True, size=70, opacity=1)
    marks = marks.encode(
        x=share,
        color=_colour("what", list(_MARKS), colours),
        shape=alt.Shape("what:N", title=None, scale=shape_scale),
    )
    title = _title(
        "Real shifts over time: what CAPE estimates without labels",
        "Lines: 95 % intervals. The truth was not shown to it.",
    )
    return (intervals + marks).properties(width=480, title=title)


def _colour(
    field: str, names: Sequence[str], colours: Sequence[str], **options: Any
) -> alt.Color:
    """Return the colours of names, in their order."""
    scale = alt.Scale(domain=names, range=colours)
    return alt.Color(f"{field}:N", title=None, scale=scale, **options)


def _axis_of_rho_1() -> alt.X:
    """Return the axis of the figure and of the theorem, as the paper draws it."""
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
