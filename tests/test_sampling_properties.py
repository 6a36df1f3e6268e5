"""Batches drawn from any number of groups of any kind, and how evenly."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.sampling import pp_sampling, prevalence_grid, shift, shift_rows


@given(st.integers(1, 7), st.integers(1, 20), st.data())
def test_every_group_has_its_own_share_and_size(n_groups, at_most, data):
    names = [(code % 3, f"g{code}") for code in range(n_groups)]
    wanted = {name: data.draw(st.integers(0, 10)) / 10 for name in names}
    sizes = {name: data.draw(st.integers(1, at_most)) for name in names}
    y, codes = np.tile([0, 1], 20 * n_groups), np.repeat(np.arange(n_groups), 40)
    z = pd.DataFrame([names[code] for code in codes], columns=["one", "two"])
    rows = shift_rows(y, z, wanted, size=sizes, random_state=0)
    assert len(np.unique(rows)) == len(rows) == sum(sizes.values())
    for code, name in enumerate(names):
        drawn = y[rows[codes[rows] == code]]
        assert (len(drawn), drawn.sum()) == (
            sizes[name],
            round(wanted[name] * sizes[name]),
        )


@given(st.integers(0, 10), st.integers(0, 9))
def test_rows_of_a_group_do_not_hang_on_the_names_of_labels(tenths, seed):
    """Labels renamed in their order: the same rows. Swapped: as many of the others."""
    y, z = np.tile([0, 1], 20), np.repeat(["a", "b"], 20)
    same = np.array(["no", "yes"])[y]
    rows = shift_rows(y, z, tenths / 10, size=10, random_state=seed)
    assert (rows == shift_rows(same, z, tenths / 10, size=10, random_state=seed)).all()
    swapped = shift_rows(1 - y, z, 1 - tenths / 10, size=10, random_state=seed)
    assert (1 - y)[swapped].sum() == len(rows) - y[rows].sum()


def test_shift_draws_every_row_of_a_class_as_often():
    """400 draws of 5 of 20 positives: each row is drawn 100 times.

    The standard deviation of that number is sqrt(400 * 1/4 * 3/4) = 8.66.
    """
    y, z = np.tile([0, 1], 20), np.zeros(40, dtype=int)
    counts = sum(
        np.bincount(shift_rows(y, z, 0.5, size=10, random_state=s), minlength=40)
        for s in range(400)
    )
    assert counts.sum() == 4000
    assert np.abs(counts - 100).max() < 5 * 8.66


@given(st.integers(1, 400))
def test_the_grid_is_even_symmetric_and_covers_every_prevalence(k):
    grid = prevalence_grid(k)
    assert len(grid) == k and grid[0] == pytest.approx(1 / (2 * k))
    np.testing.assert_allclose(grid, 1 - grid[::-1], atol=1e-12)
    np.testing.assert_allclose(np.diff(grid), 1 / k, atol=1e-12)


@given(
    st.lists(st.booleans(), min_size=2, max_size=40).filter(
        lambda y: 0 < sum(y) < len(y)
    ),
    st.floats(0.01, 0.99),
)
@pytest.mark.slow
def test_weights_up_to_a_factor_draw_the_same_rows(y, theta):
    weights = 1.0 + np.arange(len(y)) % 4
    rows = pp_sampling(y, theta, sample_weight=weights, random_state=1)
    assert (
        pp_sampling(y, theta, sample_weight=4 * weights, random_state=1) == rows
    ).all()
    only = np.zeros(len(y))
    only[[np.argmax(y), np.argmin(y)]] = 7.0  # the first row of each class
    assert set(pp_sampling(y, theta, sample_weight=only, random_state=1)) == {
        np.argmax(y),
        np.argmin(y),
    }


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_pure_batch_has_one_class_and_all_its_rows(share):
    y, z = np.array([0, 0, 0, 1, 1, 0]), np.array(["a", "a", "b", "a", "b", "b"])
    _, labels, groups = shift(np.arange(6), y, z, share, random_state=0)
    assert labels.tolist() == [share] * (2 if share else 4)
    assert sorted(groups) == (["a", "b"] if share else ["a", "a", "b", "b"])


def test_one_row_of_a_class_is_drawn_again_and_again():
    rows = pp_sampling([0, 0, 0, 0, 1], 0.8, random_state=0)
    assert np.sum(rows == 4) == 4 and len(rows) == 5


@pytest.mark.parametrize("k", [0, -1, 2.0, "ten", None])
def test_a_grid_needs_a_whole_number_of_points(k):
    with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
        prevalence_grid(k)


@given(st.floats(0.01, 1))
def test_the_grid_of_theorem_3_covers_every_prevalence(eps):
    """k = ceil(1/eps) centres are within eps/2 of 0, of 1 and of all between."""
    grid = prevalence_grid(int(np.ceil(1 / eps)))
    prevalences = np.linspace(0, 1, 201)
    distance = np.abs(prevalences[:, None] - grid).min(axis=1)
    assert distance.max() <= eps / 2 + 1e-12


def test_the_papers_own_grid_does_not_cover_every_prevalence():
    """floor(1/eps + 1/2) points eps apart: for eps = 0.3 they end at 0.75."""
    eps = 0.3
    k = int(np.floor(1 / eps + 0.5))
    grid = eps * (np.arange(k) + 0.5)
    assert 1 - grid.max() > eps / 2
    ours = prevalence_grid(int(np.ceil(1 / eps)))
    assert 1 - ours.max() <= eps / 2


@given(st.integers(1, 60), st.integers(1, 99), st.integers(0, 60))
def test_as_many_rows_are_drawn_as_whole_numbers_allow(n_positive, percent, n_more):
    """7 / 0.07 is 99.99... in floating point; the hundredth row must not be lost."""
    prevalence = percent / 100
    n_negative = -(-n_positive * (100 - percent) // percent) + n_more
    y = np.repeat([1, 0], [n_positive, n_negative])
    most = min(
        n_positive * 100 // percent,
        n_negative * 100 // (100 - percent),
        n_positive + n_negative,
    )
    if n_negative == 0 or most == 0:
        return
    positives = round(prevalence * most)
    if positives > n_positive or most - positives > n_negative:
        return
    rows = shift_rows(y, np.zeros(len(y)), prevalence, random_state=0)
    assert len(rows) == most


def test_a_mapping_of_no_group_draws_no_row():
    rows = shift_rows([0, 1], ["a", "b"], {}, random_state=0)
    assert len(rows) == 0
    X, y, z = shift(np.eye(2), [0, 1], ["a", "b"], {}, random_state=0)
    assert X.shape == (0, 2)
    assert len(y) == len(z) == 0


def test_a_random_state_is_drawn_from_and_not_reset():
    y = np.tile([0, 1], 30)
    random = np.random.RandomState(4)
    first = pp_sampling(y, 0.5, random_state=random)
    second = pp_sampling(y, 0.5, random_state=random)
    assert (first != second).any()
    again = pp_sampling(y, 0.5, random_state=4)
    np.testing.assert_array_equal(first, again)


def test_rows_of_one_group_do_not_depend_on_the_groups_after_it():
    y = np.tile([0, 1], 40)
    z = np.repeat(["a", "b"], 40)
    both = shift_rows(y, z, {"a": 0.3, "b": 0.9}, size=10, random_state=7)
    alone = shift_rows(y, z, {"a": 0.3}, size=10, random_state=7)
    np.testing.assert_array_equal(both[z[both] == "a"], alone)


def test_shift_needs_columns_of_one_length():
    with pytest.raises(ValueError, match="X has 3, y has 2, sensitive_features has 2"):
        shift(np.eye(3), [0, 1], ["a", "b"], 0.5)


@pytest.mark.parametrize("size", [0, -3, 2.5, "all"])
def test_a_size_that_is_no_number_of_rows_is_refused(size):
    y = np.tile([0, 1], 10)
    with pytest.raises(ValueError, match=f"size must be from 1 to 20 .* got {size!r}"):
        shift_rows(y, np.zeros(20), 0.5, size=size, random_state=0)
