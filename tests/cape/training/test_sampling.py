"""Choosing rows: PP-SAMPLING, grids, and batches whose prevalences are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.training._sampling import pp_sampling, prevalence_grid

labels = (
    st.lists(st.booleans(), min_size=2, max_size=60)
    .filter(lambda y: 0 < sum(y) < len(y))
    .map(np.array)
)
thetas = st.floats(0.001, 0.999)


@given(labels, thetas, st.integers(0, 9))
def test_pp_sampling_draws_the_share_asked_for(y, theta, seed):
    rows = pp_sampling(y, theta, random_state=seed)
    n_positive = int(y[rows].sum())
    assert len(rows) == len(y)
    assert n_positive == min(max(round(theta * len(y)), 1), len(y) - 1)
    assert y[rows[:n_positive]].all()
    np.testing.assert_array_equal(rows, pp_sampling(y, theta, random_state=seed))


def test_pp_sampling_draws_with_replacement_and_evenly():
    y = np.repeat([0, 1], [900, 100])
    counts = sum(
        np.bincount(pp_sampling(y, 0.5, random_state=seed), minlength=1000)
        for seed in range(200)
    )
    assert counts.max() > 200  # rows occur more than once a draw
    expected = np.where(y == 1, 500 / 100, 500 / 900) * 200
    assert (np.abs(counts - expected) < 6 * np.sqrt(expected)).all()


def test_weights_are_draw_probabilities_within_a_class():
    y, weights = np.tile([0, 1], 50), np.arange(100)
    counts = sum(
        np.bincount(
            pp_sampling(y, 0.3, sample_weight=weights, random_state=seed), minlength=100
        )
        for seed in range(300)
    )
    assert counts[y == 1].sum() == 300 * 30
    rows_of_class = np.where(y == 1, 30, 70)
    weight_of_class = np.where(y == 1, weights[y == 1].sum(), weights[y == 0].sum())
    expected = 300 * rows_of_class * weights / weight_of_class
    assert counts[0] == 0
    assert (np.abs(counts - expected) <= 6 * np.sqrt(expected)).all()


@pytest.mark.parametrize("classes", [("no", "yes"), (-1, 1), (False, True), (1, 2)])
def test_the_greater_label_is_the_positive_one(classes):
    y = np.array(classes)[[0, 0, 0, 1]]
    rows = pp_sampling(y, 0.75, random_state=0)
    assert (y[rows] == classes[1]).sum() == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"theta": 0}, r"theta must be in \(0, 1\), got 0"),
        ({"theta": 1.0}, r"theta must be in \(0, 1\), got 1.0"),
        ({"theta": "half"}, r"theta must be in \(0, 1\), got 'half'"),
        ({"theta": 0.5, "y": [1, 1]}, "y must hold two classes, got 1 class"),
        (
            {"theta": 0.5, "sample_weight": [1, 0, 0, 0]},
            "sample_weight must be positive in some row of each class",
        ),
        (
            {"theta": 0.5, "sample_weight": [1, 1]},
            "same number of rows, but y has 4, sample_weight has 2",
        ),
    ],
)
def test_pp_sampling_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        pp_sampling(**{"y": [0, 1, 0, 1], **arguments})


@given(st.integers(1, 400))
def test_the_grid_is_even_symmetric_and_covers_every_prevalence(k):
    grid = prevalence_grid(k)
    assert len(grid) == k and grid[0] == pytest.approx(1 / (2 * k))
    np.testing.assert_allclose(grid, 1 - grid[::-1], atol=1e-12)
    np.testing.assert_allclose(np.diff(grid), 1 / k, atol=1e-12)


@pytest.mark.parametrize("k", [0, -1, 2.0, "ten", None])
def test_a_grid_needs_a_whole_number_of_points(k):
    with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
        prevalence_grid(k)


def test_a_random_state_is_drawn_from_and_not_reset():
    y = np.tile([0, 1], 30)
    random = np.random.RandomState(4)
    first = pp_sampling(y, 0.5, random_state=random)
    second = pp_sampling(y, 0.5, random_state=random)
    assert (first != second).any()
    again = pp_sampling(y, 0.5, random_state=4)
    np.testing.assert_array_equal(first, again)
