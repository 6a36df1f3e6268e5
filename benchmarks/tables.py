"""Files, a folder of parts, a database and Dask, each against the same without CAPE.

python benchmarks/tables.py FORMAT COMPETITOR FOLDER    (one run, for its memory)
"""

from __future__ import annotations

import json
import logging
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from clock import compare
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape import CapeClassifier, Scores
from cape.elsewhere import dask as scale
from cape.elsewhere import sql
from cape_app.files import predict_file, train_file

NAMES = [f"x{i}" for i in range(6)]
PART = 100_000
"""Rows that are written and read at a time."""

TRAINING_ROWS = 10_000
N_PARTITIONS = 20
FORMATS = {"csv": "batch.csv", "parquet": "batch.parquet", "folder": "batch"}
COMPETITORS = ("plain loop over the file", "cape predict")


def draw(random, n):
    """Draw features, a group, and labels."""
    y = random.integers(0, 2, n)
    X = random.normal(size=(n, len(NAMES))) + 0.4 * y[:, None]
    table = pd.DataFrame(X.astype(np.float32), columns=NAMES)
    return table.assign(z=np.where(random.random(n) < 0.5, "a", "b")), y


# Files


def write_batch(folder, format, rows):
    """Write a batch: one CSV, one Parquet file, or a folder of ten of them."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    random = np.random.default_rng(0)
    path = folder / FORMATS[format]
    parts = (draw(random, PART)[0] for _ in range(rows // PART))
    tables = (pa.Table.from_pandas(part, preserve_index=False) for part in parts)
    if format == "folder":
        path.mkdir()
        for number, table in enumerate(tables):
            pq.write_table(table, path / f"part-{number:03}.parquet")
        return
    first = next(tables)
    writer = pq.ParquetWriter if format == "parquet" else pyarrow.csv.CSVWriter
    with writer(path, first.schema) as file:
        file.write_table(first)
        for table in tables:
            file.write_table(table)


def plain_loop(path, learner):
    """Read a file once, in parts, and score its rows with one learner."""
    import pyarrow.dataset

    kind = "csv" if path.suffix == ".csv" else "parquet"
    dataset = pyarrow.dataset.dataset(path, format=kind)
    for batch in dataset.to_batches(batch_size=PART, columns=NAMES):
        learner.predict_proba(batch.to_pandas())


def score_file(format, competitor, folder):
    """Train, then score a batch once; print seconds and the peak of memory."""
    path = folder / FORMATS[format]
    table, y = draw(np.random.default_rng(1), TRAINING_ROWS)
    if competitor == COMPETITORS[0]:
        learner = make_pipeline(StandardScaler(), LogisticRegression())
        learner.fit(table[NAMES], y)
        start = time.process_time()
        plain_loop(path, learner)
    else:
        train = folder / "train.parquet"
        table.assign(y=y).to_parquet(train)
        model = train_file(train, None, label="y", group=["z"], learner="logistic")
        suffix = ".csv" if format == "csv" else ".parquet"
        start = time.process_time()
        predict_file(model, path, folder / f"out{suffix}", overwrite=True)
    seconds = time.process_time() - start
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "mib": mib}))


def file_records(format, rows, rounds=2):
    """Score a file in processes of their own, so that peaks of memory are their own."""
    runs = {competitor: [] for competitor in COMPETITORS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_batch(folder, format, rows)
        for _ in range(rounds):
            for competitor in COMPETITORS:
                command = [sys.executable, __file__, format, competitor, name]
                done = subprocess.run(
                    command, stdout=subprocess.PIPE, text=True, check=True
                )
                runs[competitor].append(json.loads(done.stdout.splitlines()[-1]))
    seconds = {
        what: np.array([run["seconds"] for run in of_what])
        for what, of_what in runs.items()
    }
    for what, of_what in runs.items():
        ratios = seconds[what] / seconds[COMPETITORS[0]]
        low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
        yield {
            "part": "files",
            "format": format,
            "rows": rows,
            "what": what,
            "seconds": float(np.median(seconds[what])),
            "ratio": float(middle),
            "low": float(low),
            "high": float(high),
            "rounds": rounds,
            "mib": float(np.median([run["mib"] for run in of_what])),
        }


# A database


def sql_records(rows, random):
    """Count evidence in DuckDB, against one GROUP BY and against Python."""
    import duckdb

    def logged(n):
        y = random.random(n) < 0.4
        p = 1 / (1 + np.exp(0.5 - random.normal(1.2 * y)))
        table = pd.DataFrame({"g": np.where(random.random(n) < 0.5, "a", "b"), "p": p})
        table["approved"] = p > 0.5
        return table.assign(age=random.normal(40, 10, n), debt=random.random(n)), y

    reference, y = logged(20_000)
    new, _ = logged(rows)
    models = {}
    for columns in (["g", "p", "approved"], [*reference]):
        clf = CapeClassifier(Scores("p", "approved"), group_columns="g")
        models[len(columns) - 3] = clf.fit(reference[columns], y.astype(int)), columns
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.register("frame", new)
    connection.execute("CREATE TABLE loans AS SELECT * FROM frame")
    plain = (
        "SELECT g, approved, floor(100 * p) AS cell, count(*), sum(p) FROM loans "
        "GROUP BY g, approved, cell"
    )

    def count(n_columns):
        clf, _ = models[n_columns]
        statement = sql.query(clf, "loans")
        return lambda: sql.evidence(clf, connection.execute(statement).df())

    def in_python():
        clf, columns = models[2]
        return clf.evidence(connection.execute("SELECT * FROM loans").df()[columns])

    competitors = {
        "one GROUP BY": lambda: connection.execute(plain).df(),
        "evidence by SQL, scores": count(0),
        "evidence by SQL, scores and two columns": count(2),
        "the same in Python, rows fetched": in_python,
    }
    return compare(competitors, part="sql", rows=rows)


# Dask


def partition(seed, n_rows):
    """Make a partition on the worker that needs it."""
    return draw(np.random.default_rng(seed), n_rows)[0]


def dask_records(rows):
    """Time one worker and two, against plain boosting on one of them."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    table, y = draw(np.random.default_rng(0), TRAINING_ROWS)
    learner = HistGradientBoostingClassifier(max_iter=100).fit(table[NAMES], y)
    clf = CapeClassifier(learner, random_state=0, group_columns="z").fit(table, y)

    def plain(part):
        return pd.Series(learner.predict_proba(part[NAMES])[:, 1], index=part.index)

    for n_workers in (1, 2):
        with (
            LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster),
        ):
            ddf = dd.from_map(
                partition,
                range(N_PARTITIONS),
                n_rows=rows // N_PARTITIONS,
                meta=partition(0, 1).iloc[:0],
            )
            scored = ddf.map_partitions(plain, meta=("p", float))
            # Only sums come back, so that sending predictions is not timed.
            competitors = {
                "plain predict_proba": lambda scored=scored: scored.sum().compute(),
                "evidence and predictions": lambda ddf=ddf: (
                    scale.predict(clf, ddf).sum().compute()
                ),
            }
            # Workers are processes of their own: only the time on the wall counts them.
            yield from compare(
                competitors,
                rounds=(3, 3),
                clock=time.perf_counter,
                part="dask",
                rows=rows,
                workers=n_workers,
            )


if __name__ == "__main__":
    score_file(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
