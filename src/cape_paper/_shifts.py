"""Estimates on real shifts over time, where more than the prevalences has moved.

The work is cut into cells, one for each case and seed. Labels of the rows that a model
is used on serve to judge it; only where it says so, a method is given a hundred.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from cape import CapeClassifier, Estimate
from cape_paper._cells import Results, judged, mean_records
from cape_paper._comparison import result_row
from cape_paper._peers import MaxAcc, seeded_clone
from cape_paper._problem import Problem, Rows, run_cases, take
from cape_paper._quantifiers import fit_quapy

SIZES = (30, 100, 300)
"""Rows of each group in a small batch."""

N_LABELS = 100
"""Labels of each group where a method is given some."""

# KDEy compares all scores of a batch with all those of training, so it is given some.
QUAPY = {"KDEyML": 2000, "EMQ": None, "PACC": None}
"""Quantifiers of QuaPy, and how many scores of a class or batch they are given."""


def run_shifts(
    cases: Sequence[str] | None = None,
    *,
    seeds: int = 1,
    draws: int = 10,
    data_home: Any = None,
    **running: Any,
) -> Results:
    """Train on the earlier rows of real data, and judge on the later ones.

    Cases whose files have no public address are skipped if the folder of data lacks
    them.

    Parameters
    ----------
    cases : sequence of str, default=None
        Names such as "compas", "meps-13-14" or "bank"; None means all. A case
        that is named must be there.
    seeds : int, default=1
        Repetitions of training.
    draws : int, default=10
        Batches of each size, and draws of labels, for each seed.
    data_home : str or Path, default=None
        Folder of the data; see `cape.datasets.fetch_compas`.
    **running
        ``folder`` and ``n_jobs``, as in `compare_methods`.

    Returns
    -------
    dict
        As JSON can hold it: ``shifts``, shares of each case and group; ``records``,
        mean errors and intervals by case, group, size of the batch, verdict and method;
        ``decisions``, PD and PE; ``skipped``, why cases are missing; and the facts of
        the run.

    Raises
    ------
    OSError
        If a file cannot be downloaded, is not the expected one, or belongs to a case
        that was named and is not there.

    Examples
    --------
    >>> results = run_shifts(["compas"], seeds=1)  # doctest: +SKIP
    >>> [entry["group"] for entry in results["shifts"]]  # doctest: +SKIP
    ['Caucasian', 'African-American']
    """
    run = run_cases(_judge, cases, seeds, draws, data_home=data_home, **running)
    return {
        **run,
        "experiment": "shifts",
        "title": "Real shifts over time",
        "settings": {"seeds": seeds, "batches of each size": draws},
    }


def _judge(problem: Problem, seed: int, draws: int) -> Results:
    """Train CAPE, the paper's configuration and Max_Acc, and judge all estimates.

    Returns
    -------
    dict
        ``records``, one for each batch, group and method, and ``decisions``, PD and PE
        of each group and method on all later rows.
    """
    X, y, z = problem.train
    clf = CapeClassifier(random_state=seed)
    clf.fit(X, y, sensitive_features=z)
    paper = CapeClassifier.paper(random_state=seed)
    # The default learner is given encoders by the classifier itself.
    if _needs_encoders(X):
        from skrub import tabular_pipeline

        paper.set_params(estimator=tabular_pipeline(paper.estimator))
    paper.fit(X, y, sensitive_features=z)
    quapy: dict[Any, Any] = {}
    for group in problem.groups:
        quapy[group] = {}
        for name, most in QUAPY.items():
            quapy[group][name] = fit_quapy(clf.models_[group], name, most)
    records = []
    for size, batch in _batches(problem, seed, draws):
        for record in _judge_batch(clf, paper, quapy, batch):
            records.append({"case": problem.name, "size": size, **record})
    for record in _judge_with_labels(clf, problem, seed, draws):
        records.append({"case": problem.name, "size": "all", **record})
    max_acc = MaxAcc(seeded_clone(clf.estimator_, seed))
    max_acc.fit(X, y, sensitive_features=z)
    methods = {"CAPE": clf, "paper": paper, "Max_Acc": max_acc}
    decisions = _judge_decisions(methods, problem)
    keys = ["case", "group", "size", "verdict", "method"]
    shares = [{"case": problem.name, **counts} for counts in problem.counts()]
    return {
        "shifts": shares if seed == 0 else [],
        "records": mean_records(records, keys),
        "decisions": decisions,
    }


def _needs_encoders(X: pd.DataFrame) -> bool:
    """Tell whether a plain learner could not read a column."""
    numbers = X.select_dtypes(["number", "bool"])
    return numbers.shape != X.shape or bool(numbers.isna().any(axis=None))


def _batches(problem: Problem, seed: int, draws: int) -> Iterator[tuple[str, Rows]]:
    """Yield all later rows, and small batches of them."""
    yield "all", problem.test
    random = np.random.default_rng([seed, 1])
    for size in SIZES:
        for _ in range(draws):
            yield str(size), take(problem.test, draw_of_groups(problem, size, random))


def draw_of_groups(problem: Problem, size: int, random: Any) -> np.ndarray:
    """Draw later rows of each group, as many as there are if they are fewer."""
    drawn = []
    for group in problem.groups:
        rows = np.flatnonzero(problem.test[2] == group)
        drawn.append(random.choice(rows, min(size, len(rows)), replace=False))
    return np.concatenate(drawn)


def _judge_batch(
    clf: CapeClassifier, paper: CapeClassifier, quapy: dict[Any, Any], batch: Rows
) -> Iterator[Results]:
    """Judge the estimates of all methods in each group of a batch."""
    X, y, z = batch
    evidence = clf.evidence(X, sensitive_features=z)
    adaptation = clf.adapt(evidence=evidence)
    of_paper = paper.adapt(X, sensitive_features=z)
    for group, of_group in quapy.items():
        truth = float(np.mean(y[z == group]))
        adapted = adaptation.groups[group]
        estimates: dict[str, Any] = {
            "CAPE": adapted.estimate,
            "paper": of_paper.groups[group].estimate,
            "one-step": adapted.quantifier_estimate,
            "mean score": adapted.mean_score,
            "last year's share": adapted.training_prevalence,
        }
        for name, estimate in of_group.items():
            estimates[name] = estimate(evidence.groups[group].scores)
        for method, estimate in estimates.items():
            key = {"group": group, "verdict": adapted.verdict, "method": method}
            yield {**key, **judged(estimate, truth)}


def _judge_with_labels(
    clf: CapeClassifier, problem: Problem, seed: int, draws: int
) -> Iterator[Results]:
    """Judge estimates from all later rows and a hundred labels of each group."""
    X, y, z = problem.test
    random = np.random.default_rng([seed, 2])
    for _ in range(draws):
        known = draw_of_groups(problem, N_LABELS, random)
        labels = np.full(len(y), np.nan)
        labels[known] = y[known]
        adaptation = clf.adapt(X, labels, sensitive_features=z)
        for group in problem.groups:
            truth = float(np.mean(y[z == group]))
            adapted = adaptation.groups[group]
            of_group = y[known][z.iloc[known] == group]
            test = binomtest(int(of_group.sum()), len(of_group))
            interval = test.proportion_ci(method="wilson")
            alone = Estimate(float(of_group.mean()), interval.low, interval.high)
            key = {"group": group, "verdict": adapted.verdict}
            estimates = {"CAPE, labels": adapted.estimate, "labels alone": alone}
            for method, estimate in estimates.items():
                yield {**key, "method": method, **judged(estimate, truth)}


def _judge_decisions(methods: dict[str, Any], problem: Problem) -> list[Results]:
    """Judge the decisions on all later rows; PE is that of the worst ordered pair."""
    X, y, z = problem.test
    records = []
    for name, method in methods.items():
        row = result_row(y, method.predict(X, sensitive_features=z), z, problem.groups)
        for place, group in enumerate(problem.groups):
            key = {"case": problem.name, "group": group, "method": name}
            records.append({**key, "pd": row[f"pd_{place}"], "pe": row["pe"]})
    return records
