"""Small rows for the peers, whose cost does not fall with the rows."""

import pytest
from sklearn.linear_model import LogisticRegression

from cape.datasets import make_synthetic


@pytest.fixture(scope="session")
def moved():
    """Labelled rows of two groups that differ in prevalence, and a batch that has moved."""
    train = make_synthetic(400, prevalences=(0.3, 0.6), random_state=0)
    test = make_synthetic(200, prevalences=(0.5, 0.7), random_state=1)
    return train, test


@pytest.fixture
def learner():
    return LogisticRegression()
