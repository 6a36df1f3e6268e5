"""Does performance without labels hold? Expected and observed rates under simulated prior shift on COMPAS.

Each repetition splits the training year: half trains, and from the other half batches with other prevalences are drawn.

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

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cape import CapeClassifier
from cape.datasets import fetch_compas
from cape.diagnostics import compare_expected, expected_performance
from cape.sampling import shift
from tables import replace_block

RESULTS = Path("docs/data/expected.json")
BATCHES = [
    (rows, a, b) for rows in (60, 300) for a, b in ((0.2, 0.7), (0.5, 0.5), (0.7, 0.3))
]


def learner(name):
    columns = make_column_transformer(
        (
            OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
            make_column_selector(dtype_exclude="number"),
        ),
        remainder=StandardScaler(),
    )
    model = (
        LogisticRegression()
        if name == "logistic"
        else HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8)
    )
    return make_pipeline(columns, model)


def one_repetition(task):
    seed, pool, quantifier, name = task
    warnings.simplefilter("ignore")
    d = fetch_compas(subset="train")
    X, X_, y, y_, z, z_ = train_test_split(
        d.data,
        d.target,
        d.sensitive_features,
        test_size=0.5,
        random_state=seed,
        stratify=d.target,
    )
    clf = CapeClassifier(
        learner(name),
        pool=pool,
        quantifier=quantifier,
        prevalences=10,
        cv=5,
        random_state=seed,
    )
    clf.fit(X, y, sensitive_features=z)
    found = []
    for rows, *prevalences in BATCHES:
        wanted = dict(zip(clf.groups_, prevalences, strict=True))
        batch, labels, groups = shift(X_, y_, z_, wanted, size=rows, random_state=seed)
        evidence = clf.evidence(batch, sensitive_features=groups)
        adaptation = clf.adapt(evidence=evidence)
        y_pred = clf.predict(batch, sensitive_features=groups, adaptation=adaptation)
        both = compare_expected(
            expected_performance(clf, evidence, adaptation),
            labels,
            y_pred,
            sensitive_features=groups,
        )
        for (_, metric), row in both.iterrows():
            found.append(
                (
                    metric,
                    rows,
                    bool(row["inside"]),
                    row["high"] - row["low"],
                    row["observed"] - row["expected"],
                )
            )
    return found


def run(repetitions, pool, quantifier, name, processes=2):
    tasks = [(seed, pool, quantifier, name) for seed in range(repetitions)]
    cells = defaultdict(list)
    with get_context("fork").Pool(processes) as workers:
        for found in workers.imap_unordered(one_repetition, tasks):
            for metric, rows, *values in found:
                cells[metric, rows].append(values)
    return cells


def table(results):
    lines = [
        "| pool | quantifier | rate | rows a group | inside its 95 % interval | mean width | rates |",
        "|---" * 7 + "|",
    ]
    for r in results:
        lines.append(
            f"| {r['pool']} | {r['quantifier']} | {r['metric']} | {r['rows']} | {100 * r['inside']:.1f} % | "
            f"{r['width']:.2f} | {r['rates']} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--pools", nargs="*", default=["threshold", "resampled"])
    parser.add_argument("--quantifiers", nargs="*", default=["spa", "histogram"])
    parser.add_argument("--learner", default="logistic")
    parser.add_argument(
        "--write",
        metavar="PAGE",
        help="write the table into this page, simulating nothing",
    )
    options = parser.parse_args()
    if options.write:
        replace_block(
            Path(options.write), "expected", table(json.loads(RESULTS.read_text()))
        )
    else:
        results = []
        for pool in options.pools:
            for quantifier in options.quantifiers:
                for (metric, rows), values in run(
                    options.repetitions, pool, quantifier, options.learner
                ).items():
                    inside, width, _ = (
                        np.array(values, dtype=float).mean(axis=0).tolist()
                    )
                    results.append(
                        {
                            "pool": pool,
                            "quantifier": quantifier,
                            "metric": metric,
                            "rows": rows,
                            "rates": len(values),
                        }
                        | {"inside": round(inside, 4), "width": round(width, 4)}
                    )
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=0) + "\n")
        print(table(results))
