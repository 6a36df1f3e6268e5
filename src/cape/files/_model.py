"""A model file of ``cape train``: a classifier, and the columns it was trained on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape._tables import Dialect, TableError, iter_table, table_columns
from cape.classifier import CapeClassifier
from cape.files._columns import Columns
from cape.files._model_header import read_model_header
from cape.files._notes import Notes

__all__ = [
    "Part",
    "TableModel",
    "file_hash",
    "load_model",
    "rows_of_a_part",
    "single_thread_if_small",
]

_SMALL_TABLE_ROWS = 20_000

# A part of a file has about this many numbers, and never fewer or more rows than these.
# Each part has a fixed cost, so that small parts are slow; large ones take memory.
_NUMBERS_OF_A_PART = 3_000_000
_MIN_ROWS_OF_A_PART = 50_000
_MAX_ROWS_OF_A_PART = 400_000


@dataclass(frozen=True)
class Part:
    """A part of a file, ready for the classifier.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_columns)
        Features and group columns.
    positive : ndarray of int8 of shape (n_samples,) or None
        The labels: 1, 0, or -1 where a row has none. None if the file has no label
        column.
    """

    X: pd.DataFrame
    positive: np.ndarray | None

    def __len__(self) -> int:
        return len(self.X)


@dataclass(frozen=True)
class TableModel:
    """A classifier and the columns that it was trained on.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted. Its labels are 0 and 1, whatever they are called in the file.
    columns : Columns
        The columns of the training table.
    details : dict
        What `train_file` saved with the model: ``columns``, ``learner``, ``data`` (the
        name of the training file, its rows and its hash) and ``settings``.
    """

    clf: CapeClassifier
    columns: Columns
    details: dict[str, Any]

    @property
    def dialect(self) -> Dialect:
        """How the training file was written, if it was a CSV: later files may be, too.

        A comma, UTF-8 and decimal points if the model does not tell.
        """
        written = self.details.get("data", {}).get("dialect")
        if written is None:
            return Dialect()
        return Dialect(**written)

    def parts(
        self,
        path: str | Path,
        notes: Notes,
        *,
        rows: int,
        dialect: Dialect | None = None,
        names: list[str] | None = None,
        hasher: Any = None,
    ) -> Iterator[Part]:
        """Read a file in parts, with its columns converted to those of training.

        Parameters
        ----------
        path : str or Path
            CSV, Parquet or Arrow.
        notes : Notes
            Collects notes on columns that are not used or had to be converted.
        rows : int
            How many rows a part has.
        dialect : Dialect, optional
            How a CSV is written; None is as that of training.
        names : list of str, optional
            The columns of the file, if they are known already. None reads its header.
        hasher : hashlib object, optional
            Fed with the bytes of the file; complete after the last part.

        Yields
        ------
        Part

        Raises
        ------
        TableError
            If a column is missing or cannot be converted, or if a row has a third
            label.
        """
        dialect = dialect or self.dialect
        if names is None:
            names = table_columns(path, dialect=dialect)
        # Names first: a missing column is found before any row is read.
        labelled = self.columns.check_names(names, path, notes)
        types = self.columns.types(labels=labelled)
        frames = iter_table(
            path,
            rows,
            columns=list(types),
            types=types,
            dialect=dialect,
            names=names,
            hasher=hasher,
        )
        for frame in frames:
            X = self.columns.table(frame, path, notes)
            positive = None
            if labelled:
                positive = self.columns.positive(frame, path)
            yield Part(X, positive)


def rows_of_a_part(n_columns: int) -> int:
    """Tell how many rows to work on at a time: the wider the table, the fewer.

    Parameters
    ----------
    n_columns : int
        Columns of the table, and scores of a row.

    Returns
    -------
    int

    Examples
    --------
    >>> rows_of_a_part(7), rows_of_a_part(30), rows_of_a_part(1000)
    (400000, 100000, 50000)
    """
    rows = _NUMBERS_OF_A_PART // max(n_columns, 1)
    return min(max(rows, _MIN_ROWS_OF_A_PART), _MAX_ROWS_OF_A_PART)


def load_model(path: str | Path) -> TableModel:
    """Load a model that ``cape train`` or `train_file` wrote.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    TableModel

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TableError
        If the model was saved in Python with `cape.persist.save`: it has no columns.
    ValueError
        If the file is damaged or altered.

    Examples
    --------
    >>> load_model("nowhere.cape")
    Traceback (most recent call last):
    FileNotFoundError: there is no file nowhere.cape.
    """
    from cape import persist

    header, columns = read_model_header(path)
    clf = persist.load(path)
    if clf.fingerprint_ != header["fingerprint"]:
        raise TableError(f"{path} was replaced while it was read: try again.")
    return TableModel(clf, columns, header["details"])


@contextmanager
def single_thread_if_small(rows: int) -> Iterator[None]:
    """Let numerical libraries use one thread if a table is small.

    Below 20,000 rows, threads cost more than they save, and most of all on a machine
    that is busy.

    Parameters
    ----------
    rows : int
        Rows of the table.
    """
    from threadpoolctl import threadpool_limits

    if rows < _SMALL_TABLE_ROWS:
        with threadpool_limits(limits=1):
            yield
    else:
        yield


def file_hash(path: str | Path) -> str:
    """Compute the SHA-256 of a file.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> _ = (folder / "empty.csv").write_text("")
    >>> file_hash(folder / "empty.csv")[:12]
    'e3b0c44298fc'
    """
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
