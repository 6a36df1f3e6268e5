"""A watch in files: the new rows are a table, and the state is a file beside it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from cape.evidence._evidence import Evidence
from cape.watch._tracks import OF_LABELS, Question
from cape.watch._watch import DEFAULT_QUESTIONS, Watch
from cape_app.files import _scan
from cape_app.files._model import TableModel
from cape_app.files._notes import Notes
from cape_app.tables import Dialect, Source

_METRICS = (
    ("cape_share", "Share of positives since the last change."),
    ("cape_share_low", "Low end of its interval at all looks."),
    ("cape_share_high", "High end of its interval at all looks."),
    ("cape_decided", "Share of rows that the last look decided as positive."),
)


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


def read_look(
    watch: Watch,
    model: TableModel,
    path: Source,
    *,
    counts: bool = False,
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
    asks_labels = any(question.name in OF_LABELS for question in watch.questions)
    keeping: Any = nullcontext()
    if asks_labels and model.columns.label in scan.table.names:
        keeping = _scan.KeptRows(None, model.clf)
    with notes.listening(), keeping as kept:
        evidence, _ = scan.batch(model, kept=kept)
    scan.table.check_unchanged()
    return evidence


def metrics_text(watch: Watch) -> str:
    r"""Write the last look for Prometheus, in the OpenMetrics text format.

    Parameters
    ----------
    watch : Watch

    Returns
    -------
    str
    """
    summary = watch.to_dict()
    samples: dict[str, list[str]] = {name: [] for name, _ in _METRICS}
    alarms = []
    for group in summary["groups"]:
        label = f'group="{_escaped(group["group"])}"'
        share = group["share"]
        values = [share["value"], share["low"], share["high"], group["decided"]]
        for (name, _), value in zip(_METRICS, values, strict=True):
            if value is not None:
                samples[name].append(f"{name}{{{label}}} {value}")
        for question, answer in group["answers"].items():
            labels = f'question="{question}",{label}'
            alarms.append(f"cape_alarm{{{labels}}} {int(bool(answer))}")
    lines = []
    for name, text in _METRICS:
        lines += [f"# TYPE {name} gauge", f"# HELP {name} {text}", *samples[name]]
    lines += ["# TYPE cape_alarm gauge", "# HELP cape_alarm 1 during an alarm."]
    lines += [*alarms, "# TYPE cape_looks gauge", "# HELP cape_looks Looks so far."]
    return "\n".join([*lines, f"cape_looks {summary['number']}", "# EOF", ""])


def _escaped(text: str) -> str:
    """Write a text as the value of a label."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
