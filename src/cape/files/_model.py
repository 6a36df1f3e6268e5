"""A model file: the classifier with what it knows of its table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape._tables import Dialect, TableError, iter_table, table_columns
from cape.classifier import CapeClassifier
from cape.files._columns import Columns
from cape.files._notes import Notes

__all__ = [
    "Part",
    "TableModel",
    "few_threads",
    "file_hash",
    "load_model",
    "rows_of_a_part",
]

_SMALL = 20_000

_NUMBERS = 3_000_000
_FEWEST, _MOST = 50_000, 400_000


@dataclass(frozen=True)
class Part:
    """Some rows of a file, ready for the classifier.

    Parameters
    ----------
    X : DataFrame
        Features and group columns.
    positive : ndarray of int8 or None
        1, 0, or -1 where a row has no label; None when the file has none.
    """

    X: pd.DataFrame
    positive: np.ndarray | None

    def __len__(self) -> int:
        return len(self.X)


@dataclass(frozen=True)
class TableModel:
    """A classifier and the columns it was trained on.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted, its labels 0 and 1 (positive).
    columns : Columns
    details : dict
        All that ``cape train`` noted: learner, data hash, options.
    """

    clf: CapeClassifier
    columns: Columns
    details: dict[str, Any]

    def parts(
        self,
        path: str | Path,
        notes: Notes,
        *,
        rows: int,
        dialect: Dialect | None = None,
    ) -> Iterator[Part]:
        """Read a file in parts, bringing its columns to the kinds of the training file."""
        labelled = self.columns.check_names(
            table_columns(path, dialect=dialect), path, notes
        )
        types = self.columns.types(labels=labelled)
        for frame in iter_table(
            path, rows, columns=list(types), types=types, dialect=dialect
        ):
            X = self.columns.table(frame, path, notes)
            yield Part(X, self.columns.positive(frame, path) if labelled else None)


def rows_of_a_part(n_columns: int) -> int:
    """Rows to work on at a time: many, since tables have fixed costs, and the fewer the wider they are.

    Examples
    --------
    >>> rows_of_a_part(7), rows_of_a_part(30), rows_of_a_part(1000)
    (400000, 100000, 50000)
    """
    return min(max(_NUMBERS // max(n_columns, 1), _FEWEST), _MOST)


def load_model(path: str | Path) -> TableModel:
    """Read a model that ``cape train`` wrote.

    Examples
    --------
    >>> load_model("nowhere.cape")
    Traceback (most recent call last):
    FileNotFoundError: there is no file nowhere.cape.
    """
    from cape import persist

    if not Path(path).exists():
        raise FileNotFoundError(f"there is no file {path}.")
    details = persist.read_header(path)["details"]
    if "columns" not in details:
        raise TableError(
            f"{path} was not written by cape train: load it in Python with cape.persist.load."
        )
    return TableModel(
        persist.load(path), Columns.from_dict(details["columns"]), details
    )


@contextmanager
def few_threads(rows: int) -> Iterator[None]:
    """One thread for a small table: there, threads cost more than they save, and most of all on a busy machine."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1) if rows < _SMALL else nullcontext():
        yield


def file_hash(path: str | Path) -> str:
    """SHA-256 of a file's bytes."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
