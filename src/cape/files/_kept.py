"""Scores of rows on disk, between the two passes over a file.

The first pass scores every row and sums the evidence; only then is it known which
member of the pool decides. The second pass needs the scores again. Scoring twice would
double the time, and keeping the scores in memory would bound the size of the file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from cape._groups import Group
from cape._tables import TableError

__all__ = ["KeptRows", "row_type"]


def row_type(n_models: int) -> np.dtype:
    """Describe the record that is kept for a row.

    Parameters
    ----------
    n_models : int
        How many scores a row has.

    Returns
    -------
    dtype
        With the fields ``group`` (a code), ``positive`` (the label: 1, 0, or -1 for
        none), ``unadapted`` (whether the model as trained predicts a positive) and
        ``scores`` (of shape (n_models,)).

    Examples
    --------
    >>> row_type(1).itemsize
    14
    """
    fields: list[Any] = [
        ("group", np.int32),
        ("positive", np.int8),
        ("unadapted", bool),
        ("scores", np.int64, (n_models,)),
    ]
    return np.dtype(fields)


class KeptRows:
    """Records of rows (see `row_type`) in a temporary file.

    The file has no name: it is gone when it is closed, or when the process ends.

    Parameters
    ----------
    folder : str, Path or None
        The folder whose disk holds the file; None takes the system's folder for
        temporary files.
    n_models : int
        How many scores a row has.

    Attributes
    ----------
    groups : list of Group
        The groups of all rows; the field ``group`` of a record is a place in it.

    Examples
    --------
    >>> with KeptRows(None, 1) as kept:
    ...     kept.add(np.zeros(3, row_type(1)), ["blue"])
    ...     kept.add(np.zeros(2, row_type(1)), ["green"])
    ...     kept.rewind()
    ...     [kept.groups[row["group"]] for row in kept.take(4)]
    ['blue', 'blue', 'blue', 'green']
    """

    def __init__(self, folder: str | Path | None, n_models: int):
        self.groups: list[Group] = []
        self._type = row_type(n_models)
        self._codes: dict[Group, int] = {}
        self._folder = folder
        self._stack = ExitStack()

    def __enter__(self) -> KeptRows:
        # On POSIX systems the file loses its name as soon as it is open: even a process
        # that is killed leaves nothing behind.
        self._file = self._stack.enter_context(tempfile.TemporaryFile(dir=self._folder))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def add(self, records: np.ndarray, groups: Sequence[Group]) -> None:
        """Append rows.

        Parameters
        ----------
        records : ndarray of `row_type` of shape (n_samples,)
            Their field ``group`` is a place in ``groups``; it is changed in place to a
            place in ``self.groups``.
        groups : sequence of Group
            The groups of these rows. Each part of a file has a numbering of its own.

        Raises
        ------
        TableError
            If the disk is full.
        """
        # Parts see groups in their own order; the second pass needs one numbering.
        new_codes = np.array([self._code(group) for group in groups], np.int32)
        records["group"] = new_codes[records["group"]]
        # Records are written as they are in memory, and read back with the same type.
        try:
            self._file.write(records.view(np.uint8).data)
        except OSError as error:
            folder = self._folder or "the folder for temporary files"
            raise TableError(
                f"{folder} has no room for the scores of rows, "
                f"{self._type.itemsize} bytes each: {error.strerror}."
            ) from error

    def _code(self, group: Group) -> int:
        """Return the place of a group in ``self.groups``, appending a new group."""
        if group not in self._codes:
            self._codes[group] = len(self.groups)
            self.groups.append(group)
        return self._codes[group]

    def rewind(self) -> None:
        """Go back to the first row."""
        self._file.seek(0)

    def take(self, rows: int) -> np.ndarray:
        """Read the next rows.

        Parameters
        ----------
        rows : int
            How many.

        Returns
        -------
        ndarray of `row_type` of shape (rows,)
            Fewer at the end of the file, and none after it.
        """
        content = self._file.read(rows * self._type.itemsize)
        return np.frombuffer(content, self._type)
