"""Find how many training rows of the rarer class intervals need to hold.

Two classes with normal features (five of them, which carry equal shares of the
distance) are learnt by logistic regression in five folds, whose models score the batch.
One class has few training rows and the other many. The table has the coverage of 95 %
intervals for each size of the rarer class: the mean over batches of 200 and 1,000 rows
with prevalences .05, .3 and .7, and the lowest of these. From the root:

    python benchmarks/min_class_size.py --draws 300
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from collections import defaultdict

import numpy as np
from scipy.special import ndtri
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from cape.histogram import ScoreHistogram, edges_for, round_scores
from cape.quantify import make_quantifier

SIZES = (5, 10, 15, 20, 25, 30, 40, 60, 100)
AUCS = (0.7, 0.8, 0.93)
BATCH_ROWS = (200, 1000)
PREVALENCES = (0.05, 0.3, 0.7)
FEATURES = 5
FOLDS = 5
LEAST_COVERAGE = 0.93


def draw_rows(random, n_positive, n_negative, auc):
    """Draw rows of positives, then of negatives, whose best score has this AUC."""
    # The AUC of two normal distributions at distance d is Phi(d / sqrt(2)).
    distance = np.sqrt(2) * ndtri(auc)
    X = random.normal(size=(n_positive + n_negative, FEATURES))
    X[:n_positive] += distance / np.sqrt(FEATURES)
    return X


def score(model, X):
    """Return rounded scores."""
    return round_scores(model.predict_proba(X)[:, 1])


def train(random, n_positive, n_negative, auc):
    """Return histograms of out-of-fold scores of both classes, and the fold models."""
    X = draw_rows(random, n_positive, n_negative, auc)
    y = np.repeat([1, 0], [n_positive, n_negative])
    out_of_fold = np.empty(len(y), dtype=np.int64)
    models = []
    for fit_on, test in StratifiedKFold(FOLDS, shuffle=False).split(X, y):
        model = LogisticRegression().fit(X[fit_on], y[fit_on])
        out_of_fold[test] = score(model, X[test])
        models.append(model)
    positives = out_of_fold[y == 1]
    negatives = out_of_fold[y == 0]
    edges = edges_for(positives, negatives)
    return (
        ScoreHistogram.of(positives, edges),
        ScoreHistogram.of(negatives, edges),
        models,
    )


def one_draw(random, size, auc, options):
    """Return (name, batch rows, prevalence), whether it held, and width, of a draw."""
    positives, negatives, models = train(random, size, options.others, auc)
    quantifiers = {}
    for name in options.quantifiers:
        quantifiers[name] = make_quantifier(name).fit(positives, negatives)
    for n in BATCH_ROWS:
        for rho in PREVALENCES:
            n_positive = round(rho * n)
            X = draw_rows(random, n_positive, n - n_positive, auc)
            scores = np.stack([score(model, X) for model in models])
            batch = ScoreHistogram.of(scores, positives.edges, unit=len(models))
            for name, quantifier in quantifiers.items():
                low, high = quantifier.interval(batch)
                yield (name, n, rho), low <= rho <= high, high - low


def simulate(size, auc, options):
    """Return mean coverage, lowest coverage and mean width by quantifier."""
    random = np.random.default_rng([size, round(1000 * auc)])
    held = defaultdict(list)
    widths = defaultdict(list)
    for _ in range(options.draws):
        for cell, right, width in one_draw(random, size, auc, options):
            held[cell].append(right)
            widths[cell[0]].append(width)
    summary = {}
    for name in options.quantifiers:
        coverages = [np.mean(held[cell]) for cell in held if cell[0] == name]
        summary[name] = np.mean(coverages), np.min(coverages), np.mean(widths[name])
    return summary


def print_least_sizes(coverages, options):
    """Print from which size on the mean coverage never falls below the least one."""
    for name in options.quantifiers:
        for auc in options.aucs:
            least = None
            for size in sorted(options.sizes, reverse=True):
                if coverages[name, auc, size] < LEAST_COVERAGE:
                    break
                least = size
            print(f"{name}, AUC {auc}: {LEAST_COVERAGE} from {least} rows on")


def main():
    """Simulate and print a line for each AUC and size."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--others", type=int, default=2000, help="rows of the other")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--aucs", type=float, nargs="*", default=AUCS)
    parser.add_argument("--quantifiers", nargs="*", default=["histogram", "onestep"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    coverages = {}
    print("AUC, rows of the rarer class, then coverage: mean, lowest; width")
    for auc in options.aucs:
        for size in options.sizes:
            line = f"{auc:5} {size:4}"
            for name, values in simulate(size, auc, options).items():
                mean, lowest, width = values
                line += f"   {name} {mean:.3f} {lowest:.3f} {width:.3f}"
                coverages[name, auc, size] = mean
            print(line, flush=True)
    print_least_sizes(coverages, options)


if __name__ == "__main__":
    main()
