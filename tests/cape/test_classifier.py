"""CapeClassifier: Algorithm 1, repeatably, and as scikit-learn does it."""

from itertools import cycle

import numpy as np
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape import CapeClassifier
from cape.metrics import prevalence_difference
from cape.quantify import QUANTIFIERS

POOLS = ("resampled", "threshold")
every_pool = pytest.mark.parametrize("pool", POOLS)


def cape(estimator=None, **settings):
    quick = {"cv": 3, "prevalences": 4, "random_state": 0}
    return CapeClassifier(
        LogisticRegression() if estimator is None else estimator,
        **{**quick, **settings},
    )


# The algorithm


WAYS = cycle([("resampled", "refit"), ("threshold", "folds")])


@pytest.mark.filterwarnings("ignore:predict adapts to the 1 row")
@pytest.mark.parametrize(
    ("quantifier", "way"), list(zip(QUANTIFIERS, WAYS, strict=False)), ids=str
)
def test_predicting_individually_is_a_loop_over_batches_of_one_row(
    fitted, batch, quantifier, way
):
    pool, scores = way
    clf = fitted(quantifier=quantifier, pool=pool, scores=scores, cv=3, prevalences=5)
    rows = range(0, 200, 9)
    loop = [
        clf.predict(batch.X[i : i + 1], sensitive_features=batch.z[i : i + 1])[0]
        for i in rows
    ]
    at_once = clf.predict_individually(
        batch.X[list(rows)], sensitive_features=batch.z[list(rows)]
    )
    np.testing.assert_array_equal(at_once, loop)


@every_pool
def test_cape_follows_both_groups(fitted, batch, pool):
    """The predicted share of positives is near the true one, far from training's."""
    y_pred = fitted(pool=pool).predict(batch.X, sensitive_features=batch.z)
    for group in (0, 1):
        rows = batch.z == group
        assert prevalence_difference(batch.y[rows], y_pred[rows]) < 0.12


# What is learnt from rows that were not trained on


@pytest.mark.filterwarnings("ignore:the scores barely tell:UserWarning")
@every_pool
def test_scores_and_rates_are_not_resubstituted(pool, random):
    """A forest knows its training rows by heart; on noise, honest scores do not."""
    X, y = random.normal(size=(300, 4)), np.tile([0, 1], 150)
    forest = RandomForestClassifier(30)
    clf = cape(forest, pool=pool, prevalences=[0.5]).fit(X, y)
    model = clf.models_["everyone"]
    by_heart = clone(forest).set_params(random_state=0).fit(X, y).predict_proba(X)[:, 1]
    assert by_heart[y == 1].mean() - by_heart[y == 0].mean() > 0.5
    assert (
        abs(model.quantifier.positives_.mean - model.quantifier.negatives_.mean) < 0.1
    )
    at_half = 0 if pool == "resampled" else np.abs(model.pool.cuts - 2**31).argmin()
    assert abs(model.pool.rates.tpr[at_half] - model.pool.rates.fpr[at_half]) < 0.3


# Repeatability


@pytest.mark.slow
def test_same_seed_same_predictions_whatever_n_jobs(train, batch):
    learner = RandomForestClassifier(4, max_depth=4)  # with a seed of its own to draw
    quick = {"pool": "resampled", "cv": 2, "prevalences": 2}
    one, two, again, other = (
        cape(learner, n_jobs=n_jobs, random_state=seed, **quick).fit(
            train.X, train.y, sensitive_features=train.z
        )
        for n_jobs, seed in ((1, 0), (2, 0), (None, 0), (1, 1))
    )
    proba = one.predict_proba(batch.X, sensitive_features=batch.z)
    for clf in (two, again):
        np.testing.assert_array_equal(
            clf.predict_proba(batch.X, sensitive_features=batch.z), proba
        )
        assert clf.fingerprint_ == one.fingerprint_
    assert other.fingerprint_ != one.fingerprint_
    assert not np.array_equal(
        other.predict_proba(batch.X, sensitive_features=batch.z), proba
    )


def test_a_fingerprint_knows_its_data(train):
    base = cape().fit(train.X, train.y, sensitive_features=train.z).fingerprint_
    assert (
        base
        == cape()
        .fit(train.X.copy(), list(train.y), sensitive_features=pl.Series(train.z))
        .fingerprint_
    )
    changed = train.X.copy()
    changed[0] += 1
    different = [
        cape().fit(changed, train.y, sensitive_features=train.z),
        cape().fit(train.X, train.y + 1, sensitive_features=train.z),
        cape().fit(train.X, train.y, sensitive_features=train.z + 1),
        cape().fit(train.X, train.y),
        cape(unknown_groups="pooled").fit(train.X, train.y, sensitive_features=train.z),
        cape(GaussianNB()).fit(train.X, train.y, sensitive_features=train.z),
    ]
    assert len({base, *(clf.fingerprint_ for clf in different)}) == 7


# scikit-learn's habits


def test_score_is_accuracy(fitted, batch):
    clf, weights = fitted(), np.arange(200)
    y_pred = clf.predict(batch.X, sensitive_features=batch.z)
    assert clf.score(batch.X, batch.y, sensitive_features=batch.z) == accuracy_score(
        batch.y, y_pred
    )
    # Weights count in what the batch is adapted to, and in the score.
    given = {"sensitive_features": batch.z, "sample_weight": weights}
    weighted = clf.predict(batch.X, **given) == batch.y
    expected = np.average(weighted, weights=weights)
    assert clf.score(batch.X, batch.y, **given) == pytest.approx(expected)


def test_metadata_routing(train):
    with config_context(enable_metadata_routing=True):
        clf = cape().set_fit_request(sensitive_features=True, sample_weight=True)
        clf.set_score_request(
            sensitive_features=True, sample_weight=False
        ).set_predict_request(sensitive_features=True)
        params = {"sensitive_features": train.z, "sample_weight": np.ones(600)}
        result = cross_validate(
            clf, train.X, train.y, cv=2, params=params, return_estimator=True
        )
        assert [model.groups_ for model in result["estimator"]] == [[0, 1], [0, 1]]
        assert result["test_score"].min() > 0.8
        assert not hasattr(clf, "set_adapt_request")


def test_an_adaptation_can_be_routed_through_a_pipeline(train, batch):
    with config_context(enable_metadata_routing=True):
        clf = cape().set_fit_request(sensitive_features=True)
        clf.set_predict_request(sensitive_features=True, adaptation=True)
        routed = make_pipeline(StandardScaler(), clf)
        routed.fit(train.X, train.y, sensitive_features=train.z)
        scaled = routed[0].transform(batch.X)
        adaptation = routed[-1].adapt(scaled, sensitive_features=batch.z)
        first = routed.predict(
            batch.X[:1], sensitive_features=batch.z[:1], adaptation=adaptation
        )
        every = routed.predict(batch.X, sensitive_features=batch.z)
        assert first[0] == every[0]


@every_pool
def test_tags_are_those_of_the_learner(pool):
    assert not cape(pool=pool).__sklearn_tags__().input_tags.allow_nan
    assert CapeClassifier(pool=pool).__sklearn_tags__().input_tags.allow_nan
    assert not cape(pool=pool).__sklearn_tags__().classifier_tags.multi_class
