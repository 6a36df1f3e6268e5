"""Simulate how often intervals of the default settings hold the realised prevalence.

Nothing but the learner is given: ``CapeClassifier(learner).fit`` on two groups of the
paper's generator, then ``adapt`` on batches in which both groups have another
prevalence. Each group of each training counts as a draw. `coverage.py` writes the
results into docs/trust.md, beside those of single quantifiers. From the root:

    python benchmarks/coverage_defaults.py --trainings 150 --learner boosting
    python benchmarks/coverage.py --write docs/trust.md
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
import warnings
from collections import defaultdict

import numpy as np
from coverage import (
    BATCH_ROWS,
    KEY,
    PREVALENCES,
    TRAINING_ROWS,
    Outcome,
    draw_batch,
    draw_rows,
    remember,
    summary,
    tables,
)
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier

GROUPS = ("a", "b")
LEARNERS = {
    "logistic": LogisticRegression(),
    "boosting": HistGradientBoostingClassifier(),
    "chosen": None,
}


def fit(random, rows, learner):
    """Fit the default classifier on two groups of so many rows each."""
    n_positive = rows // 2
    X = []
    y = []
    for _ in GROUPS:
        X.append(draw_rows(random, n_positive, rows - n_positive))
        y.append(np.repeat([1, 0], [n_positive, rows - n_positive]))
    seed = int(random.integers(1 << 30))
    clf = CapeClassifier(learner, random_state=seed)
    z = np.repeat(GROUPS, rows)
    return clf.fit(np.concatenate(X), np.concatenate(y), sensitive_features=z)


def outcomes_of_batch(clf, random, n, rho):
    """Draw a batch with n rows a group, and yield an outcome for each group."""
    X = []
    realised = []
    for _ in GROUPS:
        rows, n_positive = draw_batch(random, n, rho)
        X.append(rows)
        realised.append(n_positive / n)
    z = np.repeat(GROUPS, n)
    evidence = clf.evidence(np.concatenate(X), sensitive_features=z)
    start = time.process_time()
    adaptation = clf.adapt(evidence=evidence, level=0.95)
    seconds = (time.process_time() - start) / len(GROUPS)
    for group, truth in zip(GROUPS, realised, strict=True):
        part = adaptation.groups[group]
        right = part.low - 1e-9 <= truth <= part.high + 1e-9
        yield Outcome(right, part.high - part.low, seconds)


def simulate(rows, options):
    """Return the records of all cells with so many training rows a group."""
    cells = defaultdict(list)
    stop = time.process_time() + 60 * options.minutes
    for seed in range(options.trainings):
        random = np.random.default_rng([seed, rows])
        clf = fit(random, rows, LEARNERS[options.learner])
        for n in BATCH_ROWS:
            for rho in PREVALENCES:
                cells[n, rho] += outcomes_of_batch(clf, random, n, rho)
        if time.process_time() > stop:
            break
    records = []
    for (n, rho), outcomes in cells.items():
        key = (options.learner, "auto", clf.quantifier, rows, n, rho)
        records.append(dict(zip(KEY, key, strict=True)) | summary(outcomes))
    return records


def main():
    """Simulate, print and store."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--trainings", type=int, default=150)
    parser.add_argument("--rows", type=int, nargs="*", default=TRAINING_ROWS)
    parser.add_argument("--learner", default="logistic", choices=LEARNERS)
    parser.add_argument(
        "--minutes",
        type=float,
        default=1e9,
        help="processor time for each number of rows; stop with the draws done then",
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for rows in options.rows:
        records = simulate(rows, options)
        remember(records)
        print(tables(records), flush=True)


if __name__ == "__main__":
    main()
