"""Labels of a sheet that came back, as evidence of the file they were drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape._groups import Group, group_name
from cape._labelled import SAMPLE_LEVEL, returned_p_value
from cape._tables import TableError
from cape.evidence import Evidence
from cape.files._kept import KeptRows
from cape.files._model import Part, TableModel, single_thread_if_small
from cape.files._notes import Notes
from cape.files._redraw import FileDraw, draw_rows
from cape.files._sheet import KEY, CheckedLabel, read_sheet

__all__ = ["CheckedGroup", "CheckedSheet", "SheetLabels"]


@dataclass(frozen=True)
class CheckedGroup:
    """What came back of the rows of a group that were drawn.

    Parameters
    ----------
    drawn, returned : int
        Rows that were drawn, and how many of them came back with a label.
    p_value : float
        Of the test whether they are a sample of the rows drawn; NaN if none came back.
    used : bool
        Whether the labels are used.
    """

    drawn: int
    returned: int
    p_value: float
    used: bool


@dataclass(frozen=True)
class CheckedSheet:
    """What came back of a sheet.

    Parameters
    ----------
    groups : mapping from group to CheckedGroup
    """

    groups: Mapping[Group, CheckedGroup]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return a list that JSON can hold, with an entry for each group."""
        entries = []
        for group, checked in self.groups.items():
            entries.append(
                {
                    "group": group_name(group),
                    "drawn": checked.drawn,
                    "returned": checked.returned,
                    "p_value": None if isnan(checked.p_value) else checked.p_value,
                    "used": checked.used,
                }
            )
        return entries


class SheetLabels:
    """Labels of a sheet, and the rows of the file that they belong to.

    Parameters
    ----------
    path : Path
        The sheet, for messages.
    model : TableModel
    labels : list of CheckedLabel
    """

    def __init__(self, path: Path, model: TableModel, labels: list[CheckedLabel]):
        self._path = path
        self._model = model
        self._labels = labels
        wanted = {label.row - 1 for label in labels}
        self._wanted = np.array(sorted(wanted), dtype=np.int64)
        self._n_rows = 0
        self._parts: list[pd.DataFrame] = []

    @classmethod
    def read(cls, path: str | Path, model: TableModel) -> SheetLabels:
        """Read a sheet, and check that it comes from one draw."""
        labels = read_sheet(path, model.columns)
        for label in labels:
            if label.draw != labels[0].draw:
                raise TableError(
                    f"{path}, line {label.line}: rows must come from one call of cape "
                    f"sample, got {KEY} {label.key!r} beside {labels[0].key!r}."
                )
        return cls(Path(path), model, labels)

    def collect(self, part: Part) -> None:
        """Keep the rows of a part whose labels are known; parts come in order."""
        first, last = np.searchsorted(
            self._wanted, [self._n_rows, self._n_rows + len(part)]
        )
        positions = self._wanted[first:last] - self._n_rows
        if len(positions):
            self._parts.append(part.X.iloc[positions])
        self._n_rows += len(part)

    def add_to(
        self, evidence: Evidence, kept: KeptRows, file_hash: str, notes: Notes
    ) -> tuple[Evidence, CheckedSheet | None]:
        """Add the labels to the evidence of the file.

        Parameters
        ----------
        evidence : Evidence
            Of the file, without labels.
        kept : KeptRows
            All rows of the file.
        file_hash : str
            Hash of the file.
        notes : Notes
            Told what is not used.

        Returns
        -------
        evidence : Evidence
        checked : CheckedSheet or None
            None if the sheet has no label.

        Raises
        ------
        TableError
            If a key is that of another file or model.
        """
        if not self._labels:
            notes.say(f"{self._path} has no label: no row was checked.")
            return evidence, None
        self._check_keys(file_hash)
        clf = self._model.clf
        draw = draw_rows(clf, evidence, kept, self._labels[0].draw)
        codes = self._codes_of(draw)
        # Filled in group by group.
        probabilities = np.zeros(len(codes))
        groups = {}
        for group in evidence.groups:
            code = draw.groups.index(group)
            groups[group] = _check_group(draw, code, codes, probabilities)
            if not groups[group].used:
                codes[draw.drawn.groups == code] = -1
        _say_unused(groups, notes)
        labelled = self._labelled_evidence(draw, codes, probabilities)
        return _with_labels(evidence, labelled), CheckedSheet(groups)

    def _check_keys(self, file_hash: str) -> None:
        fingerprint = self._model.clf.fingerprint_
        for label in self._labels:
            if label.key != label.draw.key(label.row, file_hash, fingerprint):
                raise TableError(
                    f"{self._path}, line {label.line}: the {KEY} {label.key!r} is not "
                    "that of a row of this file drawn with this model."
                )

    def _codes_of(self, draw: FileDraw) -> np.ndarray:
        """Return 1, 0 or -1 (no label) for each row that was drawn."""
        places = {int(row): place for place, row in enumerate(draw.drawn.rows)}
        codes = np.full(len(draw.drawn), -1)
        for label in self._labels:
            if label.row - 1 not in places:
                raise TableError(
                    f"{self._path}, line {label.line}: row {label.row} is not among "
                    "the rows drawn. Another version of cape may have drawn it."
                )
            codes[places[label.row - 1]] = label.positive
        return codes

    def _labelled_evidence(
        self, draw: FileDraw, codes: np.ndarray, probabilities: np.ndarray
    ) -> Evidence:
        """Count the rows that have a label."""
        X = pd.concat(self._parts, ignore_index=True)
        of_row = dict(zip(draw.drawn.rows.tolist(), range(len(codes)), strict=True))
        places = np.array([of_row[row] for row in self._wanted.tolist()])
        y = np.where(codes[places] < 0, np.nan, codes[places])
        clf = self._model.clf
        with single_thread_if_small(len(X)):
            return clf.evidence(X, y, inclusion_probability=probabilities[places])


def _check_group(
    draw: FileDraw, code: int, codes: np.ndarray, probabilities: np.ndarray
) -> CheckedGroup:
    """Test what came back of a group, and write down its probabilities in place."""
    in_group = draw.drawn.groups == code
    returned = codes[in_group] >= 0
    n_drawn = int(in_group.sum())
    n_returned = int(returned.sum())
    if n_returned == 0:
        return CheckedGroup(n_drawn, 0, nan, False)
    strata = draw.strata[code]
    of_rows = draw.drawn.strata[in_group]
    counts = np.bincount(of_rows[returned], minlength=len(strata.rows))
    probabilities[in_group] = strata.probabilities_of(counts)[of_rows]
    p_value = returned_p_value(draw.drawn.cells[in_group], returned)
    return CheckedGroup(n_drawn, n_returned, p_value, p_value >= SAMPLE_LEVEL)


def _say_unused(groups: Mapping[Group, CheckedGroup], notes: Notes) -> None:
    for group, checked in groups.items():
        if checked.returned and not checked.used:
            notes.say(
                f"labels of {group_name(group)!r} are not used: the {checked.returned} "
                f"of {checked.drawn} drawn rows that came back are no random sample of "
                f"them (p = {checked.p_value:.2g})."
            )


def _with_labels(evidence: Evidence, labelled: Evidence) -> Evidence:
    """Add the labelled rows to the evidence that counts them without labels."""
    groups = dict(evidence.groups)
    for group, part in labelled.groups.items():
        groups[group] = replace(groups[group], labelled=part.labelled)
    return Evidence(evidence.fingerprint, groups)
