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

FEATURES = 6
PART = 100_000


def write_parquet(path, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(0)
    writer = None
    for start in range(0, rows, PART):
        n = min(PART, rows - start)
        columns = {f"x{i}": random.normal(size=n).astype(np.float32) for i in range(FEATURES)}
        part = pa.table({**columns, "z": pa.array(np.where(random.random(n) < 0.5, "a", "b"))})
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    writer.close()


def model():
    from sklearn.linear_model import LogisticRegression

    from cape import CapeClassifier

    random = np.random.default_rng(1)
    y = random.integers(0, 2, 10_000)
    X = (random.normal(size=(10_000, FEATURES)) + 0.5 * y[:, None]).astype(np.float32)
    z = np.where(random.random(10_000) < 0.5, "a", "b")
    return CapeClassifier(LogisticRegression(), pool="threshold", cv=3, random_state=0).fit(X, y, sensitive_features=z)


def parts(path):
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(path).iter_batches(PART):
        columns = [batch.column(i).to_numpy() for i in range(FEATURES)]
        yield np.column_stack(columns), batch.column(FEATURES).to_pandas()


def score(path, how):
    """Do one of the two in this process, and say how long it took and how much memory it ever had."""
    clf = model()
    start = time.perf_counter()
    if how == "bare":
        learner = clf.models_["a"].pool.model
        for X, _ in parts(path):
            learner.predict_proba(X)
    else:
        evidence = sum(clf.evidence(X, sensitive_features=z) for X, z in parts(path))
        adaptation = clf.adapt(evidence=evidence)
        for X, z in parts(path):
            clf.predict(X, sensitive_features=z, adaptation=adaptation)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def file_records(sizes):
    """One process for each, so that the peak of memory is its own."""
    records = []
    for rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "batch.parquet"
            write_parquet(path, rows)
            found = {}
            for how in ("bare", "cape"):
                done = subprocess.run(
                    [sys.executable, __file__, str(path), how], capture_output=True, text=True, check=True
                )
                found[how] = json.loads(done.stdout)
        for how, record in found.items():
            records.append(
                {
                    "part": "file",
                    "what": how,
                    "rows": rows,
                    "mib": record["mib"],
                    "rows_per_second": rows / record["seconds"],
                    "speed_ratio": found["bare"]["seconds"] / record["seconds"],
                }
            )
    return records


if __name__ == "__main__":
    score(Path(sys.argv[1]), sys.argv[2])
