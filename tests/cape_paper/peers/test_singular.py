"""The density that MetaFair was written for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import multivariate_normal, ortho_group

from cape_paper._singular import ProjectedNormal

seeds = st.integers(0, 10_000)


def random_covariance(random, dimension, rank):
    root = random.normal(size=(dimension, rank))
    return root @ root.T


@given(st.integers(1, 5), seeds)
def test_is_scipys_where_the_covariance_is_regular(dimension, seed):
    random = np.random.default_rng(seed)
    mean = random.normal(size=dimension)
    cov = random_covariance(random, dimension, dimension + 2)
    cov = cov + 0.1 * np.eye(dimension)
    points = random.normal(size=(6, dimension))
    ours = ProjectedNormal(mean, cov).pdf(points)
    expected = np.ravel(multivariate_normal(mean, cov).pdf(points))
    np.testing.assert_allclose(ours, expected, rtol=1e-9)


@given(seeds)
def test_is_scipys_on_the_support_of_a_singular_covariance(seed):
    random = np.random.default_rng(seed)
    root = random.normal(size=(3, 2))
    cov = root @ root.T
    on_support = root @ random.normal(size=2)
    ours = ProjectedNormal(np.zeros(3), cov).pdf(on_support)
    scipys = multivariate_normal(np.zeros(3), cov, allow_singular=True)
    np.testing.assert_allclose(ours, scipys.pdf(on_support), rtol=1e-6)


@given(seeds)
def test_off_the_support_it_is_the_density_of_the_projection_and_scipys_is_0(seed):
    random = np.random.default_rng(seed)
    root = random.normal(size=(3, 2))
    cov = root @ root.T
    orthogonal = np.linalg.svd(root)[0][:, 2]
    on_support = root @ random.normal(size=2)
    ours = ProjectedNormal(np.zeros(3), cov)
    scipys = multivariate_normal(np.zeros(3), cov, allow_singular=True)
    # What scipy gives since 1.9.3.
    assert scipys.pdf(on_support + orthogonal) == 0
    projected = ours.pdf(on_support + orthogonal)
    np.testing.assert_allclose(projected, ours.pdf(on_support), rtol=1e-6)


@given(st.floats(0.1, 10), st.floats(-5, 5), st.integers(0, 2**31))
def test_the_density_on_a_line_is_that_of_one_dimension(variance, mean, seed):
    """Points are t times a unit vector with t normal, plus what is orthogonal to it."""
    random = np.random.default_rng(seed)
    direction = random.normal(size=3)
    direction /= np.linalg.norm(direction)
    cov = variance * np.outer(direction, direction)
    flat = ProjectedNormal(mean * direction, cov)
    t = random.normal(mean, np.sqrt(variance), 5)
    orthogonal = np.cross(direction, random.normal(size=3))
    points = t[:, None] * direction + orthogonal
    expected = multivariate_normal(mean, variance).pdf(t)
    np.testing.assert_allclose(flat.pdf(points), expected, rtol=1e-6)


@given(seeds)
def test_a_rotation_of_points_and_covariance_changes_nothing(seed):
    random = np.random.default_rng(seed)
    cov = random_covariance(random, 3, 2)
    points = random.normal(size=(4, 3))
    rotation = ortho_group.rvs(3, random_state=seed)
    plain = ProjectedNormal(np.zeros(3), cov).pdf(points)
    rotated = ProjectedNormal(np.zeros(3), rotation @ cov @ rotation.T)
    np.testing.assert_allclose(rotated.pdf(points @ rotation.T), plain, rtol=1e-6)


def test_the_density_integrates_to_1_over_the_support():
    """Along the diagonal, whose points have coordinates t / sqrt(2)."""
    flat = ProjectedNormal([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]])
    area, _ = quad(lambda t: flat.pdf([t / np.sqrt(2), t / np.sqrt(2)]), -20, 20)
    assert area == pytest.approx(1)


def test_one_point_gives_a_number_and_several_give_an_array():
    normal = ProjectedNormal([0.0, 0.0], np.eye(2))
    assert np.ndim(normal.pdf([0.0, 0.0])) == 0
    assert normal.pdf([[0.0, 0.0], [1.0, 1.0]]).shape == (2,)
    assert normal.pdf([0.0, 0.0]) == pytest.approx(1 / (2 * np.pi))


def test_draws_are_scipys():
    cov = [[1, 1], [1, 1]]
    ours = ProjectedNormal([0, 0], cov, seed=5).rvs(size=4)
    scipys = multivariate_normal([0, 0], cov, allow_singular=True, seed=5)
    np.testing.assert_array_equal(ours, scipys.rvs(size=4))


def test_draws_lie_on_the_support():
    draws = ProjectedNormal([1, 1], [[1, 1], [1, 1]], seed=0).rvs(size=50)
    np.testing.assert_allclose(draws[:, 0], draws[:, 1])
