"""Estimates on real shifts over time, where more than the prevalences has moved.

The work is cut into cells, one for each case and seed. Labels of the rows that a model
is used on serve to judge it; only where it says so, a method is given a hundred.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from cape import CapeClassifier, Estimate
from cape.quantify import ScoreHistogram, make_quantifier
from cape_paper._cells import Cell, Results, run_parts
from cape_paper._comparison import result_row
from cape_paper._peers import MaxAcc, seeded_clone
from cape_paper._problem import Problem, Rows, load_cases, take
from cape_paper._records import judged, mean_records

SIZES = (30, 100, 300)
"""Rows of each group in a small batch."""

N_LABELS = 100
"""Labels of each group where a method is given some."""

QUAPY = ("KDEyML", "EMQ", "PACC")
"""Quantifiers of QuaPy, with its default parameters."""

_KDE_SCORES = 2000
"""Scores of a class, or of a batch, from which on KDEy is given a part of them."""


def run_shifts(
    cases: Sequence[str] | None = None,
    *,
    seeds: int = 1,
    draws: int = 10,
    first_seed: int = 0,
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
    first_seed : int, default=0
        The first of the seeds.
    data_home : str or Path, default=None
        Folder of the data; see `cape.datasets.fetch_compas`.
    **running
        ``folder``, ``n_jobs`` and ``on_step``, as in `compare_methods`.

    Returns
    -------
    dict
        As JSON can hold it: ``shifts``, shares of each case and group; ``records``,
        mean errors and intervals by case, group, size of the batch, verdict and method;
        ``decisions``, PD and PE; ``skipped``, why cases are missing; ``failed``, the
        cells that failed; and the facts of the run.

    Raises
    ------
    ValueError
        If a case is unknown.
    OSError
        If a file cannot be downloaded, is not the expected one, or belongs to a case
        that was named and is not there.

    Examples
    --------
    >>> results = run_shifts(["compas"], seeds=1)  # doctest: +SKIP
    >>> [entry["group"] for entry in results["shifts"]]  # doctest: +SKIP
    ['Caucasian', 'African-American']
    """
    problems, skipped = load_cases(cases, data_home)
    cells = []
    for problem in problems:
        for seed in range(first_seed, first_seed + seeds):
            arguments = (problem, seed, draws)
            cells.append(Cell(f"{problem.name} {seed}", _judge, arguments))
    run = run_parts(cells, ["records", "decisions"], **running)
    shifts = []
    for problem in problems:
        for counts in problem.counts():
            shifts.append({"case": problem.name, **counts})
    keys = ["case", "group", "size", "verdict", "method"]
    return {
        **run,
        "experiment": "shifts",
        "title": "Real shifts over time",
        "seeds": seeds,
        "draws": draws,
        "first_seed": first_seed,
        "shifts": shifts,
        "records": mean_records(run["records"], keys),
        "decisions": mean_records(run["decisions"], ["case", "group", "method"]),
        "skipped": skipped,
    }


def quapy_estimates(model: Any, scores: ScoreHistogram) -> dict[str, float]:
    """Estimate the share of a batch by QuaPy, from the same scores.

    Parameters
    ----------
    model : GroupModel
        Has the histograms of the out-of-fold scores of both classes.
    scores : ScoreHistogram
        Scores of the batch.

    Returns
    -------
    dict from str to float
        By the names of ``QUAPY``.
    """
    from quapy.method import aggregative

    estimates = {}
    for name in QUAPY:
        # KDEy compares all scores of the batch with all those of training.
        most = _KDE_SCORES if name == "KDEyML" else None
        quantifier = make_quantifier(getattr(aggregative, name)())
        quantifier.fit(
            with_rows(model.positives, most), with_rows(model.negatives, most)
        )
        estimates[name] = quantifier.estimate(with_rows(scores, most))
    return estimates


def with_rows(histogram: ScoreHistogram, most: int | None = None) -> ScoreHistogram:
    """Return a histogram that keeps its scores: the mean of its cell for each.

    A thousand cells and more tell scores to three digits.
    """
    counts = histogram.counts
    means = histogram.sums // np.maximum(counts, 1)
    scores = np.repeat(means, counts)
    if most is not None and len(scores) > most:
        evenly = (np.arange(most) + 0.5) * len(scores) / most
        scores = scores[evenly.astype(int)]
    return ScoreHistogram.of(scores, histogram.edges, keep_rows=True)


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
    records = []
    with warnings.catch_warnings():
        # Verdicts are recorded.
        warnings.simplefilter("ignore")
        for size, batch in _batches(problem, seed, draws):
            for record in _judge_batch(clf, paper, problem, batch):
                records.append({"case": problem.name, "size": size, **record})
        for record in _judge_with_labels(clf, problem, seed, draws):
            records.append({"case": problem.name, "size": "all", **record})
        max_acc = MaxAcc(seeded_clone(clf.estimator_, seed))
        max_acc.fit(X, y, sensitive_features=z)
        methods = {"CAPE": clf, "paper": paper, "Max_Acc": max_acc}
        decisions = _judge_decisions(methods, problem)
    return {"records": records, "decisions": decisions}


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
    clf: CapeClassifier, paper: CapeClassifier, problem: Problem, batch: Rows
) -> Iterator[Results]:
    """Judge the estimates of all methods in each group of a batch."""
    X, y, z = batch
    evidence = clf.evidence(X, sensitive_features=z)
    adaptation = clf.adapt(evidence=evidence)
    of_paper = paper.adapt(X, sensitive_features=z)
    for group in problem.groups:
        truth = float(np.mean(y[z == group]))
        adapted = adaptation.groups[group]
        estimates: dict[str, Any] = {
            "CAPE": adapted.estimate,
            "paper": of_paper.groups[group].estimate,
            "one-step": adapted.quantifier_estimate,
            "mean score": adapted.mean_score,
            "last year's share": adapted.training_prevalence,
            **quapy_estimates(clf.models_[group], evidence.groups[group].scores),
        }
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
            record = {"case": problem.name, "group": group, "method": name}
            values = {"pd": row[f"pd_{place}"], "accuracy": row[f"accuracy_{place}"]}
            # An undefined PE is left out, and shown as undefined.
            if row["pe"] is not None:
                values["pe"] = row["pe"]
            records.append({**record, **values})
    return records
