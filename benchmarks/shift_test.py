"""Simulate the level and the power of the shift test on the paper's generator.

python benchmarks/shift_test.py --draws 200 --minutes 5
python benchmarks/shift_test.py --write docs/trust.md
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from coverage import LEARNERS, draw_batch, score_by_models, train

from cape._drift._mixture import count_agreements, fit_mixture
from cape.histogram import ScoreHistogram
from tables import markdown_table, replace_block, save_results

RESULTS = Path("docs/data/shift_test.json")
BATCH_ROWS = (50, 500, 5000)
PREVALENCES = (0.1, 0.5, 0.9)
SHIFTS = {
    "none": (0.0, 0.0),
    "U by half a standard deviation": (5.0, 0.0),
    "V by half a standard deviation": (0.0, 5.0),
}
# Learner, scores, training rows.
SETTINGS = [
    ("logistic", "refit", 200),
    ("logistic", "refit", 2000),
    ("logistic", "refit", 50_000),
    ("boosting", "folds", 200),
    ("boosting", "folds", 2000),
    ("boosting", "refit", 200),
]


def is_rejected(training, X):
    """Return whether the test rejects a batch at the 5 % level."""
    scores = score_by_models(training.models, X)
    n_models = len(training.models)
    batch = ScoreHistogram.of(scores, training.positives.edges, unit=n_models)
    agreements = None
    if n_models > 1:
        agreements = count_agreements(scores, training.positives, training.negatives)
    fit = fit_mixture(training.positives, training.negatives, batch, agreements)
    return fit.p_value < 0.05


def one_draw(task):
    """Test many batches against one training draw; return cells and rejections."""
    seed, learner, scores, rows = task
    random = np.random.default_rng([seed, rows, 1])
    training = train(random, rows, LEARNERS[learner], scores)
    outcomes = []
    for n in BATCH_ROWS:
        for rho in PREVALENCES:
            X, _ = draw_batch(random, n, rho)
            for shift, by in SHIFTS.items():
                rejected = is_rejected(training, X + np.array(by))
                outcomes.append(((n, shift), rejected))
    return outcomes


def simulate(setting, draws, minutes, processes):
    """Return the share of rejections in each cell of one setting."""
    stop = time.monotonic() + 60 * minutes
    tasks = [(seed, *setting) for seed in range(draws)]
    rejections = defaultdict(list)
    with get_context("fork").Pool(processes) as pool:
        for outcomes in pool.imap(one_draw, tasks):
            for cell, rejected in outcomes:
                rejections[cell].append(rejected)
            if time.monotonic() > stop:
                break
    learner, scores, rows = setting
    records = []
    for (n, shift), rejected in rejections.items():
        records.append(
            {
                "learner": learner,
                "scores": scores,
                "training_rows": rows,
                "batch_rows": n,
                "shift": shift,
                "rejected": round(float(np.mean(rejected)), 4),
                "tests": len(rejected),
            }
        )
    return records


def table(results):
    """Return all results as a table in Markdown."""
    columns = ["learner, scores", "training rows", "what moved besides"]
    columns += [f"batch {n}" for n in BATCH_ROWS]
    columns.append("tests a cell")
    lines = []
    by_cell = {}
    for record in results:
        setting = (record["learner"], record["scores"], record["training_rows"])
        by_cell[setting, record["shift"], record["batch_rows"]] = record
    for setting in SETTINGS:
        for shift in SHIFTS:
            if (setting, shift, BATCH_ROWS[0]) in by_cell:
                records = [by_cell[setting, shift, n] for n in BATCH_ROWS]
                lines.append(table_line(setting, shift, records))
    return markdown_table(columns, lines)


def table_line(setting, shift, records):
    """Return the cells of one setting and one shift."""
    learner, scores, rows = setting
    cells = [f'{learner}, "{scores}"', str(rows), shift]
    cells += [f"{100 * record['rejected']:.1f} %" for record in records]
    cells.append(str(min(record["tests"] for record in records)))
    return cells


def parse_arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--draws",
        type=int,
        default=100,
        help="training draws; each gives three tests a cell",
    )
    parser.add_argument("--minutes", type=float, default=1e9, help="for each setting")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--write",
        metavar="PAGE",
        help="write the table into this page, simulating nothing",
    )
    return parser.parse_args()


def main():
    """Simulate all settings, or write what was simulated into a page."""
    options = parse_arguments()
    if options.write:
        results = json.loads(RESULTS.read_text())
        replace_block(Path(options.write), "shift test", table(results))
        return
    results = []
    for setting in SETTINGS:
        results += simulate(setting, options.draws, options.minutes, options.processes)
        save_results(RESULTS, results)
    print(table(results))


if __name__ == "__main__":
    main()
