"""Simulate how often intervals hold the realised prevalence, on the paper's generator.

One training draw serves all batch sizes and prevalences: its folds are fitted once. The
labels of a batch are drawn with the true prevalence, and an interval is right if it
holds the share of positives that was drawn. From the root:

    python benchmarks/coverage.py --draws 2000                 # logistic regression
    python benchmarks/coverage.py --draws 300 --learner boosting --scores folds
    python benchmarks/coverage.py --draws 40 --peer            # QuaPy's bootstrap
    python benchmarks/coverage.py --write docs/trust.md        # tables of the results

The default settings, all together, are simulated by ``coverage_defaults.py``.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from quantifiers import GivenScores, both_columns
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from cape.histogram import ONE, ScoreHistogram, edges_for, round_scores
from cape.quantify import QUANTIFIERS, make_quantifier
from tables import replace_block

# U and V of the two classes, as in cape.datasets.make_synthetic.
MEAN = {1: (15.0, 20.0), 0: (5.0, 40.0)}
SD = {1: (10.0, 10.0), 0: (5.0, 10.0)}
TRAINING_ROWS = (200, 1000, 5000)
BATCH_ROWS = (20, 100, 500, 5000)
PREVALENCES = (0.1, 0.3, 0.5, 0.9)
PROMISED = ("spa", "histogram")
OTHERS = tuple(name for name in QUANTIFIERS if name not in PROMISED)
PEERS = ("QuaPy SMM bootstrap", "QuaPy EMQ bootstrap")
OTHERS_EVERY = 4
"""The other quantifiers are tried on every fourth training draw."""
RESULTS = Path("docs/data/coverage.json")
LEARNERS = {
    "logistic": LogisticRegression(),
    "boosting": HistGradientBoostingClassifier(
        max_iter=30,
        max_leaf_nodes=8,
        early_stopping=False,
    ),
}
KEY = (
    "learner",
    "scores",
    "quantifier",
    "training_rows",
    "batch_rows",
    "prevalence",
)


class Training(NamedTuple):
    """Out-of-fold scores of the two classes, and the models that score a batch."""

    positives: ScoreHistogram
    negatives: ScoreHistogram
    models: list[Any]


class Task(NamedTuple):
    """One training draw."""

    seed: int
    rows: int
    learner: str
    scores: str
    peer: bool
    only: tuple[str, ...]


class Outcome(NamedTuple):
    """One interval: whether it was right, its width and its processor time."""

    right: bool
    width: float
    seconds: float


def draw_rows(random, n_positive, n_negative):
    """Draw rows of positives, then of negatives."""
    positives = random.normal(MEAN[1], SD[1], (n_positive, 2))
    negatives = random.normal(MEAN[0], SD[0], (n_negative, 2))
    return np.concatenate([positives, negatives])


def draw_batch(random, n, prevalence):
    """Draw the rows of a batch; return them and how many are positive."""
    n_positive = int(random.binomial(n, prevalence))
    return draw_rows(random, n_positive, n - n_positive), n_positive


def score_by_models(models, X):
    """Return rounded scores of shape (n_models, n_rows)."""
    scores = [round_scores(model.predict_proba(X)[:, 1]) for model in models]
    return np.stack(scores)


def train(random, rows, learner, scores):
    """Draw training rows and fit models to them as CapeClassifier does."""
    n_positive = rows // 2
    X = draw_rows(random, n_positive, rows - n_positive)
    y = np.repeat([1, 0], [n_positive, rows - n_positive])
    seed = int(random.integers(1 << 30))
    splitter = StratifiedKFold(10, shuffle=True, random_state=seed)
    out_of_fold = np.empty(rows, dtype=np.int64)
    models = []
    for fit_on, test in splitter.split(X, y):
        model = clone(learner).fit(X[fit_on], y[fit_on])
        out_of_fold[test] = score_by_models([model], X[test])[0]
        models.append(model)
    if scores == "refit":
        models = [clone(learner).fit(X, y)]
    positives = out_of_fold[y == 1]
    negatives = out_of_fold[y == 0]
    edges = edges_for(positives, negatives)
    return Training(
        ScoreHistogram.of(positives, edges, keep_rows=True),
        ScoreHistogram.of(negatives, edges, keep_rows=True),
        models,
    )


def our_intervals(task, training):
    """Return the interval functions of our quantifiers by name."""
    names = PROMISED
    if task.only:
        names = task.only
    elif task.seed % OTHERS_EVERY == 0:
        names = PROMISED + OTHERS
    intervals = {}
    for name in names:
        quantifier = make_quantifier(name)
        quantifier.fit(training.positives, training.negatives)
        intervals[name] = quantifier.interval
    return intervals


def quapy_intervals(training):
    """Return QuaPy's bootstrap around two of its quantifiers, on the same scores."""
    from quapy.method.aggregative import EMQ, SMM

    quantifiers = (
        SMM(GivenScores(), fit_classifier=False),
        EMQ(GivenScores(), fit_classifier=False),
    )
    intervals = {}
    for name, quantifier in zip(PEERS, quantifiers, strict=True):
        intervals[name] = quapy_interval(quantifier, training)
    return intervals


def quapy_interval(quantifier, training):
    """Return a function from a batch to the interval of QuaPy's bootstrap."""
    from joblib import parallel_config
    from quapy.method.confidence import AggregativeBootstrap

    positives = training.positives.rows
    negatives = training.negatives.rows
    scores = np.concatenate([positives, negatives]) / ONE
    labels = np.repeat([1, 0], [len(positives), len(negatives)])
    bootstrap = AggregativeBootstrap(
        quantifier,
        n_test_samples=500,
        confidence_level=0.95,
    )
    prevalence = labels.mean()
    quantifier.train_prevalence = np.array([1 - prevalence, prevalence])
    bootstrap.aggregation_fit(both_columns(scores), labels)

    def interval(batch):
        with parallel_config(backend="sequential"):
            _, region = bootstrap.aggregate_conf(both_columns(batch.rows / ONE))
        return float(region.I_low[1]), float(region.I_high[1])

    return interval


def one_draw(task):
    """Return the outcome of each interval on the batches after one training draw."""
    random = np.random.default_rng([task.seed, task.rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        training = train(random, task.rows, LEARNERS[task.learner], task.scores)
        if task.peer:
            intervals = quapy_intervals(training)
        else:
            intervals = our_intervals(task, training)
    outcomes = []
    for n in BATCH_ROWS:
        for rho in PREVALENCES:
            X, n_positive = draw_batch(random, n, rho)
            batch = ScoreHistogram.of(
                score_by_models(training.models, X),
                training.positives.edges,
                unit=len(training.models),
                keep_rows=task.peer,
            )
            for name, interval in intervals.items():
                outcome = measure(interval, batch, n_positive / n)
                outcomes.append(((name, task.rows, n, rho), outcome))
    return outcomes


def measure(interval, batch, realised):
    """Compute an interval and see whether it holds the realised prevalence."""
    start = time.process_time()
    low, high = interval(batch)
    seconds = time.process_time() - start
    right = low - 1e-9 <= realised <= high + 1e-9
    return Outcome(right, high - low, seconds)


def simulate(rows, options):
    """Return the records of all cells with so many training rows."""
    only = tuple(options.only)
    setting = (rows, options.learner, options.scores, options.peer, only)
    tasks = [Task(seed, *setting) for seed in range(options.draws)]
    cells = defaultdict(list)
    stop = time.monotonic() + 60 * options.minutes
    with get_context("fork").Pool(options.processes) as pool:
        # In order of the seeds: no draw is left out for being slow.
        for outcomes in pool.imap(one_draw, tasks, chunksize=2):
            for cell, outcome in outcomes:
                cells[cell].append(outcome)
            if time.monotonic() > stop:
                break
    records = []
    for cell, outcomes in cells.items():
        key = (options.learner, options.scores, *cell)
        records.append(dict(zip(KEY, key, strict=True)) | summary(outcomes))
    return records


def summary(outcomes):
    """Return coverage, mean width, median time and number of draws."""
    right = [outcome.right for outcome in outcomes]
    widths = [outcome.width for outcome in outcomes]
    seconds = [outcome.seconds for outcome in outcomes]
    return {
        "draws": len(outcomes),
        "coverage": round(float(np.mean(right)), 4),
        "width": round(float(np.mean(widths)), 4),
        "milliseconds": round(1e3 * float(np.median(seconds)), 3),
    }


def remember(results, times_only=False):
    """Replace the stored records of the same cells, or their times alone."""
    stored = []
    if RESULTS.exists():
        stored = json.loads(RESULTS.read_text())
    by_cell = {tuple(record[name] for name in KEY): record for record in stored}
    for record in results:
        cell = tuple(record[name] for name in KEY)
        if times_only:
            by_cell[cell]["milliseconds"] = record["milliseconds"]
        else:
            by_cell[cell] = record
    ordered = [by_cell[cell] for cell in sorted(by_cell)]
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(ordered, indent=0) + "\n")


def tables(results):
    """Return coverage in Markdown, one table for each learner and kind of scores."""
    settings = defaultdict(list)
    for record in results:
        settings[record["learner"], record["scores"]].append(record)
    parts = []
    for setting in sorted(settings, reverse=True):
        parts.append(setting_table(setting, settings[setting]))
    return "\n\n".join(parts)


def setting_table(setting, results):
    """Return one table, a line for each quantifier and number of training rows."""
    learner, scores = setting
    title = f'{learner}, `scores="{scores}"`'.capitalize()
    if scores == "auto":
        title = f"{learner}, default settings, two groups".capitalize()
    columns = ["quantifier", "training rows"]
    columns += [f"batch {n}" for n in BATCH_ROWS]
    columns += ["ms", "draws"]
    lines = [
        f"**{title}**\n",
        f"| {' | '.join(columns)} |",
        "|---" * len(columns) + "|",
    ]
    by_line = defaultdict(list)
    for record in results:
        by_line[record["quantifier"], record["training_rows"]].append(record)
    for name in (*PROMISED, *OTHERS, *PEERS):
        for rows in TRAINING_ROWS:
            if (name, rows) in by_line:
                lines.append(table_line(name, rows, by_line[name, rows]))
    return "\n".join(lines)


def table_line(name, rows, records):
    """Return the coverages of one quantifier, by batch size and prevalence."""
    cells = [name, str(rows)]
    ordered = sorted(records, key=lambda record: record["prevalence"])
    for n in BATCH_ROWS:
        coverages = [
            f"{record['coverage']:.3f}".lstrip("0")
            for record in ordered
            if record["batch_rows"] == n
        ]
        cells.append(" ".join(coverages))
    slowest = max(record["milliseconds"] for record in records)
    digits = ".0f" if slowest >= 10 else ".2g"
    cells.append(f"{slowest:{digits}}")
    cells.append(str(min(record["draws"] for record in records)))
    return f"| {' | '.join(cells)} |"


def parse_arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="*", default=TRAINING_ROWS)
    parser.add_argument("--learner", default="logistic", choices=LEARNERS)
    parser.add_argument("--scores", default="refit", choices=("refit", "folds"))
    parser.add_argument(
        "--peer",
        action="store_true",
        help="QuaPy's bootstrap instead of ours",
    )
    parser.add_argument(
        "--only",
        nargs="*",
        default=(),
        help="these quantifiers, on every draw",
    )
    parser.add_argument(
        "--times-only",
        action="store_true",
        help="keep the coverage that is stored, replace its times",
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
    return parser.parse_args()


def main():
    """Simulate and store results, or write stored results into a page."""
    options = parse_arguments()
    if options.write:
        results = json.loads(RESULTS.read_text())
        replace_block(Path(options.write), "coverage", tables(results))
        return
    for rows in options.rows:
        results = simulate(rows, options)
        remember(results, options.times_only)
        print(tables(results), flush=True)


if __name__ == "__main__":
    main()
