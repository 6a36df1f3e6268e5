"""Write the tables and the picture of docs/performance.md.

They come from the records of `make bench`.

    python benchmarks/page.py FOLDER...    (each with a speed.json)
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd
from study import markdown_table, replace_block

DOCS = Path(__file__).parents[1] / "docs"


SECTIONS = {
    "predict": ("Prediction of one batch, times one plain `predict_proba`", ""),
    "growth of predict": (
        "How prediction grows with rows",
        "From 10,000 rows on; 1 is linear.",
    ),
    "20 groups against 2, predict": (
        "Prediction with 20 groups against 2",
        "The same rows.",
    ),
    "fit": (
        "Training, times one plain fit",
        "The plain loop is Algorithm 1 as it reads, with 10 folds and 10 members a "
        "group.",
    ),
    "members": ("Training of the members alone", "Times those of the plain loop."),
    "growth of fit": (
        "How training grows with rows",
        "From 10,000 rows on; 1 is linear.",
    ),
    "20 groups against 2, fit": ("Training with 20 groups against 2", "The same rows."),
    "fit by k": ("Training with 5, 10 and 20 members", "Times that with 5."),
    "memory": (
        "Memory",
        "The most that was held at once beyond X, times the size of X (3 folds, 3 "
        "members).",
    ),
    "quantifier": (
        "Quantifiers",
        "One batch, scores given, microseconds; the fastest of QuaPy's and "
        "mlquantify's same method.",
    ),
    "peers, fit": (
        "Fairlearn and AIF360: time to fit",
        "Times one plain fit of the same logistic regression.",
    ),
    "file": (
        "Files",
        "Parquet, numbers and a group. Speed against a bare loop of pyarrow and "
        "`predict_proba`, which reads the file once and writes nothing; "
        '"two passes" are evidence and prediction with arrays, "cape predict" is the '
        "command, which also brings columns to their kinds, prepares them, and writes "
        "all rows with their predictions; its bare loop has the same pipeline.",
    ),
    "dask": (
        "Dask",
        "Boosting, evidence and predictions of a Dask DataFrame; workers of one thread "
        "each.",
    ),
    "stream, window of 1000": (
        "A stream",
        "`RollingCape`; ratios to one plain `predict_proba` for each row.",
    ),
    "window": (
        "A stream: PD and PE against the size of the window",
        "Rows of a group in the window, from one (CAPE-1) to all; beside them CAPE-D, "
        "which knows the whole batch at every row. PD is the mean over the groups, PE "
        "that of the worst pair; mean and standard deviation over seeds. Synthetic: "
        "trained at prevalence .5 and .5, used at .2 and .8. COMPAS: 2013 to 2014.",
    ),
}
"""Tables of the page by the part of their records, in the order of the page."""


class Aim(NamedTuple):
    """One line of the table of aims; a value of None was not measured."""

    name: str
    limit: float
    value: float | None
    at_least: bool = False
    """Whether the value must be at least the limit; else it must be at most that."""


def pick(records, **wanted):
    """Return the records in which the named fields have the wanted values."""
    return [record for record in records if wanted.items() <= record.items()]


def ratio(records, **wanted):
    """Return the ratio in the last record that is wanted; None if there is none."""
    picked = pick(records, **wanted)
    if not picked:
        return None
    return picked[-1]["ratio"]


def ratio_to_plain_loop(records, **wanted):
    """Return a ratio to the plain loop, which was timed in the same rounds."""
    to_plain_fit = ratio(records, **wanted)
    if to_plain_fit is None:
        return None
    plain_loop = {**wanted, "what": "plain loop"}
    return to_plain_fit / ratio(records, **plain_loop)


def our_records(records):
    """Return the records of CAPE itself."""
    ours = ("threshold", "resampled")
    return [record for record in records if record.get("what", "").startswith(ours)]


def greatest(records, name):
    """Return the greatest value of a field; None if no record has one."""
    values = [record[name] for record in records if record.get(name)]
    return max(values, default=None)


def aims(records):
    """Yield each `Aim` of the page, and headings as text."""
    yield "Predict a million rows, to one plain predict_proba:"
    million = {"part": "predict", "rows": 1_000_000, "groups": 2}
    for pool, learner, limit in (
        ("threshold", "logistic", 1.5),
        ("resampled", "logistic", 2.5),
        ("threshold", "boosting", 1.2),
        ("threshold", "naive Bayes", 2.5),
    ):
        value = ratio(records, what=pool, learner=learner, **million)
        yield Aim(f"- {pool}, {learner}", limit, value)
    yield (
        "Fit 100,000 rows on the same 2 cores, one training at a time, and two "
        "(n_jobs=2):"
    )
    for learner, jobs in product(("logistic", "boosting"), ("", ", n_jobs=2")):
        fit = {"part": "fit", "learner": learner, "rows": 100_000, "groups": 2}
        name = f"{learner}{jobs}"
        folds = ratio(records, what=f"threshold, 5 folds{jobs}", **fit)
        yield Aim(f"- threshold, {name}, to one plain fit", 6.5, folds)
        loop = ratio_to_plain_loop(records, what=f"resampled{jobs}", **fit)
        yield Aim(f"- resampled, {name}, to the plain loop", 0.75, loop)
        members = {"part": "members", "what": f"resampled, members{jobs}"}
        alone = ratio(records, learner=learner, **members)
        yield Aim(f"- its members alone, {name}", 0.6, alone)
    # Below 50 microseconds, a ratio says more of Python's calls than of the method.
    slow = [r for r in pick(records, part="quantifier") if r["cape_microseconds"] >= 50]
    yield Aim(
        "Quantifiers that take 50 microseconds or more, the worst, to the fastest peer",
        1.0,
        greatest(slow, "ratio"),
    )
    ours = our_records(records)
    worst = greatest(ours, "exponent")
    yield Aim("Growth with rows, the worst exponent", 1.1, worst)
    yield Aim("20 members to 5", 4.0, ratio(records, part="fit by k", what="k=20"))
    for rows in (1_000_000, 100_000):
        yield f"20 groups to 2, {rows:,} rows, the worse pool:"
        for part in ("predict", "fit"):
            of_part = pick(ours, part=f"20 groups against 2, {part}", rows=rows)
            two_jobs = [r for r in of_part if r["what"].endswith("n_jobs=2")]
            one_job = [r for r in of_part if r not in two_jobs]
            yield Aim(f"- {part}", 1.5, greatest(one_job, "ratio"))
            yield Aim(f"- {part}, n_jobs=2", 1.5, greatest(two_jobs, "ratio"))
    for what in ("two passes", "cape predict"):
        by_rows = {r["rows"]: r for r in pick(records, part="file", what=what)}
        if len(by_rows) > 1:
            small = by_rows[min(by_rows)]
            large = by_rows[max(by_rows)]
            yield f"{large['rows']:,} rows of Parquet, {what}:"
            memory = large["mib"] / small["mib"]
            yield Aim(f"- memory, to {small['rows']:,} rows", 1.3, memory)
            speed = large["speed_ratio"]
            yield Aim("- speed, to the bare loop", 0.4, speed, at_least=True)
    speedup = greatest(pick(records, part="dask"), "speedup")
    yield Aim("Dask, 2 workers to 1", 1.5, speedup, at_least=True)


def aims_table(records):
    """Return the table of aims in Markdown; what was not measured is left out."""
    lines = []
    for aim in aims(records):
        if isinstance(aim, str):
            lines.append([aim, "", "", ""])
        elif aim.value is not None:
            is_reached = aim.value <= aim.limit
            limit = f"at most {aim.limit:g}"
            if aim.at_least:
                is_reached = aim.value >= aim.limit
                limit = f"at least {aim.limit:g}"
            word = "reached" if is_reached else "not reached"
            lines.append([aim.name, limit, f"{aim.value:.3g}", word])
    return markdown_table(["aim", "limit", "found", ""], lines)


def section(part, records):
    """Return the title, the text and the table of one part."""
    title, text = SECTIONS[part]
    columns = []
    for name in records[0]:
        is_empty = all(record.get(name) is None for record in records)
        if name != "part" and not is_empty:
            columns.append(name)
    lines = []
    for record in records:
        lines.append([cell(record.get(name)) for name in columns])
    table = markdown_table([name.replace("_", " ") for name in columns], lines)
    return "\n\n".join(filter(None, [f"## {title}", text, table]))


def cell(value):
    """Return a value as a table shows it; nothing for None."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if np.isnan(value):
        return ""
    if abs(value) < 1e4:
        return f"{value:.4g}"
    return f"{value:,.0f}"


def draw(records, path):
    """Draw what CAPE costs against one plain learner, and PD and PE by window."""
    frame = pd.DataFrame(records)
    charts = []
    for part in ("predict", "fit"):
        costs = frame[(frame["part"] == part) & (frame.get("groups") == 2)]
        costs = costs[costs["learner"] == "logistic"]
        if len(costs):
            left_out = costs["what"].str.contains("text|n_jobs|^plain (?:fit|predict)")
            charts.append(draw_costs(costs[~left_out.astype(bool)], part.title()))
    windows = frame[frame["part"] == "window"]
    if len(windows):
        has_size = windows["window"].map(lambda window: isinstance(window, int))
        windows = windows[has_size].rename(columns={"pd": "PD", "pe": "PE"})
        for data, of_data in windows.groupby("data", sort=False):
            charts.append(draw_windows(of_data, data))
    if charts:
        picture = alt.concat(*charts, columns=2).resolve_scale(color="independent")
        picture.save(str(path), ppi=100)


def draw_costs(costs, title):
    """Draw ratios against rows, with a band from quartile to quartile."""
    axis = alt.Axis(format="~s")
    base = alt.Chart(costs, title=f"{title}, logistic regression, 2 groups").encode(
        x=alt.X("rows:Q", scale=alt.Scale(type="log"), title="rows", axis=axis),
        color=alt.Color("what:N", title=None),
    )
    line = base.mark_line(point=True).encode(
        y=alt.Y("ratio:Q", scale=alt.Scale(type="log"), title="times one plain learner")
    )
    band = base.mark_area(opacity=0.2).encode(y="low:Q", y2="high:Q")
    return (band + line).properties(width=300, height=200)


def draw_windows(values, data):
    """Draw PD and PE of one set of data against the window."""
    long = values.astype({"window": int}).melt(
        ["window"], ["PD", "PE"], var_name="metric", value_name="value"
    )
    chart = alt.Chart(long, title=f"A stream, {data}").mark_line(point=True)
    title = "rows of a group in the window"
    return chart.encode(
        x=alt.X("window:Q", scale=alt.Scale(type="log"), title=title),
        y=alt.Y("value:Q", title="mean over groups and seeds"),
        color=alt.Color("metric:N", title=None),
    ).properties(width=300, height=200)


def main():
    """Write the tables, the data and the picture of the runs in the folders."""
    runs = []
    for folder in sys.argv[1:]:
        runs.append(json.loads((Path(folder) / "speed.json").read_text()))
    records = []
    for run in runs:
        records += run["records"]
    sections = []
    for part in SECTIONS:
        of_part = pick(records, part=part)
        if of_part:
            sections.append(section(part, of_part))
    page = DOCS / "performance.md"
    replace_block(page, "aims", aims_table(records))
    replace_block(page, "tables", "\n\n".join(sections))
    content = {"about": runs[0]["about"], "records": records}
    data = DOCS / "data" / "performance.json"
    data.write_text(json.dumps(content, indent=1) + "\n")
    draw(records, DOCS / "images" / "performance.png")


if __name__ == "__main__":
    main()
