"""Does the test of the assumption keep its level, and what does it see? On the paper's generator.

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
from coverage import LEARNERS, draw_rows, train

from cape._shift_test import fit_mixture, pairs_together
from cape.histogram import ScoreHistogram, round_scores
from tables import replace_block

RESULTS = Path("docs/data/shift_test.json")
BATCH_ROWS, PREVALENCES = (50, 500, 5000), (0.1, 0.5, 0.9)
SHIFTS = {
    "none": (0.0, 0.0),
    "U by half a standard deviation": (5.0, 0.0),
    "V by half a standard deviation": (0.0, 5.0),
}
SETTINGS = [
    ("logistic", "refit", 200),
    ("logistic", "refit", 2000),
    ("logistic", "refit", 50_000),
    ("boosting", "folds", 200),
    ("boosting", "folds", 2000),
    ("boosting", "refit", 200),
]


def one_draw(task):
    seed, learner, scores, rows = task
    random = np.random.default_rng([seed, rows, 1])
    (positives, negatives), models = train(random, rows, LEARNERS[learner], scores)
    found = []
    for n in BATCH_ROWS:
        for rho in PREVALENCES:
            n_positive = int(random.binomial(n, rho))
            X = draw_rows(random, n_positive, n - n_positive)
            for shift, by in SHIFTS.items():
                s = np.stack(
                    [
                        round_scores(model.predict_proba(X + np.array(by))[:, 1])
                        for model in models
                    ]
                )
                batch = ScoreHistogram.of(s, positives.edges, unit=len(models))
                together = (
                    pairs_together(s, positives, negatives) if len(models) > 1 else None
                )
                found.append(
                    (
                        (n, shift),
                        fit_mixture(positives, negatives, batch, together).p_value
                        < 0.05,
                    )
                )
    return found


def simulate(setting, draws, minutes, processes):
    stop, cells = time.monotonic() + 60 * minutes, defaultdict(list)
    with get_context("fork").Pool(processes) as pool:
        for found in pool.imap(one_draw, [(seed, *setting) for seed in range(draws)]):
            for cell, rejected in found:
                cells[cell].append(rejected)
            if time.monotonic() > stop:
                break
    learner, scores, rows = setting
    return [
        {
            "learner": learner,
            "scores": scores,
            "training_rows": rows,
            "batch_rows": n,
            "shift": shift,
        }
        | {"rejected": round(float(np.mean(values)), 4), "tests": len(values)}
        for (n, shift), values in cells.items()
    ]


def table(results):
    lines = [
        "| learner, scores | training rows | what moved besides | "
        + " | ".join(f"batch {n}" for n in BATCH_ROWS)
    ]
    lines[0] += " | tests a cell |"
    lines.append("|---" * (lines[0].count("|") - 1) + "|")
    for learner, scores, rows in SETTINGS:
        for shift in SHIFTS:
            mine = {
                r["batch_rows"]: r
                for r in results
                if (r["learner"], r["scores"], r["training_rows"], r["shift"])
                == (learner, scores, rows, shift)
            }
            if mine:
                shares = " | ".join(
                    f"{100 * mine[n]['rejected']:.1f} %" for n in BATCH_ROWS
                )
                tests = min(r["tests"] for r in mine.values())
                lines.append(
                    f'| {learner}, "{scores}" | {rows} | {shift} | {shares} | {tests} |'
                )
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
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
    options = parser.parse_args()
    if options.write:
        replace_block(
            Path(options.write), "shift test", table(json.loads(RESULTS.read_text()))
        )
    else:
        results = []
        for setting in SETTINGS:
            results += simulate(
                setting, options.draws, options.minutes, options.processes
            )
            RESULTS.parent.mkdir(parents=True, exist_ok=True)
            RESULTS.write_text(json.dumps(results, indent=0) + "\n")
        print(table(results))
