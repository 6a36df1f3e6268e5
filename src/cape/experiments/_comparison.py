"""All methods on one problem: the paper's quantifier table and its results table."""

from __future__ import annotations

import datetime
import os
import platform
import time
from collections.abc import Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cape._learners._by_name import make_learner
from cape._validation import check_choice
from cape.classifier import CapeClassifier
from cape.compare import METHODS, make_method, missing_packages
from cape.experiments._cells import Cell, OnStep, run_cells
from cape.experiments._problem import Problem
from cape.experiments._reasons import reasons
from cape.experiments._rows import mean_and_sd, result_row
from cape.experiments._tuning import GRID, tune_boosting
from cape.experiments._verdicts import verdicts
from cape.quantify import QUANTIFIERS, make_quantifier

__all__ = ["compare_methods", "run_facts"]

_MOST_WARNINGS = 3


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
) -> dict[str, Any]:
    """Train every method on the training rows, judge it on the test rows.

    Every method gets the same base learner and the same rows, post-processors hold out some of them, and none sees
    test labels. A method whose library is missing, or that fails, has a row that says so.

    Parameters
    ----------
    problem : Problem
    methods : sequence of str, default=None
        Keys of `cape.compare.METHODS`; None is all.
    seeds, slow_seeds : int, default=20 and 5
        Repetitions of random methods, and of those that cost a hundred fits or more.
    learner : {"boosting", "logistic"}, default="boosting"
        Gradient boosting tuned by 10-fold cross-validation on the training rows, or logistic regression.
    favourable : {"positive", "negative"}, default="positive"
        Which label AIF360 is told is the favourable one.
    folder : Path, default=None
        Where finished cells are kept; a second run takes them from there.
    n_jobs : int or None, default=None
    on_step : callable, optional
        Told the name of each finished cell, how many are done and how many there are.

    Returns
    -------
    dict
        As JSON can hold it: ``data``, ``learner``, ``quantifiers``, ``rows`` (mean, sd and printed numbers of each
        method), ``verdicts``, ``reasons`` for differences from print, and the facts of the run.

    Examples
    --------
    >>> from cape.datasets import make_synthetic
    >>> from cape.experiments import table_problem
    >>> tables = (make_synthetic(300, prevalences=p, random_state=0).frame for p in ((0.5, 0.5), (0.3, 0.7)))
    >>> problem = table_problem(*tables, label="y", group="z")
    >>> found = compare_methods(problem, methods=["Always positive"], seeds=1, learner="logistic")
    >>> round(found["rows"][0]["mean"]["pd_0"], 3)
    0.7
    """
    names = list(METHODS) if methods is None else list(methods)
    for name in names:
        check_choice("methods", name, tuple(METHODS))
    check_choice("favourable", favourable, ("positive", "negative"))
    start = time.monotonic()
    data = problem.digest()
    tuned = _tune(problem, learner, data, folder, n_jobs)
    base = make_learner(learner, tabular=False, parameters=tuned.get("best"))
    shared = {
        "problem": problem.name,
        "data": data,
        "groups": problem.groups,
        "learner": repr(base),
    }

    cells = [
        Cell(
            f"quantifiers {seed}",
            {**shared, "cell": "quantifiers", "seed": seed},
            partial(_quantify, problem, base, seed),
        )
        for seed in range(seeds)
    ]
    places: dict[str, slice] = {}
    for name in names:
        method = METHODS[name]
        repetitions = (
            0
            if missing_packages(name)
            else (slow_seeds if method.slow else seeds)
            if method.random
            else 1
        )
        places[name] = slice(len(cells), len(cells) + repetitions)
        for seed in range(repetitions):
            key = {**shared, "cell": name, "seed": seed}
            if "aif360" in method.needs:
                key["favourable"] = favourable
            cells.append(
                Cell(
                    f"{name} {seed}",
                    key,
                    partial(_judge, problem, name, base, seed, favourable),
                )
            )
    found = run_cells(cells, folder, n_jobs=n_jobs, on_step=on_step)

    rows = [
        _method_row(name, found[places[name]], problem.printed.get(name))
        for name in names
    ]
    results = {
        "experiment": problem.name,
        "title": problem.title,
        "groups": problem.groups,
        "notes": problem.notes,
        "same_data": problem.same_data,
        "data": problem.counts(),
        "learner": {"kind": learner, "repr": repr(base), **tuned},
        "favourable": favourable,
        "seeds": seeds,
        "slow_seeds": slow_seeds,
        "quantifiers": _quantifier_rows(problem, found[:seeds]),
        "rows": rows,
    }
    return {
        **results,
        "verdicts": verdicts(results),
        "reasons": reasons(results),
        **run_facts(start, found),
    }


def run_facts(start: float, cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """When, where and with what a run was made, and what it cost."""
    packages = (
        "numpy",
        "scipy",
        "scikit-learn",
        "pandas",
        "aif360",
        "fairlearn",
        "tensorflow-cpu",
        "cape-fair",
    )
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "wall_seconds": round(time.monotonic() - start, 1),
        "cell_seconds": round(sum(cell["seconds"] for cell in cells), 1),
        "cells": len(cells),
        "cores": os.cpu_count(),
        "load": [round(value, 1) for value in os.getloadavg()]
        if hasattr(os, "getloadavg")
        else None,
        "versions": {"python": platform.python_version()}
        | {name: _version(name) for name in packages},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _tune(
    problem: Problem, learner: str, data: str, folder: Path | None, n_jobs: int | None
) -> dict[str, Any]:
    if learner != "boosting":
        return {}
    work = partial(tune_boosting, problem.X_train, problem.y_train, problem.z_train)
    found = run_cells(
        [Cell("tuning", {"cell": "tuning", "data": data, "grid": GRID}, work)],
        folder,
        n_jobs=n_jobs,
    )[0]
    if "error" in found:
        raise ValueError(
            f"the learner could not be tuned on the training rows: {found['error']}"
        )
    return found


def _judge(
    problem: Problem, name: str, learner: Any, seed: int, favourable: str
) -> dict[str, Any]:
    """One method, one seed: it sees labelled training rows and unlabelled test rows; then it is judged."""
    method = make_method(name, learner, seed=seed, favourable=favourable)
    method.fit(problem.X_train, problem.y_train, sensitive_features=problem.z_train)
    y_pred = method.predict(problem.X_test, sensitive_features=problem.z_test)
    return {"row": result_row(problem.y_test, y_pred, problem.z_test, problem.groups)}


def _quantify(problem: Problem, learner: Any, seed: int) -> dict[str, Any]:
    """Every quantifier's estimate of each group's test prevalence, from the same scores."""
    clf = CapeClassifier(learner, pool="threshold", random_state=seed)
    clf.fit(problem.X_train, problem.y_train, sensitive_features=problem.z_train)
    evidence = clf.evidence(problem.X_test, sensitive_features=problem.z_test)
    return {
        name: [
            make_quantifier(name)
            .fit(clf.models_[group].positives, clf.models_[group].negatives)
            .estimate(evidence.groups[group].scores)
            for group in problem.groups
        ]
        for name in QUANTIFIERS
    }


def _quantifier_rows(
    problem: Problem, cells: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    fine = [cell for cell in cells if "error" not in cell]
    rows = []
    for name in QUANTIFIERS if fine else ():
        mean, sd = mean_and_sd(
            [{str(z): value for z, value in enumerate(cell[name])} for cell in fine]
        )
        printed = problem.printed_prevalences.get("estimate") if name == "spa" else None
        rows.append(
            {
                "quantifier": name,
                "mean": list(mean.values()),
                "sd": list(sd.values()),
                "printed": printed,
                "seeds": len(fine),
            }
        )
    return rows


def _method_row(
    name: str, cells: list[dict[str, Any]], printed: dict[str, Any] | None
) -> dict[str, Any]:
    method = METHODS[name]
    row: dict[str, Any] = {
        "method": name,
        "family": method.family,
        "about": method.about,
        "printed": printed,
    }
    if missing := missing_packages(name):
        return {**row, "status": f"not installed: {', '.join(missing)}", "seeds": 0}
    if errors := [cell["error"] for cell in cells if "error" in cell]:
        return {**row, "status": f"failed: {errors[0]}", "seeds": 0}
    mean, sd = mean_and_sd([cell["row"] for cell in cells])
    seconds = round(sum(cell["seconds"] for cell in cells) / len(cells), 2)
    told = dict.fromkeys(text for cell in cells for text in cell.get("warnings", ()))
    return {
        **row,
        "status": "ok",
        "seeds": len(cells),
        "mean": mean,
        "sd": sd,
        "seconds": seconds,
        "warnings": list(told)[:_MOST_WARNINGS],
    }
