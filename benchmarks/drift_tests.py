"""Level and power of the tests of scores and of columns, at 5%.

The test of the scores is tried on the paper's generator, and on COMPAS: one half of the
training year trains, and batches with other prevalences are drawn from the other half,
as they are and with the age of everybody moved.

The test of the columns is tried on an invented table, whose columns are normal in both
classes, or texts of 40 levels. The first column tells the classes apart best. Batches
of the level differ from training in the prevalences of their two groups alone; those of
the power have one more column moved, by a quarter of its standard deviation.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from compas_halves import PREVALENCES, halves_of_compas, make_learner
from interval_coverage import LEARNERS, draw_batch, draw_rows
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from study import Study, draw_shifted, grouped, markdown_table, percent

from cape import CapeClassifier, examine

LEVEL = 0.05

# The test of the scores

BATCH_ROWS = {"generator": (50, 500, 5000), "COMPAS": (50, 300)}
MOVES = {
    "nothing": (0.0, 0.0),
    "U by half a standard deviation": (5.0, 0.0),
    "V by half a standard deviation": (0.0, 5.0),
}
AGES = {"nothing": 0.0, "age by half a standard deviation": 0.5}


def on_generator(seed, setting):
    """Train on rows of the generator; return a model, and draws of batches."""
    rows = setting["training_rows"]
    random = np.random.default_rng([seed, rows, 1])
    clf = CapeClassifier(
        LEARNERS[setting["learner"]],
        pool="threshold",
        scores=setting["scores"],
        cv=10,
        random_state=seed,
    )
    n_positive = rows // 2
    y = np.repeat([1, 0], [n_positive, rows - n_positive])
    clf.fit(draw_rows(random, n_positive, rows - n_positive), y)

    def batches(n):
        for rho in (0.1, 0.5, 0.9):
            X, _ = draw_batch(random, n, rho)
            for what, by in MOVES.items():
                yield what, X + np.array(by), None

    return clf, batches


def on_compas(seed, setting):
    """Train on a half of COMPAS; return a model, and draws from the other half."""
    (X, y, z), rest = halves_of_compas(seed)
    clf = CapeClassifier(
        make_learner(setting["learner"]),
        pool="threshold",
        cv=5,
        scores=setting["scores"],
        random_state=seed,
    )
    clf.fit(X, y, sensitive_features=z)
    standard_deviation = X["age"].std()

    def batches(n):
        for prevalences in PREVALENCES:
            wanted = dict(zip(clf.groups_, prevalences, strict=True))
            batch, _, groups = draw_shifted(rest, wanted, n, seed)
            for what, by in AGES.items():
                moved = batch.assign(age=batch["age"] + by * standard_deviation)
                yield what, moved, groups

    return clf, batches


SOURCES = {"generator": on_generator, "COMPAS": on_compas}


def test_scores(seed, setting):
    """Yield whether the test of the scores rejected batches, after one training."""
    clf, batches = SOURCES[setting["data"]](seed, setting)
    for n in BATCH_ROWS[setting["data"]]:
        for what, X, z in batches(n):
            tested = examine(clf, X, sensitive_features=z).prior_shift
            for group in tested.groups.values():
                yield (n, what), (group.p_value < LEVEL,)


def scores_setting(data, learner, scores, training_rows=None):
    return {
        "data": data,
        "learner": learner,
        "scores": scores,
        "training_rows": training_rows,
    }


OF_SCORES = Study(
    "shift_test",
    test_scores,
    [
        # A seed makes three tests on the generator, and six on COMPAS.
        (scores_setting("COMPAS", "logistic", "refit"), 84),
        (scores_setting("COMPAS", "boosting", "folds"), 84),
        (scores_setting("generator", "logistic", "refit", 200), 167),
        (scores_setting("generator", "logistic", "refit", 2000), 167),
        (scores_setting("generator", "boosting", "refit", 200), 167),
        (scores_setting("generator", "boosting", "folds", 200), 167),
    ],
    ("batch_rows", "moved"),
    ("rejected",),
)


def scores_tables(records):
    """Return a table for the generator, and one for COMPAS."""
    parts = []
    for (data,), of_data in grouped(records, "data").items():
        columns = ["learner, scores", "training rows", "what moved besides"]
        columns += [f"batch {n}" for n in BATCH_ROWS[data]]
        lines = []
        for (learner, scores, rows, what), cells in grouped(
            of_data, "learner", "scores", "training_rows", "moved"
        ).items():
            line = [f'{learner}, "{scores}"', rows or "half of 2013", what]
            lines.append([*line, *(percent(cell["rejected"]) for cell in cells)])
        parts.append(f"**{data}**\n\n{markdown_table(columns, lines)}")
    return "\n\n".join(parts)


# The test of the columns

TABLE_ROWS = (200, 1000)
MOVED_COLUMNS = {"the strongest": "x0", "another": "x3"}
SIZE_OF_MOVE = 0.25
ROWS_OF_POWER = 5000
"""Training rows with which columns are moved; with others the level is simulated."""
LEVELS = np.array([f"level {i}" for i in range(40)], dtype=object)


def draw_table(random, n, prevalences, setting):
    """Draw rows of two groups with given prevalences, half of the rows each."""
    z = np.arange(n) % 2
    y = (random.random(n) < np.array(prevalences)[z]).astype(int)
    # The first column tells the classes apart by 1.5 standard deviations, the last ones
    # hardly.
    gaps = 1.5 * 0.8 ** np.arange(setting["numbers"])
    common = random.normal(size=(n, 1))
    own = random.normal(size=(n, setting["numbers"]))
    correlation = setting["correlation"]
    noise = correlation**0.5 * common + (1 - correlation) ** 0.5 * own
    numbers = noise + y[:, None] * gaps
    table = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(setting["numbers"])])
    for text in range(setting["texts"]):
        # Positives have the higher levels a little more often.
        level = np.floor(40 * random.random(n) ** (1 - 0.3 * y)).astype(int)
        table[f"text{text}"] = LEVELS[level]
    return table, y, z


def fit_table(random, setting):
    """Train on one draw, both groups with a prevalence of 0.5."""
    rows = setting["training_rows"]
    table, y, z = draw_table(random, rows, (0.5, 0.5), setting)
    texts = [name for name in table if name.startswith("text")]
    encoders = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), texts), remainder=StandardScaler()
    )
    learner = make_pipeline(encoders, LogisticRegression())
    clf = CapeClassifier(learner, pool="threshold", cv=5, random_state=0)
    return clf.fit(table, y, sensitive_features=z)


def test_batch(clf, table, z):
    """Return the smallest adjusted p-value, and the name of the first column."""
    drifts = clf.adapt(table, sensitive_features=z).drifts.values()
    smallest = min(drift.p_adjusted for drift in drifts)
    if any(drift.faults for drift in drifts):
        smallest = 0.0
    columns = [column for drift in drifts for column in drift.columns]
    first = min(columns, key=lambda column: column.p_adjusted)
    return smallest, first.name


def test_columns(seed, setting):
    """Yield whether batches were rejected, and the moved column named first."""
    rows = setting["training_rows"]
    random = np.random.default_rng([seed, rows, setting["numbers"], setting["texts"]])
    clf = fit_table(random, setting)
    for n in TABLE_ROWS:
        prevalences = random.uniform(0.1, 0.9, size=2)
        table, _, z = draw_table(random, n, prevalences, setting)
        p, _ = test_batch(clf, table, z)
        yield (n, "nothing"), (p < LEVEL, False)
        if rows != ROWS_OF_POWER:
            continue
        for move, column in MOVED_COLUMNS.items():
            moved = table.assign(**{column: table[column] + SIZE_OF_MOVE})
            p, first = test_batch(clf, moved, z)
            yield (n, move), (p < LEVEL, p < LEVEL and first == column)


def columns_setting(training_rows, numbers, correlation=0.0, texts=0):
    return {
        "training_rows": training_rows,
        "numbers": numbers,
        "correlation": correlation,
        "texts": texts,
    }


OF_COLUMNS = Study(
    "column_test",
    test_columns,
    [
        (columns_setting(200, 5), 500),
        (columns_setting(200, 30, correlation=0.5), 500),
        (columns_setting(200, 5, texts=3), 500),
        (columns_setting(5000, 5), 500),
    ],
    ("batch_rows", "moved"),
    ("rejected", "named_first"),
)


def columns_table(records):
    """Return a line for every setting and move."""
    columns = ["training rows", "columns", "what moved besides"]
    columns += [f"batch {n}" for n in TABLE_ROWS]
    lines = []
    fields = ("training_rows", "numbers", "correlation", "texts", "moved")
    for (rows, numbers, correlation, texts, move), cells in grouped(
        records, *fields
    ).items():
        name = f"{numbers} numbers"
        if correlation:
            name += f", correlated by {correlation}"
        if texts:
            name += f", {texts} texts of 40 levels"
        line = [f"{rows:,}", name, move]
        for cell in cells:
            text = percent(cell["rejected"])
            if move != "nothing":
                text += f", named first in {percent(cell['named_first'], 0)}"
            line.append(text)
        lines.append(line)
    return markdown_table(columns, lines)
