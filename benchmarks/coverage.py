"""Do the intervals hold their level? Coverage of the realised prevalence, by simulation on the paper's generator.

One training draw serves all batch sizes and prevalences: its folds are fitted once. Labels of a batch are drawn with
the true prevalence, and an interval is right when it holds the share of positives that came out. From the root:

    python benchmarks/coverage.py --draws 2000                         # logistic regression, our quantifiers
    python benchmarks/coverage.py --draws 300 --learner boosting --scores folds
    python benchmarks/coverage.py --draws 40 --peer                    # QuaPy's bootstrap
    python benchmarks/coverage.py --write docs/trust.md                # tables from what was simulated
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from cape.histogram import ONE, ScoreHistogram, edges_for, round_scores
from cape.quantify import make_quantifier
from tables import replace_block

MEAN, SD = (
    {1: (15.0, 20.0), 0: (5.0, 40.0)},
    {1: (10.0, 10.0), 0: (5.0, 10.0)},
)  # as cape.datasets.make_synthetic
TRAINING_ROWS, BATCH_ROWS, PREVALENCES = (
    (200, 1000, 5000),
    (20, 100, 500, 5000),
    (0.1, 0.3, 0.5, 0.9),
)
PROMISED, OTHERS = ("spa", "histogram"), ("acc", "hdy", "dys", "emq", "cc", "pcc")
PEERS = ("QuaPy SMM bootstrap", "QuaPy EMQ bootstrap")
OTHERS_EVERY = 4  # the other quantifiers are tried on every fourth training draw
RESULTS = Path("docs/data/coverage.json")
LEARNERS = {
    "logistic": LogisticRegression(),
    "boosting": HistGradientBoostingClassifier(
        max_iter=30, max_leaf_nodes=8, early_stopping=False
    ),
}


def draw_rows(random, n_positive, n_negative):
    return np.concatenate(
        [
            random.normal(MEAN[y], SD[y], (n, 2))
            for y, n in ((1, n_positive), (0, n_negative))
        ]
    )


def train(random, rows, learner, scores):
    """Two histograms of out-of-fold scores, and the models that score a batch, as CapeClassifier has them."""
    n_positive = rows // 2
    X, y = (
        draw_rows(random, n_positive, rows - n_positive),
        np.repeat([1, 0], [n_positive, rows - n_positive]),
    )
    out_of_fold, models = np.empty(rows), []
    for fit_on, test in StratifiedKFold(
        10, shuffle=True, random_state=int(random.integers(1 << 30))
    ).split(X, y):
        models.append(clone(learner).fit(X[fit_on], y[fit_on]))
        out_of_fold[test] = models[-1].predict_proba(X[test])[:, 1]
    if scores == "refit":
        models = [clone(learner).fit(X, y)]
    rounded = round_scores(out_of_fold)
    edges = edges_for(rounded[y == 1], rounded[y == 0])
    return [
        ScoreHistogram.of(rounded[y == label], edges, keep_rows=True)
        for label in (1, 0)
    ], models


def one_draw(task):
    """Of one training draw, for each cell and quantifier: whether the interval was right, its width, its seconds."""
    seed, rows, learner, scores, peer, only = task
    random = np.random.default_rng([seed, rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (positives, negatives), models = train(random, rows, LEARNERS[learner], scores)
        names = (
            () if peer else only or PROMISED + (() if seed % OTHERS_EVERY else OTHERS)
        )
        intervals = {
            name: make_quantifier(name).fit(positives, negatives).interval
            for name in names
        }
        if peer:
            intervals = quapy_intervals(positives, negatives)
    found = []
    for n in BATCH_ROWS:
        for rho in PREVALENCES:
            n_positive = int(random.binomial(n, rho))
            X = draw_rows(random, n_positive, n - n_positive)
            s = np.stack(
                [round_scores(model.predict_proba(X)[:, 1]) for model in models]
            )
            batch = ScoreHistogram.of(
                s, positives.edges, unit=len(models), keep_rows=peer
            )
            for name, interval in intervals.items():
                start = time.process_time()
                low, high = interval(batch)
                spent = time.process_time() - start
                right = low - 1e-9 <= n_positive / n <= high + 1e-9
                found.append(((name, rows, n, rho), (right, high - low, spent)))
    return found


def quapy_intervals(positives, negatives):
    """QuaPy's bootstrap around two of its quantifiers, on the same scores."""
    from joblib import parallel_config
    from quapy.method.aggregative import EMQ, SMM
    from quapy.method.confidence import AggregativeBootstrap

    from cape.quantify._foreign import _Scores

    scores = np.concatenate([positives.rows, negatives.rows]) / ONE
    labels = np.repeat([1, 0], [len(positives.rows), len(negatives.rows)])

    def interval_of(quantifier):
        bootstrap = AggregativeBootstrap(
            quantifier, n_test_samples=500, confidence_level=0.95
        )
        quantifier.train_prevalence = np.array([1 - labels.mean(), labels.mean()])
        bootstrap.aggregation_fit(np.column_stack([1 - scores, scores]), labels)

        def interval(batch):
            rows = batch.rows / ONE
            with parallel_config(backend="sequential"):
                _, region = bootstrap.aggregate_conf(np.column_stack([1 - rows, rows]))
            return float(region.I_low[1]), float(region.I_high[1])

        return interval

    return dict(
        zip(
            PEERS,
            map(
                interval_of,
                (
                    SMM(_Scores(), fit_classifier=False),
                    EMQ(_Scores(), fit_classifier=False),
                ),
            ),
            strict=True,
        )
    )


def simulate(rows, draws, learner, scores, peer, only, processes, minutes):
    """Coverage, mean width, median milliseconds and number of draws of each cell."""
    tasks = [(seed, rows, learner, scores, peer, only) for seed in range(draws)]
    cells = defaultdict(list)
    stop = time.monotonic() + 60 * minutes
    with get_context("fork").Pool(processes) as pool:
        for found in pool.imap(
            one_draw, tasks, chunksize=2
        ):  # in order: no draw is left out for being slow
            for cell, value in found:
                cells[cell].append(value)
            if time.monotonic() > stop:
                break
    return [
        {
            "learner": learner,
            "scores": scores,
            "quantifier": name,
            "training_rows": training_rows,
            "batch_rows": n,
            "prevalence": rho,
            "draws": len(values),
            "coverage": round(float(np.mean([right for right, _, _ in values])), 4),
            "width": round(float(np.mean([width for _, width, _ in values])), 4),
            "milliseconds": round(
                1e3 * float(np.median([spent for _, _, spent in values])), 3
            ),
        }
        for (name, training_rows, n, rho), values in cells.items()
    ]


def remember(results, times_only=False):
    """Replace what was known of the same cells; or their times alone."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    key = (
        "learner",
        "scores",
        "quantifier",
        "training_rows",
        "batch_rows",
        "prevalence",
    )
    merged = {tuple(r[k] for k in key): r for r in known}
    for r in results:
        cell = tuple(r[k] for k in key)
        merged[cell] = (
            merged[cell] | {"milliseconds": r["milliseconds"]} if times_only else r
        )
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps([merged[k] for k in sorted(merged)], indent=0) + "\n")


def tables(results):
    """Coverage as Markdown: one table a learner, one line for each quantifier and number of training rows."""
    parts = []
    for learner, scores in sorted(
        {(r["learner"], r["scores"]) for r in results}, reverse=True
    ):
        mine = [r for r in results if (r["learner"], r["scores"]) == (learner, scores)]
        title = f'{learner}, `scores="{scores}"`'.capitalize()
        head = (
            "| quantifier | training rows | "
            + " | ".join(f"batch {n}" for n in BATCH_ROWS)
            + " | ms | draws |"
        )
        lines = [f"**{title}**\n", head, "|---" * (head.count("|") - 1) + "|"]
        for name in (*PROMISED, *OTHERS, *PEERS):
            for rows in TRAINING_ROWS:
                cells = [
                    r
                    for r in mine
                    if r["quantifier"] == name and r["training_rows"] == rows
                ]
                if cells:
                    lines.append(_line(name, rows, cells))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _line(name, rows, cells):
    shown = []
    for n in BATCH_ROWS:
        by_prevalence = sorted(
            (r["prevalence"], r["coverage"]) for r in cells if r["batch_rows"] == n
        )
        shown.append(
            " ".join(f"{coverage:.3f}".lstrip("0") for _, coverage in by_prevalence)
        )
    slowest, draws = (
        max(r["milliseconds"] for r in cells),
        min(r["draws"] for r in cells),
    )
    return (
        f"| {name} | {rows} | "
        + " | ".join(shown)
        + f" | {slowest:{'.0f' if slowest >= 10 else '.2g'}} | {draws} |"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="*", default=TRAINING_ROWS)
    parser.add_argument("--learner", default="logistic", choices=LEARNERS)
    parser.add_argument("--scores", default="refit", choices=("refit", "folds"))
    parser.add_argument(
        "--peer", action="store_true", help="QuaPy's bootstrap instead of ours"
    )
    parser.add_argument(
        "--only", nargs="*", default=(), help="these quantifiers, on every draw"
    )
    parser.add_argument(
        "--times-only",
        action="store_true",
        help="keep the coverage known, replace its times",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=1e9,
        help="stop after so long, with the draws done by then",
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--write",
        metavar="PAGE",
        help="write the tables into this page, simulating nothing",
    )
    options = parser.parse_args()
    if options.write:
        replace_block(
            Path(options.write), "coverage", tables(json.loads(RESULTS.read_text()))
        )
    else:
        for rows in options.rows:
            only = tuple(options.only)
            found = simulate(
                rows,
                options.draws,
                options.learner,
                options.scores,
                options.peer,
                only,
                options.processes,
                options.minutes,
            )
            remember(found, options.times_only)
            print(tables(found), flush=True)
