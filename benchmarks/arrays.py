"""Fit and predict of arrays: CAPE against one plain learner and against the plain loop.

All competitors have the same rows and the same cores. The plain loop is Algorithm 1 as
it reads, in ``docs/algorithm_1.py``.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from clock import compare
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.persist import load, save
from cape.watch._stream import RollingCape

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
from algorithm_1 import PlainCape

N_FEATURES = 20
N_INFORMATIVE = 5
LOGISTIC = LogisticRegression()
BOOSTING = HistGradientBoostingClassifier(
    max_iter=50, early_stopping=False, random_state=0
)
LARGEST_LOOP = 100_000
"""Rows beyond which the plain loop, and training by the paper, take too long."""

MOST_GROUPS = 20
"""Groups beyond which they take too long: every group has 21 fits."""

WINDOW = 1000
LARGE = {"500 groups": (100_000, 500, N_FEATURES), "10,000 columns": (1500, 2, 10_000)}
"""Rows, groups and columns of tables that take minutes."""

GROUPS = {"unprivileged_groups": [{"z": 0}], "privileged_groups": [{"z": 1}]}
"""AIF360 wants to know which group is privileged; nothing depends on it here."""


def table(n, n_groups, random, n_features=N_FEATURES):
    """Draw features, labels and groups; some features tell the classes apart."""
    y = random.integers(0, 2, n)
    is_informative = np.arange(n_features) < N_INFORMATIVE
    X = random.normal(size=(n, n_features)) + 0.4 * y[:, None] * is_informative
    z = random.integers(0, n_groups, n)
    return X, y, z


def defaults(learner):
    return CapeClassifier(learner, random_state=0)


def paper(learner):
    return CapeClassifier.paper(estimator=learner, random_state=0)


def fit_records(learner, n, n_groups, random):
    """Time training: one plain fit, the defaults, the paper's settings, the loop."""
    X, y, z = table(n, n_groups, random)

    def fit(clf):
        return lambda: clf.fit(X, y, sensitive_features=z)

    competitors = {
        "plain fit": lambda: clone(learner).fit(X, y),
        "defaults": fit(defaults(learner)),
    }
    if learner is BOOSTING:
        competitors["defaults, learner chosen"] = fit(defaults(None))
    elif n_groups <= MOST_GROUPS and n <= LARGEST_LOOP:
        loop = PlainCape(learner)
        competitors["paper"] = fit(paper(learner))
        competitors["plain loop"] = lambda: loop.fit(X, y, z)
    return compare(
        competitors, part="fit", learner=name_of(learner), rows=n, groups=n_groups
    )


def predict_records(learner, n, n_groups, random):
    """Time the prediction of a batch: one plain ``predict_proba``, CAPE, the loop."""
    X, y, z = table(max(500 * n_groups, 10_000), n_groups, random)
    plain = clone(learner).fit(X, y)
    clf = defaults(learner).fit(X, y, sensitive_features=z)
    batch, _, groups = table(n, n_groups, random)
    frozen = clf.freeze(clf.adapt(batch, sensitive_features=groups))
    competitors = {
        "plain predict_proba": lambda: plain.predict_proba(batch),
        "defaults": lambda: clf.predict(batch, sensitive_features=groups),
        "frozen": lambda: frozen.predict(batch, sensitive_features=groups),
    }
    if learner is LOGISTIC and n_groups <= MOST_GROUPS:
        of_paper = paper(learner).fit(X, y, sensitive_features=z)
        competitors["paper"] = lambda: of_paper.predict(
            batch, sensitive_features=groups
        )
        if n <= LARGEST_LOOP:
            loop = PlainCape(learner).fit(X, y, z)
            competitors["plain loop"] = lambda: loop.predict(batch, groups)
    return compare(
        competitors, part="predict", learner=name_of(learner), rows=n, groups=n_groups
    )


def name_of(learner):
    return "logistic regression" if learner is LOGISTIC else "boosting"


def memory_records(n, random):
    """Yield the most that numpy and Python held at once beyond X, in sizes of X."""
    X, y, z = table(n, 2, random)
    plain = clone(LOGISTIC).fit(X, y)
    clf = defaults(LOGISTIC).fit(X, y, sensitive_features=z)
    loop = PlainCape(LOGISTIC)
    competitors = {
        "plain fit": lambda: clone(LOGISTIC).fit(X, y),
        "defaults, fit": lambda: defaults(LOGISTIC).fit(X, y, sensitive_features=z),
        "paper, fit": lambda: paper(LOGISTIC).fit(X, y, sensitive_features=z),
        "plain loop, fit": lambda: loop.fit(X, y, z),
        "plain predict_proba": lambda: plain.predict_proba(X),
        "defaults, predict": lambda: clf.predict(X, sensitive_features=z),
    }
    for what, work in competitors.items():
        # Caches are full by now: everything but the loop and the paper ran before.
        tracemalloc.start()
        work()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        yield {"part": "memory", "what": what, "rows": n, "times_X": peak / X.nbytes}


def large_records():
    """Train, load and predict large tables once, in processes of their own."""
    for name, (rows, groups, columns) in LARGE.items():
        command = [sys.executable, __file__, name]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        size = {"rows": rows, "groups": groups, "columns": columns}
        yield {"part": "large", "what": name, **size, **json.loads(done.stdout)}


def run_large(rows, n_groups, n_columns):
    """Print the seconds of training, loading and predicting, and the memory."""
    seconds = {}

    def clock(what, work):
        start = time.process_time()
        result = work()
        seconds[what] = time.process_time() - start
        return result

    X, y, z = table(rows, n_groups, np.random.default_rng(0), n_columns)
    clf = CapeClassifier(random_state=0)
    clock("train", lambda: clf.fit(X, y, sensitive_features=z))
    with tempfile.NamedTemporaryFile(suffix=".cape") as file:
        save(clf, file.name, overwrite=True)
        clf = clock("load", lambda: load(file.name))
    clock("predict", lambda: clf.predict(X, sensitive_features=z))
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**seconds, "mib": mib}))


def stream_records(rows, random):
    """Time a stream, row by row, with labels, and all rows at once."""
    X, y, z = table(4000, 2, random)
    plain = clone(LOGISTIC).fit(X, y)
    clf = defaults(LOGISTIC).fit(X, y, sensitive_features=z)
    new, labels, groups = table(rows, 2, random)

    def feed(lot, *, label=False):
        rolling = RollingCape(clf, WINDOW)
        for start in range(0, rows, lot):
            part = slice(start, start + lot)
            ids = np.arange(rows)[part]
            rolling.predict(new[part], sensitive_features=groups[part], ids=ids)
            if label:
                rolling.label(ids, labels[part])

    def one_by_one():
        for i in range(rows):
            plain.predict_proba(new[i : i + 1])

    competitors = {
        "plain predict_proba, row by row": one_by_one,
        "stream, row by row": lambda: feed(1),
        "stream, row by row, each labelled": lambda: feed(1, label=True),
        "stream, all rows at once": lambda: feed(rows),
        "predict_individually": lambda: clf.predict_individually(
            new, sensitive_features=groups
        ),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = compare(competitors, part="stream", rows=rows)
    for record in records:
        record["milliseconds_a_row"] = 1000 * record["seconds"] / rows
    return records


def peer_records(n, random):
    """Time the training of mitigations of Fairlearn and AIF360 on the same rows."""
    from aif360.algorithms.preprocessing import Reweighing
    from aif360.datasets import BinaryLabelDataset
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.reductions import EqualizedOdds, ExponentiatedGradient

    X, y, z = table(n, 2, random)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(N_FEATURES)])
    frame = frame.assign(z=z, y=y).astype(float)

    def threshold_optimizer():
        method = ThresholdOptimizer(
            estimator=LogisticRegression(),
            constraints="equalized_odds",
            predict_method="predict_proba",
        )
        return method.fit(X, y, sensitive_features=z)

    def exponentiated_gradient():
        method = ExponentiatedGradient(LogisticRegression(), EqualizedOdds())
        return method.fit(X, y, sensitive_features=z)

    def reweighing():
        dataset = BinaryLabelDataset(
            df=frame, label_names=["y"], protected_attribute_names=["z"]
        )
        weighed = Reweighing(**GROUPS).fit_transform(dataset)
        return LogisticRegression().fit(X, y, sample_weight=weighed.instance_weights)

    competitors = {
        "plain fit": lambda: clone(LOGISTIC).fit(X, y),
        "CAPE, defaults": lambda: defaults(LOGISTIC).fit(X, y, sensitive_features=z),
        "CAPE, paper": lambda: paper(LOGISTIC).fit(X, y, sensitive_features=z),
        "AIF360 Reweighing": reweighing,
        "Fairlearn ThresholdOptimizer": threshold_optimizer,
        "Fairlearn ExponentiatedGradient": exponentiated_gradient,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compare(competitors, part="peers", rows=n)


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore"):
        run_large(*LARGE[sys.argv[1]])
