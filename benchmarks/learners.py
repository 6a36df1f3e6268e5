"""Fit and predict of CAPE against one plain learner and against the plain loop, on the same rows and cores."""

from __future__ import annotations

import sys
import tracemalloc
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from clock import compare, exponent
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from cape import CapeClassifier
from cape._learners import GroupRows, takes_repetitions
from cape._learners import blas_in_one_thread
from cape.pool import fit_member

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
from algorithm_1 import PlainCape

FEATURES = 20
LEARNERS = {
    "logistic": LogisticRegression(),
    "boosting": HistGradientBoostingClassifier(
        max_iter=50, early_stopping=False, random_state=0
    ),
    "naive Bayes": GaussianNB(),
}


def table(n, groups, random):
    y = random.integers(0, 2, n)
    X = random.normal(size=(n, FEATURES)) + 0.4 * y[:, None] * (np.arange(FEATURES) < 5)
    return X, y, random.integers(0, groups, n)


def cape(learner, pool, **settings):
    return CapeClassifier(learner, pool=pool, random_state=0, **settings)


def fit_ratios(name, n, groups, random, *, rounds):
    """Training: one plain fit; the threshold pool with 5 folds; the resampled pool; the plain loop, and its members."""
    learner = LEARNERS[name]
    X, y, z = table(n, groups, random)
    made = {
        "plain fit": lambda: clone(learner).fit(X, y),
        "threshold, 5 folds": lambda: cape(learner, "threshold", cv=5).fit(
            X, y, sensitive_features=z
        ),
        "threshold, 5 folds, n_jobs=2": lambda: cape(
            learner, "threshold", cv=5, n_jobs=2
        ).fit(X, y, sensitive_features=z),
        "plain loop": lambda: PlainCape(learner).fit(X, y, z),
        "resampled": lambda: cape(learner, "resampled").fit(X, y, sensitive_features=z),
        "resampled, n_jobs=2": lambda: cape(learner, "resampled", n_jobs=2).fit(
            X, y, sensitive_features=z
        ),
    }
    return [
        {"part": "fit", "learner": name, "rows": n, "groups": groups, **record}
        for record in compare(made, rounds=rounds)
    ]


def member_ratios(name, n, random, *, rounds):
    """The members alone, of one group: the plain loop's against ours, which also count the rows they have not seen.

    Ours may start from the model that scores batches, which both have trained by then.
    """
    learner = LEARNERS[name]
    X, y, _ = table(n, 1, random)
    loop = PlainCape(learner)
    scorer = clone(learner).fit(X, y)
    made = {
        "plain loop, members": lambda: loop.fit_members(X, y, np.random.RandomState(0)),
        "resampled, members": lambda: _members(learner, X, y, loop.thetas, scorer),
        "resampled, members, n_jobs=2": lambda: _members(
            learner, X, y, loop.thetas, scorer, n_jobs=2
        ),
    }
    return [
        {"part": "members", "learner": name, "rows": n, "groups": 1, **record}
        for record in compare(made, rounds=rounds)
    ]


def _members(learner, X, y, thetas, near, n_jobs=None):
    rows = GroupRows(X)
    linear = takes_repetitions(learner)
    with blas_in_one_thread() if linear else nullcontext():
        return Parallel(n_jobs, prefer="threads" if linear else None)(
            delayed(fit_member)(learner, rows, y, 1, theta, seed=i, near=near)
            for i, theta in enumerate(thetas)
        )


def predict_ratios(
    name, n, groups, random, *, rounds, text=False, pools=("threshold", "resampled")
):
    """Prediction of one batch: one plain ``predict_proba``; CAPE, adapting to the batch; the plain loop."""
    learner = LEARNERS[name]
    X, y, z = table(n, groups, random)
    if text:
        import pandas as pd

        z = pd.Series(np.array([f"group {i}" for i in range(groups)])[z])
    train = slice(0, max(500 * groups, 10_000))
    plain = learner.fit(X[train], y[train])
    made = {"plain predict_proba": lambda: plain.predict_proba(X)}
    for pool in pools:
        fitted = cape(learner, pool, cv=3).fit(
            X[train], y[train], sensitive_features=z[train]
        )
        label = f"{pool}{', groups as text' if text else ''}"
        made[label] = lambda fitted=fitted: fitted.predict(X, sensitive_features=z)
    if "resampled" in pools and not text:
        loop = PlainCape(learner, folds=3).fit(X[train], y[train], z[train])
        made["plain loop"] = lambda: loop.predict(X, z)
    return [
        {"part": "predict", "learner": name, "rows": n, "groups": groups, **record}
        for record in compare(made, rounds=rounds)
    ]


def memory_records(n, random):
    """The most that numpy and Python held at once beyond X, against the size of X."""
    learner = LEARNERS["logistic"]
    X, y, z = table(n, 2, random)
    train = slice(0, n // 10)
    plain = clone(learner).fit(X[train], y[train])
    made = {"plain predict_proba": lambda: plain.predict_proba(X)}
    for pool in ("threshold", "resampled"):
        fitted = cape(learner, pool, cv=3).fit(
            X[train], y[train], sensitive_features=z[train]
        )
        made[f"{pool}, predict"] = lambda fitted=fitted: fitted.predict(
            X, sensitive_features=z
        )
    made["plain fit"] = lambda: clone(learner).fit(X, y)
    made["threshold, fit"] = lambda: cape(learner, "threshold", cv=3).fit(
        X, y, sensitive_features=z
    )
    made["resampled, fit"] = lambda: cape(
        learner, "resampled", cv=3, prevalences=3
    ).fit(X, y, sensitive_features=z)
    made["plain loop, fit"] = lambda: PlainCape(learner, prevalences=3, folds=3).fit(
        X, y, z
    )
    for what, work in made.items():
        work()
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        yield {"part": "memory", "what": what, "rows": n, "times_X": peak / X.nbytes}


def growth(records):
    """Exponents of time in rows, and what 20 groups cost against 2."""
    found = []
    keys = sorted(
        {
            (r["part"], r["learner"], r["what"])
            for r in records
            if r["part"] in ("fit", "predict")
        }
    )
    for part, learner, what in keys:
        of = [
            r
            for r in records
            if (r["part"], r["learner"], r["what"]) == (part, learner, what)
        ]
        sizes = {
            r["rows"]: r["seconds"]
            for r in of
            if r["groups"] == 2 and r["rows"] >= 10_000
        }
        if len(sizes) > 1:
            found.append(
                {
                    "part": f"growth of {part}",
                    "learner": learner,
                    "what": what,
                    "exponent": exponent(list(sizes), list(sizes.values())),
                }
            )
        for r in of:
            if r["groups"] == 20 and r["rows"] in sizes:
                found.append(
                    {
                        "part": f"20 groups against 2, {part}",
                        "learner": learner,
                        "what": what,
                        "rows": r["rows"],
                        "ratio": r["seconds"] / sizes[r["rows"]],
                    }
                )
    return found


def growth_in_k(name, n, random, *, rounds):
    """Training of the resampled pool with 5, 10 and 20 prevalences."""
    learner = LEARNERS[name]
    X, y, z = table(n, 2, random)
    made = {
        f"k={k}": lambda k=k: cape(learner, "resampled", prevalences=k, cv=5).fit(
            X, y, sensitive_features=z
        )
        for k in (5, 10, 20)
    }
    return [
        {"part": "fit by k", "learner": name, "rows": n, "groups": 2, **r}
        for r in compare(made, rounds=rounds)
    ]
