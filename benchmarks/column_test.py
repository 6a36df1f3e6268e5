"""Simulate the level and the power of the test of the columns.

The columns of an invented table are normal in both classes, or texts of 40 levels that
are about equally frequent. The first column tells the classes apart best. Batches of
the level differ from training in the prevalences of their two groups alone; those of
the power have one more column moved, by a quarter of its standard deviation.

python benchmarks/column_test.py --draws 60 --minutes 2
python benchmarks/column_test.py --write docs/trust.md
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
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
from cape._prediction import adapt

KEY = ("training_rows", "columns", "batch_rows", "moved")
BATCH_ROWS = (200, 1000, 10_000)
LEVEL = 0.05
MOVES = {"none": None, "the strongest": "x0", "another": "x3"}
SIZE_OF_MOVE = 0.25
ROWS_OF_POWER = 5000
"""Training rows with which columns are moved; with others the level is simulated."""


class Setting(NamedTuple):
    """A table: its training rows, columns of numbers, their correlation, texts."""

    rows: int
    numbers: int
    correlation: float = 0.0
    texts: int = 0

    @property
    def name(self):
        """Describe the columns."""
        words = f"{self.numbers} numbers"
        if self.correlation:
            words += f", correlated by {self.correlation}"
        if self.texts:
            words += f", {self.texts} texts of 40 levels"
        return words


SETTINGS = [
    Setting(rows, numbers, correlation, texts)
    for rows in (200, 1000, 5000, 50_000)
    for numbers, correlation, texts in ((5, 0.0, 0), (30, 0.5, 0), (5, 0.0, 3))
]


def draw(random, n, prevalences, setting):
    """Draw rows of two groups with given prevalences, half of the rows each."""
    z = np.arange(n) % 2
    y = (random.random(n) < np.array(prevalences)[z]).astype(int)
    # The first column tells the classes apart by 1.5 standard deviations, the last ones
    # hardly.
    gaps = 1.5 * 0.8 ** np.arange(setting.numbers)
    common = random.normal(size=(n, 1))
    own = random.normal(size=(n, setting.numbers))
    noise = setting.correlation**0.5 * common + (1 - setting.correlation) ** 0.5 * own
    numbers = noise + y[:, None] * gaps
    table = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(setting.numbers)])
    for text in range(setting.texts):
        # Positives have the higher levels a little more often.
        level = np.floor(40 * random.random(n) ** (1 - 0.3 * y)).astype(int)
        table[f"text{text}"] = np.char.add("level ", level.astype(str))
    return table, y, z


def fit(random, setting):
    """Train on one draw, both groups with a prevalence of 0.5."""
    table, y, z = draw(random, setting.rows, (0.5, 0.5), setting)
    texts = [name for name in table if name.startswith("text")]
    learner = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), texts), remainder=StandardScaler()
        ),
        LogisticRegression(),
    )
    clf = CapeClassifier(learner, pool="threshold", cv=5, random_state=0)
    return clf.fit(table, y, sensitive_features=z)


def test(clf, table, z):
    """Return the smallest adjusted p-value and the column that is named first."""
    evidence = clf.evidence(table, sensitive_features=z)
    models = {group: clf.model_of(group) for group in evidence.groups}
    drifts = adapt(models, evidence).drifts
    smallest = min(drift.p_adjusted for drift in drifts.values())
    if any(drift.faults for drift in drifts.values()):
        smallest = 0.0
    columns = [column for drift in drifts.values() for column in drift.columns]
    first = min(columns, key=lambda column: column.p_adjusted)
    return smallest, first.name


def one_draw(task):
    """Test batches against one training draw; return cells and outcomes."""
    seed, setting = task
    random = np.random.default_rng([seed, *map(int, setting[:2]), setting.texts])
    clf = fit(random, setting)
    outcomes = []
    for n in BATCH_ROWS:
        prevalences = random.uniform(0.1, 0.9, size=2)
        table, _, z = draw(random, n, prevalences, setting)
        for move, column in MOVES.items():
            if column is not None and setting.rows != ROWS_OF_POWER:
                continue
            moved = table.copy()
            if column is not None:
                moved[column] += SIZE_OF_MOVE
            p, first = test(clf, moved, z)
            outcomes.append(((n, move), (p < LEVEL, p < LEVEL and first == column)))
    return outcomes


def simulate(setting, options):
    """Return how often each cell of one setting is rejected."""
    tasks = [(seed, setting) for seed in range(options.draws)]
    records = []
    for (n, move), outcomes in gather(one_draw, tasks, options).items():
        rejected, named = np.mean(outcomes, axis=0)
        record = {
            "training_rows": setting.rows,
            "columns": setting.name,
            "batch_rows": n,
            "moved": move,
            "rejected": round(float(rejected), 4),
            "named_first": round(float(named), 4),
            "tests": len(outcomes),
        }
        records.append(record)
    return records


def table_of(records):
    """Return all results as a table in Markdown, a line for a setting and a move."""
    columns = ["training rows", "columns", "what moved besides"]
    columns += [f"batch {n}" for n in BATCH_ROWS] + ["tests a cell"]
    lines = []
    for (rows, name, move), cells in grouped(
        records, "training_rows", "columns", "moved"
    ).items():
        line = [f"{rows:,}", name, move]
        for cell in cells:
            text = f"{cell['rejected']:.1%}"
            if move != "none":
                text += f", named first in {cell['named_first']:.0%}"
            line.append(text)
        lines.append([*line, cells[0]["tests"]])
    return markdown_table(columns, lines)


def main():
    """Simulate all settings, or write what was simulated into a page."""
    options = read_options(__doc__, draws=200)
    if options.write:
        replace_block(options.write, "column test", table_of(stored("column_test")))
        return
    for setting in SETTINGS:
        records = simulate(setting, options)
        store("column_test", records, KEY)
        print(table_of(records), flush=True)


if __name__ == "__main__":
    main()
