"""Transformers fitted once a group: the same learners on the same numbers."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from cape import CapeClassifier, persist
from cape.watch._stream import RollingCape

CALLS = {"fit": 0, "transform": 0}


class Counting(TransformerMixin, BaseEstimator):
    """Passes rows through and counts how often it is asked."""

    def fit(self, X, y=None):
        CALLS["fit"] += 1
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        CALLS["transform"] += 1
        return np.asarray(X) * 1.0


def table(n, seed):
    random = np.random.default_rng(seed)
    z = np.arange(n) % 2
    y = (random.random(n) < 0.3 + 0.3 * z).astype(int)
    return random.normal(size=(n, 3)) + y[:, None], y, z


def people(n, seed):
    X, y, z = table(n, seed)
    town = np.random.default_rng(seed).choice(["north", "south", "west"], n)
    return pd.DataFrame(X, columns=list("abc")).assign(town=town), y, z


def cape(learner, **settings):
    # SPA is the quickest quantifier row by row.
    quick = {"quantifier": "spa", "cv": 3, "prevalences": 4, "random_state": 0}
    return CapeClassifier(learner, **{**quick, **settings})


@pytest.mark.parametrize(
    ("pool", "scores"), [("threshold", "folds"), ("resampled", "refit")]
)
def test_a_transformer_without_parameters_changes_nothing(pool, scores):
    X, y, z = table(600, 0)
    X_new, _, z_new = table(500, 1)
    double = FunctionTransformer(lambda X: 2 * X)
    learner = make_pipeline(double, LogisticRegression())
    once, each = (
        cape(learner, pool=pool, scores=scores, preprocessing=how).fit(
            X, y, sensitive_features=z
        )
        for how in ("once", "each")
    )
    adaptation = once.adapt(X_new, sensitive_features=z_new)
    for name in ("predict", "predict_proba", "predict_individually"):
        found, expected = (
            getattr(clf, name)(X_new, sensitive_features=z_new) for clf in (once, each)
        )
        np.testing.assert_allclose(
            found, expected, atol=1e-3
        )  # members may start near their optimum
    with_it = once.predict(X_new, sensitive_features=z_new, adaptation=adaptation)
    np.testing.assert_array_equal(
        with_it, once.predict(X_new, sensitive_features=z_new)
    )


@pytest.mark.parametrize("pool", ["threshold", "resampled"])
def test_transformers_are_asked_once_a_group(pool):
    X, y, z = table(600, 0)
    learner = make_pipeline(Counting(), LogisticRegression())
    CALLS.update(fit=0, transform=0)
    settings = {"pool": pool, "scores": "refit", "share_estimator": False}
    clf = cape(learner, preprocessing="once", **settings)
    clf.fit(X, y, sensitive_features=z)
    assert CALLS == {"fit": 2, "transform": 2}
    clf.predict(X, sensitive_features=z)
    assert CALLS == {"fit": 2, "transform": 4}
    CALLS.update(fit=0, transform=0)
    cape(learner, preprocessing="each", **settings).fit(X, y, sensitive_features=z)
    assert CALLS["fit"] == (
        8 if pool == "threshold" else 16
    )  # 3 folds, a refit and 4 members, in 2 groups


def test_tables_of_mixed_columns(tmp_path):
    learner = HistGradientBoostingClassifier(max_iter=10)
    X, y, z = people(800, 0)
    X_new, _, z_new = people(400, 1)
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["town"]), (StandardScaler(), list("abc"))
    )
    clf = cape(make_pipeline(encode, learner), preprocessing="once").fit(
        X, y, sensitive_features=z
    )
    parts = [slice(0, 1), slice(1, 150), slice(150, 400)]
    total = sum(
        clf.evidence(X_new[part], sensitive_features=z_new[part]) for part in parts
    )
    assert total == clf.evidence(X_new, sensitive_features=z_new)
    assert list(clf.evidence(X_new[:0], sensitive_features=z_new[:0]).groups) == []
    persist.save(clf, tmp_path / "model.cape")
    loaded = persist.load(tmp_path / "model.cape")
    np.testing.assert_array_equal(
        loaded.predict_proba(X_new, sensitive_features=z_new),
        clf.predict_proba(X_new, sensitive_features=z_new),
    )
    rolling = RollingCape(clf, window=10_000)
    stream = [
        rolling.predict(X_new[i : i + 50], sensitive_features=z_new[i : i + 50])
        for i in range(0, 400, 50)
    ]
    assert len(np.concatenate(stream)) == 400


@pytest.mark.filterwarnings("ignore:the scores do not tell the classes apart in")
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_transformers_may_give_sparse_tables(kind):
    X, y, z = people(600, 0)
    sparse = make_pipeline(
        OneHotEncoder(),
        FunctionTransformer(lambda X: X.asformat(kind)),
        LogisticRegression(),
    )
    clf = cape(sparse, preprocessing="once").fit(X[["town"]], y, sensitive_features=z)
    assert set(clf.predict(X[["town"]], sensitive_features=z)) <= {0, 1}


@pytest.mark.filterwarnings("ignore:fewer than")
def test_weights_and_small_groups_and_workers():
    X, y, z = table(600, 0)
    z = np.where(np.arange(600) < 10, 2, z)
    weights = np.random.default_rng(0).random(600)
    learner = make_pipeline(StandardScaler(), LogisticRegression())
    settings = {"preprocessing": "once", "small_groups": "pooled"}
    made = []
    # Threads need not be started, as processes do.
    with parallel_config("threading"):
        for n_jobs in (None, 2):
            clf = cape(learner, n_jobs=n_jobs, **settings)
            clf.fit(X, y, sensitive_features=z, sample_weight=weights)
            made.append(clf)
    assert made[0].fingerprint_ == made[1].fingerprint_
    assert made[0].models_[2].pool is made[0].pooled_.pool
    assert made[0].models_[2].transformer is made[0].pooled_.transformer
    assert made[0].pooled_.transformer is not None


def test_without_transformers_it_makes_no_difference():
    X, y, z = table(400, 0)
    for learner in (LogisticRegression(), make_pipeline(LogisticRegression())):
        clf = cape(learner, preprocessing="once").fit(X, y, sensitive_features=z)
        assert clf.models_[0].transformer is None
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    clf = cape(fitted, preprocessing="once", cv="prefit", pool="threshold").fit(
        X, y, sensitive_features=z
    )
    assert clf.models_[0].transformer is None
