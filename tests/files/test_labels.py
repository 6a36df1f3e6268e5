"""Which of two labels is positive."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._tables import TableError
from cape.files._labels import order_labels


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (("0", "1"), "1"),
        (("9", "10"), "10"),
        (("-1", "0.5"), "0.5"),
        (("no", "yes"), "yes"),
        (("False", "True"), "True"),
        (("1", "unknown"), "unknown"),
    ],
)
def test_the_greater_label_is_positive_unless_told(labels, positive):
    assert order_labels(labels, None)[1] == positive
    assert order_labels(reversed(labels), None)[1] == positive


@given(st.integers(-50, 50), st.integers(-50, 50))
def test_any_label_can_be_positive_however_it_is_spelled(first, second):
    if first == second:
        second += 1
    labels = [str(first), str(second)]
    assert order_labels(labels, f"{first}.0") == (str(second), str(first))
    assert order_labels(labels, str(second)) == (str(first), str(second))


def test_a_third_label_is_refused_by_name():
    message = "the positive label must be 'bad' or 'good', got 'evil'"
    with pytest.raises(TableError, match=message):
        order_labels(["good", "bad"], "evil")
