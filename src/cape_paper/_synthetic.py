"""The paper's synthetic experiment: every pair of test prevalences, and Theorem 3.

In training both groups have a prevalence of 0.5. Test batches are drawn at every pair
of prevalences, 81 by default. The paper's Table 1 shows three of them, its figure the
nine in which group 0 stays at 0.5.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape_paper._cells import Cell, Results, run_cells, run_facts
from cape_paper._comparison import check_choice, mean_and_sd, result_row
from cape_paper._methods import METHODS, make_method
from cape_paper._problem import published

METHODS_COMPARED = ("CAPE-D", "CAPE default", "Max_Acc")
"""Keys of `METHODS`."""

_PREVALENCES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def run_synthetic(
    *,
    repetitions: int = 20,
    first_seed: int = 0,
    n_train: int = 50_000,
    n_test: int = 10_000,
    prevalences: Sequence[float] = _PREVALENCES,
    also: Sequence[str] = (),
    **running: Any,
) -> Results:
    """Train at prevalence 0.5 in both groups, and judge at all pairs of prevalences.

    Parameters
    ----------
    repetitions : int, default=20
        Number of repetitions; each draws training and test data of its own.
    first_seed : int, default=0
        The first of the seeds.
    n_train : int, default=50_000
        Number of training rows, the paper's.
    n_test : int, default=10_000
        Number of rows of a test batch; the paper does not say.
    prevalences : sequence of float, default=(0.1, ..., 0.9)
        Test prevalences; all pairs of them are judged.
    also : sequence of str, default=()
        Keys of `METHODS` that are judged beside ``METHODS_COMPARED``.
    **running
        ``folder``, ``n_jobs`` and ``on_step``, as in `compare_methods`.

    Returns
    -------
    dict
        As JSON can hold it: ``pairs`` (mean and standard deviation of each method at
        each pair), ``theorem`` (deltas, bounds and PD), ``printed``, and the facts of
        the run.

    Raises
    ------
    ValueError
        If ``also`` has a name that is no key of `METHODS`.
    RuntimeError
        If a repetition fails.

    Examples
    --------
    >>> results = run_synthetic(
    ...     repetitions=1, n_train=2000, n_test=1000, prevalences=(0.2, 0.8)
    ... )
    >>> [(pair["rho_0"], pair["rho_1"]) for pair in results["pairs"]]
    [(0.2, 0.2), (0.2, 0.8), (0.8, 0.2), (0.8, 0.8)]
    """
    for name in also:
        check_choice("also", name, METHODS)
    # Each method once, in the order in which tables have them.
    names = list(dict.fromkeys([*METHODS_COMPARED, *also]))
    start = time.monotonic()
    # Floats of Python, which JSON can hold: prevalences may come from numpy.
    pairs = list(product(map(float, prevalences), repeat=2))
    cells = []
    for seed in range(first_seed, first_seed + repetitions):
        arguments = (seed, n_train, n_test, pairs, names)
        cells.append(Cell(f"repetition {seed}", _repetition, arguments))
    finished = run_cells(cells, **running)
    for repetition in finished:
        # A mean over the others would not be the experiment that was asked for.
        if "error" in repetition:
            raise RuntimeError(f"a repetition failed: {repetition['error']}")
    results: Results = {
        "experiment": "synthetic",
        "title": "Synthetic data",
        "repetitions": repetitions,
        "first_seed": first_seed,
        "n_train": n_train,
        "n_test": n_test,
        "learner": repr(_learner()),
        "pairs": [],
        "theorem": [],
        "printed": published()["table_synthetic"],
    }
    for place, (rho_0, rho_1) in enumerate(pairs):
        at_pair = [repetition["pairs"][place] for repetition in finished]
        methods = {}
        for name in names:
            mean, sd = mean_and_sd([rows[name] for rows in at_pair])
            methods[name] = {"mean": mean, "sd": sd}
        results["pairs"].append({"rho_0": rho_0, "rho_1": rho_1, "methods": methods})
        means = []
        for z in (0, 1):
            of_group = [repetition["theorem"][place][z] for repetition in finished]
            mean, _ = mean_and_sd(of_group)
            means.append(mean)
        results["theorem"].append({"rho_0": rho_0, "rho_1": rho_1, "mean": means})
    return {**results, **run_facts(start, finished)}


def _learner() -> LogisticRegression:
    """Make the paper's "generalized logistic regression with regularization".

    The paper names no strength; scikit-learn's L2 penalty has its default.
    """
    return LogisticRegression()


def _repetition(
    seed: int,
    n_train: int,
    n_test: int,
    pairs: list[tuple[float, float]],
    names: list[str],
) -> Results:
    """Train all methods once, and judge them at every pair of prevalences.

    Returns
    -------
    dict
        ``pairs``, rows by method at every pair, and ``theorem``, the deltas, bounds and
        PD of both groups at every pair.
    """
    train = make_synthetic(n_train, random_state=seed)
    z = train.sensitive_features
    methods: dict[str, Any] = {}
    for name in names:
        method = make_method(name, _learner(), seed=seed)
        methods[name] = method.fit(train.data, train.target, sensitive_features=z)
    judged = []
    theorem = []
    for place, pair in enumerate(pairs):
        # No seed of any test set is that of a training set.
        test_seed = (1 + seed) * 1000 + place
        test = make_synthetic(n_test, prevalences=pair, random_state=test_seed)
        z = test.sensitive_features
        rows = {}
        # All methods predict the same rows, so differences are not due to the draw.
        for name, method in methods.items():
            y_pred = method.predict(test.data, sensitive_features=z)
            rows[name] = result_row(test.target, y_pred, z, (0, 1))
        judged.append(rows)
        theorem.append(_theorem_at_work(methods["CAPE-D"], test))
    return {"pairs": judged, "theorem": theorem}


def _theorem_at_work(clf: CapeClassifier, test: Any) -> list[dict[str, float]]:
    """Compare PD of every group with the bound of Theorem 3 and with ours.

    Theorem 3 bounds PD by delta_1 + delta_2 + eps / 2: the error of the quantifier, the
    greatest error of a member, and half the distance of the members. The deltas need
    labels; our bound, from the interval of the estimate, does not.
    """
    z = test.sensitive_features
    adaptation = clf.adapt(test.data, sensitive_features=z)
    groups = []
    for group, adapted in adaptation.groups.items():
        situation = adaptation.situations[group]
        rho = float(np.mean(test.target[z == group]))
        pd = abs(rho - adapted.predicted_prevalence)
        # delta_1 and delta_2 as in Theorem 3; rho-hat of every member is observed.
        delta_1 = abs(rho - adapted.estimate.value)
        errors = np.abs(situation.thetas - situation.predicted_prevalences)
        delta_2 = float(errors.max())
        # eps / 2 with eps = 1 / k, k the number of members.
        bound = delta_1 + delta_2 + 1 / (2 * len(situation.thetas))
        groups.append(
            {
                "delta_1": delta_1,
                "delta_2": delta_2,
                "theorem_3": bound,
                "our_bound": adapted.pd_bound,
                "pd": pd,
                # Numbers, so that their mean is the share of repetitions.
                "within_theorem_3": float(pd <= bound),
                "within_our_bound": float(pd <= adapted.pd_bound),
            }
        )
    return groups
