"""What a person forgets: how rows were drawn, and that a model has seen its rows."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from cape import AdaptationWarning, CapeClassifier, examine
from cape.datasets import make_synthetic
from cape.examination import rows_to_label


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


def labels_of(world, drawn, n=None):
    """The labels of the first rows that were drawn."""
    y = np.full(len(world.target), np.nan)
    rows = drawn.rows[:n]
    y[rows] = world.target[rows]
    return y


@pytest.mark.parametrize("call", ["adapt", "evidence", "examine"])
@pytest.mark.parametrize("n", [None, 150])
def test_a_draw_without_its_probabilities_is_noticed(clf, world, call, n):
    z = world.sensitive_features
    drawn = rows_to_label(clf, world.data, sensitive_features=z, n=400)
    y = labels_of(world, drawn, n)
    calls = {"adapt": clf.adapt, "evidence": clf.evidence}
    use = calls.get(call, lambda *given, **more: examine(clf, *given, **more))
    with pytest.warns(AdaptationWarning, match="inclusion_probability") as caught:
        use(world.data, y, sensitive_features=z)
    if call != "examine":
        assert caught[0].filename == __file__


def test_a_draw_with_its_probabilities_and_other_labels_are_no_matter(clf, world):
    z = world.sensitive_features
    drawn = rows_to_label(clf, world.data, sensitive_features=z, n=400)
    y = labels_of(world, drawn)
    probabilities = drawn.inclusion_probability
    # Warnings are errors.
    clf.evidence(
        world.data, y, sensitive_features=z, inclusion_probability=probabilities
    )
    clf.evidence(world.data, world.target, sensitive_features=z)
    clf.evidence(world.data[:3000], y[:3000], sensitive_features=z[:3000])
    # Groups of fewer than 50 labels are drawn plainly.
    plain = rows_to_label(clf, world.data, sensitive_features=z, n=60)
    clf.evidence(world.data, labels_of(world, plain), sensitive_features=z)


def test_a_prefit_model_on_the_rows_that_it_was_trained_on_is_noticed(world):
    half = len(world.target) // 2
    X, y, z = world.data, world.target, world.sensitive_features
    forest = RandomForestClassifier(20, random_state=0).fit(X[:half], y[:half])
    prefit = CapeClassifier(forest, cv="prefit")
    with pytest.warns(UserWarning, match="trained on these rows") as caught:
        prefit.fit(X[:half], y[:half], sensitive_features=z[:half])
    assert caught[0].filename == __file__
    prefit.fit(X[half:], y[half:], sensitive_features=z[half:])
