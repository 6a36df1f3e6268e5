"""CAPE on real shifts over time, where more than the prevalences has moved.

The work is cut into cells, one for each case, configuration and seed. Labels of the
rows that a model is used on serve to judge it, and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from cape import CapeClassifier
from cape_paper._cells import Cell, OnStep, Results, run_cells, run_facts
from cape_paper._comparison import mean_and_sd, result_row
from cape_paper._peers import MaxAcc, seeded_clone
from cape_paper._problem import Problem, load_cases

CONFIGURATIONS = {
    "CAPE": CapeClassifier(),
    "ignore": CapeClassifier(drift="ignore"),
    "paper": CapeClassifier.paper(),
}
"""What is judged, by its name in the tables, which show the interval of the first."""

NOT_IDENTIFIED = ("bank", "meps-12-13")
"""Cases whose prevalences no unlabelled rows can tell.

The scores of `bank` hardly tell the classes apart, and the list of people to call
changed. In `meps-12-13` hardly a column moved, and yet the share of positives did.
"""

MARGIN = 0.02
"""PD is worse than that of Max_Acc if it is larger by more than this."""

_NOTES = (
    "These shifts happened, and nobody promised that only the prevalences moved. Of "
    "COMPAS (screened in 2013, used in 2014), MEPS (one year, and a later one) and "
    "BRFSS (2019 and 2020, health by telephone) there are several groupings or pairs "
    "of years. bank has the first 60 % of a bank's calls, and the last 20 %; nass car "
    "crashes of 1997 and of 2002; arrests those for possession in Toronto, 1997-99 and "
    "2000-02; gss the General Social Survey of 2000-06 and of 2014-18.",
    "Most of the shift of COMPAS is one of the file, not of people: of those screened "
    "from 1 April 2014 on, it holds hardly anybody who did not re-offend.",
    "Without labels nobody can be right about two cases, and summaries are given with "
    "and without them. In bank the scores hardly tell the classes apart, and other "
    "people were called. In meps-12-13 hardly a column moved, and yet the share of "
    "positives did. In gss people changed their minds: P(y | x) itself moved.",
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
    first_seed: int = 0,
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
    first_seed : int, default=0
        The first of the seeds.
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
        missing; ``failed``, the cells that failed; and the facts of the run.

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
    problems, skipped = load_cases(cases, data_home)
    cells = []
    for problem in problems:
        for name, configuration in CONFIGURATIONS.items():
            for seed in range(first_seed, first_seed + seeds):
                arguments = (problem, configuration, seed)
                cells.append(Cell(f"{problem.name} {name} {seed}", _judge, arguments))
    finished = run_cells(cells, folder, n_jobs=n_jobs, on_step=on_step)
    failed = []
    for cell, result in zip(cells, finished, strict=True):
        if "error" in result:
            failed.append(f"{cell.name} failed: {result['error']}")
    shifts = _entries(problems, seeds, finished)
    return {
        "experiment": "shifts",
        "title": "Real shifts over time",
        "notes": list(_NOTES),
        "seeds": seeds,
        "first_seed": first_seed,
        "configurations": list(CONFIGURATIONS),
        "shifts": shifts,
        "summary": summarise(shifts, list(CONFIGURATIONS)),
        "skipped": skipped,
        "failed": failed,
        **run_facts(start, finished),
    }


def _judge(problem: Problem, configuration: CapeClassifier, seed: int) -> Results:
    """Train one configuration and its Max_Acc with one seed, and judge both.

    Returns
    -------
    dict
        ``groups``, a row for each group in the order of the problem, and ``verdicts``,
        what the configuration itself says of each.
    """
    X_train, y_train, z_train = problem.train
    clf = clone(configuration).set_params(random_state=seed)
    # The default learner is given encoders by the classifier itself.
    if clf.estimator is not None and _needs_encoders(X_train):
        from skrub import tabular_pipeline

        clf.set_params(estimator=tabular_pipeline(clf.estimator))
    clf.fit(X_train, y_train, sensitive_features=z_train)
    max_acc = MaxAcc(seeded_clone(clf.estimator_, seed))
    max_acc.fit(X_train, y_train, sensitive_features=z_train)

    X_test, y_test, z_test = problem.test
    adaptation = clf.adapt(X_test, sensitive_features=z_test)
    y_pred = clf.predict(X_test, sensitive_features=z_test, adaptation=adaptation)
    of_cape = result_row(y_test, y_pred, z_test, problem.groups)
    y_pred = max_acc.predict(X_test, sensitive_features=z_test)
    of_max_acc = result_row(y_test, y_pred, z_test, problem.groups)
    rows = []
    verdicts = []
    for place, group in enumerate(problem.groups):
        adapted = adaptation.groups[group]
        truth = float(np.mean(y_test[z_test == group]))
        rows.append(
            {
                "estimate": adapted.estimate.value,
                "low": adapted.estimate.low,
                "high": adapted.estimate.high,
                "width": adapted.estimate.high - adapted.estimate.low,
                "error": abs(adapted.estimate.value - truth),
                # A number, so that its mean is the share of seeds.
                "holds": float(adapted.estimate.low <= truth <= adapted.estimate.high),
                "mean_score": adapted.mean_score,
                "pd": of_cape[f"pd_{place}"],
                "pe": of_cape["pe"],
                "max_acc_pd": of_max_acc[f"pd_{place}"],
                "max_acc_pe": of_max_acc["pe"],
            }
        )
        verdicts.append(adapted.verdict)
    return {"groups": rows, "verdicts": verdicts}


def _needs_encoders(X: pd.DataFrame) -> bool:
    """Tell whether a plain learner could not read a column."""
    numbers = X.select_dtypes(["number", "bool"])
    return numbers.shape != X.shape or bool(numbers.isna().any(axis=None))


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
        for place, counts in enumerate(problem.counts()):
            entry: Results = {"case": problem.name, **counts}
            for name, cells in cells_of.items():
                entry[name] = _mean_row(cells, place)
            entries.append(entry)
    return entries


def _mean_row(cells: list[Results], place: int) -> Results | None:
    """Average the rows of a group over seeds; None if any seed failed."""
    # A mean over the seeds that did not fail would flatter the configuration.
    if any("error" in cell for cell in cells):
        return None
    mean, _ = mean_and_sd([cell["groups"][place] for cell in cells])
    verdicts = {cell["verdicts"][place] for cell in cells}
    return {**mean, "verdict": ", ".join(sorted(verdicts))}


def summarise(
    shifts: Sequence[Results], configurations: Sequence[str]
) -> list[Results]:
    """Summarise all cases, and then those of which rows tell something.

    Parameters
    ----------
    shifts : sequence of dict
        An entry for each case and group, as `run_shifts` returns them.
    configurations : sequence of str
        Names of the configurations in the entries.

    Returns
    -------
    list of dict
        Rows with ``cases``, ``method``, ``cells`` (how many cases and groups) and what
        a method has of: ``error``, ``error_90``, ``holds``, ``width``, ``pd``, ``pe``
        and ``worse``.
    """
    clear = [entry for entry in shifts if entry["case"] not in NOT_IDENTIFIED]
    rows = _summary("all cases", shifts, configurations)
    # Nothing new is said if no case is left out, or none is left.
    if 0 < len(clear) < len(shifts):
        title = f"without {' and '.join(NOT_IDENTIFIED)}"
        rows += _summary(title, clear, configurations)
    return rows


def _summary(
    title: str, shifts: Sequence[Results], configurations: Sequence[str]
) -> list[Results]:
    """Summarise some cases: the configurations, and then what they stand beside."""
    truth = np.array([entry["prevalence_test"] for entry in shifts])
    before = np.array([entry["prevalence_train"] for entry in shifts])
    nothing = {"method": "doing nothing", **_errors(abs(before - truth))}
    rows = []
    beside = [nothing]
    for name in configurations:
        finished = [entry for entry in shifts if entry[name] is not None]
        if not finished:
            continue
        frame = pd.DataFrame([entry[name] for entry in finished])
        row = {
            **_errors(frame["error"]),
            "holds": float(np.mean(frame["holds"])),
            "width": float(np.mean(frame["width"])),
            "pd": float(np.mean(frame["pd"])),
            "pe": _median(frame["pe"]),
            "worse": int(np.sum(frame["pd"] - frame["max_acc_pd"] > MARGIN)),
        }
        rows.append({"method": name, **row})
        # The mean score and Max_Acc go by the learner of the first configuration.
        if name == configurations[0]:
            truth = np.array([entry["prevalence_test"] for entry in finished])
            errors = _errors(abs(frame["mean_score"] - truth))
            beside.append({"method": "mean score", **errors})
            row = {
                "cells": len(frame),
                "pd": float(np.mean(frame["max_acc_pd"])),
                "pe": _median(frame["max_acc_pe"]),
            }
            beside.append({"method": "Max_Acc", **row})
    return [{"cases": title, **row} for row in [*rows, *beside]]


def _errors(errors: Any) -> Results:
    """Summarise distances between estimates and truth."""
    return {
        "cells": len(errors),
        "error": float(np.mean(errors)),
        "error_90": float(np.quantile(errors, 0.9)),
    }


def _median(values: pd.Series) -> float | None:
    """Return the median; an undefined value counts as worse than any number."""
    numbers = values.astype(float).fillna(np.inf)
    median = float(np.median(numbers))
    return median if np.isfinite(median) else None
