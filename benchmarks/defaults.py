"""What the defaults cost, as ratios of processor time to one plain learner.

Each line is the time of CAPE with its defaults over that of one plain fit, or one plain
``predict_proba``, of the same learner on the same rows, in the same run. From the root:

    python benchmarks/defaults.py --rounds 5
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from learners import table

LEARNERS = {
    "boosting": HistGradientBoostingClassifier(random_state=0),
    "logistic": LogisticRegression(),
}
TRAINING_ROWS = 100_000
BATCH_ROWS = 1_000_000
MANY_GROUPS = 20


def processor_seconds(work):
    """Return the processor time of a call, all threads together."""
    start = time.process_time()
    work()
    return time.process_time() - start


def ratios(ours, plain, rounds):
    """Return the ratios of processor time, round by round, in turn."""
    measured = []
    for _ in range(rounds):
        measured.append(processor_seconds(ours) / processor_seconds(plain))
    return measured


def show(what, limit, measured):
    """Print one line: the median ratio, the quartiles, and the limit."""
    low, middle, high = np.quantile(measured, [0.25, 0.5, 0.75])
    verdict = "reached" if middle <= limit else "NOT reached"
    print(
        f"{what:58s} {middle:6.2f} ({low:.2f} to {high:.2f}), at most {limit}: "
        f"{verdict}",
        flush=True,
    )


def fit_given_learner(name, n, limit, options):
    """Compare `fit` with a learner given and one plain fit."""
    X, y, z = table(n, 2, np.random.default_rng(0))
    learner = LEARNERS[name]

    def ours():
        CapeClassifier(learner, random_state=0).fit(X, y, sensitive_features=z)

    def plain():
        clone(learner).fit(X, y)

    show(f"fit, {name}, {n:,} rows", limit, ratios(ours, plain, options.rounds))


def fit_all_chosen(n, limit, options):
    """Compare `fit` with nothing given and one fit of what it chose."""
    X, y, z = table(n, 2, np.random.default_rng(0))
    clf = CapeClassifier(random_state=0).fit(X, y, sensitive_features=z)

    def ours():
        CapeClassifier(random_state=0).fit(X, y, sensitive_features=z)

    def plain():
        clone(clf.estimator_).fit(X, y)

    chosen = clf.candidates_.index[clf.candidates_["chosen"]][0]
    what = f"fit, everything chosen ({chosen}), {n:,} rows"
    show(what, limit, ratios(ours, plain, options.rounds))


def predict_given_learner(name, limit, options):
    """Compare `predict` of a large batch and one plain ``predict_proba``."""
    random = np.random.default_rng(0)
    X, y, z = table(TRAINING_ROWS, 2, random)
    batch, _, groups = table(BATCH_ROWS, 2, random)
    plain_model = clone(LEARNERS[name]).fit(X, y)
    clf = CapeClassifier(LEARNERS[name], random_state=0)
    clf.fit(X, y, sensitive_features=z)

    def ours():
        clf.predict(batch, sensitive_features=groups)

    def plain():
        plain_model.predict_proba(batch)

    what = f"predict, {name}, {BATCH_ROWS:,} rows"
    show(what, limit, ratios(ours, plain, options.rounds))


def fit_many_groups(name, limit, options):
    """Compare `fit` of many groups and of two, with a shared learner."""
    random = np.random.default_rng(0)
    X, y, two = table(TRAINING_ROWS, 2, random)
    many = random.integers(0, MANY_GROUPS, len(y))
    settings = {"share_estimator": True, "cv": 3, "random_state": 0}

    def fit(groups):
        CapeClassifier(LEARNERS[name], **settings).fit(X, y, sensitive_features=groups)

    measured = ratios(lambda: fit(many), lambda: fit(two), options.rounds)
    what = f"fit, shared {name}, {MANY_GROUPS} groups to 2"
    show(what, limit, measured)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for name in LEARNERS:
        fit_given_learner(name, TRAINING_ROWS, 1.4, options)
    for name in LEARNERS:
        fit_given_learner(name, 10_000, 3.5, options)
    for n in (10_000, TRAINING_ROWS):
        fit_all_chosen(n, 4, options)
    predict_given_learner("boosting", 1.2, options)
    predict_given_learner("logistic", 1.5, options)
    for name in LEARNERS:
        fit_many_groups(name, 1.5, options)


if __name__ == "__main__":
    main()
