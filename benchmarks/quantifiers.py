"""Time each quantifier against the same method of QuaPy and of mlquantify.

One batch, whose scores are given. Our time is that of all that an estimate needs from
the scores: `round_scores`, `ScoreHistogram.of` and `estimate`. The peers are given two
columns of probabilities, made beforehand, and aggregate them.
"""

from __future__ import annotations

import warnings
from functools import partial
from timeit import timeit

import numpy as np
from clock import compare
from given_scores import GivenScores, both_columns

from cape.quantify import (
    QUANTIFIERS,
    ScoreHistogram,
    edges_for,
    make_quantifier,
    round_scores,
)

TRAINING_ROWS = 5000


def draw_scores(n_positive, n_negative, random):
    """Draw scores of positives, then of negatives."""
    positives = random.beta(4, 2, n_positive)
    negatives = random.beta(2, 4, n_negative)
    return np.concatenate([positives, negatives])


def ours(name, training, labels):
    """Return a function from the scores of a batch to our estimate."""
    positives = round_scores(training[labels == 1])
    negatives = round_scores(training[labels == 0])
    edges = edges_for(positives, negatives)
    quantifier = make_quantifier(name)
    quantifier.fit(
        ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges)
    )
    return lambda scores: quantifier.estimate(
        ScoreHistogram.of(round_scores(scores), edges)
    )


def quapys(name, training, labels):
    """Return a function from probabilities to QuaPy's estimate, None if it has none."""
    import quapy.method.aggregative as methods

    makers = {
        "cc": methods.CC,
        "pcc": methods.PCC,
        "acc": partial(methods.ACC, solver="exact-raise"),
        "spa": methods.SMM,
        "hdy": methods.HDy,
        "dys": partial(methods.DyS, n_bins=8, divergence="topsoe"),
        "emq": methods.EMQ,
    }
    if name not in makers:
        return None
    classifier = GivenScores()
    method = makers[name](classifier, fit_classifier=False)
    prevalence = labels.mean()
    method.train_prevalence = np.array([1 - prevalence, prevalence])
    probabilities = both_columns(training)
    if method._classifier_method() == "predict":
        method.aggregation_fit(classifier.predict(probabilities), labels)
        return lambda given: method.aggregate(classifier.predict(given))[1]
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


def quantifier_records(n, random):
    """Return the times of all quantifiers and of their peers at one size."""
    half = TRAINING_ROWS // 2
    training = draw_scores(half, half, np.random.default_rng(0))
    labels = np.repeat([1, 0], half)
    n_negative = n * 7 // 10
    scores = random.permutation(draw_scores(n - n_negative, n_negative, random))
    probabilities = both_columns(scores)
    repeats = max(1, min(20, 100_000 // n))
    for name in QUANTIFIERS:
        runs = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            method = ours(name, training, labels)
            runs["cape"] = partial(timeit, partial(method, scores), number=repeats)
            for library, make in (("QuaPy", quapys), ("mlquantify", mlquantifys)):
                method = make(name, training, labels)
                if method is not None:
                    work = partial(method, probabilities)
                    runs[library] = partial(timeit, work, number=repeats)
            records = compare(runs, seconds=2.0)
        for record in records:
            record["microseconds"] = 1e6 * record["seconds"] / repeats
            yield {"part": "quantifiers", "quantifier": name, "rows": n, **record}
