"""Each quantifier against QuaPy's and mlquantify's same method: one batch, scores given, microseconds."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from cape.histogram import ScoreHistogram, edges_for, round_scores
from cape.quantify import make_quantifier

NAMES = ("cc", "pcc", "acc", "spa", "hdy", "dys", "emq", "histogram")
FAST = NAMES[:4]
"""They take microseconds, which scatter."""

TRAINING_ROWS = 5000


class GivenScores(ClassifierMixin, BaseEstimator):
    """A classifier whose features are its scores."""

    def __init__(self):
        self.classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return (X[:, 1] > 0.5).astype(int)


def scores_of(n_positive, n_negative, random):
    return np.concatenate(
        [random.beta(4, 2, n_positive), random.beta(2, 4, n_negative)]
    )


def batch_of(n, random):
    return random.permutation(scores_of(n - n * 7 // 10, n * 7 // 10, random))


def ours(name, training, labels):
    edges = edges_for(*(round_scores(training[labels == label]) for label in (1, 0)))
    positives, negatives = (
        ScoreHistogram.of(round_scores(training[labels == label]), edges)
        for label in (1, 0)
    )
    fitted = make_quantifier(name).fit(positives, negatives)
    return fitted.estimate_scores


def quapys(name, training, labels):
    import quapy.method.aggregative as methods

    made = {
        "cc": lambda: methods.CC(LogisticRegression()),
        "pcc": lambda: methods.PCC(LogisticRegression()),
        "acc": lambda: methods.ACC(LogisticRegression(), solver="exact-raise"),
        "spa": lambda: methods.SMM(LogisticRegression()),
        "hdy": lambda: methods.HDy(LogisticRegression()),
        "dys": lambda: methods.DyS(LogisticRegression(), n_bins=8, divergence="topsoe"),
        "emq": lambda: methods.EMQ(LogisticRegression()),
    }
    if name not in made:
        return None
    method = made[name]()
    method.classifier = GivenScores()
    posteriors = np.column_stack([1 - training, training])
    crisp = method._classifier_method() == "predict"
    method.train_prevalence = np.array([1 - labels.mean(), labels.mean()])
    method.aggregation_fit(
        (training > 0.5).astype(int) if crisp else posteriors, labels
    )
    if crisp:
        return lambda given: method.aggregate((given[:, 1] > 0.5).astype(int))[1]
    return lambda given: method.aggregate(given)[1]


def mlquantifys(name, training, labels):
    from mlquantify import counting, likelihood, matching

    made = {
        "cc": lambda: counting.CC(GivenScores()),
        "pcc": lambda: counting.PCC(GivenScores()),
        "acc": lambda: counting.ACC(GivenScores()),
        "spa": lambda: matching.SMM(GivenScores()),
        "hdy": lambda: matching.HDy(GivenScores()),
        "dys": lambda: matching.DyS(GivenScores()),
        "emq": lambda: likelihood.EMQ(GivenScores()),
    }
    if name not in made:
        return None
    method = made[name]()
    method.fit(np.column_stack([1 - training, training]), labels)
    return lambda given: method.predict(given)


@cache
def competitors(name):
    """Functions that take a batch's scores: ours one column, theirs the two that they want, made beforehand."""
    training = scores_of(
        TRAINING_ROWS // 2, TRAINING_ROWS // 2, np.random.default_rng(0)
    )
    labels = np.repeat([1, 0], TRAINING_ROWS // 2)
    found = {"cape": ours(name, training, labels)}
    for library, make in (("quapy", quapys), ("mlquantify", mlquantifys)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            method = make(name, training, labels)
        if method is not None:
            found[library] = method
    return found


def quantifier_ratios(name, n, random, *, rounds):
    """Ratio to the fastest peer; the seconds are those of one batch."""
    from clock import compare

    batch = batch_of(n, random)
    both = np.column_stack([1 - batch, batch])
    repeats = max(3, min(10, 1_000_000 // n))
    made = {
        library: lambda method=method, given=batch if library == "cape" else both: [
            method(given) for _ in range(repeats)
        ]
        for library, method in competitors(name).items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = compare(
            made,
            rounds=rounds,
            baseline=min(made, key=lambda library: library == "cape"),
            settle=0,
        )
    for record in records:
        record["seconds"] /= repeats
    fastest = min(
        (r for r in records if r["what"] != "cape"),
        key=lambda r: r["seconds"],
        default=None,
    )
    mine = next(r for r in records if r["what"] == "cape")
    return {
        "part": "quantifier",
        "what": name,
        "rows": n,
        "cape_microseconds": mine["seconds"] * 1e6,
        "fastest_peer": None if fastest is None else fastest["what"],
        "peer_microseconds": None if fastest is None else fastest["seconds"] * 1e6,
        "ratio": None if fastest is None else mine["seconds"] / fastest["seconds"],
    }
