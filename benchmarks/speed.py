"""Measure speed and memory as ratios to plain learners, and write docs/performance.md.

python benchmarks/speed.py                # all, and the page
python benchmarks/speed.py --only files   # these parts; the others stay as they are
python benchmarks/speed.py --quick        # small sizes; writes to results/speed
python benchmarks/speed.py --large        # also 500 groups, and 10,000 columns
python benchmarks/speed.py --page         # only the page, from docs/data
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import time
import warnings
from pathlib import Path

import numpy as np
from arrays import (
    BOOSTING,
    LOGISTIC,
    fit_records,
    large_records,
    memory_records,
    peer_records,
    predict_records,
    stream_records,
)
from performance import write_page
from quantifiers import quantifier_records
from serving import serving_records
from study import DATA, load, save
from tables import dask_records, file_records, sql_records
from threadpoolctl import threadpool_limits

from cape import AdaptationWarning

SIZES = (1000, 10_000, 100_000, 1_000_000)


def measure_predict(random, most):
    """Prediction: by rows, and by groups."""
    for n in SIZES:
        yield from predict_records(LOGISTIC, min(n, most), 2, random)
    for n_groups in (20, 200):
        yield from predict_records(LOGISTIC, min(100_000, most), n_groups, random)
    yield from predict_records(BOOSTING, min(100_000, most), 2, random)


def measure_fit(random, most):
    """Training: by rows, and by groups."""
    for n in SIZES:
        yield from fit_records(LOGISTIC, min(n, most), 2, random)
    for n_groups in (20, 200):
        yield from fit_records(LOGISTIC, min(100_000, most), n_groups, random)
    yield from fit_records(BOOSTING, min(10_000, most), 2, random)


def measure_files(random, most):
    """CSV, a folder of parts, and Parquet of two sizes."""
    for format in ("csv", "folder", "parquet"):
        yield from file_records(format, min(1_000_000, 100 * most))
    yield from file_records("parquet", min(5_000_000, 500 * most), rounds=1)


MEASUREMENTS = {
    "predict": measure_predict,
    "fit": measure_fit,
    "memory": lambda random, most: memory_records(min(200_000, most), random),
    "files": measure_files,
    "sql": lambda random, most: sql_records(min(2_000_000, 2 * most), random),
    "dask": lambda random, most: dask_records(min(400_000, most)),
    "stream": lambda random, most: stream_records(200, random),
    "serving": lambda random, most: serving_records(),
    "quantifiers": lambda random, most: (
        record
        for n in (100, 10_000, min(1_000_000, most))
        for record in quantifier_records(n, random)
    ),
    "peers": lambda random, most: peer_records(10_000, random),
    "large": lambda random, most: large_records(),
}
"""Each takes a generator of random numbers, and the most rows."""


def main():
    """Measure, printing records as they come, and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="at most 10,000 rows")
    parser.add_argument("--large", action="store_true", help="large tables, too")
    parser.add_argument("--only", nargs="*", choices=MEASUREMENTS)
    parser.add_argument("--page", action="store_true", help="measure nothing")
    options = parser.parse_args()
    folder = Path("results/speed") if options.quick else DATA
    usual = set(MEASUREMENTS) - {"large"}
    chosen = options.only or [name for name in MEASUREMENTS if name in usual]
    if options.large:
        chosen.append("large")
    if options.page:
        chosen = []
    about, records = load("performance", folder)
    if usual <= set(chosen):
        # What is said of runs of parts does not hold any more.
        about.pop("note", None)
    kept = [record for record in records if record["part"] not in chosen]
    most = 10_000 if options.quick else max(SIZES)
    for name in chosen:
        random = np.random.default_rng(0)
        started = time.time()
        processor = os.times()
        with (
            threadpool_limits(1),
            warnings.catch_warnings(action="ignore", category=AdaptationWarning),
        ):
            for record in MEASUREMENTS[name](random, most):
                kept.append(record)
                print(f"{time.time() - started:6.0f} s", record, flush=True)
        now = os.times()
        about[f"seconds of {name}"] = round(time.time() - started)
        work = sum(now[:4]) - sum(processor[:4])
        about[f"work of {name}"] = round(work)
        about["date"] = datetime.datetime.now(datetime.UTC).date().isoformat()
        about["load"] = round(os.getloadavg()[0], 1)
        about |= {"python": platform.python_version(), "cores": os.cpu_count()}
        # The order of the page, whatever was measured last.
        kept.sort(key=lambda record: list(MEASUREMENTS).index(record["part"]))
        save("performance", about, kept, folder)
    # Files take the longest; the page can do without them.
    waiting = usual - {"files"} - {record["part"] for record in kept}
    if waiting:
        print(f"No page yet: not measured are {', '.join(sorted(waiting))}.")
    elif not options.quick:
        write_page(about, kept)


if __name__ == "__main__":
    main()
