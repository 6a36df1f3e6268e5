"""Memory and speed of scoring a Parquet file in two passes.

The measure is a bare loop of pyarrow and ``predict_proba``.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

PART = 100_000
"""Rows that are written and read at a time."""

TRAINING_ROWS = 10_000

COMPETITORS = {
    "bare loop": "bare loop",
    "two passes": "bare loop",
    "bare loop, tables": "bare loop, tables",
    "cape predict": "bare loop, tables",
}
"""Each competitor with what it is compared to.

"two passes" are those of a model of arrays. "cape predict" are those of the command,
which also brings columns to their kinds, prepares them and writes all rows with their
predictions.
"""


def column_names(n_features):
    """Return the names of the feature columns."""
    return [f"x{i}" for i in range(n_features)]


def draw_groups(random, n_rows):
    """Draw one of two groups for each row."""
    return np.where(random.random(n_rows) < 0.5, "a", "b")


def write_parquet(path, rows, n_features):
    """Write a batch: features in single precision, then a column with the group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(0)
    fields = [pa.field(name, pa.float32()) for name in column_names(n_features)]
    schema = pa.schema([*fields, pa.field("z", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, PART):
            n = min(PART, rows - start)
            columns = {}
            for name in column_names(n_features):
                columns[name] = random.normal(size=n).astype(np.float32)
            columns["z"] = draw_groups(random, n)
            writer.write_table(pa.table(columns, schema=schema))


def training_rows(n_features):
    """Draw features in single precision, labels and groups."""
    random = np.random.default_rng(1)
    y = random.integers(0, 2, TRAINING_ROWS)
    X = random.normal(size=(TRAINING_ROWS, n_features)) + 0.5 * y[:, None]
    return X.astype(np.float32), y, draw_groups(random, TRAINING_ROWS)


def array_model(n_features):
    """Train CAPE on arrays."""
    from sklearn.linear_model import LogisticRegression

    from cape import CapeClassifier

    X, y, z = training_rows(n_features)
    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=3, random_state=0)
    return clf.fit(X, y, sensitive_features=z)


def table_model(folder, n_features):
    """Train on a table as ``cape train --learner logistic`` does."""
    from cape.files import train_file

    X, y, z = training_rows(n_features)
    path = folder / "train.parquet"
    table = pd.DataFrame(X, columns=column_names(n_features))
    table.assign(z=z, y=y).to_parquet(path)
    return train_file(path, None, label="y", group=["z"], learner="logistic")


def parts(path):
    """Yield the features and the groups of each part; the group is the last column."""
    import pyarrow.parquet as pq

    # With pre_buffer the whole file would be held in memory.
    file = pq.ParquetFile(path, pre_buffer=False)
    for batch in file.iter_batches(PART):
        *features, groups = batch.columns
        X = np.column_stack([column.to_numpy() for column in features])
        yield X, groups.to_pandas()


def bare_loop(path, learner):
    """Read a file once, and score its rows with one learner of arrays."""
    for X, _ in parts(path):
        learner.predict_proba(X)


def bare_loop_of_tables(path, pipeline, names):
    """Read a file once, and score its rows with one pipeline of tables."""
    for X, _ in parts(path):
        pipeline.predict_proba(pd.DataFrame(X, columns=names))


def two_passes(path, clf):
    """Sum the evidence of the parts and adapt, then predict each part."""
    evidence = sum(clf.evidence(X, sensitive_features=z) for X, z in parts(path))
    adaptation = clf.adapt(evidence=evidence)
    for X, z in parts(path):
        clf.predict(X, sensitive_features=z, adaptation=adaptation)


def prepare(path, competitor, n_features):
    """Train a competitor's model; return what is to be timed."""
    if competitor in ("bare loop", "two passes"):
        clf = array_model(n_features)
        if competitor == "two passes":
            return partial(two_passes, path, clf)
        return partial(bare_loop, path, clf.models_["a"].scoring_models[0])

    from cape.files import predict_file

    trained = table_model(path.parent, n_features)
    if competitor == "cape predict":
        return partial(predict_file, trained, path, path.parent / "out.parquet")
    group = trained.clf.models_["a"]
    pipeline = make_pipeline(group.transformer, group.scoring_models[0])
    return partial(bare_loop_of_tables, path, pipeline, column_names(n_features))


def score(path, competitor, n_features):
    """Run a competitor in this process; print its seconds and its peak of memory."""
    work = prepare(path, competitor, n_features)
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "mib": mib}))


def score_in_a_process(path, competitor, n_features):
    """Run a competitor in a process of its own, so that the peak of memory is its own.

    Returns
    -------
    dict
        With ``seconds`` and ``mib``.
    """
    command = [sys.executable, __file__, str(path), competitor, str(n_features)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    (path.parent / "out.parquet").unlink(missing_ok=True)
    return json.loads(done.stdout)


def file_records(sizes, n_features, competitors):
    """Score files of several sizes.

    Parameters
    ----------
    sizes : list of int
        Rows of each file.
    n_features : int
    competitors : list of str
        Names in `COMPETITORS`, along with what each is compared to.

    Returns
    -------
    list of dict
    """
    records = []
    for rows in sizes:
        measured = {}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "batch.parquet"
            write_parquet(path, rows, n_features)
            for competitor in competitors:
                measured[competitor] = score_in_a_process(path, competitor, n_features)
        for competitor, values in measured.items():
            bare = measured[COMPETITORS[competitor]]
            record = {
                "part": "file",
                "what": competitor,
                "features": n_features,
                "rows": rows,
                "mib": values["mib"],
                "rows_per_second": rows / values["seconds"],
                "speed_ratio": bare["seconds"] / values["seconds"],
            }
            records.append(record)
    return records


if __name__ == "__main__":
    score(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
