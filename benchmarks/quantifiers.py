"""Time each quantifier against the same method of QuaPy and of mlquantify.

One batch, whose scores are given, in microseconds. Our time is that of all that an
estimate needs from the scores: `round_scores`, `ScoreHistogram.of` and `estimate`. The
peers are given two columns of probabilities, made beforehand, and aggregate them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from timeit import timeit

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from cape._histogram import ScoreHistogram, edges_for, round_scores
from cape.quantify import QUANTIFIERS, make_quantifier

NAMES = tuple(QUANTIFIERS)

FAST = ("cc", "pcc", "acc", "spa")
"""Quantifiers that take microseconds, which scatter and need more rounds."""

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
        return predicted_labels(X)


def predicted_labels(probabilities):
    """Return the labels of rows with the probabilities of both classes."""
    return (probabilities[:, 1] > 0.5).astype(int)


def both_columns(scores):
    """Return the probabilities of both classes, which the peers want."""
    return np.column_stack([1 - scores, scores])


def draw_scores(n_positive, n_negative, random):
    """Draw scores of positives, then of negatives."""
    positives = random.beta(4, 2, n_positive)
    negatives = random.beta(2, 4, n_negative)
    return np.concatenate([positives, negatives])


def draw_batch(n, random):
    """Draw the scores of a batch with prevalence .3, in random order."""
    n_negative = n * 7 // 10
    scores = draw_scores(n - n_negative, n_negative, random)
    return random.permutation(scores)


def ours(name, training, labels):
    """Return a function from the scores of a batch to our estimate."""
    positives = round_scores(training[labels == 1])
    negatives = round_scores(training[labels == 0])
    edges = edges_for(positives, negatives)
    quantifier = make_quantifier(name)
    quantifier.fit(
        ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges)
    )

    def estimate(scores):
        batch = ScoreHistogram.of(round_scores(scores), edges)
        return quantifier.estimate(batch)

    return estimate


def quapys(name, training, labels):
    """Return a function from probabilities to QuaPy's estimate, None if it has none."""
    import quapy.method.aggregative as methods

    classifier = LogisticRegression()
    makers: dict[str, Callable] = {
        "cc": lambda: methods.CC(classifier),
        "pcc": lambda: methods.PCC(classifier),
        "acc": lambda: methods.ACC(classifier, solver="exact-raise"),
        "spa": lambda: methods.SMM(classifier),
        "hdy": lambda: methods.HDy(classifier),
        "dys": lambda: methods.DyS(classifier, n_bins=8, divergence="topsoe"),
        "emq": lambda: methods.EMQ(classifier),
    }
    if name not in makers:
        return None
    method = makers[name]()
    method.classifier = GivenScores()
    prevalence = labels.mean()
    method.train_prevalence = np.array([1 - prevalence, prevalence])
    probabilities = both_columns(training)
    if method._classifier_method() == "predict":
        method.aggregation_fit(predicted_labels(probabilities), labels)
        return lambda given: method.aggregate(predicted_labels(given))[1]
    method.aggregation_fit(probabilities, labels)
    return lambda given: method.aggregate(given)[1]


def mlquantifys(name, training, labels):
    """Return a function from probabilities to mlquantify's estimate, None if none."""
    from mlquantify import counting, likelihood, matching

    makers = {
        "cc": counting.CC,
        "pcc": counting.PCC,
        "acc": counting.ACC,
        "spa": matching.SMM,
        "hdy": matching.HDy,
        "dys": matching.DyS,
        "emq": likelihood.EMQ,
    }
    if name not in makers:
        return None
    method = makers[name](GivenScores())
    method.fit(both_columns(training), labels)
    return method.predict


@cache
def competitors(name):
    """Return the fitted methods by library, each a function of a batch."""
    half = TRAINING_ROWS // 2
    training = draw_scores(half, half, np.random.default_rng(0))
    labels = np.repeat([1, 0], half)
    methods = {}
    for library, make in (
        ("cape", ours),
        ("quapy", quapys),
        ("mlquantify", mlquantifys),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                method = make(name, training, labels)
            except ImportError as error:
                # Said aloud: the fastest peer may be the one that is missing.
                print(f"{library} left out:", error)
                continue
        if method is not None:
            methods[library] = method
    return methods


def quantifier_ratios(name, n, random, *, rounds):
    """Return the times of a quantifier and of its fastest peer at one size."""
    from clock import compare

    scores = draw_batch(n, random)
    probabilities = both_columns(scores)
    repeats = max(3, min(10, 1_000_000 // n))
    runs = {}
    for library, method in competitors(name).items():
        batch = scores if library == "cape" else probabilities
        work = partial(method, batch)
        runs[library] = partial(timeit, work, number=repeats)
    baseline = next((library for library in runs if library != "cape"), "cape")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = compare(runs, rounds=rounds, baseline=baseline, settle=0)
    microseconds = {
        record["what"]: 1e6 * record["seconds"] / repeats for record in records
    }
    cape = microseconds.pop("cape")
    record = {
        "part": "quantifier",
        "what": name,
        "rows": n,
        "cape_microseconds": cape,
        "fastest_peer": None,
        "peer_microseconds": None,
        "ratio": None,
    }
    if microseconds:
        fastest = min(microseconds, key=microseconds.get)
        record["fastest_peer"] = fastest
        record["peer_microseconds"] = microseconds[fastest]
        record["ratio"] = cape / microseconds[fastest]
    return record
