"""Fast paths give what the plain loop of Algorithm 1 gives, up to other draws."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape._learners._fitting import fit_member
from cape.datasets import make_synthetic
from cape.sampling import pp_sampling

PLACE = Path(__file__).parents[2] / "docs" / "algorithm_1.py"
spec = importlib.util.spec_from_file_location("plain", PLACE)
assert spec is not None and spec.loader is not None
plain = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plain)


def arrays(n, seed, **settings):
    d = make_synthetic(n, random_state=seed, **settings)
    return d.data.to_numpy(), d.target.to_numpy(), d.sensitive_features.to_numpy()


def standardised(n):
    X, y, _ = arrays(n, 0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "newton-cholesky"])
@pytest.mark.parametrize("theta", [0.05, 0.5, 0.95])
def test_members_near_their_optimum_or_not_are_those_of_repeated_rows(solver, theta):
    X, y = standardised(500)
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


def test_threads_train_what_one_after_the_other_trains(monkeypatch):
    monkeypatch.setattr("cape._training._train._MANY_ROWS", 100)
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
        loop = plain.PlainCape(LogisticRegression(), seed=seed).fit(*train)
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
    loop = plain.PlainCape(LogisticRegression())
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
