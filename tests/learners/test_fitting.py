"""Training a learner: clones, seeds, weights, warm starts, and rows of a group."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cape._learners._fitting import (
    WarmStart,
    fit_learner,
    follows_its_folds,
    seeded_clone,
    takes_repetitions,
    weight_keyword,
)
from cape._learners._scoring import Rows

# Clones and their seeds


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


def test_where_weights_go():
    assert weight_keyword(TakesWeights()) == "sample_weight"
    pipeline = make_pipeline(StandardScaler(), TakesWeights())
    assert weight_keyword(pipeline) == "takesweights__sample_weight"


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


def test_a_warm_start_moves_the_intercept_alone(train):
    model = LogisticRegression().fit(train.X, train.y)
    start = WarmStart.near(model, 0.5, 0.8)
    np.testing.assert_array_equal(start.coefficients, model.coef_)
    assert start.intercept - model.intercept_ == pytest.approx([np.log(4)])
    back = WarmStart.near(model, 0.8, 0.8)
    np.testing.assert_array_equal(back.intercept, model.intercept_)


@pytest.mark.parametrize("warm_start", [False, True])
def test_a_warm_start_leaves_the_parameters_as_they_were(train, warm_start):
    learner = LogisticRegression(tol=1e-9, warm_start=warm_start)
    cold = clone(learner).fit(train.X, train.y)
    start = WarmStart(np.array([[1.0, -1.0]]), np.array([2.0]))
    warm = fit_learner(learner, train.X, train.y, start=start)
    assert warm.warm_start == warm_start
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-4)


# Rows of a group


TABLES = [np.asarray, pd.DataFrame, sparse.csr_array]


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("positions", [None, np.array([0, 3, 3, 7])])
def test_a_group_is_trained_as_if_it_were_alone(train, kind, positions):
    own = np.flatnonzero(train.z == 1)
    picked = own if positions is None else own[positions]
    y = np.arange(len(picked)) % 2
    rows = Rows(kind(train.X), own)
    if positions is not None:
        rows = rows.take(positions)
    model = fit_learner(DecisionTreeClassifier(), rows, y, seed=2)
    alone = fit_learner(DecisionTreeClassifier(), train.X[picked], y, seed=2)
    np.testing.assert_array_equal(
        model.predict_proba(train.X), alone.predict_proba(train.X)
    )


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


@pytest.mark.parametrize("in_pipeline", [False, True])
def test_a_linear_model_follows_its_folds_from_enough_rows_a_coefficient(
    train, in_pipeline
):
    learner = LogisticRegression()
    if in_pipeline:
        learner = make_pipeline(StandardScaler(), learner)
    model = learner.fit(train.X, train.y)
    # Two coefficients.
    assert follows_its_folds(model, 200)
    assert not follows_its_folds(model, 199)


def test_flexible_learners_do_not_follow_their_folds(train):
    tree = DecisionTreeClassifier().fit(train.X, train.y)
    assert not follows_its_folds(tree, 10**9)
    sgd = SGDClassifier(loss="log_loss").fit(train.X, train.y)
    assert not follows_its_folds(sgd, 10**9)
