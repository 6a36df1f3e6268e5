"""The columns of the training rows, counted for each group and class."""

from __future__ import annotations

import numpy as np

from cape._group_model import TrainedColumns
from cape._training._data import TrainingData
from cape._validation import all_if_none, take_rows
from cape.columns import TableCells

__all__ = ["count_columns"]


def count_columns(
    data: TrainingData, cells: TableCells, rows: np.ndarray | None
) -> TrainedColumns:
    """Count the columns of a group, positives and negatives apart.

    Parameters
    ----------
    data : TrainingData
    cells : TableCells
        Chosen on all rows, so that they are the same for all groups.
    rows : ndarray of int or None
        The rows of the group; None means all.

    Returns
    -------
    TrainedColumns
    """
    positions = np.arange(len(data.y))[all_if_none(rows)]
    is_positive = data.y[positions] == data.positive
    counts = []
    for of_class in (positions[is_positive], positions[~is_positive]):
        weights = data.worth_of(of_class)
        counted = cells.count(take_rows(data.X, of_class), weights)
        counts.append(counted.counts)
    return TrainedColumns(cells, counts[0], counts[1])
