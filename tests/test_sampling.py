"""Choosing rows: PP-SAMPLING, and batches whose prevalences are known."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cape.sampling import pp_sampling, shift, shift_rows

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


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 40), st.integers(0, 9))
def test_shift_gives_every_group_its_prevalence(rho_a, rho_b, size, seed):
    y, z = np.tile([0, 1], 80), np.repeat(["a", "b"], 80)
    rows = shift_rows(y, z, {"a": rho_a, "b": rho_b}, size=size, random_state=seed)
    assert (np.diff(rows) > 0).all()  # without replacement, in order
    for group, rho in (("a", rho_a), ("b", rho_b)):
        drawn = y[rows[z[rows] == group]]
        assert len(drawn) == size
        assert drawn.sum() == round(rho * size)


@given(st.floats(0, 1), st.integers(1, 50), st.integers(1, 50))
def test_by_default_as_many_rows_as_can_be_drawn(rho, n_positive, n_negative):
    y = np.repeat([1, 0], [n_positive, n_negative])
    most = [
        n
        for n in range(len(y) + 1)
        if round(rho * n) <= n_positive and n - round(rho * n) <= n_negative
    ][-1]
    try:
        drawn = y[shift_rows(y, np.zeros(len(y)), rho, random_state=0)]
    except ValueError:
        assert most <= 1
    else:
        assert most - 2 / min(max(rho, 1e-9), max(1 - rho, 1e-9)) <= len(drawn) <= most
        assert drawn.sum() == round(rho * len(drawn))


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
