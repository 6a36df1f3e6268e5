"""What can be said of a labelled table before anything is trained on it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype
from scipy import sparse
from scipy.stats import rankdata

from cape.base._groups import Groups, split_groups
from cape.base._numbers import unique_names
from cape.base._validation import (
    check_binary_labels,
    check_random_state,
    check_same_length,
    check_weights,
    pickable,
    take_columns,
    take_rows,
)
from cape.classifier import CapeClassifier
from cape.examination._examination import examine
from cape.shown import _check as words
from cape.shown._notebook import InNotebook

Reason = tuple[Any, ...]
"""A code, and the numbers that belong to it; `reason_text` has the words."""


class Finding(NamedTuple):
    """Something that a person should know before training.

    Parameters
    ----------
    kind : str
        A key of `cape.shown._check.KINDS`, which says what follows from it.
    column : str, int or None
        The column, by name or by its place in an array; None if it is no column.
    reason : tuple
        What was seen: a code and its numbers. Counts are of the rows that were looked
        at.
    """

    kind: str
    column: Any
    reason: Reason

    @property
    def effect(self) -> str:
        """What follows: "stop" training, "drop" the column, or "note"."""
        return words.KINDS[self.kind].effect

    @property
    def why(self) -> str:
        """What was seen, in words."""
        return words.reason_text(*self.reason)


@dataclass(frozen=True, repr=False)
class Check(InNotebook):
    """Result of `check`.

    Parameters
    ----------
    findings : tuple of Finding
        Columns in the order of the table, each of them once; then groups.
    rows : int
        Number of rows that were looked at.
    rows_in_table : int
        Number of rows of the table.
    groups : dict from str to dict
        Of each group its ``rows`` and ``prevalence`` among those that were looked at.
    expected : dict or None
        What to expect of a next table: a model was trained on ``rows`` of these rows
        and adapted to as many others. The ``auc`` of its scores, and for each of
        ``groups`` the ``width`` of the interval of its prevalence, the ``action``
        and the ``labels`` asked for. Empty if there are too few rows, None if nobody
        asked or a finding stops training.
    """

    findings: tuple[Finding, ...]
    rows: int
    rows_in_table: int
    groups: Mapping[str, Mapping[str, float]]
    expected: Mapping[str, Any] | None

    @property
    def columns(self) -> list[Any]:
        """The columns to leave out, as ``DataFrame.drop`` takes them."""
        return [one.column for one in self.findings if one.effect == "drop"]

    def table(self) -> pd.DataFrame:
        """Return the findings as a data frame.

        Returns
        -------
        DataFrame
            Indexed by column, with ``kind``, ``effect`` and ``why``.
        """
        rows = [(one.column, one.kind, one.effect, one.why) for one in self.findings]
        frame = pd.DataFrame(rows, columns=["column", "kind", "effect", "why"])
        return frame.set_index("column")

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a dict that JSON can hold.

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
            "groups": {name: dict(facts) for name, facts in self.groups.items()},
            "expected": dict(self.expected or {}),
        }

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        return words.check_shown(self)


def check(
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    expect: bool = True,
    max_rows: int = 10_000,
    random_state: Any = 0,
) -> Check:
    """Look at a labelled table before training on it.

    A model must not learn from these columns:

    - constants, and columns without any value,
    - row numbers,
    - columns that give the answer away: the column alone has an AUC above .98, or all
      rows with one of its values are positive. It was probably filled in after the
      answer was known,
    - dates, times, recent years and numbered periods, also as text or numbers: those of
      a later batch come after all of training,
    - identifiers: text in which nearly all values are different, whole numbers that
      were given out once or follow the order of the rows, and names and numbers of
      persons or things that come in several rows,
    - free text.

    A finding is a suspicion. It is based on values, and on the name of a column only
    for numbered periods and identifiers that come again. A table without findings may
    still give the answer away in a combination of columns.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        The features: numpy, a list of rows, pandas or polars.
    y : array-like of shape (n_samples,)
        Labels of two classes; the greater is the positive one.
    sensitive_features : array-like or table of shape (n_samples,), default=None
        The groups, as for `CapeClassifier`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, for prevalences and what to expect.
    expect : bool, default=True
        Whether to train a model on a part of the rows, to say what to expect.
    max_rows : int, default=10000
        A longer table is searched in a random sample of this many rows, in the order of
        the table.
    random_state : int, RandomState or None, default=0
        Seed of the sample, and of the halves in which the AUC of text is computed.

    Returns
    -------
    Check

    Raises
    ------
    ValueError
        If X is sparse or no table, if the lengths differ, or if there are not two
        classes.

    Examples
    --------
    >>> import cape
    >>> X = train.data.assign(
    ...     case=range(2000), again=2 * train.target, day=pd.Timestamp("2013-08-14")
    ... )
    >>> found = cape.check(X, train.target, expect=False)
    >>> found
    3 columns to leave out, of 2,000 rows
    column              kind
    case          row number
    again   tells the answer
    day             constant
      case: goes up by one in each row
      again: has an AUC of 1.000 on its own
      day: has a single value
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
    groups = split_groups(X, sensitive_features, None, "group")[1]
    weights = check_weights(sample_weight, X)
    if max_rows < 1:
        raise ValueError(f"max_rows must be at least 1, got {max_rows!r}.")
    random = check_random_state(random_state)
    rows = np.arange(n_rows)
    whole = X
    if n_rows > max_rows:
        rows = np.sort(random.choice(n_rows, max_rows, replace=False))
        X = take_rows(X, rows)
    positive = positive[rows]
    weights = None if weights is None else weights[rows]
    in_first_half = _split_in_halves([positive], random)
    findings = []
    strengths = []
    names = X.columns if hasattr(X, "columns") else range(X.shape[1])
    for place, name in enumerate(names):
        column = _read_column(name, take_columns(X, place))
        strength, answer = _reason_answer(column, positive, in_first_half)
        strengths.append(strength)
        # The first thing that is wrong counts. In a table that is sorted by the label,
        # row numbers tell the answer; details of an event may be dates or identifiers,
        # and that they tell the answer is worse.
        reasons = {
            "constant": _reason_constant(column, whole, place),
            "row number": _reason_row_number(column, rows),
            "tells the answer": answer,
            "date": _reason_date(column),
            "identifier": _reason_identifier(column, n_rows / len(rows)),
            "free text": _reason_free_text(column),
        }
        for kind, reason in reasons.items():
            if reason is not None:
                findings.append(Finding(kind, name, reason))
                break
    groups = Groups(groups.codes[rows], groups.keys)
    findings += _look_at_groups(groups, positive, n_rows)
    dropped = {one.column for one in findings}
    kept = [place for place, name in enumerate(names) if name not in dropped]
    kept = sorted(kept, key=lambda place: -strengths[place])[:_MOST_COLUMNS]
    expected = None
    if expect and kept and not any(one.effect == "stop" for one in findings):
        X = take_columns(X, sorted(kept))
        expected = _expect(X, positive, groups, weights, random)
    shares = {}
    for key, name in unique_names(groups.keys).items():
        in_group = groups.codes == groups.keys.index(key)
        of_group = positive[in_group]
        if len(of_group):
            worth = None if weights is None else weights[in_group]
            share = float(np.average(of_group, weights=worth))
            shares[name] = {"rows": len(of_group), "prevalence": share}
    return Check(tuple(findings), len(rows), n_rows, shares, expected)


# Reading a column


class Column(NamedTuple):
    """A column, and what it holds: "number", "date" or "text".

    Categories and flags are text. Numbers and dates are floats, NaN where missing; text
    is str, None where missing. Codes are places among the levels, from 1 on; 0 is
    missing.
    """

    name: str
    holds: str
    values: np.ndarray
    codes: np.ndarray
    levels: np.ndarray


# What pandas calls the dates of Python in a column of objects.
_DATE_OBJECTS = ("date", "datetime", "datetime64", "period")


def _read_column(name: Any, values: Any) -> Column:
    """Read a column of an array or of pandas."""
    # A table of mixed types has come as an array of objects.
    series = pd.Series(values).reset_index(drop=True).infer_objects()
    if series.dtype.kind == "m":
        series = series.dt.total_seconds()
    dates = _as_dates(series)
    is_number = is_numeric_dtype(series.dtype) and not is_bool_dtype(series.dtype)
    if dates is not None:
        # Moments as numbers in their order; the unit does not matter.
        holds = "date"
        moments = dates.astype("int64").to_numpy()
        array = np.where(dates.isna(), np.nan, moments)
    elif is_number or series.isna().all():
        holds = "number"
        array = series.to_numpy("float64", na_value=np.nan)
    else:
        # Any object has a text, also a list, which could not be counted.
        holds = "text"
        array = series.astype(object).map(str).to_numpy(dtype=object)
        array[series.isna()] = None
    codes, levels = pd.factorize(array)
    return Column(str(name), holds, array, codes + 1, levels)


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


def _words_of_name(name: str) -> list[str]:
    """Split the name of a column: "customerId" and "customer_id" are two words."""
    return re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())


# Constants, row numbers and identifiers: a later batch has other numbers and names

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


def _reason_constant(column: Column, table: Any, place: int) -> Reason | None:
    """Recognise a column of one value, or of none, in all rows of the table."""
    n_values = len(column.levels) + bool((column.codes == 0).any())
    if n_values > 1 or not n_values:
        return None
    # In a sample, a rare value may be missing.
    if pd.Series(take_columns(table, place)).astype(str).nunique() > 1:
        return None
    return ("single", column.levels[0]) if len(column.levels) else ("empty",)


def _reason_row_number(column: Column, rows: np.ndarray) -> Reason | None:
    """Recognise numbers that go up by one from row to row of the whole table."""
    if column.holds != "number" or len(rows) < _MIN_ROWS:
        return None
    offsets = column.values - rows
    # A missing value has no offset, and differs from the first.
    return ("counts",) if (offsets == offsets[0]).all() else None


# Of fewer rows, whole numbers of a wide range are mostly different, whatever they are.
_MIN_ROWS_OF_NUMBERS = 200

# Kolmogorov's distance; 200 values that are drawn evenly stay below .1 in 97 of 100
# draws. Log-normal and normal values are at least .2 away.
_MAX_DISTANCE = 0.1


def _reason_identifier(column: Column, scale: float) -> Reason | None:
    """Recognise what identifies rows, or persons that have several rows.

    Text identifies rows if nearly all its values are different, unless it consists of
    sentences. Whole numbers identify rows if they are all different and in the order
    of the rows, if hardly any value comes twice although their range is so narrow that
    measurements would have to repeat, or if nearly all are different and spread evenly
    over their range. Amounts of money are not spread evenly. Numbers with decimals are
    measurements, and all of them may be different.
    """
    present = column.values[column.codes > 0]
    n = len(present)
    if n < _MIN_ROWS or column.holds == "date":
        return None
    n_distinct = len(column.levels)
    nearly_all_differ = n_distinct >= _MIN_SHARE_DISTINCT * n
    if column.holds == "text":
        if _words_of_values(present) >= _MIN_WORDS_OF_SENTENCES:
            return None
        if nearly_all_differ:
            return "differ", n_distinct, n
        return _reason_repeated(column, n * scale)
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
    counts = np.bincount(column.codes)[1:]
    pairs = (counts * (counts - 1) / 2).sum()
    few_pairs = pairs <= _MAX_SHARE_OF_PAIRS * expected_pairs
    if expected_pairs >= _MIN_EXPECTED_PAIRS and few_pairs:
        return "differ", n_distinct, n, float(n_possible)
    if n >= _MIN_ROWS_OF_NUMBERS and nearly_all_differ:
        even = (np.sort(present) - low) / (high - low)
        distance = np.abs(even - np.linspace(0, 1, n)).max()
        return ("differ", n_distinct, n) if distance <= _MAX_DISTANCE else None
    return _reason_repeated(column, n * scale)


def _words_of_values(texts: np.ndarray) -> float:
    return float(np.median([len(text.split()) for text in texts[:1000]]))


# The last word of a name that numbers things, or the whole name of such a column.
_LAST_WORDS = {"id", "ids", "uuid", "guid", "nr", "no", "nummer", "number", "num"}
_LAST_WORDS |= {"ref", "reference", "key", "kennung", "identifier", "code", "idcode"}
_PERSONS = {"patient", "person", "subject", "customer", "client", "kunde", "member"}
_PERSONS |= {"participant", "individual", "account", "household", "student", "pupil"}
_PERSONS |= {"employee", "user", "username", "name", "email", "phone", "case", "panel"}

# Fewer values are levels of a category, such as branches, and so are values that have
# more rows: they come again in the next table.
_FEWEST_NAMES = 20
_MOST_ROWS_OF_NAME = 20

# A form such as AA-99999 of nearly all values, with three digits together.
_MIN_CODES = 50
_MIN_SHARE_OF_FORM = 0.95


def _reason_repeated(column: Column, n_rows: float) -> Reason | None:
    """Recognise what identifies persons or things that come in several rows.

    Either the name of the column says so, or the rows of each value stand together, or
    the text of all values has one form, with digits, such as P-00123.
    """
    n_distinct = len(column.levels)
    if n_distinct < _FEWEST_NAMES or n_rows > _MOST_ROWS_OF_NAME * n_distinct:
        return None
    reason = "comes again", n_distinct, round(n_rows)
    words_of_name = _words_of_name(column.name) or [""]
    last = words_of_name[-1]
    called = last in _LAST_WORDS or last.endswith("nummer") or words_of_name[0] == "id"
    if called or (len(words_of_name) == 1 and last in _PERSONS):
        return reason
    if n_distinct < _MIN_CODES:
        return None
    if column.holds == "text":
        forms = pd.Series(column.levels).str.replace(r"\d", "9", regex=True)
        forms = forms.str.replace(r"[^\W\d_]", "A", regex=True)
        form = forms.mode()[0]
        is_code = (forms == form).mean() >= _MIN_SHARE_OF_FORM and "999" in form
        return ("codes", n_distinct, round(n_rows), form) if is_code else None
    # Numbers that fill their range, each value in a block of rows: a panel.
    present = column.codes[column.codes > 0]
    blocks = 1 + np.count_nonzero(np.diff(present))
    fills = column.levels.max() - column.levels.min() + 1 == n_distinct
    return reason if blocks == n_distinct and fills else None


def _reason_free_text(column: Column) -> Reason | None:
    """Recognise sentences."""
    present = column.values[column.codes > 0]
    if column.holds != "text" or len(present) < _MIN_ROWS:
        return None
    if len(column.levels) < len(present) / 2:
        return None
    n_words = _words_of_values(present)
    return ("words", n_words) if n_words >= _MIN_WORDS_OF_SENTENCES else None


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


def _split_in_halves(
    classes: Sequence[np.ndarray], random: np.random.RandomState
) -> np.ndarray:
    """Split rows into halves at random; return who is in the first.

    Both halves have the same share of each class, and of each combination of them.
    """
    order = random.permutation(len(classes[0]))
    order = order[np.lexsort([of_rows[order] for of_rows in classes])]
    in_first_half = np.zeros(len(order), dtype=bool)
    in_first_half[order[::2]] = True
    return in_first_half


def _reason_answer(
    column: Column, positive: np.ndarray, in_first_half: np.ndarray
) -> tuple[float, Reason | None]:
    """Return the AUC of a column, and why it tells the answer if it does.

    A column tells the answer if it alone has an AUC above .98, or if all rows with one
    of its values, or all rows that have a value, are positive.
    """
    if min(positive.sum(), (~positive).sum()) < _MIN_CLASS_ROWS:
        return 0.5, None
    aucs = []
    if column.holds != "text":
        aucs.append(_number_auc(column.values, positive))
    if column.holds == "text" or len(column.levels) <= _MAX_CODES:
        aucs.append(_level_auc(column.codes, positive, in_first_half))
    auc = max(aucs)
    if auc > _MAX_AUC:
        return auc, ("auc", auc)
    return auc, _reason_all_positive(column, positive)


def _number_auc(numbers: np.ndarray, positive: np.ndarray) -> float:
    """Return the AUC of numbers; small or large ones may be the positives.

    Missing values are a level of their own, below or above all numbers.
    """
    missing = np.isnan(numbers)
    aucs = [_auc(np.where(missing, -np.inf, numbers), positive)]
    if missing.any():
        aucs.append(_auc(np.where(missing, np.inf, numbers), positive))
    return max(max(aucs), 1 - min(aucs))


def _level_auc(
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


def _reason_all_positive(column: Column, positive: np.ndarray) -> Reason | None:
    """Recognise what exists only where the answer is positive.

    Details of an event are known for those to whom it happened: a second flag, the
    number of the case, a charge. Such a column has a low AUC if it is filled in for a
    part of the positives. Only positives count: values that rule the event out (nobody
    below 16 is employed) are common, and known before.
    """
    share_negatives = 1 - positive.mean()
    if share_negatives < _MIN_SHARE_NEGATIVES:
        return None
    codes = column.codes
    parts: list[tuple[tuple[Any, ...], np.ndarray]] = [
        (("with a value",), codes > 0),
        (("without a value",), codes == 0),
    ]
    if len(column.levels) <= _MAX_LEVELS:
        for code, level in enumerate(column.levels, start=1):
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


# Words that name a period, and how many there are until they come again.
_PERIODS = {"year": 0, "yr": 0, "jahr": 0, "annee": 0, "period": 0, "periode": 0}
_PERIODS |= {"wave": 0, "welle": 0, "fy": 0, "season": 0, "saison": 0}
_PERIODS |= {"jahrgang": 0, "cohort": 0, "vintage": 0}
_PERIODS |= {"month": 12, "monat": 12, "quarter": 4, "quartal": 4, "semester": 2}
_PERIODS |= {"week": 52, "woche": 52, "kw": 52}

# Beside these words they name an age, a duration or a rate.
_NO_PERIODS = re.compile(r"birth|geburt|born|built|bau|(?:^|_)(?:age|per)(?:_|$)")
_MOST_PERIODS = 60

# Periods as text that are no dates: 2023-Q1, Q1 2023, KW 5/2023, 2021/22, Jan 2023.
_TEXT_PERIOD = (
    r"(?i)(?:19|20)\d\d\W?(?:[QHSWT]|KW|FY)\W?\d{1,2}"
    r"|(?:[QHST]|KW|WS|SS|FY)\W?(?:\d{1,2}\W{1,2})?(?:19|20)?\d\d"
    r"|(?:19|20)\d\d[/-](?:19|20)?\d\d"
    r"|(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])\D{0,8}(?:20)?\d\d"
)


def _reason_date(column: Column) -> Reason | None:
    """Tell why a column holds dates, or return None if it does not.

    Dates are also recognised where they are written as text (14/08/2013), as whole
    numbers (20130814, 201308), or as seconds since 1970 or a fraction of them. Years
    that lie close together will be followed by others. A month or a time of day alone
    is no date: it can come again.
    """
    if column.holds == "date":
        return ("dates",)
    distinct = column.levels[:_MAX_VALUES]
    if column.holds == "text":
        numbers = pd.to_numeric(pd.Series(distinct), errors="coerce").to_numpy(float)
        return _reason_text(distinct) or _reason_numbers(column.name, numbers)
    if len(distinct) < _MIN_DISTINCT_NUMBERS:
        return _reason_numbers(column.name, distinct)
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
    return _reason_numbers(column.name, distinct)


def _reason_numbers(name: str, distinct: np.ndarray) -> Reason | None:
    """Recognise the years in which rows were recorded, and numbered periods."""
    is_whole = np.isfinite(distinct).all() and (distinct % 1 == 0).all()
    if len(distinct) < 2 or not is_whole or _NO_PERIODS.search(name.lower()):
        return None
    first, last = int(distinct.min()), int(distinct.max())
    if _YEARS[0] <= first and last < min(_YEARS[1], first + _MOST_YEARS):
        return "years", first, last
    cycles = [_PERIODS[part] for part in _words_of_name(name) if part in _PERIODS]
    if not cycles:
        return None
    # All periods from the first to the last: 17, 18, 19; but not the months of a year.
    in_row = last - first + 1 == len(distinct) <= _MOST_PERIODS
    comes_again = 0 < cycles[0] <= len(distinct)
    return ("periods", first, last) if in_row and not comes_again else None


def _reason_text(distinct: np.ndarray) -> Reason | None:
    """Try the formats one by one."""
    text = pd.Series(distinct, dtype=str)
    # Most columns of text have no digits, and need not be tried with all formats.
    if not text.str.contains(r"\d").mean() >= _MIN_SHARE_OF_DATES:
        return None
    text = text.str.strip()
    if len(text) > 1 and text.str.fullmatch(_TEXT_PERIOD).mean() >= _MIN_SHARE_OF_DATES:
        return ("text as periods",)
    days = text.str.replace(_TIME_OF_DAY, "", regex=True)
    for format_ in _TEXT_FORMATS:
        if _share_of_dates(days, format_) >= _MIN_SHARE_OF_DATES:
            return "text as dates", format_
    return None


def _share_of_dates(text: pd.Series, format_: str) -> float:
    """Return the share of texts that are dates of a format."""
    dates = pd.to_datetime(text, format=format_, errors="coerce")
    return float(dates.notna().mean())


# Groups, and what to expect

_MANY_GROUPS = 100
_ROWS_OF_A_GROUP = 30
_GROUPS_FOR_A_ROW = 50
_SMALL_GROUP = 30
"""As `min_group_size` of `CapeClassifier`."""


def _look_at_groups(groups: Groups, positive: np.ndarray, n_rows: int) -> list[Finding]:
    """Find groups that are too many or too small."""
    n_groups = len(groups.keys)
    # 500 groups need ten rows each, and thousands of groups thirty. Nothing could be
    # told of fewer, and time and memory grow with the number of groups.
    enough = min(_ROWS_OF_A_GROUP, n_groups / _GROUPS_FOR_A_ROW)
    if n_groups > _MANY_GROUPS and n_rows < n_groups * enough:
        return [Finding("groups", None, ("many groups", n_groups, n_rows))]
    small = []
    names = unique_names(groups.keys)
    for code, key in enumerate(groups.keys):
        of_group = positive[groups.codes == code]
        scale = n_rows / len(groups.codes)
        is_small = len(of_group) * scale < _SMALL_GROUP
        if is_small or of_group.all() or not of_group.any():
            small.append(names[key])
    if small and n_groups > 1:
        return [Finding("small groups", None, ("small groups", *small))]
    return []


_MOST_COLUMNS = 100
_ROWS_TO_EXPECT = 4000
_MOST_GROUPS = 12
_FEWEST_TO_EXPECT = 100


def _expect(
    X: Any,
    positive: np.ndarray,
    groups: Groups,
    weights: np.ndarray | None,
    random: np.random.RandomState,
) -> dict[str, Any]:
    """Train on half of some rows, adapt to the other half, and say what came of it."""
    rows = np.sort(random.permutation(len(positive))[:_ROWS_TO_EXPECT])
    # Of many groups, the largest.
    counts = np.bincount(groups.codes, minlength=len(groups.keys))
    largest = np.argsort(-counts)[:_MOST_GROUPS]
    rows = rows[np.isin(groups.codes[rows], largest)]
    codes = groups.codes[rows]
    names = np.array([*unique_names(groups.keys).values()], dtype=object)[codes]
    labels = positive[rows]
    in_first_half = _split_in_halves([labels, codes], random)
    train, batch = np.flatnonzero(in_first_half), np.flatnonzero(~in_first_half)
    fewest = min(labels.sum(), (~labels).sum())
    if len(rows) < _FEWEST_TO_EXPECT or fewest < _MIN_CLASS_ROWS:
        return {}
    clf = CapeClassifier(random_state=0, unknown_groups="pooled")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        halves = []
        for half in (train, batch):
            given = {"X": take_rows(X, rows[half]), "sensitive_features": names[half]}
            if weights is not None:
                given["sample_weight"] = weights[rows[half]]
            halves.append(given)
        clf.fit(**halves[0], y=labels[train])
        seen = examine(clf, **halves[1])
        actions = seen.action.to_dict()["groups"]
    of_groups = {}
    for facts, action in zip(seen.facts(), actions, strict=True):
        of_groups[facts["group"]] = {
            "width": facts["high"] - facts["low"],
            "action": action["code"],
            "labels": action["labels"],
        }
    aucs = [model.auc() for model in clf.models_.values()]
    auc = float(np.nanmean(aucs)) if np.isfinite(aucs).any() else None
    return {"rows": len(train), "auc": auc, "groups": of_groups}
