"""All measurements of speed and memory, as JSON; ``--quick`` for a first look.

``page.py`` makes the tables and the picture of them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path

import numpy as np
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
    # Small groups that share one learner: 100 rows each.
    yield from predict_ratios("boosting", 20_000, 200, random, rounds=3, pools=one_pool)
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


def main():
    """Measure, printing records as they come, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds")
    parser.add_argument("--only", nargs="*", choices=MEASUREMENTS)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    records = []
    started = time.time()
    random = np.random.default_rng(0)
    for name in options.only or MEASUREMENTS:
        for record in MEASUREMENTS[name](options.quick, random):
            records.append(record)
            print(f"{time.time() - started:6.0f} s", record, flush=True)
    records += growth(records)
    options.out.mkdir(parents=True, exist_ok=True)
    about = {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "quick": options.quick,
    }
    content = {"about": about, "records": records}
    (options.out / "speed.json").write_text(json.dumps(content, indent=1))


if __name__ == "__main__":
    main()
