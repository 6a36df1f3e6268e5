"""Draw rows of a file, and write them to a sheet for a person to label."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from cape._groups import Group
from cape._labelled import DrawnRows
from cape._newfile import check_apart
from cape._tables import (
    Dialect,
    TableError,
    TableWriter,
    file_version,
    iter_table,
    same_dialect,
    table_columns,
)
from cape.examination import LabelPlan
from cape.files._kept import KeptRows
from cape.files._model import TableModel, rows_of_a_part
from cape.files._notes import Notes
from cape.files._predict import Each, gather_evidence, here, scores_per_row
from cape.files._redraw import draw_rows
from cape.files._sheet import KEY, PROBABILITY, ROW, Draw

__all__ = ["SampledFile", "sample_file"]

_DECIMALS_OF_WIDTH = 4


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
    on_rows: Callable[[str, int], None] = lambda stage, rows: None,
    each: Each = here,
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
    each : callable, default=here
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
    draw = _draw_of(n, spread, width, seed)
    check_apart([out], [path])
    dialect = dialect or model.dialect
    writing = TableWriter(out, overwrite=overwrite, dialect=same_dialect(path, dialect))
    if not writing.is_text:
        raise TableError(f"{out} must end in .csv or .tsv: a person fills it in.")
    names = table_columns(path, dialect=dialect)
    _check_free(names, path)
    version = file_version(path)
    n_scores = scores_per_row(model.clf)
    hasher = hashlib.sha256()
    keeping = KeptRows(Path(out).parent, n_scores)
    with writing as writer, notes.listening(), keeping as kept:
        evidence, _ = gather_evidence(
            model,
            path,
            dialect=dialect,
            notes=notes,
            on_rows=lambda rows: on_rows("reading", rows),
            each=each,
            kept=kept,
            names=names,
            hasher=hasher,
        )
        drawn = draw_rows(model.clf, evidence, kept, draw)
        table = _rows_of_file(path, drawn.drawn.rows, dialect, names, on_rows)
        if file_version(path) != version:
            raise TableError(f"{path} has changed while it was read.")
        writer.write(_sheet_of(table, drawn.drawn, draw, model, hasher.hexdigest()))
    if writer.disarmed:
        notes.say(
            f"{writer.disarmed} fields that a spreadsheet would run have an apostrophe "
            f"in front in {out}."
        )
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


def _draw_of(n: int | None, spread: str, width: float | None, seed: int) -> Draw:
    """Check how rows are to be drawn."""
    if width is not None:
        width = round(width, _DECIMALS_OF_WIDTH)
        if not 0 < width < 1:
            raise ValueError(f"width must be between 0 and 1, got {width}.")
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed}.")
    return Draw(LabelPlan(n, spread, width), seed)


def _check_free(names: list[str], path: str | Path) -> None:
    """Raise if the file has a column that the sheet would add."""
    for name in (ROW, PROBABILITY, KEY):
        if name in names:
            raise TableError(
                f"{path} has a column {name!r} already: it seems to be a sheet of cape "
                "sample itself."
            )


def _rows_of_file(
    path: str | Path,
    rows: np.ndarray,
    dialect: Dialect | None,
    names: list[str],
    on_rows: Callable[[str, int], None],
) -> pd.DataFrame:
    """Read rows of a file as they are there, in the order given."""
    wanted = np.sort(rows)
    pieces = []
    n_read = 0
    part_rows = rows_of_a_part(len(names))
    tables = iter_table(path, part_rows, verbatim=True, dialect=dialect, names=names)
    for table in tables:
        first, last = np.searchsorted(wanted, [n_read, n_read + len(table)])
        pieces.append(table.iloc[wanted[first:last] - n_read])
        n_read += len(table)
        on_rows("writing", len(table))
    in_file_order = pd.concat(pieces, ignore_index=True)
    places = np.searchsorted(wanted, rows)
    return in_file_order.iloc[places].reset_index(drop=True)
