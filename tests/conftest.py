"""Settings and data that many tests share."""

import hypothesis
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from cape import CapeClassifier
from cape.datasets import make_synthetic

threadpool_limits(1)  # pytest runs a worker a core: more threads would only wait for each other
hypothesis.settings.register_profile("cape", max_examples=40, deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("cape")


@pytest.fixture(scope="session")
def train():
    """Two groups of 300 rows, prevalence 0.5 in both."""
    return make_synthetic(600, random_state=0)


@pytest.fixture(scope="session")
def batch():
    """A batch in which both groups have moved."""
    return make_synthetic(400, prevalences=(0.2, 0.8), random_state=1)


@pytest.fixture(scope="session")
def fitted(train):
    """Fit CAPE on ``train``, once for each setting that tests ask for."""
    known = {}

    def fit(**settings):
        key = repr(sorted(settings.items()))
        if key not in known:
            clf = CapeClassifier(LogisticRegression(), **{"random_state": 0, "cv": 5, **settings})
            known[key] = clf.fit(train.data, train.target, sensitive_features=train.sensitive_features)
        return known[key]

    return fit


@pytest.fixture
def random():
    return np.random.RandomState(0)
