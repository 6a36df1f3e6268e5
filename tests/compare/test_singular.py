"""The density that MetaFair was written for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from cape.compare._singular import ProjectedNormal


@given(st.integers(1, 5), st.integers(0, 10_000))
def test_is_scipys_where_the_covariance_is_regular(dimension, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(dimension, dimension + 2))
    mean, cov = rng.normal(size=dimension), root @ root.T + 0.1 * np.eye(dimension)
    x = rng.normal(size=(6, dimension))
    np.testing.assert_allclose(
        ProjectedNormal(mean, cov).pdf(x),
        np.ravel(multivariate_normal(mean, cov).pdf(x)),
        rtol=1e-9,
    )


@given(st.integers(0, 10_000))
def test_on_the_support_of_a_singular_covariance_it_is_scipys_and_off_it_that_of_the_projection(
    seed,
):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 2))
    cov, normal = root @ root.T, np.linalg.svd(root)[0][:, 2]
    ours, theirs = (
        ProjectedNormal(np.zeros(3), cov),
        multivariate_normal(np.zeros(3), cov, allow_singular=True),
    )
    on = root @ rng.normal(size=2)
    np.testing.assert_allclose(ours.pdf(on), theirs.pdf(on), rtol=1e-6)
    assert theirs.pdf(on + normal) == 0  # what scipy gives since 1.9.3
    np.testing.assert_allclose(ours.pdf(on + normal), ours.pdf(on), rtol=1e-6)


def test_draws_are_scipys():
    ours = ProjectedNormal([0, 0], [[1, 1], [1, 1]], seed=5).rvs(size=4)
    assert (
        ours
        == multivariate_normal(
            [0, 0], [[1, 1], [1, 1]], allow_singular=True, seed=5
        ).rvs(size=4)
    ).all()
