"""Measure what caution costs where nothing but the prevalences has moved.

Rows are drawn anew from one table, with other prevalences. Reported are width of the
interval and PD with drift="cautious", divided by those with drift="ignore".

python benchmarks/drift.py --pairs 60 --rows 1000
CAPE_DATA=folder python benchmarks/drift.py --table compas --learner default
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from cape import CapeClassifier
from cape._prediction import adapt
from cape.datasets import fetch_compas, make_synthetic
from cape_paper import meps_problem


def fetch_meps():
    """Return the people of MEPS of both years."""
    problem = meps_problem()
    data, target, groups = zip(problem.train, problem.test, strict=True)
    return Bunch(
        data=pd.concat(data, ignore_index=True),
        target=np.concatenate(target),
        sensitive_features=np.concatenate(groups),
    )


TABLES = {
    "synthetic": lambda: make_synthetic(20_000, random_state=1),
    "compas": fetch_compas,
    "meps": fetch_meps,
}
LEARNERS = {
    "logistic": lambda: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=500)
    ),
    "default": lambda: None,
}
BATCHES_OF_A_TRAINING = 10


def draw_batch(random, rows, y, z, n):
    """Draw n of some rows for each group, at prevalences anywhere from .05 to .95."""
    drawn = []
    for group in np.unique(z):
        n_positive = round(n * random.uniform(0.05, 0.95))
        for label, wanted in ((1, n_positive), (0, n - n_positive)):
            eligible = rows[(z[rows] == group) & (y[rows] == label)]
            wanted = min(wanted, len(eligible))
            drawn.append(random.choice(eligible, wanted, replace=False))
    return np.concatenate(drawn)


def measure(clf, X, y, z):
    """Return width and PD of each group, cautious and ignoring, and the p-value."""
    evidence = clf.evidence(X, sensitive_features=z)
    models = {group: clf.model_of(group) for group in evidence.groups}
    widths, differences = [], []
    for drift in ("cautious", "ignore"):
        adaptation = adapt(models, evidence, level=0.95, drift=drift)
        if drift == "cautious":
            smallest = min(one.p_adjusted for one in adaptation.drifts.values())
        for group, adapted in adaptation.groups.items():
            truth = y[z == group].mean()
            widths.append(adapted.estimate.high - adapted.estimate.low)
            differences.append(abs(adapted.predicted_prevalence - truth))
    return widths, differences, smallest


def compare(table, learner, pairs, n):
    """Train and draw batches; return ratios of width and PD, and rejections at 1 %."""
    data = TABLES[table]()
    X = data.data.reset_index(drop=True)
    y = np.asarray(data.target)
    z = np.asarray(data.sensitive_features)
    random = np.random.default_rng(0)
    widths, differences, p_values = [], [], []
    for pair in range(pairs):
        if pair % BATCHES_OF_A_TRAINING == 0:
            order = random.permutation(len(y))
            train, rest = np.split(order, [len(y) // 2])
            clf = CapeClassifier(LEARNERS[learner](), random_state=pair)
            clf.fit(X.iloc[train], y[train], sensitive_features=z[train])
        rows = draw_batch(random, rest, y, z, n)
        width, difference, p = measure(clf, X.iloc[rows], y[rows], z[rows])
        widths.append(np.split(np.array(width), 2))
        differences.append(np.split(np.array(difference), 2))
        p_values.append(p)
    cautious, ignoring = np.mean(widths, axis=(0, 2))
    pd_cautious, pd_ignoring = np.mean(differences, axis=(0, 2))
    rejected = np.mean(np.array(p_values) < 0.01)
    return cautious / ignoring, pd_cautious / pd_ignoring, rejected


def main():
    """Read the command line, and print three numbers."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--table", choices=TABLES, default="synthetic")
    parser.add_argument("--learner", choices=LEARNERS, default="logistic")
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--rows", type=int, default=1000, help="of each group")
    options = parser.parse_args()
    width, difference, rejected = compare(
        options.table, options.learner, options.pairs, options.rows
    )
    print(
        f"{options.table}, {options.learner}, {options.rows} rows: width x {width:.3f},"
        f" PD x {difference:.3f}, {rejected:.1%} rejected at 1 %"
    )


if __name__ == "__main__":
    main()
