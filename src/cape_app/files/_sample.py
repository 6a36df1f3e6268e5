"""Draw rows of a file for a person to label, and read the sheet that comes back.

The same draw of the same file gives the same rows, so that a sheet needs to tell no
more than its draw. A person fills it in, in a spreadsheet program, which may sort it,
write semicolons for commas and 1.0 for 1, and save it in another encoding.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from cape import CapeClassifier, Evidence
from cape.base._errors import ParameterError
from cape.base._groups import Group, combined_columns, unique_names
from cape.base._io import check_apart
from cape.base._limits import ONE_CLASS
from cape.base._numbers import either
from cape.base._table import plain_value
from cape.examination._needed import LabelPlan
from cape.labels import _draw, _sample, _use
from cape.rules._deciding import adapt
from cape_app.files import _scan
from cape_app.files._columns import Columns
from cape_app.files._model import TableModel
from cape_app.files._notes import Notes
from cape_app.tables import (
    Dialect,
    Source,
    TableError,
    check_outside,
    missing_column,
    source_files,
    table_format,
)
from cape_app.tables._open import open_table
from cape_app.tables._write import TableWriter

KEY = "cape_key"
ROW = "cape_row"
PROBABILITY = "cape_probability"

_DECIMALS_OF_WIDTH = 4
_ROWS_AT_ONCE = 200_000

_SEPARATORS = ",;\t|"
_KEY = re.compile(
    r"(?P<n>\d+)-(?P<spread>equal|proportional|width0\.\d+)-(?P<seed>\d+)"
    r"-(?P<row>\d+)-(?P<hash>[0-9a-f]{16})"
)


@dataclass(frozen=True)
class SampledFile:
    """What came of drawing rows of a file.

    Parameters
    ----------
    rows : dict from group to int
        Rows of the file.
    drawn : dict from group to int
        Rows that were drawn.
    """

    rows: dict[Group, int]
    drawn: dict[Group, int]

    @property
    def enough(self) -> int:
        """Rows that would tell the share of every group to about 0.15.

        As many as were drawn if these do.
        """
        total = 0
        for group, drawn in self.drawn.items():
            if drawn:
                total += max(_draw.enough_labels(self.rows[group]), drawn)
        return total


def sample_file(
    model: TableModel,
    path: Source,
    out: str | Path,
    *,
    n: int | None = None,
    spread: str = "equal",
    width: float | None = None,
    seed: int = 0,
    dialect: Dialect | None = None,
    overwrite: bool = False,
    notes: Notes | None = None,
    on_rows: _scan.OnRows | None = None,
) -> SampledFile:
    """Draw rows of a file, and write them to a sheet for a person to label.

    The rows are those of `cape.examination.rows_to_label`. The file is read twice, in
    parts. The sheet has all columns of the rows, ``cape_row`` (the first row is 1),
    ``cape_probability``, ``cape_key``, and an empty label column, also where the file
    has labels. `predict_file` takes the sheet as ``checked``.

    Parameters
    ----------
    model : TableModel
    path : str or Path
        The batch.
    out : str or Path
        The sheet, a CSV. Its rows are in random order, so you can stop early.
    n, spread, width
        How many rows to draw, as in `cape.examination.rows_to_label`; the width is
        rounded to four decimals.
    seed : int, default=0
    dialect : Dialect, default=None
        Of a CSV, for reading and writing; None is as that of training.
    overwrite : bool, default=False
    notes : Notes, default=None
        Collects remarks.
    on_rows : callable, default=None
        Called with the stage, "reading" or "writing", and the rows just done.

    Returns
    -------
    SampledFile

    Examples
    --------
    >>> from cape_app.files import sample_file, train_file
    >>> train.frame.to_csv(folder / "train.csv", index=False)
    >>> new.frame.to_csv(folder / "new.csv", index=False)
    >>> model = train_file(
    ...     folder / "train.csv", None, label="y", group=["z"], learner="logistic"
    ... )
    >>> sample_file(model, folder / "new.csv", folder / "sheet.csv", n=100).drawn
    {'0': 50, '1': 50}
    >>> list(pd.read_csv(folder / "sheet.csv"))[-4:]
    ['cape_row', 'cape_probability', 'cape_key', 'y']
    """
    notes = Notes() if notes is None else notes
    if width is not None:
        width = round(width, _DECIMALS_OF_WIDTH)
        if not 0 < width < 1:
            raise ParameterError("width", f"must be between 0 and 1, got {width}.")
    if seed < 0:
        raise ParameterError("seed", f"must not be negative, got {seed}.")
    draw = Draw(LabelPlan(n, spread, width), seed)
    check_apart([out], source_files(path))
    check_outside(out, path)
    scan = _scan.Scan(path, dialect or model.dialect, notes, on_rows)
    writing = TableWriter(out, overwrite=overwrite, dialect=scan.table.dialect)
    if not writing.is_text:
        raise TableError(f"{out} must end in .csv or .tsv, for a person to fill in.")
    for name in (ROW, PROBABILITY, KEY):
        if name in scan.table.names:
            raise TableError(
                f"{path} already has a column {name!r}: it seems to be a sheet from "
                "cape sample."
            )
    keeping = _scan.KeptRows(Path(out).parent, model)
    with writing as writer, notes.listening(), keeping as kept:
        evidence, _ = scan.batch(model, kept=kept, labelled=True)
        drawn, _ = _draw_rows(model.clf, evidence, kept, draw)
        sheet = _rows_of_file(scan, drawn.rows)
        scan.table.check_unchanged()
        # What the file says of labels must not be copied by whoever fills it in.
        label = model.columns.label
        sheet = sheet.drop(columns=label, errors="ignore")
        sheet[ROW] = drawn.rows + 1
        sheet[PROBABILITY] = drawn.probabilities.round(9)
        keys = []
        for number in sheet[ROW]:
            keys.append(draw.key(number, scan.sha256, model.clf.fingerprint_))
        sheet[KEY] = keys
        sheet[label] = pd.Series([None] * len(sheet), dtype="str")
        writer.write(sheet)
    if writer.disarmed:
        notes.say("disarmed", n=writer.disarmed, path=str(out), predicted=False)
    counts = Counter(kept.groups[code] for code in drawn.groups)
    return SampledFile(
        rows=evidence.rows, drawn={group: counts[group] for group in evidence.groups}
    )


def _rows_of_file(scan: _scan.Scan, rows: np.ndarray) -> pd.DataFrame:
    """Read rows of a file as they are there, in the order given."""
    wanted = np.sort(rows)
    pieces = []
    n_read = 0
    part_rows = _scan.rows_of_a_part(len(scan.table.names))
    for table in scan.table.parts(part_rows, verbatim=True):
        first, last = np.searchsorted(wanted, [n_read, n_read + len(table)])
        pieces.append(table.iloc[wanted[first:last] - n_read])
        n_read += len(table)
        scan.on_rows("writing", len(table))
    in_file_order = pd.concat(pieces, ignore_index=True)
    places = np.searchsorted(wanted, rows)
    return in_file_order.iloc[places].reset_index(drop=True)


@dataclass(frozen=True)
class Draw:
    """How rows were drawn; the same draw of the same file gives the same rows.

    Parameters
    ----------
    plan : LabelPlan
        Its width has at most four decimals.
    seed : int
    """

    plan: LabelPlan
    seed: int

    @property
    def text(self) -> str:
        """The draw, as it stands in front of a key."""
        if self.plan.width is None:
            # 0 stands for as many as the action asks for.
            return f"{self.plan.n or 0}-{self.plan.spread}-{self.seed}"
        return f"0-width{self.plan.width:.4f}-{self.seed}"

    def key(self, row: int, file_hash: str, fingerprint: str) -> str:
        """Return the key of a row.

        Parameters
        ----------
        row : int
            Its number in the file; the first is 1.
        file_hash : str
            Hash of the content of the file.
        fingerprint : str
            Hash of the model.

        Returns
        -------
        str
            The draw and the number of the row in clear, and a hash of everything.
        """
        # What stands in front keeps spreadsheet programs from taking 16 hexadecimal
        # digits for a number.
        clear = f"{self.text}-{row}"
        content = f"{clear} {file_hash} {fingerprint}"
        return f"{clear}-{hashlib.sha256(content.encode()).hexdigest()[:16]}"


def _draw_rows(
    clf: CapeClassifier, evidence: Evidence, kept: _scan.KeptRows, draw: Draw
) -> tuple[_draw.DrawnRows, list[_draw.Strata]]:
    """Draw rows of a file whose scores were kept; return the strata of groups, too.

    The rows depend on the file, the model and the draw, and not on the parts in which
    the file was read.
    """
    in_cells = {}
    # In the order of the evidence, which is sorted: that of ``kept`` depends on parts.
    for group in evidence.groups:
        n_cells = len(clf.model_of(group).edges) + 1
        in_cells[group] = np.zeros(n_cells, dtype=np.int64)
    for codes, cells in _cells(clf, kept):
        for code, group in enumerate(kept.groups):
            if group not in in_cells:
                continue
            of_group = cells[codes == code]
            in_cells[group] += np.bincount(of_group, minlength=len(in_cells[group]))
    of_groups = draw.plan.strata(clf, evidence, in_cells)
    strata = [of_groups.get(group, _draw.NOTHING_DRAWN) for group in kept.groups]
    rows = _draw.RowDraw(strata, draw.seed)
    for codes, cells in _cells(clf, kept):
        rows.add(codes, cells)
    return rows.result(), strata


def _cells(
    clf: CapeClassifier, kept: _scan.KeptRows
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield codes of groups and cells of scores, some rows at a time."""
    edges = [clf.model_of(group).edges for group in kept.groups]
    for records in kept.parts(_ROWS_AT_ONCE):
        codes = records["group"].astype(np.int64)
        cells = np.zeros(len(records), dtype=np.int64)
        for code, of_group in enumerate(edges):
            is_in_group = codes == code
            scores = records["scores"][is_in_group].T
            cells[is_in_group] = _draw.cells_of_rows(of_group, scores)
        yield codes, cells


class CheckedGroup(NamedTuple):
    """What came back of the rows of a group that were drawn.

    Parameters
    ----------
    drawn, returned : int
        Rows that were drawn, and how many of them came back with a label.
    p_value : float or None
        Of the test whether they are a sample of the rows drawn; or how likely the
        estimate makes labels of one class only. None if none came back.
    used : bool
        Whether the labels are used.
    one_class : bool, default=False
        Whether all that came back have the same label, so that rows with the other one
        may have been left empty.
    """

    drawn: int
    returned: int
    p_value: float | None
    used: bool
    one_class: bool = False


class SheetLabels:
    """Labels of a sheet, and the rows of the file that they belong to.

    Parameters
    ----------
    path : str or Path
        The sheet, which must come from one draw.
    model : TableModel
    blank_means : str, default=None
        The label of rows whose label was left empty; None is no label.
    """

    def __init__(
        self, path: str | Path, model: TableModel, blank_means: str | None = None
    ):
        self._path = path
        self._model = model
        self._labels = read_sheet(path, model.columns, blank_means)
        rows = {label.row - 1 for label in self._labels}
        self._wanted = np.array(sorted(rows), dtype=np.int64)
        self._n_rows = 0
        self._parts: list[pd.DataFrame] = []

    def collect(self, X: pd.DataFrame) -> None:
        """Keep the rows of a part whose labels are known; parts come in order."""
        n_rows = self._n_rows + len(X)
        first, last = np.searchsorted(self._wanted, [self._n_rows, n_rows])
        if last > first:
            self._parts.append(X.iloc[self._wanted[first:last] - self._n_rows])
        self._n_rows = n_rows

    def add_to(
        self, evidence: Evidence, kept: _scan.KeptRows, file_hash: str, notes: Notes
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
                    f"{self._path}, line {label.line}: the {KEY} {label.key!r} does "
                    "not belong to a row of this file drawn with this model."
                )
        drawn, strata = _draw_rows(clf, evidence, kept, self._labels[0].draw)
        places = {row: place for place, row in enumerate(drawn.rows.tolist())}
        # 1, 0 or -1 (no label) for each row that was drawn.
        codes = np.full(len(places), -1)
        for label in self._labels:
            if label.row - 1 not in places:
                raise TableError(
                    f"{self._path}, line {label.line}: row {label.row} is not among "
                    "the rows drawn. Another version of cape may have drawn it."
                )
            codes[places[label.row - 1]] = label.positive
        # Filled in group by group.
        probabilities = np.zeros(len(codes))
        groups = {}
        names = unique_names(evidence.groups, combined_columns(clf.group_columns))
        models = {group: clf.model_of(group) for group in evidence.groups}
        label_free = adapt(models, evidence, drift=clf.drift, past=clf.past).groups
        for group in evidence.groups:
            code = kept.groups.index(group)
            estimate = label_free[group].estimate.value
            of_group = drawn, code, strata[code], estimate
            checked = _check_group(*of_group, codes, probabilities)
            groups[group] = checked
            if not checked.used:
                codes[drawn.groups == code] = -1
            if checked.returned and not checked.used:
                notes.say(
                    "labels_not_used",
                    group=names[group],
                    returned=checked.returned,
                    drawn=checked.drawn,
                    p_value=checked.p_value,
                    one_class=checked.one_class,
                )
        X = pd.concat(self._parts, ignore_index=True)
        of_rows = np.array([places[row] for row in self._wanted.tolist()])
        y = self._model.labels(codes[of_rows])
        X, groups_of_rows, weights = self._model.split(X)
        with _scan.single_thread_if_small(len(X)):
            labelled = clf.evidence(
                X,
                y,
                sensitive_features=groups_of_rows,
                inclusion_probability=probabilities[of_rows],
                sample_weight=weights,
            )
        # The evidence of the file counts these rows already, without labels.
        counted = dict(evidence.groups)
        for group, part in labelled.groups.items():
            counted[group] = replace(counted[group], labelled=part.labelled)
        return Evidence(evidence.fingerprint, counted), groups


def _check_group(
    drawn: _draw.DrawnRows,
    code: int,
    strata: _draw.Strata,
    estimate: float,
    codes: np.ndarray,
    probabilities: np.ndarray,
) -> CheckedGroup:
    """Test what came back of a group, and write down its probabilities in place.

    The estimate is that without labels.
    """
    in_group = drawn.groups == code
    returned = codes[in_group] >= 0
    n_drawn = int(in_group.sum())
    n_returned = int(returned.sum())
    if n_returned == 0:
        return CheckedGroup(n_drawn, 0, None, False)
    of_rows = drawn.strata[in_group]
    counts = np.bincount(of_rows[returned], minlength=len(strata.rows))
    probabilities[in_group] = strata.probabilities_of(counts)[of_rows]
    p_value = _sample.returned_p_value(drawn.cells[in_group], returned)
    used = p_value >= _sample.SAMPLE_LEVEL
    labels = set(codes[in_group][returned].tolist())
    # Where every row has its label, none was left empty.
    one_class = n_returned < n_drawn and len(labels) == 1
    if one_class and used:
        p_one_class = _use.one_class_p_value(n_returned, max(labels), estimate)
        if p_one_class < ONE_CLASS:
            p_value = p_one_class
            used = False
    return CheckedGroup(n_drawn, n_returned, p_value, used, one_class)


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


def read_sheet(
    path: str | Path, columns: Columns, blank_means: str | None = None
) -> list[CheckedLabel]:
    """Read the labels of a sheet that was filled in.

    Only the key and the label of a row are read.

    Parameters
    ----------
    path : str or Path
        CSV with any usual separator.
    columns : Columns
        Of the model: its label column and labels.
    blank_means : str, default=None
        The label of rows whose label was left empty; None leaves them out.

    Returns
    -------
    list of CheckedLabel
        One for each key, in the order of the sheet.

    Raises
    ------
    TableError
        If a column is missing, a label is unknown, a key was changed, a key has two
        different labels, or keys are of several draws. The message names the line.
    """
    labels: dict[str, CheckedLabel] = {}
    if blank_means is not None:
        _is_positive(blank_means, columns, "--blank-means")
    for line, key, written in _fields(Path(path), columns.label):
        label = written
        if not written and blank_means is not None and key:
            label = blank_means
        if not label:
            continue
        where = f"{path}, line {line}"
        positive = _is_positive(label, columns, where)
        match = _KEY.fullmatch(key)
        if match is None:
            raise TableError(
                f"{where}: a row with a label must have the {KEY} that cape sample "
                f"wrote, got {key!r}."
            )
        spread = match["spread"]
        if spread.startswith("width"):
            plan = LabelPlan(width=float(spread.removeprefix("width")))
        else:
            plan = LabelPlan(int(match["n"]) or None, spread)
        draw = Draw(plan, int(match["seed"]))
        checked = CheckedLabel(key, draw, int(match["row"]), positive, line)
        earlier = labels.setdefault(key, checked)
        if earlier.positive != positive:
            raise TableError(
                f"{where}: the {KEY} {key!r} has another label in line {earlier.line}."
            )
        first = next(iter(labels.values()))
        if draw != first.draw:
            raise TableError(
                f"{where}: rows must come from one call of cape sample, got {KEY} "
                f"{key!r} beside {first.key!r}."
            )
    return list(labels.values())


def _is_positive(text: str, columns: Columns, where: str) -> bool:
    """Tell which of the two labels a person has written."""
    negatives, positives = [set(map(_spelling, side)) for side in columns.spellings]
    written = _spelling(text)
    # Capitals matter only where they tell the labels apart.
    if negatives & positives:
        negatives, positives = map(set, columns.spellings)
        written = plain_value(text)
    if written not in negatives | positives:
        accepted: tuple[str, ...] = columns.labels
        if columns.label_values:
            accepted = (*columns.label_values[0], *columns.label_values[1])
        raise TableError(
            f"{where}: the label must be {either([repr(one) for one in accepted])}, or "
            f"empty, got {text!r}."
        )
    return written in positives


def _spelling(label: str) -> str:
    """Write a label in one way: TRUE is true, and 1.0 as well as 1,0 is 1."""
    plain = plain_value(label.strip())
    if re.fullmatch(r"[+-]?\d+,\d+", plain):
        plain = plain_value(plain.replace(",", "."))
    return plain.casefold()


def _fields(path: Path, label: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, key and label of each row of a sheet."""
    files = source_files(path)
    if len(files) > 1 or table_format(files[0]) != "csv":
        line = 1  # the header
        for part in open_table(path).parts(columns=[KEY, label], verbatim=True):
            texts = part.astype("str").fillna("")
            for key, written in zip(texts[KEY], texts[label], strict=True):
                line += 1
                yield line, key.strip(), written.strip()
        return
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
