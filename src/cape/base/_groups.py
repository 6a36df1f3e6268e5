"""Groups: reading sensitive features, names and rows of groups, results for each.

A group is one value of the sensitive feature or, with several sensitive columns, one
combination of their values. `check_groups` reads any kind of column or table once;
after it, the group of a row is a small integer (see `Groups`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from cape.base._errors import ParameterError
from cape.base._estimate import Estimate
from cape.base._json_fields import strict_json
from cape.base._numbers import group_name as group_name
from cape.base._numbers import unique_names as unique_names
from cape.base._validation import (
    admit,
    check_same_length,
    number_of_columns,
    number_of_rows,
    refuse_lazy,
    take_columns,
)

Group = Hashable
"""A value of the sensitive feature, or a tuple with one value a sensitive column."""

EVERYONE = "everyone"
"""The name of the only group when no sensitive feature is given."""

MISSING_GROUP = "(missing)"
"""The value of a group column in rows that have none, unless that is an error."""

_MOST_NUMBER = 2**61 - 2
"""Whole numbers that JSON may give a group. Python gives all multiples of 2^61 - 1 the
same hash, and a file of many of them would take hours."""

_FIRST_ROWS = 5
"""Rows without a group that an error names."""

_FEW_GROUPS = 4
"""Up to this number of groups, a comparison for each is faster than sorting."""

_SMALL_NUMBERS = 256
"""Whole numbers below are looked up, and not hashed: to hash those of a million rows
takes a fifth of a prediction with one adaptation."""


@dataclass(frozen=True)
class Groups:
    """The group of each row of a table.

    Parameters
    ----------
    codes : ndarray of int of shape (n_samples,)
        The group of row i is ``keys[codes[i]]``.
    keys : list
        The groups that occur, sorted; each is one value, or a tuple with one value a
        column when there are several sensitive columns.

    Examples
    --------
    >>> from cape.base._groups import Groups
    >>> groups = Groups(np.array([1, 0, 1]), ["a", "b"])
    >>> len(groups)
    3
    >>> groups.rows()
    [('a', array([1])), ('b', array([0, 2]))]
    """

    codes: np.ndarray
    keys: list[Group]

    def __len__(self) -> int:
        return len(self.codes)

    def weighed(self, rows: np.ndarray) -> Groups:
        """Return the groups of the rows that weigh something.

        Parameters
        ----------
        rows : ndarray of int
            The numbers of these rows.

        Returns
        -------
        Groups
            With the same keys: a group whose rows all weigh nothing is an error.
        """
        codes = self.codes[rows]
        for code in np.flatnonzero(np.bincount(codes, minlength=len(self.keys)) == 0):
            refuse_weightless(self.keys[code])
        return Groups(codes, self.keys)

    def rows(self) -> list[tuple[Group, np.ndarray | None]]:
        """List the rows of every group.

        Returns
        -------
        list of (group, rows)
            The groups in the order of ``keys``, each with its row numbers in ascending
            order. If there is one group only, its rows are None, which means all rows
            and spares a copy of the table.
        """
        if len(self.keys) == 1:
            return [(self.keys[0], None)]
        rows_of_groups = self.rows_between(0, len(self))
        return list(zip(self.keys, rows_of_groups, strict=True))

    def rows_between(self, start: int, stop: int) -> list[np.ndarray]:
        """List the rows of every group within a piece of the table.

        Parameters
        ----------
        start, stop : int
            The piece, from row ``start`` to before row ``stop``.

        Returns
        -------
        list of ndarray
            For each of ``keys`` its rows in the piece in ascending order, counted from
            ``start``; empty where the group does not occur in the piece.
        """
        codes = self.codes[start:stop]
        n_groups = len(self.keys)
        if n_groups <= _FEW_GROUPS:
            return [np.flatnonzero(codes == code) for code in range(n_groups)]
        # A stable sort keeps the rows of a group in ascending order; numpy sorts
        # integers of at most 16 bits by radix, in linear time.
        order = np.argsort(codes, kind="stable")
        sizes = np.bincount(codes, minlength=n_groups)
        ends = np.cumsum(sizes)
        return np.split(order, ends[:-1])


def refuse_weightless(group: Group) -> NoReturn:
    """Refuse a group whose rows all weigh nothing."""
    raise ParameterError(
        "sample_weight",
        "must be positive in some row of every group, got zeros alone for group "
        f"{group_name(group)!r}: leave its rows out.",
    )


def split_groups(
    X: Any,
    sensitive_features: Any,
    group_columns: Any,
    missing: str = "error",
    names: Sequence[str] | None = None,
) -> tuple[Any, Groups]:
    """Separate what the estimator sees from the group of each row.

    Parameters
    ----------
    X : table of shape (n_samples, n_columns)
        The rows.
    sensitive_features : column or table of shape (n_samples, ...), or None
        The groups, if they are not columns of X.
    group_columns : column, list of columns, or None
        The columns of X that hold the groups.
    missing : {"error", "group"}, default="error"
        As in `check_groups`.
    names : sequence of str, default=None
        Columns of ``sensitive_features`` in training, from `named_columns`.

    Returns
    -------
    features : table
        X without ``group_columns``.
    groups : Groups
        The groups; `EVERYONE` if neither parameter gives any.

    Raises
    ------
    ValueError
        If both parameters are given, or as in `split_columns` and `check_groups`.
    """
    if group_columns is None:
        if sensitive_features is None:
            return X, everyone(number_of_rows(X))
        sensitive_features = _in_order(sensitive_features, names)
        return X, check_groups(sensitive_features, missing=missing)
    if sensitive_features is not None:
        raise ValueError(
            "sensitive_features must be None when group_columns names columns of X; "
            "got both."
        )
    features, columns = split_columns(X, group_columns)
    return features, check_groups(columns, "group_columns", missing)


def named_columns(sensitive_features: Any) -> list[str] | None:
    """Return the names of the columns of a table; None if they are not all text."""
    names = list(
        getattr(admit("sensitive_features", sensitive_features), "columns", [])
    )
    return names if names and all(isinstance(name, str) for name in names) else None


def _in_order(sensitive_features: Any, names: Sequence[str] | None) -> Any:
    """Take the columns of a table in the order of training, by their names."""
    if names is None:
        return sensitive_features
    refuse_lazy("sensitive_features", sensitive_features)
    here = named_columns(sensitive_features)
    if here is None or here == names:
        return sensitive_features
    if sorted(here) != sorted(names) or len(set(here)) < len(here):
        raise ValueError(
            f"sensitive_features must have the columns of training, {names}, got "
            f"{here}: pick or rename them."
        )
    return admit("sensitive_features", sensitive_features)[names]


def split_columns(X: Any, columns: Any, name: str = "group_columns") -> tuple[Any, Any]:
    """Take columns out of a table.

    Parameters
    ----------
    X : table of shape (n_samples, n_columns)
        Data frame, array, sparse matrix or list of rows.
    columns : column or list of columns
        Names if X is a data frame, else positions, which may be negative.
    name : str, default="group_columns"
        Name of the parameter, for the error.

    Returns
    -------
    rest : table
        X without the columns.
    taken : table
        The columns, in the order of ``columns``.

    Raises
    ------
    ValueError
        If no column is named, or one that X does not have.
    """
    if isinstance(columns, (str, Integral)):
        columns = [columns]
    wanted = list(columns)
    if not wanted:
        raise ValueError(f"{name} must name at least one column, got none.")
    if hasattr(X, "columns"):
        names = list(X.columns)
        unknown = [column for column in wanted if column not in names]
    else:
        # The name of an array's column is its position.
        names = list(range(number_of_columns(X)))
        unknown = [column for column in wanted if not _is_position(column, names)]
    if unknown:
        raise ValueError(
            f"{name} must be columns of X, among {names[:20]}, got {unknown}."
        )
    if not hasattr(X, "columns"):
        # Negative positions count from the end, as everywhere in Python.
        wanted = [names[column] for column in wanted]
    places = [names.index(column) for column in wanted]
    all_places = range(len(names))
    rest = [place for place in all_places if place not in places]
    others = take_columns(X, rest)
    if isinstance(others, np.ndarray) and others.dtype == object:
        # Without the groups, all that is left may be numbers.
        numbers = np.asarray(others.tolist())
        if numbers.dtype.kind in "biuf":
            others = numbers
    return others, take_columns(X, places)


def _is_position(column: Any, names: list[int]) -> bool:
    """Whether a whole number is the position of a column, counted from either end."""
    if not isinstance(column, Integral):
        return False
    return -len(names) <= int(column) < len(names)


def check_groups(
    sensitive_features: Any, name: str = "sensitive_features", missing: str = "error"
) -> Groups:
    """Read the group of each row.

    Parameters
    ----------
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_columns)
        A list, an array, a Series or a data frame, of pandas or polars. With several
        columns, a group is a combination of their values.
    name : str, default="sensitive_features"
        Name of the parameter, for the error.
    missing : {"error", "group"}, default="error"
        What is done with rows without a value: with "group", `MISSING_GROUP` is the
        value of their column.

    Returns
    -------
    Groups
        The groups that occur, sorted, and the group of each row.

    Raises
    ------
    ValueError
        If there is no column, if a value is missing or cannot be hashed, or if columns
        differ in length.

    Examples
    --------
    >>> from cape.base._groups import check_groups
    >>> check_groups(["b", "a", "b"]).keys
    ['a', 'b']
    >>> check_groups(pd.DataFrame({"race": ["x", "y"], "old": [True, True]})).keys
    [('x', True), ('y', True)]
    """
    columns = []
    for values in _columns(sensitive_features, name):
        columns.append(_factorize(values, name, missing))
    if len(columns) == 1:
        return _with_sorted_keys(columns[0])
    named = {}
    for number, column in enumerate(columns):
        named[f"{name}[{number}]"] = column.codes
    check_same_length(**named)
    return _with_sorted_keys(_combine(columns))


def everyone(n_rows: int) -> Groups:
    """Make one group of all rows, or none if there are no rows."""
    keys: list[Group] = [EVERYONE] if n_rows else []
    return Groups(np.zeros(n_rows, dtype=np.int64), keys)


def sorted_groups(groups: Iterable[Group]) -> list[Group]:
    """Sort groups as they are always shown.

    Parameters
    ----------
    groups : iterable
        Groups of any types.

    Returns
    -------
    list
        The groups in ascending order; if their types cannot be compared, by the name of
        the type and then by their text.

    Examples
    --------
    >>> from cape.base._groups import sorted_groups
    >>> sorted_groups([10, 9]), sorted_groups(["b", 1, "a"])
    ([9, 10], [1, 'a', 'b'])
    """
    keys = list(groups)
    return [keys[place] for place in _sorted_positions(keys)]


def group_labels(groups: Iterable[Group]) -> dict[Group, Any]:
    """Return the labels of groups in the index of a table.

    Parameters
    ----------
    groups : iterable
        All groups of the table.

    Returns
    -------
    dict from group to label
        A group is its own label, unless it is a combination: pandas would take a tuple
        for a level of a MultiIndex, so that its name is the label.

    Examples
    --------
    >>> from cape.base._groups import group_labels
    >>> group_labels([("blue", 1), ("red", 2)])
    {('blue', 1): 'blue, 1', ('red', 2): 'red, 2'}
    >>> group_labels([1, "1"])
    {1: 1, '1': '1'}
    """
    labels: dict[Group, Any] = {}
    for group, name in unique_names(groups).items():
        labels[group] = name if isinstance(group, tuple) else group
    return labels


def group_table(
    groups: Iterable[Group], rows: Sequence[Any], columns: list[str] | None = None
) -> pd.DataFrame:
    """Make a table with one row for each group.

    Examples
    --------
    >>> from cape.base._groups import group_table
    >>> group_table(["a", "b"], [{"rows": 3}, {"rows": 4}]).loc["b", "rows"]
    np.int64(4)
    """
    index = pd.Index(list(group_labels(groups).values()), name="group")
    return pd.DataFrame(rows, index=index, columns=columns)


class _Grouped:
    # No field of the base, or it would come before all others.
    groups: Mapping[Group, Any]


@dataclass(frozen=True, kw_only=True)
class GroupResult(_Grouped):
    """Base of the results that hold a record for each group.

    A subclass is a dataclass with a field ``groups``, a mapping from group to
    dataclass or dict. It overrides `_facts` if it knows more than what it says about
    each group.

    Parameters
    ----------
    group_columns : sequence of str, default=None
        Columns whose values the groups combine; used in their names.
    """

    group_columns: Sequence[str] | None = field(default=None, compare=False)

    @property
    def names(self) -> dict[Group, str]:
        """The name of each group; no two are alike."""
        return unique_names(self.groups, self.group_columns)

    def table(self) -> pd.DataFrame:
        """Return the result as a data frame.

        Returns
        -------
        DataFrame
            One row for each group, one column for each field of its dataclass, and
            three for an estimate: its value, ``_low`` and ``_high``.
        """
        rows = [flat(result) for result in self.groups.values()]
        return group_table(self.groups, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a dict that JSON can hold.

        Returns
        -------
        dict
            ``groups`` is a list with one entry for each group. A number that is not
            finite is None.
        """
        # A list and no mapping: in JSON the keys of a mapping would have to be text.
        entries = []
        names = self.names
        for group, result in self.groups.items():
            entries.append({"group": names[group], **flat(result)})
        return strict_json({**self._facts(), "groups": entries})

    def _facts(self) -> dict[str, Any]:
        """Return what the result knows about all groups together."""
        return {}


def flat(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass; an `Estimate` becomes three of them."""
    if isinstance(record, dict):
        return record
    if hasattr(record, "flat"):
        return record.flat()
    fields: dict[str, Any] = {}
    for name, value in vars(record).items():
        if isinstance(value, Estimate):
            fields[name], fields[f"{name}_low"], fields[f"{name}_high"] = value
        else:
            fields[name] = value
    return fields


def combined_columns(group_columns: Any) -> list[str] | None:
    """Return the columns whose values a group combines; None if it is one value.

    Parameters
    ----------
    group_columns : column, list of columns, or None
        Of a classifier.

    Examples
    --------
    >>> from cape.base._groups import combined_columns
    >>> combined_columns(["Race", "Sex"]), combined_columns("Race")
    (['Race', 'Sex'], None)
    """
    if group_columns is None or isinstance(group_columns, (str, Integral)):
        return None
    columns = list(group_columns)
    has_names = all(isinstance(column, str) for column in columns)
    return columns if has_names and len(columns) > 1 else None


def group_to_json(group: Group) -> Any:
    """Return a group in a form that JSON can hold.

    Parameters
    ----------
    group : text, number, bool or tuple of these
        The group.

    Returns
    -------
    object
        The group itself, or a list if it is a combination.

    Raises
    ------
    TypeError
        If JSON cannot hold a value of the group, which a date for instance is not.

    Examples
    --------
    >>> from cape.base._groups import group_from_json, group_to_json
    >>> group_to_json(("x", True))
    ['x', True]
    >>> group_from_json(["x", True])
    ('x', True)
    """
    values = group if isinstance(group, tuple) else (group,)
    for value in values:
        if not isinstance(value, (str, int, float, bool)) or _is_huge(value):
            raise TypeError(
                f"a group must be text or a number to be saved as JSON, got {value!r}."
            )
    if isinstance(group, tuple):
        return list(group)
    return group


def _is_huge(value: Any) -> bool:
    return isinstance(value, int) and abs(value) > _MOST_NUMBER


def group_from_json(group: Any) -> Group:
    """Read the group that `group_to_json` returned; a list is a combination."""
    values = group if isinstance(group, list) else [group]
    for value in values:
        known = value is None or isinstance(value, (str, int, float))
        if not known or _is_huge(value):
            raise ValueError(f"group must be a text or a number, got {value!r:.60}.")
    return tuple(group) if isinstance(group, list) else group


def _columns(features: Any, name: str) -> list[Any]:
    """List the columns of a column or table of sensitive features."""
    refuse_lazy(name, features)
    features = admit(name, features)
    if hasattr(features, "columns"):
        n_columns = len(features.columns)
        if n_columns == 0:
            raise ValueError(
                f"{name} must have at least one column, got a table with none."
            )
        # By position, since two columns may share a name.
        return [take_columns(features, place) for place in range(n_columns)]
    # A sparse matrix, which one-hot encoders make.
    if hasattr(features, "toarray"):
        features = features.toarray()
    if not hasattr(features, "ndim"):
        # As objects: in an array of text, the number 1 would become the text "1".
        features = np.asarray(features, dtype=object)
    if features.ndim == 1:
        return [features]
    if features.ndim != 2 or features.shape[1] == 0:
        raise ValueError(
            f"{name} must be a column or a table of columns, "
            f"got an array of shape {features.shape}."
        )
    return list(features.T)


def _factorize(values: Any, name: str, missing: str) -> Groups:
    """Replace the values of a column by codes; missing ones are a value or an error."""
    if not isinstance(values, pd.Series):
        values = np.asarray(values)
    # Types of pandas are not numpy's, and may hold missing values.
    if isinstance(values.dtype, np.dtype) and values.dtype.kind == "i" and len(values):
        numbers = np.asarray(values, dtype=np.int64)
        if numbers.min() >= 0 and numbers.max() < _SMALL_NUMBERS:
            occurs = np.bincount(numbers) > 0
            codes = numbers if occurs.all() else (np.cumsum(occurs) - 1)[numbers]
            keys: list[Group] = [*np.flatnonzero(occurs).tolist()]
            return Groups(codes, keys)
    # It hashes the values; np.unique would have to sort them, which values of different
    # types do not allow.
    try:
        codes, uniques = pd.factorize(values)
    except TypeError as error:
        raise ValueError(
            f"{name} must hold one value per row and column, such as text or a number: "
            f"{error}."
        ) from None
    # pandas gives missing values, of whatever kind, the code -1.
    keys = [_as_python(value) for value in uniques]
    # The same name may occur in two forms.
    column = _merged(codes, keys)
    is_missing = column.codes < 0
    if not is_missing.any():
        return column
    if missing == "error":
        rows = np.flatnonzero(is_missing)
        first = ", ".join(map(str, rows[:_FIRST_ROWS]))
        raise ValueError(
            f"{name} must name a group in every row, got {len(rows)} missing of "
            f"{len(codes)}, the first in rows {first}. Give these rows a group, leave "
            "them out, or let CapeClassifier make them a group: missing_groups='group'."
        )
    keys = column.keys
    if MISSING_GROUP not in keys:
        keys.append(MISSING_GROUP)
    return Groups(np.where(is_missing, keys.index(MISSING_GROUP), column.codes), keys)


def _merged(codes: np.ndarray, keys: list[Group]) -> Groups:
    """Give equal keys one code; that of missing values stays -1."""
    code_of_key = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    new_codes = [code_of_key[key] for key in keys]
    # The last place is that of missing values.
    return Groups(np.array([*new_codes, -1])[codes], list(code_of_key))


def _as_python(value: Any) -> Group:
    """Turn a scalar of numpy into one of Python, which JSON and people can read.

    An accent may be part of a letter or stand behind it: it is made part of it.
    """
    if hasattr(value, "item"):
        value = value.item()
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def _combine(columns: list[Groups]) -> Groups:
    """Cross columns: a key is the tuple of their values, and only those that occur."""
    codes = columns[0].codes
    keys: list[Any] = [(key,) for key in columns[0].keys]
    for column in columns[1:]:
        # Two digits, the last one of base len(column.keys), make one number. Counting
        # the numbers anew after each column keeps them from overflowing.
        base = len(column.keys)
        codes, present = pd.factorize(codes * base + column.codes)
        combinations = []
        for number in present.tolist():
            first, last = divmod(number, base)
            combinations.append((*keys[first], column.keys[last]))
        keys = combinations
    return Groups(codes, keys)


def _with_sorted_keys(column: Groups) -> Groups:
    """Renumber codes so that the keys are sorted, in the shortest integers that do."""
    codes = column.codes
    keys = column.keys
    order = _sorted_positions(keys)
    # Signed: -len(keys) needs one bit more than the codes do.
    codes = codes.astype(np.min_scalar_type(-len(keys)))
    if order == list(range(len(keys))):
        return Groups(codes, keys)
    new_code = np.empty(len(keys), dtype=codes.dtype)
    new_code[order] = np.arange(len(keys))
    sorted_keys = [keys[place] for place in order]
    return Groups(new_code[codes], sorted_keys)


def _sorted_positions(keys: list[Any]) -> list[int]:
    """Positions of the keys in ascending order, also if types cannot be compared."""
    positions = range(len(keys))
    try:
        return sorted(positions, key=keys.__getitem__)
    except TypeError:
        # Numbers and texts side by side: numbers first, since "int" is before "str".
        ranks = [(type(key).__name__, str(key)) for key in keys]
        return sorted(positions, key=ranks.__getitem__)
