"""Draw rows of a file for a person to label, and write them to a sheet.

The same draw of the same file gives the same rows, so that a sheet that comes back
needs to tell no more than its draw (see `cape.files._checked`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from cape._evidence import Evidence
from cape._groups import Group
from cape._io import check_apart
from cape._labelled import DrawnRows, RowDraw, Strata, cells_of_rows
from cape._tables import Dialect, TableError, TableWriter
from cape.classifier import CapeClassifier
from cape.examination._needed import LabelPlan
from cape.files._model import TableModel
from cape.files._notes import Notes
from cape.files._scan import (
    Each,
    KeptRows,
    OnRows,
    Scan,
    rows_of_a_part,
    scores_per_row,
)

KEY = "cape_key"
ROW = "cape_row"
PROBABILITY = "cape_probability"

_DECIMALS_OF_WIDTH = 4
_ROWS_AT_ONCE = 200_000


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


def sample_file(
    model: TableModel,
    path: str | Path,
    out: str | Path,
    *,
    n: int | None = None,
    spread: str = "equal",
    width: float | None = None,
    seed: int = 0,
    dialect: Dialect | None = None,
    overwrite: bool = False,
    notes: Notes | None = None,
    on_rows: OnRows | None = None,
    each: Each | None = None,
) -> SampledFile:
    """Draw rows of a file to label, and write a sheet that a person can fill in.

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
        The sheet, a CSV. Its rows are in random order, so that whoever stops early has
        checked a sample as well.
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
    each : callable, default=None
        Who does the parts, as in `predict_file`.

    Returns
    -------
    SampledFile

    Examples
    --------
    >>> from cape.files import sample_file, train_file
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
            raise ValueError(f"width must be between 0 and 1, got {width}.")
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed}.")
    draw = Draw(LabelPlan(n, spread, width), seed)
    check_apart([out], [path])
    scan = Scan(path, dialect or model.dialect, on_rows)
    writing = TableWriter(
        out, overwrite=overwrite, dialect=scan.table.dialect_to_write()
    )
    if not writing.is_text:
        raise TableError(f"{out} must end in .csv or .tsv: a person fills it in.")
    for name in (ROW, PROBABILITY, KEY):
        if name in scan.table.names:
            raise TableError(
                f"{path} has a column {name!r} already: it seems to be a sheet of cape "
                "sample itself."
            )
    keeping = KeptRows(Path(out).parent, scores_per_row(model.clf))
    with writing as writer, notes.listening(), keeping as kept:
        evidence, _ = scan.batch(model, notes, each=each, kept=kept)
        drawn = draw_rows(model.clf, evidence, kept, draw)
        rows = _rows_of_file(scan, drawn.drawn.rows)
        scan.table.check_unchanged()
        writer.write(_sheet_of(rows, drawn.drawn, draw, model, scan.sha256))
    if writer.disarmed:
        notes.say("disarmed", n=writer.disarmed, path=str(out), predicted=False)
    counts = Counter(drawn.groups[code] for code in drawn.drawn.groups)
    return SampledFile(
        rows=evidence.rows, drawn={group: counts[group] for group in evidence.groups}
    )


def _sheet_of(
    table: pd.DataFrame,
    drawn: DrawnRows,
    draw: Draw,
    model: TableModel,
    file_hash: str,
) -> pd.DataFrame:
    """Append the four columns of a sheet to the rows that were drawn."""
    label = model.columns.label
    fingerprint = model.clf.fingerprint_
    numbers = drawn.rows + 1
    # What the file says of labels must not be copied by whoever fills the sheet in.
    sheet = table.drop(columns=label, errors="ignore")
    sheet[ROW] = numbers
    sheet[PROBABILITY] = drawn.probabilities.round(9)
    keys = [draw.key(int(number), file_hash, fingerprint) for number in numbers]
    sheet[KEY] = keys
    sheet[label] = pd.Series([None] * len(sheet), dtype="str")
    return sheet


def _rows_of_file(scan: Scan, rows: np.ndarray) -> pd.DataFrame:
    """Read rows of a file as they are there, in the order given."""
    wanted = np.sort(rows)
    pieces = []
    n_read = 0
    part_rows = rows_of_a_part(len(scan.table.names))
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
            return f"{self.plan.n}-{self.plan.spread}-{self.seed}"
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
