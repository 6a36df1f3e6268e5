"""Reading the scores of fitted learners."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from cape._histogram import ONE, round_scores
from cape._learners._scoring import Rows, score_rows, score_with_models, vote_on_rows


@pytest.mark.parametrize("positive", [0, 1])
def test_scores_are_the_probabilities_of_the_positive_label(train, positive):
    model = GaussianNB().fit(train.X, train.y)
    expected = round_scores(model.predict_proba(train.X)[:, positive])
    np.testing.assert_array_equal(score_rows(model, train.X, positive), expected)
    assert score_rows(model, train.X[:0], positive).shape == (0,)


def test_a_model_that_never_saw_a_positive_scores_zero(train):
    only = train.y == 0
    model = DecisionTreeClassifier().fit(train.X[only], train.y[only])
    assert score_rows(model, train.X, 1).tolist() == [0] * 600
    assert (score_rows(model, train.X, 0) == 2**32).all()


def test_no_models_are_no_scores_and_no_votes(train):
    scores, votes = score_with_models(train.X, 1)
    assert scores.shape == votes.shape == (0, 600)


@pytest.mark.parametrize(
    "kind", [np.asarray, pd.DataFrame, sparse.csr_array, lambda X: X.tolist()]
)
def test_picked_rows_of_any_table_are_scored_in_their_order(train, kind):
    model = DecisionTreeClassifier(max_depth=3).fit(kind(train.X), train.y)
    whole = score_rows(model, kind(train.X), 1)
    picked = np.array([5, 8, 500])
    rows = Rows(kind(train.X), picked)
    np.testing.assert_array_equal(score_rows(model, rows, 1), whole[picked])


class Returns:
    """A model that returns whatever it was told to."""

    def __init__(self, probabilities, classes=(0, 1)):
        self.probabilities = probabilities
        self.classes_ = np.array(classes)

    def predict_proba(self, X):
        return self.probabilities


@pytest.mark.parametrize(
    "probabilities", [np.ones(3), np.ones((3, 1)), np.ones((3, 3)) / 3]
)
def test_probabilities_of_another_shape_are_refused(probabilities):
    with pytest.raises(
        ValueError, match="must give probabilities of 2 classes, got an array of shape"
    ):
        score_rows(Returns(probabilities), np.zeros((3, 1)), 1)


@pytest.mark.parametrize("bad", [1.5, -0.5, np.nan])
def test_probabilities_outside_the_unit_interval_are_refused(bad):
    model = Returns(np.array([[0.5, 0.5], [1 - bad, bad]]))
    with pytest.raises(ValueError):
        score_rows(model, np.zeros((2, 1)), 1)


def test_a_model_without_classes_has_the_positive_one_second():
    class Bare:
        def predict_proba(self, X):
            return np.tile([0.75, 0.25], (len(X), 1))

    assert score_rows(Bare(), np.zeros((2, 1)), "yes").tolist() == [ONE // 4] * 2


class _OneRow:
    """A learner that says the same of all rows, once."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        return np.array([[0.25, 0.75]])


@pytest.mark.parametrize("reading", [score_rows, vote_on_rows])
def test_probabilities_of_another_number_of_rows_are_refused(reading):
    with pytest.raises(ValueError, match="probabilities of 3 rows, got 1"):
        reading(_OneRow(), np.zeros((3, 2)), 1)
    assert len(reading(_OneRow(), np.zeros((1, 2)), 1)) == 1
