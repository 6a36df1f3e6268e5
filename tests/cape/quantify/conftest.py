"""Scores for comparisons with QuaPy, which is kept from changing warning filters."""

import importlib
import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from cape.quantify import ScoreHistogram, edges_for, round_scores

ONE = 2**32  # the unit of rounded scores


@pytest.fixture(scope="session")
def quapy():
    """QuaPy's aggregative quantifiers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("quapy.method.aggregative")


def draw_labels_and_scores(random, n, prevalence):
    """Draw scores that are a little off calibration, and at least one of each class."""
    y = (random.uniform(size=n) < prevalence).astype(int)
    y[:2] = [0, 1]
    log_odds = 1.7 * (2 * y - 1 + random.normal(size=n))
    return y, round_scores(1 / (1 + np.exp(-log_odds)))


class Scores:
    """Scores of training rows and of a batch, as rows for QuaPy and as histograms."""

    def __init__(self, seed, n_train, n_batch, prevalence, batch_prevalence):
        random = np.random.RandomState(seed)
        self.y, train = draw_labels_and_scores(random, n_train, prevalence)
        _, batch = draw_labels_and_scores(random, n_batch, batch_prevalence)
        self.train = train / ONE
        self.batch = batch / ONE
        positives = train[self.y == 1]
        negatives = train[self.y == 0]
        edges = edges_for(positives, negatives)
        self.positives = ScoreHistogram.of(positives, edges)
        self.negatives = ScoreHistogram.of(negatives, edges)
        self.histogram = ScoreHistogram.of(batch, edges)

    def ours(self, quantifier):
        """Return the estimate of one of our quantifiers."""
        quantifier.fit(self.positives, self.negatives)
        return quantifier.estimate(self.histogram)

    def theirs(self, quantifier):
        """Return the estimate of a quantifier of QuaPy, on the rows themselves."""
        if quantifier._classifier_method() == "predict":
            train = (self.train > 0.5).astype(int)
            batch = (self.batch > 0.5).astype(int)
        else:
            train = np.column_stack([1 - self.train, self.train])
            batch = np.column_stack([1 - self.batch, self.batch])
        # The classifier is never asked: the scores are given.
        quantifier.classifier = DummyClassifier().fit([[0], [0]], [0, 1])
        quantifier.aggregation_fit(train, self.y)
        return float(quantifier.aggregate(batch)[1])


CASES = [
    (0, 80, 15, 0.5, 0.05),
    (1, 400, 100, 0.3, 0.4),
    (2, 400, 100, 0.5, 0.9),
    (3, 3000, 2000, 0.3, 0.05),
]
"""Seed, training rows, rows of the batch, and their prevalences."""


def case_name(case):
    return "-".join(map(str, case))


@pytest.fixture(scope="session", params=CASES, ids=case_name)
def case(request):
    return Scores(*request.param)


@pytest.fixture(scope="session")
def one_case():
    return Scores(0, 400, 100, 0.4, 0.7)
