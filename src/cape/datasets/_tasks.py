"""A task is data, not code: which rows of a table, which features, label and groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sklearn.utils import Bunch

from cape._validation import check_choice

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Task", "read_task", "regrouped"]


@dataclass(frozen=True)
class Task:
    """How to read a classification problem with groups and two periods off a table.

    Parameters
    ----------
    name : str
        Name of the task.
    label : str
        Column of the label.
    positive_from : float
        A row is positive if its label is at least this number.
    group : str
        Column of the group.
    groups : mapping from value to str
        Values of the group column whose rows are kept, with the names of the groups, in
        the paper's order Z=0, Z=1.
    period : str
        Column of the period.
    periods : mapping from {"train", "test"} to str
        How the value of the period column begins in each period.
    features : tuple of str
        Columns of the features.
    codes : mapping from column to mapping, default={}
        Numbers of the values of features that are text.
    median_filled : tuple of str, default=()
        Features whose missing values become the median of the training rows.
    commonest : mapping from column to int, default={}
        Columns of categories, and how many of their values become features of 0 and 1:
        those that are commonest among the training rows.
    required : tuple of str, default=()
        Columns that must not be missing.
    at_least : mapping from column to float, default={}
        Least values of the rows that are kept.
    notes : str, default=""
        What was chosen, and why.

    See Also
    --------
    read_task : Read a task off a table.

    Examples
    --------
    >>> task = Task(
    ...     "visits", label="n", positive_from=10, features=("age",),
    ...     group="race", groups={1: "a", 2: "b"},
    ...     period="year", periods={"train": "2015", "test": "2016"},
    ... )
    >>> list(task.groups.values())
    ['a', 'b']
    """

    name: str
    label: str
    positive_from: float
    group: str
    groups: Mapping[Any, str]
    period: str
    periods: Mapping[str, str]
    features: tuple[str, ...]
    codes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    median_filled: tuple[str, ...] = ()
    commonest: Mapping[str, int] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    at_least: Mapping[str, float] = field(default_factory=dict)
    notes: str = ""


def regrouped(task: Task, by: str, column: str, groups: Mapping[Any, str]) -> Task:
    """Make a task of the same rows with groups of another column.

    Rows of every group of the first task are kept. The new group column is no feature,
    since a feature that is constant within a group tells nothing there.

    Parameters
    ----------
    task : Task
        The task whose label, periods and features are used.
    by : str
        What the groups are, in a word.
    column : str
        Column of the new groups.
    groups : mapping from value to str
        See `Task`.

    Returns
    -------
    Task

    Examples
    --------
    >>> task = Task(
    ...     "visits", label="n", positive_from=10, features=("age", "sex"),
    ...     group="race", groups={1: "a", 2: "b"},
    ...     period="year", periods={"train": "2015", "test": "2016"},
    ... )
    >>> regrouped(task, "sex", "sex", {0: "men", 1: "women"}).features
    ('age',)
    """
    features = tuple(name for name in task.features if name != column)
    codes = {name: task.codes[name] for name in task.codes if name != column}
    names = ", ".join(groups.values())
    return replace(
        task,
        name=f"{task.name}, by {by}",
        group=column,
        groups=groups,
        features=features,
        codes=codes,
        notes=f"{task.notes} Here the groups are by {by}: {names}.",
    )


def read_task(task: Task, table: pd.DataFrame, subset: str = "all") -> Bunch:
    """Read the rows, features, labels and groups of one period, or of both.

    Parameters
    ----------
    task : Task
        What to read.
    table : DataFrame
        Where to read it. It has all columns that the task names and, if the task has
        ``median_filled`` or ``commonest``, the training rows whatever is read.
    subset : {"all", "train", "test"}, default="all"
        Which period to read.

    Returns
    -------
    Bunch
        ``data`` (numbers: ``features``, then those of ``commonest``), ``target`` (0 and
        1), ``sensitive_features`` (names of groups), ``frame`` (all of these),
        ``groups`` (in the paper's order), ``variant`` (the name of the task) and
        ``DESCR`` (its notes).

    Raises
    ------
    ValueError
        If the period is unknown, the table lacks a column, or it lacks the training
        rows that medians and commonest values are taken from.

    Examples
    --------
    >>> task = Task(
    ...     "visits", label="n", positive_from=10, features=("age",),
    ...     group="race", groups={1: "a", 2: "b"},
    ...     period="year", periods={"train": "2015", "test": "2016"},
    ... )
    >>> columns = {"n": [3, 12], "race": [1, 2], "year": [2015, 2016], "age": [30, 40]}
    >>> read_task(task, pd.DataFrame(columns), "test").target.tolist()
    [1]
    """
    check_choice("subset", subset, ("all", *task.periods))
    _check_columns(task, table)
    keep = _rows_of_task(task, table, subset)
    kept = table[keep].reset_index(drop=True)

    data = kept[list(task.features)].copy()
    # A value without a number becomes missing, which learners complain of.
    for column, numbers in task.codes.items():
        data[column] = kept[column].map(numbers)
    if task.median_filled or task.commonest:
        training_rows = _training_rows(task, table)
        for column in task.median_filled:
            data[column] = data[column].fillna(training_rows[column].median())
        data = data.join(_indicators(task, kept, training_rows))
    is_positive = kept[task.label] >= task.positive_from
    target = is_positive.astype("int64").rename("y")
    groups = kept[task.group].map(task.groups).rename("group")
    return Bunch(
        data=data,
        target=target,
        sensitive_features=groups,
        frame=data.assign(group=groups, y=target),
        groups=list(task.groups.values()),
        variant=task.name,
        DESCR=task.notes,
    )


def _training_rows(task: Task, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that medians and commonest values are taken from.

    They are the training rows whatever is read: both periods get the same features, and
    nothing is learned from test rows.
    """
    training_rows = table[_rows_of_task(task, table, "train")]
    if training_rows.empty:
        raise ValueError(
            f"the table of {task.name} must have training rows, from which medians and "
            f"commonest values are taken, got none among {len(table)} rows."
        )
    return training_rows


def _indicators(
    task: Task, kept: pd.DataFrame, training_rows: pd.DataFrame
) -> pd.DataFrame:
    """Make a feature of 0 and 1 of each of the commonest values."""
    import pandas as pd

    indicators = {}
    for column, n_values in task.commonest.items():
        for value in _commonest_values(training_rows[column], n_values):
            is_value = kept[column] == value
            # Named as scikit-learn's OneHotEncoder names its columns.
            indicators[f"{column}_{value}"] = is_value.astype("int64")
    return pd.DataFrame(indicators, index=kept.index)


def _commonest_values(column: pd.Series, n_values: int) -> list[Any]:
    """List the commonest values, the commonest first; missing ones do not count.

    Values that are equally common come in their own order: that of the file must not
    decide which of them are features.
    """
    counts = column.value_counts().sort_index()
    ranked = counts.sort_values(ascending=False, kind="stable")
    return list(ranked.index[:n_values])


def _check_columns(task: Task, table: pd.DataFrame) -> None:
    """Raise an error that names the columns that the table lacks."""
    needed = {
        task.label,
        task.group,
        task.period,
        *task.features,
        *task.commonest,
        *task.required,
        *task.at_least,
    }
    # Before any row is read: pandas would name only the first column that is missing.
    missing = sorted(needed - set(table.columns))
    if missing:
        raise ValueError(
            f"the table of {task.name} must have the columns {missing}, "
            f"got {list(table.columns)[:20]}."
        )


def _rows_of_task(task: Task, table: pd.DataFrame, subset: str) -> pd.Series:
    """Whether each row of the table is kept."""
    keep = table[task.group].isin(task.groups)
    required = table[list(task.required)]
    keep &= required.notna().all(axis=1)
    for column, least in task.at_least.items():
        keep &= table[column] >= least
    if subset == "all":
        beginnings = list(task.periods.values())
    else:
        beginnings = [task.periods[subset]]
    # The column may hold years, or dates that begin with one.
    period = table[task.period].astype(str)
    keep &= period.str.startswith(tuple(beginnings))
    return keep
