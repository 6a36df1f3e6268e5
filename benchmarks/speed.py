"""All measurements of speed and memory: a table, JSON and a picture. ``--quick`` for a first look."""

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


def measure(quick, only):
    random = np.random.default_rng(0)
    rounds = 3 if quick else 5
    wanted = lambda part: only is None or part in only  # noqa: E731
    if wanted("predict"):
        sizes = [10_000, 100_000] if quick else [1000, 10_000, 100_000, 1_000_000]
        for n in sizes:
            yield from predict_ratios(
                "logistic", n, 2, random, rounds=11 if quick else 15
            )
        yield from predict_ratios("logistic", sizes[-1], 20, random, rounds=rounds + 4)
        yield from predict_ratios(
            "logistic", sizes[-1], 2, random, rounds=rounds + 4, text=True
        )
        for n in sizes:
            yield from predict_ratios(
                "boosting", n, 2, random, rounds=5, pools=("threshold",)
            )
        yield from predict_ratios("boosting", sizes[0], 2, random, rounds=3)
        yield from predict_ratios(
            "naive Bayes", sizes[-1], 2, random, rounds=5, pools=("threshold",)
        )
    if wanted("fit"):
        sizes = [1000, 10_000] if quick else [1000, 10_000, 100_000]
        for n in sizes:
            yield from fit_ratios("logistic", n, 2, random, rounds=rounds + 2)
        if not quick:
            for groups in (2, 20):
                yield from fit_ratios("logistic", 1_000_000, groups, random, rounds=3)
        yield from fit_ratios("logistic", sizes[-1], 20, random, rounds=rounds)
        yield from member_ratios("logistic", sizes[-1] // 2, random, rounds=rounds + 2)
        yield from fit_ratios("boosting", sizes[-1], 2, random, rounds=3)
        yield from member_ratios("boosting", sizes[-1] // 2, random, rounds=rounds + 2)
        yield from growth_in_k("logistic", sizes[-1], random, rounds=3)
    if wanted("memory"):
        yield from memory_records(100_000 if quick else 1_000_000, random)
    if wanted("quantifiers"):
        for name in NAMES:
            for n in (
                (20, 1000, 1_000_000)
                if quick
                else (20, 100, 1000, 10_000, 100_000, 1_000_000)
            ):
                yield quantifier_ratios(
                    name, n, random, rounds=8 * rounds if name in FAST else rounds
                )
    if wanted("peers"):
        yield from fit_peers(4000, random, rounds=3)
        if not quick:
            yield from fit_peers(100_000, random, rounds=1, slow=False)
    if wanted("files"):
        sizes = [200_000, 1_000_000] if quick else [5_000_000, 50_000_000]
        yield from file_records(sizes, 20, ["bare loop", "two passes"])
        yield from file_records(sizes, 6, ["bare loop, tables", "cape predict"])
    if wanted("dask"):
        yield from cluster_records(400_000 if quick else 2_000_000)
    if wanted("stream"):
        yield from stream_records(rows=1000, rounds=3)
    if wanted("windows"):
        for name, make in (("synthetic", synthetic), ("COMPAS", compas)):
            yield from windows(
                name, make, rows=1000 if quick else 4000, seeds=2 if quick else 5
            )


def markdown(records):
    """One table a part."""
    frame = pd.DataFrame(records)
    lines = []
    for part, of_part in frame.groupby("part", sort=False):
        shown = of_part.dropna(axis=1, how="all").drop(columns="part")
        lines += [
            "",
            f"### {part}",
            "",
            "| " + " | ".join(shown.columns) + " |",
            "|" + "---|" * len(shown.columns),
        ]
        for row in shown.itertuples(index=False):
            lines.append("| " + " | ".join(cell(value) for value in row) + " |")
    return "\n".join(lines)


def cell(value):
    """A value as a table shows it."""
    if isinstance(value, float):
        return (
            ""
            if np.isnan(value)
            else f"{value:.4g}"
            if abs(value) < 1e4
            else f"{value:,.0f}"
        )
    return str(value)


def draw(records, path):
    """What CAPE costs against one plain learner, and PD and PE against the window."""
    import altair as alt

    frame = pd.DataFrame(records)
    charts = []
    for part, title in (
        (("predict", "Predict"), ("fit", "Fit")) if "what" in frame else ()
    ):
        of_part = frame[
            (frame["part"] == part)
            & (frame.get("learner") == "logistic")
            & (frame.get("groups") == 2)
        ]
        of_part = of_part[
            ~of_part["what"].str.contains("text|n_jobs|^plain (?:fit|predict)")
        ]
        if len(of_part):
            base = alt.Chart(
                of_part, title=f"{title}, logistic regression, 2 groups"
            ).encode(
                x=alt.X(
                    "rows:Q",
                    scale=alt.Scale(type="log"),
                    title="rows",
                    axis=alt.Axis(format="~s"),
                )
            )
            color = alt.Color("what:N", title=None)
            line = base.mark_line(point=True).encode(
                y=alt.Y(
                    "ratio:Q",
                    scale=alt.Scale(type="log"),
                    title="times one plain learner",
                ),
                color=color,
            )
            band = base.mark_area(opacity=0.2).encode(
                y="low:Q", y2="high:Q", color=color
            )
            charts.append((band + line).properties(width=300, height=200))
    if "window" in frame:
        seen = frame[
            (frame["part"] == "window")
            & frame["window"].map(lambda w: isinstance(w, int))
        ]
        long = seen.assign(window=seen["window"].astype(int)).melt(
            ["data", "window"], ["pd", "pe"], var_name="metric", value_name="value"
        )
        for data, of_data in long.groupby("data", sort=False):
            charts.append(
                alt.Chart(
                    of_data.assign(metric=of_data["metric"].str.upper()),
                    title=f"A stream, {data}",
                )
                .mark_line(point=True)
                .encode(
                    x=alt.X(
                        "window:Q",
                        scale=alt.Scale(type="log"),
                        title="rows of a group in the window",
                    ),
                    y=alt.Y("value:Q", title="mean over groups and seeds"),
                    color=alt.Color("metric:N", title=None),
                )
                .properties(width=300, height=200)
            )
    if charts:
        alt.concat(*charts, columns=2).resolve_scale(color="independent").save(
            str(path), ppi=100
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds")
    parser.add_argument(
        "--only",
        nargs="*",
        help="predict fit memory quantifiers peers files dask stream windows",
    )
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    records = []
    started = time.time()
    for record in measure(options.quick, options.only):
        records.append(record)
        print(
            f"{time.time() - started:6.0f} s",
            {k: cell(v) for k, v in record.items()},
            flush=True,
        )
    records += growth(records)
    options.out.mkdir(parents=True, exist_ok=True)
    about = {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "quick": options.quick,
    }
    (options.out / "speed.json").write_text(
        json.dumps({"about": about, "records": records}, indent=1)
    )
    (options.out / "speed.md").write_text(markdown(records) + "\n")
    draw(records, options.out / "speed.png")
    print(markdown(records))


if __name__ == "__main__":
    main()
