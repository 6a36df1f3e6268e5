"""``cape watch``: the same questions at every look."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cape._wording import _watch as words
from cape.cli import _app
from cape.cli import _options as options
from cape.cli._options import argument, command, option
from cape.cli._output import Output

NewRows = Annotated[
    Path | None,
    argument("FILE", f"Rows that no look has seen yet: {options.SOURCES}"),
]
State = Annotated[
    Path,
    option("Where the watch keeps its counts (.json); made by the first look.", "FILE"),
]
Ask = Annotated[
    list[str] | None,
    option(
        "A question, at the first look: moved>0.05, changed, broken, parity>0.1, and "
        "with labels fpr_gap>0.1, fnr_gap>0.1, pd>0.05. May be given several times. "
        "Default: moved>0.05, broken and parity>0.1.",
        "QUESTION",
    ),
]
Name = Annotated[
    str | None,
    option("Name of the look, such as its date. Default: that of the file.", "NAME"),
]
FailIf = Annotated[
    list[str] | None,
    option(
        "Exit with code 1 only while an alarm of this question stands, such as moved. "
        "May be given several times. Default: any alarm.",
        "QUESTION",
    ),
]
Acknowledge = Annotated[
    str | None,
    option(
        "Take note of an alarm, so that it no longer stands: question:group, such as "
        "moved:a, or parity:a,b.",
        "ALARM",
    ),
]
Reference = Annotated[
    float | None,
    option(
        "With --acknowledge: the share of positives that moved compares with from now "
        "on. Default: the share now.",
        "NUMBER",
    ),
]
Metrics = Annotated[
    Path | None,
    option(
        "Write the look as text for Prometheus's textfile collector (.prom).", "FILE"
    ),
]


@command(
    epilog="Example: cape watch model.cape 2026-05-03.csv --state watch.json --report "
    "watch.html",
)
def watch(
    model: options.Model,
    file: NewRows = None,
    *,
    state: State,
    ask: Ask = None,
    name: Name = None,
    fail_if: FailIf = None,
    acknowledge: Acknowledge = None,
    reference: Reference = None,
    metrics: Metrics = None,
    counts: options.Counts = False,
    missing_groups: options.MissingGroups = None,
    csv: options.Csv,
    key_file: options.KeyFile = None,
    output: Output,
) -> None:
    """Look at new rows, as often as you like, with few false alarms.

    Every look counts its rows once and asks the same questions of all rows so far. The
    chance of any false alarm, ever, over all looks, groups and questions, is about 5 %.
    The exit code is 1 while an alarm stands. Use it on a schedule; use cape monitor to
    look back over batches. The model needs a labelled table that it was not trained on:
    cape train --score, or a prefit model.
    """
    source = csv.source(file, needed=acknowledge is None)
    output.check([model] if source is None else [model, source])
    if reference is not None and acknowledge is None:
        raise ValueError("--reference needs --acknowledge, got nothing.")
    from cape._tracks import Question
    from cape._watch import parse_subject
    from cape.files import load_model
    from cape.files._notes import Notes
    from cape.files._watch import look_at_file, metrics_text, open_watch, save_watch
    from cape.report._model import file_provenance
    from cape.report._watch import watch_summary

    fatal = {Question.parse(text).name for text in fail_if or []}
    loaded = load_model(model, key=key_file, missing_groups=missing_groups)
    notes = Notes()
    watched = open_watch(loaded, state, ask, notes)
    if acknowledge is not None:
        question, group = parse_subject(acknowledge, watched.names)
        watched.acknowledge(question, group, reference=reference)
    command = ""
    if source is not None:
        with _app.progress() as on_rows:
            look_at_file(
                watched,
                loaded,
                source,
                name or source.name.partition(".")[0],
                counts=counts,
                dialect=csv.dialect(loaded.dialect),
                notes=notes,
                on_rows=on_rows,
            )
        if not counts:
            command = options.to_paste(
                "sample", model, file, csv, rows=100, out="to_check.csv"
            )
    save_watch(watched, state)
    if metrics is not None:
        _write(metrics, metrics_text(watched))
    summary = watch_summary(
        watched, provenance=file_provenance(loaded), command=command
    )
    output.give("watch", summary, lambda shown: words.watched(shown, command), notes)
    names = [Question.parse(alarm["question"]).name for alarm in watched.alarms]
    if any(name in fatal or not fatal for name in names):
        raise typer.Exit(1)


def _write(path: Path, text: str) -> Any:
    """Write a text whole: Prometheus may read at any time."""
    from cape._io import new_file

    with new_file(path, overwrite=True) as temporary:
        temporary.write_text(text, encoding="utf-8")
