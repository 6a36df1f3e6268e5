"""What a person forgets: that a model has seen its rows."""

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic


@pytest.fixture(scope="module")
def world():
    table = make_synthetic(n_samples=4000, random_state=0)
    table.target = table.target.to_numpy()
    return table


@pytest.fixture(scope="module")
def clf(world):
    clf = CapeClassifier(LogisticRegression(), cv=2, random_state=0)
    return clf.fit(
        world.data, world.target, sensitive_features=world.sensitive_features
    )


def test_a_prefit_model_on_the_rows_that_it_was_trained_on_is_noticed(world):
    half = len(world.target) // 2
    X, y, z = world.data, world.target, world.sensitive_features
    forest = RandomForestClassifier(20, random_state=0).fit(X[:half], y[:half])
    prefit = CapeClassifier(forest, cv="prefit")
    with pytest.warns(UserWarning, match="trained on these rows") as caught:
        prefit.fit(X[:half], y[:half], sensitive_features=z[:half])
    assert caught[0].filename == __file__
    prefit.fit(X[half:], y[half:], sensitive_features=z[half:])
