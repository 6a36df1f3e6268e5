"""Models and examinations that several tests share."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, examine
from cape.datasets._files import data_folder


def draw_three(n, prevalences, seed):
    """Rows of the groups a, b and c, each with its own prevalence."""
    random = np.random.default_rng(seed)
    X, y, z = [], [], []
    for group, prevalence in zip("abc", prevalences, strict=True):
        label = random.random(n) < prevalence
        X.append(random.normal(0, 1, (n, 2)) + label[:, None])
        y.append(label.astype(int))
        z.append(np.full(n, group))
    return np.concatenate(X), np.concatenate(y), np.concatenate(z)


@pytest.fixture(scope="session")
def published_file():
    """Find a file of the data that people publish; without it, the test is skipped."""

    def find(name):
        path = data_folder() / name
        if not path.exists():
            pytest.skip(f"{name} is not here: set CAPE_DATA to a folder that has it")
        return path

    return find


@pytest.fixture(scope="session")
def few_positives():
    """A batch whose group c had too few positives in training to know its rates."""
    X, y, z = draw_three(200, (0.5, 0.4, 0.025), seed=1)
    assert 2 <= y[z == "c"].sum() < 10
    clf = CapeClassifier(LogisticRegression(), random_state=0, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y, sensitive_features=z)
        X, y, z = draw_three(150, (0.3, 0.6, 0.1), seed=2)
        return examine(clf, X, sensitive_features=z, rule="equal_opportunity")


@pytest.fixture(scope="session")
def clf(fitted):
    return fitted(pool="threshold")


@pytest.fixture(scope="session")
def seen(clf, batch):
    """The examination of 200 rows in which both groups have moved."""
    return examine(clf, batch.X, sensitive_features=batch.z)
