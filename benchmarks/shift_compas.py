"""Does the test of the assumption keep its level on real data? On COMPAS, under simulated prior shift.

Each repetition splits the training year: half trains, and from the other half batches with other prevalences are drawn,
as they are and with the age of everybody moved.

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

import numpy as np
from expected import learner
from sklearn.model_selection import train_test_split

from cape import CapeClassifier
from cape.datasets import fetch_compas
from cape.diagnostics import prior_shift_test
from cape.sampling import shift
from tables import replace_block

RESULTS = Path("docs/data/shift_compas.json")
BATCH_ROWS, PREVALENCES = (50, 300), ((0.2, 0.7), (0.5, 0.5), (0.7, 0.3))
SETTINGS = (("logistic", "refit"), ("boosting", "folds"))
MOVED = {"none": 0.0, "age by half a standard deviation": 0.5}


def one_repetition(task):
    seed, name, scores = task
    warnings.simplefilter("ignore")
    d = fetch_compas(subset="train")
    X, X_, y, y_, z, z_ = train_test_split(
        d.data,
        d.target,
        d.sensitive_features,
        test_size=0.5,
        random_state=seed,
        stratify=d.target,
    )
    clf = CapeClassifier(
        learner(name), pool="threshold", cv=5, scores=scores, random_state=seed
    )
    clf.fit(X, y, sensitive_features=z)
    found = []
    for rows in BATCH_ROWS:
        for prevalences in PREVALENCES:
            wanted = dict(zip(clf.groups_, prevalences, strict=True))
            batch, _, groups = shift(X_, y_, z_, wanted, size=rows, random_state=seed)
            for what, by in MOVED.items():
                moved = batch.assign(age=batch["age"] + by * d.data["age"].std())
                tested = prior_shift_test(clf, moved, sensitive_features=groups)
                found += [
                    ((rows, what), group.p_value < 0.05)
                    for group in tested.groups.values()
                ]
    return found


def simulate(name, scores, repetitions, processes):
    cells = defaultdict(list)
    with get_context("fork").Pool(processes) as workers:
        for found in workers.imap_unordered(
            one_repetition, [(seed, name, scores) for seed in range(repetitions)]
        ):
            for cell, rejected in found:
                cells[cell].append(rejected)
    return [
        {
            "learner": name,
            "scores": scores,
            "batch_rows": rows,
            "moved": what,
            "tests": len(values),
        }
        | {"rejected": round(float(np.mean(values)), 4)}
        for (rows, what), values in cells.items()
    ]


def table(results):
    lines = [
        "| learner, scores | what moved besides | "
        + " | ".join(f"batch {n}" for n in BATCH_ROWS)
        + " | tests a cell |"
    ]
    lines.append("|---" * (lines[0].count("|") - 1) + "|")
    for name, scores in SETTINGS:
        for what in MOVED:
            key = {"learner": name, "scores": scores, "moved": what}
            mine = {r["batch_rows"]: r for r in results if key.items() <= r.items()}
            shares = " | ".join(
                f"{100 * mine[n]['rejected']:.1f} %" for n in BATCH_ROWS
            )
            lines.append(
                f'| {name}, "{scores}" | {what} | {shares} | {mine[BATCH_ROWS[0]]["tests"]} |'
            )
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repetitions", type=int, default=100, help="each gives six tests a cell"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--write",
        metavar="PAGE",
        help="write the table into this page, simulating nothing",
    )
    options = parser.parse_args()
    if options.write:
        replace_block(
            Path(options.write),
            "shift test on COMPAS",
            table(json.loads(RESULTS.read_text())),
        )
    else:
        results = [
            r
            for setting in SETTINGS
            for r in simulate(*setting, options.repetitions, options.processes)
        ]
        RESULTS.write_text(json.dumps(results, indent=0) + "\n")
        print(table(results))
