"""The model as it is: what to expect of logged decisions, beside NannyML.

A model is trained on half of the earlier rows. The other half, with labels, is the
reference table; the later rows are a batch without labels. Decisions at the cut 1/2 are
kept. Labels of the batch serve to judge the estimates, and nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from cape import CapeClassifier, Scores, examine
from cape.metrics import confusion_by_group
from cape_paper._cells import Cell, OnStep, Results, run_cells, run_facts
from cape_paper._problem import Problem, Rows, load_cases
from cape_paper._records import as_records, over_cases

LEARNERS = {
    "boosting": HistGradientBoostingClassifier(),
    "logistic": LogisticRegression(max_iter=1000),
}
RATES = ("accuracy", "fnr", "fpr")


def run_logged(
    cases: Sequence[str] | None = None,
    *,
    seeds: int = 3,
    nannyml: Path | None = None,
    data_home: Any = None,
    folder: Path | None = None,
    n_jobs: int | None = None,
    on_step: OnStep = lambda name, done, total: None,
) -> Results:
    """Compare what to expect of logged decisions with what labels say.

    Parameters
    ----------
    cases : sequence of str, default=None
        As in `run_shifts`.
    seeds : int, default=3
        How often training rows are cut in halves.
    nannyml : Path, default=None
        Python of an environment that has NannyML; None leaves NannyML out.
    data_home : str or Path, default=None
        Folder of the data; see `cape.datasets.fetch_compas`.
    folder, n_jobs, on_step
        As in `compare_methods`.

    Returns
    -------
    dict
        As JSON can hold it: ``cases``, errors of each case; ``summary``, errors and
        intervals over all cells; ``skipped`` and ``failed``, what is
        missing; and the facts of the run.

    Raises
    ------
    ValueError
        If a case is unknown.
    OSError
        If a file is missing or not the expected one.

    Examples
    --------
    >>> results = run_logged(["compas"], seeds=1)  # doctest: +SKIP
    >>> results["summary"][0]["method"]  # doctest: +SKIP
    'CAPE'
    """
    start = time.monotonic()
    problems, skipped = load_cases(cases, data_home)
    if nannyml is None:
        skipped.append("NannyML was skipped: --nannyml names a Python that has it.")
    cells = []
    for problem in problems:
        for learner in LEARNERS:
            for seed in range(seeds):
                name = f"{problem.name} {learner} {seed}"
                cells.append(Cell(name, _judge, (problem, learner, seed, nannyml)))
    finished = run_cells(cells, folder, n_jobs=n_jobs, on_step=on_step)
    rows = []
    failed = []
    facts = run_facts(start, finished)
    for cell, result in zip(cells, finished, strict=True):
        if "error" in result:
            failed.append(f"{cell.name} failed: {result['error']}")
            continue
        rows += result["rows"]
        facts["versions"] |= result["versions"]
    frame = pd.DataFrame(rows)
    summary = []
    if rows:
        summary = _summary(frame)
    return {
        "experiment": "logged",
        "title": "The model as it is",
        "seeds": seeds,
        "summary": summary,
        "cases": _by_case(frame) if rows else [],
        "skipped": skipped,
        "failed": failed,
        **facts,
    }


def _judge(problem: Problem, learner: str, seed: int, nannyml: Path | None) -> Results:
    """Train a model on half of the rows, and judge what is expected of it.

    Returns
    -------
    dict
        ``rows``, one for each group, rate and method, and ``versions``.
    """
    from skrub import tabular_pipeline

    X, y, z = problem.train
    strata = z.astype(str) + pd.Series(y).astype(str)
    halves = train_test_split(
        np.arange(len(y)), test_size=0.5, random_state=seed, stratify=strata
    )
    model = tabular_pipeline(LEARNERS[learner])
    if learner == "boosting":
        model.set_params(**{f"{model.steps[-1][0]}__random_state": seed})
    known = (X.iloc[halves[0]], y[halves[0]], z.iloc[halves[0]])
    model.fit(_features(problem, known), known[1])
    reference = _logged(
        problem, model, (X.iloc[halves[1]], y[halves[1]], z.iloc[halves[1]])
    )
    batch = _logged(problem, model, problem.test)

    hidden = ["label", "group"]
    clf = CapeClassifier(Scores("score", "decision"), random_state=seed)
    groups = reference["group"]
    clf.fit(
        reference.drop(columns=hidden), reference["label"], sensitive_features=groups
    )
    groups = batch["group"]
    seen = examine(clf, batch.drop(columns=hidden), sensitive_features=groups)
    estimates: dict[str, Any] = {"CAPE": {}}
    for group, expected in seen.expected.groups.items():
        estimates["CAPE"][group] = expected.rates
    versions = {}
    if nannyml is not None:
        answer = _ask_nannyml(nannyml, reference, batch.drop(columns="label"))
        estimates["NannyML"] = answer["groups"]
        versions["nannyml"] = answer["version"]
    truth = _confusion(batch)
    before = _confusion(reference)
    rows = []
    for group in problem.groups:
        for rate in RATES:
            observed = getattr(truth[group], rate)
            key = {
                "case": problem.name,
                "group": group,
                "learner": learner,
                "rate": rate,
            }
            for method, of_groups in estimates.items():
                value, low, high = of_groups[group][rate]
                judged = {
                    "error": abs(value - observed),
                    "holds": float(low <= observed <= high),
                    "width": high - low,
                }
                rows.append({**key, "method": method, **judged})
            error = abs(getattr(before[group], rate) - observed)
            rows.append({**key, "method": "reference", "error": error})
    return {"rows": rows, "versions": versions}


def _features(problem: Problem, rows: Rows) -> pd.DataFrame:
    X, _, z = rows
    codes = [problem.groups.index(group) for group in z]
    return X.assign(group_code=codes)


def _logged(problem: Problem, model: Any, rows: Rows) -> pd.DataFrame:
    """Put scores, decisions, labels and groups beside the columns of some rows."""
    X, y, z = rows
    score = model.predict_proba(_features(problem, rows))[:, 1]
    decision = (score > 0.5).astype(int)
    return X.assign(
        score=score, decision=decision, label=y, group=z.to_numpy()
    ).reset_index(drop=True)


def _confusion(table: pd.DataFrame) -> Any:
    return confusion_by_group(
        table["label"], table["decision"], sensitive_features=table["group"]
    )


def _ask_nannyml(python: Path, reference: pd.DataFrame, batch: pd.DataFrame) -> Results:
    """Let the Python of another environment estimate the rates by CBPE."""
    script = Path(__file__).with_name("_nannyml.py")
    columns = ["group", "score", "decision"]
    with TemporaryDirectory() as folder:
        paths = [Path(folder, "reference.parquet"), Path(folder, "batch.parquet")]
        reference[[*columns, "label"]].to_parquet(paths[0])
        batch[columns].to_parquet(paths[1])
        finished = subprocess.run(
            [str(python), str(script), *map(str, paths)],
            env={**os.environ, "NML_DISABLE_USAGE_LOGGING": "1", "PYTHONPATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
    if finished.returncode != 0:
        reason = finished.stderr.strip().splitlines()[-1:]
        raise ValueError(f"NannyML failed: {' '.join(reason)}")
    return json.loads(finished.stdout.splitlines()[-1])


def _summary(frame: pd.DataFrame) -> list[Results]:
    """Summarise errors and intervals over cases, for each learner and for both."""
    both = frame.assign(learner="both")
    pooled = both.assign(rate="all three")
    records = pd.concat([pooled, both, frame]).assign(times=1)
    keys = ["learner", "rate", "method"]
    errors = over_cases(records, keys, "error")
    summary = pd.DataFrame({"error": errors["mean"], "spread": errors["sem"]})
    for column in ("holds", "width"):
        summary[column] = over_cases(records, keys, column)["mean"]
    return as_records(summary.reset_index())


def _by_case(frame: pd.DataFrame) -> list[Results]:
    """Average the errors of each case over groups, learners and seeds."""
    means = frame.groupby(["case", "method", "rate"], sort=False)["error"].mean()
    rows = []
    for case in frame["case"].unique():
        row = {"case": case}
        for (method, rate), error in means[case].items():
            row[f"{rate} {method}"] = float(error)
        rows.append(row)
    return rows
