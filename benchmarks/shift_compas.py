"""Does the test of the assumption keep its level on real data?

It is tried on COMPAS, under simulated prior shift. Each repetition splits the training
year: one half trains. Batches with other prevalences are drawn from the other half, as
they are and with the age of everybody moved.

    python benchmarks/shift_compas.py --repetitions 100
    python benchmarks/shift_compas.py --write docs/trust.md
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import defaultdict
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from expected import make_learner
from sklearn.model_selection import train_test_split

from cape import CapeClassifier, examine
from cape.datasets import fetch_compas
from cape.sampling import shift
from tables import replace_block

RESULTS = Path("docs/data/shift_compas.json")
BATCH_ROWS = (50, 300)
PREVALENCES = ((0.2, 0.7), (0.5, 0.5), (0.7, 0.3))
# Learner, scores.
SETTINGS = (("logistic", "refit"), ("boosting", "folds"))
# By how many standard deviations the age moves.
MOVED = {"none": 0.0, "age by half a standard deviation": 0.5}


class Task(NamedTuple):
    """One repetition."""

    seed: int
    learner: str
    scores: str


def one_repetition(task):
    """Train on one half and test batches of the other; return cells and rejections."""
    warnings.simplefilter("ignore")
    d = fetch_compas(subset="train")
    X, X_rest, y, y_rest, z, z_rest = train_test_split(
        d.data,
        d.target,
        d.sensitive_features,
        test_size=0.5,
        random_state=task.seed,
        stratify=d.target,
    )
    clf = CapeClassifier(
        make_learner(task.learner),
        pool="threshold",
        cv=5,
        scores=task.scores,
        random_state=task.seed,
    )
    clf.fit(X, y, sensitive_features=z)
    standard_deviation = d.data["age"].std()
    outcomes = []
    for rows in BATCH_ROWS:
        for prevalences in PREVALENCES:
            wanted = dict(zip(clf.groups_, prevalences, strict=True))
            batch, _, groups = shift(
                X_rest, y_rest, z_rest, wanted, size=rows, random_state=task.seed
            )
            for what, by in MOVED.items():
                moved = batch.assign(age=batch["age"] + by * standard_deviation)
                for rejected in rejections(clf, moved, groups):
                    outcomes.append(((rows, what), rejected))
    return outcomes


def rejections(clf, X, groups):
    """Return for each group whether the test rejects a batch at the 5 % level."""
    tested = examine(clf, X, sensitive_features=groups).prior_shift
    return [group.p_value < 0.05 for group in tested.groups.values()]


def simulate(learner, scores, repetitions, processes):
    """Return the share of rejections in each cell of one setting."""
    tasks = [Task(seed, learner, scores) for seed in range(repetitions)]
    cells = defaultdict(list)
    with get_context("fork").Pool(processes) as workers:
        for outcomes in workers.imap_unordered(one_repetition, tasks):
            for cell, rejected in outcomes:
                cells[cell].append(rejected)
    records = []
    for (rows, what), rejected in cells.items():
        record = {
            "learner": learner,
            "scores": scores,
            "batch_rows": rows,
            "moved": what,
            "tests": len(rejected),
            "rejected": round(float(np.mean(rejected)), 4),
        }
        records.append(record)
    return records


def table(results):
    """Return all results as a table in Markdown."""
    columns = ["learner, scores", "what moved besides"]
    columns += [f"batch {n}" for n in BATCH_ROWS]
    columns.append("tests a cell")
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    by_cell = {}
    for record in results:
        setting = (record["learner"], record["scores"])
        by_cell[setting, record["moved"], record["batch_rows"]] = record
    for setting in SETTINGS:
        for what in MOVED:
            records = [by_cell[setting, what, n] for n in BATCH_ROWS]
            lines.append(table_line(setting, what, records))
    return "\n".join(lines)


def table_line(setting, what, records):
    """Return the line of one setting and one thing that moved."""
    learner, scores = setting
    cells = [f'{learner}, "{scores}"', what]
    cells += [f"{100 * record['rejected']:.1f} %" for record in records]
    cells.append(str(records[0]["tests"]))
    return f"| {' | '.join(cells)} |"


def parse_arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--repetitions",
        type=int,
        default=100,
        help="each gives six tests a cell",
    )
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
        replace_block(Path(options.write), "shift test on COMPAS", table(results))
        return
    results = []
    for setting in SETTINGS:
        results += simulate(*setting, options.repetitions, options.processes)
    RESULTS.write_text(json.dumps(results, indent=0) + "\n")
    print(table(results))


if __name__ == "__main__":
    main()
