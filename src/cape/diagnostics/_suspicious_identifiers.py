"""Columns that number or name the rows: a later batch has other numbers and names."""

from __future__ import annotations

import numpy as np

from cape.diagnostics._table_column import TableColumn

__all__ = ["reason_identifier", "reason_row_number"]

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
    >>> from cape.diagnostics._table_column import read_column
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
    >>> from cape.diagnostics._table_column import read_column
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
        return _reason_text(present)
    # Infinity is no whole number either.
    is_whole = np.isfinite(present).all() and (present % 1 == 0).all()
    if column.kind == "number" and is_whole:
        return _reason_in_order(present) or _reason_without_repeats(present)
    return None


def _reason_text(present: np.ndarray) -> str | None:
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
