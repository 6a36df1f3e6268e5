"""Fairness metrics as scorers of scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape import CapeClassifier, metrics
from cape.metrics import make_fairness_scorer


@pytest.fixture(scope="module")
def people():
    """A table with the group among its columns, and labels that are words."""
    random = np.random.default_rng(0)
    n = 600
    race = random.choice(["blue", "green", "red"], size=n)
    X = pd.DataFrame({"age": random.normal(size=n), "race": race})
    score = X["age"] + (race == "green") + random.normal(size=n)
    y = np.where(score > 0.5, "yes", "no")
    return X, y


@pytest.fixture(scope="module")
def plain(people):
    """A classifier that knows nothing of groups."""
    X, y = people
    numbers = make_column_transformer((StandardScaler(), ["age"]))
    return make_pipeline(numbers, LogisticRegression()).fit(X, y)


@pytest.mark.parametrize("name", metrics.PARITY)
def test_a_scorer_is_the_metric_with_the_sign_of_scikit_learn(people, plain, name):
    X, y = people
    score = make_fairness_scorer(name, group_columns="race")(plain, X, y)
    value = metrics.PARITY[name](y, plain.predict(X), sensitive_features=X["race"])
    sign = 1 if name.endswith("ratio") else -1
    assert score == sign * value
    assert np.isfinite(score)


def test_pe_and_pd_are_those_of_the_worst(people, plain):
    X, y = people
    called = plain.predict(X)
    pe = make_fairness_scorer("pe", group_columns="race")(plain, X, y)
    worst = metrics.proportional_equality(y, called, sensitive_features=X["race"])
    assert pe == -worst
    pd_score = make_fairness_scorer("pd", group_columns=["race"])(plain, X, y)
    by_group = metrics.confusion_by_group(y, called, sensitive_features=X["race"])
    assert pd_score == -max(c.prevalence_difference for c in by_group.values())


def test_a_grid_search_takes_the_fairest(people):
    X, y = people
    clf = CapeClassifier(LogisticRegression(), group_columns="race", cv=3)
    scorer = make_fairness_scorer("pe", group_columns="race")
    folds = KFold(3, shuffle=True, random_state=0)
    grid = {"quantifier": ["cc", "spa"]}
    search = GridSearchCV(clf, grid, scoring=scorer, cv=folds).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert search.best_score_ == scores.max() < 0
    assert search.best_params_["quantifier"] == grid["quantifier"][scores.argmax()]
    # The search itself can be scored, and searched.
    assert scorer(search, X, y) <= 0
    assert clone(search).scoring.get_params() == scorer.get_params()


def test_a_scorer_stands_beside_the_accuracy(people, plain):
    X, y = people
    scoring = {
        "accuracy": "accuracy",
        "ratio": make_fairness_scorer("demographic_parity_ratio", group_columns="race"),
        "pd": make_fairness_scorer("pd", group_columns="race"),
    }
    results = cross_validate(plain, X, y, scoring=scoring, cv=4)
    assert (results["test_accuracy"] > 0.5).all()
    assert ((results["test_ratio"] > 0) & (results["test_ratio"] < 1)).all()
    assert ((results["test_pd"] > -1) & (results["test_pd"] < 0)).all()


def test_groups_may_come_by_metadata_routing(people):
    X, y = people
    age = X[["age"]].to_numpy()
    groups = X["race"].to_numpy()
    with config_context(enable_metadata_routing=True):
        clf = CapeClassifier(LogisticRegression(), cv=3)
        clf.set_fit_request(sensitive_features=True)
        scorer = make_fairness_scorer("pe")
        search = GridSearchCV(clf, {"quantifier": ["cc", "spa"]}, scoring=scorer, cv=3)
        search.fit(age, y, sensitive_features=groups)
        best = search.best_estimator_
        called = best.predict(age, sensitive_features=groups)
        pe = metrics.proportional_equality(y, called, sensitive_features=groups)
        assert scorer(best, age, y, sensitive_features=groups) == -pe
    assert search.best_score_ < 0


def test_a_step_that_asks_for_groups_gets_them(people):
    X, y = people
    age = X[["age"]].to_numpy()
    groups = X["race"].to_numpy()
    with config_context(enable_metadata_routing=True):
        clf = CapeClassifier(LogisticRegression(), cv=3)
        clf.set_fit_request(sensitive_features=True)
        clf.set_predict_request(sensitive_features=True)
        chain = make_pipeline(StandardScaler(), clf)
        results = cross_validate(
            chain,
            age,
            y,
            scoring=make_fairness_scorer("pd"),
            params={"sensitive_features": groups},
            cv=3,
        )
    assert (results["test_score"] <= 0).all()


def test_a_classifier_without_groups_is_scored_by_routed_groups(people, plain):
    X, y = people
    groups = X["race"].to_numpy()
    by_column = make_fairness_scorer("pd", group_columns="race")
    with config_context(enable_metadata_routing=True):
        results = cross_validate(
            plain,
            X,
            y,
            scoring={"routed": make_fairness_scorer("pd"), "column": by_column},
            params={"sensitive_features": groups},
            cv=3,
        )
    np.testing.assert_array_equal(results["test_routed"], results["test_column"])


def test_weights_count_rows_as_often(people, plain):
    X, y = people
    weights = np.arange(len(y)) % 3
    scorer = make_fairness_scorer("pd", group_columns="race")
    repeated = np.repeat(np.arange(len(y)), weights)
    weighted = scorer(plain, X, y, sample_weight=weights)
    assert weighted == pytest.approx(scorer(plain, X.iloc[repeated], y[repeated]))
    with config_context(enable_metadata_routing=True):
        params = {"sample_weight": weights}
        model = DummyClassifier(strategy="stratified", random_state=0)
        model.set_fit_request(sample_weight=False)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            cross_validate(model, X, y, scoring=scorer, params=params)
        scorer.set_score_request(sample_weight=True)
        results = cross_validate(model, X, y, scoring=scorer, params=params)
    assert np.isfinite(results["test_score"]).all()


def test_the_positive_label_is_that_of_the_classifier_or_the_one_named(people, plain):
    X, y = people
    rows = y == "yes"
    # A fold with one label does not tell which of two is positive.
    scorer = make_fairness_scorer("pd", group_columns="race")
    called = plain.predict(X[rows])
    missed = pd.Series(called == "no").groupby(X["race"][rows].to_numpy()).mean()
    assert scorer(plain, X[rows], y[rows]) == -missed.max()
    named = make_fairness_scorer(
        "demographic_parity_ratio", group_columns="race", pos_label="no"
    )
    share = pd.Series(plain.predict(X) == "no").groupby(X["race"]).mean()
    assert named(plain, X, y) == pytest.approx(share.min() / share.max())


@pytest.mark.parametrize("columns", [None, "race", ["race", 3], 0])
def test_a_scorer_is_cloned_pickled_and_written_as_it_was_made(columns):
    scorer = make_fairness_scorer("pe", group_columns=columns)
    for copy in (clone(scorer), pickle.loads(pickle.dumps(scorer))):
        assert copy.get_params() == scorer.get_params()
        assert repr(copy) == repr(scorer)


def test_errors_name_the_parameter(people, plain):
    X, y = people
    with pytest.raises(ValueError, match=r"metric must be .*'pe'.*got 'fairness'"):
        make_fairness_scorer("fairness")
    with pytest.raises(ValueError, match=r"group_columns .*; got neither"):
        make_fairness_scorer("pe")(plain, X, y)
    absent = make_fairness_scorer("pe", group_columns="sex")
    with pytest.raises(ValueError, match=r"group_columns.*sex"):
        absent(plain, X, y)
    changed = make_fairness_scorer("pe", group_columns="race").set_params(metric="x")
    with pytest.raises(ValueError, match="metric must be"):
        changed(plain, X, y)
