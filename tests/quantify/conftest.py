"""QuaPy, kept from changing the filters of warnings for the whole process."""

import importlib
import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from cape.histogram import ScoreHistogram, edges_for, round_scores


@pytest.fixture(scope="session")
def quapy():
    """QuaPy's aggregative quantifiers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("quapy.method.aggregative")


class Scores:
    """Scores of training rows and of a batch, as rows for QuaPy and as histograms for us."""

    def __init__(self, seed, n_train, n_batch, prevalence, batch_prevalence):
        random = np.random.RandomState(seed)

        def draw(n, rho):
            y = (random.uniform(size=n) < rho).astype(int)
            y[:2] = [0, 1]
            # log-odds of +-1 with unit noise, seen through a link that leaves them a little off calibration
            return y, round_scores(
                1 / (1 + np.exp(-1.7 * (2 * y - 1 + random.normal(size=n))))
            )

        self.y, train = draw(n_train, prevalence)
        _, batch = draw(n_batch, batch_prevalence)
        self.train, self.batch = train / 2**32, batch / 2**32
        edges = edges_for(train[self.y == 1], train[self.y == 0])
        self.positives, self.negatives = (
            ScoreHistogram.of(train[self.y == label], edges, keep_rows=True)
            for label in (1, 0)
        )
        self.histogram = ScoreHistogram.of(batch, edges, keep_rows=True)

    def ours(self, quantifier):
        return quantifier.fit(self.positives, self.negatives).estimate(self.histogram)

    def theirs(self, quantifier):
        """What a quantifier of QuaPy says, on the rows themselves."""
        hard = quantifier._classifier_method() == "predict"
        train, batch = (
            (s > 0.5).astype(int) if hard else np.column_stack([1 - s, s])
            for s in (self.train, self.batch)
        )
        quantifier.classifier = DummyClassifier().fit(
            [[0], [0]], [0, 1]
        )  # never asked: the scores are given
        quantifier.aggregation_fit(train, self.y)
        return float(quantifier.aggregate(batch)[1])


CASES = [
    (seed, n_train, n_batch, prevalence, batch_prevalence)
    for seed, (n_train, n_batch) in enumerate([(80, 15), (400, 100), (3000, 2000)])
    for prevalence in (0.5, 0.3)
    for batch_prevalence in (0.05, 0.4, 0.9)
]


@pytest.fixture(
    scope="session", params=CASES, ids=lambda case: "-".join(map(str, case))
)
def case(request):
    return Scores(*request.param)


@pytest.fixture(scope="session")
def some_scores():
    return Scores(0, 400, 100, 0.4, 0.7)
