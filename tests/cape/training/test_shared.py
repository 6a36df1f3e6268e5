"""One learner for all groups: codes of groups, deviations, and what they amount to."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cape import CapeClassifier
from cape.training._shared import (
    GroupAwareLinear,
    add_group_code,
    for_one_group,
)


def two_groups(n=600, seed=0, rotated=True):
    """Rows of two groups whose positives lie on opposite sides, if rotated."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, 2, n)
    X = random.normal(size=(n, 3))
    direction = np.where(codes == 1, -1.0, 1.0) if rotated else np.ones(n)
    log_odds = 2 * direction * X[:, 0] + X[:, 1] + codes
    y = (random.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int)
    return X, codes, y


@pytest.mark.parametrize(
    "kind",
    [
        np.asarray,
        lambda X: pd.DataFrame(X, columns=list("abc")),
        sparse.csr_matrix,
    ],
    ids=["numpy", "pandas", "sparse"],
)
def test_the_code_of_a_group_is_the_last_column_of_any_table(kind):
    X, codes, _ = two_groups(20)
    table = add_group_code(kind(X), codes)
    assert table.shape == (20, 4)
    dense = table.toarray() if sparse.issparse(table) else np.asarray(table)
    np.testing.assert_array_equal(dense[:, :3], X)
    np.testing.assert_array_equal(dense[:, 3], codes)


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())],
    ids=["plain", "scaled"],
)
def test_for_one_group_it_is_the_plain_classifier_with_its_deviations(estimator):
    X, codes, y = two_groups()
    shared = GroupAwareLinear(estimator).fit(add_group_code(X, codes), y)
    for code in (0, 1):
        own = X[codes == code]
        alone, needs_code = for_one_group(shared, code)
        told = shared.predict_proba(add_group_code(own, np.full(len(own), code)))
        assert not needs_code
        np.testing.assert_allclose(alone.predict_proba(own), told, atol=1e-12)


def test_a_group_of_few_rows_is_drawn_to_the_slopes_of_all():
    X, codes, y = two_groups(4000, rotated=False)
    few = np.flatnonzero(codes == 1)[:15]
    kept = np.concatenate([np.flatnonzero(codes == 0), few])
    table = add_group_code(X[kept], codes[kept])
    shared = GroupAwareLinear(LogisticRegression()).fit(table, y[kept])
    alone = LogisticRegression(C=1e6).fit(X[few], y[few])
    truth = np.array([2.0, 1.0, 0.0])
    error_shared = np.abs(for_one_group(shared, 1)[0].coef_[0] - truth).max()
    assert error_shared < np.abs(alone.coef_[0] - truth).max()


def test_with_many_columns_only_intercepts_differ():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 150))
    codes = random.integers(0, 3, 300)
    y = (X[:, 0] + random.normal(size=300) > 0).astype(int)
    shared = GroupAwareLinear(LogisticRegression()).fit(add_group_code(X, codes), y)
    assert not shared.slopes_differ_
    first, last = (for_one_group(shared, code)[0] for code in (0, 2))
    np.testing.assert_array_equal(first.coef_, last.coef_)
    told = shared.predict_proba(add_group_code(X, np.full(300, 2)))
    np.testing.assert_allclose(last.predict_proba(X), told, atol=1e-12)


def test_many_groups_are_told_apart_by_sparse_indicators():
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 4))
    codes = random.integers(0, 150, 3000)
    y = (X[:, 0] + codes / 75 + random.normal(size=3000) > 1).astype(int)
    table = add_group_code(X, codes)
    shared = GroupAwareLinear(LogisticRegression(tol=1e-10)).fit(table, y)
    dense = np.hstack([X, np.eye(150)[codes]])
    plain = LogisticRegression(tol=1e-10, max_iter=1000).fit(dense, y)
    told = plain.predict_proba(dense)
    np.testing.assert_allclose(shared.predict_proba(table), told, atol=1e-5)
    same, needs_code = for_one_group(shared, 7)
    assert same is shared and needs_code


def test_weights_count_as_repetitions():
    X, codes, y = two_groups(200)
    weights = np.random.default_rng(1).integers(1, 4, 200)
    table = add_group_code(X, codes)
    weighted = GroupAwareLinear(LogisticRegression(tol=1e-10, max_iter=1000))
    weighted.fit(table, y, sample_weight=weights)
    repeated = GroupAwareLinear(LogisticRegression(tol=1e-10, max_iter=1000))
    rows = np.repeat(np.arange(200), weights)
    repeated.fit(table[rows], y[rows])
    np.testing.assert_allclose(weighted.model_.coef_, repeated.model_.coef_, atol=1e-4)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("learner", ["vote", "text and linear", "prefit"])
def test_groups_that_share_learners_are_read_together_as_each_alone(learner):
    random = np.random.default_rng(0)
    z = random.integers(6, size=600)
    X = pd.DataFrame(random.normal(size=(600, 2)), columns=["a", "b"])
    y = (X["a"] + random.normal(size=600) > 0).to_numpy().astype(int)
    trees = HistGradientBoostingClassifier(max_iter=10, random_state=0)
    settings = {}
    estimator = VotingClassifier(
        [("trees", trees), ("linear", LogisticRegression())], voting="soft"
    )
    if learner == "text and linear":
        X["word"] = random.choice(["x", "y"], size=600)
        encoder = make_column_transformer(
            (OneHotEncoder(), ["word"]), remainder="passthrough"
        )
        estimator = make_pipeline(encoder, LogisticRegression())
        settings["preprocessing"] = "once"
    elif learner == "prefit":
        estimator = trees.fit(X, y)
        settings["cv"] = "prefit"
    clf = CapeClassifier(estimator, random_state=0, **settings)
    clf.fit(X, y, sensitive_features=z)
    evidence = clf.evidence(X, sensitive_features=z)
    for group in range(6):
        alone = clf.evidence(X[z == group], sensitive_features=z[z == group])
        assert evidence.groups[group] == alone.groups[group]
    adaptation = clf.adapt(evidence=evidence)
    together = clf.predict(X, sensitive_features=z, adaptation=adaptation)
    for group in range(6):
        rows = z == group
        alone = clf.predict(X[rows], sensitive_features=z[rows], adaptation=adaptation)
        np.testing.assert_array_equal(together[rows], alone)
