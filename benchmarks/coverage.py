"""Do the intervals hold their level? Coverage of the realised prevalence, by simulation on the paper's generator.

One training draw serves all batch sizes and prevalences: its folds are fitted once. Run from the repository's root:

    python benchmarks/coverage.py --draws 2000 --json docs/coverage.json
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from multiprocessing import get_context

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from cape.histogram import ScoreHistogram, edges_for, round_scores
from cape.quantify import make_quantifier

MEAN, SD = {1: (15.0, 20.0), 0: (5.0, 40.0)}, {1: (10.0, 10.0), 0: (5.0, 10.0)}  # as cape.datasets.make_synthetic
TRAINING_ROWS, BATCH_ROWS = (200, 1000, 5000), (20, 100, 500, 5000)
PREVALENCES = (0.1, 0.3, 0.5, 0.9)
OURS = ("spa", "histogram", "acc", "hdy", "dys", "emq", "cc", "pcc")
LEARNERS = {
    "logistic": LogisticRegression(),
    "boosting": HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8, early_stopping=False),
}


def draw_rows(random, n_positive, n_negative):
    return np.concatenate([random.normal(MEAN[y], SD[y], (n, 2)) for y, n in ((1, n_positive), (0, n_negative))])


def train(random, rows, learner, scores):
    """Two histograms of out-of-fold scores, and the models that score a batch, as CapeClassifier has them."""
    n_positive = rows // 2
    X, y = draw_rows(random, n_positive, rows - n_positive), np.repeat([1, 0], [n_positive, rows - n_positive])
    out_of_fold, models = np.empty(rows), []
    for fit_on, test in StratifiedKFold(10, shuffle=True, random_state=int(random.integers(1 << 30))).split(X, y):
        models.append(clone(learner).fit(X[fit_on], y[fit_on]))
        out_of_fold[test] = models[-1].predict_proba(X[test])[:, 1]
    if scores == "refit":
        models = [clone(learner).fit(X, y)]
    rounded = round_scores(out_of_fold)
    edges = edges_for(rounded[y == 1], rounded[y == 0])
    return [ScoreHistogram.of(rounded[y == label], edges) for label in (1, 0)], models


def one_draw(task):
    """Of one training draw, for each batch and quantifier: covered, width, missed below, seconds."""
    seed, rows, learner, scores, names, fixed = task
    random = np.random.default_rng([seed, rows])
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (positives, negatives), models = train(random, rows, LEARNERS[learner], scores)
        quantifiers = {name: make_quantifier(name).fit(positives, negatives) for name in names}
    for n in BATCH_ROWS:
        for rho in PREVALENCES:
            n_positive = round(rho * n) if fixed else int(random.binomial(n, rho))
            X = draw_rows(random, n_positive, n - n_positive)
            s = np.stack([round_scores(model.predict_proba(X)[:, 1]) for model in models])
            batch = ScoreHistogram.of(s, positives.edges, unit=len(models))
            truth = n_positive / n
            for name, quantifier in quantifiers.items():
                start = time.perf_counter()
                low, high = quantifier.interval(batch)
                spent = time.perf_counter() - start
                tolerance = 1e-9
                found.append(
                    (
                        (name, rows, n, rho),
                        (low - tolerance <= truth <= high + tolerance, high - low, truth < low, spent),
                    )
                )
    return found


def simulate(rows, draws, *, learner="logistic", scores="refit", names=OURS, fixed=False, processes=2, first_seed=0):
    """Coverage, mean width, share of misses on the low side and median seconds of each cell."""
    tasks = [(first_seed + seed, rows, learner, scores, tuple(names), fixed) for seed in range(draws)]
    cells = defaultdict(list)
    with get_context("fork").Pool(processes) as pool:
        for found in pool.imap_unordered(one_draw, tasks, chunksize=5):
            for cell, value in found:
                cells[cell].append(value)
    return {
        cell: {
            "covered": float(np.mean([v[0] for v in values])),
            "width": float(np.mean([v[1] for v in values])),
            "below": float(np.mean([v[2] for v in values])),
            "seconds": float(np.median([v[3] for v in values])),
        }
        for cell, values in cells.items()
    }


def show(cells, names):
    for name in names:
        for rows in sorted({c[1] for c in cells}):
            for n in BATCH_ROWS:
                parts = [cells[name, rows, n, rho] for rho in PREVALENCES]
                print(
                    f"{name:10s} {rows:5d} {n:5d}  "
                    + "  ".join(f"{p['covered']:.3f} ({p['width']:.2f} {p['below']:.3f})" for p in parts)
                    + f"  {1e3 * max(p['seconds'] for p in parts):.2f} ms"
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="*", default=TRAINING_ROWS)
    parser.add_argument("--names", nargs="*", default=OURS)
    parser.add_argument("--learner", default="logistic", choices=LEARNERS)
    parser.add_argument("--scores", default="refit", choices=("refit", "folds"))
    parser.add_argument("--fixed", action="store_true")
    options = parser.parse_args()
    cells = {}
    for rows in options.rows:
        cells |= simulate(
            rows,
            options.draws,
            learner=options.learner,
            scores=options.scores,
            names=options.names,
            fixed=options.fixed,
        )
    show(cells, options.names)
