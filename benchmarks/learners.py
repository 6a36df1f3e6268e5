"""Fit and predict of CAPE against one plain learner and against the plain loop.

All competitors have the same rows and the same cores. The plain loop is Algorithm 1 as
it reads, in ``docs/algorithm_1.py``.
"""

from __future__ import annotations

import sys
import tracemalloc
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
from clock import compare
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from cape import CapeClassifier
from cape._learners._fitting import fit_member, takes_repetitions
from cape._learners._scoring import Rows
from cape._learners._threads import blas_in_one_thread

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
from algorithm_1 import PlainCape

N_FEATURES = 20
N_INFORMATIVE = 5
POOLS = ("threshold", "resampled")
LEARNERS = {
    "logistic": LogisticRegression(),
    "boosting": HistGradientBoostingClassifier(
        max_iter=50, early_stopping=False, random_state=0
    ),
    "naive Bayes": GaussianNB(),
}


def table(n, n_groups, random):
    """Draw features, labels and groups; some features tell the classes apart."""
    y = random.integers(0, 2, n)
    is_informative = np.arange(N_FEATURES) < N_INFORMATIVE
    X = random.normal(size=(n, N_FEATURES)) + 0.4 * y[:, None] * is_informative
    z = random.integers(0, n_groups, n)
    return X, y, z


def cape(learner, pool, **settings):
    """Make an unfitted classifier with the paper's settings and a pool."""
    return CapeClassifier.paper(
        estimator=learner, pool=pool, random_state=0, **settings
    )


def time_competitors(competitors, *, rounds, **facts):
    """Time competitors, and put the facts of the benchmark before each record."""
    return [{**facts, **record} for record in compare(competitors, rounds=rounds)]


def fit_ratios(name, n, n_groups, random, *, rounds):
    """Time training.

    The competitors are one plain fit; the threshold pool with 5 folds; the resampled
    pool; and the plain loop. The pools are also trained with two jobs at a time.
    """
    learner = LEARNERS[name]
    X, y, z = table(n, n_groups, random)

    def fit(pool, **settings):
        return lambda: cape(learner, pool, **settings).fit(X, y, sensitive_features=z)

    competitors = {
        "plain fit": lambda: clone(learner).fit(X, y),
        "threshold, 5 folds": fit("threshold", cv=5),
        "threshold, 5 folds, n_jobs=2": fit("threshold", cv=5, n_jobs=2),
        "plain loop": lambda: PlainCape(learner).fit(X, y, z),
        "resampled": fit("resampled"),
        "resampled, n_jobs=2": fit("resampled", n_jobs=2),
    }
    return time_competitors(
        competitors, rounds=rounds, part="fit", learner=name, rows=n, groups=n_groups
    )


def member_ratios(name, n, random, *, rounds):
    """Time the members of one group alone: those of the plain loop, and ours.

    Ours also count the rows that they have not seen. They may start from the model that
    scores batches, which both have trained by then.
    """
    learner = LEARNERS[name]
    X, y, _ = table(n, 1, random)
    loop = PlainCape(learner)
    scorer = clone(learner).fit(X, y)

    def fit_ours(n_jobs):
        return lambda: fit_members(learner, X, y, loop.thetas, scorer, n_jobs)

    competitors = {
        "plain loop, members": lambda: loop.fit_members(X, y, np.random.RandomState(0)),
        "resampled, members": fit_ours(n_jobs=None),
        "resampled, members, n_jobs=2": fit_ours(n_jobs=2),
    }
    return time_competitors(
        competitors, rounds=rounds, part="members", learner=name, rows=n, groups=1
    )


def fit_members(learner, X, y, thetas, near, n_jobs):
    """Train the members of one group as `CapeClassifier` does."""
    rows = Rows(X)
    linear = takes_repetitions(learner)
    parallel = Parallel(n_jobs, prefer="threads" if linear else None)
    jobs = []
    for seed, theta in enumerate(thetas):
        job = delayed(fit_member)(learner, rows, y, 1, theta, seed=seed, near=near)
        jobs.append(job)
    with blas_in_one_thread() if linear else nullcontext():
        return parallel(jobs)


def predict_ratios(name, n, n_groups, random, *, rounds, text=False, pools=POOLS):
    """Time the prediction of one batch.

    The competitors are one plain ``predict_proba``; CAPE, which adapts to the batch;
    and the plain loop, unless groups are text or the resampled pool is left out.
    """
    learner = LEARNERS[name]
    X, y, z = table(n, n_groups, random)
    note = ""
    if text:
        names = np.array([f"group {i}" for i in range(n_groups)])
        z = pd.Series(names[z])
        note = ", groups as text"
    train = slice(0, max(500 * n_groups, 10_000))
    plain = clone(learner).fit(X[train], y[train])
    competitors = {"plain predict_proba": lambda: plain.predict_proba(X)}
    for pool in pools:
        clf = cape(learner, pool, cv=3)
        clf.fit(X[train], y[train], sensitive_features=z[train])
        competitors[f"{pool}{note}"] = predicting(clf, X, z)
    if "resampled" in pools and not text:
        loop = PlainCape(learner, folds=3).fit(X[train], y[train], z[train])
        competitors["plain loop"] = lambda: loop.predict(X, z)
    return time_competitors(
        competitors,
        rounds=rounds,
        part="predict",
        learner=name,
        rows=n,
        groups=n_groups,
    )


def predicting(clf, X, z):
    """Return a function without arguments that predicts a batch."""
    return lambda: clf.predict(X, sensitive_features=z)


def memory_records(n, random):
    """Yield the most that numpy and Python held at once beyond X, in sizes of X."""
    learner = LEARNERS["logistic"]
    X, y, z = table(n, 2, random)
    train = slice(0, n // 10)
    plain = clone(learner).fit(X[train], y[train])

    def fit(pool, **settings):
        clf = cape(learner, pool, cv=3, **settings)
        return lambda: clf.fit(X, y, sensitive_features=z)

    loop = PlainCape(learner, prevalences=3, folds=3)
    competitors = {"plain predict_proba": lambda: plain.predict_proba(X)}
    for pool in POOLS:
        clf = cape(learner, pool, cv=3)
        clf.fit(X[train], y[train], sensitive_features=z[train])
        competitors[f"{pool}, predict"] = predicting(clf, X, z)
    competitors["plain fit"] = lambda: clone(learner).fit(X, y)
    competitors["threshold, fit"] = fit("threshold")
    competitors["resampled, fit"] = fit("resampled", prevalences=3)
    competitors["plain loop, fit"] = lambda: loop.fit(X, y, z)
    for what, work in competitors.items():
        peak = peak_of_memory(work)
        yield {"part": "memory", "what": what, "rows": n, "times_X": peak / X.nbytes}


def peak_of_memory(work):
    """Return the most bytes that were held at once during the second call."""
    # The first call imports and fills caches.
    work()
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def growth(records):
    """Return exponents of time in rows, and what 20 groups cost against 2."""
    by_competitor = {}
    for record in records:
        if record["part"] in ("fit", "predict"):
            key = (record["part"], record["learner"], record["what"])
            by_competitor.setdefault(key, []).append(record)
    grown = []
    for key in sorted(by_competitor):
        grown += growth_of_competitor(*key, by_competitor[key])
    return grown


def growth_of_competitor(part, learner, what, records):
    """Return how the time of one competitor grows with rows and with groups."""
    grown = []
    facts = {"learner": learner, "what": what}
    seconds = {}
    for record in records:
        if record["groups"] == 2 and record["rows"] >= 10_000:
            seconds[record["rows"]] = record["seconds"]
    if len(seconds) > 1:
        # The slope of log time against log rows: 1 is linear.
        slope = np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)[0]
        grown.append({"part": f"growth of {part}", **facts, "exponent": float(slope)})
    for record in records:
        rows = record["rows"]
        if record["groups"] == 20 and rows in seconds:
            against = {"part": f"20 groups against 2, {part}", **facts, "rows": rows}
            grown.append({**against, "ratio": record["seconds"] / seconds[rows]})
    return grown


def growth_in_k(name, n, random, *, rounds):
    """Time the training of the resampled pool with 5, 10 and 20 prevalences."""
    learner = LEARNERS[name]
    X, y, z = table(n, 2, random)

    def fit(k):
        clf = cape(learner, "resampled", prevalences=k, cv=5)
        return lambda: clf.fit(X, y, sensitive_features=z)

    competitors = {f"k={k}": fit(k) for k in (5, 10, 20)}
    return time_competitors(
        competitors, rounds=rounds, part="fit by k", learner=name, rows=n, groups=2
    )
