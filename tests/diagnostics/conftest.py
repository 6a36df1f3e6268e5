"""A model that tests of several diagnostics share."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier


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
def few_positives():
    """A model whose group c has too few positives to know its rates; and a batch."""
    X, y, z = draw_three(200, (0.5, 0.4, 0.025), seed=1)
    assert 2 <= y[z == "c"].sum() < 10
    clf = CapeClassifier(LogisticRegression(), random_state=0, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y, sensitive_features=z)
        X, y, z = draw_three(150, (0.3, 0.6, 0.1), seed=2)
        evidence = clf.evidence(X, sensitive_features=z)
        adaptation = clf.adapt(evidence=evidence, rule="equal_opportunity")
    return clf, evidence, adaptation
