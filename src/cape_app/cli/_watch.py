"""``cape watch``: the same questions at every look."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cape.base._io import check_free, locked, new_file
from cape.base._numbers import group_name
from cape_app.cli import _app
from cape_app.cli import _options as options
from cape_app.cli._options import command
from cape_app.cli._output import Output
from cape_app.files._notes import Notes

if TYPE_CHECKING:
    from cape import Watch


@command(
    epilog="Example: cape watch model.cape 2026-05-03.csv --state watch.json --report "
    "watch.html",
)
def watch(
    model: Path,
    file: Path | None = None,
    *,
    state: Path,
    ask: list[str] | None = None,
    name: str | None = None,
    fail_if: list[str] | None = None,
    acknowledge: str | None = None,
    counts: bool = False,
    labels: bool = False,
    batch: options.Batch,
    output: Output,
) -> None:
    """Look at new rows, as often as you like, with few false alarms.

    Every look counts its rows once and asks the same questions about all rows so far.
    The chance that it ever raises a false alarm, over all looks, groups and questions,
    is about 5%. The exit code is 1 while an alarm is active and not acknowledged, and 2
    if something went wrong. Run it on a schedule; a look repeated counts nothing. To
    look back, use cape predict with several files. The reference must be labelled rows
    that the model was not trained on: use cape train --score, or a prefit model.

    Parameters
    ----------
    file : FILE
        Rows that no look has seen yet: {sources}
    state : FILE
        Where the watch keeps its counts (.json). The first look creates it.
    ask : QUESTION
        A question, chosen at the first look: moved>0.05, changed, broken, parity>0.1,
        and with labels fpr_gap>0.1, fnr_gap>0.1, pd>0.05. They compare with the
        reference; 'absolute parity>0.1' does not. Repeat the option for more questions.
        Default: moved>0.05, broken and parity>0.1.
    name : NAME
        Name of the look, such as its date. Default: that of the file.
    fail_if : QUESTION
        Exit with code 1 only while an alarm for this question is active, such as moved.
        Repeat the option for more questions. Default: any alarm.
    acknowledge : ALARM
        Clear this alarm: question:group, such as moved:a or parity:a,b.
    labels : bool
        The labels of FILE are of all rows or of a random sample: shares are seen sooner
        with them. Questions about labels use them without this option.
    """
    if file is None and acknowledge is None:
        raise ValueError("FILE is missing: name the new rows.")
    output.check()
    check_free(state, overwrite=True)
    from cape.watch._tracks import Question
    from cape_app.files._watch import open_watch, read_look, remark_on_dates
    from cape_app.pages._model import file_provenance
    from cape_app.pages._over_time import watch_summary

    fatal = {Question.parse(text).name for text in fail_if or []}
    loaded = batch.load(model)
    notes = Notes()

    def resume() -> Watch:
        """Go on where the last look ended, once what stands is acknowledged."""
        watched = open_watch(loaded, state, ask, notes)
        if acknowledge is not None:
            question, group = _parse_subject(acknowledge, watched.names)
            watched.acknowledge(question, group)
        return watched

    # Mistakes are told before a file is read that may be long.
    watched = resume()
    command = ""
    if file is not None:
        with _app.progress() as on_rows:
            evidence = read_look(
                watched,
                loaded,
                file,
                counts=counts,
                labels=labels,
                dialect=batch.dialect(loaded.dialect),
                notes=notes,
                on_rows=on_rows,
            )
        if not counts:
            command = batch.to_paste(
                "sample", model, file, rows=100, out="to_check.csv"
            )
    # The files take their names when the block ends, and the state comes last: a look
    # that fails before can be repeated.
    with locked(state), ExitStack() as stack:
        # Another watch may have looked while this one was reading.
        watched = resume()
        if file is not None:
            n_looks = len(watched.looks)
            watched.look(evidence, name or file.name.partition(".")[0])
            remark_on_dates(watched, n_looks, notes)
        temporary = stack.enter_context(new_file(state, overwrite=True))
        temporary.write_text(watched.to_json(), encoding="utf-8")
        provenance = file_provenance(loaded)
        acknowledged = ""
        if watched.alarms:
            acknowledged = batch.to_paste(
                "watch", model, None, state=state, acknowledge=_subject(watched)
            )
        summary = watch_summary(
            watched, provenance=provenance, command=command, acknowledge=acknowledged
        )
        summary["notes"] = _app.give_notes(notes)
        output.write_page(summary)
    output.tell("watch", summary)
    names = [Question.parse(alarm["question"]).name for alarm in watched.alarms]
    if any(name in fatal or not fatal for name in names):
        raise typer.Exit(1)


def _subject(watched: Watch) -> str:
    """Write the first alarm as --acknowledge reads it."""
    alarm = watched.alarms[0]
    groups = [watched.names[group] for group in alarm["groups"]]
    return f"{alarm['question']}:{','.join(groups)}"


def _parse_subject(text: str, names: Mapping[Any, str]) -> tuple[str, Any]:
    """Read what is acknowledged: "moved:a" or "parity:a,b"."""
    question, _, named = text.partition(":")
    if not named:
        return question, None
    by_name = {name: group for group, name in names.items()}
    if named in by_name:
        return question, by_name[named]
    for one, other in combinations(by_name, 2):
        if named in (f"{one},{other}", f"{one}, {other}"):
            return question, [by_name[one], by_name[other]]
    raise ValueError(
        f"a group must be one of {', '.join(map(group_name, by_name))}, or two of them "
        f"with a comma, got {named!r}."
    )
