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
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, Scores, examine
from cape.metrics import confusion_by_group
from cape_paper._cells import Cell, Results, run_parts
from cape_paper._problem import Problem, Rows, load_cases, split
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
        ``folder``, ``n_jobs`` and ``on_step``, as in `compare_methods`.

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
    problems, skipped = load_cases(cases, data_home)
    if nannyml is None:
        skipped.append("NannyML was skipped: --nannyml names a Python that has it.")
    cells = []
    for problem in problems:
        for learner in LEARNERS:
            for seed in range(seeds):
                name = f"{problem.name} {learner} {seed}"
                cells.append(Cell(name, _judge, (problem, learner, seed, nannyml)))
    run = run_parts(cells, ["rows", "peers"], **running)
    run["versions"] |= dict(run.pop("peers"))
    frame = pd.DataFrame(run.pop("rows"))
    return {
        **run,
        "experiment": "logged",
        "title": "The model as it is",
        "seeds": seeds,
        "summary": [] if frame.empty else _summary(frame),
        "cases": [] if frame.empty else _by_case(frame),
        "skipped": skipped,
    }


def _judge(problem: Problem, learner: str, seed: int, nannyml: Path | None) -> Results:
    """Train a model on half of the rows, and judge what is expected of it.

    Returns
    -------
    dict
        ``rows``, one for each group, rate and method, and ``peers``, pairs of a name
        and a version.
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
    groups = reference["group"]
    clf.fit(
        reference.drop(columns=hidden), reference["label"], sensitive_features=groups
    )
    groups = batch["group"]
    seen = examine(clf, batch.drop(columns=hidden), sensitive_features=groups)
    estimates: dict[str, Any] = {"CAPE": {}}
    for group, expected in seen.expected.groups.items():
        estimates["CAPE"][group] = expected.rates
    peers = []
    if nannyml is not None:
        answer = _ask_nannyml(nannyml, reference, batch.drop(columns="label"))
        estimates["NannyML"] = answer["groups"]
        peers.append(("nannyml", answer["version"]))
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
    return {"rows": rows, "peers": peers}


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
    name = frame["rate"] + " " + frame["method"]
    means = frame.groupby(["case", name.rename("name")], sort=False)["error"].mean()
    return as_records(means.unstack(sort=False).reset_index())
