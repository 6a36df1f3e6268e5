"""Reading groups, labels and columns in all the shapes they come in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cape._groups import check_groups, everyone, group_name, split_columns
from cape._validation import (
    check_binary_labels,
    check_prevalence,
    check_same_length,
    pickable,
)

values = st.one_of(
    st.integers(-3, 3), st.text(max_size=2), st.booleans(), st.sampled_from([0.5, 1.0])
)


@given(st.lists(values, min_size=1, max_size=30))
def test_each_row_gets_its_group(z):
    groups = check_groups(z)
    assert [
        groups.keys[code] == value for code, value in zip(groups.codes, z, strict=True)
    ] == [True] * len(z)
    assert len(groups) == len(z)
    assert len(set(groups.keys)) == len(groups.keys) == len(set(z))
    rows = dict(groups.rows())
    if len(groups.keys) == 1:
        assert rows == {groups.keys[0]: None}  # all of them, without a copy
    else:
        for key, picked in rows.items():
            assert picked.tolist() == [i for i, value in enumerate(z) if value == key]


@given(st.lists(st.tuples(values, st.sampled_from("xyz")), min_size=1, max_size=30))
def test_several_columns_make_combinations(table):
    groups = check_groups(pd.DataFrame(table, columns=["a", "b"]).astype(object))
    assert [groups.keys[code] for code in groups.codes] == table
    assert len(groups.keys) == len(set(table))


@pytest.mark.parametrize(
    "kind",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        pd.Categorical,
        pl.Series,
        lambda z: pd.Series(z, dtype="string"),
    ],
)
def test_columns_of_any_kind(kind):
    groups = check_groups(kind(["b", "a", "b"]))
    assert groups.keys == ["a", "b"]
    assert groups.codes.tolist() == [1, 0, 1]
    assert type(groups.keys[0]) is str


@pytest.mark.parametrize(
    "kind",
    [
        np.asarray,
        pd.DataFrame,
        lambda z: pl.DataFrame(z, schema=["a", "b"]),
        np.ndarray.tolist,
    ],
)
def test_tables_of_any_kind(kind):
    groups = check_groups(kind(np.array([[1, 2], [0, 2], [1, 2]])))
    assert groups.keys == [(0, 2), (1, 2)]
    assert groups.codes.tolist() == [1, 0, 1]
    assert all(type(value) is int for value in groups.keys[0])


def test_columns_that_share_a_name():
    both = pd.concat(
        [pd.Series([1, 2], name="z"), pd.Series(["a", "b"], name="z")], axis=1
    )
    assert check_groups(both).keys == [(1, "a"), (2, "b")]


def test_keys_are_sorted_where_they_can_be():
    assert check_groups([3, 1, 2]).keys == [1, 2, 3]
    assert check_groups(["b", 2, "a", 1]).keys == [1, 2, "a", "b"]


def test_one_group_of_all():
    assert everyone(3).rows() == [("everyone", None)]
    assert everyone(0).rows() == []
    assert check_groups([]).rows() == []


def test_names():
    assert group_name("a") == "a"
    assert group_name(("a", 1)) == "a, 1"


@pytest.mark.parametrize(
    "labels", [("no", "yes"), (0, 1), (-1, 1), (False, True), (1.0, 2.0)]
)
def test_the_greater_label_is_positive(labels):
    y = [labels[1], labels[0], labels[1]]
    classes, positive = check_binary_labels(y)
    assert classes.tolist() == list(labels)
    assert positive.tolist() == [True, False, True]


@given(st.floats())
def test_a_prevalence_is_a_share(value):
    for closed, accepted in ((True, 0 <= value <= 1), (False, 0 < value < 1)):
        if accepted:
            assert check_prevalence("rho", value, closed=closed) == value
        else:
            with pytest.raises(ValueError, match=r"rho must be in .0, 1., got"):
                check_prevalence("rho", value, closed=closed)


def test_lengths_are_compared_where_they_are_given():
    assert check_same_length(X=[1, 2], y=None, z=(3, 4)) == 2


@pytest.mark.parametrize("columns", ["b", ["b"], ["b", "a"]])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_columns_are_taken_out_of_frames(kind, columns):
    X = kind({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    rest, taken = split_columns(X, columns)
    assert list(taken.columns) == list(columns)
    assert list(rest.columns) == [name for name in "abc" if name not in columns]
    assert isinstance(rest, kind)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, np.ndarray.tolist])
@pytest.mark.parametrize(("columns", "places"), [(1, [1]), (-1, [2]), ([2, 0], [2, 0])])
def test_columns_are_taken_out_of_arrays(kind, columns, places):
    X = np.arange(6).reshape(2, 3)
    rest, taken = (
        part.todense() if sparse.issparse(part) else part
        for part in split_columns(kind(X), columns)
    )
    np.testing.assert_array_equal(taken, X[:, places])
    np.testing.assert_array_equal(rest, np.delete(X, places, axis=1))


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_what_can_be_picked_from_stays_as_it_came(form):
    for X in (
        [[1]],
        np.eye(2),
        pd.DataFrame({"a": [1]}),
        sparse.eye_array(3, format=form),
    ):
        assert pickable(X) is X
    assert pickable(sparse.eye_array(3, format="coo")).format == "csr"


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64])
@pytest.mark.parametrize("dense", [True, False])
def test_whole_numbers_of_any_width_are_groups(dtype, dense):
    info = np.iinfo(dtype)
    middle = 0 if info.min < 0 else 127
    first = max(info.min, middle - 127)
    values = np.arange(first, middle + 128, 1 if dense else 5)
    values = np.random.default_rng(0).permutation(np.repeat(values, 2)).astype(dtype)
    groups = check_groups(values)
    assert groups.keys == sorted({int(value) for value in values})
    assert [groups.keys[code] for code in groups.codes] == values.tolist()
