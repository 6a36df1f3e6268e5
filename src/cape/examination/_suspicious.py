"""Columns of a training table that will do harm in later batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype
from scipy import sparse
from scipy.stats import rankdata

from cape.base._validation import (
    check_binary_labels,
    check_random_state,
    check_same_length,
    pickable,
    take_columns,
    take_rows,
)
from cape.shown._examination import suspicion_text
from cape.shown._notebook import InNotebook

Reason = tuple[Any, ...]
"""A code, and the numbers that belong to it; `suspicion_text` has the words."""


@dataclass(frozen=True)
class SuspiciousColumn:
    """A column that should not be learned from.

    Parameters
    ----------
    column : str or int
        Its name, or its place in an array.
    kind : {"row number", "tells the answer", "date", "identifier"}
        What is wrong with it.
    reason : tuple
        What was seen: a code and its numbers. Counts are of the rows that were looked
        at.
    """

    column: Any
    kind: str
    reason: Reason

    @property
    def why(self) -> str:
        """What was seen, in words."""
        return suspicion_text(*self.reason)


@dataclass(frozen=True, repr=False)
class SuspiciousColumns(InNotebook):
    """Result of `suspicious_columns`.

    Parameters
    ----------
    findings : tuple of SuspiciousColumn
        In the order of the table; a column is named once.
    rows : int
        Number of rows that were looked at.
    rows_in_table : int
        Number of rows of the table.
    """

    findings: tuple[SuspiciousColumn, ...]
    rows: int
    rows_in_table: int

    @property
    def columns(self) -> list[Any]:
        """The suspicious columns, as ``DataFrame.drop`` takes them."""
        return [finding.column for finding in self.findings]

    def table(self) -> pd.DataFrame:
        """Return the findings as a data frame.

        Returns
        -------
        DataFrame
            Indexed by column, with ``kind`` and ``why``.
        """
        rows = [(one.column, one.kind, one.why) for one in self.findings]
        frame = pd.DataFrame(rows, columns=["column", "kind", "why"])
        return frame.set_index("column")

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as a dict that JSON can hold.

        Returns
        -------
        dict
            ``findings`` is a list with one entry for each column.
        """
        findings = self.table().rename(index=str).reset_index()
        return {
            "rows": self.rows,
            "rows_in_table": self.rows_in_table,
            "findings": findings.to_dict("records"),
        }

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        title = "Suspicious columns" if self.findings else "No suspicious columns"
        return title, self.table(), ()


def suspicious_columns(
    X: Any, y: Any, *, max_rows: int = 10_000, random_state: Any = 0
) -> SuspiciousColumns:
    """Find columns that will fail in later batches or give the answer away.

    A model must not learn from these columns:

    - row numbers,
    - columns that give the answer away: the column alone has an AUC above .98, or all
      rows with one of its values are positive. It was probably filled in after the
      answer was known,
    - dates, times and recent years, also as text or numbers: those of a later batch
      come after all of training,
    - identifiers: text in which nearly all values are different, and whole numbers that
      were given out once or follow the order of the rows.

    A finding is a suspicion, based only on values and not on names of columns. A table
    without findings may still give the answer away in a combination of columns.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        The features: numpy, a list of rows, pandas or polars.
    y : array-like of shape (n_samples,)
        Labels of two classes; the greater is the positive one.
    max_rows : int, default=10000
        A longer table is searched in a random sample of this many rows, in the order of
        the table.
    random_state : int, RandomState or None, default=0
        Seed of the sample, and of the halves in which the AUC of text is computed.

    Returns
    -------
    SuspiciousColumns

    Raises
    ------
    ValueError
        If X is sparse or no table, if the lengths differ, or if there are not two
        classes.

    Examples
    --------
    >>> from cape.examination import suspicious_columns
    >>> X = train.data.assign(
    ...     case=range(2000), again=2 * train.target, day=pd.Timestamp("2013-08-14")
    ... )
    >>> found = suspicious_columns(X, train.target)
    >>> found
    Suspicious columns
    column              kind
    case          row number
    again   tells the answer
    day                 date
      case: goes up by one in each row
      again: has an AUC of 1.000 on its own
      day: holds dates
    >>> X.drop(columns=found.columns).columns.tolist() == list(train.data.columns)
    True
    """
    _, positive = check_binary_labels(y)
    X = pickable(X)
    if sparse.issparse(X):
        raise ValueError(
            "X must be a data frame or an array, got a sparse matrix: convert it "
            "first, for example with X.toarray()."
        )
    if not hasattr(X, "columns") and X.ndim != 2:
        raise ValueError(
            "X must be a table of shape (n_samples, n_features), got an array of "
            f"shape {X.shape}."
        )
    n_rows = check_same_length(X=X, y=y)
    if max_rows < 1:
        raise ValueError(f"max_rows must be at least 1, got {max_rows!r}.")
    random = check_random_state(random_state)
    rows = np.arange(n_rows)
    if n_rows > max_rows:
        rows = np.sort(random.choice(n_rows, max_rows, replace=False))
        X = take_rows(X, rows)
    positive = positive[rows]
    in_first_half = split_in_halves(positive, random)
    findings = []
    names = X.columns if hasattr(X, "columns") else range(X.shape[1])
    for place, name in enumerate(names):
        holds, values = read_column(take_columns(X, place))
        # The first thing that is wrong counts. In a table that is sorted by the label,
        # row numbers tell the answer; details of an event may be dates or identifiers,
        # and that they tell the answer is worse.
        for kind, check, *known in (
            ("row number", reason_row_number, rows),
            ("tells the answer", reason_answer, positive, in_first_half),
            ("date", reason_date),
            ("identifier", reason_identifier),
        ):
            reason = check(holds, values, *known)
            if reason is not None:
                findings.append(SuspiciousColumn(name, kind, reason))
                break
    return SuspiciousColumns(tuple(findings), len(rows), n_rows)


# Reading a column

# What pandas calls the dates of Python in a column of objects.
_DATE_OBJECTS = ("date", "datetime", "datetime64", "period")


def read_column(values: Any) -> tuple[str, np.ndarray]:
    """Read a column of an array or of pandas.

    Parameters
    ----------
    values : array or Series of shape (n_samples,)

    Returns
    -------
    holds : {"number", "date", "text"}
        What the column holds. Categories and flags (true or false) are text.
    values : ndarray of float64 or of object, of shape (n_samples,)
        Numbers and dates are floats, NaN where missing; text is str, None where
        missing.

    Examples
    --------
    >>> holds, values = read_column(np.array([3, None], dtype=object))
    >>> holds, values.tolist()
    ('number', [3.0, nan])
    >>> read_column(pd.Series(["a", None]))[1].tolist()
    ['a', None]
    """
    # A table of mixed types has come as an array of objects.
    series = pd.Series(values).reset_index(drop=True).infer_objects()
    if series.dtype.kind == "m":
        series = series.dt.total_seconds()
    dates = _as_dates(series)
    if dates is not None:
        # Moments as numbers in their order; the unit does not matter.
        moments = dates.astype("int64").to_numpy()
        return "date", np.where(dates.isna(), np.nan, moments)
    is_number = is_numeric_dtype(series.dtype) and not is_bool_dtype(series.dtype)
    if is_number or series.isna().all():
        return "number", series.to_numpy("float64", na_value=np.nan)
    # Any object has a text, also a list, which could not be counted.
    text = series.astype(object).map(str).to_numpy(dtype=object)
    text[series.isna()] = None
    return "text", text


def _as_dates(series: pd.Series) -> pd.Series | None:
    """Return the dates of a column as moments, or None if it does not hold dates."""
    if isinstance(series.dtype, pd.PeriodDtype):
        return series.dt.to_timestamp()
    if is_datetime64_any_dtype(series.dtype):
        return series
    if series.dtype != object:
        return None
    if pd.api.types.infer_dtype(series, skipna=True) in _DATE_OBJECTS:
        return pd.to_datetime(series.map(str), format="ISO8601", errors="coerce")
    return None


# Row numbers and identifiers: a later batch has other numbers and names

# In fewer rows, the values of a measurement may all be different, and in order.
_MIN_ROWS = 50

# A few names come twice; 99 % of the names in COMPAS are different.
_MIN_SHARE_DISTINCT = 0.95

# Encoders read the words of a text, and words come again although sentences do not.
_MIN_WORDS_OF_SENTENCES = 4

# A file may consist of several files that were in order.
_MIN_SHARE_IN_ORDER = 0.95

# With 20 expected pairs of equal values, fewer than 3 pairs have a probability below
# 1e-6 (Poisson).
_MIN_EXPECTED_PAIRS = 20
_MAX_SHARE_OF_PAIRS = 0.1


def reason_row_number(
    holds: str, values: np.ndarray, rows: np.ndarray
) -> Reason | None:
    """Tell why a column holds row numbers, or return None if it does not.

    Parameters
    ----------
    holds, values
        From `read_column`.
    rows : ndarray of int of shape (n_samples,)
        Where the values were in the table, in increasing order.

    Returns
    -------
    tuple or None
    """
    if holds != "number" or len(rows) < _MIN_ROWS:
        return None
    offsets = values - rows
    # A missing value has no offset, and differs from the first.
    return ("counts",) if (offsets == offsets[0]).all() else None


# Of fewer rows, whole numbers of a wide range are mostly different, whatever they are.
_MIN_ROWS_OF_NUMBERS = 200

# Kolmogorov's distance; 200 values that are drawn evenly stay below .1 in 97 of 100
# draws. Log-normal and normal values are at least .2 away.
_MAX_DISTANCE = 0.1


def reason_identifier(holds: str, values: np.ndarray) -> Reason | None:
    """Tell why a column holds identifiers, or return None if it does not.

    Text identifies rows if nearly all its values are different, unless it consists of
    sentences. Whole numbers identify rows if they are all different and in the order
    of the rows, if hardly any value comes twice although their range is so narrow that
    measurements would have to repeat, or if nearly all are different and spread evenly
    over their range. Amounts of money are not spread evenly. Numbers with decimals are
    measurements, and all of them may be different.
    """
    present = values[~pd.isna(values)]
    n = len(present)
    if n < _MIN_ROWS or holds == "date":
        return None
    n_distinct = len(pd.unique(present))
    nearly_all_differ = n_distinct >= _MIN_SHARE_DISTINCT * n
    if holds == "text":
        n_words = [len(text.split()) for text in present[:1000]]
        is_name = np.median(n_words) < _MIN_WORDS_OF_SENTENCES
        return ("differ", n_distinct, n) if nearly_all_differ and is_name else None
    # Infinity is no whole number either.
    if not np.isfinite(present).all() or (present % 1 != 0).any():
        return None
    # In a random order, half of the steps go up.
    steps = np.diff(present)
    for direction, in_order in (("increase", steps > 0), ("decrease", steps < 0)):
        share = float(np.mean(in_order))
        if n_distinct == n and share >= _MIN_SHARE_IN_ORDER:
            return "in order", n, direction, share
    low, high = present.min(), present.max()
    # n independent values of any distribution over r whole numbers have at least
    # n (n - 1) / (2 r) expected pairs of equal values (the birthday problem; a uniform
    # distribution has fewest). Far fewer pairs mean that the values were not drawn, but
    # handed out.
    n_possible = high - low + 1
    expected_pairs = n * (n - 1) / (2 * n_possible)
    _, counts = np.unique(present, return_counts=True)
    pairs = (counts * (counts - 1) / 2).sum()
    few_pairs = pairs <= _MAX_SHARE_OF_PAIRS * expected_pairs
    if expected_pairs >= _MIN_EXPECTED_PAIRS and few_pairs:
        return "differ", n_distinct, n, float(n_possible)
    if n < _MIN_ROWS_OF_NUMBERS or not nearly_all_differ:
        return None
    even = (np.sort(present) - low) / (high - low)
    distance = np.abs(even - np.linspace(0, 1, n)).max()
    return ("differ", n_distinct, n) if distance <= _MAX_DISTANCE else None


# Columns that tell the answer, most likely because they were filled in after it

_MAX_AUC = 0.98

# With 10 rows of each class, a column of noise has an AUC above .98 with probability
# 4e-5.
_MIN_CLASS_ROWS = 10

# Numbers with so few values may be codes, whose order says nothing.
_MAX_CODES = 50

# A value is looked at by itself only where values are few.
_MAX_LEVELS = 20

# A value whose rows are all positive would have this many negatives by chance.
_MIN_EXPECTED_NEGATIVES = 50

# Where nearly all rows are positive, many values have no negative.
_MIN_SHARE_NEGATIVES = 0.25


def split_in_halves(positive: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """Split the rows of each class into halves at random; return who is in the first.

    Both halves have the same share of positives.
    """
    in_first_half = np.zeros(len(positive), dtype=bool)
    for of_class in (positive, ~positive):
        rows = random.permutation(np.flatnonzero(of_class))
        in_first_half[rows[: len(rows) // 2]] = True
    return in_first_half


def reason_answer(
    holds: str, values: np.ndarray, positive: np.ndarray, in_first_half: np.ndarray
) -> Reason | None:
    """Tell why a column tells the answer, or return None if it does not.

    A column tells the answer if it alone has an AUC above .98, or if all rows with one
    of its values, or all rows that have a value, are positive.

    Parameters
    ----------
    holds, values
        From `read_column`.
    positive : ndarray of bool of shape (n_samples,)
        Whether a row has the positive label.
    in_first_half : ndarray of bool of shape (n_samples,)
        From `split_in_halves`.

    Returns
    -------
    tuple or None
    """
    if min(positive.sum(), (~positive).sum()) < _MIN_CLASS_ROWS:
        return None
    # pandas gives missing values the code -1; ours is 0.
    codes, levels = pd.factorize(values)
    codes = codes + 1
    aucs = []
    if holds != "text":
        aucs.append(number_auc(values, positive))
    if holds == "text" or len(levels) <= _MAX_CODES:
        aucs.append(level_auc(codes, positive, in_first_half))
    if max(aucs) > _MAX_AUC:
        return "auc", max(aucs)
    return _reason_all_positive(codes, levels, positive)


def number_auc(numbers: np.ndarray, positive: np.ndarray) -> float:
    """Return the AUC of numbers; small or large ones may be the positives.

    Missing values are a level of their own, below or above all numbers.
    """
    missing = np.isnan(numbers)
    aucs = [_auc(np.where(missing, -np.inf, numbers), positive)]
    if missing.any():
        aucs.append(_auc(np.where(missing, np.inf, numbers), positive))
    return max(max(aucs), 1 - min(aucs))


def level_auc(
    codes: np.ndarray, positive: np.ndarray, in_first_half: np.ndarray
) -> float:
    """Return the AUC of the share of positives of each level, out of sample.

    In the rows from which it was computed, this share has an AUC of 1 for every column
    without repeated values, identifiers for example. Leaving out the row itself does
    not help, because the share then is lower for a positive than for a negative of the
    same level. So each half is scored with the shares of the other half. One row with
    the share of all rows is added to every level, so that unknown levels have that
    share.
    """
    n_codes = codes.max() + 1
    aucs = []
    for scored in (in_first_half, ~in_first_half):
        counted = ~scored
        overall = positive[counted].mean()
        rows = np.bincount(codes[counted], minlength=n_codes)
        positives = np.bincount(codes[counted & positive], minlength=n_codes)
        shares = (positives + overall) / (rows + 1)
        aucs.append(_auc(shares[codes[scored]], positive[scored]))
    return float(np.mean(aucs))


def _auc(scores: np.ndarray, positive: np.ndarray) -> float:
    """Return the AUC of scores from the sum of the ranks of the positives."""
    ranks = rankdata(scores)[positive]
    # The smallest mean that the ranks of the positives can have.
    smallest = (len(ranks) + 1) / 2
    return float((ranks.mean() - smallest) / (len(positive) - len(ranks)))


def _reason_all_positive(
    codes: np.ndarray, levels: np.ndarray, positive: np.ndarray
) -> Reason | None:
    """Recognise what exists only where the answer is positive.

    Details of an event are known for those to whom it happened: a second flag, the
    number of the case, a charge. Such a column has a low AUC if it is filled in for a
    part of the positives. Only positives count: values that rule the event out (nobody
    below 16 is employed) are common, and known before.
    """
    share_negatives = 1 - positive.mean()
    if share_negatives < _MIN_SHARE_NEGATIVES:
        return None
    parts: list[tuple[tuple[Any, ...], np.ndarray]] = [
        (("with a value",), codes > 0),
        (("without a value",), codes == 0),
    ]
    if len(levels) <= _MAX_LEVELS:
        for code, level in enumerate(levels, start=1):
            parts.append((("with", level), codes == code))
    for which, in_part in parts:
        n_rows = int(in_part.sum())
        if n_rows * share_negatives < _MIN_EXPECTED_NEGATIVES:
            continue
        if positive[in_part].all():
            return "all positive", n_rows, *which
    return None


# Dates: those of a later batch come after all of training

# How people write dates. pandas would guess formats as well, but it takes the month
# "may" and the number "7" for dates.
TEXT_FORMATS = (
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

# Whole numbers that read as dates, and what their years are multiplied by. Dates of
# people and of records fall into these years.
_CALENDAR = {"%Y%m%d": 10_000, "%Y%m": 100}
_YEARS = (1900, 2100)

# Years of a survey or of a sale span fewer, and new ones come; years of birth or of
# construction span more, and come again.
_MOST_YEARS = 25

# Seconds since 1970 from the year 2000 to 2040. A measurement in which every value has
# this size and the largest is 2.3 times the smallest would be an odd one.
_UNIX_SECONDS = (946_684_800, 2_208_988_800)
_UNIX_UNITS = {
    "seconds": 1,
    "milliseconds": 1e3,
    "microseconds": 1e6,
    "nanoseconds": 1e9,
}


def reason_date(holds: str, values: np.ndarray) -> Reason | None:
    """Tell why a column holds dates, or return None if it does not.

    Dates are also recognised where they are written as text (14/08/2013), as whole
    numbers (20130814, 201308), or as seconds since 1970 or a fraction of them. Years
    that lie close together will be followed by others. A month or a time of day alone
    is no date: it can come again.
    """
    if holds == "date":
        return ("dates",)
    distinct = pd.unique(values[~pd.isna(values)])[:_MAX_VALUES]
    if holds == "text":
        numbers = pd.to_numeric(pd.Series(distinct), errors="coerce").to_numpy(float)
        return _reason_text(distinct) or _reason_years(numbers)
    if len(distinct) < _MIN_DISTINCT_NUMBERS:
        return _reason_years(distinct)
    first_year, last_year = _YEARS
    for format_, digits in _CALENDAR.items():
        years = distinct / digits
        if years.min() < first_year or years.max() >= last_year:
            continue
        text = pd.Series(distinct).map("{:.0f}".format)
        is_whole = (distinct % 1 == 0).all()
        if is_whole and _share_of_dates(text, format_) == 1:
            return "numbers as dates", format_
    earliest, latest = _UNIX_SECONDS
    for unit, in_a_second in _UNIX_UNITS.items():
        seconds = distinct / in_a_second
        if seconds.min() >= earliest and seconds.max() < latest:
            return "since 1970", unit
    return _reason_years(distinct)


def _reason_years(distinct: np.ndarray) -> Reason | None:
    """Recognise the years in which rows were recorded."""
    if len(distinct) < 2:
        return None
    first, last = distinct.min(), distinct.max()
    # A comparison with NaN is False.
    in_range = _YEARS[0] <= first and last < min(_YEARS[1], first + _MOST_YEARS)
    if not in_range or (distinct % 1 != 0).any():
        return None
    return "years", int(first), int(last)


def _reason_text(distinct: np.ndarray) -> Reason | None:
    """Try the formats one by one."""
    text = pd.Series(distinct, dtype=str)
    # Most columns of text have no digits, and need not be tried with all formats.
    if not text.str.contains(r"\d").mean() >= _MIN_SHARE_OF_DATES:
        return None
    days = text.str.strip().str.replace(_TIME_OF_DAY, "", regex=True)
    for format_ in TEXT_FORMATS:
        if _share_of_dates(days, format_) >= _MIN_SHARE_OF_DATES:
            return "text as dates", format_
    return None


def _share_of_dates(text: pd.Series, format_: str) -> float:
    """Return the share of texts that are dates of a format."""
    dates = pd.to_datetime(text, format=format_, errors="coerce")
    return float(dates.notna().mean())
