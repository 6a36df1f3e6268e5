"""Columns that hold dates: those of a later batch come after all of training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cape.diagnostics._table_column import TableColumn

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["reason_date"]

# How people write dates. pandas would guess formats as well, but it takes the month
# "may" and the number "7" for dates.
_TEXT_FORMATS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y-%m",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d.%m.%y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%b %d, %Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%Y%m%d",
)

# A time of day that follows a date.
_TIME_OF_DAY = r"[ T]+\d{1,2}:\d{2}.*$"

_MIN_SHARE_OF_DATES = 0.95

# Enough to know what a column holds.
_MAX_VALUES = 200

# Fewer values may be codes that read as dates by accident: 201101, 201102, 201103.
_MIN_DISTINCT_NUMBERS = 6

# Years that dates of people and of records fall into.
_YEARS = (1900, 2100)

# Seconds since 1970 from the year 2000 to 2040. A measurement in which every value has
# this size and the largest is 2.3 times the smallest would be an odd one.
_UNIX_SECONDS = (946_684_800, 2_208_988_800)
_UNIX_UNITS = {
    "seconds": 1,
    "milliseconds": 1e3,
    "microseconds": 1e6,
    "nanoseconds": 1e9,
}


def reason_date(column: TableColumn) -> str | None:
    """Tell in words why a column holds dates, or return None if it does not.

    Dates are also recognised where they are written as text (14/08/2013), as whole
    numbers (20130814, 201308), or as seconds since 1970 or a fraction of them. A year,
    a month or a time of day alone is no date: it can come again.

    Examples
    --------
    >>> from cape.diagnostics._table_column import read_column
    >>> days = pd.date_range("2013-01-01", periods=60)
    >>> reason_date(read_column(days.strftime("%d.%m.%Y").to_numpy()))
    'text that reads as dates (%d.%m.%Y)'
    >>> reason_date(read_column(np.arange(60)))
    """
    if column.kind == "date":
        return "holds dates"
    distinct = _distinct(column)
    if column.kind == "text":
        return _reason_text(distinct)
    if len(distinct) < _MIN_DISTINCT_NUMBERS:
        return None
    return _reason_calendar(distinct) or _reason_unix(distinct)


def _distinct(column: TableColumn) -> np.ndarray:
    """Return the first different values of a column."""
    import pandas as pd

    return pd.unique(column.values[~column.missing])[:_MAX_VALUES]


def _reason_text(distinct: np.ndarray) -> str | None:
    """Try the formats one by one."""
    import pandas as pd

    text = pd.Series(distinct, dtype=str)
    # Most columns of text have no digits, and need not be tried with all formats.
    if not text.str.contains(r"\d").mean() >= _MIN_SHARE_OF_DATES:
        return None
    days = text.str.strip().str.replace(_TIME_OF_DAY, "", regex=True)
    for format_ in _TEXT_FORMATS:
        if _share_of_dates(days, format_) >= _MIN_SHARE_OF_DATES:
            return f"text that reads as dates ({format_})"
    return None


def _reason_calendar(distinct: np.ndarray) -> str | None:
    """Recognise whole numbers such as 20130814 or 201308."""
    import pandas as pd

    first_year, last_year = _YEARS
    for format_, digits in (("%Y%m%d", 10_000), ("%Y%m", 100)):
        years = distinct / digits
        if years.min() < first_year or years.max() >= last_year:
            continue
        text = pd.Series(distinct).map("{:.0f}".format)
        is_whole = (distinct % 1 == 0).all()
        if is_whole and _share_of_dates(text, format_) == 1:
            return f"numbers that read as dates ({format_})"
    return None


def _share_of_dates(text: pd.Series, format_: str) -> float:
    """Return the share of texts that are dates of a format."""
    import pandas as pd

    dates = pd.to_datetime(text, format=format_, errors="coerce")
    return float(dates.notna().mean())


def _reason_unix(distinct: np.ndarray) -> str | None:
    """Recognise moments counted from 1970."""
    earliest, latest = _UNIX_SECONDS
    for unit, in_a_second in _UNIX_UNITS.items():
        seconds = distinct / in_a_second
        if seconds.min() >= earliest and seconds.max() < latest:
            return f"numbers that read as dates ({unit} since 1970)"
    return None
