"""Dates with the day first: read as dates, strictly, and left alone where copied."""

import datetime as dt

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._tables import (
    TableError,
    dotted_dates,
    iter_table,
    read_table,
    table_kinds,
)

DATES = st.dates(dt.date(1000, 1, 1), dt.date(2999, 12, 31))


@given(st.lists(DATES, min_size=1))
def test_every_date_comes_back(dates):
    texts = pd.Series([f"{date:%d.%m.%Y}" for date in dates], dtype="str")
    assert dotted_dates(texts).dt.date.tolist() == dates


@pytest.mark.parametrize(
    "text",
    ["31.02.2024", "32.01.2024", "01.13.2024", "1.2.24", "1.2.3", "2024-01-02", "x"],
)
def test_what_is_no_date_is_missing(text):
    assert dotted_dates(pd.Series([text, "01.02.2024"])).isna().tolist() == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1.2.2024", "2024-02-01 00:00:00"),
        ("01.02.2024 08:30", "2024-02-01 08:30:00"),
        ("01.02.2024 08:30:15", "2024-02-01 08:30:15"),
    ],
)
def test_a_time_of_day_may_follow(text, moment):
    assert str(dotted_dates(pd.Series([text]))[0]) == moment


def test_a_column_of_such_dates_is_found(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("when,version,no\n31.12.2024,1.2.3,31.02.2024\n,1.2.24,1.1.2024\n")
    assert table_kinds(path) == {"when": "date", "version": "text", "no": "text"}
    when = read_table(path)["when"]
    assert when.dtype == "datetime64[us]"
    assert str(when[0]) == "2024-12-31 00:00:00"
    assert pd.isna(when[1])


def test_a_column_may_be_in_either_format_where_dates_are_asked_for(tmp_path):
    dotted = tmp_path / "dotted.csv"
    dotted.write_text("when,n\n31.12.2024,1\n01.01.2025,2\n")
    iso = tmp_path / "iso.csv"
    iso.write_text("when,n\n2024-12-31,1\n2025-01-01,2\n")
    types = {"when": "date", "n": "number"}
    pd.testing.assert_frame_equal(
        read_table(dotted, types=types), read_table(iso, types=types)
    )


@pytest.mark.parametrize("text", ["31.02.2024", "2024-01-02", "1.2.24", "x"])
def test_a_later_field_that_is_no_date_is_an_error(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(f"when\n31.12.2024\n{text}\n")
    with pytest.raises(TableError) as error:
        read_table(path, types={"when": "date"})
    assert str(error.value) == (
        f"{path}, column 'when': expected dates such as 31.12.2024, got {text!r}."
    )


def test_a_first_part_without_dates_does_not_matter(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("when,n\n,1\n,2\n31.12.2024,3\n")
    parts = list(iter_table(path, 2, types={"when": "date", "n": "number"}))
    assert parts[0]["when"].isna().all()
    assert parts[1]["when"].dt.year.tolist() == [2024]


def test_copies_are_as_they_came(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("when\n31.12.2024\n1.1.2025\n")
    (part,) = iter_table(path, verbatim=True)
    assert part["when"].tolist() == ["31.12.2024", "1.1.2025"]
