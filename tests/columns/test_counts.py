"""Counts of columns add up, and names of unseen values go with them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._columns import ColumnCounts
from cape._json_fields import Fields

CELLS = 5
names = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), min_size=1)
counts = st.builds(
    lambda numbers, unseen: ColumnCounts(np.array(numbers), unseen),
    st.lists(st.integers(0, 50), min_size=CELLS, max_size=CELLS),
    st.dictionaries(st.integers(0, 2), names, max_size=3),
)


@given(a=counts, b=counts, c=counts)
def test_addition_has_its_laws(a, b, c):
    zero = ColumnCounts(np.zeros(CELLS, dtype=int))
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + zero == zero + a == a


@given(a=counts, b=counts)
def test_subtracting_undoes_adding(a, b):
    assert (a + b) - b == a


@given(a=counts)
def test_counts_come_back_from_json(a):
    content = Fields(json.loads(json.dumps(a.to_json())))
    assert ColumnCounts.from_json(content) == a


def test_rows_that_were_never_added_cannot_be_taken_away():
    one = ColumnCounts(np.array([1, 0]))
    other = ColumnCounts(np.array([0, 1]))
    with pytest.raises(ValueError, match="never added"):
        one - other


def test_counts_of_other_cells_do_not_add_up():
    one = ColumnCounts(np.array([1, 0]))
    other = ColumnCounts(np.array([0, 1, 3]))
    for operate in (lambda: one + other, lambda: one - other):
        with pytest.raises(ValueError, match="same cells"):
            operate()


def test_more_than_20_unseen_values_are_not_named():
    few = ColumnCounts(np.array([15]), {0: {f"a{i}": 1 for i in range(15)}})
    more = ColumnCounts(np.array([15]), {0: {f"b{i}": 1 for i in range(15)}})
    both = few + more
    assert both.unseen == {0: {}}
    # Nobody knows any more which they were.
    assert (both + few).unseen == {0: {}}
    assert (both - more).unseen == {0: {}}
    assert (few + few).unseen[0]["a3"] == 2


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="counts must be a list of whole numbers"):
        ColumnCounts.from_json(Fields({"counts": [1, -1], "unseen": []}))


def test_counts_are_equal_to_counts_alone():
    one = ColumnCounts(np.array([1, 0]))
    assert one != ColumnCounts(np.array([1, 1]))
    assert one != ColumnCounts(np.array([1, 0]), {0: {"a": 1}})
    assert one != "counts"
