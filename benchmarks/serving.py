"""What a request costs a frozen model: processor time by kind of columns and learner.

All kinds are asked in turn: a slow minute of the machine hits all of them alike.
"""

from __future__ import annotations

import gc
import time

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from study import grouped, markdown_table

from cape import CapeClassifier

NUMBERS = ["age", "income", "debt", "years"]
TEXTS = ["city", "purpose"]
ALL = [*NUMBERS, *TEXTS]
REQUESTS = 60
SIZES = (1, 100)


def people(rows, seed):
    """Return rows with four numbers, two columns of text and a group; and labels."""
    random = np.random.default_rng(seed)
    y = random.random(rows) < 0.4
    X = pd.DataFrame({name: random.normal(y) for name in NUMBERS})
    for name in TEXTS:
        levels = np.array([f"{name} {i}" for i in range(30)])
        X[name] = random.choice(levels, rows)
    return X.assign(group=random.choice(["a", "b"], rows)), y.astype(int)


def plain_pipeline():
    """Return encoders of scikit-learn and a linear learner."""
    encoders = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), TEXTS),
        (StandardScaler(), NUMBERS),
    )
    return make_pipeline(encoders, LogisticRegression())


KINDS = {
    "numbers, logistic regression": (NUMBERS, LogisticRegression(), "auto"),
    "numbers, default learner": (NUMBERS, None, "auto"),
    "text, pipeline of scikit-learn, `refit`": (ALL, plain_pipeline(), "refit"),
    "text, pipeline of scikit-learn": (ALL, plain_pipeline(), "auto"),
    "text, default learner (skrub)": (ALL, None, "auto"),
}


def serving_records():
    """Return the milliseconds of a request of one row, and of 100 rows, by kind."""
    X, y = people(4000, 0)
    new, _ = people(2000, 1)
    frozen = {}
    for name, (columns, learner, scores) in KINDS.items():
        used = [*columns, "group"]
        clf = CapeClassifier(
            learner, scores=scores, group_columns="group", random_state=0
        )
        clf.fit(X[used], y)
        frozen[name] = clf.freeze(clf.adapt(new[used])), new[used]
    times = {(name, size): [] for name in KINDS for size in SIZES}
    gc.collect()
    for turn in range(REQUESTS):
        for (name, size), taken in times.items():
            model, rows = frozen[name]
            request = rows[turn * 10 : turn * 10 + size]
            start = time.process_time()
            model.predict_proba(request)
            taken.append(1000 * (time.process_time() - start))
    for (name, size), taken in times.items():
        low, middle, high = np.quantile(taken, [0.25, 0.5, 0.75])
        figures = {"milliseconds": middle, "low": low, "high": high}
        yield {"part": "serving", "what": name, "rows": size} | figures


def serving_table(records):
    """Return the table of docs/production.md: medians, and quartiles of one row."""
    columns = ["columns and learner", "one row", "100 rows", "each of the 100"]
    lines = []
    for (name,), (one, many) in grouped(records, "what").items():
        single = f"{one['milliseconds']:.1f} ms ({one['low']:.1f}-{one['high']:.1f})"
        hundred = many["milliseconds"]
        lines.append([name, single, f"{hundred:.1f} ms", f"{hundred / 100:.2f} ms"])
    return markdown_table(columns, lines)
