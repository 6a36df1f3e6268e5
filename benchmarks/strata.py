"""What does a draw of labels by strata cost or save, against a plain draw?

Both draws have the same predictions, and widths of intervals fall with the root of the
number of labels: the squared ratio of two widths says how many labels a draw needs. The
strata of `rows_to_label` get labels by the deviations that the score predicts;
"evenly" gives them labels in proportion to their rows, and "half way" is in between.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from label_worlds import LabelledBatch, Score, draw_from_strata, draw_plainly
from study import Study, grouped, markdown_table, percent

from cape.labels._draw import largest_remainders, stratify
from cape.labels._factor import LabelFactor

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


def simulate_batch(seed, setting):
    """Yield the width of every draw in one batch, and whether an interval holds."""
    auc, n = setting["auc"], setting["labels"]
    shift, prevalence = setting["shift"], setting["prevalence"]
    score = Score.trained(np.random.default_rng(int(100 * auc)), auc)
    fields = [seed, list(SHIFTS).index(shift), int(1000 * prevalence), int(100 * auc)]
    random = np.random.default_rng([*fields, n])
    batch, label_free = draw_batch(score, random, shift, prevalence)
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
        intervals = {}
        for name, rows in drawn.items():
            factor = LabelFactor.of(score.model.log_odds, batch.sample(*rows))
            intervals[name] = factor.alone(LEVEL)
        widths = [interval.width for interval in intervals.values()]
        _, low, high = intervals["by deviations"]
        yield (), (*widths, low <= batch.prevalence <= high)


def whole_numbers(strata, labels):
    """Round the labels of all strata, as `stratify` does."""
    return largest_remainders(labels, strata.rows, int(strata.drawn.sum()), 2)


STUDY = Study(
    "strata",
    simulate_batch,
    [
        (
            {"shift": shift, "auc": auc, "prevalence": prevalence, "labels": n},
            500 // DRAWS_A_BATCH,
        )
        for auc, shift, prevalence, n in product(AUCS, SHIFTS, PREVALENCES, LABELS)
    ],
    (),
    ("plain", *DRAWINGS, "held"),
)


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
        line.append(percent(np.mean([cell["held"] for cell in cells])))
        lines.append(line)
    columns = ["what moved", *DRAWINGS, "inside, by deviations"]
    return markdown_table(columns, lines)
