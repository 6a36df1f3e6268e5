"""A problem to compare classifiers on: labelled training rows, and test rows whose labels only the judge sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._groups import check_groups, group_name
from cape._validation import check_binary_labels, check_labels
from cape.datasets import ONE_PANEL, fetch_compas, fetch_meps
from cape.experiments._cells import digest
from cape.experiments._published import published

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Problem", "compas_problem", "meps_problem", "table_problem"]


@dataclass(frozen=True)
class Problem:
    """Rows to learn from and rows to be judged on.

    Parameters
    ----------
    name, title : str
    groups : list of str
        In the order in which tables show them.
    X_train, y_train, z_train, X_test, y_test, z_test
        Numbers, labels 0 and 1 (1 is positive), names of groups.
    notes : list of str
        What was chosen, and why.
    printed : dict
        Rows of the paper's results table, by method; empty for data that is not the paper's.
    printed_prevalences : dict
        ``train``, ``test`` and ``estimate`` of its quantifier table.
    same_data : bool
        Whether the printed numbers are of this data, so that being near them means something.
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

    def digest(self) -> str:
        """A fingerprint of the rows."""
        import pandas as pd

        labels = pd.Series(np.concatenate([self.y_train, self.y_test]))
        return digest(self.X_train, self.X_test, self.z_train, self.z_test, labels)

    def counts(self) -> list[dict[str, Any]]:
        """Rows and prevalence of each group in training and test."""
        return [
            {
                "group": group,
                "rows_train": int((self.z_train == group).sum()),
                "rows_test": int((self.z_test == group).sum()),
                "prevalence_train": float(self.y_train[self.z_train == group].mean()),
                "prevalence_test": float(self.y_test[self.z_test == group].mean()),
            }
            for group in self.groups
        ]


def compas_problem(data_home: Any = None) -> Problem:
    """COMPAS, 2013 to 2014, as the paper uses it.

    Examples
    --------
    >>> compas_problem().groups  # doctest: +SKIP
    ['Caucasian', 'African-American']
    """
    train, test = (
        fetch_compas(subset=subset, data_home=data_home) for subset in ("train", "test")
    )
    return _paper_problem("compas", "COMPAS, 2013 to 2014", train, test, same_data=True)


def meps_problem(data_home: Any = None) -> Problem:
    """MEPS, 2015 to 2016; what variant of it depends on the files there are.

    Examples
    --------
    >>> meps_problem().groups  # doctest: +SKIP
    ['White', 'Non-White']
    """
    train, test = (
        fetch_meps(subset=subset, data_home=data_home) for subset in ("train", "test")
    )
    title = f"{train.variant}, 2015 to 2016"
    return _paper_problem(
        "meps", title, train, test, same_data=ONE_PANEL not in train.variant
    )


def table_problem(
    train: pd.DataFrame,
    test: pd.DataFrame,
    *,
    label: str,
    group: str | Sequence[str],
    positive: Any = None,
) -> Problem:
    """Two tables of one's own, with text, dates and missing values.

    skrub's TableVectorizer, fitted on the training rows alone, makes numbers of all columns but label and groups;
    missing numbers become the training median. Every method gets the same numbers.

    Parameters
    ----------
    train, test : DataFrame
    label : str
        Label column.
    group : str or sequence of str
        Group column, or several whose combinations are the groups.
    positive : label, default=None
        None is the greater of the two labels.

    Returns
    -------
    Problem

    Examples
    --------
    >>> from cape.datasets import make_synthetic
    >>> table = make_synthetic(100, random_state=0).frame
    >>> table_problem(table, table, label="y", group="z").groups
    ['0', '1']
    """
    columns = [group] if isinstance(group, str) else list(group)
    _check_columns(train, test, [label, *columns])
    (y_train, y_test), labels = _zero_and_one(train[label], test[label], positive)
    z_train, z_test = (_named_groups(table[columns]) for table in (train, test))
    if unknown := sorted(set(z_test) - set(z_train)):
        raise ValueError(
            f"the test table must have groups of the training table alone, got also {unknown}."
        )
    kept = [column for column in train.columns if column not in (label, *columns)]
    X_train, X_test = _as_numbers(train[kept], test[kept])
    return Problem(
        name="own",
        title="Own data",
        groups=[name for name in sorted(set(z_train)) if name in set(z_test)],
        X_train=X_train,
        y_train=y_train,
        z_train=z_train,
        X_test=X_test,
        y_test=y_test,
        z_test=z_test,
        notes=[
            f"Positive: {label} = {labels[1]!r}. Groups: {', '.join(columns)}.",
            f"{len(kept)} columns made {X_train.shape[1]} numbers (skrub's TableVectorizer, fitted on the training "
            "rows; missing numbers become the training median).",
        ],
    )


def _paper_problem(
    name: str, title: str, train: Any, test: Any, *, same_data: bool
) -> Problem:
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
        notes=[train.DESCR, _counted(name, train, test)],
        printed=published()["table_results"][name],
        printed_prevalences=published()["table_quantifier"][name],
        same_data=same_data,
    )


def _counted(name: str, train: Any, test: Any) -> str:
    """Rows here and in the paper."""
    paper = published()["dataset_counts"][name]
    shares = [
        float((part.sensitive_features == part.groups[1]).mean())
        for part in (train, test)
    ]
    return (
        f"Rows: {len(train.target)} to train ({shares[0]:.1%} Z=1) and {len(test.target)} to test ({shares[1]:.1%}); "
        f"the paper has {paper['train']} ({paper['train_share_z1']:.1%}) and {paper['test']} "
        f"({paper['test_share_z1']:.1%})."
    )


def _check_columns(train: pd.DataFrame, test: pd.DataFrame, named: list[str]) -> None:
    for name, table in (("training", train), ("test", test)):
        if missing := [column for column in named if column not in table.columns]:
            raise ValueError(
                f"the {name} table must have the columns {missing}, got {list(table.columns)[:20]}."
            )
    if missing := [column for column in train.columns if column not in test.columns]:
        raise ValueError(
            f"the test table must have all columns of the training table, got none called {missing}."
        )


def _zero_and_one(
    train: Any, test: Any, positive: Any
) -> tuple[list[np.ndarray], list[Any]]:
    classes, _ = check_binary_labels(train, "the training table's label")
    labels = classes.tolist()
    if positive is not None:
        matching = [value for value in labels if str(value) == str(positive)]
        if not matching:
            raise ValueError(f"positive must be one of {labels}, got {positive!r}.")
        labels.sort(key=lambda value: value == matching[0])
    found = [check_labels(column, "the label") for column in (train, test)]
    if unknown := set(np.unique(found[1]).tolist()) - set(labels):
        raise ValueError(
            f"the test table's label must be one of {labels}, got also {sorted(unknown)}."
        )
    return [(column == labels[1]).astype(int) for column in found], labels


def _named_groups(columns: pd.DataFrame) -> pd.Series:
    import pandas as pd

    groups = check_groups(columns, "the group columns")
    return pd.Series(
        np.array([group_name(key) for key in groups.keys], dtype=object)[groups.codes],
        name="group",
    )


def _as_numbers(
    train: pd.DataFrame, test: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from skrub import StringEncoder, TableVectorizer

    text = StringEncoder(
        random_state=0
    )  # without a seed the same tables would not give the same numbers twice
    numbers = make_pipeline(
        TableVectorizer(high_cardinality=text),
        SimpleImputer(strategy="median", keep_empty_features=True).set_output(
            transform="pandas"
        ),
    )
    made = (
        numbers.fit_transform(train).reset_index(drop=True),
        numbers.transform(test).reset_index(drop=True),
    )
    return tuple(
        table.astype(float).set_axis([str(c) for c in table.columns], axis=1)
        for table in made
    )  # type: ignore[return-value]
