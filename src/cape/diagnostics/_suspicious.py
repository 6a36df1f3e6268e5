"""Columns of a training table that will do harm in later batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from cape._validation import (
    check_binary_labels,
    check_random_state,
    check_same_length,
    take_columns,
    take_rows,
)
from cape.diagnostics._suspicious_answers import Answers, reason_answer
from cape.diagnostics._suspicious_dates import reason_date
from cape.diagnostics._suspicious_identifiers import (
    reason_identifier,
    reason_row_number,
)
from cape.diagnostics._table_column import TableColumn, read_column

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SuspiciousColumn", "SuspiciousColumns", "suspicious_columns"]


@dataclass(frozen=True)
class SuspiciousColumn:
    """A column that should not be learned from.

    Parameters
    ----------
    column : str or int
        Its name, or its place in an array.
    kind : {"row number", "tells the answer", "date", "identifier"}
        What is wrong with it.
    why : str
        What was seen, in words. Counts are of the rows that were looked at.
    """

    column: Any
    kind: str
    why: str


@dataclass(frozen=True)
class SuspiciousColumns:
    """Result of `suspicious_columns`.

    Parameters
    ----------
    findings : tuple of SuspiciousColumn
        In the order of the table; a column is named once.
    rows : int
        Number of rows that were looked at.
    rows_in_table : int
        Number of rows of the table.
    """

    findings: tuple[SuspiciousColumn, ...]
    rows: int
    rows_in_table: int

    @property
    def columns(self) -> list[Any]:
        """The suspicious columns, as ``DataFrame.drop`` takes them."""
        return [finding.column for finding in self.findings]

    def of_kind(self, kind: str) -> list[SuspiciousColumn]:
        """Return the findings of one kind."""
        return [finding for finding in self.findings if finding.kind == kind]

    def table(self) -> pd.DataFrame:
        """Return the findings as a data frame.

        Returns
        -------
        DataFrame
            Indexed by column, with ``kind`` and ``why``.
        """
        import pandas as pd

        rows = [asdict(finding) for finding in self.findings]
        frame = pd.DataFrame(rows, columns=["column", "kind", "why"])
        return frame.set_index("column")

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as a dict that JSON can hold.

        Returns
        -------
        dict
            ``findings`` is a list with one entry for each column.
        """
        entries = []
        for finding in self.findings:
            entries.append({**asdict(finding), "column": str(finding.column)})
        return {
            "rows": self.rows,
            "rows_in_table": self.rows_in_table,
            "findings": entries,
        }

    def __repr__(self) -> str:
        if not self.findings:
            return "SuspiciousColumns(none found)"
        lines = ["SuspiciousColumns("]
        for finding in self.findings:
            lines.append(f"  {finding.column}: {finding.kind}, {finding.why}")
        lines.append(")")
        return "\n".join(lines)


def suspicious_columns(
    X: Any, y: Any, *, max_rows: int = 10_000, random_state: Any = 0
) -> SuspiciousColumns:
    """Find columns that will fail in later batches, and columns that tell the answer.

    A model must not learn from these columns:

    - row numbers,
    - columns that tell the answer: one column alone has an AUC above .98, or all rows
      with one of its values are positive. It was most likely filled in after the answer
      was known,
    - dates and times, also as text or numbers: those of a later batch come after all of
      training,
    - identifiers: text in which nearly all values are different, and whole numbers that
      were given out once or follow the order of the rows.

    A finding is a suspicion from the values alone. Names of columns are not looked at,
    and a table without findings may still hold the answer in a combination of columns.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        The features: numpy, a list of rows, pandas or polars.
    y : array-like of shape (n_samples,)
        Labels of two classes; the greater is the positive one.
    max_rows : int, default=10000
        Of a longer table, a random sample of this many rows is looked at, in the order
        of the table.
    random_state : int, RandomState or None, default=0
        Seed of the sample, and of the halves in which the AUC of text is computed.

    Returns
    -------
    SuspiciousColumns

    Raises
    ------
    ValueError
        If X is sparse or no table, if the lengths differ, or if there are not two
        classes.

    Examples
    --------
    >>> from cape.diagnostics import suspicious_columns
    >>> X = train.data.assign(
    ...     case=range(2000), again=2 * train.target, day=pd.Timestamp("2013-08-14")
    ... )
    >>> found = suspicious_columns(X, train.target)
    >>> found
    SuspiciousColumns(
      case: row number, counts the rows
      again: tells the answer, alone has an AUC of 1.000
      day: date, holds dates
    )
    >>> X.drop(columns=found.columns).columns.tolist() == list(train.data.columns)
    True
    """
    _, positive = check_binary_labels(y)
    X = _as_table(X)
    n_rows = check_same_length(X=X, y=positive)
    if max_rows < 1:
        raise ValueError(f"max_rows must be at least 1, got {max_rows!r}.")
    random = check_random_state(random_state)
    rows = np.arange(n_rows)
    if n_rows > max_rows:
        rows = np.sort(random.choice(n_rows, max_rows, replace=False))
        X = take_rows(X, rows)
    answers = Answers.split(positive[rows], random)
    findings = []
    for place, name in enumerate(_names(X)):
        column = read_column(take_columns(X, place))
        finding = _find(name, column, rows, answers)
        if finding is not None:
            findings.append(finding)
    return SuspiciousColumns(tuple(findings), len(rows), n_rows)


def _as_table(X: Any) -> Any:
    """Return a data frame as it came, and anything else as an array of two dimensions.

    Raises
    ------
    ValueError
        If X is no table, or sparse.
    """
    if sparse.issparse(X):
        raise ValueError(
            "X must be a data frame or an array, got a sparse matrix, whose columns "
            "are not looked at one by one."
        )
    if hasattr(X, "columns"):
        return X
    if not isinstance(X, np.ndarray):
        # The rows of a list may hold numbers and text, and numbers must not become
        # text.
        X = np.array(X, dtype=object)
    if X.ndim != 2:
        raise ValueError(
            "X must be a table of shape (n_samples, n_features), got an array of "
            f"shape {X.shape}."
        )
    return X


def _names(X: Any) -> list[Any]:
    """Return the names of the columns, or their places if they have none."""
    if hasattr(X, "columns"):
        return list(X.columns)
    return list(range(X.shape[1]))


def _find(
    name: Any, column: TableColumn, rows: np.ndarray, answers: Answers
) -> SuspiciousColumn | None:
    """Return the first thing that is wrong with a column, or None."""
    # In a table that is sorted by the label, row numbers tell the answer; details of an
    # event may be dates or identifiers, and that they tell the answer is worse.
    checks: dict[str, Callable[[], str | None]] = {
        "row number": lambda: reason_row_number(column, rows),
        "tells the answer": lambda: reason_answer(column, answers),
        "date": lambda: reason_date(column),
        "identifier": lambda: reason_identifier(column),
    }
    for kind, check in checks.items():
        why = check()
        if why is not None:
            return SuspiciousColumn(name, kind, why)
    return None
