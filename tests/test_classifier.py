"""CapeClassifier: Algorithm 1, repeatably, and as scikit-learn does it."""

import numpy as np
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape import CapeClassifier, ScoreHistogram
from cape._learners._scoring import score_rows
from cape.datasets import make_synthetic
from cape.metrics import prevalence_difference
from cape.quantify import QUANTIFIERS, SPA
from cape.sampling import pp_sampling

POOLS = ("resampled", "threshold")
every_pool = pytest.mark.parametrize("pool", POOLS)


def cape(estimator=None, **settings):
    quick = {"cv": 3, "prevalences": 4, "random_state": 0}
    return CapeClassifier(
        LogisticRegression() if estimator is None else estimator,
        **{**quick, **settings},
    )


# The algorithm


def algorithm_1(X, y, z, new_X, new_z, *, seed, folds, thetas):
    """Run Algorithm 1 of the paper, step by step, with SPA and logistic regression.

    Returns predictions and estimates.
    """
    y_pred, estimates = np.empty(len(new_X), dtype=int), {}
    groups = np.unique(z)
    seeds = np.random.RandomState(seed).randint(
        np.iinfo(np.int32).max, size=(len(groups), 3 + len(thetas))
    )
    for place, group in enumerate(groups):
        # Training phase. Step 1: partition.
        D_X, D_y = X[z == group], y[z == group]
        # Step 2: the quantifier.
        scores = np.empty(len(D_y))
        for inside, outside in StratifiedKFold(
            folds, shuffle=True, random_state=seeds[place, 0]
        ).split(D_X, D_y):
            fold = LogisticRegression().fit(D_X[inside], D_y[inside])
            scores[outside] = fold.predict_proba(D_X[outside])[:, 1]
        tppa, fppa = scores[D_y == 1].mean(), scores[D_y == 0].mean()
        scorer = LogisticRegression().fit(D_X, D_y)
        # Step 3: the classifiers.
        h = {}
        for theta, member_seed in zip(thetas, seeds[place, 3:], strict=True):
            T = pp_sampling(D_y, theta, random_state=member_seed)
            h[theta] = LogisticRegression().fit(D_X[T], D_y[T])
        # Prediction phase.
        new = new_X[new_z == group]
        if len(new) == 0:
            continue
        q = np.clip(
            (scorer.predict_proba(new)[:, 1].mean() - fppa) / (tppa - fppa), 0, 1
        )
        y_hat = {
            theta: (h[theta].predict_proba(new)[:, 1] > 0.5).astype(int)
            for theta in thetas
        }
        J = min(
            thetas,
            key=lambda t: (
                round(abs(y_hat[t].mean() - q), 12),
                round(abs(t - q), 12),
                t,
            ),
        )
        y_pred[new_z == group], estimates[group] = y_hat[J], q
    return y_pred, estimates


def test_predictions_are_those_of_algorithm_1(train, batch):
    thetas = (np.arange(10) + 0.5) / 10
    y_pred, estimates = algorithm_1(
        train.X, train.y, train.z, batch.X, batch.z, seed=7, folds=10, thetas=thetas
    )
    clf = CapeClassifier.paper(estimator=LogisticRegression(), random_state=7)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    np.testing.assert_array_equal(
        clf.predict(batch.X, sensitive_features=batch.z), y_pred
    )
    found = clf.adapt(batch.X, sensitive_features=batch.z).groups
    assert {g: a.estimate.value for g, a in found.items()} == pytest.approx(
        estimates, abs=1e-8
    )
    np.testing.assert_allclose(clf.prevalences_, thetas)


def test_single_rows_are_those_of_algorithm_1(train, batch):
    thetas = (np.arange(4) + 0.5) / 4
    settings = {"cv": 3, "prevalences": 4, "random_state": 0}
    clf = CapeClassifier.paper(estimator=LogisticRegression(), **settings)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    one_by_one = [
        algorithm_1(train.X, train.y, train.z, row, z, seed=0, folds=3, thetas=thetas)[
            0
        ][0]
        for row, z in ((batch.X[i : i + 1], batch.z[i : i + 1]) for i in range(8))
    ]
    np.testing.assert_array_equal(
        clf.predict_individually(batch.X[:8], sensitive_features=batch.z[:8]),
        np.array(one_by_one),
    )


@pytest.mark.parametrize(
    ("pool", "scores"), [("resampled", "refit"), ("threshold", "folds")]
)
@pytest.mark.parametrize("quantifier", QUANTIFIERS)
def test_predicting_individually_is_a_loop_over_batches_of_one_row(
    fitted, batch, quantifier, pool, scores
):
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


@pytest.mark.filterwarnings("ignore:too few rows:cape._adaptation.AdaptationWarning")
@pytest.mark.filterwarnings("ignore:the scores of:cape._adaptation.AdaptationWarning")
@pytest.mark.parametrize("scores", ["refit", "folds"])
@every_pool
@pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB()])
def test_probabilities_agree_with_predictions(train, batch, estimator, pool, scores):
    clf = cape(estimator, pool=pool, scores=scores).fit(
        train.X, train.y, sensitive_features=train.z
    )
    for rows in [slice(None), *(slice(i, i + 1) for i in range(0, 200, 40))]:
        X, groups = batch.X[rows], {"sensitive_features": batch.z[rows]}
        proba = clf.predict_proba(X, **groups)
        np.testing.assert_array_equal(proba[:, 1] > 0.5, clf.predict(X, **groups) == 1)
        np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-15)
        adaptation = clf.adapt(X, **groups)
        np.testing.assert_array_equal(
            clf.predict_proba(X, adaptation=adaptation, **groups), proba
        )


@every_pool
def test_an_adaptation_makes_prediction_row_by_row(fitted, batch, pool):
    clf = fitted(pool=pool)
    adaptation = clf.adapt(batch.X, sensitive_features=batch.z)
    whole = clf.predict(batch.X, sensitive_features=batch.z)
    rows = [
        clf.predict(
            batch.X[i : i + 1],
            sensitive_features=batch.z[i : i + 1],
            adaptation=adaptation,
        )[0]
        for i in range(0, 200, 5)
    ]
    np.testing.assert_array_equal(rows, whole[::5])
    np.testing.assert_array_equal(
        whole, clf.predict(batch.X, sensitive_features=batch.z, adaptation=adaptation)
    )


@every_pool
def test_cape_follows_both_groups(fitted, batch, pool):
    """The predicted share of positives is near the true one, far from training's."""
    y_pred = fitted(pool=pool).predict(batch.X, sensitive_features=batch.z)
    for group in (0, 1):
        rows = batch.z == group
        assert prevalence_difference(batch.y[rows], y_pred[rows]) < 0.12


# What is learnt from rows that were not trained on


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


def test_out_of_fold_scores_spare_a_forest_most_of_the_error(train):
    """A quantifier fitted on scores of the forest's own training rows is far off."""
    forest, errors = (
        RandomForestClassifier(30, random_state=0),
        {"out of fold": [], "resubstituted": []},
    )
    clf = cape(forest, pool="threshold", cv=5).fit(train.X, train.y)
    model = clf.models_["everyone"]
    own = score_rows(model.scoring_models[0], train.X, 1)
    by_heart = SPA().fit(
        *(ScoreHistogram.of(own[train.y == label], model.edges) for label in (1, 0))
    )
    for seed, rho in enumerate((0.1, 0.3, 0.7, 0.9)):
        new = make_synthetic(4000, prevalences=[rho], random_state=seed + 5)
        batch = clf.evidence(new.data.to_numpy()).groups["everyone"].scores
        errors["out of fold"].append(abs(model.quantifier.estimate(batch) - rho))
        errors["resubstituted"].append(abs(by_heart.estimate(batch) - rho))
    assert 3 * np.mean(errors["out of fold"]) < np.mean(errors["resubstituted"])


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
    assert clf.score(
        batch.X, batch.y, sensitive_features=batch.z, sample_weight=weights
    ) == pytest.approx(np.average(y_pred == batch.y, weights=weights))


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
