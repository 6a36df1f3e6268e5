"""The model as it is: what to expect of logged decisions, beside NannyML.

A model is trained on half of the earlier rows. The other half, with labels, is the
reference table; the later rows are a batch without labels. Decisions at the cut 1/2 are
kept. Labels of the batch serve to judge the estimates, and nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, Estimate, Scores, examine
from cape.metrics import fairness_table
from cape_paper._cells import Results, judged, mean_records
from cape_paper._problem import Problem, Rows, run_cases, split

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
    **running: Any,
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
    **running
        ``folder`` and ``n_jobs``, as in `compare_methods`.

    Returns
    -------
    dict
        As JSON can hold it: ``records``, mean errors and intervals by case, learner,
        rate and method; ``skipped``, what is missing; and the facts of the run.

    Raises
    ------
    OSError
        If a file is missing or not the expected one.

    Examples
    --------
    >>> results = run_logged(["compas"], seeds=1)  # doctest: +SKIP
    >>> results["records"][0]["method"]  # doctest: +SKIP
    'CAPE'
    """
    run = run_cases(_judge, cases, seeds, nannyml, data_home=data_home, **running)
    if nannyml is None:
        run["skipped"].append("NannyML was skipped: --nannyml names a Python of it.")
    run["versions"] |= dict(run.pop("peers", []))
    return {
        **run,
        "experiment": "logged",
        "title": "The model as it is",
        "settings": {"seeds": seeds},
    }


def _judge(problem: Problem, seed: int, nannyml: Path | None) -> Results:
    """Train models on half of the rows, and judge what is expected of them."""
    judged_models: Results = {"records": [], "peers": []}
    for learner in LEARNERS:
        of_learner = _judge_model(problem, learner, seed, nannyml)
        for part, entries in of_learner.items():
            judged_models[part] += entries
    return judged_models


def _judge_model(
    problem: Problem, learner: str, seed: int, nannyml: Path | None
) -> Results:
    """Train one model, and judge what is expected of it.

    Returns
    -------
    dict
        ``records``, means over groups by rate and method, and ``peers``, pairs of a
        name and a version.
    """
    from skrub import tabular_pipeline

    known, unseen = split(problem.train, seed, 0.5)
    model = tabular_pipeline(LEARNERS[learner])
    if learner == "boosting":
        model.set_params(**{f"{model.steps[-1][0]}__random_state": seed})
    model.fit(_features(problem, known), known[1])
    reference = _logged(problem, model, unseen)
    batch = _logged(problem, model, problem.test)

    hidden = ["label", "group"]
    clf = CapeClassifier(Scores("score", "decision"), random_state=seed)
    clf.fit(
        reference.drop(columns=hidden),
        reference["label"],
        sensitive_features=reference["group"],
    )
    examination = examine(
        clf, batch.drop(columns=hidden), sensitive_features=batch["group"]
    )
    estimates: dict[str, Any] = {"CAPE": {}}
    for group, expected in examination.expected.groups.items():
        estimates["CAPE"][group] = expected.rates
    peers = []
    if nannyml is not None:
        answer = _ask_nannyml(nannyml, reference, batch.drop(columns="label"))
        estimates["NannyML"] = answer["groups"]
        peers.append(("nannyml", answer["version"]))
    truth, before = [
        fairness_table(
            rows["label"],
            rows["decision"],
            sensitive_features=rows["group"],
            pos_label=1,
        )
        for rows in (batch, reference)
    ]
    records = []
    for group, rate in product(problem.groups, RATES):
        key = {"case": problem.name, "learner": learner, "rate": rate}
        observed = truth[rate, group]
        answers: dict[str, Any] = {"reference": before[rate, group]}
        for method, of_groups in estimates.items():
            answers[method] = Estimate(*of_groups[group][rate])
        for method, estimate in answers.items():
            records.append({**key, "method": method, **judged(estimate, observed)})
    keys = ["case", "learner", "rate", "method"]
    return {"records": mean_records(records, keys), "peers": peers}


def _features(problem: Problem, rows: Rows) -> pd.DataFrame:
    X, _, z = rows
    codes = [problem.groups.index(group) for group in z]
    return X.assign(group_code=codes)


def _logged(problem: Problem, model: Any, rows: Rows) -> pd.DataFrame:
    """Put scores, decisions, labels and groups beside the columns of some rows."""
    X, y, z = rows
    score = model.predict_proba(_features(problem, rows))[:, 1]
    decision = (score > 0.5).astype(int)
    logged = X.assign(score=score, decision=decision, label=y, group=z.to_numpy())
    return logged.reset_index(drop=True)


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
