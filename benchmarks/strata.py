"""What does a draw of labels by strata cost or save, against a plain draw?

Both draws have the same predictions, and widths of intervals fall with the root of the
number of labels: the squared ratio of two widths says how many labels a draw needs. The
strata of `rows_to_label` get labels by the deviations that the score predicts;
"evenly" gives them labels in proportion to their rows, and "half way" is in between.

python benchmarks/strata.py --draws 200
python benchmarks/strata.py --write docs/a_hundred_labels.md
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import numpy as np
from label_worlds import LabelledBatch, Score, draw_from_strata, draw_plainly
from study import grouped, markdown_table, read_options, replace_block, store, stored

from cape._labelled import stratify
from cape._labelled._draw import largest_remainders
from cape._labelled._sample import estimate_with_labels

KEY = ("shift", "auc", "prevalence", "labels")
AUCS = (0.65, 0.8, 0.9, 0.95)
PREVALENCES = (0.02, 0.05, 0.2, 0.5)
LABELS = (100, 400)
BATCH_ROWS = 3000
DRAWS_A_BATCH = 20
DRAWINGS = ("by deviations", "half way", "evenly")
LEVEL = 0.95

SHIFTS = {
    "prior shift": (1, 0),
    "all scores lower": (1, -1),
    "all scores higher": (1, 1),
    "all scores much higher": (1, 2),
    "the score says the opposite": (-1, 0),
    "the score says nothing": (0, 0),
}
"""Where the positives lie, and how far all rows have moved, in distances between the
classes in training."""


def draw_batch(score, random, shift, prevalence):
    """Draw a batch, and its label-free estimate."""
    of_positives, of_all = SHIFTS[shift]
    positive = random.random(BATCH_ROWS) < prevalence
    x = random.normal(size=BATCH_ROWS)
    x = x + score.gap * (of_positives * positive + of_all)
    batch = LabelledBatch(score, x, positive)
    is_right = shift == "prior shift"
    return batch, batch.prevalence if is_right else batch.mean_score


def simulate_cell(score, shift, prevalence, n, draws):
    """Return the mean width of every draw, and how often intervals hold."""
    random = np.random.default_rng(
        [list(SHIFTS).index(shift), int(1000 * prevalence), n]
    )
    widths = defaultdict(list)
    held = 0
    for _ in range(draws // DRAWS_A_BATCH):
        batch, label_free = draw_batch(score, random, shift, prevalence)
        prediction = batch.predictions(label_free)
        strata = stratify(score.model, batch.in_cells, n, label_free, batch.mean_score)
        evenly = strata.rows * n / strata.rows.sum()
        drawings = {
            "by deviations": strata.drawn,
            "half way": whole_numbers(strata, (strata.drawn + evenly) / 2),
            "evenly": whole_numbers(strata, evenly),
        }
        for _ in range(DRAWS_A_BATCH):
            drawn = {"plain": draw_plainly(random, batch, n)}
            for name, numbers in drawings.items():
                drawn[name] = draw_from_strata(random, batch, strata.starts, numbers)
            for name, rows in drawn.items():
                labels = estimate_with_labels(batch.sample(*rows), prediction)
                low, high = labels.interval(LEVEL)
                widths[name].append(high - low)
                if name == "by deviations":
                    held += low <= batch.prevalence <= high
    means = {name: round(float(np.mean(values)), 5) for name, values in widths.items()}
    n_draws = len(widths["plain"])
    return {**means, "held": round(held / n_draws, 4), "draws": n_draws}


def whole_numbers(strata, labels):
    """Round the labels of all strata, as `stratify` does."""
    return largest_remainders(labels, strata.rows, int(strata.drawn.sum()), 2)


def simulate(draws):
    """Return a record for every cell."""
    records = []
    for auc in AUCS:
        score = Score.trained(np.random.default_rng(int(100 * auc)), auc)
        for shift, prevalence, n in product(SHIFTS, PREVALENCES, LABELS):
            found = simulate_cell(score, shift, prevalence, n, draws)
            record = dict(zip(KEY, (shift, auc, prevalence, n), strict=True))
            records.append(record | found)
    return records


def table_of(records):
    """Return a line for every shift: labels needed, relative to a plain draw."""
    lines = []
    for (shift,), cells in grouped(records, "shift").items():
        line = [shift]
        for name in DRAWINGS:
            needed = [(cell[name] / cell["plain"]) ** 2 for cell in cells]
            line.append(
                f"{np.mean(needed):.2f} ({min(needed):.2f} to {max(needed):.2f})"
            )
        line.append(f"{np.mean([cell['held'] for cell in cells]):.1%}")
        lines.append(line)
    columns = ["what moved", *DRAWINGS, "inside, by deviations"]
    return markdown_table(columns, lines)


def main():
    """Simulate, or write what was found into a page."""
    options = read_options(__doc__, draws=200)
    if options.write:
        replace_block(options.write, "strata", table_of(stored("strata")))
        return
    print(table_of(store("strata", simulate(options.draws), KEY)))


if __name__ == "__main__":
    main()
