"""Does performance without labels hold? Expected and observed rates, once labels come.

The shift is a prior shift by construction. On COMPAS each repetition splits the
training year: one half trains, and batches with other prevalences are drawn from the
other half. The paper's generator trains on 1,000 rows a group.

    python benchmarks/expected.py --repetitions 50
    python benchmarks/expected.py --data synthetic --learner boosting \\
        --pools threshold --quantifiers onestep
    python benchmarks/expected.py --write docs/trust.md

The figures of a configuration replace those that it had before.
"""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from study import gather, markdown_table, read_options, replace_block, store, stored

from cape import CapeClassifier, examine
from cape.datasets import fetch_compas, make_synthetic
from cape.metrics import confusion_by_group
from cape.sampling import shift

KEY = ("data", "learner", "pool", "quantifier", "metric", "rows")
ROWS = {"COMPAS": (60, 300), "synthetic": (100, 1000, 10_000)}
PREVALENCES = ((0.2, 0.7), (0.5, 0.5), (0.7, 0.3))
TRAINING_ROWS = 1000


def make_learner(name):
    """A learner for numbers and for the mixed columns of COMPAS, or the default."""
    if name == "default":
        return None
    categories = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    columns = make_column_transformer(
        (categories, make_column_selector(dtype_exclude="number")),
        remainder=StandardScaler(),
    )
    if name == "logistic":
        return make_pipeline(columns, LogisticRegression())
    boosting = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8)
    return make_pipeline(columns, boosting)


def one_repetition(task):
    """Train, and compare expectation and truth on batches of other prevalences."""
    data, learner, pool, quantifier, seed = task
    warnings.simplefilter("ignore")
    train, rest = DATA[data](seed)
    clf = CapeClassifier(
        make_learner(learner), pool=pool, quantifier=quantifier, random_state=seed
    )
    X, y, z = train
    clf.fit(X, y, sensitive_features=z)
    outcomes = []
    for rows in ROWS[data]:
        for prevalences in PREVALENCES:
            wanted = dict(zip(clf.groups_, prevalences, strict=True))
            batch = shift(*rest, wanted, size=rows, random_state=seed)
            for metric, *outcome in compare_batch(clf, *batch):
                outcomes.append(((metric, rows), outcome))
    return outcomes


def halves_of_compas(seed):
    """Rows to train on, and rows to draw batches from."""
    d = fetch_compas(subset="train")
    X, X_rest, y, y_rest, z, z_rest = train_test_split(
        d.data,
        d.target,
        d.sensitive_features,
        test_size=0.5,
        random_state=seed,
        stratify=d.target,
    )
    return (X, y, z), (X_rest, y_rest, z_rest)


def synthetic(seed):
    """Rows to train on, and rows to draw batches from; few of these are drawn twice."""
    train = make_synthetic(2 * TRAINING_ROWS, random_state=seed)
    rest = make_synthetic(60_000, random_state=10_000 + seed)
    parts = []
    for d in (train, rest):
        parts.append((d.data, d.target, d.sensitive_features))
    return parts


DATA = {"COMPAS": halves_of_compas, "synthetic": synthetic}


def compare_batch(clf, X, y, z):
    """Yield each rate of a batch, whether it is inside its interval, and the width."""
    seen = examine(clf, X, sensitive_features=z)
    y_pred = clf.predict(X, sensitive_features=z, adaptation=seen.adaptation)
    both = seen.compare(y, y_pred, sensitive_features=z)
    for (_, metric), row in both.iterrows():
        yield metric, bool(row["inside"]), row["high"] - row["low"]
    observed = confusion_by_group(y, y_pred, sensitive_features=z)
    for group, adapted in seen.adaptation.groups.items():
        inside = observed[group].prevalence_difference <= adapted.pd_bound
        yield "PD", inside, adapted.pd_bound


def run(configuration, options):
    """All repetitions of one configuration, as lines of the table."""
    tasks = [(*configuration, seed) for seed in range(options.repetitions)]
    records = []
    for (metric, rows), outcomes in gather(one_repetition, tasks, options).items():
        inside, width = np.mean(outcomes, axis=0)
        record = {
            **dict(zip(KEY, (*configuration, metric, rows), strict=True)),
            "rates": len(outcomes),
            "inside": round(float(inside), 4),
            "width": round(float(width), 4),
        }
        records.append(record)
    return records


def table(records):
    """The results as a table of Markdown."""
    columns = ["data", "learner", "pool", "quantifier", "rate", "rows a group"]
    columns += ["inside its 95 % interval", "mean width", "rates"]
    lines = []
    for record in records:
        line = [record[name] for name in KEY]
        line += [f"{100 * record['inside']:.1f} %", f"{record['width']:.2f}"]
        lines.append([*line, record["rates"]])
    return markdown_table(columns, lines)


def main():
    """Simulate and store results, or write stored results into a page."""
    options = read_options(
        __doc__,
        repetitions=50,
        data=tuple(DATA),
        pools=["threshold", "resampled"],
        quantifiers=["spa", "histogram"],
        learner=("logistic", "boosting", "default"),
    )
    if options.write:
        replace_block(options.write, "expected", table(stored("expected")))
        return
    for pool, quantifier in product(options.pools, options.quantifiers):
        records = run((options.data, options.learner, pool, quantifier), options)
        store("expected", records, KEY)
        print(table(records), flush=True)


if __name__ == "__main__":
    main()
