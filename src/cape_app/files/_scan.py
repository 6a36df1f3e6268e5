"""A pass over a file: its parts, its hash, and what a model reads of its rows.

Or of the counts that a database has made of its rows.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape import CapeClassifier, Evidence
from cape.base._groups import Group, check_groups, group_name
from cape.base._numbers import shortened
from cape.base._table import MISSING, as_kind, in_bins, plain_text
from cape.elsewhere import sql
from cape.training._reading import KnownLabels, batch_of, read_batch
from cape.training._threads import available_threads, blas_in_one_thread, in_threads
from cape_app.files._columns import Bins, label_text
from cape_app.files._model import WEIGHT, TableModel
from cape_app.files._notes import Notes
from cape_app.tables import Dialect, Source, TableError, check_columns_exist
from cape_app.tables._open import open_table
from cape_app.tables._source import nearest_of
from cape_app.words._notes import TOTAL_ADVICE

_SMALL_TABLE_ROWS = 20_000

# A part of a file has about this many numbers, and never fewer or more rows than these.
# Each part has a fixed cost, so that small parts are slow; large ones take memory.
_NUMBERS_OF_A_PART = 3_000_000
_MIN_ROWS_OF_A_PART = 50_000
_MAX_ROWS_OF_A_PART = 400_000

_PARTS_AT_ONCE = 2
"""Parts that this process works on at the same time. More parts would only wait for
Python's lock, and take memory."""

_FIRST_ROWS = 5
_MISSING_CELL = 0
_MOST_NAMES = 5
_FEWEST_COLUMNS = 3

# What spreadsheets have in the line below the rows, in a few languages.
_TOTAL = re.compile(
    r"(?:(?:grand |sub)?totals?|sum|summe|gesamt(?:summe)?|insgesamt|totale|somme|suma)"
    r"\s*:?",
    re.IGNORECASE,
)

_REMEDIES = {
    "group": "Fill it in, leave these rows out of the table, or make them a group "
    "(--missing-groups group of cape train and cape audit).",
    "label": "Use --missing-labels drop to leave them out.",
}

OnRows = Callable[[str, int], None]
"""Called with the stage of the work and the number of rows that have just been done."""


Part = tuple[pd.DataFrame, np.ndarray | None]
"""A part of a file, ready for the classifier: features and groups, and labels (1, 0, or
-1 for none), which are None if the file has no label column."""


class Scan:
    """A pass over a file in parts.

    Parameters
    ----------
    source : str or Path
        Whatever `open_table` takes.
    dialect : Dialect or None
        How a CSV is written; None is a comma, UTF-8 and decimal points.
    notes : Notes
        Collects what is worth knowing about how the table was read.
    on_rows : callable, optional
        See `OnRows`.

    Attributes
    ----------
    table : Table
    rows : int
        Rows that were read.
    sha256 : str
        Hash of the bytes of the file, once all rows were read.
    total : dict from str to str
        What the columns say that make the last lines a total or a note, which are not
        read as rows; empty if there are none.
    """

    def __init__(
        self,
        source: Source,
        dialect: Dialect | None,
        notes: Notes,
        on_rows: OnRows | None = None,
    ):
        self.table = open_table(source, dialect)
        self.path = self.table.path
        self.rows = 0
        self.total: dict[str, str] = {}
        self.on_rows = on_rows or (lambda stage, rows: None)
        self.notes = notes
        for code, values in self.table.remarks:
            notes.say(code, path=str(self.path), **values)

    def parts(
        self,
        types: Mapping[str, str],
        rows: int | None = None,
        bins: Bins | None = None,
        known: Mapping[str, Sequence[str]] | None = None,
    ) -> Iterator[pd.DataFrame]:
        """Read some columns of the file.

        A total below the rows is left out, with a note.

        Parameters
        ----------
        types : mapping from column to {"number", "text", "date", "flag"}
            The columns, and what those of a CSV are read as.
        rows : int, default=None
            Rows of a part. None chooses fewer rows for wider tables.
        bins : mapping from column to edges, default=None
            Columns of numbers that are read as the names of ranges.
        known : mapping from column to words, default=None
            Words such as "NA" that are values of a column; else they are missing.

        Yields
        ------
        DataFrame

        Raises
        ------
        TableError
            If the file has no rows, or cannot be read.
        """
        rows = rows or rows_of_a_part(len(self.table.names))
        bins = bins or {}
        # The word "Total" mostly stands in the first column, which nobody may need.
        first = self.table.names[0]
        read = {first: "text"} if self.table.by_hand else {}
        read |= {**types, **dict.fromkeys(bins, "number")}
        try:
            frames = self.table.parts(rows, columns=list(read), types=read, known=known)
            for frame in self._without_total(frames):
                self.rows += len(frame)
                frame = frame[list(types)]
                for name, edges in bins.items():
                    frame[name] = in_bins(frame[name], edges, self.path)
                self._check_finite(frame)
                yield frame
        except TableError as error:
            # Among numbers the word stops the reader.
            if _TOTAL.fullmatch(error.field.strip()):
                raise TableError(f"{error} {TOTAL_ADVICE}") from error
            raise
        if not self.rows:
            raise TableError(f"{self.path} has a header but no rows.")
        self.sha256 = self.table.sha256()

    def _check_finite(self, frame: pd.DataFrame) -> None:
        """Raise if a number of a part is infinite, which no learner takes."""
        for name, values in frame.items():
            if not isinstance(values.dtype, np.dtype) or values.dtype.kind != "f":
                continue
            is_infinite = np.isinf(values.to_numpy())
            if is_infinite.any():
                row = self.rows - len(frame) + int(is_infinite.argmax()) + 1
                where = f"line {row + 1}" if self.table.is_csv else f"row {row}"
                raise TableError(
                    f"{self.path}, column {name!r}, {where}: no model can learn from "
                    "infinity. Leave the field empty, or the column out (--drop)."
                )

    def _without_total(self, frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """Leave out the last lines of the file that are notes or a total."""
        waiting = None
        for frame in frames:
            if waiting is not None:
                yield waiting
            # Only in the last part are they the last lines.
            waiting = frame if self._below(frame) else None
            if waiting is None:
                yield frame
        if waiting is None:
            return
        while len(waiting) and (below := self._new_words(self._below(waiting))):
            self.total |= below
            column, word = next(iter(below.items()))
            self.notes.say("total", path=str(self.path), column=column, word=word)
            waiting = waiting.iloc[:-1]
        if len(waiting):
            yield waiting

    def _below(self, frame: pd.DataFrame) -> dict[str, str]:
        """Return the columns that make the last line of a part a total or a note."""
        return self._total_below(frame) or self._note_below(frame)

    def _note_below(self, frame: pd.DataFrame) -> dict[str, str]:
        """Return the first column of the file if it alone has a value, of words."""
        last = frame.iloc[-1]
        first = self.table.names[0]
        is_short = len(last) < _FEWEST_COLUMNS or last.notna().sum() > 1
        value = last.get(first)
        if is_short or not self.table.by_hand or not isinstance(value, str):
            return {}
        is_new = (frame[first] == value).sum() == 1
        return {first: value} if is_new and re.search(r"[^\W\d_]", value) else {}

    def _new_words(self, total: dict[str, str]) -> dict[str, str]:
        """Return the columns in whose parts before the last the word does not occur."""
        found = {}
        for name, word in total.items():
            read = {name: "text"}
            parts = self.table.parts(columns=read, types=read)
            if sum((part[name] == word).sum() for part in parts) == 1:
                found[name] = word
        return found

    def _total_below(self, frame: pd.DataFrame) -> dict[str, str]:
        """Return the columns that make the last line of a part a total.

        The word must be new in its column, and either stand in the first column of the
        file or beside an empty field: "total" can be a value like any other.
        """
        found = {}
        last = frame.iloc[-1]
        for name, value in last.items():
            if not isinstance(value, str) or not _TOTAL.fullmatch(value.strip()):
                continue
            is_plain = name == self.table.names[0] or last.isna().any()
            if is_plain and (frame[name] == value).sum() == 1:
                found[str(name)] = value
        return found

    def batch(
        self,
        model: TableModel,
        *,
        rows: int | None = None,
        kept: KeptRows | None = None,
        labelled: bool = False,
        on_part: Callable[[pd.DataFrame], None] | None = None,
    ) -> tuple[Evidence, bool]:
        """Sum the evidence over the parts of the file.

        Groups that the model does not know, and rows without a group, are an error.

        Parameters
        ----------
        model : TableModel
        rows : int, default=None
            Rows of a part. None chooses fewer rows for wider tables.
        kept : KeptRows, default=None
            Takes what was read of each row, so that no row is scored again.
        labelled : bool, default=False
            Whether the evidence tells classes apart by the labels that rows have.
        on_part : callable, default=None
            Called with features and groups of each part, in order.

        Returns
        -------
        evidence : Evidence
        has_labels : bool
            Whether any row has a label.
        """
        evidence = Evidence(model.clf.fingerprint_)
        has_labels = False
        parts = self._parts_for(model, rows)
        read = partial(_read_part, model, kept is not None, labelled)
        for (X, positive), found in _two_at_a_time(read, parts):
            if on_part is not None:
                on_part(X)
            of_part, records, groups = found
            evidence = evidence + of_part
            if kept is not None and records is not None:
                kept.add(records, groups)
            if positive is not None:
                has_labels |= bool((positive >= 0).any())
            self.on_rows("reading", len(X))
        return evidence, has_labels

    def labelled_parts(
        self,
        types: Mapping[str, str],
        label: str,
        group: Sequence[str],
        *,
        missing_groups: str,
        missing_labels: str,
        rows: int | None = None,
        bins: Bins | None = None,
    ) -> Iterator[pd.DataFrame]:
        """Read the rows that have a label.

        Parameters
        ----------
        label : str
            The label column, which becomes plain text.
        group : sequence of str
            The group columns.
        missing_groups : {"error", "group"}
        missing_labels : {"error", "drop"}
        types, rows, bins
            See `parts`.

        Yields
        ------
        DataFrame
            After the last one comes an error, or a note, on rows without a value.
        """
        n_used = 0
        n_missing: Counter[str] = Counter()
        for frame in self.parts(types, rows, bins):
            frame = frame.assign(**{label: label_text(frame[label])})
            is_used = frame[label].notna().to_numpy()
            no_group = frame[list(group)].isna().any(axis=1).to_numpy() & is_used
            n_missing["missing_labels"] += self._check_missing(
                "label", [label], ~is_used, missing_labels
            )
            n_missing["missing_groups"] += self._check_missing(
                "group", group, no_group, missing_groups
            )
            n_used += int(is_used.sum())
            yield frame[is_used]
        self._note_missing(n_missing)
        if not n_used:
            raise TableError(f"{self.path}: no row has a label in {label!r}.")

    def _check_missing(
        self, what: str, columns: Sequence[str], lacking: np.ndarray, missing: str
    ) -> int:
        """Count the rows of the latest part that lack a value, or raise.

        Parameters
        ----------
        what : {"group", "label"}
            What the rows lack.
        columns : sequence of str
            The columns that would tell it.
        lacking : ndarray of bool
            Which rows have no value in one of them. In the error, lines are those of a
            CSV without line breaks in fields.
        missing : {"error", "group", "drop"}
        """
        rows = np.flatnonzero(lacking) + self.rows - len(lacking)
        if not len(rows) or missing != "error":
            return len(rows)
        where = "rows"
        first = rows[:_FIRST_ROWS] + 1
        if self.table.is_csv:
            where = "lines"
            first = first + 1
        names = " or ".join(map(repr, columns))
        remedy = _REMEDIES[what]
        if rows.tolist() == [self.rows - 1]:
            remedy = f"{TOTAL_ADVICE} {remedy}"
        raise TableError(
            f"{self.path}: {len(rows)} of the first {self.rows} rows have no value in "
            f"{names}, so no {what}; the first are {where} "
            f"{', '.join(map(str, first))}. {remedy}"
        )

    def _note_missing(self, n_missing: Mapping[str, int]) -> None:
        """Note how many rows had no label, or no group."""
        for code, n in n_missing.items():
            if n:
                self.notes.say(code, n=n, rows=self.rows)

    def _check_known(self, model: TableModel, groups: pd.DataFrame) -> None:
        """Raise if the rows of a part have groups that the model does not know."""
        if model.clf.unknown_groups == "pooled":
            return
        found = check_groups(groups, missing="group").keys
        unknown = [group_name(key) for key in found if key not in model.clf.models_]
        if not unknown:
            return
        names_known = list(map(group_name, model.clf.groups_))
        meant = nearest_of(unknown[0].strip("'\" "), names_known, "group")
        meant = f" D{meant[1:]}" if meant[0] == "d" else ""
        # A name with spaces that nobody sees is already quoted.
        shown = [name if name[0] in "'\"" else repr(name) for name in unknown]
        known = [repr(name) for name in names_known[:10]]
        raise TableError(
            f"{self.path} has groups that were not in training, by "
            f"{', '.join(model.columns.groups)}: "
            f"{', '.join(shortened(shown, _MOST_NAMES))}.{meant} The model knows "
            f"{', '.join(known)}; train with --unknown-groups pooled to predict "
            "unknown groups with the model of all groups."
        )

    def _parts_for(self, model: TableModel, rows: int | None) -> Iterator[Part]:
        """Read parts with the columns of training, converted to what they held then."""
        columns = model.columns
        suspects = model.details.get("suspicious", {}).get("findings", [])
        lost = {*columns.features} - {*self.table.names}
        for name in lost & {finding["column"] for finding in suspects}:
            raise TableError(
                f"{self.path} has no column {name!r}, which cape train would have left "
                "out. Train again without --keep."
            )
        # Names first: a missing column is found before any row is read.
        labelled = columns.check_names(self.table.names, self.path, self.notes)
        types = columns.types(labels=labelled)
        weight = columns.weight
        if weight == model.details.get("columns", {}).get("weight"):
            # Only where it was named for this file, it must be there.
            weight = weight if weight in self.table.names else None
        if weight is not None:
            check_columns_exist([weight], self.table.names, self.path)
            types[weight] = "number"
        if rows is None:
            rows = rows_of_a_part(len(self.table.names), model.clf)
        n_missing = 0
        for frame in self.parts(types, rows, columns.bins, columns.known):
            X = columns.trained.table(frame, self.path, self.notes)
            if columns.groups:
                groups = X[columns.trained.group_places]
                n_missing += self._check_missing(
                    "group",
                    columns.groups,
                    groups.isna().any(axis=1).to_numpy(),
                    model.clf.missing_groups,
                )
                self._check_known(model, groups)
            if weight is not None:
                X[WEIGHT] = frame[weight].to_numpy(dtype=float)
            positive = None
            if labelled:
                positive = columns.positive(frame, self.path, self.notes)
            yield X, positive
        self._note_missing({"missing_groups": n_missing})


def read_counts(
    model: TableModel, source: Source, dialect: Dialect | None, notes: Notes
) -> tuple[Evidence, str]:
    """Read the result of a statement of `cape.elsewhere.sql.query`.

    Parameters
    ----------
    model : TableModel
    source : str or Path
        Whatever `open_table` takes.
    dialect : Dialect or None
        How a CSV is written; None is as that of training.
    notes : Notes
        Collects a note on rows without a group.

    Returns
    -------
    evidence : Evidence
        Equal to that of the rows.
    sha256 : str
        Hash of the bytes that were read.

    Raises
    ------
    TableError, ValueError
        If it is no result of the model's statement, or for what rows are refused for.
    """
    table = open_table(source, dialect or model.dialect)
    # Verbatim, since "NA" may be a level, and sums have more digits than a float.
    parts = list(table.parts(verbatim=True))
    frame = pd.concat(parts) if parts else pd.DataFrame(columns=table.names)
    # Some databases write names in capitals.
    frame.columns = [name.lower() for name in table.names]
    columns = model.columns
    # What is missing in a file is missing here, too.
    words = set(MISSING)
    if {"part", "cell", "level"} <= {*frame}:
        has_levels = frame["level"].notna().groupby(frame["part"]).transform("any")
        is_word = (
            frame["level"].fillna("").isin(words.difference(*columns.known.values()))
        )
        cells = pd.to_numeric(frame["cell"], errors="coerce")
        frame["cell"] = cells.mask(has_levels & is_word, _MISSING_CELL)
    keys = []
    for place, name in enumerate(columns.groups):
        key = f"group_{place + 1}"
        if key not in frame:
            continue
        keys.append(key)
        if name in columns.bins:
            frame[key] = in_bins(frame[key], columns.bins[name], table.path)
        texts = plain_text(frame[key])
        texts = texts.where(~texts.isin(words - set(columns.known.get(name, ()))))
        frame[key] = columns.trained.as_group(name, texts)
    if "label" in frame:
        labels = frame.rename(columns={"label": columns.label})
        frame["label"] = model.labels(columns.positive(labels, table.path, notes))
    if "decision" in frame:
        kind = columns.features[model.clf.estimator.decision]
        frame["decision"] = as_kind(frame["decision"], kind, table.path, Notes())
    evidence = sql.evidence(model.clf, frame)
    sizes = pd.to_numeric(frame["n"]).where(pd.to_numeric(frame["part"]) == 0, 0)
    n_missing = int(sizes[frame[keys].isna().any(axis=1)].sum())
    if n_missing:
        notes.say("missing_groups", n=n_missing, rows=int(sizes.sum()))
    return evidence, table.sha256()


def rows_of_a_part(n_columns: int, clf: CapeClassifier | None = None) -> int:
    """Tell how many rows to work on at a time: the wider the table, the fewer.

    Parameters
    ----------
    n_columns : int
        Columns of the table.
    clf : CapeClassifier, default=None
        Whose scores of the rows stand beside them.

    Returns
    -------
    int

    Examples
    --------
    >>> rows_of_a_part(7), rows_of_a_part(30), rows_of_a_part(1000)
    (400000, 100000, 50000)
    """
    if clf is not None:
        n_columns += _scores_per_row(clf)
    rows = _NUMBERS_OF_A_PART // max(n_columns, 1)
    return min(max(rows, _MIN_ROWS_OF_A_PART), _MAX_ROWS_OF_A_PART)


def _scores_per_row(clf: CapeClassifier) -> int:
    """Return how many scores of a row members may decide by.

    The pools of all groups are of one kind: thresholds decide by one score, resampled
    members by one score each.
    """
    return next(iter(clf.models_.values())).pool.n_deciding


def single_thread_if_small(rows: int) -> Any:
    """Let numerical libraries use one thread in a ``with`` block if a table is small.

    Below 20,000 rows, threads cost more than they save, and most of all on a machine
    that is busy.
    """
    from threadpoolctl import threadpool_limits

    if rows < _SMALL_TABLE_ROWS:
        return threadpool_limits(limits=1)
    return nullcontext()


def _two_at_a_time(
    work: Callable[[Part], Any], parts: Iterable[Part]
) -> Iterator[tuple[Part, Any]]:
    """Yield the parts and what work makes of each, in order."""

    def work_on(part: Part) -> tuple[Part, Any]:
        return part, work(part)

    threads = min(_PARTS_AT_ONCE, available_threads())
    with blas_in_one_thread():
        yield from in_threads(work_on, parts, threads=threads)


def _read_part(
    model: TableModel, keep: bool, labelled: bool, part: Part
) -> tuple[Evidence, np.ndarray | None, Sequence[Group]]:
    """Count the evidence of a part and, if asked, record what was read of each row.

    Returns
    -------
    evidence : Evidence
    records : ndarray or None
        One record for each row, see `_row_type`.
    groups : sequence of Group
        What the group codes of the records mean.
    """
    X, positive = part
    with single_thread_if_small(len(X)):
        batch = batch_of(model.clf, *model.split(X), whole=False)
        # Labels of whatever rows happen to have one are used for the verdict on the
        # estimates alone: outcomes that are known early are no random sample, and a
        # file with all its labels needs no estimate.
        labels = None
        if labelled and positive is not None:
            labels = KnownLabels(positive, None)
        readings, of_groups = read_batch(batch, labels=labels, probabilities=keep)
    evidence = Evidence(model.clf.fingerprint_, of_groups)
    if not keep:
        return evidence, None, ()
    records = np.zeros(len(X), _row_type(model))
    records["group"] = batch.groups.codes
    records["positive"] = -1 if positive is None else positive
    if batch.weights is not None:
        records["weight"] = batch.weights
    for reading in readings:
        index = slice(None) if reading.index is None else reading.index
        records["unadapted"][index] = reading.unadapted()
        records["scores"][index] = reading.deciding.T
    return evidence, records, batch.groups.keys


def _row_type(model: TableModel) -> np.dtype:
    """Describe the record that is kept for a row.

    Its fields are ``group`` (a code), ``positive`` (the label: 1, 0, or -1 for none),
    ``unadapted`` (whether the model as trained predicts a positive), ``scores`` and, if
    rows have one, ``weight``.
    """
    fields: list[Any] = [
        ("group", np.int32),
        ("positive", np.int8),
        ("unadapted", bool),
        ("scores", np.int64, (_scores_per_row(model.clf),)),
    ]
    if model.columns.weight is not None:
        fields.append(("weight", np.float64))
    return np.dtype(fields)


class KeptRows:
    """Records of rows (see `_row_type`) on disk, between two passes over a file.

    The first pass scores every row and sums the evidence; only then is it known which
    member of the pool decides. The second pass needs the scores again. Scoring twice
    would double the time, and keeping the scores in memory would bound the size of the
    file.

    The file has no name: it is gone when it is closed, or when the process ends.

    Parameters
    ----------
    folder : str, Path or None
        The folder whose disk holds the file; None takes the system's folder for
        temporary files.
    model : TableModel
        Whose classifier scores the rows.

    Attributes
    ----------
    groups : list of Group
        The groups of all rows; the field ``group`` of a record is a place in it.
    """

    def __init__(self, folder: str | Path | None, model: TableModel):
        self.groups: list[Group] = []
        self._type = _row_type(model)
        self._folder = folder

    def __enter__(self) -> KeptRows:
        # On POSIX systems the file loses its name as soon as it is open: even a process
        # that is killed leaves nothing behind.
        self._file = tempfile.TemporaryFile(dir=self._folder)
        return self

    def __exit__(self, *error: Any) -> None:
        self._file.close()

    def add(self, records: np.ndarray, groups: Sequence[Group]) -> None:
        """Append rows.

        Parameters
        ----------
        records : ndarray of `_row_type` of shape (n_samples,)
            Their field ``group`` is a place in ``groups``; it is changed in place to a
            place in ``self.groups``.
        groups : sequence of Group
            The groups of these rows. Each part of a file has a numbering of its own.

        Raises
        ------
        TableError
            If the disk is full.
        """
        # Parts see groups in their own order; the second pass needs one numbering.
        self.groups += [group for group in groups if group not in self.groups]
        new_codes = np.array([*map(self.groups.index, groups)], np.int32)
        records["group"] = new_codes[records["group"]]
        # Records are written as they are in memory, and read back with the same type.
        try:
            self._file.write(records.view(np.uint8).data)
        except OSError as error:
            folder = self._folder or "the folder for temporary files"
            raise TableError(
                f"{folder} has no room for the scores of rows, "
                f"{self._type.itemsize} bytes each: {error.strerror}."
            ) from error

    def parts(self, rows: int) -> Iterator[np.ndarray]:
        """Read all rows, from the first one on.

        Parameters
        ----------
        rows : int
            How many at a time.

        Yields
        ------
        ndarray of `_row_type` of shape (rows,)
            The last one may be shorter.
        """
        self._file.seek(0)
        while content := self._file.read(rows * self._type.itemsize):
            yield np.frombuffer(content, self._type)
