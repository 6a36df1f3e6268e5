"""A problem to compare methods on: labelled training rows and labelled test rows.

Methods see the test rows without their labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cape._groups import Group, Groups, check_groups, unique_names
from cape._tables import missing_column
from cape._validation import check_binary_labels, check_labels
from cape.datasets import fetch_compas
from cape_paper._cells import digest
from cape_paper._meps import ONE_PANEL, fetch_meps
from cape_paper._published import published

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Problem", "compas_problem", "meps_problem", "table_problem"]


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
    X_train, X_test : DataFrame of shape (n_samples, n_features)
        Numbers, without missing values, as the peers need; real shifts have text, too.
    y_train, y_test : ndarray of shape (n_samples,)
        Labels 0 and 1; 1 is positive.
    z_train, z_test : Series of shape (n_samples,)
        Names of groups.
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
    X_train: pd.DataFrame
    y_train: np.ndarray
    z_train: pd.Series
    X_test: pd.DataFrame
    y_test: np.ndarray
    z_test: pd.Series
    notes: list[str] = field(default_factory=list)
    printed: dict[str, Any] = field(default_factory=dict)
    printed_prevalences: dict[str, Any] = field(default_factory=dict)
    same_data: bool = False
    chosen_by_print: bool = False

    def digest(self) -> str:
        """Hash the rows: cells that were computed from other rows are not used.

        Returns
        -------
        str
        """
        import pandas as pd

        labels = np.concatenate([self.y_train, self.y_test])
        return digest(
            self.X_train,
            self.X_test,
            self.z_train,
            self.z_test,
            pd.Series(labels),
        )

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
            of_train = (self.z_train == group).to_numpy()
            of_test = (self.z_test == group).to_numpy()
            counts.append(
                {
                    "group": group,
                    "rows_train": int(of_train.sum()),
                    "rows_test": int(of_test.sum()),
                    "prevalence_train": float(self.y_train[of_train].mean()),
                    "prevalence_test": float(self.y_test[of_test].mean()),
                }
            )
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
    train = fetch_compas(subset="train", features=features, data_home=data_home)
    test = fetch_compas(subset="test", features=features, data_home=data_home)
    problem = _paper_problem(
        "compas", "COMPAS, 2013 to 2014", train, test, same_data=True
    )
    if features == "narrow":
        return problem
    return replace(
        problem,
        title=f"{problem.title}, {features} features",
        chosen_by_print=True,
    )


def meps_problem(data_home: Any = None) -> Problem:
    """Load MEPS, 2015 to 2016, in the variant that the files in the folder allow.

    Parameters
    ----------
    data_home : str or Path, default=None
        Folder of the data; see `cape.datasets.fetch_meps`.

    Returns
    -------
    Problem

    Examples
    --------
    >>> meps_problem().groups  # doctest: +SKIP
    ['White', 'Non-White']
    """
    train = fetch_meps(subset="train", data_home=data_home)
    test = fetch_meps(subset="test", data_home=data_home)
    title = f"{train.variant}, 2015 to 2016"
    # One panel of the survey is a part of the paper's rows, grouped in another way.
    same_data = ONE_PANEL not in train.variant
    return _paper_problem("meps", title, train, test, same_data=same_data)


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
    _check_columns(train, test, [label, *group_columns])
    labels = _binary_labels(train[label], test[label], positive)
    z_train, z_test = _group_names(train[group_columns], test[group_columns])
    _check_known(z_test, z_train)
    # The group goes to every method separately, and each decides how to use it.
    features = list(train.columns.drop([label, *group_columns]))
    X_train, X_test = _as_numbers(train[features], test[features])
    positive_note = f"Positive: {label} = {labels.positive!r}."
    return Problem(
        name="own",
        title="Own data",
        # A group without test rows cannot be judged.
        groups=sorted(set(z_test)),
        X_train=X_train,
        y_train=labels.train,
        z_train=z_train,
        X_test=X_test,
        y_test=labels.test,
        z_test=z_test,
        notes=[
            f"{positive_note} Groups: {', '.join(group_columns)}.",
            _numbers_note(len(features), X_train.shape[1]),
        ],
    )


def _numbers_note(n_columns: int, n_numbers: int) -> str:
    """Say how the columns of a table became numbers."""
    return (
        f"{n_columns} columns made {n_numbers} numbers (skrub's TableVectorizer, "
        "fitted on the training rows; missing numbers become the training median)."
    )


def _check_known(z_test: pd.Series, z_train: pd.Series) -> None:
    """Raise if the test table has a group that no method could learn."""
    unknown = sorted(set(z_test) - set(z_train))
    if unknown:
        raise ValueError(
            "the test table must have no group that the training table has not, "
            f"got {unknown}."
        )


def _paper_problem(
    name: str,
    title: str,
    train: Any,
    test: Any,
    *,
    same_data: bool,
) -> Problem:
    """Put the printed numbers beside the rows of one of the paper's data sets.

    Parameters
    ----------
    name : {"compas", "meps"}
        Its name in `published`.
    title : str
        Title of the tables.
    train, test : Bunch
        From `cape.datasets`.
    same_data : bool
        See `Problem`.
    """
    return Problem(
        name=name,
        title=title,
        groups=train.groups,
        X_train=train.data,
        y_train=train.target.to_numpy(),
        z_train=train.sensitive_features,
        X_test=test.data,
        y_test=test.target.to_numpy(),
        z_test=test.sensitive_features,
        notes=[train.DESCR, _counts_note(name, train, test)],
        printed=published()["table_results"][name],
        printed_prevalences=published()["table_quantifier"][name],
        same_data=same_data,
    )


def _counts_note(name: str, train: Any, test: Any) -> str:
    """Say how many rows there are here and in the paper."""
    paper = published()["dataset_counts"][name]
    return (
        f"Rows: {len(train.target)} to train ({_share_z1(train):.1%} Z=1) "
        f"and {len(test.target)} to test ({_share_z1(test):.1%}); "
        f"the paper has {paper['train']} ({paper['train_share_z1']:.1%}) "
        f"and {paper['test']} ({paper['test_share_z1']:.1%})."
    )


def _share_z1(part: Any) -> float:
    """Compute the share of the rows that belong to the paper's group Z=1."""
    in_z1 = part.sensitive_features == part.groups[1]
    return float(in_z1.mean())


def _check_columns(
    train: pd.DataFrame,
    test: pd.DataFrame,
    named: list[str],
) -> None:
    """Raise if a table lacks a named column, or the test table one of the features.

    The test table may have more columns; they are not used.
    """
    for name, table in (("training", train), ("test", test)):
        missing = _missing_columns(named, table)
        if missing:
            raise missing_column(missing[0], table.columns, f"the {name} table")
    missing = _missing_columns(train.columns, test)
    if missing:
        raise ValueError(
            "the test table must have all columns of the training table, "
            f"got none called {missing}."
        )


def _missing_columns(names: Any, table: pd.DataFrame) -> list[str]:
    """List the names that are no columns of the table."""
    return [name for name in names if name not in table.columns]


class _Labels(NamedTuple):
    """Labels 0 and 1 of both tables, and the label that is 1."""

    train: np.ndarray
    test: np.ndarray
    positive: Any


def _binary_labels(train: Any, test: Any, positive: Any) -> _Labels:
    """Turn the labels of both tables into 0 and 1.

    The training table decides which labels there are; the test table may have one of
    them only.
    """
    classes, _ = check_binary_labels(train, "the training table's label")
    labels = classes.tolist()
    # By default the greater label is positive, as scikit-learn sorts classes.
    chosen = labels[1]
    if positive is not None:
        # As text: the command line cannot tell the label 1 from the label "1".
        matching = [value for value in labels if str(value) == str(positive)]
        if not matching:
            raise ValueError(f"positive must be one of {labels}, got {positive!r}.")
        chosen = matching[0]
    y_train = check_labels(train, "the label")
    y_test = check_labels(test, "the label")
    test_labels = np.unique(y_test).tolist()
    unknown = set(test_labels) - set(labels)
    if unknown:
        raise ValueError(
            f"the test table's label must be one of {labels}, "
            f"got also {sorted(unknown)}."
        )
    return _Labels(
        train=(y_train == chosen).astype(int),
        test=(y_test == chosen).astype(int),
        positive=chosen,
    )


def _group_names(
    train: pd.DataFrame, test: pd.DataFrame
) -> tuple[pd.Series, pd.Series]:
    """Name the group of every row of both tables, the combination of its values.

    The names are given to both at once: 1 and "1" are two groups wherever they are.
    """
    groups_of_train = check_groups(train, "the group columns")
    groups_of_test = check_groups(test, "the group columns")
    names = unique_names(dict.fromkeys([*groups_of_train.keys, *groups_of_test.keys]))
    return _named(groups_of_train, names), _named(groups_of_test, names)


def _named(groups: Groups, names: dict[Group, str]) -> pd.Series:
    """Write the name of the group of every row."""
    import pandas as pd

    in_order = np.array([names[key] for key in groups.keys], dtype=object)
    return pd.Series(in_order[groups.codes], name="group")


def _as_numbers(
    train: pd.DataFrame, test: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Turn text, categories, dates and missing values into numbers.

    Returns
    -------
    X_train, X_test : DataFrame
        Floats in the same columns.
    """
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
    return (
        _float_columns(pipeline.fit_transform(train)),
        _float_columns(pipeline.transform(test)),
    )


def _float_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return floats under names that are text, since learners refuse mixed names."""
    names = [str(column) for column in table.columns]
    # Rows are counted from 0 in every table of a problem.
    numbers = table.reset_index(drop=True).astype(float)
    return numbers.set_axis(names, axis=1)
