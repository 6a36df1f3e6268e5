"""Group columns, the rows held out, and the frame of all methods."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cape._groups import check_groups
from cape_paper._base import (
    HELD_OUT,
    GroupMethod,
    add_group_columns,
    split_holdout,
)
from cape_paper._peers import with_group_columns

KNOWN = ["a", "b", "c"]
GROUPS = ["c", "a", "b", "a"]
INDICATORS = [[0, 1], [0, 0], [1, 0], [0, 0]]


def test_group_columns_are_one_fewer_than_groups():
    X = np.arange(4.0)[:, None]
    features = with_group_columns(X, GROUPS, KNOWN)
    assert features[:, 0].tolist() == [0, 1, 2, 3]
    assert features[:, 1:].tolist() == INDICATORS


def test_a_table_stays_a_table_and_the_given_one_is_not_changed():
    table = pd.DataFrame({"age": [1, 2, 3, 4], "job": list("wxyz")})
    features = with_group_columns(table, GROUPS, KNOWN)
    assert list(features.columns) == ["age", "job", "group_1", "group_2"]
    assert features[["group_1", "group_2"]].to_numpy().tolist() == INDICATORS
    assert list(table.columns) == ["age", "job"]


def test_a_sparse_matrix_stays_sparse_and_its_rows_can_be_picked():
    X = sparse.random_array((4, 3), density=0.5, random_state=0, format="coo")
    features = with_group_columns(X, GROUPS, KNOWN)
    assert sparse.issparse(features)
    assert features.format == "csr"
    expected = np.column_stack([X.toarray(), INDICATORS])
    np.testing.assert_array_equal(features.toarray(), expected)
    np.testing.assert_array_equal(features[[2]].toarray(), expected[[2]])


def test_a_group_that_training_has_not_seen_has_no_indicator():
    features = with_group_columns(np.zeros((2, 1)), ["b", "new"], KNOWN)
    assert features[:, 1:].tolist() == [[1, 0], [0, 0]]


def test_one_known_group_adds_no_column():
    assert with_group_columns(np.ones((2, 1)), ["a", "a"], ["a"]).shape == (2, 1)


def test_several_sensitive_columns_are_combined():
    groups = pd.DataFrame({"sex": ["f", "m", "f"], "race": ["x", "x", "y"]})
    known = [("f", "x"), ("f", "y"), ("m", "x")]
    features = with_group_columns(np.zeros((3, 1)), groups, known)
    assert features[:, 1:].tolist() == [[0, 0], [0, 1], [1, 0]]


def test_rows_and_groups_of_different_number_are_an_error():
    message = "X and sensitive_features must have the same number of rows"
    with pytest.raises(ValueError, match=message):
        with_group_columns(np.zeros((3, 1)), ["a", "b"], KNOWN)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 6))
def test_group_columns_tell_every_known_group_and_no_other(codes, n_known):
    known = [("g", code) for code in range(n_known)]
    groups = pd.DataFrame({"one": "g", "two": codes})
    X = np.zeros((len(codes), 1))
    indicators = with_group_columns(X, groups, known)[:, 1:]
    assert indicators.shape == (len(codes), n_known - 1)
    for row, code in zip(indicators, codes, strict=True):
        expected = np.zeros(n_known - 1)
        if 0 < code < n_known:
            expected[code - 1] = 1
        assert row.tolist() == expected.tolist()


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=20))
def test_checked_groups_give_what_unchecked_groups_give(groups):
    X = np.arange(len(groups), dtype=float)[:, None]
    checked = add_group_columns(X, check_groups(groups), KNOWN)
    unchecked = with_group_columns(X, groups, KNOWN)
    np.testing.assert_array_equal(checked, unchecked)


def test_held_out_rows_have_the_mix_of_the_whole():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 1000)
    codes = random.integers(0, 3, 1000)
    learn, held_out = split_holdout(y, codes, 0)
    assert sorted([*learn, *held_out]) == list(range(1000))
    assert len(held_out) == round(HELD_OUT * 1000)
    for label in (0, 1):
        for code in (0, 1, 2):
            share = np.mean((y == label) & (codes == code))
            labels = y[held_out] == label
            groups = codes[held_out] == code
            assert np.mean(labels & groups) == pytest.approx(share, abs=0.01)


def test_the_split_depends_on_the_seed_and_on_nothing_else():
    y = np.tile([0, 1], 100)
    codes = np.repeat([0, 1], 100)
    _, first = split_holdout(y, codes, 0)
    _, again = split_holdout(y, codes, 0)
    _, other_seed = split_holdout(y, codes, 1)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other_seed)


def test_rows_are_held_out_even_where_a_group_has_one_row_of_a_label():
    y = np.tile([0, 1], 10)
    codes = np.zeros(20, dtype=int)
    codes[0] = 1
    _, held_out = split_holdout(y, codes, 0)
    assert len(held_out) == 6


def test_rows_are_held_out_even_where_there_are_more_strata_than_rows_to_hold_out():
    """20 rows of 10 groups with two labels: 20 strata, of which 6 rows are held out."""
    y = np.tile([0, 1], 10)
    codes = np.repeat(np.arange(10), 2)
    learn, held_out = split_holdout(np.tile(y, 2), np.tile(codes, 2), 0)
    assert len(held_out) == 12
    assert len(learn) == 28


@given(st.integers(4, 80), st.integers(1, 5), st.integers(0, 2**31))
def test_every_row_is_learned_from_or_held_out(n_rows, n_groups, seed):
    random = np.random.default_rng(seed)
    y = np.r_[0, 1, random.integers(0, 2, n_rows)]
    codes = random.integers(0, n_groups, n_rows + 2)
    learn, held_out = split_holdout(y, codes, seed)
    assert sorted([*learn, *held_out]) == list(range(n_rows + 2))
    assert len(held_out) == np.ceil(HELD_OUT * (n_rows + 2))
    assert (np.diff(learn) > 0).all()
    assert (np.diff(held_out) > 0).all()


class Remembers(GroupMethod):
    """A method that keeps what the frame hands it."""

    def _fit(self, X, y, groups):
        self.fitted_on_ = (X, y, groups)

    def _predict(self, X, groups):
        return groups.codes


def test_the_frame_checks_groups_and_hands_the_rest_through():
    X = [[1], [2], [3]]
    y = [0, 1, 0]
    method = Remembers().fit(X, y, sensitive_features=["b", "a", "b"])
    features, labels, groups = method.fitted_on_
    assert features is X
    assert labels is y
    assert groups.keys == ["a", "b"]
    predicted = method.predict(X, sensitive_features=["y", "x", "x"])
    assert predicted.tolist() == [1, 0, 0]


def test_the_frame_refuses_rows_without_a_group():
    message = "must name a group in every row, got 1 missing of 2"
    with pytest.raises(ValueError, match=message):
        Remembers().fit([[1], [2]], [0, 1], sensitive_features=["a", None])
