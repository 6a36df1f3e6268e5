"""Whether labelled rows look drawn from the batch.

Estimates from labels hold for a random sample. Outcomes that are known early, or files
that are easy to check, are none, and mostly their scores or columns show it.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc

from cape._group_model import GroupModel
from cape._labelled._sample import LabelledSample, row_weights
from cape._shift_test import holm
from cape.evidence import GroupEvidence

__all__ = ["drawn_p_value", "returned_p_value"]

_ROWS_PER_CELL = 5

_MOST_PARTS = 6
_SHUFFLES = 9_999


def drawn_p_value(
    model: GroupModel, evidence: GroupEvidence, sample: LabelledSample
) -> float:
    """Test whether scores and columns of labelled rows look drawn from the batch.

    Parameters
    ----------
    model : GroupModel
    evidence : GroupEvidence
    sample : LabelledSample
        The labelled rows of the evidence.

    Returns
    -------
    float
        The smallest p-value of scores and columns, adjusted by Holm's method; 1 if
        every row is labelled.
    """
    if sample.excess.sum() == 0:
        return 1.0
    # The variance of a weighted mean is that of so many rows (Kish 1965), less the
    # finite batch correction: m / (1 - m/N) if rows were drawn plainly.
    effective_rows = sample.weights.sum() ** 2 / sample.excess.sum()
    p_values = [_p_value(sample.batch, sample.weights.sum(axis=0), effective_rows)]
    if model.columns is not None and evidence.columns is not None:
        cells = model.columns.cells
        labelled = _weighted_columns(evidence)
        for place in range(len(cells.columns)):
            batch = cells.of_column(evidence.columns.counts, place)
            drawn = cells.of_column(labelled, place)
            p_values.append(_p_value(batch, drawn, effective_rows))
    return min(holm(p_values))


def returned_p_value(cells: np.ndarray, returned: np.ndarray) -> float:
    """Test whether rows whose label came back look drawn from the rows that were drawn.

    Drawn rows are cut into up to six parts of their score, and the numbers that came
    back are compared with those of random rows.

    Parameters
    ----------
    cells : ndarray of int of shape (n_drawn,)
        Cells of the scores of the rows drawn.
    returned : ndarray of bool of shape (n_drawn,)
        Whether their labels came back.

    Returns
    -------
    float
        1 if all came back, or if there are too few rows to test.
    """
    n_returned = int(returned.sum())
    n_parts = min(_MOST_PARTS, len(cells) // _ROWS_PER_CELL)
    if n_parts < 2 or n_returned in (0, len(cells)):
        return 1.0
    order = np.argsort(cells, kind="stable")
    parts = np.array_split(returned[order], n_parts)
    sizes = np.array([len(part) for part in parts])
    observed = np.array([part.sum() for part in parts])
    # Few rows may be missing, so that chi-square would not hold: shuffle.
    random = np.random.default_rng(0)
    shuffled = random.multivariate_hypergeometric(sizes, n_returned, _SHUFFLES)
    expected = sizes * n_returned / len(cells)
    statistic = ((observed - expected) ** 2 / sizes).sum()
    as_large = ((shuffled - expected) ** 2 / sizes).sum(axis=1) >= statistic - 1e-9
    return float((1 + as_large.sum()) / (1 + _SHUFFLES))


def _weighted_columns(evidence: GroupEvidence) -> np.ndarray:
    """Add up the columns of labelled rows, each with its weight."""
    total = np.zeros(len(evidence.columns.counts))  # type: ignore[union-attr]
    weights = row_weights(evidence)
    for weight, rows in zip(weights, evidence.labelled.values(), strict=True):
        total += weight * rows.positives.columns.counts  # type: ignore[union-attr]
        total += weight * rows.negatives.columns.counts  # type: ignore[union-attr]
    return total


def _p_value(batch: np.ndarray, drawn: np.ndarray, effective_rows: float) -> float:
    """Compare shares of cells by Pearson's chi-square."""
    expected = batch / batch.sum()
    observed = drawn / drawn.sum()
    starts = _starts_of_cells(expected * effective_rows)
    if len(starts) < 2:
        return 1.0
    expected = np.add.reduceat(expected, starts)
    observed = np.add.reduceat(observed, starts)
    statistic = effective_rows * ((observed - expected) ** 2 / expected).sum()
    return float(chdtrc(len(starts) - 1, statistic))


def _starts_of_cells(expected: np.ndarray) -> np.ndarray:
    """Merge neighbouring cells until each expects five rows; return their starts."""
    # A cell ends where the sum passes the next multiple of five; the last one joins its
    # neighbour.
    starts = [0]
    rows = 0.0
    for cell, more in enumerate(expected):
        if rows >= _ROWS_PER_CELL and expected[cell:].sum() >= _ROWS_PER_CELL:
            starts.append(cell)
            rows = 0.0
        rows += more
    return np.array(starts)
