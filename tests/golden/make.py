"""Answers that must not change: predictions and estimates for many settings.

Here all parameters are set explicitly; ``golden_entries`` has the defaults.
``python tests/golden/make.py NAME ...`` makes the named entries anew, or all of them
without a name. Do it only for entries whose answers are meant to change, and say in the
commit why. Entries of real data need CAPE_DATA.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

# As in the tests, see conftest.py.
os.environ["OPENBLAS_CORETYPE"] = "Haswell"

import numpy as np
import pandas as pd
from golden_entries import ENTRIES, row_by_row
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.watch._stream import RollingCape

FILE = Path(__file__).with_name("answers.json")

EXPLICIT = {
    "quantifier": "spa",
    "pool": "resampled",
    "share_estimator": False,
    "prevalences": 5,
    "cv": 5,
    "scores": "refit",
    "drift": "ignore",
    "preprocessing": "each",
    "group_columns": None,
    "min_group_size": 30,
    "min_class_size": 25,
    "small_groups": "error",
    "unknown_groups": "error",
    "random_state": 0,
    "n_jobs": None,
    "verbose": 0,
}
"""Every parameter has its value here, so that a new default changes no entry."""


def logistic():
    return LogisticRegression(C=1.0, max_iter=100)


def boosting():
    return HistGradientBoostingClassifier(
        max_iter=20, max_leaf_nodes=8, early_stopping=False, random_state=0
    )


def scaled():
    return make_pipeline(StandardScaler(), logistic())


def with_quantifier(name):
    """Return what makes the learner and the settings of a quantifier's entry."""
    return lambda: (logistic(), {"quantifier": name, "pool": "threshold"})


QUANTIFIERS = ("cc", "pcc", "acc", "spa", "hdy", "dys", "emq")

CLASSIFIERS = {
    "paper, logistic": lambda: (logistic(), {}),
    "paper, boosting": lambda: (boosting(), {}),
    "folds, logistic": lambda: (logistic(), {"scores": "folds"}),
    "folds, boosting": lambda: (boosting(), {"scores": "folds", "quantifier": "emq"}),
    "threshold, logistic": lambda: (logistic(), {"pool": "threshold"}),
    "threshold, boosting": lambda: (
        boosting(),
        {"pool": "threshold", "quantifier": "dys"},
    ),
    "threshold, folds": lambda: (
        boosting(),
        {"pool": "threshold", "scores": "folds", "quantifier": "dys"},
    ),
    "scaled each": lambda: (scaled(), {"pool": "threshold"}),
    "scaled once": lambda: (scaled(), {"preprocessing": "once"}),
    "own splitter": lambda: (logistic(), {"cv": StratifiedKFold(4)}),
    "own grid": lambda: (logistic(), {"prevalences": [0.2, 0.5, 0.9]}),
    **{f"quantifier {name}": with_quantifier(name) for name in QUANTIFIERS},
}
"""What makes the learner and the settings of an entry."""


class Labelled(NamedTuple):
    """Features, labels and groups as arrays."""

    X: np.ndarray
    y: np.ndarray
    z: np.ndarray


def arrays(n_samples, **settings) -> Labelled:
    """Draw the paper's synthetic data."""
    data = make_synthetic(n_samples, **settings)
    return Labelled(
        data.data.to_numpy(),
        data.target.to_numpy(),
        data.sensitive_features.to_numpy(),
    )


def training_rows() -> Labelled:
    """Draw two groups with prevalence .5."""
    return arrays(600, random_state=0)


def new_rows() -> Labelled:
    """Draw a batch in which both prevalences have moved."""
    return arrays(300, prevalences=(0.2, 0.8), random_state=3)


def as_hex(labels) -> str:
    """Pack labels 0 and 1 into bits, as text."""
    return np.packbits(np.asarray(labels).astype(bool)).tobytes().hex()


def rounded(values, digits=9) -> list[float]:
    return [round(float(value), digits) for value in values]


def answers_of(clf, X, z) -> dict:
    """Return everything that a fitted classifier says of a batch."""
    keyword = {"sensitive_features": z}
    adaptation = clf.adapt(X, **keyword)
    table = adaptation.table()
    probabilities = clf.predict_proba(X, **keyword)[:, 1]
    estimates = {}
    for name in ("estimate", "low", "high", "predicted_prevalence", "pd_bound"):
        estimates[name] = rounded(table[name])
    return {
        "predict": as_hex(clf.predict(X, **keyword)),
        "given an adaptation": as_hex(clf.predict(X, **keyword, adaptation=adaptation)),
        "individually": as_hex(clf.predict_individually(X, **keyword)),
        "probabilities": rounded(probabilities[::10], 7),
        "members": [int(member) for member in table["classifier"]],
        **estimates,
    }


def answers_of_classifier(name) -> dict:
    """Train as the entry says; return what is said of the batch."""
    train = training_rows()
    new = new_rows()
    estimator, settings = CLASSIFIERS[name]()
    clf = CapeClassifier(estimator, **{**EXPLICIT, **settings})
    clf.fit(train.X, train.y, sensitive_features=train.z)
    return answers_of(clf, new.X, new.z)


def answers_with_weights() -> dict:
    train = training_rows()
    new = new_rows()
    weights = np.random.default_rng(0).uniform(0.5, 2, len(train.y))
    clf = CapeClassifier(logistic(), **EXPLICIT)
    clf.fit(train.X, train.y, sensitive_features=train.z, sample_weight=weights)
    return answers_of(clf, new.X, new.z)


def answers_with_pooled_groups() -> dict:
    """Group 2 is too small in training, and group 3 is new in the batch."""
    train = training_rows()
    new = new_rows()
    settings = {
        **EXPLICIT,
        "small_groups": "pooled",
        "unknown_groups": "pooled",
        "min_group_size": 50,
    }
    train_z = train.z.copy()
    train_z[:25] = 2
    new_z = new.z.copy()
    new_z[:40] = 2
    new_z[40:60] = 3
    clf = CapeClassifier(logistic(), **settings)
    clf.fit(train.X, train.y, sensitive_features=train_z)
    return answers_of(clf, new.X, new_z)


def answers_without_groups() -> dict:
    train = training_rows()
    clf = CapeClassifier(logistic(), **EXPLICIT).fit(train.X, train.y)
    return answers_of(clf, new_rows().X, None)


def answers_of_prefit() -> dict:
    train = training_rows()
    held_out = arrays(600, random_state=5)
    new = new_rows()
    settings = {**EXPLICIT, "cv": "prefit", "pool": "threshold"}
    clf = CapeClassifier(boosting().fit(train.X, train.y), **settings)
    clf.fit(held_out.X, held_out.y, sensitive_features=held_out.z)
    return answers_of(clf, new.X, new.z)


def answers_of_stream() -> dict:
    train = training_rows()
    new = new_rows()
    answers = {}
    for pool in ("resampled", "threshold"):
        for scores in ("refit", "folds"):
            settings = {**EXPLICIT, "pool": pool, "scores": scores}
            clf = CapeClassifier(logistic(), **settings)
            clf.fit(train.X, train.y, sensitive_features=train.z)
            rolling = RollingCape(clf, window=40)
            y_pred = row_by_row(rolling, new.X, sensitive_features=new.z)
            answers[f"{pool}, {scores}"] = as_hex(y_pred)
    return answers


def answers_of_files() -> dict:
    from cape_app.files import predict_file, train_file

    train = make_synthetic(600, random_state=0).frame
    new = make_synthetic(300, prevalences=(0.2, 0.8), random_state=3).frame
    settings = {
        "pool": "threshold",
        "quantifier": "emq",
        "scores": "folds",
        "cv": 5,
        "preprocessing": "once",
        "share_estimator": False,
        "drift": "ignore",
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train.to_csv(folder / "train.csv", index=False)
        new.to_csv(folder / "new.csv", index=False)
        model = train_file(
            folder / "train.csv",
            None,
            label="y",
            group=["z"],
            learner="logistic",
            settings=settings,
        )
        predict_file(model, folder / "new.csv", folder / "out.csv", rows=77)
        out = pd.read_csv(folder / "out.csv")
    return {
        "prediction": as_hex(out["prediction"]),
        "probability": rounded(out["probability"][::10], 7),
    }


OTHERS = {
    "sample weights": answers_with_weights,
    "pooled groups": answers_with_pooled_groups,
    "one group": answers_without_groups,
    "prefit": answers_of_prefit,
    "stream": answers_of_stream,
    "files": answers_of_files,
}

NAMES = [*CLASSIFIERS, *OTHERS, *ENTRIES]

ARITHMETIC = "arithmetic"
"""Where the file keeps the last bits of the arithmetic that made it."""


def arithmetic() -> str:
    """Hash what other packages compute here, to the last bit.

    Where this is the same, every answer must be, too. Another processor or version may
    round otherwise.
    """
    train = training_rows()
    results = [
        np.exp(train.X),
        np.log1p(np.abs(train.X)),
        train.X.T @ train.X,
        logistic().fit(train.X, train.y).predict_proba(train.X),
        boosting().fit(train.X, train.y).predict_proba(train.X),
        stats.norm.cdf(train.X[:50]),
        stats.chi2.sf(np.arange(1, 30), 5),
        stats.beta.ppf(0.05, np.arange(1, 30), 7),
    ]
    bits = b"".join(np.ascontiguousarray(result).tobytes() for result in results)
    return hashlib.sha256(bits).hexdigest()[:16]


def make(name: str) -> dict:
    """Compute the entry of that name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in CLASSIFIERS:
            return answers_of_classifier(name)
        return {**OTHERS, **ENTRIES}[name]()


def main(names: list[str]) -> None:
    """Make entries anew, and write the file."""
    answers = {}
    if FILE.exists():
        answers = json.loads(FILE.read_text())
    # As in the tests: the order of a sum may depend on the number of threads.
    with threadpool_limits(1):
        answers[ARITHMETIC] = arithmetic()
        for name in names or NAMES:
            answers[name] = make(name)
    FILE.write_text(json.dumps(answers, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
