"""All methods on one problem: the paper's quantifier table and its results table.

The work is cut into cells: one for the tuning of the learner, one for each seed of the
quantifiers, and one for each seed of each method. The key of a cell holds all that its
numbers depend on: the rows, the learner with its parameters, the method and the seed.
"""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from cape._learners import make_learner
from cape._validation import check_choice
from cape._versions import package_versions
from cape.classifier import CapeClassifier
from cape.quantify import QUANTIFIERS, make_quantifier
from cape_paper._cells import Cell, OnStep, run_cells
from cape_paper._peers import METHODS, make_method, missing_packages
from cape_paper._problem import Problem
from cape_paper._reasons import reasons
from cape_paper._rows import PARITY, Results, mean_and_sd, result_row
from cape_paper._tuning import GRID, tune_boosting
from cape_paper._verdicts import verdicts

__all__ = ["compare_methods", "run_facts"]

_MOST_WARNINGS = 3
"""How many different warnings of a method are kept."""

_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "pandas",
    "aif360",
    "fairlearn",
    "tensorflow-cpu",
    "cape-fair",
)
"""Packages that a result can depend on."""


def compare_methods(
    problem: Problem,
    *,
    methods: Sequence[str] | None = None,
    seeds: int = 20,
    slow_seeds: int = 5,
    learner: str = "boosting",
    favourable: str = "positive",
    folder: Path | None = None,
    n_jobs: int | None = None,
    on_step: OnStep = lambda name, done, total: None,
) -> Results:
    """Train every method on the training rows, and judge it on the test rows.

    Every method gets the same base learner and the same rows; post-processors hold out
    some of the training rows. No method gets test labels. A method whose library is
    missing, or that fails, has a row that says so.

    Parameters
    ----------
    problem : Problem
        The rows.
    methods : sequence of str, default=None
        Keys of `cape_paper._peers.METHODS`; None means all.
    seeds : int, default=20
        Repetitions of methods that depend on a seed.
    slow_seeds : int, default=5
        Repetitions of methods that cost a hundred fits or more.
    learner : {"boosting", "logistic"}, default="boosting"
        Gradient boosting tuned by 10-fold cross-validation on the training rows, or
        logistic regression.
    favourable : {"positive", "negative"}, default="positive"
        The label that AIF360 is told is the favourable one.
    folder : Path, default=None
        Where finished cells are kept; a second run takes them from there.
    n_jobs : int or None, default=None
        Number of cells computed at the same time.
    on_step : callable, optional
        Called with the name of each finished cell, the number of finished cells and the
        number of all.

    Returns
    -------
    dict
        As JSON can hold it: ``data``, ``learner``, ``quantifiers``, ``rows`` (mean,
        standard deviation and printed numbers of each method), ``verdicts``,
        ``reasons`` for differences from print, and the facts of the run.

    Raises
    ------
    ValueError
        If a method, the learner or ``favourable`` is none of those accepted, or the
        learner cannot be tuned.

    Examples
    --------
    >>> from cape_paper import table_problem
    >>> problem = table_problem(train.frame, new.frame, label="y", group="z")
    >>> results = compare_methods(
    ...     problem, methods=["Always positive"], seeds=1, learner="logistic"
    ... )
    >>> round(results["rows"][0]["mean"]["pd_0"], 3)
    0.8
    """
    names = _check_methods(methods)
    check_choice("favourable", favourable, ("positive", "negative"))
    start = time.monotonic()
    # Tuned on the training rows, once, for all methods alike.
    tuning = _tune(problem, learner, folder, n_jobs)
    base = make_learner(learner, tabular=False, parameters=tuning.get("best"))
    plan = _Plan(problem, base, favourable, seeds, slow_seeds)
    cells = run_cells(plan.cells(names), folder, n_jobs=n_jobs, on_step=on_step)
    results = {
        **_problem_facts(problem),
        "learner": {"kind": learner, "repr": repr(base), **tuning},
        "favourable": favourable,
        "seeds": seeds,
        "slow_seeds": slow_seeds,
        **_tables(plan, names, cells),
    }
    results["verdicts"] = verdicts(results)
    results["reasons"] = reasons(results)
    return {**results, **run_facts(start, cells)}


def _check_methods(methods: Sequence[str] | None) -> list[str]:
    """Return the names of the methods to run."""
    if methods is None:
        return list(METHODS)
    for name in methods:
        check_choice("methods", name, tuple(METHODS))
    return list(methods)


def _problem_facts(problem: Problem) -> Results:
    """Say what the problem is, as JSON can hold it."""
    return {
        "experiment": problem.name,
        "title": problem.title,
        "groups": problem.groups,
        "notes": problem.notes,
        "same_data": problem.same_data,
        "chosen_by_print": problem.chosen_by_print,
        "data": problem.counts(),
    }


@dataclass(frozen=True)
class _Plan:
    """What all cells of a comparison share.

    Parameters
    ----------
    problem : Problem
    base : estimator
        The base learner.
    favourable : {"positive", "negative"}
    seeds, slow_seeds : int
        See `compare_methods`.
    """

    problem: Problem
    base: Any
    favourable: str
    seeds: int
    slow_seeds: int

    def cells(self, names: list[str]) -> list[Cell]:
        """Make the cells of the quantifiers, then those of every method."""
        key = {
            "problem": self.problem.name,
            "data": self.problem.digest(),
            "groups": self.problem.groups,
            "learner": repr(self.base),
        }
        # One list, so that no core waits for the slowest method.
        cells = self._quantifier_cells(key)
        for name in names:
            cells += self._method_cells(name, key)
        return cells

    def _quantifier_cells(self, key: Results) -> list[Cell]:
        """Make a cell for each seed; it runs all quantifiers on the same scores."""
        cells = []
        for seed in range(self.seeds):
            full_key = {**key, "cell": "quantifiers", "seed": seed}
            work = partial(_quantify, self.problem, self.base, seed)
            cells.append(Cell(f"quantifiers {seed}", full_key, work))
        return cells

    def _method_cells(self, name: str, key: Results) -> list[Cell]:
        """Make a cell for each repetition of a method."""
        cells = []
        for seed in range(self.repetitions(name)):
            full_key = {**key, "cell": name, "seed": seed, "parity": list(PARITY)}
            # Only AIF360 asks for it: cells of other methods serve both choices.
            if "aif360" in METHODS[name].needs:
                full_key["favourable"] = self.favourable
            work = partial(
                _judge,
                self.problem,
                name,
                self.base,
                seed,
                self.favourable,
            )
            cells.append(Cell(f"{name} {seed}", full_key, work))
        return cells

    def repetitions(self, name: str) -> int:
        """Count the seeds of a method; one whose library is missing has none."""
        method = METHODS[name]
        if missing_packages(name):
            return 0
        if not method.random:
            return 1
        if method.slow:
            return self.slow_seeds
        return self.seeds


def run_facts(start: float, results: Sequence[Results]) -> Results:
    """Say when, where and with what a run was made, and what it cost.

    Parameters
    ----------
    start : float
        When it began, by `time.monotonic`.
    results : sequence of dict
        Results of all cells.

    Returns
    -------
    dict
        As JSON can hold it.
    """
    now = datetime.datetime.now(datetime.UTC)
    # The time of work that was stored counts too: it says what the whole run costs.
    seconds = sum(result["seconds"] for result in results)
    return {
        "date": now.isoformat(timespec="seconds"),
        "wall_seconds": round(time.monotonic() - start, 1),
        "cell_seconds": round(seconds, 1),
        "cells": len(results),
        "cores": os.cpu_count(),
        "load": _load(),
        "versions": _versions(),
    }


def _load() -> list[float] | None:
    """Return the load averages; Windows has none."""
    if not hasattr(os, "getloadavg"):
        return None
    return [round(value, 1) for value in os.getloadavg()]


def _versions() -> dict[str, str]:
    """Collect the versions of Python and of `_PACKAGES`, or "not installed"."""
    installed = package_versions(_PACKAGES)
    versions = {"python": installed["python"]}
    for package in _PACKAGES:
        versions[package] = installed.get(package, "not installed")
    return versions


def _tables(
    plan: _Plan,
    names: list[str],
    cells: list[Results],
) -> Results:
    """Make the rows of both tables from the cells, in the order of `_Plan.cells`.

    Returns
    -------
    dict
        ``quantifiers``, a row for each quantifier, and ``rows``, one for each method.
    """
    # Results have no names: they are taken in the order in which the cells were made.
    remaining = iter(cells)
    quantifier_cells = list(islice(remaining, plan.seeds))
    rows = []
    for name in names:
        method_cells = list(islice(remaining, plan.repetitions(name)))
        printed = plan.problem.printed.get(name)
        rows.append(_method_row(name, method_cells, printed))
    quantifiers = _quantifier_rows(plan.problem, quantifier_cells)
    return {"quantifiers": quantifiers, "rows": rows}


def _tune(
    problem: Problem, learner: str, folder: Path | None, n_jobs: int | None
) -> Results:
    """Tune the learner, as a cell of its own; logistic regression is not tuned.

    Returns
    -------
    dict
        From `tune_boosting`, with the seconds that it took; empty if not tuned.
    """
    if learner != "boosting":
        return {}
    key = {"cell": "tuning", "data": problem.digest(), "grid": GRID}
    work = partial(tune_boosting, problem.X_train, problem.y_train, problem.z_train)
    cell = Cell("tuning", key, work)
    [tuning] = run_cells([cell], folder, n_jobs=n_jobs)
    if "error" in tuning:
        raise ValueError(
            f"the learner could not be tuned on the training rows: {tuning['error']}"
        )
    return tuning


def _judge(
    problem: Problem,
    name: str,
    learner: Any,
    seed: int,
    favourable: str,
) -> Results:
    """Train and judge one method with one seed.

    This is the only place where test labels are used.
    """
    method = make_method(name, learner, seed=seed, favourable=favourable)
    method.fit(problem.X_train, problem.y_train, sensitive_features=problem.z_train)
    y_pred = method.predict(problem.X_test, sensitive_features=problem.z_test)
    row = result_row(problem.y_test, y_pred, problem.z_test, problem.groups)
    return {"row": row}


def _quantify(problem: Problem, learner: Any, seed: int) -> Results:
    """Estimate the test prevalence of every group by every quantifier.

    All quantifiers read the same scores, so they differ in nothing else.
    """
    # The threshold pool is the cheapest, and quantifiers do not depend on the pool.
    clf = CapeClassifier.paper(estimator=learner, pool="threshold", random_state=seed)
    clf.fit(problem.X_train, problem.y_train, sensitive_features=problem.z_train)
    evidence = clf.evidence(problem.X_test, sensitive_features=problem.z_test)
    estimates: Results = {name: [] for name in QUANTIFIERS}
    for group in problem.groups:
        model = clf.models_[group]
        scores = evidence.groups[group].scores
        for name in QUANTIFIERS:
            quantifier = make_quantifier(name)
            quantifier.fit(model.positives, model.negatives)
            estimates[name].append(quantifier.estimate(scores))
    return estimates


def _quantifier_rows(problem: Problem, cells: list[Results]) -> list[Results]:
    """Average the estimates of every quantifier over the seeds that did not fail.

    A method must not fail in any seed. Here the classifier fails or not whatever the
    quantifier, so leaving out a seed favours none of them.
    """
    finished = [cell for cell in cells if "error" not in cell]
    # Without estimates the rest of the comparison still has its table.
    if not finished:
        return []
    rows = []
    for name in QUANTIFIERS:
        rows_of_seeds = []
        for cell in finished:
            by_group = zip(problem.groups, cell[name], strict=True)
            rows_of_seeds.append(dict(by_group))
        summary = mean_and_sd(rows_of_seeds)
        # The paper's table has SPA alone.
        printed = None
        if name == "spa":
            printed = problem.printed_prevalences.get("estimate")
        rows.append(
            {
                "quantifier": name,
                "mean": list(summary.mean.values()),
                "sd": list(summary.sd.values()),
                "printed": printed,
                "seeds": len(finished),
            }
        )
    return rows


def _method_row(
    name: str,
    cells: list[Results],
    printed: Results | None,
) -> Results:
    """Make the row of a method: what it is, what it did, and what the paper prints."""
    return {
        "method": name,
        "family": METHODS[name].family,
        "about": METHODS[name].about,
        "printed": printed,
        **_outcome(name, cells),
    }


def _outcome(name: str, cells: list[Results]) -> Results:
    """Average the cells of a method, or say why there is nothing to average.

    Returns
    -------
    dict
        ``status`` and ``seeds``; if the status is "ok" also ``mean``, ``sd``,
        ``seconds`` and ``warnings``.
    """
    missing = missing_packages(name)
    if missing:
        return {"status": f"not installed: {', '.join(missing)}", "seeds": 0}
    errors = [cell["error"] for cell in cells if "error" in cell]
    # A mean over the seeds that did not fail would flatter the method.
    if errors:
        return {"status": f"failed: {errors[0]}", "seeds": 0}
    summary = mean_and_sd([cell["row"] for cell in cells])
    seconds = sum(cell["seconds"] for cell in cells) / len(cells)
    return {
        "status": "ok",
        "seeds": len(cells),
        "mean": summary.mean,
        "sd": summary.sd,
        # Of one training and prediction, so that methods can be compared.
        "seconds": round(seconds, 2),
        "warnings": _distinct_warnings(cells)[:_MOST_WARNINGS],
    }


def _distinct_warnings(cells: list[Results]) -> list[str]:
    """List the warnings of all cells, each once, in the order in which they came."""
    # A dict keeps the order and drops repetitions, which seeds have many of.
    texts: dict[str, None] = {}
    for cell in cells:
        texts.update(dict.fromkeys(cell.get("warnings", ())))
    return list(texts)
