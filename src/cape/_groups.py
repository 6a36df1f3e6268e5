"""Groups: reading them, naming them, and finding the rows of each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_features

from cape._validation import check_same_length, number_of_rows

__all__ = [
    "EVERYONE",
    "Group",
    "Groups",
    "check_groups",
    "everyone",
    "group_from_json",
    "group_name",
    "group_to_json",
    "sorted_groups",
    "split_columns",
    "split_groups",
]

Group = Hashable

EVERYONE = "everyone"
"""The name of the one group there is when no sensitive feature is given."""


@dataclass(frozen=True)
class Groups:
    """The group of each row: ``keys[codes[i]]`` is the group of row i; keys are sorted and all occur.

    A key is one value, or a tuple with one value a column when there are several sensitive columns.
    """

    codes: np.ndarray
    keys: list[Group]

    def __len__(self) -> int:
        return len(self.codes)

    def rows(self) -> list[tuple[Group, np.ndarray | None]]:
        """Each group with its rows in ascending order; ``None`` stands for all rows when there is one group."""
        if len(self.keys) == 1:
            return [(self.keys[0], None)]
        return list(zip(self.keys, self.rows_between(0, len(self)), strict=True))

    def rows_between(self, start: int, stop: int) -> list[np.ndarray]:
        """For each key where its rows are after ``start`` and before ``stop``, in ascending order, if there are any."""
        codes = self.codes[start:stop]
        if len(self.keys) <= 4:
            return [np.flatnonzero(codes == code) for code in range(len(self.keys))]
        order = np.argsort(codes, kind="stable")  # by radix, since codes have few bits
        return np.split(
            order, np.cumsum(np.bincount(codes, minlength=len(self.keys)))[:-1]
        )


def split_groups(
    X: Any, sensitive_features: Any, group_columns: Any
) -> tuple[Any, Groups]:
    """The features that the estimator sees, and the group of each row."""
    if group_columns is None:
        if sensitive_features is None:
            return X, everyone(number_of_rows(X))
        return X, check_groups(sensitive_features)
    if sensitive_features is not None:
        raise ValueError(
            "sensitive_features must be None when group_columns names columns of X; got both."
        )
    features, columns = split_columns(X, group_columns)
    return features, check_groups(columns, "group_columns")


def split_columns(X: Any, columns: Any, name: str = "group_columns") -> tuple[Any, Any]:
    """Take columns (names, or integers for arrays) out of X; gives the rest and the columns."""
    wanted = [columns] if isinstance(columns, (str, Integral)) else list(columns)
    if not wanted:
        raise ValueError(f"{name} must name at least one column, got none.")
    if hasattr(X, "columns"):
        names = list(X.columns)
        unknown = [column for column in wanted if column not in names]
        places = [names.index(column) for column in wanted if column in names]
    else:
        n_columns = _num_features(X)
        unknown = [
            c
            for c in wanted
            if not isinstance(c, Integral) or not -n_columns <= c < n_columns
        ]
        places = [int(c) % n_columns for c in wanted if c not in unknown]
        names = list(range(n_columns))
    if unknown:
        raise ValueError(
            f"{name} must be columns of X, among {names[:20]}, got {unknown}."
        )
    rest = [place for place in range(len(names)) if place not in places]
    X = np.asarray(X) if isinstance(X, list) else X
    return _safe_indexing(X, rest, axis=1), _safe_indexing(X, places, axis=1)


def check_groups(sensitive_features: Any, name: str = "sensitive_features") -> Groups:
    """Read groups from an array, a Series, a list, or a table of several columns (pandas, polars, numpy)."""
    columns = [
        _factorize(column, name) for column in _columns(sensitive_features, name)
    ]
    check_same_length(**{f"{name}[{i}]": codes for i, (codes, _) in enumerate(columns)})
    codes, keys = columns[0]
    if len(columns) > 1:
        codes, keys = _combine(columns)
    order = _sorted_positions(keys)
    codes = codes.astype(np.min_scalar_type(-len(keys)))
    if order == list(range(len(keys))):
        return Groups(codes, keys)
    rank = np.empty(len(keys), dtype=codes.dtype)
    rank[order] = np.arange(len(keys))
    return Groups(rank[codes], [keys[i] for i in order])


def everyone(n_rows: int) -> Groups:
    """One group of all rows."""
    return Groups(np.zeros(n_rows, dtype=np.int64), [EVERYONE] if n_rows else [])


def sorted_groups(groups: Iterable[Group]) -> list[Group]:
    """Groups in the order in which they are always shown."""
    keys = list(groups)
    return [keys[place] for place in _sorted_positions(keys)]


def group_name(group: Group) -> str:
    """How a group is called where people read it."""
    return ", ".join(map(str, group)) if isinstance(group, tuple) else str(group)


def _columns(features: Any, name: str) -> list[Any]:
    """The columns of a one- or two-dimensional container of sensitive features."""
    if hasattr(features, "columns"):
        if len(features.columns) == 0:
            raise ValueError(
                f"{name} must have at least one column, got a table with none."
            )
        return [
            _safe_indexing(features, place, axis=1)
            for place in range(len(features.columns))
        ]
    if hasattr(features, "toarray"):
        features = features.toarray()
    array = (
        features if hasattr(features, "ndim") else np.asarray(features, dtype=object)
    )  # or 1 becomes "1" beside text
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise ValueError(
            f"{name} must be a column or a table of columns, got an array of shape {array.shape}."
        )
    return [array] if array.ndim == 1 else list(array.T)


def _factorize(column: Any, name: str) -> tuple[np.ndarray, list[Group]]:
    import pandas as pd

    values = column if isinstance(column, pd.Series) else np.asarray(column)
    if (
        isinstance(values.dtype, np.dtype)
        and values.dtype.kind in "iu"
        and np.can_cast(values.dtype, np.int64)
    ):
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 256)
        if high - low < 256:
            return _small_numbers(np.asarray(values, dtype=np.int64), low)
    try:
        codes, uniques = pd.factorize(values)
    except TypeError as error:
        raise ValueError(
            f"{name} must hold one value a row and column, such as text or a number: {error}."
        ) from None
    missing = np.count_nonzero(codes < 0)
    if missing:
        raise ValueError(
            f"{name} must name a group in every row, got {missing} missing of {len(codes)}."
        )
    return codes, [getattr(key, "item", lambda key=key: key)() for key in uniques]


def _small_numbers(values: np.ndarray, low: int) -> tuple[np.ndarray, list[Group]]:
    """What factorize finds, faster, of whole numbers of a small range."""
    values = values - low if low else values
    seen = np.zeros(256, dtype=bool)
    seen[values] = True
    present = np.flatnonzero(seen)
    keys: list[Group] = [int(value) + low for value in present]
    if present[-1] == len(present) - 1:
        return values, keys
    place = np.cumsum(seen) - 1
    return place.take(values), keys


def _combine(
    columns: list[tuple[np.ndarray, list[Group]]],
) -> tuple[np.ndarray, list[Group]]:
    """Cross several columns; a key is the tuple of their values, and only combinations that occur are kept."""
    import pandas as pd

    code = np.zeros(len(columns[0][0]), dtype=np.int64)
    for codes, keys in columns:
        code = code * len(keys) + codes
    code, present = pd.factorize(code)
    combinations = []
    for number in present.tolist():
        key: tuple[Group, ...] = ()
        for _, keys in reversed(columns):
            number, place = divmod(number, len(keys))
            key = (keys[place], *key)
        combinations.append(key)
    return code, combinations  # type: ignore[return-value]


def _sorted_positions(keys: list[Group]) -> list[int]:
    try:
        return sorted(range(len(keys)), key=lambda i: keys[i])  # type: ignore[arg-type, return-value]
    except TypeError:
        return sorted(
            range(len(keys)), key=lambda i: (type(keys[i]).__name__, str(keys[i]))
        )


def group_to_json(group: Group) -> Any:
    """Return a group as JSON can hold it: a combination becomes a list."""
    values = group if isinstance(group, tuple) else (group,)
    for value in values:
        if not isinstance(value, (str, int, float, bool)):
            raise TypeError(
                f"a group must be text or a number to be saved as JSON, got {value!r}."
            )
    return list(values) if isinstance(group, tuple) else group


def group_from_json(group: Any) -> Group:
    """Read the group that `group_to_json` returned."""
    return tuple(group) if isinstance(group, list) else group
