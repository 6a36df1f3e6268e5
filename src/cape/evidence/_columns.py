"""Counts of the columns of a table, which add up as counts of scores do.

Training cuts every column into a few cells, and counts them for each group and class.
A batch is counted in the same cells. Under prior shift each column of a batch is a
mixture of its two class histograms, all columns at the same prevalence; a column that
is not tells what else has moved.

A histogram gives no single person away: a level of a text column is named if at least
30 training rows have it, and the outer edges of a number are its tenth smallest and its
tenth largest value.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from cape.base._numbers import KINDS
from cape.base._validation import number_of_rows

MISSING = 0
"""The cell of missing values, in every column."""

FOREIGN = 1
"""The cell of values of another kind than training had."""

FIRST = 2
"""The first of the cells of the column's own kind."""


@dataclass(frozen=True)
class ColumnCells:
    """The cells of one column.

    Parameters
    ----------
    name : str
    kind : {"number", "date", "text", "mixed", "empty"}
        What training held. Dates are numbers, in seconds. "mixed" is counted as text.
        "empty" had no value at all.
    edges : ndarray of float32, default=()
        Numbers and dates: cell i holds the values x with ``edges[i - 1] <= x <
        edges[i]``. The first and the last cell lie outside the training range.
    median, lowest, highest : float, default=nan
        Numbers and dates: median of training, its tenth smallest and its tenth largest
        value.
    levels : tuple of str, default=()
        Text: the levels with a cell of their own. The last two cells are for the other
        levels of training and for levels never seen.
    hashes : bytes, default=b""
        Text: a bit for the hash of each rare level of training, so that they are known
        again but cannot be read.
    unseen_rate : float, default=0.0
        Text: share of rows of a batch that is expected to have levels never seen, by
        the share of levels that training has seen once (Good and Turing 1953).
    place : int, default=0
        Position of the column in the table.

    Examples
    --------
    >>> from cape.evidence._columns import TableCells
    >>> cells = TableCells.of(pd.DataFrame({"sex": ["F", "M"] * 40}))
    >>> cells.columns[0].levels
    ('F', 'M')
    """

    name: str
    kind: str
    edges: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.float32))
    median: float = float("nan")
    lowest: float = float("nan")
    highest: float = float("nan")
    levels: tuple[str, ...] = ()
    hashes: bytes = b""
    unseen_rate: float = 0.0
    place: int = 0

    @cached_property
    def units(self) -> list[tuple[float, int, int]]:
        """Changes of the unit that edges can tell.

        Each has a factor, and the places of the two edges between which the median
        then lies.
        """
        places = {float(edge): place for place, edge in enumerate(self.edges)}
        units = []
        for factor in UNITS:
            low, high = unit_window(self.median, factor)
            if low in places and high in places:
                units.append((factor, places[low], places[high]))
        return units

    @cached_property
    def below(self) -> np.ndarray:
        """The cells of numbers below the training range."""
        return FIRST + np.flatnonzero(self.edges <= self.lowest)

    @cached_property
    def above(self) -> np.ndarray:
        """The cells of numbers above the training range."""
        return FIRST + 1 + np.flatnonzero(self.edges > self.highest)

    @cached_property
    def strange(self) -> np.ndarray:
        """The cells of values that are no continuation of those of training.

        These are numbers far outside the training range, and texts never seen.
        """
        if self.kind == "empty":
            return np.empty(0, dtype=int)
        if not self.is_number:
            return np.array([self.n_cells - 1])
        low, high = far_window(self.kind, self.lowest, self.highest)
        far_below = FIRST + np.flatnonzero(self.edges <= low)
        far_above = FIRST + 1 + np.flatnonzero(self.edges >= high)
        return np.concatenate([far_below, far_above])

    @property
    def is_number(self) -> bool:
        """Whether cells are intervals of numbers."""
        return self.kind in ("number", "date")

    @property
    def n_cells(self) -> int:
        """Number of cells, those for missing and foreign values included."""
        if self.is_number:
            return FIRST + len(self.edges) + 1
        if self.kind == "empty":
            return FIRST
        return FIRST + len(self.levels) + 2

    def knows(self, level: str) -> bool:
        """Tell whether a rare level was seen in training, by its hash.

        Unseen levels share a hash with a rare one now and then; none is named by it.

        Parameters
        ----------
        level : str
            A value of the column.

        Returns
        -------
        bool
        """
        bits = 8 * len(self.hashes)
        if bits == 0:
            return False
        bit = hash_of(level) % bits
        return bool(self.hashes[bit // 8] >> (bit % 8) & 1)

    def cell_of(self, level: str) -> int:
        """Find the cell of a text: its own, that of rare levels, or the last one."""
        if level in self.levels:
            return FIRST + self.levels.index(level)
        return FIRST + len(self.levels) + (not self.knows(level))

    def fits(self, values: Column) -> bool:
        """Tell whether values are of the kind that training held."""
        if self.is_number:
            return values.kind == self.kind
        return self.kind == "mixed" or values.kind in ("text", "mixed")

    def to_json(self) -> dict[str, Any]:
        """Return the cells as JSON can hold them."""
        content: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.is_number:
            content["edges"] = self.edges.tolist()
            content["range"] = [self.lowest, self.median, self.highest]
        else:
            content["levels"] = list(self.levels)
            content["hashes"] = self.hashes.hex()
            content["unseen_rate"] = self.unseen_rate
        return content

    @classmethod
    def from_json(cls, content: Mapping[str, Any], place: int = 0) -> ColumnCells:
        """Read what `to_json` returned, of the column at a place."""
        unknown = float("nan")
        lowest, median, highest = content.get("range", [unknown] * 3)
        return cls(
            name=str(content["name"]),
            kind=str(content["kind"]),
            edges=np.array(content.get("edges", []), dtype=np.float32),
            median=float(median),
            lowest=float(lowest),
            highest=float(highest),
            levels=tuple(content.get("levels", ())),
            hashes=bytes.fromhex(content.get("hashes", "")),
            unseen_rate=float(content.get("unseen_rate", 0.0)),
            place=int(content.get("place", place)),
        )


def hash_of(level: str) -> int:
    """Hash a level: the same number on every machine."""
    return zlib.crc32(level.encode("utf-8", "surrogatepass"))


_FACTORS = (10.0, 60.0, 100.0, 1000.0)
"""Millimetres, minutes, per cent, thousands."""

UNITS = (*_FACTORS, *(1 / factor for factor in _FACTORS))
"""Factors between the units of a number before and after."""

_TOLERANCE = 1.25
"""Narrow enough to tell 60 from 100."""


def unit_window(median: float, factor: float) -> tuple[float, float]:
    """Return where the median of a batch lies if its unit changed by a factor.

    Parameters
    ----------
    median : float
        Median of training.
    factor : float

    Returns
    -------
    low, high : float
        In single precision, as edges are.

    Examples
    --------
    >>> unit_window(2.0, 10.0)
    (16.0, 25.0)
    """
    ends = [median * factor / _TOLERANCE, median * factor * _TOLERANCE]
    low, high = np.array(sorted(ends), dtype=np.float32)
    return float(low), float(high)


_FAR_BELOW = 0.25
_FAR_ABOVE = 0.5
"""Parts of the training range by which a number must lie outside to be far. Ages,
prices, dates and rates grow from year to year, and go less far: in 100 batches of 34
series, models did as well in rows a little above the range as in the others."""


def far_window(kind: str, lowest: float, highest: float) -> tuple[float, float]:
    """Return where numbers are not far outside the training range.

    A number of a sign that training has not seen is far, however near it is.

    Parameters
    ----------
    kind : {"number", "date"}
    lowest, highest : float
        The training range.

    Returns
    -------
    low, high : float
        In single precision, as edges are; numbers below ``low`` are far, and so are
        those from ``high`` on.

    Examples
    --------
    >>> far_window("number", 18.0, 90.0)
    (0.0, 126.00000762939453)
    """
    low = lowest - _FAR_BELOW * (highest - lowest)
    high = highest + _FAR_ABOVE * (highest - lowest)
    if kind == "number" and lowest >= 0:
        low = max(low, 0.0)
    if kind == "number" and highest <= 0:
        high = min(high, 0.0)
    above = np.nextafter(np.float32(high), np.float32(np.inf))
    return float(np.float32(low)), float(above)


class Column:
    """The values of one column of numpy or pandas."""

    def __init__(self, values: Any):
        import pandas as pd

        self._values = pd.Series(values)
        self.missing = self._values.isna().to_numpy()
        self.kind = _kind(self._values, self.missing)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def numbers(self) -> np.ndarray:
        """The values as float32, dates in seconds; missing values are NaN.

        Single precision is enough for cells, and twice as fast to compare.
        """
        with np.errstate(over="ignore"):
            return self._doubles().astype(np.float32)

    def _doubles(self) -> np.ndarray:
        import pandas as pd

        if self.kind == "date":
            moments = pd.to_datetime(self._values, utc=True).dt.tz_localize(None)
            whole = moments.to_numpy().astype("datetime64[s]").astype(np.int64)
            return np.where(self.missing, np.nan, whole)
        values = self._values
        if values.dtype.kind in "fiub" and isinstance(values.dtype, np.dtype):
            return values.to_numpy()
        return pd.to_numeric(values).to_numpy(dtype=np.float64, na_value=np.nan)

    def levels(self) -> tuple[np.ndarray, list[str]]:
        """Number the distinct values; -1 is missing."""
        try:
            place, distinct = self._values.factorize()
        except TypeError as error:
            raise ValueError(
                "X must hold one value per row and column, such as text or a number, "
                f"got another in column {self._values.name!r}: {error}."
            ) from None
        texts = []
        for value in distinct:
            # A gap in a column of whole numbers makes them floats.
            is_whole = isinstance(value, float) and value.is_integer()
            texts.append(str(int(value)) if is_whole else str(value))
        levels = {text: code for code, text in enumerate(dict.fromkeys(texts))}
        if len(levels) < len(texts):
            # 1, 1.0 and "1" are one level.
            codes = np.array([levels[text] for text in texts])
            place = np.where(self.missing, -1, codes[place])
        return place, list(levels)


def _kind(values: Any, missing: np.ndarray) -> str:
    """Tell what a column holds."""
    import pandas as pd

    if missing.all():
        return "empty"
    dtype = values.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "date"
    if pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if isinstance(dtype, pd.CategoricalDtype):
        texts = pd.api.types.infer_dtype(dtype.categories) == "string"
        return "text" if texts else "mixed"
    held = pd.api.types.infer_dtype(values, skipna=True)
    if held in ("string", "bytes"):
        return "text"
    if held in ("datetime", "datetime64", "date"):
        return "date"
    if held in ("integer", "floating", "mixed-integer-float", "boolean", "decimal"):
        return "number"
    return "mixed"


def column_names(X: Any) -> list[str]:
    """Name the columns of a table; empty if it has none that can be counted."""
    if hasattr(X, "columns") and hasattr(X, "shape"):
        return [str(name) for name in X.columns]
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return [f"x{position}" for position in range(X.shape[1])]
    return []


def take_column(X: Any, position: int) -> Column:
    """Take one column out of a table."""
    if hasattr(X, "iloc"):
        return Column(X.iloc[:, position])
    column = X[:, position]
    # A sparse batch of a model that was fitted on an array.
    return Column(column.toarray().ravel() if hasattr(column, "toarray") else column)


_QUANTILE_CELLS = 8
_ROWS_OF_AN_EDGE = 10
"""Rows that must lie on either side of the outer edges."""

_ROWS_OF_A_LEVEL = 30
_SHARE_OF_A_LEVEL = 0.02
_MOST_LEVELS = 11
"""Levels with a cell of their own, at most."""

_DOUBTFUL_LEVELS = 3
"""Levels, at most, of which luck decides whether they get a cell of their own."""

_MOST_HASHES = 8192
"""Bits that remember rare levels."""


def choose_cells(name: str, values: Column) -> ColumnCells:
    """Choose the cells of one training column."""
    if values.kind == "empty":
        return ColumnCells(name, "empty")
    if values.kind in ("number", "date"):
        return _number_cells(name, values.kind, values.numbers[~values.missing])
    place, distinct = values.levels()
    rows = np.bincount(place[place >= 0], minlength=len(distinct))
    return _text_cells(name, values.kind, distinct, rows)


def _number_cells(name: str, kind: str, numbers: np.ndarray) -> ColumnCells:
    """Choose the edges of a number: quantiles, the outer ones, those of other units."""
    numbers = np.sort(numbers)
    n = len(numbers)
    tenth = min(_ROWS_OF_AN_EDGE, (n + 1) // 2) - 1
    lowest = numbers[tenth]
    highest = numbers[n - 1 - tenth]
    median = numbers[(n - 1) // 2]
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    distinct = numbers[starts]
    rows = np.diff(np.append(starts, n))
    # Cells are closed on the left: what lies above the highest value starts just after.
    edges = [lowest, np.nextafter(highest, np.float32(np.inf))]
    if np.isfinite([lowest, highest]).all():
        edges += far_window(kind, float(lowest), float(highest))
    inner = _inner_edges(numbers, distinct, rows)
    edges += inner[(inner > lowest) & (inner <= highest)].tolist()
    # Columns of both signs, or of a few values, have no unit or cannot tell it.
    one_sign = numbers[n // 4] * numbers[3 * n // 4] > 0
    if kind == "number" and one_sign and len(distinct) > _QUANTILE_CELLS:
        for factor in UNITS:
            edges += unit_window(float(median), factor)
    return ColumnCells(
        name,
        kind,
        edges=np.unique(np.array(edges, dtype=np.float32)),
        median=float(median),
        lowest=float(lowest),
        highest=float(highest),
    )


def _inner_edges(
    numbers: np.ndarray, distinct: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Return edges between the outer ones: few values themselves, or quantiles."""
    if len(distinct) <= _QUANTILE_CELLS:
        return distinct[rows >= _ROWS_OF_AN_EDGE]
    parts = np.arange(1, _QUANTILE_CELLS) * len(numbers) // _QUANTILE_CELLS
    quantiles = numbers[parts]
    # A value that many rows share gets a cell of its own, which ends at the next value.
    repeated = np.unique(quantiles[1:][np.diff(quantiles) == 0])
    after = np.searchsorted(distinct, repeated, side="right")
    following = distinct[after[after < len(distinct)]]
    return np.concatenate([quantiles, following])


def _text_cells(
    name: str, kind: str, distinct: Sequence[str], rows: np.ndarray
) -> ColumnCells:
    """Choose the levels of a text column that get a cell of their own."""
    total = rows.sum()
    # By octaves of frequency, then by name: the most frequent of levels that are about
    # equally frequent would be a choice by luck, and a test of their cells would reject
    # too often.
    shares = _SHARE_OF_A_LEVEL * 2.0 ** np.arange(6)
    starts = np.array([_least_rows(rows, share * total) for share in shares])
    octaves = (rows[:, None] >= starts).sum(axis=1)
    eligible = np.flatnonzero(rows >= starts[0]).tolist()
    eligible.sort(key=lambda number: (-octaves[number], distinct[number]))
    levels = tuple(sorted(distinct[number] for number in eligible[:_MOST_LEVELS]))
    own = set(levels)
    rare = [level for level in distinct if level not in own]
    return ColumnCells(
        name,
        kind,
        levels=levels,
        hashes=_hash_levels(rare),
        unseen_rate=float(np.count_nonzero(rows == 1) / total),
    )


def _least_rows(rows: np.ndarray, wanted: float) -> float:
    """Return a number of rows that tells frequent levels from rare ones.

    It is at least 30, and near what is wanted, but not where many levels are about as
    frequent: those that have a few rows more than the others in training would be
    chosen, and expected too often in a batch. In simulations of 40 equal levels, 1,000
    training rows and 10,000 new ones, a test at 5 % then rejected 25 % of the batches.
    """
    wanted = max(wanted, _ROWS_OF_A_LEVEL)
    steps = np.arange(1, 50)
    nearest_first = np.column_stack([-steps, steps]).ravel()
    for cut in wanted * 1.1 ** np.concatenate([[0], nearest_first]):
        doubtful = np.abs(rows - cut) < 1.5 * cut**0.5
        if cut >= _ROWS_OF_A_LEVEL and doubtful.sum() <= _DOUBTFUL_LEVELS:
            return float(cut)
    return np.inf


def _hash_levels(levels: list[str]) -> bytes:
    """Set the bit of each level; ten bits for each level, at most 8,192."""
    if not levels:
        return b""
    wanted = min(10 * len(levels), _MOST_HASHES)
    bits = np.zeros(8 * -(-wanted // 8), dtype=np.uint8)
    for level in levels:
        bits[hash_of(level) % len(bits)] = 1
    return np.packbits(bits, bitorder="little").tobytes()


_MOST_UNSEEN = 20
"""Distinct unseen values of a column that a batch names."""


@dataclass(frozen=True, eq=False)
class ColumnCounts:
    """How many rows fall into each cell of each column.

    Parameters
    ----------
    counts : ndarray of shape (n_cells_of_all_columns,)
        The cells of the columns, one column after the other: int64, or float64 if
        training rows are weighted.
    unseen : mapping from int to mapping from str to int, default={}
        For text columns, by position: values never seen in training and their rows.
        Empty for a column with more than 20 of them.

    Examples
    --------
    >>> from cape.evidence._columns import TableCells
    >>> cells = TableCells.of(pd.DataFrame({"sex": ["F", "M"] * 40}))
    >>> batch = cells.count(pd.DataFrame({"sex": ["F", "male", None]}))
    >>> batch.counts.tolist(), batch.unseen
    ([1, 0, 1, 0, 0, 1], {0: {'male': 1}})
    """

    counts: np.ndarray
    unseen: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

    def __add__(self, other: ColumnCounts) -> ColumnCounts:
        self._check_fits(other)
        unseen = {}
        for column in sorted({*self.unseen, *other.unseen}):
            unseen[column] = _add_names(
                self.unseen.get(column), other.unseen.get(column)
            )
        return ColumnCounts(self.counts + other.counts, unseen)

    def __mul__(self, factor: float) -> ColumnCounts:
        return replace(self, counts=self.counts * factor)

    def __sub__(self, other: ColumnCounts) -> ColumnCounts:
        self._check_fits(other)
        counts = self.counts - other.counts
        if (counts < 0).any():
            raise ValueError("cannot subtract rows that were never added.")
        unseen = {}
        for column, names in self.unseen.items():
            left = _subtract_names(names, other.unseen.get(column, {}))
            if left or not names:
                unseen[column] = left
        return ColumnCounts(counts, unseen)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ColumnCounts):
            return NotImplemented
        same_counts = np.array_equal(self.counts, other.counts)
        return same_counts and self.unseen == other.unseen

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON can hold them."""
        unseen = []
        for column, names in self.unseen.items():
            unseen.append({"column": column, "names": dict(names)})
        return {"counts": self.counts.tolist(), "unseen": unseen}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ColumnCounts:
        """Read what `to_json` returned."""
        unseen = {entry["column"]: entry["names"] for entry in content["unseen"]}
        return cls(np.array(content["counts"]), unseen)

    def _check_fits(self, other: ColumnCounts) -> None:
        if len(self.counts) != len(other.counts):
            raise ValueError("column counts must have the same cells to add up.")


def _add_names(
    one: Mapping[str, int] | None, other: Mapping[str, int] | None
) -> dict[str, int]:
    """Add up the rows of unseen values; more than 20 values are not named."""
    if one is None or other is None:
        return dict(one or other or {})
    # An empty mapping stands for "too many to name".
    if not one or not other:
        return {}
    total = dict(one)
    for name, rows in other.items():
        total[name] = total.get(name, 0) + rows
    return few_names(total)


def few_names(names: Mapping[str, int]) -> dict[str, int]:
    if len(names) > _MOST_UNSEEN:
        return {}
    return {name: names[name] for name in sorted(names)}


def _subtract_names(names: Mapping[str, int], gone: Mapping[str, int]) -> dict:
    left = {}
    for name, rows in names.items():
        if rows > gone.get(name, 0):
            left[name] = rows - gone.get(name, 0)
    return left


_TYPES = {"number": "biuf", "date": "M", "text": "OUT"}
"""Types of numpy and pandas, by letter, that may be of the kind of a column."""

_MOST_COLUMNS = 500

_ROWS_AT_ONCE = 1 << 12
_COMPARISONS_AT_ONCE = 1 << 20
"""Comparisons of numbers with edges, a byte each, that stay in the cache."""

_FEW_SETS = 8
"""Sets of rows, at most, whose bits are counted faster than cells are looked up."""


@dataclass(frozen=True, eq=False)
class TableCells:
    """The cells of all columns of a table.

    Parameters
    ----------
    columns : tuple of ColumnCells

    Examples
    --------
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50] * 10, "sex": ["F", "M"] * 20})
    >>> cells = TableCells.of(table)
    >>> [column.name for column in cells.columns]
    ['age', 'sex']
    >>> cells.count(table[:3]) + cells.count(table[3:]) == cells.count(table)
    True
    """

    columns: tuple[ColumnCells, ...]

    @classmethod
    def of(cls, X: Any, skipped: Sequence[int] = ()) -> TableCells | None:
        """Choose the cells of a training table.

        Parameters
        ----------
        X : table
            From numpy or pandas.
        skipped : sequence of int, default=()
            Positions of columns that are not counted.

        Returns
        -------
        TableCells or None
            None if X has no columns that can be counted: a sparse matrix, or a list of
            texts. Of more than 500 columns the first 500 are counted.
        """
        names = column_names(X)
        places = [place for place in range(len(names)) if place not in skipped]
        if not places:
            return None
        columns = []
        for place in places[:_MOST_COLUMNS]:
            cells = choose_cells(names[place], take_column(X, place))
            columns.append(replace(cells, place=place))
        return cls(tuple(columns))

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the cells of each column start, and where the last one ends."""
        sizes = [column.n_cells for column in self.columns]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(int)

    def of_column(self, counts: np.ndarray, place: int) -> np.ndarray:
        """Return the cells of one column.

        Parameters
        ----------
        counts : array
            The cells of all columns, one after the other.
        place : int
            Which column, from 0.
        """
        return counts[self.starts[place] : self.starts[place + 1]]

    def by_column(self, counts: np.ndarray) -> np.ndarray:
        """Return the cells of all columns, each column in a row of its own.

        Parameters
        ----------
        counts : ndarray of shape (..., n_cells_of_all_columns)

        Returns
        -------
        ndarray of shape (..., n_columns, most_cells)
            With 0 beyond the cells of a column.
        """
        sizes = np.diff(self.starts)
        places = np.arange(sizes.max())
        padded = self.starts[:-1, None] + places
        padded[places >= sizes[:, None]] = self.starts[-1]
        nothing = np.zeros_like(counts[..., :1])
        return np.concatenate([counts, nothing], axis=-1)[..., padded]

    def count(self, X: Any) -> ColumnCounts:
        """Count the rows of a table in the cells of every column.

        Parameters
        ----------
        X : table
            With the columns of training, in their order; of more than 500 the first
            500 are counted.

        Returns
        -------
        ColumnCounts
        """
        everyone = np.zeros(number_of_rows(X), dtype=np.int64)
        return self.count_each(X, everyone, 1)[0]

    def count_each(
        self,
        X: Any,
        codes: np.ndarray,
        n_sets: int,
        weights: np.ndarray | None = None,
    ) -> list[ColumnCounts]:
        """Count several sets of rows of a table, such as those of groups and classes.

        Parameters
        ----------
        X : table
        codes : ndarray of int of shape (n_rows,)
            The set of each row, from 0.
        n_sets : int
        weights : ndarray of shape (n_rows,), default=None

        Returns
        -------
        list of ColumnCounts
            One for each set.
        """
        numbers = None
        if self.has_numbers(X):
            if weights is None and n_sets <= _FEW_SETS:
                return [*map(ColumnCounts, self._count_numbers(X, codes, n_sets))]
            numbers = self.codes(X)
        codes = codes.astype(np.intp)
        dtype = np.int64 if weights is None else np.float64
        counts = np.empty((n_sets, self.starts[-1]), dtype=dtype)
        unseen: list[dict[int, dict[str, int]]] = [{} for _ in range(n_sets)]
        for place, cells in enumerate(self.columns):
            if numbers is not None:
                found = numbers[:, place]
            else:
                found, levels = _codes(cells, take_column(X, cells.place))
                if levels is not None:
                    numbers_of_levels, distinct = levels
                    rows = found == cells.n_cells - 1
                    named = _name_unseen(codes[rows], numbers_of_levels[rows], distinct)
                    for code, names in named.items():
                        unseen[code][place] = few_names(names)
            in_sets = np.bincount(
                codes * cells.n_cells + found, weights, n_sets * cells.n_cells
            )
            self.of_column(counts.T, place)[:] = in_sets.reshape(n_sets, -1).T
        return [*map(ColumnCounts, counts, unseen)]

    def check_types(self, X: Any) -> None:
        """Raise if a column is of another type than in training.

        Values are looked at only where the type of the column does not tell.

        Parameters
        ----------
        X : table
        """
        if self.has_numbers(X):
            return
        is_frame = hasattr(X, "dtypes")
        dtypes = list(X.dtypes) if is_frame else [X.dtype] * X.shape[1]
        for cells in self.columns:
            # A column that was empty in training is read by no learner.
            types = _TYPES.get(cells.kind)
            if types is None or dtypes[cells.place].kind in types:
                continue
            values = take_column(X, cells.place)
            if values.kind != "empty" and not cells.fits(values):
                here = KINDS[values.kind]
                if values.kind == "mixed":
                    here = f"values of type {dtypes[cells.place]}"
                raise ValueError(
                    f"X must hold {KINDS[cells.kind]} in column {cells.name!r}, as in "
                    f"training, got {here}. Convert the column first."
                )

    def nothing(self) -> ColumnCounts:
        """Return the counts of no rows, the zero of the addition."""
        return ColumnCounts(np.zeros(self.starts[-1], dtype=np.int64))

    def codes(self, X: Any) -> np.ndarray:
        """Return the cell of every value, one byte each.

        Parameters
        ----------
        X : table

        Returns
        -------
        ndarray of uint8 of shape (n_rows, n_columns)
        """
        if self.has_numbers(X):
            reached = np.zeros((len(X), len(self.columns)), dtype=np.uint8)
            for start in range(0, len(X), _ROWS_AT_ONCE):
                block = slice(start, start + _ROWS_AT_ONCE)
                with np.errstate(over="ignore"):
                    values = X[block, _places(self.columns)].astype(np.float32)
                for edge in np.moveaxis(self._edges, 1, 0):
                    reached[block] += values >= edge[:, 0]
            # Missing values reach no edge at all.
            return reached + (reached > MISSING)
        codes = []
        for cells in self.columns:
            found, _ = _codes(cells, take_column(X, cells.place))
            codes.append(found.astype(np.uint8))
        return np.column_stack(codes)

    @cached_property
    def text(self) -> str:
        """The cells as JSON text, for `from_json`."""
        entries = []
        for place, column in enumerate(self.columns):
            entry = column.to_json()
            # Where columns are left out, places have to be told.
            if column.place != place:
                entry["place"] = column.place
            entries.append(entry)
        return json.dumps(entries)

    @classmethod
    def from_json(cls, text: str) -> TableCells:
        """Read cells from their ``text``."""
        columns = []
        for place, entry in enumerate(json.loads(text)):
            columns.append(ColumnCells.from_json(entry, place))
        return cls(tuple(columns))

    # A model file holds the cells as one text: an array for each column would make it
    # ten times as large.
    def __getstate__(self) -> dict[str, str]:
        return {"cells": self.text}

    def __setstate__(self, state: Mapping[str, str]) -> None:
        read = self.from_json(state["cells"])
        object.__setattr__(self, "columns", read.columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableCells):
            return NotImplemented
        return self.text == other.text

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TableCells({len(self.columns)} columns, {self.starts[-1]} cells)"

    def has_numbers(self, X: Any) -> bool:
        """Tell whether X is an array of numbers, and all columns were numbers, too."""
        is_array = type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiu"
        return is_array and all(column.kind == "number" for column in self.columns)

    @cached_property
    def _edges(self) -> np.ndarray:
        """The edges of all columns, of shape (n_columns, 1 + most_edges, 1).

        Numbers reach the first edge unless they are missing, and none that is NaN.
        """
        most_edges = max(len(column.edges) for column in self.columns)
        edges = np.full((len(self.columns), 1 + most_edges, 1), np.nan, np.float32)
        edges[:, 0] = -np.inf
        for column, of_column in zip(self.columns, edges, strict=True):
            of_column[1 : 1 + len(column.edges), 0] = column.edges
        return edges

    def _count_numbers(
        self, X: np.ndarray, codes: np.ndarray, n_sets: int
    ) -> np.ndarray:
        """Count sets of rows of an array: the fast twin of `count_each`."""
        edges = self._edges
        is_member = np.zeros((n_sets, 64 * (len(X) // 64 + 1)), dtype=bool)
        is_member[:, : len(X)] = codes == np.arange(n_sets)[:, None]
        members = np.packbits(is_member, axis=1).view(np.uint64)
        reached = np.zeros((n_sets, *edges.shape[:2]), dtype=np.int64)
        n_columns = max(_COMPARISONS_AT_ONCE // (_ROWS_AT_ONCE * edges.shape[1]), 1)
        for start in range(0, len(edges), n_columns):
            some = slice(start, start + n_columns)
            places = _places(self.columns[some])
            reached[:, some] = _count_reached(X, places, edges[some], members)
        missing = is_member.sum(axis=1)[:, None, None] - reached[:, :, :1]
        between = -np.diff(reached, axis=-1, append=0)
        counts = np.concatenate([missing, np.zeros_like(missing), between], axis=-1)
        sizes = np.diff(self.starts)
        return counts[:, np.arange(counts.shape[-1]) < sizes[:, None]]


def _places(columns: Sequence[ColumnCells]) -> Any:
    """Return the places of columns: a slice, which copies nothing, or a list."""
    places = [column.place for column in columns]
    if places[-1] - places[0] == len(places) - 1:
        return slice(places[0], places[-1] + 1)
    return places


def _count_reached(
    X: np.ndarray, places: Any, edges: np.ndarray, members: np.ndarray
) -> np.ndarray:
    """Count how many rows of each set reach the edges of some columns.

    Whether a number reaches an edge is one bit. The bits of the rows of a set are then
    counted, so that rows need not be copied out set by set.
    """
    counts = np.zeros((len(members), *edges.shape[:2]), dtype=np.int64)
    n_words = min(_ROWS_AT_ONCE // 64, members.shape[1])
    values = np.zeros((len(edges), 64 * n_words), dtype=np.float32)
    for start in range(0, members.shape[1], n_words):
        words = members[:, None, None, start : start + n_words]
        block = X[64 * start : 64 * (start + n_words), places]
        with np.errstate(over="ignore"):
            # Half the bytes are turned round in half the time.
            values[:, : len(block)] = block.astype(np.float32).T
        # Beyond the last row, no bit is that of a member.
        bits = np.packbits(values[:, None] >= edges, axis=-1).view(np.uint64)
        ones = np.bitwise_count(bits[..., : words.shape[-1]] & words)
        counts += ones.sum(axis=-1, dtype=np.int64)
    return counts


def _codes(cells: ColumnCells, values: Column) -> tuple[np.ndarray, Any]:
    """Find the cell of each value of a column, and number the texts of a text column.

    Returns
    -------
    codes : ndarray of int of shape (n_rows,)
    levels : tuple of ndarray and list, or None
        What `Column.levels` returned.
    """
    codes = np.full(len(values), FOREIGN, dtype=np.intp)
    levels = None
    if cells.kind == "empty":
        pass
    elif cells.is_number and cells.fits(values):
        codes = np.searchsorted(cells.edges, values.numbers, side="right") + FIRST
    elif cells.fits(values):
        place, distinct = levels = values.levels()
        of_level = [*map(cells.cell_of, distinct), MISSING]
        codes = np.array(of_level, dtype=np.intp)[place]
    codes[values.missing] = MISSING
    return codes, levels


def _name_unseen(
    sets: np.ndarray, place: np.ndarray, distinct: Sequence[str]
) -> dict[int, dict[str, int]]:
    """Count the texts of rows that training has never seen, by sets of rows."""
    pairs, rows = np.unique(sets * len(distinct) + place, return_counts=True)
    named: dict[int, dict[str, int]] = {}
    for pair, n in zip(pairs.tolist(), rows.tolist(), strict=True):
        code, number = divmod(pair, len(distinct))
        named.setdefault(code, {})[distinct[number]] = n
    return named
