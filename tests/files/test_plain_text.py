"""One spelling for each value, whatever type it came in."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.files import Notes, plain_text
from cape.files._plain_text import by_value, group_text, plain_value

WHOLE = [1, 1.0, "1", "1.0", "1.00", np.int8(1), np.float32(1)]
OTHER_TEXT = ["007", "1.5", "a", "", "1e0", "True", "-", "1.", ".0", "1.0a"]


@pytest.mark.parametrize("value", WHOLE)
def test_one_is_one_however_it_is_written(value):
    text, _ = plain_text(pd.Series([value, value]))
    assert text.tolist() == ["1", "1"]
    assert plain_value(value) == "1"


@pytest.mark.parametrize("value", OTHER_TEXT)
def test_text_that_is_no_whole_number_is_kept(value):
    text, changed = plain_text(pd.Series([value]))
    assert text.tolist() == [value]
    assert changed == ""
    assert plain_value(value) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [("-3.0", "-3"), ("+3.0", "+3"), (-3.0, "-3"), (1e20, "100000000000000000000")],
)
def test_signs_and_large_numbers(value, expected):
    assert plain_value(value) == expected


@given(st.lists(st.integers(-(2**40), 2**40) | st.none(), min_size=1, max_size=20))
def test_integers_floats_and_text_agree(values):
    integers = pd.Series(values, dtype="Int64")
    floats = integers.astype("float64")
    words = [None if value is None else str(value) for value in values]
    expected, _ = plain_text(pd.Series(words, dtype="str"))
    for series in (integers, floats):
        text, _ = plain_text(series)
        pd.testing.assert_series_equal(text, expected)


@given(st.lists(st.text(max_size=5), min_size=1, max_size=20))
def test_plain_text_of_plain_text_is_itself(values):
    once, _ = plain_text(pd.Series(values, dtype="str"))
    twice, changed = plain_text(once)
    assert twice.tolist() == once.tolist()
    assert changed == ""


def test_missing_values_stay_missing_and_the_index_stays():
    values = pd.Series([2.0, np.nan, 3.0], index=[7, 5, 6])
    text, changed = plain_text(values)
    assert text.isna().tolist() == [False, True, False]
    assert text.index.tolist() == [7, 5, 6]
    assert changed == "2.0 is read as 2"


def test_flags_and_dates_are_written_as_python_writes_them():
    flags, _ = plain_text(pd.Series([True, False]))
    assert flags.tolist() == ["True", "False"]
    dates, _ = plain_text(pd.Series(pd.to_datetime(["2024-02-29"])))
    assert dates.tolist() == ["2024-02-29 00:00:00"]


def test_a_group_column_that_is_respelled_is_noted_once():
    notes = Notes()
    for _ in range(2):
        text = group_text(pd.Series([1.0, 2.0]), "ward", notes)
    assert text.tolist() == ["1", "2"]
    assert list(notes) == [
        "group column 'ward': 1.0 is read as 1, taken as the same group."
    ]


def test_a_group_column_that_is_not_respelled_is_not_noted():
    notes = Notes()
    group_text(pd.Series(["north", "south"]), "ward", notes)
    assert list(notes) == []


@given(st.lists(st.integers(-1000, 1000)))
def test_numbers_are_sorted_by_value(numbers):
    words = [str(number) for number in numbers]
    expected = [str(number) for number in sorted(numbers)]
    assert sorted(words, key=by_value) == expected


def test_numbers_come_before_text():
    labels = ["b", "10", "9", "a", "-1"]
    assert sorted(labels, key=by_value) == ["-1", "9", "10", "a", "b"]
