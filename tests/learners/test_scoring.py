"""Training a learner and reading its scores."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cape._learners import Scorer, fit_learner, score_rows, weight_keyword
from cape.histogram import round_scores


def test_a_clone_is_fitted(train):
    learner = GaussianNB()
    model = fit_learner(learner, train.X, train.y)
    assert model is not learner
    assert not hasattr(learner, "classes_")


def test_every_random_state_left_open_is_drawn_from_the_seed(train):
    nested = make_pipeline(
        StandardScaler(), BaggingClassifier(DecisionTreeClassifier(), n_estimators=2)
    )
    model = fit_learner(nested, train.X, train.y, seed=5)
    drawn = [v for k, v in model.get_params().items() if k.endswith("random_state")]
    assert len(drawn) == 2
    assert all(isinstance(v, int) for v in drawn)
    again = fit_learner(nested, train.X, train.y, seed=5)
    np.testing.assert_array_equal(
        again.predict_proba(train.X), model.predict_proba(train.X)
    )
    given = fit_learner(
        RandomForestClassifier(3, random_state=42), train.X, train.y, seed=5
    )
    assert given.random_state == 42


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


def test_several_models_score_side_by_side(train):
    models = [
        GaussianNB().fit(train.X, train.y),
        LogisticRegression().fit(train.X, train.y),
    ]
    scores = Scorer(models, 1)(train.X)
    assert scores.shape == (2, 600)
    for row, model in zip(scores, models, strict=True):
        assert np.abs(row - round_scores(model.predict_proba(train.X)[:, 1])).max() <= 1


class TakesWeights(BaseEstimator):
    def fit(self, X, y, sample_weight=None):
        return self


def test_where_weights_go():
    assert weight_keyword(TakesWeights()) == "sample_weight"
    assert (
        weight_keyword(make_pipeline(StandardScaler(), TakesWeights()))
        == "takesweights__sample_weight"
    )
    with pytest.raises(ValueError, match="got weights for StandardScalerOnly"):
        weight_keyword(
            type(
                "StandardScalerOnly", (BaseEstimator,), {"fit": lambda self, X, y: self}
            )()
        )
