"""Training a learner: clones, seeds, weights, warm starts, and rows of a group."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cape.training._fitting import (
    fit_learner,
    fit_member,
    seeded_clone,
    takes_repetitions,
    weight_keyword,
)
from cape.training._sampling import pp_sampling

# Clones and their seeds


def test_every_random_state_left_open_is_drawn_from_the_seed(train):
    nested = make_pipeline(
        StandardScaler(), BaggingClassifier(DecisionTreeClassifier(), n_estimators=2)
    )
    model = fit_learner(nested, train.X, train.y, seed=5)
    drawn = [v for k, v in model.get_params().items() if k.endswith("random_state")]
    assert len(drawn) == 2
    assert all(isinstance(v, int) for v in drawn)
    assert drawn[0] != drawn[1]
    again = fit_learner(nested, train.X, train.y, seed=5)
    np.testing.assert_array_equal(
        again.predict_proba(train.X), model.predict_proba(train.X)
    )
    given = fit_learner(
        RandomForestClassifier(3, random_state=42), train.X, train.y, seed=5
    )
    assert given.random_state == 42


def test_a_foreign_learner_without_parameters_is_copied():
    class Foreign:
        def __init__(self):
            self.settings = [1]

    foreign = Foreign()
    copied = seeded_clone(foreign, seed=0)
    assert copied is not foreign
    assert copied.settings == [1]
    assert copied.settings is not foreign.settings


# Weights


class TakesWeights(BaseEstimator):
    def fit(self, X, y, sample_weight=None):
        self.weights_ = sample_weight
        return self


class TakesNone(BaseEstimator):
    def fit(self, X, y):
        return self


class TakesAnything(BaseEstimator):
    def fit(self, X, y, **params):
        self.params_ = params
        return self


@pytest.mark.parametrize(
    "learner", [TakesNone(), make_pipeline(StandardScaler(), TakesNone())]
)
def test_a_learner_that_takes_no_weights_is_named(learner):
    with pytest.raises(ValueError, match=r"(?s)got weights for .*TakesNone"):
        weight_keyword(learner)


def test_any_keyword_is_good_for_weights_only_where_metadata_are_routed():
    with pytest.raises(ValueError, match="got weights for TakesAnything"):
        weight_keyword(TakesAnything())
    with sklearn.config_context(enable_metadata_routing=True):
        assert weight_keyword(TakesAnything()) == "sample_weight"
        with pytest.raises(ValueError, match="got weights for TakesNone"):
            weight_keyword(TakesNone())


def test_weights_reach_the_learner_itself_or_the_last_step_of_a_pipeline(train):
    weights = np.arange(600.0)
    alone = fit_learner(TakesWeights(), train.X, train.y, weights=weights)
    np.testing.assert_array_equal(alone.weights_, weights)
    pipeline = make_pipeline(StandardScaler(), TakesWeights())
    model = fit_learner(pipeline, train.X, train.y, weights=weights)
    np.testing.assert_array_equal(model[-1].weights_, weights)
    assert fit_learner(TakesWeights(), train.X, train.y).weights_ is None


# A start near the optimum


# Rows of a group


# What learners can do


class MyLogistic(LogisticRegression):
    """Might do anything with weights."""


@pytest.mark.parametrize(
    ("learner", "expected"),
    [
        (LogisticRegression(), True),
        (LogisticRegression(solver="newton-cg"), True),
        (LogisticRegression(solver="newton-cholesky"), True),
        (LogisticRegression(solver="sag"), False),
        (LogisticRegression(solver="liblinear"), False),
        (LogisticRegression(class_weight="balanced"), False),
        (MyLogistic(), False),
        (GaussianNB(), False),
        (KNeighborsClassifier(), False),
        (make_pipeline(StandardScaler(), LogisticRegression()), False),
    ],
)
def test_who_learns_from_a_weight_what_repetitions_teach(learner, expected):
    assert takes_repetitions(learner) == expected


# Members of pools


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "newton-cholesky"])
@pytest.mark.parametrize("theta", [0.05, 0.5, 0.95])
def test_members_near_their_optimum_or_not_are_those_of_repeated_rows(
    train, solver, theta
):
    X, y = StandardScaler().fit_transform(train.X), train.y
    learner = LogisticRegression(solver=solver, tol=1e-8)
    scorer = clone(learner).fit(X, y)
    weights = scorer.coef_.copy()
    rows = pp_sampling(y == 1, theta, random_state=3)
    repeated = clone(learner).fit(X[rows], y[rows])
    for near in (None, scorer):
        model, _ = fit_member(learner, X, y, 1, theta, seed=3, near=near)
        np.testing.assert_allclose(model.coef_, repeated.coef_, rtol=1e-5)
        np.testing.assert_allclose(model.intercept_, repeated.intercept_, rtol=1e-5)
        assert model.get_params() | {"random_state": None} == learner.get_params()
    np.testing.assert_array_equal(scorer.coef_, weights)
