"""All methods on one problem: the paper's quantifier table and its results table.

The work is cut into cells: one for the tuning of the learner, one for each seed of the
quantifiers, and one for each seed of each method.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from cape import CapeClassifier, metrics
from cape.quantify import QUANTIFIERS
from cape_paper._cells import Cell, Results, run_cells
from cape_paper._methods import METHODS, make_method
from cape_paper._peers import with_group_columns
from cape_paper._problem import Problem

PARITY = (
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equalized_odds_difference",
    "precision_difference",
)
"""Columns of criteria that the paper does not have."""

GRID = {"max_depth": [1, 2, 3], "max_iter": [50, 100, 150]}
"""Depths and numbers of trees: the ranges that R's caret tries for its ``gbm``."""


def compare_methods(
    problem: Problem,
    *,
    methods: Sequence[str] = tuple(METHODS),
    seeds: int = 10,
    slow_seeds: int = 2,
    learner: Any = None,
    favourable: str = "positive",
    folder: Path | None = None,
    **running: Any,
) -> Results:
    """Train every method on the training rows, and judge it on the test rows.

    Every method that takes a learner gets the same one, and all get the same rows;
    post-processors hold out some of the training rows. No method gets test labels. A
    method whose library is missing is skipped, and one that fails has no row.

    Parameters
    ----------
    problem : Problem
        The rows.
    methods : sequence of str, default=tuple(METHODS)
        Keys of `METHODS`.
    seeds : int, default=10
        Repetitions of methods that depend on a seed.
    slow_seeds : int, default=2
        Repetitions of methods that cost a hundred fits or more.
    learner : estimator with ``fit`` and ``predict_proba``, default=None
        The base learner; None is gradient boosting tuned by 10-fold cross-validation on
        the training rows, as in the paper.
    favourable : {"positive", "negative"}, default="positive"
        The label that AIF360 is told is the favourable one.
    folder : Path, default=None
        Where finished cells are kept; a second run takes them from there.
    **running
        ``n_jobs``, the number of cells computed at the same time (None: as joblib
        says).

    Returns
    -------
    dict
        As JSON can hold it: ``data``, ``rows`` (of each method and seed),
        ``quantifiers``, what is printed, and the facts of the run.

    Raises
    ------
    ValueError
        If the learner cannot be tuned.

    Examples
    --------
    >>> from cape_paper import compas_problem
    >>> results = compare_methods(compas_problem(), seeds=1)  # doctest: +SKIP
    """
    settings: Results = {"seeds": seeds, "slow seeds": slow_seeds}
    if learner is None:
        # Tuned on the training rows, once, for all methods alike.
        tuning = run_cells([Cell("tuning", _tune, (problem,))], folder)
        if tuning["failed"]:
            raise ValueError(f"the learner could not be tuned: {tuning['failed']}")
        best = min(tuning["tried"], key=lambda setting: setting["log_loss"])
        learner = HistGradientBoostingClassifier(
            random_state=0, max_depth=best["max_depth"], max_iter=best["max_iter"]
        )
        settings["tried"] = tuning["tried"]
    settings["base learner"] = " ".join(repr(learner).split())
    settings["favourable label"] = favourable

    repetitions = {"seeds": seeds, "slow_seeds": slow_seeds, "once": 1}
    cells = []
    skipped = []
    # One list, so that no core waits for the slowest method.
    for seed in range(seeds):
        cells.append(Cell(f"quantifiers {seed}", _quantify, (problem, learner, seed)))
    for name in methods:
        method = METHODS[name]
        missing = method.missing()
        if missing:
            skipped.append(f"{name} was skipped: {', '.join(missing)} is missing.")
            continue
        # Only AIF360 asks for it: cells of other methods serve both choices.
        told = favourable if "favourable" in method.takes else "positive"
        for seed in range(repetitions[method.repeats]):
            arguments = (problem, name, learner, seed, told)
            cells.append(Cell(f"{name} {seed}", _judge, arguments))
    run = run_cells(cells, folder, **running)
    # A mean over the seeds that did not fail would flatter the method.
    failed = {cell.rpartition(" ")[0] for cell in run["failed"]}
    rows = [row for row in run.get("rows", []) if row["method"] not in failed]
    return {
        "quantifiers": [],
        **run,
        "experiment": problem.name,
        "title": problem.title,
        "notes": problem.notes,
        "data": problem.counts(),
        "settings": {name: str(value) for name, value in settings.items()},
        "skipped": skipped,
        "rows": rows,
        "printed": problem.printed,
        "printed_estimates": problem.printed_estimates,
    }


def _tune(problem: Problem) -> Results:
    """Try depths and numbers of trees by 10-fold cross-validation.

    Max_Acc is what is tuned: one model of all training rows, the group among its
    features. Every method of a comparison then uses the same setting. Log loss decides
    and not accuracy, since quantifiers use probabilities.
    """
    X, y, z = problem.train
    # The paper: "10-fold cross-validation for hyper-parameter tuning". The folds have a
    # seed, so that the same rows always give the same setting.
    search = GridSearchCV(
        HistGradientBoostingClassifier(random_state=0),
        GRID,
        scoring="neg_log_loss",
        cv=StratifiedKFold(10, shuffle=True, random_state=0),
        refit=False,
    )
    search.fit(with_group_columns(X, z.to_numpy(), np.unique(z)), y)
    # scikit-learn maximises, so it stores the log loss with a minus.
    losses = -search.cv_results_["mean_test_score"]
    tried = pd.DataFrame(search.cv_results_["params"]).assign(log_loss=losses)
    return {"tried": tried.to_dict("records")}


def _judge(
    problem: Problem, name: str, learner: Any, seed: int, favourable: str
) -> Results:
    """Train and judge one method with one seed.

    This is the only place where test labels are used.
    """
    X, y, z = problem.train
    method = make_method(name, learner, seed=seed, favourable=favourable)
    method.fit(X, y, sensitive_features=z)
    X, y, z = problem.test
    y_pred = method.predict(X, sensitive_features=z)
    learner_name = "its own, or none"
    if "estimator" in METHODS[name].takes:
        learner_name = "the base learner"
    elif hasattr(method, "candidates_"):
        candidates = method.candidates_
        learner_name = f"chose {candidates.index[candidates['chosen']][0]}"
    row = {"method": name, "seed": seed, "learner": learner_name}
    return {"rows": [{**row, **result_row(y, y_pred, z, problem.groups)}]}


def _quantify(problem: Problem, learner: Any, seed: int) -> Results:
    """Estimate the test prevalence of every group by every quantifier.

    All quantifiers read the same scores, so they differ in nothing else.
    """
    # The threshold pool is the cheapest, and quantifiers do not depend on the pool.
    clf = CapeClassifier.paper(estimator=learner, pool="threshold", random_state=seed)
    X, y, z = problem.train
    clf.fit(X, y, sensitive_features=z)
    X, _, z = problem.test
    evidence = clf.evidence(X, sensitive_features=z)
    estimates = []
    for group in problem.groups:
        model = clf.models_[group]
        for name, kind in QUANTIFIERS.items():
            quantifier = kind().fit(model.positives, model.negatives)
            estimate = quantifier.estimate(evidence.groups[group].scores)
            key = {"quantifier": name, "group": group, "seed": seed}
            estimates.append({**key, "estimate": estimate})
    return {"quantifiers": estimates}


def result_row(
    y_true: Any, y_pred: Any, z: Any, groups: Sequence[Any]
) -> dict[str, float | None]:
    """Compute a row of the results table.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels and predictions, 0 and 1.
    z : array-like of shape (n_samples,)
        The group of each row.
    groups : sequence
        Groups in the order of the table.

    Returns
    -------
    dict
        The rates of `cape.metrics.fairness_table` and the metrics of `PARITY`. Keys are
        those of `published`: ``fpr_0`` belongs to the first of ``groups``. ``pe`` is
        the PE of the worst ordered pair; with two groups ``pe_01`` is the paper's PE.
        What is undefined is None.

    Examples
    --------
    >>> row = result_row([1, 0, 1, 0], [1, 1, 1, 0], ["a", "a", "b", "b"], ["a", "b"])
    >>> row["fpr_0"], row["fpr_diff"], row["pe_01"]
    (1.0, 1.0, 1.0)
    """
    places = pd.Index(groups).get_indexer(pd.Series(z))
    with warnings.catch_warnings():
        # A warning says that a number is undefined; the row says so by None.
        warnings.simplefilter("ignore")
        judged = {"sensitive_features": places, "pos_label": 1}
        table: Any = metrics.fairness_table(y_true, y_pred, **judged)
        pairs = metrics.proportional_equality_matrix(y_true, y_pred, **judged)
        parity = {}
        for name in PARITY:
            parity[name] = metrics.PARITY[name](y_true, y_pred, **judged)
    values = {}
    for (rate, part), value in table.items():
        name = f"{rate}_{part}".replace("difference", "diff")
        values[name] = value
    # `max` of an array with a NaN is NaN: one undefined pair makes the worst undefined.
    del values["pe_worst pair"]
    values["pe"] = pairs.to_numpy().max()
    if len(groups) == 2:
        values["pe_01"] = pairs.loc[0, 1]
    values |= parity
    return {name: None if x != x else float(x) for name, x in values.items()}
