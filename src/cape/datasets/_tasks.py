"""A task is data, not code: which rows of a table, which features, label and groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sklearn.utils import Bunch

from cape._validation import check_choice

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Task", "read_task"]


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
    required: tuple[str, ...] = ()
    at_least: Mapping[str, float] = field(default_factory=dict)
    notes: str = ""


def read_task(task: Task, table: pd.DataFrame, subset: str = "all") -> Bunch:
    """Read the rows, features, labels and groups of one period, or of both.

    Parameters
    ----------
    task : Task
        What to read.
    table : DataFrame
        Where to read it. It has all columns that the task names.
    subset : {"all", "train", "test"}, default="all"
        Which period to read.

    Returns
    -------
    Bunch
        ``data`` (numbers), ``target`` (0 and 1), ``sensitive_features`` (names of
        groups), ``frame`` (all of these), ``groups`` (in the paper's order),
        ``variant`` (the name of the task) and ``DESCR`` (its notes).

    Raises
    ------
    ValueError
        If the period is unknown or the table lacks a column.

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


def _check_columns(task: Task, table: pd.DataFrame) -> None:
    """Raise an error that names the columns that the table lacks."""
    needed = {
        task.label,
        task.group,
        task.period,
        *task.features,
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
