"""How good are estimates from a few labels? Simulated shifts, and real ones.

Simulated batches have moved away from training in four ways; benchmarks/label_worlds.py
draws them. Real ones are the shifts over time of `cape_paper`, whose labels are
all known: some of them are drawn plainly, again and again.

python benchmarks/labels.py --draws 2000 --repetitions 200
python benchmarks/labels.py --draws 40 --repetitions 20
python benchmarks/labels.py --write docs/trust.md
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from itertools import product
from typing import NamedTuple

import numpy as np
from label_worlds import (
    SHIFTS,
    Score,
    count_labelled,
    draw_from_strata,
    draw_plainly,
    draw_rows,
)
from study import grouped, markdown_table, read_options, replace_block, store, stored

from cape import CapeClassifier
from cape._labelled import cells_of_rows, predictions, proportion_interval, stratify
from cape._labelled._sample import combine, estimate_with_labels
from cape._prediction import batch_of, read_batch
from cape_paper._problem import load_cases

SIMULATED = ("shift", "auc", "prevalence", "drawing", "labels")
REAL = ("case", "group", "labels")
LEVEL = 0.95
LABELS = (10, 25, 50, 100, 400)
AUCS = (0.65, 0.85, 0.95)
PREVALENCES = (0.03, 0.2, 0.5)
BATCH_ROWS = 2000
DRAWS_A_BATCH = 20
LABEL_FREE_ERROR = 0.02
FEWEST_FOR_STRATA = 50
"""With fewer labels, `stratify` draws plainly."""


class Outcome(NamedTuple):
    """One draw of labels: the estimate, and as many labels alone, drawn plainly."""

    inside: bool
    width: float
    width_alone: float
    error: float
    error_alone: float


class Truth(NamedTuple):
    """What an estimate is judged by, and what it starts from."""

    prevalence: float
    rows: int
    label_free: float
    standard_error: float


def judge(sample, prediction, truth, share_alone):
    """Estimate the prevalence from one draw of labels, and compare it to the truth."""
    labels = estimate_with_labels(sample, prediction)
    low, high = labels.interval(LEVEL)
    combined = combine(labels, truth.label_free, truth.standard_error, LEVEL)
    # Labels alone: an interval with the finite batch correction, at the true share.
    rows_alone = sample.n_labelled / (1 - sample.n_labelled / truth.rows)
    low_alone, high_alone = proportion_interval(truth.prevalence, rows_alone, LEVEL)
    return Outcome(
        low <= truth.prevalence <= high,
        high - low,
        high_alone - low_alone,
        abs(combined - truth.prevalence),
        abs(share_alone - truth.prevalence),
    )


def summary(outcomes):
    """Return the means over draws."""
    means = np.mean(outcomes, axis=0)
    fields = dict(zip(Outcome._fields, means, strict=True))
    return {name: round(float(value), 5) for name, value in fields.items()}


# Simulated shifts


def simulate(draws):
    """Return a record for every cell of the grid."""
    records = []
    for auc in AUCS:
        score = Score.trained(np.random.default_rng(int(100 * auc)), auc)
        for shift, prevalence in product(SHIFTS, PREVALENCES):
            cells = simulate_shift(score, shift, prevalence, draws)
            for (drawing, n), outcomes in cells.items():
                record = {
                    "shift": shift,
                    "auc": auc,
                    "prevalence": prevalence,
                    "drawing": drawing,
                    "labels": n,
                    "draws": len(outcomes),
                }
                records.append(record | summary(outcomes))
    return records


def simulate_shift(score, shift, prevalence, draws):
    """Return the outcomes of all drawings and numbers of labels."""
    random = np.random.default_rng([SHIFTS.index(shift), int(100 * prevalence)])
    cells = defaultdict(list)
    for _ in range(-(-draws // DRAWS_A_BATCH)):
        batch = score.batch(random, shift, prevalence, BATCH_ROWS)
        label_free = batch.label_free(random, shift)
        prediction = batch.predictions(label_free)
        truth = Truth(batch.prevalence, BATCH_ROWS, label_free, LABEL_FREE_ERROR)
        for n in LABELS:
            strata = None
            if n >= FEWEST_FOR_STRATA:
                strata = stratify(
                    score.model, batch.in_cells, n, label_free, batch.mean_score
                )
            for _ in range(DRAWS_A_BATCH):
                sample = batch.sample(*draw_plainly(random, batch, n))
                share = sample.positive_share
                cells["plain", n].append(judge(sample, prediction, truth, share))
                if strata is None:
                    continue
                drawn = draw_from_strata(random, batch, strata.starts, strata.drawn)
                sample = batch.sample(*drawn)
                cells["stratified", n].append(judge(sample, prediction, truth, share))
    return cells


# Real shifts


def run_real(repetitions):
    """Return a record for every group of every real shift, and number of labels."""
    records = []
    for problem in load_cases()[0]:
        warnings.simplefilter("ignore")
        clf = CapeClassifier(random_state=0)
        X, y, z = problem.train
        clf.fit(X, y, sensitive_features=z)
        X, _, z = problem.test
        adaptation = clf.adapt(X, sensitive_features=z)
        for group, (cells, positive) in rows_of_groups(clf, problem).items():
            adapted = adaptation.groups[group]
            free = adapted.estimate
            found = repeat(clf.model_of(group), cells, positive, free, repetitions)
            for n, outcomes in found.items():
                record = {
                    "case": problem.name,
                    "group": str(group),
                    "labels": n,
                    "draws": len(outcomes),
                    "error_label_free": abs(free.value - float(positive.mean())),
                }
                records.append(record | summary(outcomes))
    return records


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


def repeat(model, cells, positive, free, repetitions):
    """Draw labels of one group again and again."""
    random = np.random.default_rng(1)
    in_cells = np.bincount(cells, minlength=len(model.edges) + 1)
    prediction = predictions(model, free.value)
    truth = Truth(
        float(positive.mean()), len(positive), free.value, free.standard_error(LEVEL)
    )
    outcomes = defaultdict(list)
    for n in LABELS:
        if n >= len(positive):
            continue
        for _ in range(repetitions):
            rows, weights = draw_rows(random, len(positive), n)
            sample = count_labelled(in_cells, cells, positive, rows, weights)
            share = sample.positive_share
            outcomes[n].append(judge(sample, prediction, truth, share))
    return outcomes


# Tables


def table_of_simulations(records):
    """Return a line for every shift, drawing and number of labels."""
    columns = ["shift", "drawing", "labels", "inside, mean", "lowest cell"]
    columns += ["highest cell", "width", "error", "error of labels alone"]
    columns += ["worst cell, to labels alone", "draws a cell"]
    lines = []
    for (shift, drawing, n), cells in grouped(
        records, "shift", "drawing", "labels"
    ).items():
        lines.append([shift, drawing, n, *figures(cells)])
    return markdown_table(columns, lines)


def table_of_labels_saved(records):
    """Return how many labels predictions and strata save, for the same width."""
    lines = []
    for (auc, shift), cells in grouped(records, "auc", "shift").items():
        saved = []
        for drawing, n in product(("plain", "stratified"), (100, 400)):
            of_cell = [
                cell
                for cell in cells
                if cell["drawing"] == drawing and cell["labels"] == n
            ]
            ratio = mean(of_cell, "width") / mean(of_cell, "width_alone")
            saved.append(f"{1 - ratio**2:.0%}")
        lines.append([auc, shift, *saved])
    columns = ["AUC", "shift"]
    columns += ["plain, 100 labels", "plain, 400", "stratified, 100", "stratified, 400"]
    return markdown_table(columns, lines)


def table_of_real_shifts(records):
    """Return a line for every number of labels."""
    columns = ["labels a group", "groups", "inside, mean", "lowest group"]
    columns += ["highest group", "width", "error", "error of labels alone"]
    columns += ["worst data set, to labels alone", "draws a group"]
    columns.append("error without labels")
    lines = []
    for (n,), cells in grouped(records, "labels").items():
        line = [n, len(cells), *figures(cells, by="case")]
        lines.append([*line, f"{mean(cells, 'error_label_free'):.3f}"])
    return markdown_table(columns, lines)


def figures(cells, by=None):
    """Return coverage, width and errors of some cells, as text."""
    inside = [cell["inside"] for cell in cells]
    ratios = []
    parts = grouped(cells, by).values() if by else [[cell] for cell in cells]
    for part in parts:
        ratios.append(mean(part, "error") / mean(part, "error_alone"))
    return [
        f"{np.mean(inside):.1%}",
        f"{min(inside):.1%}",
        f"{max(inside):.1%}",
        f"{mean(cells, 'width'):.3f}",
        f"{mean(cells, 'error'):.4f}",
        f"{mean(cells, 'error_alone'):.4f}",
        f"{max(ratios):.2f}",
        min(cell["draws"] for cell in cells),
    ]


def mean(records, name):
    return float(np.mean([record[name] for record in records]))


def main():
    """Simulate and repeat, or write what was found into a page."""
    options = read_options(__doc__, draws=2000, repetitions=200)
    if options.write:
        simulated = stored("labels_simulated")
        page = options.write
        replace_block(page, "labels", table_of_simulations(simulated))
        replace_block(page, "labels saved", table_of_labels_saved(simulated))
        replace_block(page, "labels, real", table_of_real_shifts(stored("labels_real")))
        return
    real = run_real(options.repetitions)
    print(table_of_real_shifts(store("labels_real", real, REAL)))
    simulated = simulate(options.draws)
    store("labels_simulated", simulated, SIMULATED)
    print(table_of_simulations(simulated))
    print(table_of_labels_saved(simulated))


if __name__ == "__main__":
    main()
