"""Memory and speed of scoring a Parquet file in two passes, against a bare loop of pyarrow and predict_proba."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline

PART = 100_000


def write_parquet(path, rows, features):
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(0)
    writer = None
    for start in range(0, rows, PART):
        n = min(PART, rows - start)
        columns = {
            f"x{i}": random.normal(size=n).astype(np.float32) for i in range(features)
        }
        part = pa.table(
            {**columns, "z": pa.array(np.where(random.random(n) < 0.5, "a", "b"))}
        )
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    writer.close()


def model(features):
    from sklearn.linear_model import LogisticRegression

    from cape import CapeClassifier

    random = np.random.default_rng(1)
    y = random.integers(0, 2, 10_000)
    X = (random.normal(size=(10_000, features)) + 0.5 * y[:, None]).astype(np.float32)
    z = np.where(random.random(10_000) < 0.5, "a", "b")
    return CapeClassifier(
        LogisticRegression(), pool="threshold", cv=3, random_state=0
    ).fit(X, y, sensitive_features=z)


def parts(path):
    """Features and groups; the group is the last column."""
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(path, pre_buffer=False).iter_batches(
        PART
    ):  # or the whole file is held
        *features, groups = batch.columns
        yield (
            np.column_stack([column.to_numpy() for column in features]),
            groups.to_pandas(),
        )


def table_model(folder, features):
    """What ``cape train --learner logistic`` makes of such a table."""
    import pandas as pd

    from cape.files import train_file

    random = np.random.default_rng(1)
    y = random.integers(0, 2, 10_000)
    X = (random.normal(size=(10_000, features)) + 0.5 * y[:, None]).astype(np.float32)
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(features)])
    table.assign(z=np.where(random.random(10_000) < 0.5, "a", "b"), y=y).to_parquet(
        folder / "train.parquet"
    )
    return train_file(
        folder / "train.parquet", None, label="y", group=["z"], learner="logistic"
    )


def bare(path, learner, names=None):
    import pandas as pd

    for X, _ in parts(path):
        learner.predict_proba(X if names is None else pd.DataFrame(X, columns=names))


def two_passes(path, clf):
    evidence = sum(clf.evidence(X, sensitive_features=z) for X, z in parts(path))
    adaptation = clf.adapt(evidence=evidence)
    for X, z in parts(path):
        clf.predict(X, sensitive_features=z, adaptation=adaptation)


def score(path, how, features):
    """Do one of them in this process, and say how long it took and how much memory it ever had."""
    from cape.files import predict_file

    if how in ("bare loop", "two passes"):
        clf = model(features)
        learner = clf.models_["a"].pool.model
        work = (
            (lambda: bare(path, learner))
            if how == "bare loop"
            else (lambda: two_passes(path, clf))
        )
    else:
        trained = table_model(path.parent, features)
        group = trained.clf.models_["a"]
        pipeline = make_pipeline(group.transformer, group.pool.model)
        names = [f"x{i}" for i in range(features)]
        if how == "bare loop, tables":
            work = lambda: bare(path, pipeline, names)  # noqa: E731
        else:
            work = lambda: predict_file(trained, path, path.parent / "out.parquet")  # noqa: E731
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    print(
        json.dumps(
            {
                "seconds": seconds,
                "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


COMPETITORS = {
    "bare loop": "bare loop",
    "two passes": "bare loop",
    "bare loop, tables": "bare loop, tables",
    "cape predict": "bare loop, tables",
}
"""Each with what it is compared to: "two passes" are those of an array model, "cape predict" those of the command,
which also brings columns to their kinds, prepares them and writes all rows with their predictions."""


def file_records(sizes, features, competitors):
    """One process for each, so that the peak of memory is its own."""
    records = []
    for rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "batch.parquet"
            write_parquet(path, rows, features)
            found = {}
            for how in competitors:
                command = [sys.executable, __file__, str(path), how, str(features)]
                done = subprocess.run(
                    command, stdout=subprocess.PIPE, text=True, check=True
                )
                found[how] = json.loads(done.stdout)
                (Path(folder) / "out.parquet").unlink(missing_ok=True)
        for how, record in found.items():
            records.append(
                {
                    "part": "file",
                    "what": how,
                    "features": features,
                    "rows": rows,
                    "mib": record["mib"],
                    "rows_per_second": rows / record["seconds"],
                    "speed_ratio": found[COMPETITORS[how]]["seconds"]
                    / record["seconds"],
                }
            )
    return records


if __name__ == "__main__":
    score(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
