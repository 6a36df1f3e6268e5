"""How many labels will do: by simulation, and by labelling as it says."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, examine
from cape.datasets import make_synthetic
from cape.examination import rows_to_label


@pytest.fixture(scope="module")
def clf():
    past = make_synthetic(n_samples=300, random_state=0)
    clf = CapeClassifier(LogisticRegression(), random_state=0)
    return clf.fit(past.data, past.target, sensitive_features=past.sensitive_features)


def batch_of(seed, noise=0.0, size=400):
    """A batch; some labels have nothing to do with the rows, if there is noise."""
    random = np.random.default_rng(seed)
    shares = random.uniform(0.1, 0.9, 2)
    new = make_synthetic(n_samples=2 * size, prevalences=shares, random_state=seed)
    y = new.target.to_numpy().astype(float)
    replaced = random.random(len(y)) < noise
    y[replaced] = random.random(replaced.sum()) < 0.5
    return new.data, y, new.sensitive_features


def label(clf, X, y, z, drawn, n):
    """Examine a batch with the labels of the first rows that were drawn."""
    known = np.full(len(y), np.nan)
    known[drawn.rows[:n]] = y[drawn.rows[:n]]
    share = n / len(drawn)
    return examine(
        clf,
        X,
        known,
        sensitive_features=z,
        inclusion_probability=drawn.inclusion_probability * share,
    )


@pytest.mark.slow
def test_the_expected_number_is_what_it_takes_and_the_highest_is_seldom_passed(clf):
    """A look every five labels of one group, until the width is there."""
    expected, highest, used = [], [], []
    for seed in range(30):
        X, y, z = batch_of(seed)
        with warnings.catch_warnings(action="ignore"):
            seen = examine(clf, X, sensitive_features=z)
            needed = seen.labels_needed(0.08).loc[0]
            rows = np.random.default_rng(seed).permutation(np.flatnonzero(z == 0))
            n = 10
            while n < len(rows):
                known = np.full(len(y), np.nan)
                known[rows[:n]] = y[rows[:n]]
                now = clf.adapt(X, known, sensitive_features=z).groups[0]
                if now.estimate.width <= 0.08:
                    break
                n += 5
        if needed["labels"]:
            expected.append(needed["labels"])
            highest.append(needed["at_most"])
            used.append(n)
    assert np.mean(expected) == pytest.approx(np.mean(used), rel=0.25)
    assert np.mean(np.array(used) <= highest) >= 0.8


def test_a_group_that_is_near_enough_needs_no_label(clf):
    X, _, z = batch_of(1, size=2000)
    seen = examine(clf, X, sensitive_features=z)
    assert (seen.labels_needed(0.5)["labels"] == 0).all()


def test_labels_that_are_there_are_part_of_the_number(clf):
    X, y, z = batch_of(2)
    drawn = rows_to_label(clf, X, sensitive_features=z, n=80)
    with warnings.catch_warnings(action="ignore"):
        before = examine(clf, X, sensitive_features=z).labels_needed(0.05)
        after = label(clf, X, y, z, drawn, 80).labels_needed(0.05)
    assert (after["labels"] > 40).all()
    assert (after["at_most"] <= after["rows"]).all()
    assert (before["labels"] <= before["at_most"]).all()


def test_the_same_batch_gets_the_same_numbers(clf):
    X, _, z = batch_of(3)
    one, other = (examine(clf, X, sensitive_features=z) for _ in range(2))
    assert one.labels_needed(0.06).equals(other.labels_needed(0.06))
