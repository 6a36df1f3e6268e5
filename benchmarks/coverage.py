"""Simulate how often intervals hold the realised prevalence, on the paper's generator.

One training draw serves all batch sizes and prevalences: its folds are fitted once. The
labels of a batch are drawn with the true prevalence, and an interval is right if it
holds the share of positives that was drawn. With ``--scores auto`` nothing but the
learner is given: ``CapeClassifier(learner)`` on two groups. From the root:

    python benchmarks/coverage.py --draws 2000                 # logistic regression
    python benchmarks/coverage.py --draws 300 --learner boosting --scores folds
    python benchmarks/coverage.py --draws 150 --learner chosen --scores auto
    python benchmarks/coverage.py --draws 40 --peer            # QuaPy's bootstrap
    python benchmarks/coverage.py --write docs/trust.md        # tables of the results
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from quantifiers import GivenScores, both_columns
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from study import (
    gather,
    grouped,
    markdown_table,
    read_options,
    replace_block,
    store,
    stored,
)

from cape import CapeClassifier
from cape._histogram import ONE, ScoreHistogram, edges_for, round_scores
from cape.quantify import QUANTIFIERS, make_quantifier

# U and V of the two classes, as in cape.datasets.make_synthetic.
MEAN = {1: (15.0, 20.0), 0: (5.0, 40.0)}
SD = {1: (10.0, 10.0), 0: (5.0, 10.0)}
TRAINING_ROWS = [200, 1000, 5000]
BATCH_ROWS = (20, 100, 500, 5000)
PREVALENCES = (0.1, 0.3, 0.5, 0.9)
GROUPS = ("a", "b")
PROMISED = ("spa", "histogram")
OTHERS = tuple(name for name in QUANTIFIERS if name not in PROMISED)
PEERS = ("QuaPy SMM bootstrap", "QuaPy EMQ bootstrap")
OTHERS_EVERY = 4
"""The other quantifiers are tried on every fourth training draw."""
LEARNERS = {
    "logistic": LogisticRegression(),
    "boosting": HistGradientBoostingClassifier(
        max_iter=30, max_leaf_nodes=8, early_stopping=False
    ),
    "chosen": None,
}
KEY = ("learner", "scores", "quantifier", "training_rows", "batch_rows", "prevalence")


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
    return np.stack([round_scores(model.predict_proba(X)[:, 1]) for model in models])


def train(random, rows, learner, scores):
    """Draw training rows and fit models to them as CapeClassifier does.

    Returns the out-of-fold scores of the two classes, and the models that score a
    batch.
    """
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
    positives = ScoreHistogram.of(positives, edges, keep_rows=True)
    negatives = ScoreHistogram.of(negatives, edges, keep_rows=True)
    return positives, negatives, models


def our_intervals(seed, positives, negatives):
    """Return the interval functions of our quantifiers by name."""
    names = PROMISED
    if seed % OTHERS_EVERY == 0:
        names = PROMISED + OTHERS
    intervals = {}
    for name in names:
        quantifier = make_quantifier(name)
        quantifier.fit(positives, negatives)
        intervals[name] = quantifier.interval
    return intervals


def quapy_intervals(positives, negatives):
    """Return QuaPy's bootstrap around two of its quantifiers, on the same scores."""
    from joblib import parallel_config
    from quapy.method.aggregative import EMQ, SMM
    from quapy.method.confidence import AggregativeBootstrap

    rows = (positives.rows, negatives.rows)
    probabilities = both_columns(np.concatenate(rows) / ONE)
    labels = np.repeat([1, 0], [len(rows[0]), len(rows[1])])

    def interval_by(method):
        quantifier = method(GivenScores(), fit_classifier=False)
        bootstrap = AggregativeBootstrap(
            quantifier, n_test_samples=500, confidence_level=0.95
        )
        quantifier.train_prevalence = np.array([1 - labels.mean(), labels.mean()])
        bootstrap.aggregation_fit(probabilities, labels)

        def interval(batch):
            with parallel_config(backend="sequential"):
                _, region = bootstrap.aggregate_conf(both_columns(batch.rows / ONE))
            return float(region.I_low[1]), float(region.I_high[1])

        return interval

    return dict(zip(PEERS, map(interval_by, (SMM, EMQ)), strict=True))


def one_draw(task):
    """Return the outcome of each interval on the batches after one training draw."""
    seed, rows, options = task
    warnings.simplefilter("ignore")
    if options.scores == "auto":
        return list(draw_by_default(seed, rows, options))
    return list(draw_by_quantifier(seed, rows, options))


def draw_by_quantifier(seed, rows, options):
    """Yield the outcomes of quantifiers, by name, rows and prevalence."""
    random = np.random.default_rng([seed, rows])
    learner = LEARNERS[options.learner]
    positives, negatives, models = train(random, rows, learner, options.scores)
    if options.peer:
        intervals = quapy_intervals(positives, negatives)
    else:
        intervals = our_intervals(seed, positives, negatives)
    for n in BATCH_ROWS:
        for rho in PREVALENCES:
            X, n_positive = draw_batch(random, n, rho)
            batch = ScoreHistogram.of(
                score_by_models(models, X),
                positives.edges,
                unit=len(models),
                keep_rows=options.peer,
            )
            for name, interval in intervals.items():
                start = time.process_time()
                low, high = interval(batch)
                seconds = time.process_time() - start
                yield (name, n, rho), outcome(low, high, n_positive / n, seconds)


def draw_by_default(seed, rows, options):
    """Yield the outcomes of the default settings; each group counts as a draw."""
    random = np.random.default_rng([seed, rows])
    n_positive = rows // 2
    sizes = (n_positive, rows - n_positive)
    X = np.concatenate([draw_rows(random, *sizes) for _ in GROUPS])
    y = np.tile(np.repeat([1, 0], sizes), len(GROUPS))
    model_seed = int(random.integers(1 << 30))
    clf = CapeClassifier(LEARNERS[options.learner], random_state=model_seed)
    clf.fit(X, y, sensitive_features=np.repeat(GROUPS, rows))
    for n in BATCH_ROWS:
        for rho in PREVALENCES:
            drawn = [draw_batch(random, n, rho) for _ in GROUPS]
            X = np.concatenate([rows_of_group for rows_of_group, _ in drawn])
            evidence = clf.evidence(X, sensitive_features=np.repeat(GROUPS, n))
            start = time.process_time()
            adaptation = clf.adapt(evidence=evidence, level=0.95)
            seconds = (time.process_time() - start) / len(GROUPS)
            for group, (_, n_positive) in zip(GROUPS, drawn, strict=True):
                found = adaptation.groups[group].estimate
                result = outcome(found.low, found.high, n_positive / n, seconds)
                yield (clf.quantifier, n, rho), result


def outcome(low, high, realised, seconds):
    """Return whether an interval was right, its width and its processor time."""
    right = low - 1e-9 <= realised <= high + 1e-9
    return right, high - low, seconds


def simulate(rows, options):
    """Return the records of all cells with so many training rows."""
    tasks = [(seed, rows, options) for seed in range(options.draws)]
    records = []
    for (name, n, rho), outcomes in gather(one_draw, tasks, options).items():
        right, widths, seconds = zip(*outcomes, strict=True)
        key = (options.learner, options.scores, name, rows, n, rho)
        record = {
            **dict(zip(KEY, key, strict=True)),
            "draws": len(outcomes),
            "coverage": round(float(np.mean(right)), 4),
            "width": round(float(np.mean(widths)), 4),
            "milliseconds": round(1e3 * float(np.median(seconds)), 3),
        }
        records.append(record)
    return records


def tables(records):
    """Return coverage in Markdown, one table for each learner and kind of scores."""
    parts = []
    settings = grouped(records, "learner", "scores")
    for learner, scores in sorted(settings, reverse=True):
        title = f'{learner}, `scores="{scores}"`'.capitalize()
        if scores == "auto":
            title = f"{learner}, default settings, two groups".capitalize()
        table = setting_table(settings[learner, scores])
        parts.append(f"**{title}**\n\n{table}")
    return "\n\n".join(parts)


def setting_table(records):
    """Return one table, a line for each quantifier and number of training rows."""
    columns = ["quantifier", "training rows"]
    columns += [f"batch {n}" for n in BATCH_ROWS] + ["ms", "draws"]
    by_line = grouped(records, "quantifier", "training_rows")
    lines = []
    for name in (*PROMISED, *OTHERS, *PEERS):
        for rows in TRAINING_ROWS:
            if (name, rows) in by_line:
                lines.append([name, rows, *figures(by_line[name, rows])])
    return markdown_table(columns, lines)


def figures(records):
    """Return the coverages of one quantifier, by batch size and prevalence."""
    ordered = sorted(records, key=lambda record: record["prevalence"])
    for n in BATCH_ROWS:
        coverages = []
        for record in ordered:
            if record["batch_rows"] == n:
                coverages.append(f"{record['coverage']:.3f}".lstrip("0"))
        yield " ".join(coverages)
    slowest = max(record["milliseconds"] for record in records)
    digits = ".0f" if slowest >= 10 else ".2g"
    yield f"{slowest:{digits}}"
    yield min(record["draws"] for record in records)


def main():
    """Simulate and store results, or write stored results into a page."""
    options = read_options(
        __doc__,
        draws=200,
        rows=TRAINING_ROWS,
        learner=tuple(LEARNERS),
        scores=("refit", "folds", "auto"),
        peer=False,
    )
    if options.write:
        replace_block(options.write, "coverage", tables(stored("coverage")))
        return
    for rows in options.rows:
        records = simulate(rows, options)
        store("coverage", records, KEY)
        print(tables(records), flush=True)


if __name__ == "__main__":
    main()
