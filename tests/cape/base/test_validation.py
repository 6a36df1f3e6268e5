"""Checks of tables, labels, weights and settings, in all the shapes they come in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.base._validation import (
    check_binary_labels,
    check_labels,
    check_prevalence,
    pickable,
    positive_label,
)

ARRAY = np.arange(12.0).reshape(4, 3)


class Table:
    """A table that only numpy can read."""

    def __array__(self, dtype=None, copy=None):
        return ARRAY


def test_a_table_that_cannot_be_indexed_becomes_an_array():
    np.testing.assert_array_equal(pickable(Table()), ARRAY)


@given(st.floats())
def test_a_prevalence_is_a_share(value):
    for closed, accepted in ((True, 0 <= value <= 1), (False, 0 < value < 1)):
        if accepted:
            assert check_prevalence("rho", value, closed=closed) == value
        else:
            with pytest.raises(ValueError, match=r"rho must be in .0, 1., got"):
                check_prevalence("rho", value, closed=closed)


@pytest.mark.parametrize("value", ["half", None, [0.5, 0.5], {}], ids=repr)
def test_a_prevalence_is_a_number(value):
    with pytest.raises(ValueError, match=r"rho must be in \[0, 1\], got"):
        check_prevalence("rho", value)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_labels_of_any_kind_of_column_are_read(kind):
    for values in (["a", "b"], [1.5, 2.5]):
        labels, order = check_labels(kind(values))
        assert (labels.tolist(), order) == (values, [])


@pytest.mark.parametrize(
    "labels", [("no", "yes"), (0, 1), (-1, 1), (False, True), (1.0, 2.0)]
)
def test_the_greater_label_is_positive(labels):
    y = [labels[1], labels[0], labels[1]]
    classes, positive = check_binary_labels(y)
    assert classes.tolist() == list(labels)
    assert positive.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("columns", "positive"),
    [
        (([0, 1], [1, 1]), 1),
        (([-1, -1], [1, -1]), 1),
        ((["no"], ["yes"]), "yes"),
        (([0, 0], [0, 0]), 1),
        (([-1],), 1),
        (([False],), True),
        (([3, 5],), 5),
    ],
    ids=str,
)
def test_the_positive_label_is_the_greater_of_two(columns, positive):
    arrays = [np.array(column) for column in columns]
    assert positive_label(*arrays) == positive


def test_the_positive_label_can_be_chosen():
    y = np.array(["no", "yes"])
    assert positive_label(y, pos_label="no") == "no"
    assert positive_label(np.array(["no"]), pos_label="yes") == "yes"


@pytest.mark.parametrize(
    ("y", "pos_label", "message"),
    [
        ([0, 1, 2], None, r"together hold two labels, got 3: \[0, 1, 2\]"),
        ([0, 1], 7, r"pos_label must be one of \[0, 1\], got 7"),
        (["b"], None, r"pos_label must be given when .* one label only, got \['b'\]"),
        ([5], None, "pos_label must be given when"),
    ],
    ids=str,
)
def test_a_positive_label_that_cannot_be_told_is_refused(y, pos_label, message):
    with pytest.raises(ValueError, match=message):
        positive_label(np.array(y), pos_label=pos_label)
