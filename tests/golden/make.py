"""Answers that must not change: predictions and estimates for many settings, all set explicitly.

``python tests/golden/make.py NAME ...`` makes the named entries anew, or all of them without a name. Do it only for
entries whose answers are meant to change, and say in the commit why.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.stream import RollingCape

FILE = Path(__file__).with_name("answers.json")

EXPLICIT = {
    "quantifier": "spa",
    "pool": "resampled",
    "prevalences": 5,
    "cv": 5,
    "scores": "refit",
    "preprocessing": "each",
    "group_columns": None,
    "min_group_size": 30,
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


CLASSIFIERS = {
    "paper, logistic": lambda: (logistic(), {}),
    "paper, boosting": lambda: (boosting(), {}),
    "folds, logistic": lambda: (logistic(), {"scores": "folds"}),
    "folds, boosting": lambda: (boosting(), {"scores": "folds", "quantifier": "emq"}),
    "threshold, logistic": lambda: (logistic(), {"pool": "threshold"}),
    "threshold, boosting": lambda: (
        boosting(),
        {"pool": "threshold", "quantifier": "histogram"},
    ),
    "threshold, folds": lambda: (
        boosting(),
        {"pool": "threshold", "scores": "folds", "quantifier": "histogram"},
    ),
    "scaled each": lambda: (scaled(), {"pool": "threshold"}),
    "scaled once": lambda: (scaled(), {"preprocessing": "once"}),
    "own splitter": lambda: (logistic(), {"cv": StratifiedKFold(4)}),
    "own grid": lambda: (logistic(), {"prevalences": [0.2, 0.5, 0.9]}),
    **{
        f"quantifier {name}": lambda name=name: (
            logistic(),
            {"quantifier": name, "pool": "threshold"},
        )
        for name in ("cc", "pcc", "acc", "spa", "hdy", "dys", "emq", "histogram")
    },
}


def arrays(n_samples, **settings):
    data = make_synthetic(n_samples, **settings)
    return (
        data.data.to_numpy(),
        data.target.to_numpy(),
        data.sensitive_features.to_numpy(),
    )


def as_hex(labels) -> str:
    return np.packbits(np.asarray(labels).astype(bool)).tobytes().hex()


def rounded(values, digits=9) -> list[float]:
    return [round(float(value), digits) for value in values]


def answers_of(clf, X, z) -> dict:
    """Everything that a fitted classifier says of a batch."""
    keyword = {} if z is None else {"sensitive_features": z}
    adaptation = clf.adapt(X, **keyword)
    table = adaptation.table()
    probabilities = clf.predict_proba(X, **keyword)[:, 1]
    return {
        "predict": as_hex(clf.predict(X, **keyword)),
        "given an adaptation": as_hex(clf.predict(X, **keyword, adaptation=adaptation)),
        "individually": as_hex(clf.predict_individually(X, **keyword)),
        "probabilities": rounded(probabilities[::10], 7),
        "members": [int(member) for member in table["member"]],
        **{
            name: rounded(table[name])
            for name in ("estimate", "low", "high", "predicted_prevalence", "pd_bound")
        },
    }


def answers_of_classifier(name) -> dict:
    X, y, z = arrays(600, random_state=0)
    new, _, new_z = arrays(300, prevalences=(0.2, 0.8), random_state=3)
    estimator, settings = CLASSIFIERS[name]()
    clf = CapeClassifier(estimator, **{**EXPLICIT, **settings}).fit(
        X, y, sensitive_features=z
    )
    return answers_of(clf, new, new_z)


def answers_with_weights() -> dict:
    X, y, z = arrays(600, random_state=0)
    new, _, new_z = arrays(300, prevalences=(0.2, 0.8), random_state=3)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    clf = CapeClassifier(logistic(), **EXPLICIT).fit(
        X, y, sensitive_features=z, sample_weight=weights
    )
    return answers_of(clf, new, new_z)


def answers_with_pooled_groups() -> dict:
    X, y, z = arrays(600, random_state=0)
    new, _, new_z = arrays(300, prevalences=(0.2, 0.8), random_state=3)
    settings = {
        **EXPLICIT,
        "small_groups": "pooled",
        "unknown_groups": "pooled",
        "min_group_size": 50,
    }
    z, new_z = z.copy(), new_z.copy()
    z[:25], new_z[:40], new_z[40:60] = 2, 2, 3
    clf = CapeClassifier(logistic(), **settings).fit(X, y, sensitive_features=z)
    return answers_of(clf, new, new_z)


def answers_without_groups() -> dict:
    X, y, _ = arrays(600, random_state=0)
    new, _, _ = arrays(300, prevalences=(0.2, 0.8), random_state=3)
    return answers_of(CapeClassifier(logistic(), **EXPLICIT).fit(X, y), new, None)


def answers_of_prefit() -> dict:
    X, y, z = arrays(600, random_state=0)
    held_out, held_out_y, held_out_z = arrays(600, random_state=5)
    new, _, new_z = arrays(300, prevalences=(0.2, 0.8), random_state=3)
    settings = {**EXPLICIT, "cv": "prefit", "pool": "threshold"}
    clf = CapeClassifier(boosting().fit(X, y), **settings)
    return answers_of(
        clf.fit(held_out, held_out_y, sensitive_features=held_out_z), new, new_z
    )


def answers_of_stream() -> dict:
    X, y, z = arrays(600, random_state=0)
    new, _, new_z = arrays(300, prevalences=(0.2, 0.8), random_state=3)
    answers = {}
    for pool in ("resampled", "threshold"):
        for scores in ("refit", "folds"):
            settings = {**EXPLICIT, "pool": pool, "scores": scores}
            clf = CapeClassifier(logistic(), **settings).fit(X, y, sensitive_features=z)
            rolling = RollingCape(clf, window=40)
            answers[f"{pool}, {scores}"] = as_hex(
                rolling.predict(new, sensitive_features=new_z)
            )
    return answers


def answers_of_files() -> dict:
    from cape.files import predict_file, train_file

    train = make_synthetic(600, random_state=0).frame
    new = make_synthetic(300, prevalences=(0.2, 0.8), random_state=3).frame
    settings = {
        "pool": "threshold",
        "quantifier": "histogram",
        "scores": "folds",
        "cv": 5,
        "preprocessing": "once",
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

NAMES = [*CLASSIFIERS, *OTHERS]


def make(name: str) -> dict:
    """The entry of that name, computed now."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in CLASSIFIERS:
            return answers_of_classifier(name)
        return OTHERS[name]()


def main(names: list[str]) -> None:
    answers = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name in names or NAMES:
        answers[name] = make(name)
    FILE.write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
