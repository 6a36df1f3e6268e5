"""Settings and data that many tests share."""

import hypothesis
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

from cape import CapeClassifier
from cape.datasets import make_synthetic

threadpool_limits(1)  # pytest runs a worker a core: more threads would only wait for each other
hypothesis.settings.register_profile("cape", max_examples=40, deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("cape")


def synthetic(n_samples, **settings):
    """The paper's data as plain arrays: X, y and z."""
    d = make_synthetic(n_samples, **settings)
    return Bunch(X=d.data.to_numpy(), y=d.target.to_numpy(), z=d.sensitive_features.to_numpy())


@pytest.fixture(scope="session")
def train():
    """Two groups of 300 rows, prevalence 0.5 in both."""
    return synthetic(600, random_state=0)


@pytest.fixture(scope="session")
def batch():
    """200 rows in which both groups have moved."""
    return synthetic(200, prevalences=(0.2, 0.8), random_state=3)


@pytest.fixture(scope="session")
def fitted(train):
    """Fit CAPE on ``train``, once for each setting that tests ask for."""
    known = {}

    def fit(**settings):
        key = repr(sorted(settings.items()))
        if key not in known:
            clf = CapeClassifier(LogisticRegression(), **{"random_state": 0, "cv": 5, **settings})
            known[key] = clf.fit(train.X, train.y, sensitive_features=train.z)
        return known[key]

    return fit


@pytest.fixture
def random():
    return np.random.RandomState(0)
