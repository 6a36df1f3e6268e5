"""Does performance without labels hold? Expected and observed rates on COMPAS.

Each repetition splits the training year. One half trains; batches with other
prevalences are drawn from the other half, so that the shift is a prior shift by
construction.

    python benchmarks/expected.py --repetitions 50
    python benchmarks/expected.py --write docs/trust.md
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

from cape import CapeClassifier
from cape.datasets import fetch_compas
from cape.diagnostics import compare_expected, examine
from cape.sampling import shift
from tables import replace_block

RESULTS = Path("docs/data/expected.json")
ROWS = (60, 300)
PREVALENCES = ((0.2, 0.7), (0.5, 0.5), (0.7, 0.3))
PROCESSES = 2


class Configuration(NamedTuple):
    """What is repeated: a pool, a quantifier and a learner."""

    pool: str
    quantifier: str
    learner: str


class Outcome(NamedTuple):
    """One rate of one group in one batch."""

    metric: str
    rows: int
    inside: bool
    width: float


def make_learner(name):
    """A learner for the mixed columns of COMPAS."""
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
    """Train on one half, and compare expectation and truth on batches of the other."""
    configuration, seed = task
    warnings.simplefilter("ignore")
    d = fetch_compas(subset="train")
    X, X_rest, y, y_rest, z, z_rest = train_test_split(
        d.data,
        d.target,
        d.sensitive_features,
        test_size=0.5,
        random_state=seed,
        stratify=d.target,
    )
    clf = CapeClassifier(
        make_learner(configuration.learner),
        pool=configuration.pool,
        quantifier=configuration.quantifier,
        prevalences=10,
        cv=5,
        random_state=seed,
    )
    clf.fit(X, y, sensitive_features=z)
    outcomes = []
    for rows in ROWS:
        for prevalences in PREVALENCES:
            wanted = dict(zip(clf.groups_, prevalences, strict=True))
            batch = shift(X_rest, y_rest, z_rest, wanted, size=rows, random_state=seed)
            outcomes += compare_batch(clf, *batch, rows)
    return outcomes


def compare_batch(clf, X, y, z, rows):
    """Expected and observed rates of one batch."""
    seen = examine(clf, X, sensitive_features=z)
    y_pred = clf.predict(X, sensitive_features=z, adaptation=seen.adaptation)
    both = compare_expected(seen.expected, y, y_pred, sensitive_features=z)
    outcomes = []
    for (_, metric), row in both.iterrows():
        width = row["high"] - row["low"]
        outcomes.append(Outcome(metric, rows, bool(row["inside"]), width))
    return outcomes


def run(configuration, repetitions):
    """All repetitions of one configuration, as lines of the table."""
    tasks = [(configuration, seed) for seed in range(repetitions)]
    cells = defaultdict(list)
    with get_context("fork").Pool(PROCESSES) as workers:
        for outcomes in workers.imap_unordered(one_repetition, tasks):
            for outcome in outcomes:
                cells[outcome.metric, outcome.rows].append(outcome)
    return [describe(configuration, outcomes) for outcomes in cells.values()]


def describe(configuration, outcomes):
    """How often the observed rate was inside its interval, and how wide that was."""
    inside = np.mean([outcome.inside for outcome in outcomes])
    width = np.mean([outcome.width for outcome in outcomes])
    return {
        "pool": configuration.pool,
        "quantifier": configuration.quantifier,
        "metric": outcomes[0].metric,
        "rows": outcomes[0].rows,
        "rates": len(outcomes),
        "inside": round(float(inside), 4),
        "width": round(float(width), 4),
    }


def table(results):
    """The results as a table of Markdown."""
    lines = [
        "| pool | quantifier | rate | rows a group | inside its 95 % interval "
        "| mean width | rates |",
        "|---" * 7 + "|",
    ]
    for r in results:
        lines.append(
            f"| {r['pool']} | {r['quantifier']} | {r['metric']} | {r['rows']} "
            f"| {100 * r['inside']:.1f} % | {r['width']:.2f} | {r['rates']} |"
        )
    return "\n".join(lines)


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--pools", nargs="*", default=["threshold", "resampled"])
    parser.add_argument("--quantifiers", nargs="*", default=["spa", "histogram"])
    parser.add_argument("--learner", default="logistic")
    write_help = "write the table into this page, simulating nothing"
    parser.add_argument("--write", metavar="PAGE", help=write_help)
    return parser.parse_args()


def main():
    options = parse_options()
    if options.write:
        results = json.loads(RESULTS.read_text())
        replace_block(Path(options.write), "expected", table(results))
        return
    results = []
    for pool in options.pools:
        for quantifier in options.quantifiers:
            configuration = Configuration(pool, quantifier, options.learner)
            results += run(configuration, options.repetitions)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=0) + "\n")
    print(table(results))


if __name__ == "__main__":
    main()
