"""Reading groups from all kinds of columns and tables, and listing their rows."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cape.base._groups import (
    check_groups,
    group_from_json,
    group_labels,
    group_to_json,
    split_columns,
)

values = st.one_of(
    st.integers(-3, 3),
    st.text(max_size=2),
    st.booleans(),
    st.sampled_from([0.5, 1.0]),
)


def values_of(groups):
    """The group of each row."""
    return [groups.keys[code] for code in groups.codes]


@given(st.lists(values, min_size=1, max_size=30))
def test_each_row_gets_its_group(z):
    groups = check_groups(z)
    assert values_of(groups) == z
    assert len(groups) == len(z)
    assert len(set(groups.keys)) == len(groups.keys) == len(set(z))


@given(st.lists(values, min_size=1, max_size=30))
def test_the_rows_of_a_group_are_those_of_its_value(z):
    groups = check_groups(z)
    rows = dict(groups.rows())
    if len(groups.keys) == 1:
        # All rows, without a copy.
        assert rows == {groups.keys[0]: None}
        return
    for key, group_rows in rows.items():
        assert group_rows.tolist() == [i for i, value in enumerate(z) if value == key]


@given(st.lists(st.tuples(values, st.sampled_from("xyz")), min_size=1, max_size=30))
def test_several_columns_make_combinations(table):
    groups = check_groups(pd.DataFrame(table, columns=["a", "b"]).astype(object))
    assert values_of(groups) == table
    assert len(groups.keys) == len(set(table))


def test_very_many_combinations_do_not_overflow():
    """Six columns of 3,000 values each have 7e20 combinations, too many for int64."""
    random = np.random.default_rng(0)
    table = [random.permutation(3000).astype(str) for _ in range(6)]
    groups = check_groups(pd.DataFrame(dict(enumerate(table))))
    assert values_of(groups) == list(zip(*table, strict=True))


@pytest.mark.parametrize(
    "kind",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        pd.Index,
        pd.Categorical,
        pl.Series,
        lambda z: pd.Series(z, dtype="string"),
        lambda z: pd.Series(z, dtype="category"),
        lambda z: np.array(z, dtype=object),
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
        sparse.csr_array,
    ],
)
def test_tables_of_any_kind(kind):
    groups = check_groups(kind(np.array([[1, 2], [0, 2], [1, 2]])))
    assert groups.keys == [(0, 2), (1, 2)]
    assert groups.codes.tolist() == [1, 0, 1]
    assert all(type(value) is int for value in groups.keys[0])


def test_a_table_of_one_column_is_a_column():
    assert check_groups(pd.DataFrame({"z": ["b", "a"]})).keys == ["a", "b"]
    assert check_groups(np.array([[2], [1]])).keys == [1, 2]


def test_columns_that_share_a_name():
    numbers = pd.Series([1, 2], name="z")
    texts = pd.Series(["a", "b"], name="z")
    both = pd.concat([numbers, texts], axis=1)
    assert check_groups(both).keys == [(1, "a"), (2, "b")]


@pytest.mark.parametrize("offset", [-(2**63), -7, 0, 2**63 - 256])
@pytest.mark.parametrize("width", [1, 255, 256, 257])
def test_small_ranges_are_read_as_any_other(offset, width):
    """Whole numbers close together are looked up, others are hashed: same answer."""
    last = min(offset + width - 1, 2**63 - 1)
    numbers = np.array([last, offset, last, offset], dtype=np.int64)
    groups = check_groups(numbers)
    hashed = check_groups(numbers.astype(object))
    assert groups.keys == hashed.keys
    assert groups.codes.tolist() == hashed.codes.tolist()


@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_names_in_two_forms_of_unicode_are_one_group(kind):
    composed, apart = "Zo\u00eb", "Zoe\u0308"
    groups = check_groups(kind([apart, "b", composed, None, apart]), missing="group")
    assert groups.keys == ["(missing)", composed, "b"]
    assert groups.codes.tolist() == [1, 2, 1, 0, 1]


def test_numbers_and_texts_stay_apart():
    assert check_groups([1, "1", 1]).keys == [1, "1"]


def test_keys_are_sorted_where_they_can_be():
    assert check_groups([3, 1, 2]).keys == [1, 2, 3]
    assert check_groups(["b", 2, "a", 1]).keys == [1, 2, "a", "b"]
    assert check_groups([10, 9]).keys == [9, 10]


@given(st.lists(values | st.tuples(values, values), unique_by=repr))
def test_labels_of_groups_differ(groups):
    groups = list(dict.fromkeys(groups))
    assert len(set(group_labels(groups).values())) == len(groups)


@given(values | st.tuples(values, values))
def test_groups_come_back_from_json_with_their_types(group):
    text = json.dumps(group_to_json(group))
    loaded = group_from_json(json.loads(text))
    assert repr(loaded) == repr(group)


@pytest.mark.parametrize(
    "group", [pd.Timestamp("2020-01-01"), ("a", None), np.int64(1), 2**61 - 1]
)
def test_groups_that_json_cannot_hold_are_refused(group):
    with pytest.raises(TypeError, match="a group must be text or a number to be saved"):
        group_to_json(group)


def test_groups_of_one_hash_are_refused():
    """A file of a million multiples of 2^61 - 1 would be read for hours."""
    for number in (2**61 - 1, -3 * (2**61 - 1)):
        with pytest.raises(ValueError, match="group must be a text or a number, got"):
            group_from_json(["a", number])


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (3, "must be a column or a table of columns, got an array of shape ()"),
        (np.zeros((2, 0)), "got an array of shape (2, 0)"),
        (np.zeros((2, 2, 2)), "got an array of shape (2, 2, 2)"),
        (pd.DataFrame(index=range(2)), "at least one column, got a table with none"),
        (["a", None], "must name a group in every row, got 1 missing of 2"),
        ([0.5, np.nan, np.nan], "must name a group in every row, got 2 missing of 3"),
        (pd.Series([1, None], dtype="Int64"), "got 1 missing of 2"),
        (pd.DataFrame({"a": [1, 2], "b": ["x", None]}), "got 1 missing of 2"),
        ([["a"], ["b", "c"]], "must hold one value per row and column"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_groups_that_cannot_be_read_are_refused(features, message):
    with pytest.raises(ValueError, match="zones must") as caught:
        check_groups(features, "zones")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("X", "columns", "message"),
    [
        (np.eye(2), [], "zone must name at least one column, got none"),
        (np.eye(2), 2, r"zone must be columns of X, among \[0, 1\], got \[2\]"),
        (np.eye(2), [-3, 0], r"among \[0, 1\], got \[-3\]"),
        (np.eye(2), ["a"], r"among \[0, 1\], got \['a'\]"),
        (np.eye(2), [1.0], r"among \[0, 1\], got \[1.0\]"),
        (pd.DataFrame({"a": [1]}), ["a", "b"], r"among \['a'\], got \['b'\]"),
        (pd.DataFrame({"a": [1]}), 0, r"among \['a'\], got \[0\]"),
    ],
    ids=str,
)
def test_columns_that_are_not_there_are_named(X, columns, message):
    with pytest.raises(ValueError, match=message):
        split_columns(X, columns, "zone")
