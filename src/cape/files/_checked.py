"""A sheet of rows that came back with labels, as evidence of the file it is from.

A person fills the sheet in, in a spreadsheet program, which may sort it, write
semicolons for commas and 1.0 for 1, and save it in another encoding.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from cape._evidence import Evidence
from cape._groups import Group, group_name
from cape._labelled import SAMPLE_LEVEL, returned_p_value
from cape._tables import TableError, missing_column, table_format
from cape.examination._needed import LabelPlan
from cape.files._columns import Columns, plain_value
from cape.files._model import TableModel
from cape.files._notes import Notes
from cape.files._sample import KEY, Draw, FileDraw, draw_rows
from cape.files._scan import KeptRows, Part, single_thread_if_small

_SEPARATORS = ",;\t|"
_KEY = re.compile(
    r"(?P<n>\d+)-(?P<spread>equal|proportional|width0\.\d+)-(?P<seed>\d+)"
    r"-(?P<row>\d+)-(?P<hash>[0-9a-f]{16})"
)


class CheckedGroup(NamedTuple):
    """What came back of the rows of a group that were drawn.

    Parameters
    ----------
    drawn, returned : int
        Rows that were drawn, and how many of them came back with a label.
    p_value : float or None
        Of the test whether they are a sample of the rows drawn; None if none came back.
    used : bool
        Whether the labels are used.
    """

    drawn: int
    returned: int
    p_value: float | None
    used: bool


class SheetLabels:
    """Labels of a sheet, and the rows of the file that they belong to.

    Parameters
    ----------
    path : str or Path
        The sheet, which must come from one draw.
    model : TableModel
    """

    def __init__(self, path: str | Path, model: TableModel):
        self._path = path
        self._model = model
        self._labels = read_sheet(path, model.columns)
        for label in self._labels:
            if label.draw != self._labels[0].draw:
                raise TableError(
                    f"{path}, line {label.line}: rows must come from one call of cape "
                    f"sample, got {KEY} {label.key!r} beside {self._labels[0].key!r}."
                )
        rows = {label.row - 1 for label in self._labels}
        self._wanted = np.array(sorted(rows), dtype=np.int64)
        self._n_rows = 0
        self._parts: list[pd.DataFrame] = []

    def collect(self, part: Part) -> None:
        """Keep the rows of a part whose labels are known; parts come in order."""
        n_rows = self._n_rows + len(part.X)
        first, last = np.searchsorted(self._wanted, [self._n_rows, n_rows])
        if last > first:
            self._parts.append(part.X.iloc[self._wanted[first:last] - self._n_rows])
        self._n_rows = n_rows

    def add_to(
        self, evidence: Evidence, kept: KeptRows, file_hash: str, notes: Notes
    ) -> tuple[Evidence, dict[Group, CheckedGroup] | None]:
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
        checked : dict from group to CheckedGroup, or None
            None if the sheet has no label.

        Raises
        ------
        TableError
            If a key is that of another file or model.
        """
        if not self._labels:
            notes.say("no_label_in_sheet", path=str(self._path))
            return evidence, None
        clf = self._model.clf
        for label in self._labels:
            if label.key != label.draw.key(label.row, file_hash, clf.fingerprint_):
                raise TableError(
                    f"{self._path}, line {label.line}: the {KEY} {label.key!r} is not "
                    "that of a row of this file drawn with this model."
                )
        draw = draw_rows(clf, evidence, kept, self._labels[0].draw)
        places = {row: place for place, row in enumerate(draw.drawn.rows.tolist())}
        codes = self._codes_of(places)
        # Filled in group by group.
        probabilities = np.zeros(len(codes))
        groups = {}
        for group in evidence.groups:
            code = draw.groups.index(group)
            checked = _check_group(draw, code, codes, probabilities)
            groups[group] = checked
            if not checked.used:
                codes[draw.drawn.groups == code] = -1
            if checked.returned and not checked.used:
                notes.say(
                    "labels_not_used",
                    group=group_name(group),
                    returned=checked.returned,
                    drawn=checked.drawn,
                    p_value=checked.p_value,
                )
        X = pd.concat(self._parts, ignore_index=True)
        of_rows = np.array([places[row] for row in self._wanted.tolist()])
        y = np.where(codes[of_rows] < 0, np.nan, codes[of_rows])
        with single_thread_if_small(len(X)):
            labelled = clf.evidence(X, y, inclusion_probability=probabilities[of_rows])
        # The evidence of the file counts these rows already, without labels.
        counted = dict(evidence.groups)
        for group, part in labelled.groups.items():
            counted[group] = replace(counted[group], labelled=part.labelled)
        return Evidence(evidence.fingerprint, counted), groups

    def _codes_of(self, places: Mapping[int, int]) -> np.ndarray:
        """Return 1, 0 or -1 (no label) for each row that was drawn."""
        codes = np.full(len(places), -1)
        for label in self._labels:
            if label.row - 1 not in places:
                raise TableError(
                    f"{self._path}, line {label.line}: row {label.row} is not among "
                    "the rows drawn. Another version of cape may have drawn it."
                )
            codes[places[label.row - 1]] = label.positive
        return codes


def _check_group(
    draw: FileDraw, code: int, codes: np.ndarray, probabilities: np.ndarray
) -> CheckedGroup:
    """Test what came back of a group, and write down its probabilities in place."""
    in_group = draw.drawn.groups == code
    returned = codes[in_group] >= 0
    n_drawn = int(in_group.sum())
    n_returned = int(returned.sum())
    if n_returned == 0:
        return CheckedGroup(n_drawn, 0, None, False)
    strata = draw.strata[code]
    of_rows = draw.drawn.strata[in_group]
    counts = np.bincount(of_rows[returned], minlength=len(strata.rows))
    probabilities[in_group] = strata.probabilities_of(counts)[of_rows]
    p_value = returned_p_value(draw.drawn.cells[in_group], returned)
    return CheckedGroup(n_drawn, n_returned, p_value, p_value >= SAMPLE_LEVEL)


class CheckedLabel(NamedTuple):
    """A row of a sheet that came back with a label.

    Parameters
    ----------
    key : str
    draw : Draw
        What the key says of the draw.
    row : int
        What the key says of the row; the first is 1.
    positive : bool
        Whether the label is the positive one.
    line : int
        The line of the sheet.
    """

    key: str
    draw: Draw
    row: int
    positive: bool
    line: int


def read_sheet(path: str | Path, columns: Columns) -> list[CheckedLabel]:
    """Read the labels of a sheet that was filled in.

    Only the key and the label of a row are read. Rows without a label are left out.

    Parameters
    ----------
    path : str or Path
        CSV with any usual separator.
    columns : Columns
        Of the model: its label column and labels.

    Returns
    -------
    list of CheckedLabel
        One for each key, in the order of the sheet.

    Raises
    ------
    TableError
        If a column is missing, a label is unknown, a key was changed, or a key has two
        different labels. The message names the line.
    """
    labels: dict[str, CheckedLabel] = {}
    for line, key, label in _fields(Path(path), columns.label):
        if not label:
            continue
        where = f"{path}, line {line}"
        positive = _is_positive(label, columns, where)
        checked = _checked_label(key, positive, line, where)
        earlier = labels.setdefault(key, checked)
        if earlier.positive != positive:
            raise TableError(
                f"{where}: the {KEY} {key!r} has another label in line {earlier.line}."
            )
    return list(labels.values())


def _checked_label(key: str, positive: bool, line: int, where: str) -> CheckedLabel:
    """Read what stands in clear in a key."""
    match = _KEY.fullmatch(key)
    if match is None:
        raise TableError(
            f"{where}: a row with a label must have the {KEY} that cape sample wrote, "
            f"got {key!r}."
        )
    spread = match["spread"]
    if spread.startswith("width"):
        plan = LabelPlan(width=float(spread.removeprefix("width")))
    else:
        plan = LabelPlan(int(match["n"]), spread)
    draw = Draw(plan, int(match["seed"]))
    return CheckedLabel(key, draw, int(match["row"]), positive, line)


def _is_positive(text: str, columns: Columns, where: str) -> bool:
    """Tell which of the two labels a person has written."""
    spellings = [_spelling(label) for label in columns.labels]
    # Capitals matter only where they tell the labels apart.
    if spellings[0] == spellings[1]:
        spellings = list(columns.labels)
        written = plain_value(text)
    else:
        written = _spelling(text)
    if written not in spellings:
        negative, positive = columns.labels
        raise TableError(
            f"{where}: the label must be {negative!r} or {positive!r}, or empty, got "
            f"{text!r}."
        )
    return spellings.index(written) == 1


def _spelling(label: str) -> str:
    """Write a label in one way: TRUE is true, and 1.0 as well as 1,0 is 1."""
    plain = plain_value(label.strip())
    if re.fullmatch(r"[+-]?\d+,\d+", plain):
        plain = plain_value(plain.replace(",", "."))
    return plain.casefold()


def _fields(path: Path, label: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, key and label of each row of a sheet."""
    text = _decoded(path)
    header = next((line for line in text.splitlines() if line.strip()), "")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(header))
    places = None
    for row in rows:
        fields = [field.strip() for field in row]
        if not any(fields):
            continue
        if places is None:
            places = _places(fields, label, path)
            continue
        # Programs may leave empty fields at the end of a line out.
        padded = fields + [""] * (max(places) + 1 - len(fields))
        yield rows.line_num, padded[places[0]], padded[places[1]]
    if places is None:
        raise TableError(f"{path} is empty.")


def _decoded(path: Path) -> str:
    """Read a text file in the encoding that a spreadsheet program has chosen."""
    if table_format(path) != "csv":
        raise TableError(f"{path} must be a text file: save the sheet as CSV.")
    content = path.read_bytes()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Every byte is a letter here, so that this cannot fail.
        return content.decode("latin-1")


def _separator(header: str) -> str:
    """Return the separator that makes the key a column of its own.

    Without a key, that of most columns: the error lists their names.
    """
    found = {}
    for separator in _SEPARATORS:
        names = next(csv.reader([header], delimiter=separator), [])
        if KEY in [name.strip() for name in names]:
            return separator
        found[separator] = len(names)
    return max(found, key=lambda separator: found[separator])


def _places(header: list[str], label: str, path: Path) -> tuple[int, int]:
    """Find the columns of the key and of the label."""
    places = []
    for name in (KEY, label):
        count = header.count(name)
        if count == 0:
            raise missing_column(name, header, path)
        if count > 1:
            raise TableError(f"{path} has {count} columns {name!r}.")
        places.append(header.index(name))
    return places[0], places[1]
