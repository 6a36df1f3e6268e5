"""Find where ``cv="auto"`` and ``scores="auto"`` should change their minds.

Two classes with normal features, whose best score has an AUC of .8, are learnt with
each scheme on the same rows, and each scheme sees the same batches with a prevalence of
.3 instead of .5. Nothing but the prevalence moves. From the root:

    python benchmarks/folds.py folds     # how many folds, and one split for many rows
    python benchmarks/folds.py refit     # rows a column at which a refit is sound

``folds`` prints, for boosting, the PD and the accuracy of decisions, the width of the
95 % interval and how often it holds, and the processor time of `fit` in plain fits; the
batch has as many rows as training. ``refit`` prints, for a logistic regression refitted
on all rows and for the mean of its fold models, how often the test of the assumption
rejects at the 5 % level, how often intervals hold, and their width; the batch has 2,000
rows.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
import warnings
from collections import defaultdict

import numpy as np
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit

from cape import CapeClassifier, examine

AUC = 0.8
PREVALENCE = 0.3
COLUMNS = 10
BOOSTING = HistGradientBoostingClassifier(max_leaf_nodes=8, learning_rate=0.05)
# Training rows, and draws of them.
DRAWS_FOR_FOLDS = {300: 60, 1000: 40, 3000: 24, 10_000: 12, 20_000: 8, 50_000: 4}
FOLDS = (2, 3, 5)
MANY_ROWS = 10_000
"""From here on five folds are left out: they cost more than they could gain."""
HELD_OUT_ROWS = 25_000
ROWS_PER_COLUMN = (20, 50, 100, 200)
COLUMNS_FOR_REFIT = 20
DRAWS_FOR_REFIT = 200
BATCH_ROWS_FOR_REFIT = 2000


def draw(random, n, prevalence, columns):
    """Draw rows and labels; exactly this share of the rows is positive."""
    # The AUC of two normal distributions at distance d is Phi(d / sqrt(2)).
    distance = np.sqrt(2) * ndtri(AUC)
    y = (np.arange(n) < round(prevalence * n)).astype(int)
    X = random.normal(size=(n, columns))
    # All columns carry equal shares of the distance.
    X[y == 1] += distance / np.sqrt(columns)
    return X, y


def schemes(X, y, seed):
    """Return the settings to compare on training rows: folds, and one split."""
    settings = {}
    for n_folds in FOLDS:
        if n_folds <= 3 or len(y) < MANY_ROWS:
            settings[f"{n_folds} folds"] = {"cv": n_folds, "scores": "folds"}
    share = float(np.clip(HELD_OUT_ROWS / len(y), 0.2, 0.5))
    split = StratifiedShuffleSplit(1, test_size=share, random_state=seed)
    once = list(split.split(X, y))
    settings[f"one split, {share:.2g} held out"] = {"cv": once, "scores": "folds"}
    return settings


def fit(learner, X, y, seed, settings):
    """Fit with a scheme, one group; return the classifier and its processor time."""
    clf = CapeClassifier(learner, share_estimator=False, random_state=seed, **settings)
    start = time.process_time()
    clf.fit(X, y)
    return clf, time.process_time() - start


def judge(clf, X, y):
    """Return PD, accuracy, whether the interval holds the truth, and its width."""
    evidence = clf.evidence(X)
    adaptation = clf.adapt(evidence=evidence)
    (group,) = adaptation.groups.values()
    predicted = clf.predict(X, adaptation=adaptation)
    truth = y.mean()
    return {
        "PD": abs(predicted.mean() - truth),
        "accuracy": (predicted == y).mean(),
        "holds": group.low - 1e-9 <= truth <= group.high + 1e-9,
        "width": group.high - group.low,
    }


def compare_folds(n, draws):
    """Print how schemes do on so many training rows."""
    outcomes = defaultdict(list)
    for seed in range(draws):
        random = np.random.default_rng([seed, n])
        X, y = draw(random, n, 0.5, COLUMNS)
        X_new, y_new = draw(random, n, PREVALENCE, COLUMNS)
        start = time.process_time()
        clone(BOOSTING).fit(X, y)
        plain = time.process_time() - start
        for name, settings in schemes(X, y, seed).items():
            clf, seconds = fit(BOOSTING, X, y, seed, settings)
            outcome = judge(clf, X_new, y_new)
            outcomes[name].append({**outcome, "plain fits": seconds / plain})
    show(f"boosting, {n:,} training rows, {draws} draws", outcomes)


def compare_refits(rows_per_column):
    """Print how a refit does with so many rows a column."""
    outcomes = defaultdict(list)
    columns = COLUMNS_FOR_REFIT
    n = rows_per_column * columns
    n_folds = 5 if n < 1000 else 3
    for seed in range(DRAWS_FOR_REFIT):
        random = np.random.default_rng([seed, n, columns])
        X, y = draw(random, n, 0.5, columns)
        X_new, y_new = draw(random, BATCH_ROWS_FOR_REFIT, PREVALENCE, columns)
        for scores in ("refit", "folds"):
            settings = {"cv": n_folds, "scores": scores}
            clf, _ = fit(LogisticRegression(), X, y, seed, settings)
            outcome = judge(clf, X_new, y_new)
            test = examine(clf, X_new).prior_shift
            (result,) = test.groups.values()
            outcomes[scores].append({**outcome, "rejects": result.p_value < 0.05})
    show(f"logistic, {columns} columns, {rows_per_column} rows a column", outcomes)


def show(title, outcomes):
    """Print the means of each scheme."""
    print(f"\n{title}")
    for name, results in outcomes.items():
        line = f"  {name:26}"
        for measure in results[0]:
            mean = np.mean([result[measure] for result in results])
            line += f"  {measure} {mean:.4f}"
        print(line, flush=True)


def main():
    """Simulate and print."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("part", choices=("folds", "refit"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.part == "folds":
        for n, draws in DRAWS_FOR_FOLDS.items():
            compare_folds(n, draws)
        return
    for rows_per_column in ROWS_PER_COLUMN:
        compare_refits(rows_per_column)


if __name__ == "__main__":
    main()
