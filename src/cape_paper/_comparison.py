"""All methods on one problem: the paper's quantifier table and its results table.

The work is cut into cells: one for the tuning of the learner, one for each seed of the
quantifiers, and one for each seed of each method.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape import CapeClassifier, metrics
from cape.quantify import QUANTIFIERS, make_quantifier
from cape_paper._cells import Cell, Results, run_cells, run_facts
from cape_paper._methods import METHODS, make_method, missing_packages
from cape_paper._peers import with_group_columns
from cape_paper._problem import Problem

RATES = ("fpr", "fnr", "accuracy", "predicted_prevalence", "pd")
"""Columns of every group, in the paper's order."""

DIFFERENCES = ("fpr", "fnr", "accuracy")
"""Columns that are followed by the difference between groups."""

PARITY = {
    "demographic_parity_difference": metrics.demographic_parity_difference,
    "demographic_parity_ratio": metrics.demographic_parity_ratio,
    "equalized_odds_difference": metrics.equalized_odds_difference,
    "precision_difference": metrics.precision_difference,
}
"""Columns of criteria that the paper does not have, and their metrics.

The differences of TPR and of FPR are those of the columns fnr_diff and fpr_diff.
"""

Row = dict[str, float | None]
"""Values by the names of columns; None where a value is undefined."""

_MOST_WARNINGS = 3
"""How many different warnings of a method are kept."""

GRID = {
    "max_depth": [1, 2, 3],
    "max_iter": [50, 100, 150],
}
"""Depths and numbers of trees: the ranges that R's caret tries for its ``gbm``."""


def compare_methods(
    problem: Problem,
    methods: Sequence[str] | None = None,
    seeds: int = 20,
    slow_seeds: int = 5,
    learner: str = "boosting",
    favourable: str = "positive",
    *,
    first_seed: int = 0,
    folder: Path | None = None,
    **running: Any,
) -> Results:
    """Train every method on the training rows, and judge it on the test rows.

    Every method that takes a learner gets the same one, and all get the same rows;
    post-processors hold out some of the training rows. No method gets test labels.
    Every row names its learner. A method whose library is missing, or that fails, has a
    row that says so.

    Parameters
    ----------
    problem : Problem
        The rows.
    methods : sequence of str, default=None
        Keys of `METHODS`; None means all.
    seeds : int, default=20
        Repetitions of methods that depend on a seed.
    slow_seeds : int, default=5
        Repetitions of methods that cost a hundred fits or more.
    learner : {"boosting", "logistic"}, default="boosting"
        Gradient boosting tuned by 10-fold cross-validation on the training rows, or
        logistic regression.
    favourable : {"positive", "negative"}, default="positive"
        The label that AIF360 is told is the favourable one.
    first_seed : int, default=0
        The first of the seeds.
    folder : Path, default=None
        Where finished cells are kept; a second run takes them from there.
    **running
        ``n_jobs``, the number of cells computed at the same time (None: as joblib
        says), and ``on_step``, which is called with the name of each finished cell, the
        number of finished cells and the number of all.

    Returns
    -------
    dict
        As JSON can hold it: ``data``, ``learner``, ``quantifiers``, ``rows`` (mean,
        standard deviation and printed numbers of each method), and the facts of the
        run.

    Raises
    ------
    ValueError
        If a method, the learner or ``favourable`` is none of those accepted, or the
        learner cannot be tuned.

    Examples
    --------
    >>> from cape_paper import compas_problem
    >>> results = compare_methods(compas_problem(), seeds=1)  # doctest: +SKIP
    """
    names = list(METHODS if methods is None else methods)
    for name in names:
        check_choice("methods", name, METHODS)
    check_choice("favourable", favourable, ("positive", "negative"))
    check_choice("learner", learner, ("boosting", "logistic"))
    start = time.monotonic()
    tuning: Results = {}
    base: Any = make_pipeline(StandardScaler(), LogisticRegression())
    if learner == "boosting":
        # Tuned on the training rows, once, for all methods alike.
        [tuning] = run_cells([Cell("tuning", _tune, (problem,))], folder)
        if "error" in tuning:
            raise ValueError(f"the learner could not be tuned: {tuning['error']}")
        base = HistGradientBoostingClassifier(random_state=0, **tuning["best"])

    repetitions = {}
    cells = []
    # One list, so that no core waits for the slowest method.
    for seed in range(first_seed, first_seed + seeds):
        cells.append(Cell(f"quantifiers {seed}", _quantify, (problem, base, seed)))
    for name in names:
        method = METHODS[name]
        repetitions[name] = _repetitions(name, seeds, slow_seeds)
        # Only AIF360 asks for it: cells of other methods serve both choices.
        told = favourable if "favourable" in method.takes else "positive"
        for seed in range(first_seed, first_seed + repetitions[name]):
            arguments = (problem, name, base, seed, told)
            cells.append(Cell(f"{name} {seed}", _judge, arguments))
    finished = run_cells(cells, folder, **running)

    # Results have no names: they are taken in the order in which the cells were made.
    remaining = iter(finished[seeds:])
    rows = []
    for name in names:
        of_method = [next(remaining) for _ in range(repetitions[name])]
        printed = problem.printed.get(name)
        row = {"method": name, "printed": printed, **_outcome(name, of_method)}
        rows.append({**row, "learner": _learner_of(name, learner, of_method)})
    results = {
        "experiment": problem.name,
        "title": problem.title,
        "groups": problem.groups,
        "notes": problem.notes,
        "same_data": problem.same_data,
        "chosen_by_print": problem.chosen_by_print,
        "data": problem.counts(),
        "learner": {"kind": learner, "repr": repr(base), **tuning},
        "favourable": favourable,
        "seeds": seeds,
        "first_seed": first_seed,
        "slow_seeds": slow_seeds,
        "quantifiers": _quantifier_rows(problem, finished[:seeds]),
        "rows": rows,
    }
    return {**results, **run_facts(start, finished)}


def check_choice(parameter: str, value: Any, accepted: Any) -> None:
    """Raise if a value is none of those accepted."""
    if value not in accepted:
        listed = ", ".join(map(repr, accepted))
        raise ValueError(f"{parameter} must be one of {listed}, got {value!r}.")


def _repetitions(name: str, seeds: int, slow_seeds: int) -> int:
    """Count the seeds of a method; one whose library is missing has none."""
    method = METHODS[name]
    if missing_packages(name):
        return 0
    if not method.random:
        return 1
    return slow_seeds if method.slow else seeds


def _learner_of(name: str, learner: str, cells: list[Results]) -> str:
    """Name the learner of a method: the common one, what it chose, or its own."""
    if "estimator" in METHODS[name].takes.split():
        return learner
    chosen = dict.fromkeys(cell["learner"] for cell in cells if "learner" in cell)
    return f"chose {' or '.join(chosen)}" if chosen else "its own, or none"


def _tune(problem: Problem) -> Results:
    """Choose depth and number of trees by 10-fold cross-validation.

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
    groups = np.unique(z)
    search.fit(with_group_columns(X, z.to_numpy(), groups), y)
    scores = []
    # scikit-learn maximises, so it stores the log loss with a minus.
    losses = -search.cv_results_["mean_test_score"]
    for parameters, loss in zip(search.cv_results_["params"], losses, strict=True):
        scores.append({**parameters, "log_loss": float(loss)})
    return {"best": search.best_params_, "scores": scores, "rows": len(y)}


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
    judged: Results = {"row": result_row(y, y_pred, z, problem.groups)}
    if hasattr(method, "candidates_"):
        candidates = method.candidates_
        judged["learner"] = str(candidates.index[candidates["chosen"]][0])
    return judged


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
    estimates: Results = {name: {} for name in QUANTIFIERS}
    for group in problem.groups:
        model = clf.models_[group]
        scores = evidence.groups[group].scores
        for name in QUANTIFIERS:
            quantifier = make_quantifier(name)
            quantifier.fit(model.positives, model.negatives)
            estimates[name][group] = quantifier.estimate(scores)
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
        mean, sd = mean_and_sd([cell[name] for cell in finished])
        # The paper's table has SPA alone.
        printed = problem.printed_prevalences.get("estimate") if name == "spa" else None
        rows.append(
            {
                "quantifier": name,
                "mean": list(mean.values()),
                "sd": list(sd.values()),
                "printed": printed,
                "seeds": len(finished),
            }
        )
    return rows


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
    mean, sd = mean_and_sd([cell["row"] for cell in cells])
    seconds = sum(cell["seconds"] for cell in cells) / len(cells)
    # A dict keeps the order and drops repetitions, which seeds have many of.
    texts = dict.fromkeys(text for cell in cells for text in cell["warnings"])
    return {
        "status": "ok",
        "seeds": len(cells),
        "mean": mean,
        "sd": sd,
        # Of one training and prediction, so that methods can be compared.
        "seconds": round(seconds, 2),
        "warnings": list(texts)[:_MOST_WARNINGS],
    }


def result_row(y_true: Any, y_pred: Any, z: Any, groups: Sequence[Any]) -> Row:
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
        FPR, FNR, accuracy, predicted prevalence and PD of every group, differences
        between groups, PE, and the metrics of `PARITY`. Keys are those of `published`:
        ``fpr_0`` belongs to the first of ``groups``. ``pe`` is the PE of the worst
        ordered pair; with two groups ``pe_01`` is the paper's PE. What is undefined is
        None.

    Examples
    --------
    >>> row = result_row([1, 0, 1, 0], [1, 1, 1, 0], ["a", "a", "b", "b"], ["a", "b"])
    >>> row["fpr_0"], row["fpr_diff"], row["pe_01"]
    (1.0, 1.0, 1.0)
    """
    with warnings.catch_warnings():
        # A warning says that a number is undefined; the row says so by None.
        warnings.simplefilter("ignore")
        judged = {"sensitive_features": z, "pos_label": 1}
        table = metrics.fairness_table(y_true, y_pred, **judged)
        pairs = metrics.proportional_equality_matrix(y_true, y_pred, **judged)
        parity = {}
        for name, metric in PARITY.items():
            parity[name] = metric(y_true, y_pred, **judged)
    values = {}
    for rate in RATES:
        for place, group in enumerate(groups):
            values[f"{rate}_{place}"] = table[rate, group]
        if rate in DIFFERENCES:
            # With more than two groups: between the two that are farthest apart.
            values[f"{rate}_diff"] = table[rate, "difference"]
    # `max` of an array with a NaN is NaN: one undefined pair makes the worst undefined.
    values["pe"] = pairs.to_numpy().max()
    if len(groups) == 2:
        values["pe_01"] = pairs.loc[groups[0], groups[1]]
    return _without_nan({**values, **parity})


def mean_and_sd(rows: Sequence[Row]) -> tuple[Row, Row]:
    """Average rows over repetitions.

    Parameters
    ----------
    rows : sequence of dict
        Rows with the same columns, at least one.

    Returns
    -------
    mean, sd : dict
        A column that is undefined in any repetition is undefined. The standard
        deviation of a single row is 0.

    Examples
    --------
    >>> mean_and_sd([{"pd_0": 1.0, "pe": None}, {"pd_0": 3.0, "pe": 0.2}])[0]
    {'pd_0': 2.0, 'pe': None}
    """
    # None becomes NaN, which spreads to the mean.
    table = pd.DataFrame(rows, dtype=float)
    # Estimated from a sample of the seeds; of one seed it would be NaN.
    sd = table.std(ddof=min(1, len(rows) - 1), skipna=False)
    return _without_nan(table.mean(skipna=False)), _without_nan(sd)


def _without_nan(numbers: Any) -> Row:
    """Make undefined numbers such as JSON can hold."""
    return {name: None if x != x else float(x) for name, x in numbers.items()}
