"""What the first pass over a file found of each row, on disk until the second needs it."""

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
    """The record of a row: its group, its label (-1 is none), what the model as trained says, and its scores.

    Examples
    --------
    >>> row_type(1).itemsize
    14
    """
    scores = ("scores", np.int64, (n_models,))
    return np.dtype(
        [("group", np.int32), ("positive", np.int8), ("unadapted", bool), scores]
    )


class KeptRows:
    """Records of rows (see `row_type`) in a file without a name, which is gone when it is closed or the process ends.

    Parameters
    ----------
    folder : str, Path or None
        On which disk; None is the system's place for temporary files.
    n_models : int
        Scores of a row.

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
        self._file = self._stack.enter_context(tempfile.TemporaryFile(dir=self._folder))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def add(self, records: np.ndarray, groups: Sequence[Group]) -> None:
        """Add rows whose group is a place in ``groups``."""
        for group in groups:
            if group not in self._codes:
                self._codes[group] = len(self.groups)
                self.groups.append(group)
        records["group"] = np.array([self._codes[group] for group in groups], np.int32)[
            records["group"]
        ]
        try:
            self._file.write(records.view(np.uint8).data)
        except OSError as error:
            where = (
                "the folder for temporary files"
                if self._folder is None
                else self._folder
            )
            raise TableError(
                f"{where} has no room for the scores of rows, {self._type.itemsize} bytes each: {error.strerror}."
            ) from error

    def rewind(self) -> None:
        """Go back to the first row."""
        self._file.seek(0)

    def take(self, rows: int) -> np.ndarray:
        """The next rows: as many, or fewer at the end. Groups are places in ``self.groups``."""
        return np.frombuffer(self._file.read(rows * self._type.itemsize), self._type)
