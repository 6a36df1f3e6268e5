"""Columns of a training table that will do harm in later batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from cape._validation import (
    check_binary_labels,
    check_random_state,
    check_same_length,
    take_columns,
    take_rows,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class SuspiciousColumn:
    """A column that should not be learned from.

    Parameters
    ----------
    column : str or int
        Its name, or its place in an array.
    kind : {"row number", "tells the answer", "date", "identifier"}
        What is wrong with it.
    why : str
        What was seen, in words. Counts are of the rows that were looked at.
    """

    column: Any
    kind: str
    why: str


@dataclass(frozen=True)
class SuspiciousColumns:
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

    def of_kind(self, kind: str) -> list[SuspiciousColumn]:
        """Return the findings of one kind."""
        return [finding for finding in self.findings if finding.kind == kind]

    def table(self) -> pd.DataFrame:
        """Return the findings as a data frame.

        Returns
        -------
        DataFrame
            Indexed by column, with ``kind`` and ``why``.
        """
        import pandas as pd

        rows = [asdict(finding) for finding in self.findings]
        frame = pd.DataFrame(rows, columns=["column", "kind", "why"])
        return frame.set_index("column")

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as a dict that JSON can hold.

        Returns
        -------
        dict
            ``findings`` is a list with one entry for each column.
        """
        entries = []
        for finding in self.findings:
            entries.append({**asdict(finding), "column": str(finding.column)})
        return {
            "rows": self.rows,
            "rows_in_table": self.rows_in_table,
            "findings": entries,
        }

    def __repr__(self) -> str:
        if not self.findings:
            return "SuspiciousColumns(none found)"
        lines = ["SuspiciousColumns("]
        for finding in self.findings:
            lines.append(f"  {finding.column}: {finding.kind}, {finding.why}")
        lines.append(")")
        return "\n".join(lines)


def suspicious_columns(
    X: Any, y: Any, *, max_rows: int = 10_000, random_state: Any = 0
) -> SuspiciousColumns:
    """Find columns that will fail in later batches, and columns that tell the answer.

    A model must not learn from these columns:

    - row numbers,
    - columns that tell the answer: one column alone has an AUC above .98, or all rows
      with one of its values are positive. It was most likely filled in after the answer
      was known,
    - dates and times, also as text or numbers: those of a later batch come after all of
      training,
    - identifiers: text in which nearly all values are different, and whole numbers that
      were given out once or follow the order of the rows.

    A finding is a suspicion from the values alone. Names of columns are not looked at,
    and a table without findings may still hold the answer in a combination of columns.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        The features: numpy, a list of rows, pandas or polars.
    y : array-like of shape (n_samples,)
        Labels of two classes; the greater is the positive one.
    max_rows : int, default=10000
        Of a longer table, a random sample of this many rows is looked at, in the order
        of the table.
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
    SuspiciousColumns(
      case: row number, counts the rows
      again: tells the answer, alone has an AUC of 1.000
      day: date, holds dates
    )
    >>> X.drop(columns=found.columns).columns.tolist() == list(train.data.columns)
    True
    """
    _, positive = check_binary_labels(y)
    X = _as_table(X)
    n_rows = check_same_length(X=X, y=positive)
    if max_rows < 1:
        raise ValueError(f"max_rows must be at least 1, got {max_rows!r}.")
    random = check_random_state(random_state)
    rows = np.arange(n_rows)
    if n_rows > max_rows:
        rows = np.sort(random.choice(n_rows, max_rows, replace=False))
        X = take_rows(X, rows)
    answers = Answers.split(positive[rows], random)
    findings = []
    for place, name in enumerate(_names(X)):
        column = read_column(take_columns(X, place))
        finding = _find(name, column, rows, answers)
        if finding is not None:
            findings.append(finding)
    return SuspiciousColumns(tuple(findings), len(rows), n_rows)


def _as_table(X: Any) -> Any:
    """Return a data frame as it came, and anything else as an array of two dimensions.

    Raises
    ------
    ValueError
        If X is no table, or sparse.
    """
    if sparse.issparse(X):
        raise ValueError(
            "X must be a data frame or an array, got a sparse matrix, whose columns "
            "are not looked at one by one."
        )
    if hasattr(X, "columns"):
        return X
    if not isinstance(X, np.ndarray):
        # The rows of a list may hold numbers and text, and numbers must not become
        # text.
        X = np.array(X, dtype=object)
    if X.ndim != 2:
        raise ValueError(
            "X must be a table of shape (n_samples, n_features), got an array of "
            f"shape {X.shape}."
        )
    return X


def _names(X: Any) -> list[Any]:
    """Return the names of the columns, or their places if they have none."""
    if hasattr(X, "columns"):
        return list(X.columns)
    return list(range(X.shape[1]))


def _find(
    name: Any, column: TableColumn, rows: np.ndarray, answers: Answers
) -> SuspiciousColumn | None:
    """Return the first thing that is wrong with a column, or None."""
    # In a table that is sorted by the label, row numbers tell the answer; details of an
    # event may be dates or identifiers, and that they tell the answer is worse.
    checks: dict[str, Callable[[], str | None]] = {
        "row number": lambda: reason_row_number(column, rows),
        "tells the answer": lambda: reason_answer(column, answers),
        "date": lambda: reason_date(column),
        "identifier": lambda: reason_identifier(column),
    }
    for kind, check in checks.items():
        why = check()
        if why is not None:
            return SuspiciousColumn(name, kind, why)
    return None


# What pandas calls the dates of Python in a column of objects.
_DATE_OBJECTS = ("date", "datetime", "datetime64", "period")


@dataclass(frozen=True)
class TableColumn:
    """The values of a column.

    Parameters
    ----------
    kind : {"number", "date", "text"}
        What the column holds. Categories and flags (true or false) are text.
    values : ndarray of float64 or of object, of shape (n_samples,)
        Numbers and dates are floats, NaN where missing; text is str, None where
        missing.
    """

    kind: str
    values: np.ndarray

    @property
    def missing(self) -> np.ndarray:
        """Whether each value is missing, an ndarray of bool of shape (n_samples,)."""
        import pandas as pd

        return pd.isna(self.values)


def read_column(values: Any) -> TableColumn:
    """Read a column of an array, of pandas or of polars.

    Parameters
    ----------
    values : array or Series of shape (n_samples,)

    Returns
    -------
    TableColumn

    Examples
    --------
    >>> column = read_column(np.array([3, None], dtype=object))
    >>> column.kind, column.values.tolist()
    ('number', [3.0, nan])
    >>> read_column(pd.Series(["a", None])).values.tolist()
    ['a', None]
    """
    series = _as_series(values)
    dates = _as_dates(series)
    if dates is not None:
        return TableColumn("date", _as_floats(dates))
    if _holds_numbers(series):
        return TableColumn("number", series.to_numpy("float64", na_value=np.nan))
    # Any object has a text, also a list, which could not be counted.
    text = series.astype(object).map(str).to_numpy(dtype=object)
    text[series.isna()] = None
    return TableColumn("text", text)


def _as_series(values: Any) -> pd.Series:
    """Convert to pandas, with the type that the values have."""
    import pandas as pd

    if not isinstance(values, pd.Series):
        # The values of a polars column; pandas itself would need pyarrow for them.
        values = pd.Series(np.asarray(values))
    # A table of mixed types has come as an array of objects.
    series = values.reset_index(drop=True).infer_objects()
    if series.dtype.kind == "m":
        return series.dt.total_seconds()
    return series


def _as_dates(series: pd.Series) -> pd.Series | None:
    """Return the dates of a column as moments, or None if it does not hold dates."""
    import pandas as pd

    if isinstance(series.dtype, pd.PeriodDtype):
        return series.dt.to_timestamp()
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return series
    if series.dtype != object:
        return None
    if pd.api.types.infer_dtype(series, skipna=True) in _DATE_OBJECTS:
        return pd.to_datetime(series.map(str), format="ISO8601", errors="coerce")
    return None


def _as_floats(dates: pd.Series) -> np.ndarray:
    """Return moments as numbers in their order; the unit does not matter."""
    missing = dates.isna().to_numpy()
    return np.where(missing, np.nan, dates.astype("int64").to_numpy())


def _holds_numbers(series: pd.Series) -> bool:
    """Tell whether a column holds numbers or nothing; flags are no numbers."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if not series.notna().any():
        return True
    return is_numeric_dtype(series.dtype) and not is_bool_dtype(series.dtype)


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


def reason_row_number(column: TableColumn, rows: np.ndarray) -> str | None:
    """Tell in words why a column holds row numbers, or return None if it does not.

    Parameters
    ----------
    column : TableColumn
    rows : ndarray of int of shape (n_samples,)
        Where the values were in the table, in increasing order.

    Returns
    -------
    str or None

    Examples
    --------
    >>> from cape.examination._suspicious import read_column
    >>> reason_row_number(read_column(np.arange(1, 61)), np.arange(60))
    'counts the rows'
    """
    if column.kind != "number" or len(rows) < _MIN_ROWS:
        return None
    offsets = column.values - rows
    # A missing value has no offset, and differs from the first.
    if (offsets == offsets[0]).all():
        return "counts the rows"
    return None


def reason_identifier(column: TableColumn) -> str | None:
    """Tell in words why a column holds identifiers, or return None if it does not.

    Text identifies rows if nearly all its values are different, unless it consists of
    sentences. Whole numbers identify rows if they are all different and in the order
    of the rows, or if hardly any value comes twice although their range is so narrow
    that measurements would have to repeat. Numbers with decimals are measurements, and
    all of them may be different.

    Whole numbers that are spread at random over a wide range are not recognised: they
    look like amounts of money. Those of a later batch have the same distribution.

    Examples
    --------
    >>> from cape.examination._suspicious import read_column
    >>> shuffled = np.random.default_rng(0).permutation(2000)
    >>> reason_identifier(read_column(shuffled[:500]))
    'all 500 values differ, among 1,998 possible ones'
    >>> reason_identifier(read_column(np.sort(shuffled[:500])))
    'all 500 values differ and increase'
    >>> reason_identifier(read_column(shuffled[:500] ** 2 / 7))
    """
    present = column.values[~column.missing]
    if len(present) < _MIN_ROWS:
        return None
    if column.kind == "text":
        return _reason_names(present)
    # Infinity is no whole number either.
    is_whole = np.isfinite(present).all() and (present % 1 == 0).all()
    if column.kind == "number" and is_whole:
        return _reason_in_order(present) or _reason_without_repeats(present)
    return None


def _reason_names(present: np.ndarray) -> str | None:
    """Recognise names and codes."""
    import pandas as pd

    n_distinct = len(pd.unique(present))
    if n_distinct < _MIN_SHARE_DISTINCT * len(present):
        return None
    n_words = [len(text.split()) for text in present[:1000]]
    if np.median(n_words) >= _MIN_WORDS_OF_SENTENCES:
        return None
    return _count_of_distinct(n_distinct, len(present))


def _reason_in_order(present: np.ndarray) -> str | None:
    """Recognise whole numbers that are all different and follow the rows.

    In a random order, half of the steps go up.
    """
    steps = np.diff(present)
    if len(np.unique(present)) < len(present):
        return None
    for direction, share in (
        ("increase", np.mean(steps > 0)),
        ("decrease", np.mean(steps < 0)),
    ):
        if share >= _MIN_SHARE_IN_ORDER:
            how_often = "" if share == 1 else f" in {share:.1%} of the rows"
            return f"all {len(present):,} values differ and {direction}{how_often}"
    return None


def _reason_without_repeats(present: np.ndarray) -> str | None:
    """Recognise whole numbers that were given out once, in any order.

    n independent values of any distribution over r whole numbers have at least
    n (n - 1) / (2 r) expected pairs of equal values (the birthday problem; a uniform
    distribution has fewest). Far fewer pairs mean that the values were not drawn, but
    handed out.
    """
    n = len(present)
    n_possible = present.max() - present.min() + 1
    _, counts = np.unique(present, return_counts=True)
    expected_pairs = n * (n - 1) / (2 * n_possible)
    pairs = (counts * (counts - 1) / 2).sum()
    if expected_pairs < _MIN_EXPECTED_PAIRS:
        return None
    if pairs > _MAX_SHARE_OF_PAIRS * expected_pairs:
        return None
    differ = _count_of_distinct(len(counts), n)
    return f"{differ}, among {n_possible:,.0f} possible ones"


def _count_of_distinct(n_distinct: int, n: int) -> str:
    """Say how many values are different."""
    if n_distinct == n:
        return f"all {n:,} values differ"
    return f"{n_distinct:,} of {n:,} values differ"


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


@dataclass(frozen=True)
class Answers:
    """The labels, and a split of the rows into halves.

    Parameters
    ----------
    positive : ndarray of bool of shape (n_samples,)
        Whether a row has the positive label.
    in_first_half : ndarray of bool of shape (n_samples,)
        The half of each row; both halves have the same share of positives.
    """

    positive: np.ndarray
    in_first_half: np.ndarray

    @classmethod
    def split(cls, positive: np.ndarray, random: np.random.RandomState) -> Answers:
        """Split the rows of each class into halves at random."""
        in_first_half = np.zeros(len(positive), dtype=bool)
        for of_class in (positive, ~positive):
            rows = random.permutation(np.flatnonzero(of_class))
            in_first_half[rows[: len(rows) // 2]] = True
        return cls(positive, in_first_half)

    @property
    def min_class_rows(self) -> int:
        """Rows of the class that has fewer."""
        n_positives = int(self.positive.sum())
        return min(n_positives, len(self.positive) - n_positives)


def reason_answer(column: TableColumn, answers: Answers) -> str | None:
    """Tell in words why a column tells the answer, or return None if it does not.

    A column tells the answer if it alone has an AUC above .98, or if all rows with one
    of its values, or all rows that have a value, are positive.

    Examples
    --------
    >>> from cape.examination._suspicious import read_column
    >>> positive = np.arange(200) < 100
    >>> answers = Answers.split(positive, np.random.RandomState(0))
    >>> reason_answer(read_column(np.where(positive, "late", "in time")), answers)
    'alone has an AUC of 1.000'
    >>> charge = np.where(np.arange(200) < 100, np.arange(200) % 7, np.nan)
    >>> reason_answer(read_column(charge), answers)
    'alone has an AUC of 1.000'
    """
    if answers.min_class_rows < _MIN_CLASS_ROWS:
        return None
    levels = _Levels.of(column)
    auc = _column_auc(column, levels, answers)
    if auc > _MAX_AUC:
        return f"alone has an AUC of {auc:.3f}"
    return _reason_all_positive(levels, answers.positive)


@dataclass(frozen=True)
class _Levels:
    """The different values of a column.

    Parameters
    ----------
    codes : ndarray of int of shape (n_samples,)
        The level of each row; 0 is missing.
    names : ndarray of float or of str, of shape (n_levels,)
        The value of each level, from code 1 on.
    """

    codes: np.ndarray
    names: np.ndarray

    @classmethod
    def of(cls, column: TableColumn) -> _Levels:
        """Find the levels of a column."""
        import pandas as pd

        # pandas gives missing values the code -1.
        codes, names = pd.factorize(column.values)
        return cls(codes + 1, names)


def _column_auc(column: TableColumn, levels: _Levels, answers: Answers) -> float:
    """Return how well a column alone tells the classes apart."""
    aucs = []
    if column.kind != "text":
        aucs.append(_number_auc(column.values, answers.positive))
    if column.kind == "text" or len(levels.names) <= _MAX_CODES:
        aucs.append(_level_auc(levels.codes, answers))
    return max(aucs)


def _number_auc(numbers: np.ndarray, positive: np.ndarray) -> float:
    """Return the AUC of numbers; small or large ones may be the positives.

    Missing values are a level of their own, below or above all numbers.
    """
    missing = np.isnan(numbers)
    aucs = [_auc(np.where(missing, -np.inf, numbers), positive)]
    if missing.any():
        aucs.append(_auc(np.where(missing, np.inf, numbers), positive))
    return max(max(aucs), 1 - min(aucs))


def _level_auc(codes: np.ndarray, answers: Answers) -> float:
    """Return the AUC of the share of positives of each level, out of sample.

    In the rows from which it was computed, this share has an AUC of 1 for every column
    without repeated values, identifiers for example. Leaving out the row itself does
    not help, because the share then is lower for a positive than for a negative of the
    same level. So each half is scored with the shares of the other half.
    """
    aucs = []
    for scored in (answers.in_first_half, ~answers.in_first_half):
        shares = _shares_of_levels(codes, answers.positive, ~scored)
        aucs.append(_auc(shares[codes[scored]], answers.positive[scored]))
    return float(np.mean(aucs))


def _shares_of_levels(
    codes: np.ndarray, positive: np.ndarray, counted: np.ndarray
) -> np.ndarray:
    """Return the share of positives of each level in the rows that are counted.

    One row with the share of all rows is added to every level, so that unknown levels
    have that share.
    """
    n_codes = codes.max() + 1
    overall = positive[counted].mean()
    rows = np.bincount(codes[counted], minlength=n_codes)
    positives = np.bincount(codes[counted & positive], minlength=n_codes)
    return (positives + overall) / (rows + 1)


def _auc(scores: np.ndarray, positive: np.ndarray) -> float:
    """Return the AUC of scores from the sum of the ranks of the positives."""
    ranks = rankdata(scores)
    n_positives = int(positive.sum())
    n_negatives = len(positive) - n_positives
    # The smallest sum that the ranks of the positives can have.
    smallest = n_positives * (n_positives + 1) / 2
    pairs_in_order = ranks[positive].sum() - smallest
    return float(pairs_in_order / (n_positives * n_negatives))


def _reason_all_positive(levels: _Levels, positive: np.ndarray) -> str | None:
    """Recognise what exists only where the answer is positive.

    Details of an event are known for those to whom it happened: a second flag, the
    number of the case, a charge. Such a column has a low AUC if it is filled in for a
    part of the positives. Only positives count: values that rule the event out (nobody
    below 16 is employed) are common, and known before.
    """
    share_negatives = 1 - positive.mean()
    if share_negatives < _MIN_SHARE_NEGATIVES:
        return None
    for words, in_part in _parts(levels):
        n_rows = int(in_part.sum())
        if n_rows * share_negatives < _MIN_EXPECTED_NEGATIVES:
            continue
        if positive[in_part].all():
            return f"all {n_rows:,} rows {words} are positive"
    return None


def _parts(levels: _Levels) -> list[tuple[str, np.ndarray]]:
    """Return the rows with a value, without one, and with each value if they are few.

    Returns
    -------
    list of pairs
        Which rows they are, in words and as an ndarray of bool of shape (n_samples,).
    """
    missing = levels.codes == 0
    parts = [
        ("with a value", ~missing),
        ("without a value", missing),
    ]
    if len(levels.names) <= _MAX_LEVELS:
        for code, name in enumerate(levels.names, start=1):
            parts.append((f"with {_level_name(name)}", levels.codes == code))
    return parts


def _level_name(name: object) -> str:
    """Write a level: a number in short, a text in quotes."""
    if isinstance(name, str):
        return repr(name[:40])
    return f"{name:g}"


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
    >>> from cape.examination._suspicious import read_column
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
