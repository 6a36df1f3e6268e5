"""Columns that tell the answer, most likely because they were filled in after it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from cape.diagnostics._table_column import TableColumn

__all__ = ["Answers", "reason_answer"]

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
    >>> from cape.diagnostics._table_column import read_column
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
