"""How often intervals hold the realised prevalence, on the paper's generator.

One training draw serves all batch sizes and prevalences. The labels of a batch are
drawn with the true prevalence, and an interval is right if it holds the share of
positives that was drawn. Scores "auto" are those of ``CapeClassifier(learner)``, with
nothing else set, on two groups that count as two draws; otherwise every quantifier
reads the scores of one group, of ten folds.
"""

from __future__ import annotations

import numpy as np
from given_scores import GivenScores, both_columns
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from study import Study, grouped, markdown_table

from cape import CapeClassifier
from cape.quantify import (
    QUANTIFIERS,
    ScoreHistogram,
    edges_for,
    make_quantifier,
    round_scores,
)

# U and V of the two classes, as in cape.datasets.make_synthetic.
MEAN = {1: (15.0, 20.0), 0: (5.0, 40.0)}
SD = {1: (10.0, 10.0), 0: (5.0, 10.0)}
BATCH_ROWS = (20, 100, 500, 5000)
PREVALENCES = (0.1, 0.3, 0.5, 0.9)
GROUPS = ("a", "b")
PEER = "QuaPy, SMM with bootstrap"
PEER_CELLS = [(500, 0.3), (5000, 0.3)]
"""QuaPy's bootstrap takes its time, and is tried on fewer batches."""
LEARNERS = {
    "logistic": LogisticRegression(),
    "boosting": HistGradientBoostingClassifier(
        max_iter=30, max_leaf_nodes=8, early_stopping=False
    ),
    "chosen": None,
}


def draw_rows(random, n_positive, n_negative):
    """Draw rows of positives, then of negatives."""
    positives = random.normal(MEAN[1], SD[1], (n_positive, 2))
    negatives = random.normal(MEAN[0], SD[0], (n_negative, 2))
    return np.concatenate([positives, negatives])


def draw_batch(random, n, prevalence):
    """Draw the rows of a batch; return them and how many are positive."""
    n_positive = int(random.binomial(n, prevalence))
    return draw_rows(random, n_positive, n - n_positive), n_positive


def one_draw(seed, setting):
    """Yield the outcome of each interval on the batches after one training draw."""
    if setting["scores"] == "auto":
        yield from draw_by_default(seed, setting)
    else:
        yield from draw_by_quantifier(seed, setting)


def draw_by_quantifier(seed, setting):
    """Yield the outcomes of all quantifiers."""
    rows = setting["training_rows"]
    random = np.random.default_rng([seed, rows])
    learner = LEARNERS[setting["learner"]]
    X = draw_rows(random, rows // 2, rows - rows // 2)
    y = np.repeat([1, 0], [rows // 2, rows - rows // 2])
    splitter = StratifiedKFold(10, shuffle=True, random_state=seed)
    out_of_fold = np.empty(rows)
    for fit_on, test in splitter.split(X, y):
        model = clone(learner).fit(X[fit_on], y[fit_on])
        out_of_fold[test] = model.predict_proba(X[test])[:, 1]
    model = clone(learner).fit(X, y)
    intervals = {PEER: quapy_interval(out_of_fold, y)}
    if not setting["peer"]:
        intervals = our_intervals(out_of_fold, y)
    for n in BATCH_ROWS:
        for prevalence in PREVALENCES:
            X, n_positive = draw_batch(random, n, prevalence)
            if setting["peer"] and (n, prevalence) not in PEER_CELLS:
                continue
            scores = model.predict_proba(X)[:, 1]
            for name, interval in intervals.items():
                low, high = interval(scores)
                yield (name, n, prevalence), outcome(low, high, n_positive / n)


def our_intervals(out_of_fold, y):
    """Return functions from the scores of a batch to an interval, by quantifier."""
    positives = round_scores(out_of_fold[y == 1])
    negatives = round_scores(out_of_fold[y == 0])
    edges = edges_for(positives, negatives)
    classes = [ScoreHistogram.of(rows, edges) for rows in (positives, negatives)]

    def interval_of(name):
        quantifier = make_quantifier(name)
        quantifier.fit(*classes)
        return lambda scores: quantifier.interval(
            ScoreHistogram.of(round_scores(scores), edges)
        )

    return {name: interval_of(name) for name in QUANTIFIERS}


def quapy_interval(out_of_fold, y):
    """Return QuaPy's bootstrap around the quantifier that we call SPA."""
    from joblib import parallel_config
    from quapy.method.aggregative import SMM
    from quapy.method.confidence import AggregativeBootstrap

    quantifier = SMM(GivenScores(), fit_classifier=False)
    bootstrap = AggregativeBootstrap(
        quantifier, n_test_samples=500, confidence_level=0.95
    )
    quantifier.train_prevalence = np.array([1 - y.mean(), y.mean()])
    bootstrap.aggregation_fit(both_columns(out_of_fold), y)

    def interval(scores):
        with parallel_config(backend="sequential"):
            _, region = bootstrap.aggregate_conf(both_columns(scores))
        return float(region.I_low[1]), float(region.I_high[1])

    return interval


def draw_by_default(seed, setting):
    """Yield the outcomes of the default settings; each group counts as a draw."""
    rows = setting["training_rows"]
    random = np.random.default_rng([seed, rows])
    sizes = (rows // 2, rows - rows // 2)
    X = np.concatenate([draw_rows(random, *sizes) for _ in GROUPS])
    y = np.tile(np.repeat([1, 0], sizes), len(GROUPS))
    clf = CapeClassifier(LEARNERS[setting["learner"]], random_state=seed)
    clf.fit(X, y, sensitive_features=np.repeat(GROUPS, rows))
    for n in BATCH_ROWS:
        for prevalence in PREVALENCES:
            drawn = [draw_batch(random, n, prevalence) for _ in GROUPS]
            X = np.concatenate([rows_of_group for rows_of_group, _ in drawn])
            z = np.repeat(GROUPS, n)
            adaptation = clf.adapt(X, sensitive_features=z, level=0.95)
            for group, (_, n_positive) in zip(GROUPS, drawn, strict=True):
                found = adaptation.groups[group].estimate
                cell = (clf.quantifier, n, prevalence)
                yield cell, outcome(found.low, found.high, n_positive / n)


def outcome(low, high, realised):
    """Return whether an interval was right, and its width."""
    return low - 1e-9 <= realised <= high + 1e-9, high - low


def setting(learner, scores, training_rows, *, peer=False):
    return {
        "learner": learner,
        "scores": scores,
        "training_rows": training_rows,
        "peer": peer,
    }


STUDY = Study(
    "coverage",
    one_draw,
    [
        # Two groups are two draws.
        (setting("logistic", "auto", 200), 250),
        (setting("logistic", "auto", 1000), 250),
        (setting("logistic", "auto", 5000), 250),
        (setting("logistic", "refit", 200), 500),
        (setting("boosting", "auto", 1000), 250),
        (setting("logistic", "refit", 200, peer=True), 500),
        (setting("logistic", "refit", 1000), 500),
        (setting("boosting", "auto", 200), 250),
        (setting("chosen", "auto", 1000), 250),
    ],
    ("quantifier", "batch_rows", "prevalence"),
    ("inside", "width"),
)


TITLES = {
    "learner": "**Default settings, two groups**",
    "quantifier": (
        "**Each quantifier by itself**, logistic regression, one group, without what "
        "is known about shifts"
    ),
}


def tables(records):
    """Return coverage in Markdown: the defaults, and each quantifier by itself."""
    parts = []
    for what, title in TITLES.items():
        chosen = [r for r in records if (r["scores"] == "auto") == (what == "learner")]
        if chosen:
            parts += [title, table(chosen, what)]
    return "\n\n".join(parts)


def table(records, what):
    """Return a line for each learner or quantifier, and number of training rows."""
    columns = [what, "training rows", *(f"batch {n}" for n in BATCH_ROWS)]
    lines = []
    for (name,), of_name in grouped(records, what).items():
        for (rows,), cells in grouped(of_name, "training_rows").items():
            inside = [figures(cells, n, "inside", 3) for n in BATCH_ROWS]
            lines.append([name, rows, *inside, figures(cells, 500, "width", 2)])
    return markdown_table([*columns, "width at 500"], lines)


def figures(cells, batch_rows, name, digits):
    """Write a figure at every prevalence, without leading zeros."""
    values = [cell[name] for cell in cells if cell["batch_rows"] == batch_rows]
    return " ".join(f"{value:.{digits}f}".removeprefix("0") for value in values)
