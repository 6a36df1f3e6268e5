"""Columns that hold something else than in training: converted, or refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._tables import TableError
from cape.files import Notes
from cape.files._kinds import Place, as_kind, kind_of

PLACE = Place("new.csv", "c")
DAYS = pd.to_datetime(["2020-01-01", "2020-01-02"])


def converted(values, kind):
    """Convert a column; return its values, and the notes on it."""
    notes = Notes()
    column = as_kind(pd.Series(values), kind, PLACE, notes)
    return column, list(notes)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "number"),
        ([1.5, None], "number"),
        (pd.array([1, None], dtype="Int64"), "number"),
        (pd.to_timedelta(["1s", "2s"]), "number"),
        (["a", None], "text"),
        (pd.Categorical(["u", "v"]), "text"),
        (DAYS, "date"),
        (DAYS.tz_localize("UTC"), "date"),
        ([True, False], "flag"),
        ([None, True], "flag"),
        (pd.array([True, None], dtype="boolean"), "flag"),
        ([None, None], "empty"),
        ([np.nan, np.nan], "empty"),
        ([], "empty"),
    ],
)
def test_the_kind_of_a_column(values, kind):
    assert kind_of(pd.Series(values)) == kind


@pytest.mark.parametrize("kind", ["number", "text", "date", "flag"])
def test_an_empty_column_fits_every_kind_without_a_note(kind):
    column, notes = converted([None, None], kind)
    assert column.isna().all()
    assert notes == []


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, -2.0], "number"),
        (["a", "007"], "text"),
        (DAYS, "date"),
        ([True, False], "flag"),
    ],
)
def test_a_column_of_the_same_kind_keeps_its_values_without_a_note(values, kind):
    column, notes = converted(values, kind)
    assert column.tolist() == list(values)
    assert notes == []


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=10))
def test_numbers_in_text_are_the_same_numbers(values):
    words = [repr(value) for value in values]
    column, notes = converted(words, "number")
    # pandas 3.0 reads some texts to the number beside.
    np.testing.assert_array_max_ulp(column.to_numpy(), np.array(values), maxulp=1)
    assert notes == ["column 'c' holds text here and numbers in training: converted."]


@given(st.lists(st.booleans(), min_size=1, max_size=10))
def test_flags_are_the_same_as_numbers_text_or_flags(flags):
    expected = [float(flag) for flag in flags]
    numbers = [int(flag) for flag in flags]
    words = [str(flag).upper() for flag in flags]
    for values in (flags, numbers, words):
        column, _ = converted(values, "flag")
        assert column.tolist() == expected


def test_flags_become_numbers_without_a_note():
    column, notes = converted([True, None, False], "number")
    assert column.tolist()[::2] == [1.0, 0.0]
    assert column.isna().tolist() == [False, True, False]
    assert notes == []


def test_dates_of_other_time_zones_are_moved_to_utc():
    values = pd.to_datetime(["2020-01-01 12:00"]).tz_localize("Europe/Vienna")
    column, notes = converted(values, "date")
    assert column.tolist() == [pd.Timestamp("2020-01-01 11:00")]
    assert notes == []


def test_blank_text_is_missing_and_not_lost():
    column, _ = converted(["1", "  ", ""], "number")
    assert column.tolist()[0] == 1.0
    assert column.isna().tolist() == [False, True, True]


def test_time_spans_are_seconds():
    column, _ = converted(pd.to_timedelta(["1min", None]), "number")
    assert column.tolist()[0] == 60.0
    assert column.isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (["1", "many"], "number", r"numbers in training, here text such as 'many'"),
        (DAYS, "number", r"numbers in training, here dates .* \(2 rows\)"),
        ([2019, 2020], "date", r"dates in training, here numbers such as '2019'"),
        (["soon", "later"], "date", r"here text such as 'soon' \(2 rows\)"),
        ([2, 1], "flag", r"true or false in training, here numbers such as '2'"),
        (["maybe", "true"], "flag", r"here text such as 'maybe' \(1 rows\)"),
    ],
)
def test_a_conversion_that_would_lose_values_is_refused(values, kind, message):
    with pytest.raises(TableError, match=rf"^new\.csv, column 'c': .*{message}"):
        converted(values, kind)


def test_a_long_value_is_cut_in_the_message():
    with pytest.raises(TableError) as error:
        converted(["x" * 500, "1"], "number")
    assert "x" * 40 in str(error.value)
    assert "x" * 41 not in str(error.value)


def test_a_conversion_that_fails_leaves_no_note():
    notes = Notes()
    with pytest.raises(TableError):
        as_kind(pd.Series(["many"]), "number", PLACE, notes)
    assert list(notes) == []
