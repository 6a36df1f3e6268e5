"""How good are estimates from a few labels alone? Simulated shifts, and real ones.

Simulated batches have moved away from training in four ways; label_worlds.py draws
them. Real ones are the shifts over time of `cape_paper`, whose labels are all known:
some of them are drawn plainly, again and again.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import numpy as np
from label_worlds import (
    SHIFTS,
    Score,
    count_labelled,
    draw_from_strata,
    draw_plainly,
    draw_rows,
)
from study import Study, grouped, markdown_table, percent

from cape import CapeClassifier
from cape.labels._draw import cells_of_rows, stratify
from cape.labels._factor import LabelFactor
from cape.labels._sample import proportion_interval
from cape.training._reading import batch_of, read_batch
from cape_paper._problem import CASES, load_cases

LEVEL = 0.95
LABELS = (10, 25, 50, 100, 400)
AUCS = (0.65, 0.85, 0.95)
PREVALENCES = (0.03, 0.2, 0.5)
BATCH_ROWS = 2000
DRAWS_A_BATCH = 5
REPETITIONS = 500
FEWEST_FOR_STRATA = 50
"""With fewer labels, `stratify` draws plainly."""

FIGURES = ("inside", "width", "width_alone", "error", "error_alone")
"""Of one draw of labels; "alone" are as many labels without scores, drawn plainly."""


def judge(log_odds, sample, truth, share_alone):
    """Estimate the prevalence from one draw of labels, and compare it to the truth."""
    value, low, high = LabelFactor.of(log_odds, sample).alone(LEVEL)
    # Without scores: an interval with the finite batch correction, at the true share.
    rows_alone = sample.n_labelled / (1 - sample.n_labelled / sample.n_rows)
    low_alone, high_alone = proportion_interval(truth, rows_alone, LEVEL)
    return (
        low <= truth <= high,
        high - low,
        high_alone - low_alone,
        abs(value - truth),
        abs(share_alone - truth),
    )


# Simulated shifts


def simulate_batch(seed, setting):
    """Yield the outcomes of all drawings and numbers of labels in one batch."""
    auc, shift, prevalence = (setting[name] for name in ("auc", "shift", "prevalence"))
    score = Score.trained(np.random.default_rng(int(100 * auc)), auc)
    fields = [seed, SHIFTS.index(shift), int(100 * prevalence), int(100 * auc)]
    random = np.random.default_rng(fields)
    batch = score.batch(random, shift, prevalence, BATCH_ROWS)
    label_free = batch.label_free(random, shift)
    log_odds = score.model.log_odds
    truth = batch.prevalence
    for n in LABELS:
        strata = None
        if n >= FEWEST_FOR_STRATA:
            strata = stratify(
                score.model, batch.in_cells, n, label_free, batch.mean_score
            )
        for _ in range(DRAWS_A_BATCH):
            sample = batch.sample(*draw_plainly(random, batch, n))
            share = sample.positive_share
            yield ("plain", n), judge(log_odds, sample, truth, share)
            if strata is None:
                continue
            drawn = draw_from_strata(random, batch, strata.starts, strata.drawn)
            sample = batch.sample(*drawn)
            yield ("stratified", n), judge(log_odds, sample, truth, share)


SIMULATED = Study(
    "labels_simulated",
    simulate_batch,
    [
        ({"shift": shift, "auc": auc, "prevalence": prevalence}, 100)
        for shift, auc, prevalence in product(SHIFTS, AUCS, PREVALENCES)
    ],
    ("drawing", "labels"),
    FIGURES,
)


# Real shifts


def real_case(seed, setting):
    """Yield the outcomes of draws of labels in every group of a real shift."""
    problems, _ = load_cases([setting["case"]])
    for problem in problems:
        clf = CapeClassifier(random_state=seed)
        X, y, z = problem.train
        clf.fit(X, y, sensitive_features=z)
        X, _, z = problem.test
        adaptation = clf.adapt(X, sensitive_features=z)
        for group, (cells, positive) in rows_of_groups(clf, problem).items():
            free = adaptation.groups[group].estimate
            off = abs(free.value - float(positive.mean()))
            for n, outcome in repeat(clf.model_of(group), cells, positive):
                yield (problem.name, str(group), n), (*outcome, off)


def rows_of_groups(clf, problem):
    """Return the score cells and labels of the rows of every group."""
    X, y, z = problem.test
    batch = batch_of(clf, X, z)
    readings, _ = read_batch(batch, probabilities=True)
    is_positive = y == clf.classes_[1]
    parts = defaultdict(list)
    for reading in readings:
        index = slice(None) if reading.index is None else reading.index
        cells = cells_of_rows(reading.model.edges, reading.deciding)
        parts[reading.group].append((cells, is_positive[index]))
    groups = {}
    for group, of_group in parts.items():
        cells, positive = zip(*of_group, strict=True)
        groups[group] = (np.concatenate(cells), np.concatenate(positive))
    return groups


def repeat(model, cells, positive):
    """Draw labels of one group again and again."""
    random = np.random.default_rng(1)
    in_cells = np.bincount(cells, minlength=len(model.edges) + 1)
    truth = float(positive.mean())
    for n in LABELS:
        if n >= len(positive):
            continue
        for _ in range(REPETITIONS):
            rows, weights = draw_rows(random, len(positive), n)
            sample = count_labelled(in_cells, cells, positive, rows, weights)
            yield n, judge(model.log_odds, sample, truth, sample.positive_share)


REAL = Study(
    "labels_real",
    real_case,
    [({"case": case}, 1) for case in CASES],
    ("problem", "group", "labels"),
    (*FIGURES, "error_label_free"),
)


# Tables


def table_of_simulations(records):
    """Return a line for every shift, drawing and number of labels."""
    columns = ["shift", "drawing", "labels", "inside, mean", "lowest cell"]
    columns += ["highest cell", "width", "error", "error of labels alone"]
    columns += ["worst cell, to labels alone"]
    lines = []
    for (shift, drawing, n), cells in grouped(
        records, "shift", "drawing", "labels"
    ).items():
        lines.append([shift, drawing, n, *figures(cells, [[cell] for cell in cells])])
    return markdown_table(columns, lines)


def table_of_labels_saved(records):
    """Return how many labels predictions and strata save, for the same width."""
    columns = ["AUC", "shift"]
    columns += ["plain, 100 labels", "plain, 400", "stratified, 100", "stratified, 400"]
    lines = []
    for (auc, shift), cells in grouped(records, "auc", "shift").items():
        by_drawing = grouped(cells, "drawing", "labels")
        saved = []
        for key in product(("plain", "stratified"), (100, 400)):
            ratio = mean(by_drawing[key], "width") / mean(
                by_drawing[key], "width_alone"
            )
            # Adding 0.0 makes no zero negative.
            saved.append(percent(round(1 - ratio**2, 2) + 0.0, 0))
        lines.append([auc, shift, *saved])
    return markdown_table(columns, lines)


def table_of_real_shifts(records):
    """Return a line for every number of labels."""
    columns = ["labels a group", "groups", "inside, mean", "lowest group"]
    columns += ["highest group", "width", "error", "error of labels alone"]
    columns += ["worst data set, to labels alone", "error without labels"]
    lines = []
    for (n,), cells in grouped(records, "labels").items():
        by_case = list(grouped(cells, "case").values())
        line = [n, len(cells), *figures(cells, by_case)]
        lines.append([*line, f"{mean(cells, 'error_label_free'):.3f}"])
    return markdown_table(columns, lines)


def figures(cells, parts):
    """Return coverage, width and errors of some cells, and the worst of their parts."""
    inside = [cell["inside"] for cell in cells]
    ratios = [mean(part, "error") / mean(part, "error_alone") for part in parts]
    return [
        percent(np.mean(inside)),
        percent(min(inside)),
        percent(max(inside)),
        f"{mean(cells, 'width'):.3f}",
        f"{mean(cells, 'error'):.4f}",
        f"{mean(cells, 'error_alone'):.4f}",
        f"{max(ratios):.2f}",
    ]


def mean(records, name):
    """Return the mean of a figure over records."""
    return float(np.mean([record[name] for record in records]))
