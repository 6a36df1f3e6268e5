"""Choosing rows: PP-SAMPLING, grids, and batches whose prevalences are known."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cape.training._sampling import pp_sampling, prevalence_grid, shift

labels = (
    st.lists(st.booleans(), min_size=2, max_size=60)
    .filter(lambda y: 0 < sum(y) < len(y))
    .map(np.array)
)
thetas = st.floats(0.001, 0.999)


def shift_rows(y, z, prevalences, **settings):
    """Return the rows that are drawn."""
    rows, _, _ = shift(np.arange(len(y)), y, z, prevalences, **settings)
    return rows


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


def as_is(table):
    return np.asarray(table.todense() if sparse.issparse(table) else table)


@pytest.mark.parametrize(
    "kind",
    [np.asarray, pd.DataFrame, pl.DataFrame, sparse.csr_array, lambda X: X.tolist()],
)
def test_shift_keeps_tables_of_any_kind_aligned(kind):
    X = np.arange(200.0).reshape(100, 2)
    y = pd.Series(np.tile([0, 1], 50), index=range(5, 105))
    z = pl.Series("group", np.repeat(["a", "b"], 50))
    new_X, new_y, new_z = shift(kind(X), y, z, 0.25, size=20, random_state=1)
    assert type(new_X) is type(kind(X))
    assert isinstance(new_y, pd.Series)
    assert isinstance(new_z, pl.Series)
    rows = (as_is(new_X)[:, 0] // 2).astype(int)
    np.testing.assert_array_equal(new_y, rows % 2)
    np.testing.assert_array_equal(new_z, np.where(rows < 50, "a", "b"))
    assert new_y.mean() == 0.25


def test_groups_that_a_mapping_does_not_name_are_left_out():
    y, z = np.tile([0, 1], 50), np.repeat(["a", "b"], 50)
    rows = shift_rows(y, z, {"b": 0.5}, size={"a": 3}, random_state=0)
    assert set(z[rows]) == {"b"}
    assert len(rows) == 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prevalences": 1.5}, r"prevalences\['a'\] must be in \[0, 1\], got 1.5"),
        (
            {"prevalences": {"c": 0.5}},
            r"prevalences must name groups among \['a', 'b'\], got \['c'\]",
        ),
        (
            {"size": 26},
            "size must be from 1 to 25 for group 'a' at prevalence 1.0 "
            ".*25 positives.*, got 26",
        ),
        ({"size": 2.5}, "size must be from 1 to 25 .* got 2.5"),
        ({"size": {"a": 0}}, "size must be from 1 to 25 .* got 0"),
        ({"y": [0, 1]}, "same number of rows"),
        (
            {"sensitive_features": ["a", None] * 50},
            "sensitive_features must name a group in every row, got 50 missing",
        ),
    ],
)
def test_shift_refuses(arguments, message):
    z = np.repeat(["a", "b"], 50)
    given_ = {
        "X": np.arange(100),
        "y": np.tile([0, 1], 50),
        "sensitive_features": z,
        "prevalences": 1.0,
    }
    with pytest.raises(ValueError, match=message):
        shift(**{**given_, **arguments})


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


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_pure_batch_has_one_class_and_all_its_rows(share):
    y, z = np.array([0, 0, 0, 1, 1, 0]), np.array(["a", "a", "b", "a", "b", "b"])
    _, labels, groups = shift(np.arange(6), y, z, share, random_state=0)
    assert labels.tolist() == [share] * (2 if share else 4)
    assert sorted(groups) == (["a", "b"] if share else ["a", "a", "b", "b"])


@pytest.mark.parametrize("k", [0, -1, 2.0, "ten", None])
def test_a_grid_needs_a_whole_number_of_points(k):
    with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
        prevalence_grid(k)


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


def test_a_random_state_is_drawn_from_and_not_reset():
    y = np.tile([0, 1], 30)
    random = np.random.RandomState(4)
    first = pp_sampling(y, 0.5, random_state=random)
    second = pp_sampling(y, 0.5, random_state=random)
    assert (first != second).any()
    again = pp_sampling(y, 0.5, random_state=4)
    np.testing.assert_array_equal(first, again)
