"""Simulate the level and the power of the test of the assumption.

On the paper's generator, and on COMPAS under a simulated prior shift. There each
repetition splits the training year: one half trains, and batches with other prevalences
are drawn from the other half, as they are and with the age of everybody moved.

python benchmarks/shift_test.py --draws 200 --minutes 5
python benchmarks/shift_test.py --data COMPAS --draws 100
python benchmarks/shift_test.py --write docs/trust.md
"""

from __future__ import annotations

import warnings

import numpy as np
from coverage import LEARNERS, draw_batch, draw_rows
from expected import halves_of_compas, make_learner
from study import (
    gather,
    grouped,
    markdown_table,
    read_options,
    replace_block,
    store,
    stored,
)

from cape import CapeClassifier, examine
from cape.sampling import shift

KEY = ("data", "learner", "scores", "training_rows", "batch_rows", "shift")
BATCH_ROWS = {"generator": (50, 500, 5000), "COMPAS": (50, 300)}
SHIFTS = {
    "none": (0.0, 0.0),
    "U by half a standard deviation": (5.0, 0.0),
    "V by half a standard deviation": (0.0, 5.0),
}
AGES = {"none": 0.0, "age by half a standard deviation": 0.5}
PREVALENCES = ((0.2, 0.7), (0.5, 0.5), (0.7, 0.3))
# Learner, scores, training rows; the half of COMPAS has its own number of rows.
SETTINGS = {
    "generator": [
        ("logistic", "refit", 200),
        ("logistic", "refit", 2000),
        ("logistic", "refit", 50_000),
        ("boosting", "folds", 200),
        ("boosting", "folds", 2000),
        ("boosting", "refit", 200),
    ],
    "COMPAS": [("logistic", "refit", None), ("boosting", "folds", None)],
}


def on_generator(seed, learner, scores, rows):
    """Train on rows of the generator; return a model, and draws of batches."""
    random = np.random.default_rng([seed, rows, 1])
    clf = CapeClassifier(
        LEARNERS[learner], pool="threshold", scores=scores, cv=10, random_state=seed
    )
    n_positive = rows // 2
    y = np.repeat([1, 0], [n_positive, rows - n_positive])
    clf.fit(draw_rows(random, n_positive, rows - n_positive), y)

    def batches(n):
        for rho in (0.1, 0.5, 0.9):
            X, _ = draw_batch(random, n, rho)
            for what, by in SHIFTS.items():
                yield what, X + np.array(by), None

    return clf, batches


def on_compas(seed, learner, scores, rows):
    """Train on a half of COMPAS; return a model, and draws from the other half."""
    train, rest = halves_of_compas(seed)
    clf = CapeClassifier(
        make_learner(learner), pool="threshold", cv=5, scores=scores, random_state=seed
    )
    X, y, z = train
    clf.fit(X, y, sensitive_features=z)
    standard_deviation = X["age"].std()

    def batches(n):
        for prevalences in PREVALENCES:
            wanted = dict(zip(clf.groups_, prevalences, strict=True))
            batch, _, groups = shift(*rest, wanted, size=n, random_state=seed)
            for what, by in AGES.items():
                moved = batch.assign(age=batch["age"] + by * standard_deviation)
                yield what, moved, groups

    return clf, batches


SOURCES = {"generator": on_generator, "COMPAS": on_compas}


def one_draw(task):
    """Test batches against one training draw; return cells and rejections."""
    data, seed, setting = task
    warnings.simplefilter("ignore")
    clf, batches = SOURCES[data](seed, *setting)
    outcomes = []
    for n in BATCH_ROWS[data]:
        for what, X, z in batches(n):
            tested = examine(clf, X, sensitive_features=z).prior_shift
            for group in tested.groups.values():
                outcomes.append(((n, what), group.p_value < 0.05))
    return outcomes


def simulate(data, setting, options):
    """Return the share of rejections in each cell of one setting."""
    tasks = [(data, seed, setting) for seed in range(options.draws)]
    learner, scores, rows = setting
    records = []
    for (n, what), rejected in gather(one_draw, tasks, options).items():
        record = {
            "data": data,
            "learner": learner,
            "scores": scores,
            "training_rows": rows,
            "batch_rows": n,
            "shift": what,
            "rejected": round(float(np.mean(rejected)), 4),
            "tests": len(rejected),
        }
        records.append(record)
    return records


def table(records, data):
    """Return the results of one source of data as a table in Markdown."""
    columns = ["learner, scores", "training rows", "what moved besides"]
    columns += [f"batch {n}" for n in BATCH_ROWS[data]] + ["tests a cell"]
    if data == "COMPAS":
        columns.remove("training rows")
    lines = []
    of_data = [record for record in records if record["data"] == data]
    for (learner, scores, rows, what), cells in grouped(
        of_data, "learner", "scores", "training_rows", "shift"
    ).items():
        line = [f'{learner}, "{scores}"', rows, what]
        line += [f"{100 * cell['rejected']:.1f} %" for cell in cells]
        line.append(min(cell["tests"] for cell in cells))
        lines.append([cell for cell in line if cell is not None])
    return markdown_table(columns, lines)


def main():
    """Simulate all settings, or write what was simulated into a page."""
    options = read_options(__doc__, data=tuple(SOURCES), draws=100)
    if options.write:
        records = stored("shift_test")
        replace_block(options.write, "shift test", table(records, "generator"))
        replace_block(options.write, "shift test on COMPAS", table(records, "COMPAS"))
        return
    for setting in SETTINGS[options.data]:
        records = simulate(options.data, setting, options)
        store("shift_test", records, KEY)
        print(table(records, options.data), flush=True)


if __name__ == "__main__":
    main()
