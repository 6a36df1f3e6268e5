"""Dask with two workers against one, on boosting and rows enough to keep them busy."""

from __future__ import annotations

import logging
import time

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from cape import CapeClassifier, scale


def cluster_records(rows):
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    random = np.random.default_rng(0)
    y = random.integers(0, 2, 5000)
    X = pd.DataFrame(
        random.normal(size=(5000, 10)) + 0.4 * y[:, None],
        columns=[f"x{i}" for i in range(10)],
    )
    z = random.integers(0, 2, 5000)
    clf = CapeClassifier(
        HistGradientBoostingClassifier(max_iter=100),
        pool="threshold",
        cv=2,
        random_state=0,
    )
    clf.fit(X, y, sensitive_features=z)

    def make(seed):
        part = np.random.default_rng(seed)
        frame = pd.DataFrame(part.normal(size=(rows // 20, 10)), columns=list(X))
        return frame.assign(z=part.integers(0, 2, len(frame)))

    seconds = {}
    for n_workers in (1, 2):
        settings = {
            "threads_per_worker": 1,
            "dashboard_address": ":0",
            "silence_logs": logging.CRITICAL,
        }
        with LocalCluster(n_workers=n_workers, **settings) as cluster, Client(cluster):
            ddf = dd.from_map(make, range(20), meta=make(0).iloc[:0])
            scale.adapt(
                clf, ddf.partitions[:2], sensitive_features="z"
            )  # imports are done
            start = time.perf_counter()
            scale.predict(clf, ddf, sensitive_features="z").sum().compute()
            seconds[n_workers] = time.perf_counter() - start
    return [
        {
            "part": "dask",
            "what": f"{n} workers",
            "rows": rows,
            "seconds": s,
            "speedup": seconds[1] / s,
        }
        for n, s in seconds.items()
    ]
