"""Dates are recognised however they are written, and other values are no dates."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.examination._suspicious import _TEXT_FORMATS, read_column, reason_date

DAYS = pd.Series(pd.date_range("2012-11-20", "2014-03-01", freq="2D"))


def reason(values):
    return reason_date(read_column(values))


def test_dates_are_dates():
    assert reason(DAYS) == "holds dates"
    assert reason(DAYS.where(DAYS.index > 50)) == "holds dates"


@pytest.mark.parametrize("tail", ["", " 06:03:42", " 6:03", "T06:03:42+01:00"])
@pytest.mark.parametrize("format_", _TEXT_FORMATS)
def test_text_that_reads_as_dates(format_, tail):
    text = DAYS.dt.strftime(format_) + tail
    text = text.where(text.index % 10 != 3, None)
    assert reason(text) == f"text that reads as dates ({format_})"


def test_a_few_mistakes_do_not_hide_dates():
    text = DAYS.dt.strftime("%d.%m.%Y")
    text[[7, 90]] = ["unknown", "-"]
    assert reason(text) == "text that reads as dates (%d.%m.%Y)"
    text[::5] = "unknown"
    text[1::5] = [f"unknown {i}" for i in range(len(text[1::5]))]
    assert reason(text) is None


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (DAYS.dt.strftime("%Y%m%d").astype(int), "%Y%m%d"),
        (DAYS.dt.strftime("%Y%m").astype(int), "%Y%m"),
        (DAYS.astype("datetime64[s]").astype("int64"), "seconds since 1970"),
        (DAYS.astype("datetime64[s]").astype("int64") + 0.25, "seconds since 1970"),
        (DAYS.astype("datetime64[ms]").astype("int64"), "milliseconds since 1970"),
        (DAYS.astype("datetime64[us]").astype("int64"), "microseconds since 1970"),
        (DAYS.astype("datetime64[ns]").astype("int64"), "nanoseconds since 1970"),
    ],
)
def test_numbers_that_read_as_dates(numbers, words):
    assert reason(numbers) == f"numbers that read as dates ({words})"
    gaps = numbers.where(numbers.index % 7 != 2)
    assert reason(gaps) == f"numbers that read as dates ({words})"


@pytest.mark.parametrize(
    "values",
    [
        DAYS.dt.year,
        DAYS.dt.month,
        DAYS.dt.strftime("%b"),
        DAYS.dt.strftime("%Y"),
        DAYS.dt.strftime("%H:%M:%S"),
        DAYS.dt.strftime("%Y%m%d").astype(int) + 0.5,
        DAYS.dt.strftime("%Y%m%d").astype(int) + 60,
        pd.Series([201301, 201302, 201303] * 30),
        pd.Series(["13011352CF10A", "13001275CF10A"]),
        pd.Series(["127.0.0.1", "10.0.0.1"]),
        pd.Series(["078-05-1120", "219-09-9999"]),
        pd.Series(["25 - 45", "Less than 25"]),
        pd.Series([np.nan, np.nan]),
        pd.Series([np.inf, *range(20)]),
        pd.Series([True, False]),
    ],
)
def test_what_is_no_date(values):
    assert reason(values) is None


@given(st.lists(st.floats(-1e7, 1e7), min_size=10, max_size=50))
def test_measurements_are_no_dates(numbers):
    # One value that is no day of any calendar.
    assert reason(np.array([*numbers, 17.5])) is None
