"""Labelled rows of all groups, and whether they are fit for training."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from cape.base._groups import Group, Groups, group_name
from cape.base._numbers import rows_text, shortened
from cape.base._validation import all_if_none, number_of_columns
from cape.shown import _results as words
from cape.training._group_model import GroupModel

_MOST_NAMES = 10


@dataclass(frozen=True)
class TrainingData:
    """Labelled rows of all groups.

    Parameters
    ----------
    X : table of n_rows rows
    y : ndarray of shape (n_rows,)
    classes : ndarray of shape (2,)
        The labels; the second is the positive one.
    weights : ndarray of shape (n_rows,) or None
    """

    X: Any
    y: np.ndarray
    classes: np.ndarray
    weights: np.ndarray | None

    @property
    def positive(self) -> Any:
        """The positive label."""
        return self.classes[1]

    @property
    def is_table(self) -> bool:
        """Whether X has columns; it may also be a list of texts or of dicts."""
        try:
            number_of_columns(self.X)
        except TypeError:
            return False
        return True

    @property
    def n_columns(self) -> int:
        """Columns of X; 1 if X is no table."""
        return number_of_columns(self.X) if self.is_table else 1

    def labels(self, rows: np.ndarray | None) -> np.ndarray:
        """Return the labels of the rows of a group; None means all rows."""
        return self.y[all_if_none(rows)]

    def prevalence(self, rows: np.ndarray | None) -> float:
        """Return the share of positives of a group, weighted if rows are."""
        is_positive = self.labels(rows) == self.positive
        return float(np.average(is_positive, weights=self.weights_of(rows)))

    def weights_of(self, rows: np.ndarray | None) -> np.ndarray | None:
        """Return the weights of the rows of a group, if there are any."""
        if self.weights is None:
            return None
        return self.weights[all_if_none(rows)]

    def worth_in(self, codes: np.ndarray) -> np.ndarray | None:
        """Return weights that add up, in each set, to the rows that they are worth.

        Parameters
        ----------
        codes : ndarray of int of shape (n_rows,)
            The set of each row.
        """
        if self.weights is None:
            return None
        sums = np.bincount(codes, self.weights)
        squares = np.bincount(codes, self.weights**2)
        factors = np.divide(sums, squares, out=np.zeros_like(sums), where=squares > 0)
        return self.weights * factors[codes]

    def has_unequal_weights(self, rows: np.ndarray | None) -> bool:
        """Whether rows of a group stand for different numbers of rows."""
        weights = self.weights_of(rows)
        return weights is not None and bool(np.ptp(weights) > 1e-9 * weights.max())


def kish_factor(weights: np.ndarray) -> float:
    """Return the factor that makes weights add up to the rows they are worth.

    That number is (sum w)^2 / sum w^2 (Kish 1965): intervals then count the noise that
    unequal weights add.
    """
    return float(weights.sum() / (weights @ weights))


def find_small_groups(
    data: TrainingData,
    groups: Groups,
    *,
    min_group_size: int,
    folds_needed: bool,
    small_groups: str,
) -> set[Group]:
    """Find the groups that are too small for a pool of their own.

    Parameters
    ----------
    data : TrainingData
    groups : Groups
    min_group_size : int
    folds_needed : bool
        Whether every class needs two rows, for two folds.
    small_groups : {"borrow", "pooled", "error"}
        What is done with small groups. They are an error with "error", or if even all
        rows together are too few.

    Returns
    -------
    set of Group
    """
    least = min_group_size
    least_together = min_group_size
    if small_groups == "borrow":
        # There is nobody to borrow from, and nothing but classes is needed.
        least_together = 1
        if len(groups.keys) == 1:
            least = 1
    reasons = {}
    for group, rows in groups.rows():
        why = _why_too_small(data, rows, least, folds_needed)
        if why:
            reasons[group] = why
    why = _why_too_small(data, None, least_together, folds_needed)
    if why and small_groups == "borrow":
        raise ValueError(
            f"y must hold two rows of each class, got {why}. Add rows of the rarer "
            "class: nothing can be learned of it from one."
        )
    # The pooled model is trained on all rows; it is no way out if they are too few.
    if reasons and (small_groups == "error" or why):
        listed = [f"{group_name(group)!r} has {why}" for group, why in reasons.items()]
        listed = shortened(listed, _MOST_NAMES)
        raise ValueError(
            f"every group must have at least min_group_size={min_group_size} rows and "
            f"enough of each class, got: {'; '.join(listed)}. Lower min_group_size, "
            "merge groups, or use small_groups='borrow'."
        )
    return set(reasons)


def _why_too_small(
    data: TrainingData, rows: np.ndarray | None, min_group_size: int, folds_needed: bool
) -> str:
    """Say why a group cannot have a pool of its own; empty if it can."""
    labels = data.labels(rows)
    weights = data.weights_of(rows)
    if weights is not None:
        # PP-SAMPLING never draws a row of weight 0.
        labels = labels[weights > 0]
    n_rows = len(labels)
    n_positive = int((labels == data.positive).sum())
    smaller_class = min(n_positive, n_rows - n_positive)
    if n_rows < min_group_size:
        return rows_text(n_rows)
    if smaller_class == 0:
        return f"{rows_text(n_rows)} of one class only"
    if smaller_class == 1 and folds_needed:
        return f"{rows_text(n_rows)} with 1 of the smaller class, too few for 2 folds"
    return ""


_Z = 1.96
"""Standard errors of a 95 % interval."""


_LOW_AUC = 0.6
"""Below, a little drift outweighs what scores tell of the prevalence. In the calls of
the bank (AUC .54 and .57) the share rose by .27, and intervals were 1 wide."""


_REVERSED_AUC = 0.3
"""Below, scores run the wrong way. Out-of-fold scores of labels by chance are a little
below .5: the fold that has more positives was trained on fewer."""


_PERFECT_AUC = 0.995
"""Above, a prefit model has most likely seen the rows."""


def warn_of_weak_groups(
    models: dict[Group, GroupModel], min_class_size: int, prefit: bool
) -> None:
    """Warn of groups whose estimates will be worth little, and say why."""
    few_rows = {}
    weak: dict[str, dict[Group, float]] = {why: {} for why in words.WEAK_SCORES}
    for group, model in models.items():
        if model.own is not None:
            # Its intervals count what the own rows do not tell.
            continue
        smaller_class = min(model.positives.size, model.negatives.size)
        if smaller_class < min_class_size:
            few_rows[group] = (model.size, smaller_class)
            continue
        auc = model.auc()
        error = _Z * model.auc_error()
        if auc < _REVERSED_AUC and auc + error < 0.5:
            weak["reversed"][group] = auc
        elif auc - error <= 0.5:
            weak["no signal"][group] = auc
        elif auc < _LOW_AUC:
            weak["weak"][group] = auc
        elif prefit and auc > _PERFECT_AUC:
            weak["perfect"][group] = auc
    if few_rows:
        text = words.few_rows_of_a_class(few_rows, min_class_size)
        warnings.warn(text, stacklevel=6)
    for why, aucs in weak.items():
        if aucs:
            warnings.warn(words.weak_scores(why, aucs), stacklevel=6)


_MOST_COPIES = 0.02
"""Share of rows that may be copies of others. Intervals are 1 % too narrow by then."""

_NEARLY_ALL = 0.95
"""Share of distinct values from which on a column is taken for a continuous one."""

_ENOUGH_ROWS = 30
"""Different rows of a class: that all of them are copied by chance is ruled out."""


def warn_of_duplicates(data: TrainingData, groups: Groups) -> None:
    """Warn if many rows are copies of other rows.

    Every copy counts as one more person, so that intervals are too narrow; and a row
    that is in all folds is tested by learners that have seen it. Where all columns have
    few levels, independent people are often equal. Copies are told from them by a
    column whose values are nearly all distinct once every row is counted once, in rows
    whose value no other row has; or by the numbers in which the rows of a class occur,
    if all are multiples of one number.

    Parameters
    ----------
    data : TrainingData
    groups : Groups
        The groups of the rows.
    """
    if not data.is_table or hasattr(data.X, "toarray"):
        return
    X = data.X
    if not isinstance(X, pd.DataFrame):
        X = pd.DataFrame(np.asarray(X), copy=False)
    labels = 2 * groups.codes.astype(np.int64) + (data.y == data.positive)
    try:
        n_repeated = _count_copies(X, labels)
    except TypeError:
        # Values that cannot be hashed, such as lists.
        return
    if n_repeated:
        warnings.warn(words.rows_are_repeated(n_repeated, len(groups)), stacklevel=6)


def _hashes(table: pd.DataFrame | pd.Series) -> np.ndarray:
    """Hash the rows of a table, or the values of a column; missing values are equal."""
    return pd.util.hash_pandas_object(table, index=False).to_numpy()


def _count_copies(X: pd.DataFrame, labels: np.ndarray) -> int:
    """Count the rows that occur more than once; 0 if they need not be copies."""
    # Rows of different labels are no copies.
    hashes = _hashes(X) + labels.astype(np.uint64)
    _, first, copies = np.unique(hashes, return_index=True, return_counts=True)
    n_rows = len(labels)
    if n_rows - len(first) <= _MOST_COPIES * n_rows:
        return 0
    # The last bit is the class; a class may be copied in one group or in all of them.
    by_group = _is_copied_whole(labels[first], copies)
    if by_group or _is_copied_whole(labels[first] % 2, copies):
        return int(copies[copies > 1].sum())
    unmistakable = _copies_of_measured(X.iloc[first], copies)
    if (unmistakable - 1).sum() <= _MOST_COPIES * n_rows:
        return 0
    return int(unmistakable[unmistakable > 1].sum())


def _is_copied_whole(labels: np.ndarray, copies: np.ndarray) -> bool:
    """Tell whether all rows of a class occur twice, or three times, or ...

    Of independent rows, about every second occurs an odd number of times: the chance
    that 30 different ones all occur an even number of times is 2^-30.
    """
    for label in np.unique(labels):
        of_class = copies[labels == label]
        if len(of_class) >= _ENOUGH_ROWS and np.gcd.reduce(of_class) > 1:
            return True
    return False


def _copies_of_measured(X: pd.DataFrame, copies: np.ndarray) -> np.ndarray:
    """Return how often those rows occur that a continuous column tells apart.

    Parameters
    ----------
    X : DataFrame
        Every row once.
    copies : ndarray of shape (n_rows,)
        How often each row occurs.

    Returns
    -------
    ndarray
        The numbers of the rows whose value in a continuous column no other row has.
        Rows without a value, or with a usual one such as 0, can be equal by chance.
        Empty if no column is continuous.
    """
    enough = _NEARLY_ALL * len(copies)
    best = copies[:0]
    for place in range(X.shape[1]):
        hashes = _hashes(X.iloc[:, place])
        _, code, rows = np.unique(hashes, return_inverse=True, return_counts=True)
        if len(rows) < enough:
            continue
        alone = copies[rows[code] == 1]
        if alone.sum() > best.sum():
            best = alone
    return best
