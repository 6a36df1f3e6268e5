"""The paper's synthetic experiment: every pair of test prevalences, and Theorem 3 at work."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from cape.classifier import CapeClassifier
from cape.compare import make_method
from cape.datasets import make_synthetic
from cape.experiments._cells import Cell, OnStep, run_cells
from cape.experiments._comparison import run_facts
from cape.experiments._published import published
from cape.experiments._reasons import SYNTHETIC
from cape.experiments._rows import mean_and_sd, result_row
from cape.experiments._verdicts import synthetic_verdicts

__all__ = ["METHODS_COMPARED", "run_synthetic"]

METHODS_COMPARED = ("CAPE-D", "CAPE threshold", "Max_Acc")
_GRID = tuple(round(0.1 * i, 1) for i in range(1, 10))
_PAPERS_NAMES = {"CAPE-D": "CAPE", "Max_Acc": "Max_Acc"}


def run_synthetic(
    *,
    repetitions: int = 20,
    n_train: int = 50_000,
    n_test: int = 10_000,
    prevalences: Sequence[float] = _GRID,
    folder: Path | None = None,
    n_jobs: int | None = None,
    on_step: OnStep = lambda name, done, total: None,
) -> dict[str, Any]:
    """Train where both groups have prevalence 0.5, and judge at every pair of prevalences.

    Parameters
    ----------
    repetitions : int, default=20
        Each draws its own training and test data.
    n_train : int, default=50_000
        The paper's.
    n_test : int, default=10_000
        Rows of a test batch; the paper does not say.
    prevalences : sequence of float, default=(0.1, ..., 0.9)
        Of which all pairs are tried.
    folder : Path, default=None
        Where finished repetitions are kept; a second run takes them from there.
    n_jobs : int or None, default=None
    on_step : callable, optional
        Told the name of each finished repetition, how many are done and how many there are.

    Returns
    -------
    dict
        As JSON can hold it: ``pairs`` (mean and sd of each method at each pair), ``theorem`` (deltas, bounds and PD),
        ``printed``, ``verdicts``, ``reasons`` and the facts of the run.

    Examples
    --------
    >>> found = run_synthetic(repetitions=1, n_train=2000, n_test=1000, prevalences=(0.2, 0.8))
    >>> [(pair["rho_0"], pair["rho_1"]) for pair in found["pairs"]]
    [(0.2, 0.2), (0.2, 0.8), (0.8, 0.2), (0.8, 0.8)]
    """
    start = time.monotonic()
    pairs = [(float(a), float(b)) for a, b in product(prevalences, repeat=2)]
    shared = {
        "cell": "synthetic",
        "n_train": n_train,
        "n_test": n_test,
        "pairs": pairs,
        "methods": METHODS_COMPARED,
    }
    cells = [
        Cell(
            f"repetition {seed}",
            {**shared, "seed": seed},
            partial(_repetition, seed, n_train, n_test, pairs),
        )
        for seed in range(repetitions)
    ]
    found = run_cells(cells, folder, n_jobs=n_jobs, on_step=on_step)
    if errors := [cell["error"] for cell in found if "error" in cell]:
        raise RuntimeError(f"a repetition failed: {errors[0]}")
    results = {
        "experiment": "synthetic",
        "title": "Synthetic data",
        "repetitions": repetitions,
        "n_train": n_train,
        "n_test": n_test,
        "learner": repr(_learner()),
        "pairs": [
            _mean_pair(pair, [cell["pairs"][i] for cell in found])
            for i, pair in enumerate(pairs)
        ],
        "theorem": [
            _mean_theorem(pair, [cell["theorem"][i] for cell in found])
            for i, pair in enumerate(pairs)
        ],
        "printed": published()["table_synthetic"],
        "reasons": SYNTHETIC,
    }
    return {
        **results,
        "verdicts": synthetic_verdicts(results),
        **run_facts(start, found),
    }


def _learner() -> LogisticRegression:
    """The paper's "generalized logistic regression with regularization": an L2 penalty, scikit-learn's own strength."""
    return LogisticRegression()


def _repetition(
    seed: int, n_train: int, n_test: int, pairs: list[tuple[float, float]]
) -> dict[str, Any]:
    train = make_synthetic(n_train, random_state=seed)
    methods: dict[str, Any] = {
        name: make_method(name, _learner(), seed=seed) for name in METHODS_COMPARED
    }
    for method in methods.values():
        method.fit(
            train.data, train.target, sensitive_features=train.sensitive_features
        )
    rows, theorem = [], []
    for i, pair in enumerate(pairs):
        test = make_synthetic(
            n_test, prevalences=pair, random_state=(1 + seed) * 1000 + i
        )
        X, y, z = test.data, test.target, test.sensitive_features
        predicted = {
            name: method.predict(X, sensitive_features=z)
            for name, method in methods.items()
        }
        rows.append(
            {
                name: result_row(y, y_pred, z, (0, 1))
                for name, y_pred in predicted.items()
            }
        )
        theorem.append(_theorem_at_work(methods["CAPE-D"], X, y, z))
    return {"pairs": rows, "theorem": theorem}


def _theorem_at_work(
    clf: CapeClassifier, X: Any, y: Any, z: Any
) -> list[dict[str, float]]:
    """For each group delta_1, delta_2, Theorem 3's bound on PD, ours, and PD itself."""
    evidence = clf.evidence(X, sensitive_features=z)
    found = clf.adapt(evidence=evidence)
    groups = []
    for group, adapted in found.groups.items():
        pool = clf.models_[group].pool
        rho = float(np.mean(y[z == group]))
        delta_1 = abs(rho - adapted.estimate)
        delta_2 = float(
            np.abs(
                pool.thetas - pool.predicted_prevalences(evidence.groups[group])
            ).max()
        )
        half_width = 1 / (2 * len(pool.thetas))  # eps / 2
        groups.append(
            {
                "delta_1": delta_1,
                "delta_2": delta_2,
                "theorem_3": delta_1 + delta_2 + half_width,
                "our_bound": adapted.pd_bound,
                "pd": abs(rho - adapted.predicted_prevalence),
                "within_theorem_3": float(
                    abs(rho - adapted.predicted_prevalence)
                    <= delta_1 + delta_2 + half_width
                ),
                "within_our_bound": float(
                    abs(rho - adapted.predicted_prevalence) <= adapted.pd_bound
                ),
            }
        )
    return groups


def _mean_pair(
    pair: tuple[float, float], repetitions: list[dict[str, Any]]
) -> dict[str, Any]:
    found = {}
    for name in METHODS_COMPARED:
        mean, sd = mean_and_sd([repetition[name] for repetition in repetitions])
        found[name] = {"mean": mean, "sd": sd}
    return {"rho_0": pair[0], "rho_1": pair[1], "methods": found}


def _mean_theorem(pair: tuple[float, float], repetitions: list[Any]) -> dict[str, Any]:
    groups = [
        mean_and_sd([repetition[z] for repetition in repetitions]) for z in (0, 1)
    ]
    return {
        "rho_0": pair[0],
        "rho_1": pair[1],
        "mean": [mean for mean, _ in groups],
        "sd": [sd for _, sd in groups],
    }
