"""Write docs/performance.md whole, its picture, and the latencies of production.md."""

from __future__ import annotations

import altair as alt
import pandas as pd
from serving import serving_table
from study import DOCS, grouped, markdown_table, replace_block

from cape_paper import stamp

INTRODUCTION = """# Performance

{verdict}

![What CAPE costs against one plain learner](images/performance.png)

*`make bench` measured and wrote this page, with {work} s of processor time, on \
{cores} cores, Python {python}; load average at the end: {load}. {stamp}{note}*

Times are ratios of processor time within one run, with one thread for linear algebra: \
how long threads wait depends on the machine more than on the code. All competitors \
take turns. A cell shows the median ratio over rounds, with \
quartiles in brackets. Plain is scikit-learn alone: one learner for all groups, no \
correction. *Defaults* is `CapeClassifier(learner)`, *frozen* is the same model with \
one adaptation (`clf.freeze`), *paper* is `CapeClassifier.paper`, and *plain loop* is \
[Algorithm 1 as it reads](algorithm_1.py). `make bench QUICK=--quick` is a first look.
"""

SECTIONS = {
    "predict": (
        "Prediction",
        "A batch of 20 numbers a row: estimate the prevalences, choose, decide.",
        ("learner", "rows", "groups"),
    ),
    "fit": (
        "Training",
        "*Learner chosen* is `CapeClassifier()`, which tries learners and keeps the "
        "best.",
        ("learner", "rows", "groups"),
    ),
    "files": (
        "Files",
        "Six numbers and a group. The plain loop reads the file once with pyarrow, "
        "scores its rows with a scaler and one logistic regression, and writes "
        "nothing. `cape predict` reads the file twice and writes all rows with their "
        "predictions. *Folder* is a folder of ten Parquet files.",
        ("format", "rows"),
    ),
    "sql": (
        "Evidence by SQL",
        "DuckDB in memory, one thread. The plain statement counts the rows of each "
        "group, decision and hundredth of the score.",
        ("rows",),
    ),
    "dask": (
        "Dask",
        "Boosting; time on the wall, workers of one thread each; partitions are made "
        "by the workers, and read twice.",
        ("workers", "rows"),
    ),
    "stream": (
        "A stream",
        "`RollingCape` with a window of 1,000 rows, and `predict_individually`, which "
        "takes every row as a batch.",
        ("rows",),
    ),
    "quantifiers": (
        "Quantifiers",
        "One batch, scores given; the same method of QuaPy and of mlquantify.",
        ("quantifier", "rows"),
    ),
    "peers": (
        "Training beside Fairlearn and AIF360",
        "All of them mitigate the same logistic regression on the same rows.",
        ("rows",),
    ),
}


def pick(records, **wanted):
    """Return the records in which the named fields have the wanted values."""
    return [record for record in records if wanted.items() <= record.items()]


def times(records, **wanted):
    """Write the ratio of the one record that is wanted."""
    (record,) = pick(records, **wanted)
    return number(record["ratio"])


def number(value):
    """Write a number with two digits that count, and no more than one decimal."""
    if value >= 9.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 0.95 else f"{value:.2g}"


def duration(seconds):
    """Write seconds in the unit that suits them."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.95 * size:
            return f"{number(seconds / size)} {unit}"
    return f"{number(seconds * 1e6)} µs"


def verdict(records):
    """Say in a few sentences what CAPE costs."""
    logistic = {"learner": "logistic regression", "groups": 2, "what": "defaults"}
    predict = {"part": "predict", **logistic}
    fit = {"part": "fit", **logistic}
    million = {"rows": 1_000_000}
    tenth = {"rows": 100_000}
    boosted = {"part": "predict", "learner": "boosting", "what": "defaults"}
    labelled = {"part": "stream", "what": "stream, row by row, each labelled"}
    (row,) = pick(records, part="stream", what="stream, row by row")
    (row_labelled,) = pick(records, **labelled)
    in_sql = {"part": "sql", "what": "evidence by SQL, scores and two columns"}
    two_workers = {"part": "dask", "workers": 2, "what": "evidence and predictions"}
    memory = {r["what"]: r["times_X"] for r in pick(records, part="memory")}
    many = {"rows": 100_000, "groups": 200, "what": "defaults"}
    sentences = [
        f"**Prediction** with the defaults and logistic regression takes "
        f"{times(records, **predict, **million)} times a plain `predict_proba` for a "
        f"million rows, {times(records, **predict, **tenth)} times for 100,000; with "
        f"boosting {times(records, **boosted)} times.",
        f"**Training** takes {times(records, **fit, **million)} plain fits for a "
        f"million rows, {times(records, **fit, rows=10_000)} for 10,000.",
        f"**200 groups** in 100,000 rows: training "
        f"{times(records, part='fit', **many)} plain fits, prediction "
        f"{times(records, part='predict', **many)} plain predictions.",
        f"**A database** counts the evidence of scores and two columns in "
        f"{times(records, **in_sql)} times one GROUP BY; **Dask** on two workers takes "
        f"{times(records, **two_workers)} times plain scoring.",
        f"**A stream** takes {row['milliseconds_a_row']:.1f} ms a row, "
        f"{row_labelled['milliseconds_a_row']:.1f} ms if every row is labelled; a "
        f"plain `predict_proba` of one row is 1/{number(row['ratio'])} of that.",
        f"**Memory** beyond the table itself: {number(memory['defaults, fit'])} times "
        f"its size in training, {number(memory['defaults, predict'])} in prediction.",
    ]
    parquet = {"part": "files", "format": "parquet", "what": "cape predict"}
    for large in pick(records, **parquet)[-1:]:
        sentences.append(
            f"**Files**: `cape predict` takes {number(large['ratio'])} times a loop "
            f"that only reads and scores, for {large['rows']:,} rows of Parquet, and "
            f"{large['mib']:,.0f} MiB of memory."
        )
    return "\n".join(f"- {sentence}" for sentence in sentences)


def section(part, records):
    """Return the title, the text and the table of one part.

    The first competitor is the plain one, in seconds; the others are ratios to it.
    """
    title, text, keys = SECTIONS[part]
    whats = list(dict.fromkeys(record["what"] for record in records))
    lines = []
    for key, of_key in grouped(records, *keys).items():
        line = [f"{value:,}" if isinstance(value, int) else value for value in key]
        for what in whats:
            found = pick(of_key, what=what)
            line.append(cell(found[0], what == whats[0]) if found else "")
        lines.append(line)
    table = markdown_table([*keys, *whats], lines)
    return f"## {title}\n\n{text}\n\n{table}"


def cell(record, is_plain):
    """Write the time of the plain competitor, or the ratio of another one to it."""
    if is_plain:
        # Quantifiers are timed in lots.
        seconds = record.get("microseconds", 1e6 * record["seconds"]) / 1e6
        text = duration(seconds)
    elif record["rounds"] == 1:
        text = f"{number(record['ratio'])} (one round)"
    else:
        low, high = number(record["low"]), number(record["high"])
        text = f"{number(record['ratio'])} ({low}-{high})"
    if "mib" in record:
        text += f", {record['mib']:,.0f} MiB"
    return text


def memory_section(records):
    """Return the table of memory."""
    lines = [[record["what"], f"{record['times_X']:.2f}"] for record in records]
    text = (
        "The most that Python and numpy held at once beyond the table, in sizes of it; "
        f"{records[0]['rows']:,} rows, logistic regression."
    )
    table = markdown_table(["what", "times the table"], lines)
    return f"## Memory\n\n{text}\n\n{table}"


def large_section(records):
    """Return the table of large tables."""
    lines = []
    for record in records:
        steps = [duration(record[step]) for step in ("train", "load", "predict")]
        sizes = [f"{record[size]:,}" for size in ("rows", "groups", "columns")]
        lines.append([*sizes, *steps, f"{record['mib']:,.0f} MiB"])
    text = "`CapeClassifier()`, one round, in one process; the memory is that of all."
    columns = ["rows", "groups", "columns", "train", "load", "predict", "memory"]
    return f"## Large tables\n\n{text}\n\n{markdown_table(columns, lines)}"


def draw(records, path):
    """Draw what CAPE costs against one plain learner, by rows and by groups."""
    frame = pd.DataFrame(records)
    frame = frame[frame["learner"] == "logistic regression"]
    frame = frame[~frame["what"].isin(["plain fit", "plain predict_proba"])]
    charts = []
    for part, title in (("predict", "Prediction"), ("fit", "Training")):
        costs = frame[frame["part"] == part]
        by_rows = costs[costs["groups"] == 2]
        charts.append(draw_costs(by_rows, "rows", f"{title}, 2 groups"))
        by_groups = costs[costs["rows"] == 100_000]
        charts.append(draw_costs(by_groups, "groups", f"{title}, 100,000 rows"))
    picture = alt.concat(*charts, columns=2).resolve_scale(color="independent")
    picture.save(str(path), ppi=100)


def draw_costs(costs, field, title):
    """Draw ratios with a band from quartile to quartile."""
    logarithmic = alt.Scale(type="log")
    axis = alt.Axis(format="~s", values=sorted(costs[field].unique().tolist()))
    base = alt.Chart(costs, title=title).encode(
        x=alt.X(f"{field}:Q", scale=logarithmic, axis=axis),
        color=alt.Color("what:N", title=None),
    )
    line = base.mark_line(point=True).encode(
        y=alt.Y("ratio:Q", scale=logarithmic, title="times one plain learner")
    )
    band = base.mark_area(opacity=0.2).encode(y="low:Q", y2="high:Q")
    return (band + line).properties(width=300, height=200)


def page_text(about, records):
    """Return docs/performance.md."""
    work = [value for name, value in about.items() if name.startswith("work of")]
    introduction = INTRODUCTION.format(
        verdict=verdict(records),
        work=sum(work),
        stamp=stamp(about["defaults"], about["date"]),
        **{"note": ""} | about,
    )
    by_part = grouped(records, "part")
    sections = [section(part, by_part[part,]) for part in SECTIONS if by_part[part,]]
    sections.insert(2, memory_section(by_part["memory",]))
    if by_part["large",]:
        sections.append(large_section(by_part["large",]))
    if not by_part["files",]:
        sections.append("## Not measured yet\n\nFiles: CSV, Parquet, folder of parts.")
    return "\n".join([introduction, "\n\n".join(sections), ""])


def latencies(about, records):
    """Return the block of docs/production.md."""
    table = serving_table(pick(records, part="serving"))
    return f"{table}\n\n*`make bench`. {stamp(about['defaults'], about['date'])}*"


def write_page(about, records):
    """Write the page, its picture, and the block of production.md."""
    page = DOCS / "performance.md"
    page.write_text(page_text(about, records), encoding="utf-8")
    draw(records, DOCS / "images" / "performance.png")
    replace_block(DOCS / "production.md", "latencies", latencies(about, records))
