"""Dask with two workers against one, on boosting and rows enough to keep them busy."""

from __future__ import annotations

import logging
import time

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from cape import CapeClassifier, scale

N_COLUMNS = 10
N_PARTITIONS = 20
TRAINING_ROWS = 5000


def cluster_records(rows):
    """Time adaptation and prediction of a table with one worker and with two.

    Parameters
    ----------
    rows : int
        Rows of the table.

    Returns
    -------
    list of dict
        One record for each number of workers, as the other benchmarks make them.
    """
    clf = _fitted()
    seconds = {}
    for n_workers in (1, 2):
        seconds[n_workers] = _seconds(clf, rows // N_PARTITIONS, n_workers)
    records = []
    for n_workers, taken in seconds.items():
        record = {
            "part": "dask",
            "what": f"{n_workers} workers",
            "rows": rows,
            "seconds": taken,
            "speedup": seconds[1] / taken,
        }
        records.append(record)
    return records


def _fitted():
    """A model that takes its time for each row."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, TRAINING_ROWS)
    X = _table(random, TRAINING_ROWS) + 0.4 * y[:, None]
    z = random.integers(0, 2, TRAINING_ROWS)
    learner = HistGradientBoostingClassifier(max_iter=100)
    clf = CapeClassifier(learner, pool="threshold", cv=2, random_state=0)
    return clf.fit(X, y, sensitive_features=z)


def _table(random, n_rows):
    columns = [f"x{i}" for i in range(N_COLUMNS)]
    values = random.normal(size=(n_rows, N_COLUMNS))
    return pd.DataFrame(values, columns=columns)


def _partition(seed, n_rows):
    """A partition, made by the worker that needs it."""
    random = np.random.default_rng(seed)
    features = _table(random, n_rows)
    return features.assign(z=random.integers(0, 2, n_rows))


def _seconds(clf, rows_of_a_partition, n_workers):
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    settings = {
        "n_workers": n_workers,
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "silence_logs": logging.CRITICAL,
    }
    with LocalCluster(**settings) as cluster, Client(cluster):
        ddf = dd.from_map(
            _partition,
            range(N_PARTITIONS),
            n_rows=rows_of_a_partition,
            meta=_partition(0, 1).iloc[:0],
        )
        # Workers import what they need during this call, which is not timed.
        scale.adapt(clf, ddf.partitions[:2], sensitive_features="z")
        start = time.perf_counter()
        y_pred = scale.predict(clf, ddf, sensitive_features="z")
        # Only the sum comes back, so that sending predictions is not timed.
        y_pred.sum().compute()
        return time.perf_counter() - start
