"""Boosting on features binned once: the trees speak of the features themselves, and are as good as ever."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss

from cape import CapeClassifier, binning
from cape.binning import Bins
from cape.pool import fit_member
from cape.scoring import GroupRows, fit_learner

finite = st.floats(-1e6, 1e6, width=32)
boosting = HistGradientBoostingClassifier(max_iter=15, min_samples_leaf=2, random_state=0)


def table(n, seed, missing=0.0):
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    X = random.normal(size=(n, 4)) + y[:, None] * [1, 0.5, 0, -0.5]
    X[:, 2] = np.round(X[:, 2])
    X[random.random(X.shape) < missing] = np.nan
    return X, y


@given(arrays(np.float64, st.tuples(st.integers(1, 60), st.integers(1, 3)), elements=finite), st.integers(2, 255))
def test_a_code_counts_the_edges_below(X, most):
    bins = Bins.of(X, most=most)
    assert bins.codes.dtype == np.uint8 and bins.codes.shape == X.shape
    for j, edges in enumerate(bins.edges):
        assert (np.diff(edges) > 0).all() and len(edges) < most
        np.testing.assert_array_equal(bins.codes[:, j], (edges < X[:, j, None]).sum(axis=1))


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.1]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_thresholds_put_back_decide_as_codes_do(seed, missing, weighted):
    X, y = table(300, seed, missing)
    bins = Bins.of(X, most=20)
    weights = np.random.default_rng(seed).integers(1, 4, 300).astype(float) if weighted else None
    on_codes = HistGradientBoostingClassifier(**boosting.get_params()).fit(bins.codes, y, sample_weight=weights)
    model = bins.fit(HistGradientBoostingClassifier(**boosting.get_params()), None, y, weights)
    np.testing.assert_array_equal(model.predict_proba(X), on_codes.predict_proba(bins.codes))
    between = X + np.random.default_rng(seed).normal(scale=0.3, size=X.shape)
    codes = np.full(X.shape, np.nan)
    for j, edges in enumerate(bins.edges):
        known = ~np.isnan(between[:, j])
        codes[known, j] = np.searchsorted(edges, between[known, j])
    np.testing.assert_array_equal(model.predict_proba(between), on_codes.predict_proba(codes))


def test_a_feature_that_is_missing_everywhere_has_no_edges():
    X, _ = table(300, 0, missing=0.1)
    X[:, 1] = np.nan  # scikit-learn's own error comes when a learner is trained on it
    bins = Bins.of(X)
    assert len(bins.edges[1]) == 0 and np.isnan(bins.codes[:, 1]).all()


def test_few_values_are_binned_as_the_learner_bins_them():
    X = np.random.default_rng(0).integers(0, 30, size=(500, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] > 30).astype(int)
    plain = fit_learner(boosting, X, y)
    binned = GroupRows(X, bins=Bins.of(X)).fit(boosting, y)
    np.testing.assert_allclose(binned.predict_proba(X), plain.predict_proba(X), atol=1e-12)
    assert binned.get_params() == plain.get_params()


def test_a_member_of_distinct_rows_is_as_good_as_one_of_repeated_rows():
    X, y = table(30_000, 0)
    X_new, y_new = table(30_000, 1)
    new_theta = np.concatenate([np.flatnonzero(y_new == 1)[:3000], np.flatnonzero(y_new == 0)[:12_000]])
    learner = HistGradientBoostingClassifier(max_iter=30, random_state=0)
    losses, counts = [], []
    for group in (GroupRows(X), GroupRows(X, bins=Bins.of(X))):
        found = [fit_member(learner, group, y, 1, 0.2, seed=seed) for seed in range(2)]
        losses.append([log_loss(y_new[new_theta], model.predict_proba(X_new[new_theta])[:, 1]) for model, _ in found])
        counts.append([called[1::2] for _, called in found])
    assert counts[0] == counts[1]  # the same rows are unseen
    assert np.mean(losses[1]) == pytest.approx(np.mean(losses[0]), abs=0.004)


def test_early_stopping_counts_repeated_rows():
    X, y = table(4000, 0)
    learner = HistGradientBoostingClassifier(max_iter=200, random_state=0)
    group = GroupRows(X, bins=Bins.of(X))
    few, many = (group.fit(learner, y, weights=np.full(len(y), 3.0), n_rows=n_rows) for n_rows in (None, 12_000))
    assert not few.do_early_stopping_ and many.do_early_stopping_
    assert few.early_stopping == many.early_stopping == "auto"


@pytest.mark.parametrize(
    "learner, X, used",
    [
        (HistGradientBoostingClassifier(), np.zeros((40, 2)), True),
        (HistGradientBoostingClassifier(), np.zeros((10, 2)), False),
        (HistGradientBoostingClassifier(), np.full((40, 2), np.inf), False),
        (HistGradientBoostingClassifier(), None, False),
        (HistGradientBoostingClassifier(categorical_features=[0]), np.zeros((40, 2)), False),
        (HistGradientBoostingClassifier(warm_start=True), np.zeros((40, 2)), False),
        (None, np.zeros((40, 2)), False),
    ],
)
def test_only_plain_boosting_of_many_numbers_is_binned(learner, X, used, monkeypatch):
    monkeypatch.setattr(binning, "_MANY_ROWS", 20)
    assert (Bins.for_learner(learner, X, None) is not None) == used
    if used:
        assert Bins.for_learner(learner, X, np.arange(10)) is None


@pytest.mark.parametrize("kind", [np.asarray, lambda X: pd.DataFrame(X, columns=list("abcd"))])
@pytest.mark.parametrize("pool", ["threshold", "resampled"])
def test_the_classifier_bins_once_a_group(pool, kind, monkeypatch):
    X, y = table(1500, 0, missing=0.05)
    z = np.arange(1500) % 2
    settings = {"pool": pool, "cv": 3, "prevalences": 3, "random_state": 0}
    plain = CapeClassifier(boosting, **settings).fit(kind(X), y, sensitive_features=z)
    calls = []
    monkeypatch.setattr(binning, "_MANY_ROWS", 20)
    monkeypatch.setattr(Bins, "of", classmethod(lambda cls, X, _of=Bins.of, **kw: calls.append(len(X)) or _of(X, **kw)))
    binned = CapeClassifier(boosting, **settings).fit(kind(X), y, sensitive_features=z)
    assert calls == [750, 750]
    ours, theirs = (clf.predict(kind(X), sensitive_features=z) for clf in (binned, plain))
    assert (ours == theirs).mean() > 0.93
