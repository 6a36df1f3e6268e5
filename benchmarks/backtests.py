"""Backtest CAPE on public series, and publish the record, bad rows included.

    python benchmarks/backtests.py            # write the table of docs/backtest.md
    python benchmarks/backtests.py --quick    # four periods of each series, no page

Every series is a table of several periods, in $CAPE_DATA/series. A model is trained on
each period, adapted to the next without its labels, and compared. What a series tells
of shares and scores is used for its own later periods alone.
"""

from __future__ import annotations

import argparse
import datetime
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from past import read
from sklearn.ensemble import HistGradientBoostingClassifier
from study import DOCS, markdown_table, replace_block

from cape import CapeClassifier, backtest

PAGE = DOCS / "backtest.md"
MOST_ROWS = 3000
"""Rows of a period that are used."""

HEADS = "series,transitions,groups,off by,last share,mean score,difference,held,width"
FIGURES = ["off", "last_off", "mean_score_off", "pd", "learner_pd"]


def of_series(path, most):
    """Backtest a series, and return its summary with the mean width of intervals."""
    table = read(path)
    periods = sorted(table["period"].unique())[-most:]
    table = table[table["period"].isin(periods)].sample(frac=1, random_state=0)
    table = table.groupby("period").head(MOST_ROWS)
    learner = HistGradientBoostingClassifier(max_depth=3, max_iter=40, random_state=0)
    clf = CapeClassifier(learner, group_columns="group", random_state=0)
    X = table.drop(columns="label")
    result = backtest(clf, X, table["label"], period="period", n_jobs=1)
    rows = result.table()
    return {**result.summary, "width": float((rows["high"] - rows["low"]).mean())}


def line(name, found):
    """Write the line of a series."""
    low, high = found["difference"]["low"], found["difference"]["high"]
    difference = "" if low is None else f"{low:+.3f} to {high:+.3f}"
    errors = [f"{found[key]:.3f}" for key in FIGURES]
    return [
        name,
        found["transitions"],
        len(found["groups"]),
        *errors[:3],
        difference,
        f"{found['held']} of {found['cells']}",
        f"{found['width']:.2f}",
        f"{found['right']} of {found['use']}",
        *errors[3:],
    ]


def total(summaries):
    """Write the line of all series: a source has the weight of one."""
    frame = pd.DataFrame(summaries)
    source = frame["series"].str.partition("_")[0]
    frame["share_held"] = frame["held"] / frame["cells"]
    names = [*FIGURES, "share_held", "width"]
    found = frame.groupby(source)[names].mean().mean()
    errors = [f"**{found[key]:.3f}**" for key in FIGURES]
    used, right = int(frame["use"].sum()), int(frame["right"].sum())
    return [
        "**all sources**",
        int(frame["transitions"].sum()),
        "",
        *errors[:3],
        "",
        f"**{found['share_held']:.0%}**",
        f"**{found['width']:.2f}**",
        f"**{right} of {used}**",
        *errors[3:],
    ]


def main():
    """Backtest all series, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    summaries = []
    for path in sorted((Path(os.environ["CAPE_DATA"]) / "series").glob("*.parquet")):
        found = of_series(path, 4 if options.quick else 100)
        summaries.append({"series": path.stem, **found})
        print(*line(path.stem, found), sep=" | ", flush=True)
    columns = [*HEADS.split(","), '"use" right', "PD", "PD of the learner"]
    lines = [line(found["series"], found) for found in summaries]
    table = markdown_table(columns, [*lines, total(summaries)])
    verdicts = pd.Series([found["verdict"] for found in summaries]).value_counts()
    counts = ", ".join(f"{verdicts.get(v, 0)} {v}" for v in np.unique(verdicts.index))
    made = (
        f"*`make results`, {datetime.date.today()}: {len(summaries)} series; by the "
        f"interval of the difference {counts.replace('_', ' ')}.*"
    )
    print(table, made, sep="\n\n")
    if not options.quick:
        replace_block(PAGE, "record", f"{table}\n\n{made}")


if __name__ == "__main__":
    main()
