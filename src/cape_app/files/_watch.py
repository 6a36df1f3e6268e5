"""A watch in files: the new rows are a table, and the state is a file beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape import Evidence, Watch
from cape.watch._tracks import OF_LABELS, Question
from cape.watch._watch import DEFAULT_QUESTIONS
from cape_app.files import _scan
from cape_app.files._model import TableModel
from cape_app.files._notes import Notes
from cape_app.tables import Dialect, Source

# 2026-05 or 2026-05-03, not in the middle of a longer number.
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d-\d\d(?:-\d\d)?(?!\d)")


def open_watch(
    model: TableModel, state: Path, questions: Sequence[str] | None, notes: Notes
) -> Watch:
    """Go on with the watch of a state file, or begin one.

    Parameters
    ----------
    model : TableModel
    state : Path
        Read if it exists.
    questions : sequence of str or None
        None means those of the state, or `DEFAULT_QUESTIONS`.
    notes : Notes

    Returns
    -------
    Watch
    """
    with notes.listening():
        if state.exists():
            try:
                watch = Watch.from_json(model.clf, state.read_text(encoding="utf-8"))
            except ValueError as error:
                raise ValueError(f"{state}: {error}") from error
        else:
            asked = list(DEFAULT_QUESTIONS if questions is None else questions)
            if questions is None and len(model.clf.groups_) < 2:
                asked.remove("parity>0.1")
            watch = Watch(model.clf, asked)
    if questions is not None:
        given = [Question.parse(text) for text in questions]
        if set(given) != set(watch.questions):
            raise ValueError(
                "--ask must be the questions of the first look "
                f"({', '.join(map(str, watch.questions))}), got "
                f"{', '.join(questions)}. For other questions, begin a new --state."
            )
    return watch


def remark_on_dates(watch: Watch, n_before: int, notes: Notes) -> None:
    """Remark on a look that was repeated, comes late, or follows a missing one.

    Parameters
    ----------
    watch : Watch
        After the look. The names of its looks may have dates: 2026-05 or 2026-05-03.
    n_before : int
        Looks before it.
    notes : Notes
    """
    names = [look["name"] for look in watch.looks]
    if len(names) == n_before:
        notes.say("look_repeated")
        return
    dates = [date for name in names for date in _DATE.findall(name)]
    if len(names) < 2 or len(dates) != len(names) or len(set(map(len, dates))) > 1:
        return
    unit: Any = "M" if len(dates[0]) == len("2026-05") else "D"
    try:
        periods = pd.PeriodIndex(dates, freq=unit)
    except ValueError:
        # The 31st of February is a name and no date.
        return
    latest, now = periods[:-1].max(), periods[-1]
    if now <= latest:
        notes.say("look_goes_back", look=now, latest=latest)
        return
    usual = np.diff(np.unique(periods[:-1].asi8)).min(initial=2**31)
    if unit == "M":
        usual = min(usual, 1)
    missing = pd.period_range(latest, now, freq=unit)[:-1:usual][1:]
    if len(missing):
        notes.say("looks_missing", names=", ".join(map(str, missing)))


def read_look(
    watch: Watch,
    model: TableModel,
    path: Source,
    *,
    counts: bool = False,
    labels: bool = False,
    dialect: Dialect | None = None,
    notes: Notes,
    on_rows: Any = None,
) -> Evidence:
    """Count the rows of a file for a look.

    Parameters
    ----------
    watch : Watch
        Its questions say whether labels matter.
    model : TableModel
    path : str or Path
    counts : bool, default=False
        Whether the file has the result of `cape.elsewhere.sql.query` in place of rows.
    labels : bool, default=False
        Whether labels count even if no question asks for them.
    dialect : Dialect, default=None
    notes : Notes
    on_rows : callable, default=None

    Returns
    -------
    Evidence
    """
    if counts:
        with notes.listening():
            return _scan.read_counts(model, path, dialect, notes)[0]
    scan = _scan.Scan(path, dialect or model.dialect, notes, on_rows)
    asked = labels or any(one.name in OF_LABELS for one in watch.questions)
    with notes.listening():
        evidence, has_labels = scan.batch(model, labelled=asked)
    scan.table.check_unchanged()
    if labels and not has_labels:
        raise ValueError(f"{path} must have labels, since --labels was given.")
    return evidence
