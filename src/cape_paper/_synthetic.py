"""The paper's synthetic experiment: every pair of test prevalences, and Theorem 3.

In training both groups have a prevalence of 0.5. Test batches are drawn at every pair
of prevalences, 81 by default. The paper's Table 1 shows three of them, its figure the
nine in which group 0 stays at 0.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape_paper._cells import Cell, Results, run_cells
from cape_paper._comparison import result_row
from cape_paper._methods import make_method
from cape_paper._problem import published

METHODS_COMPARED = ("CAPE-D", "CAPE default", "Max_Acc")
"""Keys of `METHODS`."""

# The paper: "generalized logistic regression with regularization", of any strength.
_LEARNER = LogisticRegression()
_PREVALENCES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def run_synthetic(
    *,
    seeds: int = 10,
    rows: int = 50_000,
    test_rows: int = 10_000,
    prevalences: Sequence[float] = _PREVALENCES,
    **running: Any,
) -> Results:
    """Train at prevalence 0.5 in both groups, and judge at all pairs of prevalences.

    Parameters
    ----------
    seeds : int, default=10
        Number of repetitions; each draws training and test data of its own.
    rows : int, default=50_000
        Number of training rows, the paper's.
    test_rows : int, default=10_000
        Number of rows of a test batch; the paper does not say.
    prevalences : sequence of float, default=(0.1, ..., 0.9)
        Test prevalences; all pairs of them are judged.
    **running
        ``folder`` and ``n_jobs``, as in `compare_methods`.

    Returns
    -------
    dict
        As JSON can hold it: ``rows`` (of each method, pair and seed), ``theorem``
        (deltas, bounds and PD of group 1), ``printed``, and the facts of the run.

    Raises
    ------
    RuntimeError
        If a repetition fails.

    Examples
    --------
    >>> results = run_synthetic(seeds=1, rows=2000, test_rows=1000, prevalences=(0.2,))
    >>> [(row["rho_0"], row["rho_1"], row["method"]) for row in results["rows"]]
    [(0.2, 0.2, 'CAPE-D'), (0.2, 0.2, 'CAPE default'), (0.2, 0.2, 'Max_Acc')]
    """
    # Floats of Python, which JSON can hold: prevalences may come from numpy.
    pairs = list(product(map(float, prevalences), repeat=2))
    cells = []
    for seed in range(seeds):
        arguments = (seed, rows, test_rows, pairs)
        cells.append(Cell(f"repetition {seed}", _repetition, arguments))
    run = run_cells(cells, **running)
    # A mean over the others would not be the experiment that was asked for.
    if run["failed"]:
        raise RuntimeError(f"a repetition failed: {run['failed']}")
    return {
        **run,
        "experiment": "synthetic",
        "title": "Synthetic data",
        "settings": {
            "seeds": seeds,
            "training rows": rows,
            "rows of a test batch": test_rows,
            "base learner": repr(_LEARNER),
        },
        "printed": published()["table_synthetic"],
    }


def _repetition(
    seed: int, rows: int, test_rows: int, pairs: list[tuple[float, float]]
) -> Results:
    """Train all methods once, and judge them at every pair of prevalences."""
    train = make_synthetic(rows, random_state=seed)
    z = train.sensitive_features
    methods: dict[str, Any] = {}
    for name in METHODS_COMPARED:
        method = make_method(name, _LEARNER, seed=seed)
        methods[name] = method.fit(train.data, train.target, sensitive_features=z)
    judged = []
    theorem = []
    for place, pair in enumerate(pairs):
        # No seed of any test set is that of a training set.
        test_seed = (1 + seed) * 1000 + place
        test = make_synthetic(test_rows, prevalences=pair, random_state=test_seed)
        z = test.sensitive_features
        key = {"rho_0": pair[0], "rho_1": pair[1], "seed": seed}
        # All methods predict the same rows, so differences are not due to the draw.
        for name, method in methods.items():
            y_pred = method.predict(test.data, sensitive_features=z)
            row = result_row(test.target, y_pred, z, (0, 1))
            judged.append({**key, "method": name, **row})
        theorem.append({**key, **_theorem_at_work(methods["CAPE-D"], test)})
    return {"rows": judged, "theorem": theorem}


def _theorem_at_work(clf: CapeClassifier, test: Any) -> dict[str, float]:
    """Compare PD of group 1 with the bound of Theorem 3 and with ours.

    Theorem 3 bounds PD by delta_1 + delta_2 + eps / 2: the error of the quantifier, the
    greatest error of a member, and half the distance of the members. The deltas need
    labels; our bound, from the interval of the estimate, does not.
    """
    adaptation = clf.adapt(test.data, sensitive_features=test.sensitive_features)
    adapted = adaptation.groups[1]
    situation = adaptation.situations[1]
    rho = float(np.mean(test.target[test.sensitive_features == 1]))
    pd = abs(rho - adapted.predicted_prevalence)
    # delta_1 and delta_2 as in Theorem 3; rho-hat of every member is observed.
    delta_1 = abs(rho - adapted.estimate.value)
    errors = np.abs(situation.thetas - situation.predicted_prevalences)
    delta_2 = float(errors.max())
    # eps / 2 with eps = 1 / k, k the number of members.
    bound = delta_1 + delta_2 + 1 / (2 * len(situation.thetas))
    return {
        "pd": pd,
        "delta_1": delta_1,
        "delta_2": delta_2,
        "theorem_3": bound,
        "our_bound": adapted.pd_bound,
        # A number, so that its mean is the share of repetitions.
        "pd_within_ours": float(pd <= adapted.pd_bound),
    }
