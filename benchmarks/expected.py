"""Does performance without labels hold? Expected and observed rates, once labels come.

The shift is a prior shift by construction. On COMPAS each repetition splits the
training year: one half trains, and batches with other prevalences are drawn from the
other half. The paper's generator trains on 1,000 rows a group.

    python benchmarks/expected.py --repetitions 50
    python benchmarks/expected.py --data synthetic --learner boosting \\
        --pools threshold --quantifiers onestep
    python benchmarks/expected.py --write docs/trust.md

The figures of a configuration replace those that it had before.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import defaultdict
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cape import CapeClassifier, examine
from cape.datasets import fetch_compas, make_synthetic
from cape.metrics import confusion_by_group
from cape.sampling import shift
from tables import replace_block

RESULTS = Path("docs/data/expected.json")
ROWS = {
    "COMPAS": (60, 300),
    "synthetic": (100, 1000, 10_000),
}
PREVALENCES = ((0.2, 0.7), (0.5, 0.5), (0.7, 0.3))
TRAINING_ROWS = 1000
PROCESSES = 2


class Configuration(NamedTuple):
    """What is repeated: data, a learner, a pool and a quantifier."""

    data: str
    learner: str
    pool: str
    quantifier: str


class Outcome(NamedTuple):
    """One rate of one group in one batch."""

    metric: str
    rows: int
    inside: bool
    width: float


def make_learner(name):
    """A learner for numbers and for the mixed columns of COMPAS, or the default."""
    if name == "default":
        return None
    categories = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    columns = make_column_transformer(
        (categories, make_column_selector(dtype_exclude="number")),
        remainder=StandardScaler(),
    )
    if name == "logistic":
        return make_pipeline(columns, LogisticRegression())
    boosting = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8)
    return make_pipeline(columns, boosting)


def one_repetition(task):
    """Train, and compare expectation and truth on batches of other prevalences."""
    configuration, seed = task
    warnings.simplefilter("ignore")
    train, rest = DATA[configuration.data](seed)
    clf = CapeClassifier(
        make_learner(configuration.learner),
        pool=configuration.pool,
        quantifier=configuration.quantifier,
        random_state=seed,
    )
    X, y, z = train
    clf.fit(X, y, sensitive_features=z)
    outcomes = []
    for rows in ROWS[configuration.data]:
        for prevalences in PREVALENCES:
            wanted = dict(zip(clf.groups_, prevalences, strict=True))
            batch = shift(*rest, wanted, size=rows, random_state=seed)
            outcomes += compare_batch(clf, *batch, rows)
    return outcomes


def halves_of_compas(seed):
    """Rows to train on, and rows to draw batches from."""
    d = fetch_compas(subset="train")
    X, X_rest, y, y_rest, z, z_rest = train_test_split(
        d.data,
        d.target,
        d.sensitive_features,
        test_size=0.5,
        random_state=seed,
        stratify=d.target,
    )
    return (X, y, z), (X_rest, y_rest, z_rest)


def synthetic(seed):
    """Rows to train on, and rows to draw batches from; few of these are drawn twice."""
    train = make_synthetic(2 * TRAINING_ROWS, random_state=seed)
    rest = make_synthetic(60_000, random_state=10_000 + seed)
    parts = []
    for d in (train, rest):
        parts.append((d.data, d.target, d.sensitive_features))
    return parts


DATA = {
    "COMPAS": halves_of_compas,
    "synthetic": synthetic,
}


def compare_batch(clf, X, y, z, rows):
    """Expected and observed rates of one batch."""
    seen = examine(clf, X, sensitive_features=z)
    y_pred = clf.predict(X, sensitive_features=z, adaptation=seen.adaptation)
    both = seen.compare(y, y_pred, sensitive_features=z)
    outcomes = []
    for (_, metric), row in both.iterrows():
        width = row["high"] - row["low"]
        outcomes.append(Outcome(metric, rows, bool(row["inside"]), width))
    observed = confusion_by_group(y, y_pred, sensitive_features=z)
    for group, adapted in seen.adaptation.groups.items():
        inside = observed[group].prevalence_difference <= adapted.pd_bound
        outcomes.append(Outcome("PD", rows, inside, adapted.pd_bound))
    return outcomes


def run(configuration, repetitions, processes):
    """All repetitions of one configuration, as lines of the table."""
    tasks = [(configuration, seed) for seed in range(repetitions)]
    cells = defaultdict(list)
    with get_context("fork").Pool(processes) as workers:
        for outcomes in workers.imap_unordered(one_repetition, tasks):
            for outcome in outcomes:
                cells[outcome.metric, outcome.rows].append(outcome)
    return [describe(configuration, outcomes) for outcomes in cells.values()]


def describe(configuration, outcomes):
    """How often the observed rate was inside its interval, and how wide that was."""
    inside = np.mean([outcome.inside for outcome in outcomes])
    width = np.mean([outcome.width for outcome in outcomes])
    return {
        **configuration._asdict(),
        "metric": outcomes[0].metric,
        "rows": outcomes[0].rows,
        "rates": len(outcomes),
        "inside": round(float(inside), 4),
        "width": round(float(width), 4),
    }


def table(results):
    """The results as a table of Markdown."""
    lines = [
        "| data | learner | pool | quantifier | rate | rows a group "
        "| inside its 95 % interval | mean width | rates |",
        "|---" * 9 + "|",
    ]
    for r in results:
        whose = [r[name] for name in Configuration._fields]
        inside = f"{100 * r['inside']:.1f} %"
        cells = [*whose, r["metric"], r["rows"], inside, f"{r['width']:.2f}"]
        cells.append(r["rates"])
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--data", choices=DATA, default="COMPAS")
    parser.add_argument("--pools", nargs="*", default=["threshold", "resampled"])
    parser.add_argument("--quantifiers", nargs="*", default=["spa", "histogram"])
    learners = ["logistic", "boosting", "default"]
    parser.add_argument("--learner", choices=learners, default="logistic")
    parser.add_argument("--processes", type=int, default=PROCESSES)
    write_help = "write the table into this page, simulating nothing"
    parser.add_argument("--write", metavar="PAGE", help=write_help)
    return parser.parse_args()


def others(configurations):
    """The figures of earlier runs, without those of these configurations."""
    if not RESULTS.exists():
        return []
    kept = []
    for entry in json.loads(RESULTS.read_text()):
        whose = Configuration(*(entry[name] for name in Configuration._fields))
        if whose not in configurations:
            kept.append(entry)
    return kept


def main():
    options = parse_options()
    if options.write:
        results = json.loads(RESULTS.read_text())
        replace_block(Path(options.write), "expected", table(results))
        return
    configurations = []
    for pool in options.pools:
        for quantifier in options.quantifiers:
            configuration = Configuration(
                options.data, options.learner, pool, quantifier
            )
            configurations.append(configuration)
    results = others(configurations)
    for configuration in configurations:
        results += run(configuration, options.repetitions, options.processes)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=0) + "\n")
    print(table(results))


if __name__ == "__main__":
    main()
