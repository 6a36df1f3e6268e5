"""Algorithm 1 in plain Python, step by step: what its tutorial says is what it does."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))
from algorithm_1 import PlainCape


def arrays(n_rows, seed, **settings):
    rows = make_synthetic(n_rows, random_state=seed, **settings)
    return (
        rows.data.to_numpy(),
        rows.target.to_numpy(),
        rows.sensitive_features.to_numpy(),
    )


@pytest.fixture(scope="module")
def fitted():
    return PlainCape(LogisticRegression()).fit(*arrays(1000, 0))


@given(st.integers(1, 40), st.floats(0, 1))
def test_every_prevalence_is_within_half_a_bin_of_a_theta(prevalences, rho):
    """What Theorem 3 asks of the grid, with eps = 1 / k."""
    thetas = PlainCape(LogisticRegression(), prevalences=prevalences).thetas
    assert len(thetas) == prevalences
    assert np.abs(thetas - rho).min() <= 1 / (2 * prevalences) + 1e-12


@given(st.sampled_from([0.05, 0.25, 0.5, 0.95]), st.integers(0, 1000))
def test_a_sample_has_the_size_of_the_group_and_the_prevalence_asked_for(theta, seed):
    """PP-SAMPLING."""
    y = np.repeat([0, 1], [70, 30])
    random = np.random.RandomState(seed)
    rows = PlainCape(LogisticRegression()).draw_sample(y, theta, random)
    assert len(rows) == 100
    assert y[rows].mean() == pytest.approx(theta, abs=0.005)


@given(st.floats(0, 1))
def test_the_predictions_nearest_to_the_estimate_are_chosen(q):
    predictions = [np.repeat([1, 0], [k, 10 - k]) for k in range(11)]
    chosen = PlainCape(LogisticRegression()).choose(predictions, q)
    differences = [abs(y_pred.mean() - q) for y_pred in predictions]
    assert abs(chosen.mean() - q) == min(differences)


def test_of_equal_differences_the_smaller_theta_is_chosen():
    low = np.array([1, 0, 0, 0])
    high = np.array([1, 1, 1, 0])
    chosen = PlainCape(LogisticRegression()).choose([low, high], 0.5)
    assert chosen is low


@pytest.mark.parametrize("prevalences", [(0.2, 0.8), (0.7, 0.3), (0.5, 0.5)])
def test_predicted_shares_follow_the_prevalences_of_the_batch(fitted, prevalences):
    X, y, z = arrays(2000, 1, prevalences=prevalences)
    y_pred = fitted.predict(X, z)
    assert set(y_pred) <= {0, 1}
    for group, prevalence in enumerate(prevalences):
        assert y_pred[z == group].mean() == pytest.approx(prevalence, abs=0.08)
    assert np.mean(y_pred == y) > 0.85


@pytest.mark.parametrize(("mean_score", "q"), [(0.2, 0), (0.5, 0.5), (0.8, 1)])
def test_the_estimate_solves_for_the_mean_score_and_stays_a_share(mean_score, q):
    """With class means 0.3 and 0.7; members that call none, half or all positive."""

    class Constant:
        def __init__(self, share):
            self.share = share

        def predict_proba(self, X):
            return np.full((len(X), 2), self.share)

        def predict(self, X):
            return (np.arange(len(X)) < self.share * len(X)).astype(int)

    cape = PlainCape(LogisticRegression())
    members = [Constant(0), Constant(0.5), Constant(1)]
    cape.groups = {0: (Constant(mean_score), 0.7, 0.3, members)}
    y_pred = cape.predict(np.zeros((10, 1)), np.zeros(10))
    assert y_pred.mean() == q


# Fast paths give what the plain loop of Algorithm 1 gives, up to other draws.


def standardised(n):
    X, y, _ = arrays(n, 0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def test_threads_train_what_one_after_the_other_trains(monkeypatch):
    monkeypatch.setattr("cape.training._train._MANY_ROWS", 100)
    X, y, z = arrays(1000, 0)
    for pool in ("threshold", "resampled"):
        made = [
            CapeClassifier(
                LogisticRegression(), pool=pool, cv=3, random_state=0, n_jobs=n_jobs
            ).fit(X, y, sensitive_features=z)
            for n_jobs in (None, 3)
        ]
        assert made[0].fingerprint_ == made[1].fingerprint_


@pytest.mark.slow
def test_cape_is_the_plain_loop_but_for_the_draws():
    train, new = arrays(4000, 0), arrays(4000, 1, prevalences=(0.2, 0.8))
    predicted = []
    for seed in range(3):
        loop = PlainCape(LogisticRegression(), seed=seed).fit(*train)
        clf = CapeClassifier.paper(estimator=LogisticRegression(), random_state=seed)
        clf.fit(train[0], train[1], sensitive_features=train[2])
        ours, theirs = (
            clf.predict(new[0], sensitive_features=new[2]),
            loop.predict(new[0], new[2]),
        )
        predicted.append(
            [[y[new[2] == g].mean() for g in (0, 1)] for y in (ours, theirs)]
        )
        assert (ours == theirs).mean() > 0.97
    ours, theirs = np.array(predicted).mean(axis=0)
    # Members differ by their draws: the share that one predicts moves by about .01
    # from seed to seed.
    np.testing.assert_allclose(ours, theirs, atol=0.02)


def test_given_the_same_models_every_prediction_is_that_of_the_plain_loop():
    train, new = arrays(1000, 0), arrays(1000, 1, prevalences=(0.3, 0.6))
    clf = CapeClassifier.paper(estimator=LogisticRegression(), random_state=0)
    clf.fit(train[0], train[1], sensitive_features=train[2])
    loop = PlainCape(LogisticRegression())
    loop.groups = {
        group: (
            model.scoring_models[0],
            model.positives.mean,
            model.negatives.mean,
            model.pool.models,
        )
        for group, model in clf.models_.items()
    }
    np.testing.assert_array_equal(
        clf.predict(new[0], sensitive_features=new[2]), loop.predict(new[0], new[2])
    )
