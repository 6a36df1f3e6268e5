"""Draw rows of a file from the scores that were kept of it: the same rows each time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cape._groups import Group
from cape._labelled import DrawnRows, RowDraw, Strata, cells_of_rows
from cape.classifier import CapeClassifier
from cape.evidence import Evidence
from cape.files._kept import KeptRows
from cape.files._sheet import Draw

__all__ = ["FileDraw", "draw_rows"]

_ROWS_AT_ONCE = 200_000


@dataclass(frozen=True)
class FileDraw:
    """Rows of a file that were drawn.

    Parameters
    ----------
    drawn : DrawnRows
    groups : list of Group
        What the codes of groups mean.
    strata : list of Strata
        Of each group.
    """

    drawn: DrawnRows
    groups: list[Group]
    strata: list[Strata]


def draw_rows(
    clf: CapeClassifier, evidence: Evidence, kept: KeptRows, draw: Draw
) -> FileDraw:
    """Draw rows of a file whose scores were kept.

    The rows depend on the file, the model and the draw, and not on the parts in which
    the file was read.

    Parameters
    ----------
    clf : CapeClassifier
    evidence : Evidence
        Of the file.
    kept : KeptRows
        All rows of the file.
    draw : Draw

    Returns
    -------
    FileDraw
    """
    in_cells = {}
    # In the order of the evidence, which is sorted: that of ``kept`` depends on parts.
    for group in evidence.groups:
        n_cells = len(clf.model_of(group).edges) + 1
        in_cells[group] = np.zeros(n_cells, dtype=np.int64)
    for codes, cells in _cells(clf, kept):
        for code, group in enumerate(kept.groups):
            of_group = cells[codes == code]
            in_cells[group] += np.bincount(of_group, minlength=len(in_cells[group]))
    of_groups = draw.plan.strata(clf, evidence, in_cells)
    strata = [of_groups[group] for group in kept.groups]
    rows = RowDraw(strata, draw.seed)
    for codes, cells in _cells(clf, kept):
        rows.add(codes, cells)
    return FileDraw(rows.result(), kept.groups, strata)


def _cells(
    clf: CapeClassifier, kept: KeptRows
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield codes of groups and cells of scores, some rows at a time."""
    kept.rewind()
    edges = [clf.model_of(group).edges for group in kept.groups]
    while len(records := kept.take(_ROWS_AT_ONCE)):
        codes = records["group"].astype(np.int64)
        cells = np.zeros(len(records), dtype=np.int64)
        for code, of_group in enumerate(edges):
            is_in_group = codes == code
            scores = records["scores"][is_in_group].T
            cells[is_in_group] = cells_of_rows(of_group, scores)
        yield codes, cells
