"""All measurements of speed and memory, as a table, as JSON and as a picture.

``--quick`` for a first look.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pandas as pd
from cluster import cluster_records
from peers import fit_peers
from quantifiers import FAST, NAMES, quantifier_ratios
from windows import compas, stream_records, synthetic, windows

from files import file_records
from learners import (
    fit_ratios,
    growth,
    growth_in_k,
    member_ratios,
    memory_records,
    predict_ratios,
)


def measure_predict(quick, random):
    """Prediction of one batch."""
    sizes = [1000, 10_000, 100_000, 1_000_000]
    rounds = 5
    many_rounds = 15
    if quick:
        sizes = [10_000, 100_000]
        rounds = 3
        many_rounds = 11
    smallest = sizes[0]
    largest = sizes[-1]
    one_pool = ("threshold",)
    for n in sizes:
        yield from predict_ratios("logistic", n, 2, random, rounds=many_rounds)
    yield from predict_ratios("logistic", largest, 20, random, rounds=rounds + 4)
    yield from predict_ratios(
        "logistic", largest, 2, random, rounds=rounds + 4, text=True
    )
    for n in sizes:
        yield from predict_ratios("boosting", n, 2, random, rounds=5, pools=one_pool)
    yield from predict_ratios("boosting", smallest, 2, random, rounds=3)
    yield from predict_ratios(
        "naive Bayes", largest, 2, random, rounds=5, pools=one_pool
    )


def measure_fit(quick, random):
    """Training."""
    sizes = [1000, 10_000, 100_000]
    rounds = 5
    if quick:
        sizes = [1000, 10_000]
        rounds = 3
    largest = sizes[-1]
    for n in sizes:
        yield from fit_ratios("logistic", n, 2, random, rounds=rounds + 2)
    if not quick:
        for n_groups in (2, 20):
            yield from fit_ratios("logistic", 1_000_000, n_groups, random, rounds=3)
    yield from fit_ratios("logistic", largest, 20, random, rounds=rounds)
    yield from member_ratios("logistic", largest // 2, random, rounds=rounds + 2)
    yield from fit_ratios("boosting", largest, 2, random, rounds=3)
    yield from member_ratios("boosting", largest // 2, random, rounds=rounds + 2)
    yield from growth_in_k("logistic", largest, random, rounds=3)


def measure_memory(quick, random):
    """Memory of training and of prediction."""
    rows = 100_000 if quick else 1_000_000
    yield from memory_records(rows, random)


def measure_quantifiers(quick, random):
    """Quantifiers against the same methods of other libraries."""
    sizes = (20, 100, 1000, 10_000, 100_000, 1_000_000)
    rounds = 5
    if quick:
        sizes = (20, 1000, 1_000_000)
        rounds = 3
    for name in NAMES:
        # What takes microseconds scatters.
        rounds_of_name = 8 * rounds if name in FAST else rounds
        for n in sizes:
            yield quantifier_ratios(name, n, random, rounds=rounds_of_name)


def measure_peers(quick, random):
    """Training against Fairlearn and AIF360."""
    yield from fit_peers(4000, random, rounds=3)
    if not quick:
        yield from fit_peers(100_000, random, rounds=1, slow=False)


def measure_files(quick, random):
    """Files that are larger than memory."""
    sizes = [200_000, 1_000_000] if quick else [5_000_000, 50_000_000]
    yield from file_records(sizes, 20, ["bare loop", "two passes"])
    yield from file_records(sizes, 6, ["bare loop, tables", "cape predict"])


def measure_dask(quick, random):
    """A cluster of two workers against one."""
    yield from cluster_records(400_000 if quick else 2_000_000)


def measure_stream(quick, random):
    """Time of a row in a stream."""
    yield from stream_records(rows=1000, rounds=3)


def measure_windows(quick, random):
    """PD and PE against the size of the window."""
    rows = 1000 if quick else 4000
    seeds = 2 if quick else 5
    yield from windows("synthetic", synthetic, rows=rows, seeds=seeds)
    yield from windows("COMPAS", compas, rows=rows, seeds=seeds)


MEASUREMENTS = {
    "predict": measure_predict,
    "fit": measure_fit,
    "memory": measure_memory,
    "quantifiers": measure_quantifiers,
    "peers": measure_peers,
    "files": measure_files,
    "dask": measure_dask,
    "stream": measure_stream,
    "windows": measure_windows,
}


def measure(quick, only):
    """Yield the records of all measurements, or of some.

    Parameters
    ----------
    quick : bool
        Whether to take small sizes and few rounds.
    only : list of str or None
        Names in `MEASUREMENTS`; None means all.

    Yields
    ------
    dict
    """
    random = np.random.default_rng(0)
    for name, records in MEASUREMENTS.items():
        if only is None or name in only:
            yield from records(quick, random)


def markdown(records):
    """Return one table for each part."""
    frame = pd.DataFrame(records)
    lines = []
    for part, of_part in frame.groupby("part", sort=False):
        shown = of_part.dropna(axis=1, how="all").drop(columns="part")
        lines += ["", f"### {part}", ""]
        lines.append(table_line(shown.columns))
        lines.append("|" + "---|" * len(shown.columns))
        for row in shown.itertuples(index=False):
            lines.append(table_line(cell(value) for value in row))
    return "\n".join(lines)


def table_line(cells):
    """Return a line of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def cell(value):
    """Return a value as a table shows it."""
    if not isinstance(value, float):
        return str(value)
    if np.isnan(value):
        return ""
    if abs(value) < 1e4:
        return f"{value:.4g}"
    return f"{value:,.0f}"


def draw(records, path):
    """Draw what CAPE costs against one plain learner, and PD and PE by window."""
    import altair as alt

    frame = pd.DataFrame(records)
    charts = []
    if "what" in frame:
        for part, title in (("predict", "Predict"), ("fit", "Fit")):
            costs = costs_of_part(frame, part)
            if len(costs):
                charts.append(draw_costs(costs, title))
    if "window" in frame:
        long = disparities_by_window(frame)
        for data, of_data in long.groupby("data", sort=False):
            charts.append(draw_windows(of_data, data))
    if charts:
        picture = alt.concat(*charts, columns=2).resolve_scale(color="independent")
        picture.save(str(path), ppi=100)


def costs_of_part(frame, part):
    """Return the records of logistic regression and 2 groups, without the plain one."""
    rows = frame["part"] == part
    rows &= frame.get("learner") == "logistic"
    rows &= frame.get("groups") == 2
    costs = frame[rows]
    left_out = costs["what"].str.contains("text|n_jobs|^plain (?:fit|predict)")
    return costs[~left_out.astype(bool)]


def draw_costs(costs, title):
    """Draw ratios against rows, with a band from quartile to quartile."""
    import altair as alt

    rows = alt.X(
        "rows:Q",
        scale=alt.Scale(type="log"),
        title="rows",
        axis=alt.Axis(format="~s"),
    )
    ratio = alt.Y(
        "ratio:Q",
        scale=alt.Scale(type="log"),
        title="times one plain learner",
    )
    color = alt.Color("what:N", title=None)
    base = alt.Chart(costs, title=f"{title}, logistic regression, 2 groups")
    base = base.encode(x=rows, color=color)
    line = base.mark_line(point=True).encode(y=ratio)
    band = base.mark_area(opacity=0.2).encode(y="low:Q", y2="high:Q")
    return (band + line).properties(width=300, height=200)


def disparities_by_window(frame):
    """Return PD and PE of the windows that have a size, one value a row."""
    has_size = frame["window"].map(lambda window: isinstance(window, int))
    windows = frame[(frame["part"] == "window") & has_size]
    windows = windows.assign(window=windows["window"].astype(int))
    windows = windows.rename(columns={"pd": "PD", "pe": "PE"})
    return windows.melt(
        ["data", "window"], ["PD", "PE"], var_name="metric", value_name="value"
    )


def draw_windows(values, data):
    """Draw PD and PE of one set of data against the window."""
    import altair as alt

    window = alt.X(
        "window:Q",
        scale=alt.Scale(type="log"),
        title="rows of a group in the window",
    )
    value = alt.Y("value:Q", title="mean over groups and seeds")
    color = alt.Color("metric:N", title=None)
    chart = alt.Chart(values, title=f"A stream, {data}").mark_line(point=True)
    return chart.encode(x=window, y=value, color=color).properties(
        width=300, height=200
    )


def parse_arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds")
    parser.add_argument(
        "--only",
        nargs="*",
        choices=MEASUREMENTS,
        help="measure these alone",
    )
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    return parser.parse_args()


def main():
    """Measure, printing records as they come, and write the results."""
    options = parse_arguments()
    records = []
    started = time.time()
    for record in measure(options.quick, options.only):
        records.append(record)
        shown = {name: cell(value) for name, value in record.items()}
        print(f"{time.time() - started:6.0f} s", shown, flush=True)
    records += growth(records)
    options.out.mkdir(parents=True, exist_ok=True)
    about = {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "quick": options.quick,
    }
    content = {"about": about, "records": records}
    (options.out / "speed.json").write_text(json.dumps(content, indent=1))
    (options.out / "speed.md").write_text(markdown(records) + "\n")
    draw(records, options.out / "speed.png")
    print(markdown(records))


if __name__ == "__main__":
    main()
