"""Small data for the peers, whose cost does not fall with the number of rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Bunch

from cape.datasets import make_synthetic


@pytest.fixture(scope="session")
def moved():
    """Labelled rows of two groups that differ in prevalence, and a batch that moved."""
    train = make_synthetic(400, prevalences=(0.3, 0.6), random_state=0)
    test = make_synthetic(200, prevalences=(0.5, 0.7), random_state=1)
    return train, test


@pytest.fixture(scope="session")
def three_groups():
    """Rows of three named groups, with labels that are words."""
    random = np.random.default_rng(0)
    data = pd.DataFrame(random.normal(size=(240, 2)), columns=["x0", "x1"])
    groups = random.choice(["a", "b", "c"], 240)
    noise = random.normal(size=240)
    positive = data["x0"] + (groups == "b") + noise > 0
    return Bunch(
        data=data,
        target=np.where(positive, "yes", "no"),
        sensitive_features=groups,
    )


@pytest.fixture
def learner():
    return LogisticRegression()


@pytest.fixture(scope="session")
def fit():
    """Fit a method on a Bunch of rows, and return it."""

    def fit_method(method, rows):
        groups = rows.sensitive_features
        return method.fit(rows.data, rows.target, sensitive_features=groups)

    return fit_method


@pytest.fixture(scope="session")
def predict():
    """Predict a Bunch of rows, or the first of them."""

    def predict_method(method, rows, n_rows=None):
        groups = rows.sensitive_features[:n_rows]
        return method.predict(rows.data[:n_rows], sensitive_features=groups)

    return predict_method


@pytest.fixture(scope="session")
def fit_predict(fit, predict):
    """Fit a method on the first Bunch, and predict the second."""

    def call(method, parts):
        train, test = parts
        return predict(fit(method, train), test)

    return call
