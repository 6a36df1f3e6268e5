"""A problem to compare methods on: labelled training rows and labelled test rows.

Methods see the test rows without their labels.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from cape.datasets import fetch_compas

Rows = tuple[pd.DataFrame, np.ndarray, pd.Series]
"""Features, labels 0 and 1, and names of groups."""


@cache
def published() -> dict[str, Any]:
    """Return the tables of the paper as printed, the paper's slips included.

    Returns
    -------
    dict
        ``table_synthetic``, ``table_quantifier`` and ``table_results`` (the tables),
        ``dataset_counts`` (rows of the paper's data sets) and ``source``. A value that
        the paper prints as undefined is None.

    Examples
    --------
    >>> published()["table_results"]["compas"]["CAPE-D"]["pd_0"]
    0.024
    """
    path = files("cape_paper").joinpath("published.json")
    return json.loads(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Problem:
    """Rows to learn from and rows to judge methods by.

    Parameters
    ----------
    name : str
        Short name, used in file names.
    title : str
        Title of the tables.
    groups : list of str
        Groups in the order in which tables show them.
    train, test : tuple of DataFrame, ndarray and Series
        Features (numbers without missing values, as the peers need; real shifts have
        text, too), labels 0 and 1, and names of groups.
    notes : list of str
        What was chosen, and why.
    printed : dict
        Rows of the paper's results table by method; empty if the data is not the
        paper's.
    printed_prevalences : dict
        ``train``, ``test`` and ``estimate`` of the paper's quantifier table.
    same_data : bool, default=False
        Whether the printed numbers belong to this data, so that nearness to them means
        something.
    chosen_by_print : bool, default=False
        Whether the features were chosen by looking at printed numbers. Nearness to
        print then proves nothing, and the run makes no claim against it.

    Examples
    --------
    >>> problem = table_problem(train.frame, new.frame, label="y", group="z")
    >>> problem.counts()[0]["rows_test"]
    500
    """

    name: str
    title: str
    groups: list[str]
    train: Rows = field(repr=False)
    test: Rows = field(repr=False)
    notes: list[str] = field(default_factory=list, repr=False)
    printed: dict[str, Any] = field(default_factory=dict, repr=False)
    printed_prevalences: dict[str, Any] = field(default_factory=dict, repr=False)
    same_data: bool = False
    chosen_by_print: bool = False

    def counts(self) -> list[dict[str, Any]]:
        """Count the rows of every group, and compute its prevalences.

        Returns
        -------
        list of dict
            ``group``, ``rows_train``, ``rows_test``, ``prevalence_train`` and
            ``prevalence_test``, in the order of ``groups``.
        """
        counts = []
        for group in self.groups:
            count: dict[str, Any] = {"group": group}
            for part, (_, y, z) in (("train", self.train), ("test", self.test)):
                of_group = y[(z == group).to_numpy()]
                count[f"rows_{part}"] = len(of_group)
                count[f"prevalence_{part}"] = float(of_group.mean())
            counts.append(count)
        return counts


def compas_problem(data_home: Any = None, *, features: str = "narrow") -> Problem:
    """Load COMPAS, 2013 to 2014, as the paper uses it.

    Parameters
    ----------
    data_home : str or Path, default=None
        Folder of the data; see `cape.datasets.fetch_compas`.
    features : {"narrow", "wide"}, default="narrow"
        Set of features; see `cape.datasets.fetch_compas`. The wide set was chosen by
        looking at printed numbers, so a run with it makes no claim against print.

    Returns
    -------
    Problem

    Examples
    --------
    >>> compas_problem().groups  # doctest: +SKIP
    ['Caucasian', 'African-American']
    """
    problem = beside_print(
        fetched_compas("compas", "race", data_home, features=features), same_data=True
    )
    problem = replace(problem, title="COMPAS, 2013 to 2014")
    if features == "narrow":
        return problem
    title = f"{problem.title}, {features} features"
    return replace(problem, title=title, chosen_by_print=True)


def fetched_compas(
    name: str, group: str, data_home: Any, *, features: str = "narrow"
) -> Problem:
    """Load COMPAS with groups by race, sex or age."""
    options = {"group": group, "features": features, "data_home": data_home}
    train = fetch_compas(subset="train", **options)
    test = fetch_compas(subset="test", **options)
    return Problem(
        name=name,
        title=train.variant,
        groups=train.groups,
        train=_rows(train),
        test=_rows(test),
        notes=[train.DESCR],
    )


def _rows(bunch: Bunch) -> Rows:
    return bunch.data, bunch.target.to_numpy(), bunch.sensitive_features


def beside_print(problem: Problem, *, same_data: bool) -> Problem:
    """Put the printed numbers beside the rows of one of the paper's data sets."""
    paper = published()["dataset_counts"][problem.name]
    shares = []
    for _, _, z in (problem.train, problem.test):
        shares.append(float((z == problem.groups[1]).mean()))
    rows = (
        f"Rows: {len(problem.train[1])} to train ({shares[0]:.1%} Z=1) "
        f"and {len(problem.test[1])} to test ({shares[1]:.1%}); "
        f"the paper has {paper['train']} ({paper['train_share_z1']:.1%}) "
        f"and {paper['test']} ({paper['test_share_z1']:.1%})."
    )
    return replace(
        problem,
        notes=[*problem.notes, rows],
        printed=published()["table_results"][problem.name],
        printed_prevalences=published()["table_quantifier"][problem.name],
        same_data=same_data,
    )


def table_problem(
    train: pd.DataFrame,
    test: pd.DataFrame,
    *,
    label: str,
    group: str | Sequence[str],
    positive: Any = None,
) -> Problem:
    """Make a problem of two tables with text, dates and missing values.

    skrub's TableVectorizer, fitted on the training rows, turns all columns except label
    and groups into numbers; missing numbers become the training median. Every method
    gets the same numbers.

    Parameters
    ----------
    train, test : DataFrame
        Labelled rows. ``test`` has all columns of ``train``.
    label : str
        Name of the label column.
    group : str or sequence of str
        Name of the group column, or of several columns whose combinations are the
        groups.
    positive : label, default=None
        The positive label; None is the greater of the two.

    Returns
    -------
    Problem

    Raises
    ------
    ValueError
        If a column is missing, or the test table has labels or groups that the
        training table has not.

    Examples
    --------
    >>> problem = table_problem(train.frame, new.frame, label="y", group="z")
    >>> problem.groups
    ['0', '1']
    """
    group_columns = [group] if isinstance(group, str) else list(group)
    for name, table in (("training", train), ("test", test)):
        missing = [*{label, *group_columns, *train.columns} - set(table.columns)]
        if missing:
            raise ValueError(f"the {name} table must have the columns {missing}.")
    chosen = _positive_label(train[label], test[label], positive)
    z_train = _group_names(train[group_columns])
    z_test = _group_names(test[group_columns])
    unknown = sorted(set(z_test) - set(z_train))
    if unknown:
        raise ValueError(
            "the test table must have no group that the training table has not, "
            f"got {unknown}."
        )
    # The group goes to every method separately, and each decides how to use it.
    features = list(train.columns.drop([label, *group_columns]))
    X_train, X_test = _as_numbers(train[features], test[features])
    return Problem(
        name="own",
        title="Own data",
        # A group without test rows cannot be judged.
        groups=sorted(set(z_test)),
        train=(X_train, (train[label] == chosen).to_numpy().astype(int), z_train),
        test=(X_test, (test[label] == chosen).to_numpy().astype(int), z_test),
        notes=[
            f"Positive: {label} = {chosen!r}. Groups: {', '.join(group_columns)}.",
            f"{len(features)} columns made {X_train.shape[1]} numbers (skrub's "
            "TableVectorizer, fitted on the training rows; missing numbers become the "
            "training median).",
        ],
    )


def _positive_label(train: pd.Series, test: pd.Series, positive: Any) -> Any:
    """Return the positive label, or raise if there are not two labels to choose from.

    The training table decides which labels there are; the test table may have one of
    them only.
    """
    labels = np.unique(train.dropna()).tolist()
    if len(labels) != 2 or train.isna().any():
        raise ValueError(
            "the training table's label must have two values and none missing, "
            f"got {labels[:5]}."
        )
    unknown = test[~test.isin(labels)].unique().tolist()
    if unknown:
        raise ValueError(
            f"the test table's label must be one of {labels}, got also {unknown[:5]}."
        )
    if positive is None:
        # The greater one, as scikit-learn sorts classes.
        return labels[1]
    # As text: the command line cannot tell the label 1 from the label "1".
    for value in labels:
        if str(value) == str(positive):
            return value
    raise ValueError(f"positive must be one of {labels}, got {positive!r}.")


def _group_names(columns: pd.DataFrame) -> pd.Series:
    """Name the group of every row: its value, or "race blue · sex f" of several."""
    missing = int(columns.isna().any(axis=1).sum())
    if missing:
        raise ValueError(
            "the group columns must name a group in every row, "
            f"got {missing} missing of {len(columns)}."
        )
    names = columns.astype(str).reset_index(drop=True)
    if names.shape[1] == 1:
        return names.iloc[:, 0].rename("group")
    parts = [f"{name} " + names[name] for name in names]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined + " · " + part
    return joined.rename("group")


def _as_numbers(
    train: pd.DataFrame, test: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Turn text, categories, dates and missing values into floats in both tables."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from skrub import StringEncoder, TableVectorizer

    # Without a seed the same tables would give other numbers in every run.
    text = StringEncoder(random_state=0)
    # Some peers take no missing values. A column that is empty in training stays, so
    # that both tables have the same columns.
    impute = SimpleImputer(strategy="median", keep_empty_features=True)
    pipeline = make_pipeline(
        TableVectorizer(high_cardinality=text), impute.set_output(transform="pandas")
    )
    # Fitted on the training rows alone: nothing of the test rows leaks into them.
    tables = []
    for table in (pipeline.fit_transform(train), pipeline.transform(test)):
        # Learners refuse names that are not all text.
        numbers = table.reset_index(drop=True).astype(float)
        tables.append(numbers.set_axis(table.columns.astype(str), axis=1))
    return tables[0], tables[1]
