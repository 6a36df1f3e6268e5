"""CAPE on real shifts over time, where more than the prevalences has moved.

The work is cut into cells, one for each case, configuration and seed. Labels of the
rows that a model is used on serve to judge it, and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from cape._learners import columns_to_encode, seeded_clone, tabular
from cape.adaptation import GroupAdaptation
from cape.classifier import CapeClassifier
from cape_paper._cells import Cell, OnStep, run_cells
from cape_paper._comparison import run_facts
from cape_paper._peers import make_method
from cape_paper._problem import Problem
from cape_paper._rows import Results, Row, mean_and_sd, result_row
from cape_paper._shift_cases import NOT_IDENTIFIED, load_cases
from cape_paper._shift_summary import MARGIN, summarise

__all__ = ["CONFIGURATIONS", "run_shifts"]

CONFIGURATIONS = {
    "CAPE": CapeClassifier(),
    "ignore": CapeClassifier(drift="ignore"),
    "paper": CapeClassifier.paper(),
}
"""What is judged, by its name in the tables, which show the interval of the first."""

_NOTES = (
    "These shifts happened, and nobody promised that only the prevalences moved. Of "
    "COMPAS (screened in 2013, used in 2014) and of MEPS (one year, and a later one) "
    "there are several groupings and pairs of years. bank has the first 60 % of a "
    "bank's calls, and the last 20 %.",
    "Most of the shift of COMPAS is one of the file, not of people: of those screened "
    "from 1 April 2014 on, it holds hardly anybody who did not re-offend.",
    "Without labels nobody can be right about two cases, and summaries are given with "
    "and without them. In bank the scores hardly tell the classes apart, and other "
    "people were called. In meps-12-13 hardly a column moved, and yet the share of "
    "positives did.",
    "In meps-14-15 the years of education are missing for 99 % of the people of 2014, "
    "and for half of those of 2015.",
    "CAPE has its default parameters; ignore is CAPE with drift ignored, and paper is "
    "the paper's configuration, which ignores drift, too. Doing nothing keeps the "
    "training prevalence. The mean score (PCC) is that of CAPE's learner. Max_Acc is "
    "one classifier on all rows, the group among its features, with CAPE's learner. PE "
    "is that of the worst ordered pair of groups.",
    "Summaries are over cells of case and group: the mean and the 90th percentile of "
    "the distance between estimate and truth, the share of 95 % intervals that hold "
    "the truth and their mean width, mean PD, median PE, and in how many cells PD is "
    f"worse than that of Max_Acc with the same learner by more than {MARGIN}.",
)


def run_shifts(
    cases: Sequence[str] | None = None,
    *,
    seeds: int = 3,
    data_home: Any = None,
    folder: Path | None = None,
    n_jobs: int | None = None,
    on_step: OnStep = lambda name, done, total: None,
) -> Results:
    """Train on the earlier rows of real data, and judge on the later ones.

    Cases whose files have no public address are skipped if the folder of data lacks
    them.

    Parameters
    ----------
    cases : sequence of str, default=None
        Names such as "compas", "meps-13-14" or "bank"; None means all. A case
        that is named must be there.
    seeds : int, default=3
        Repetitions; the rows stay the same.
    data_home : str or Path, default=None
        Folder of the data; see `cape.datasets.fetch_compas`.
    folder, n_jobs, on_step
        Where finished cells are kept, how many run at the same time, and what is called
        after each; see `compare_methods`.

    Returns
    -------
    dict
        As JSON can hold it: ``shifts``, an entry for each case and group; ``summary``,
        errors, intervals, PD and PE over all of them; ``skipped``, why cases are
        missing; and the facts of the run.

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
    start = time.monotonic()
    loaded = load_cases(cases, data_home)
    cells = []
    for problem in loaded.problems:
        for name, configuration in CONFIGURATIONS.items():
            cells += _cells(problem, name, configuration, seeds)
    finished = run_cells(cells, folder, n_jobs=n_jobs, on_step=on_step)
    shifts = _entries(loaded.problems, seeds, finished)
    return {
        "experiment": "shifts",
        "title": "Real shifts over time",
        "notes": list(_NOTES),
        "seeds": seeds,
        "configurations": list(CONFIGURATIONS),
        "shifts": shifts,
        "summary": summarise(shifts, list(CONFIGURATIONS), NOT_IDENTIFIED),
        "skipped": loaded.skipped,
        "failed": _failures(cells, finished),
        **run_facts(start, finished),
    }


def _cells(
    problem: Problem, name: str, configuration: CapeClassifier, seeds: int
) -> list[Cell]:
    """Make a cell for each seed of one configuration on one case."""
    # Every parameter, since `repr` leaves out those that have their default value: a
    # result must not be used once a default has changed.
    parameters = configuration.get_params(deep=False)
    key = {
        "cell": "shift",
        "case": problem.name,
        "data": problem.digest(),
        "groups": problem.groups,
        "parameters": repr(sorted(parameters.items())),
    }
    cells = []
    for seed in range(seeds):
        work = partial(_judge, problem, configuration, seed)
        title = f"{problem.name} {name} {seed}"
        cells.append(Cell(title, {**key, "seed": seed}, work))
    return cells


def _judge(problem: Problem, configuration: CapeClassifier, seed: int) -> Results:
    """Train one configuration and its Max_Acc with one seed, and judge both.

    Returns
    -------
    dict
        ``groups``, a row for each group in the order of the problem, and ``verdicts``,
        what the configuration itself says of each.
    """
    clf = _classifier(problem, configuration, seed)
    clf.fit(problem.X_train, problem.y_train, sensitive_features=problem.z_train)
    X_test = problem.X_test
    z_test = problem.z_test
    adaptation = clf.adapt(X_test, sensitive_features=z_test)
    y_pred = clf.predict(X_test, sensitive_features=z_test, adaptation=adaptation)
    of_cape = result_row(problem.y_test, y_pred, z_test, problem.groups)
    of_max_acc = _max_acc_row(problem, clf.estimator_, seed)
    rows = []
    verdicts = []
    for z, group in enumerate(problem.groups):
        adapted = adaptation.groups[group]
        truth = float(np.mean(problem.y_test[z_test == group]))
        row = _estimate_row(adapted, truth)
        row["pd"] = of_cape[f"pd_{z}"]
        row["pe"] = of_cape["pe"]
        row["max_acc_pd"] = of_max_acc[f"pd_{z}"]
        row["max_acc_pe"] = of_max_acc["pe"]
        rows.append(row)
        verdicts.append(adapted.verdict)
    return {"groups": rows, "verdicts": verdicts}


def _classifier(
    problem: Problem, configuration: CapeClassifier, seed: int
) -> CapeClassifier:
    """Clone a configuration, with encoders if its learner cannot read the rows."""
    clf = clone(configuration).set_params(random_state=seed)
    to_encode = columns_to_encode(problem.X_train)
    # The default learner is given encoders by the classifier itself.
    if to_encode and clf.estimator is not None:
        clf.set_params(estimator=tabular(clf.estimator, to_encode))
    return clf


def _max_acc_row(problem: Problem, learner: Any, seed: int) -> Row:
    """Train Max_Acc with the learner of the configuration, and judge it."""
    max_acc = make_method("Max_Acc", seeded_clone(learner, seed))
    max_acc.fit(problem.X_train, problem.y_train, sensitive_features=problem.z_train)
    y_pred = max_acc.predict(problem.X_test, sensitive_features=problem.z_test)
    return result_row(problem.y_test, y_pred, problem.z_test, problem.groups)


def _estimate_row(adapted: GroupAdaptation, truth: float) -> Row:
    """Compare the estimate of a group and its interval with the truth."""
    return {
        "estimate": adapted.estimate,
        "low": adapted.low,
        "high": adapted.high,
        "width": adapted.high - adapted.low,
        "error": abs(adapted.estimate - truth),
        # A number, so that its mean is the share of seeds.
        "holds": float(adapted.low <= truth <= adapted.high),
        "mean_score": adapted.mean_score,
    }


def _entries(
    problems: list[Problem], seeds: int, finished: list[Results]
) -> list[Results]:
    """Make an entry for each case and group from the cells, which are in order."""
    remaining = iter(finished)
    entries = []
    for problem in problems:
        cells_of = {}
        for name in CONFIGURATIONS:
            cells_of[name] = [next(remaining) for _ in range(seeds)]
        for z, counts in enumerate(problem.counts()):
            entry: Results = {"case": problem.name, **counts}
            for name, cells in cells_of.items():
                entry[name] = _mean_row(cells, z)
            entries.append(entry)
    return entries


def _mean_row(cells: list[Results], z: int) -> Results | None:
    """Average the rows of a group over seeds; None if any seed failed."""
    # A mean over the seeds that did not fail would flatter the configuration.
    if any("error" in cell for cell in cells):
        return None
    rows = [cell["groups"][z] for cell in cells]
    verdicts = {cell["verdicts"][z] for cell in cells}
    return {**mean_and_sd(rows).mean, "verdict": ", ".join(sorted(verdicts))}


def _failures(cells: list[Cell], finished: list[Results]) -> list[str]:
    """List the cells that failed, with the reason."""
    failures = []
    for cell, result in zip(cells, finished, strict=True):
        if "error" in result:
            failures.append(f"{cell.name} failed: {result['error']}")
    return failures
