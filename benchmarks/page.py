"""The tables and the picture of docs/performance.md, from the records of `make bench`.

python benchmarks/page.py FOLDER...    (each with a speed.json)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from speed import cell, draw

from tables import replace_block

DOCS = Path(__file__).parents[1] / "docs"

PARTS = {
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
        "The plain loop is Algorithm 1 as it reads, with 10 folds and 10 members a group.",
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
        "The most that was held at once beyond X, times the size of X (3 folds, 3 members).",
    ),
    "quantifier": (
        "Quantifiers",
        "One batch, scores given, microseconds; the fastest of QuaPy's and mlquantify's same method.",
    ),
    "peers, fit": (
        "Fairlearn and AIF360: time to fit",
        "Times one plain fit of the same logistic regression.",
    ),
    "file": (
        "Files",
        "Parquet, numbers and a group. Speed against a bare loop of pyarrow and `predict_proba`, which reads the "
        'file once and writes nothing; "two passes" are evidence and prediction with arrays, "cape predict" is the '
        "command, which also brings columns to their kinds, prepares them, and writes all rows with their "
        "predictions; its bare loop has the same pipeline.",
    ),
    "dask": (
        "Dask",
        "Boosting, evidence and predictions of a Dask DataFrame; workers of one thread each.",
    ),
    "stream, window of 1000": (
        "A stream",
        "`RollingCape`; ratios to one plain `predict_proba` for each row.",
    ),
    "window": (
        "A stream: PD and PE against the size of the window",
        "Rows of a group in the window, from one (CAPE-1) to all; beside them CAPE-D, which knows the whole batch at "
        "every row. PD is the mean over the groups, PE that of the worst pair; mean and standard deviation over seeds. "
        "Synthetic: trained at prevalence .5 and .5, used at .2 and .8. COMPAS: 2013 to 2014.",
    ),
}


def pick(records, **wanted):
    return [
        r
        for r in records
        if all(r.get(name) == value for name, value in wanted.items())
    ]


def ratio(records, over=None, **wanted):
    """The ratio in the one record that is wanted; with ``over``, to another competitor of the same rounds."""
    found = pick(records, **wanted)
    if not found:
        return None
    if over is None:
        return found[-1]["ratio"]
    return found[-1]["ratio"] / pick(records, **{**wanted, "what": over})[-1]["ratio"]


def worst(values, how=max):
    values = [value for value in values if value is not None]
    return how(values) if values else None


def aims(records):
    """Each aim with its limit, whether the value must be below or above, and the value that was found."""
    million = {"part": "predict", "rows": 1_000_000, "groups": 2}
    logistic = {"part": "fit", "learner": "logistic", "rows": 100_000, "groups": 2}
    boosting = {**logistic, "learner": "boosting"}
    ours = [
        r for r in records if r.get("what", "").startswith(("threshold", "resampled"))
    ]
    slow = [
        r["ratio"]
        for r in pick(records, part="quantifier")
        if r.get("ratio") and r["cape_microseconds"] >= 50
    ]
    by_k = {r["what"]: r["ratio"] for r in pick(records, part="fit by k")}
    yield "Predict a million rows, to one plain predict_proba:", None, None, None
    for what, learner, limit in (
        ("threshold", "logistic", 1.5),
        ("resampled", "logistic", 2.5),
        ("threshold", "boosting", 1.2),
        ("threshold", "naive Bayes", 2.5),
    ):
        yield (
            f"- {what}, {learner}",
            "<=",
            limit,
            ratio(records, what=what, learner=learner, **million),
        )
    yield (
        "Fit 100,000 rows on the same 2 cores, one training at a time, and two (n_jobs=2):",
        None,
        None,
        None,
    )
    for fit in (logistic, boosting):
        for jobs in ("", ", n_jobs=2"):
            name = f"{fit['learner']}{jobs}"
            folds = ratio(records, what=f"threshold, 5 folds{jobs}", **fit)
            yield f"- threshold, {name}, to one plain fit", "<=", 6.5, folds
            loop = ratio(records, over="plain loop", what=f"resampled{jobs}", **fit)
            yield f"- resampled, {name}, to the plain loop", "<=", 0.75, loop
            alone = ratio(
                records,
                part="members",
                learner=fit["learner"],
                what=f"resampled, members{jobs}",
            )
            yield f"- its members alone, {name}", "<=", 0.6, alone
    yield (
        "Quantifiers that take 50 microseconds or more, the worst, to the fastest peer",
        "<=",
        1.0,
        worst(slow),
    )
    yield (
        "Growth with rows, the worst exponent",
        "<=",
        1.1,
        worst([r.get("exponent") for r in ours]),
    )
    yield "20 members to 5", "<=", 4.0, by_k.get("k=20")
    for rows in (1_000_000, 100_000):
        yield f"20 groups to 2, {rows:,} rows, the worse pool:", None, None, None
        for part in ("predict", "fit"):
            of_part = [
                r
                for r in ours
                if r["part"] == f"20 groups against 2, {part}" and r["rows"] == rows
            ]
            for jobs in (False, True):
                twenty = [
                    r["ratio"]
                    for r in of_part
                    if r["what"].endswith("n_jobs=2") == jobs
                ]
                yield f"- {part}{', n_jobs=2' * jobs}", "<=", 1.5, worst(twenty)
    files = {(r["what"], r["rows"]): r for r in pick(records, part="file")}
    sizes = sorted({rows for _, rows in files})
    for what in ("two passes", "cape predict") if len(sizes) > 1 else ():
        small, large = (files[what, size] for size in (sizes[0], sizes[-1]))
        yield f"{sizes[-1]:,} rows of Parquet, {what}:", None, None, None
        yield f"- memory, to {sizes[0]:,} rows", "<=", 1.3, large["mib"] / small["mib"]
        yield "- speed, to the bare loop", ">=", 0.4, large["speed_ratio"]
    yield (
        "Dask, 2 workers to 1",
        ">=",
        1.5,
        worst([r["speedup"] for r in pick(records, part="dask")]),
    )


def aims_table(records):
    lines = ["| aim | limit | found | |", "|---|---|---|---|"]
    for name, sign, limit, value in aims(records):
        if sign is None:
            lines.append(f"| {name} | | | |")
        elif value is not None:
            reached = value <= limit if sign == "<=" else value >= limit
            limit = f"at {'most' if sign == '<=' else 'least'} {limit:g}"
            lines.append(
                f"| {name} | {limit} | {value:.3g} | {'reached' if reached else 'not reached'} |"
            )
    return "\n".join(lines)


def section(part, records):
    title, text = PARTS[part]
    columns = [
        name
        for name in records[0]
        if name != "part" and any(r.get(name) is not None for r in records)
    ]
    lines = [f"## {title}", "", *([text, ""] if text else [])]
    lines += [
        "| " + " | ".join(name.replace("_", " ") for name in columns) + " |",
        "|" + "---|" * len(columns),
    ]
    lines += [
        "| "
        + " | ".join("" if r.get(c) is None else cell(r[c]) for c in columns)
        + " |"
        for r in records
    ]
    return "\n".join(lines)


def main():
    runs = [
        json.loads((Path(folder) / "speed.json").read_text()) for folder in sys.argv[1:]
    ]
    records = [record for run in runs for record in run["records"]]
    found = [
        section(part, of_part)
        for part in PARTS
        if (of_part := pick(records, part=part))
    ]
    replace_block(DOCS / "performance.md", "aims", aims_table(records))
    replace_block(DOCS / "performance.md", "tables", "\n\n".join(found))
    about = {"about": runs[0]["about"], "records": records}
    (DOCS / "data" / "performance.json").write_text(json.dumps(about, indent=1) + "\n")
    draw(records, DOCS / "images" / "performance.png")


if __name__ == "__main__":
    main()
