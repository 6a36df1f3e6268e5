"""PD and PE of a stream against the size of its window, from one row (CAPE-1) to the whole set."""

from __future__ import annotations

import warnings

import numpy as np
from clock import compare
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.metrics import prevalence_difference, proportional_equality
from cape.stream import RollingCape


def synthetic(seed, rows):
    train = make_synthetic(4000, random_state=seed)
    new = make_synthetic(rows, prevalences=(0.2, 0.8), random_state=1000 + seed)
    return (
        (
            train.data.to_numpy(),
            train.target.to_numpy(),
            train.sensitive_features.to_numpy(),
        ),
        (new.data.to_numpy(), new.target.to_numpy(), new.sensitive_features.to_numpy()),
    )


def compas(seed, rows):
    """COMPAS, 2013 to 2014, when its file is at hand; None otherwise."""
    try:
        from cape.datasets import fetch_compas

        found = [fetch_compas(subset=subset) for subset in ("train", "test")]
    except Exception as error:  # no file and no network: said, and the rest goes on
        print("COMPAS left out:", error)
        return None
    parts = []
    for bunch in found:
        order = np.random.RandomState(seed).permutation(len(bunch.target))
        X = bunch.data.iloc[order].to_numpy(dtype=float)
        parts.append(
            (
                X,
                np.asarray(bunch.target)[order],
                np.asarray(bunch.sensitive_features)[order],
            )
        )
    return parts


def window_sizes(n):
    return [size for size in (1, 3, 10, 30, 100, 300, 1000, 3000) if size < n] + [n]


def stream_records(*, rows, rounds):
    """Microseconds a row: one plain ``predict_proba`` of a row; a stream fed row by row; a stream fed a lot at once."""
    (X, y, z), (X_new, _, z_new) = synthetic(0, rows)
    learner = LogisticRegression().fit(X, y)
    made = {
        "plain predict_proba, row by row": lambda: [
            learner.predict_proba(X_new[i : i + 1]) for i in range(rows)
        ]
    }
    for pool in ("threshold", "resampled"):
        clf = CapeClassifier(LogisticRegression(), pool=pool, random_state=0, cv=5).fit(
            X, y, sensitive_features=z
        )
        made[f"{pool}, row by row"] = lambda clf=clf: _one_by_one(
            RollingCape(clf, 1000), X_new, z_new
        )
        made[f"{pool}, in one lot"] = lambda clf=clf: RollingCape(clf, 1000).predict(
            X_new, sensitive_features=z_new
        )
    return [
        {
            "part": "stream, window of 1000",
            "what": record["what"],
            "rows": rows,
            "microseconds_a_row": record["seconds"] / rows * 1e6,
            "ratio": record["ratio"],
            "rounds": rounds,
        }
        for record in compare(made, rounds=rounds)
    ]


def _one_by_one(rolling, X, z):
    for i in range(len(X)):
        rolling.predict(X[i : i + 1], sensitive_features=z[i : i + 1])


def windows(name, make, *, rows, seeds):
    """Mean and standard deviation over seeds of PD (mean of the groups) and PE (worst pair) for each window."""
    found: dict[int, list[tuple[float, float]]] = {}
    for seed in range(seeds):
        parts = make(seed, rows)
        if parts is None:
            return []
        (X, y, z), (X_new, y_new, z_new) = parts
        clf = CapeClassifier(LogisticRegression(max_iter=1000), random_state=seed, cv=5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(X, y, sensitive_features=z)
            for size in window_sizes(len(X_new)):
                y_pred = RollingCape(clf, size).predict(X_new, sensitive_features=z_new)
                pd = np.mean(
                    [
                        prevalence_difference(y_new[z_new == g], y_pred[z_new == g])
                        for g in np.unique(z_new)
                    ]
                )
                pe = proportional_equality(y_new, y_pred, sensitive_features=z_new)
                found.setdefault(size, []).append((float(pd), float(pe)))
            whole = clf.predict(X_new, sensitive_features=z_new)
            pd = np.mean(
                [
                    prevalence_difference(y_new[z_new == g], whole[z_new == g])
                    for g in np.unique(z_new)
                ]
            )
            found.setdefault(0, []).append(
                (
                    float(pd),
                    float(
                        proportional_equality(y_new, whole, sensitive_features=z_new)
                    ),
                )
            )
    return [
        {
            "part": "window",
            "data": name,
            "window": "batch (CAPE-D)" if size == 0 else size,
            "pd": float(np.mean([pd for pd, _ in values])),
            "pd_sd": float(np.std([pd for pd, _ in values])),
            "pe": float(np.nanmean([pe for _, pe in values])),
            "pe_sd": float(np.nanstd([pe for _, pe in values])),
            "seeds": seeds,
        }
        for size, values in found.items()
    ]
