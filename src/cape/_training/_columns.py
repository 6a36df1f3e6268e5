"""The columns of the training rows, counted for each group and class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cape._group_model import GroupModel, TrainedColumns
from cape._groups import Group
from cape._training._data import TrainingData
from cape._validation import all_if_none, take_rows
from cape.columns import TableCells

__all__ = ["with_columns"]


def with_columns(
    data: TrainingData,
    groups: list[tuple[Group, np.ndarray | None]],
    models: list[GroupModel],
) -> list[GroupModel]:
    """Give the models of groups the counts of their columns.

    The cells are chosen on all rows, so that they are the same for all groups.

    Parameters
    ----------
    data : TrainingData
    groups : list of tuples of group and rows
        Rows as an array of row numbers; None means all rows.
    models : list of GroupModel
        In the same order.

    Returns
    -------
    list of GroupModel
        As they were if X has no columns that can be counted.
    """
    cells = TableCells.of(data.X)
    if cells is None:
        return models
    counted = []
    for model, (_, rows) in zip(models, groups, strict=True):
        counted.append(replace(model, columns=_count_columns(data, cells, rows)))
    return counted


def _count_columns(
    data: TrainingData, cells: TableCells, rows: np.ndarray | None
) -> TrainedColumns:
    """Count the columns of a group, positives and negatives apart."""
    positions = np.arange(len(data.y))[all_if_none(rows)]
    is_positive = data.y[positions] == data.positive
    counts = []
    for of_class in (positions[is_positive], positions[~is_positive]):
        weights = data.worth_of(of_class)
        counted = cells.count(take_rows(data.X, of_class), weights)
        counts.append(counted.counts)
    return TrainedColumns(cells, counts[0], counts[1])
