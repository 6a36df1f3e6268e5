"""A task is data, not code: which rows of a table, which features, which label, which group."""

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
    label, positive_from : str and float
        A row is positive when its label column is at least ``positive_from``.
    group, groups : str and mapping
        Group column, and the name of each value of it that is kept, in the paper's order Z=0, Z=1.
    period, periods : str and mapping
        Period column, and how its value begins in ``"train"`` and in ``"test"``.
    features : tuple of str
    codes : mapping
        Of text features, the number of each value.
    required : tuple of str
        Columns that must not be missing.
    at_least : mapping
        Columns with the least value a row must have.
    notes : str
        What was chosen, and why.
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
    """Rows, features, labels and groups of one period, or of both.

    Parameters
    ----------
    task : Task
    table : DataFrame
    subset : {"all", "train", "test"}, default="all"

    Returns
    -------
    Bunch
        ``data`` (numbers), ``target`` (0 and 1), ``sensitive_features`` (names of groups), ``frame`` (all of them),
        ``groups`` (in the paper's order), ``variant`` and ``DESCR``.

    Examples
    --------
    >>> import pandas as pd
    >>> task = Task("t", "visits", 10, "race", {1: "a", 2: "b"}, "year", {"train": "2015", "test": "2016"}, ("age",))
    >>> table = pd.DataFrame({"visits": [3, 12], "race": [1, 2], "year": [2015, 2016], "age": [30, 40]})
    >>> read_task(task, table, "test").target.tolist()
    [1]
    """
    check_choice("subset", subset, ("all", *task.periods))
    needed = {
        task.label,
        task.group,
        task.period,
        *task.features,
        *task.required,
        *task.at_least,
    }
    if missing := sorted(needed - set(table.columns)):
        raise ValueError(
            f"the table of {task.name} must have the columns {missing}, got {list(table.columns)[:20]}."
        )
    rows = table[task.group].isin(task.groups) & table[list(task.required)].notna().all(
        axis=1
    )
    for column, least in task.at_least.items():
        rows &= table[column] >= least
    begins = tuple(task.periods.values() if subset == "all" else [task.periods[subset]])
    rows &= table[task.period].astype(str).str.startswith(begins)
    kept = table[rows].reset_index(drop=True)

    data = kept[list(task.features)].copy()
    for column, numbers in task.codes.items():
        data[column] = kept[column].map(numbers)
    target = (kept[task.label] >= task.positive_from).astype("int64").rename("y")
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
