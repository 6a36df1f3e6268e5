"""``cape check``: what to know of a table before training."""

from __future__ import annotations

from pathlib import Path

from cape_app import files
from cape_app.cli import _app
from cape_app.cli import _options as options
from cape_app.cli._options import command
from cape_app.files._notes import Notes
from cape_app.words._check import checked


@command(epilog="Example: cape check loans.xlsx. Then paste what it prints last.")
def check(
    file: Path,
    *,
    label: str | None = None,
    group: list[str] | None = None,
    time: str | None = None,
    drop: list[str] | None = None,
    positive: list[str] | None = None,
    bins: list[str] | None = None,
    weight: str | None = None,
    csv: options.Csv,
    as_json: bool = False,
) -> None:
    """Look at a labelled table before training, and print the command to train on it.

    It says what label, groups and time seem to be, which columns to leave out and why,
    how numbers are written, and what to expect of a model.

    Parameters
    ----------
    file : FILE
        A labelled table: {sources}
    label : COLUMN
        Column with the label. Default: a guess.
    group : COLUMN
        Column with the group. Repeat the option to combine several columns. Default: a
        guess.
    time : COLUMN
        Column with the period of each row. Default: a guess.
    drop : COLUMN
        Column to leave out. Repeat the option to drop several.
    weight : COLUMN
        Column with the weight of each row: how many members of a population it stands
        for.
    """
    notes = Notes()
    with _app.progress() as on_rows:
        content = files.check_file(
            file,
            label=label,
            group=group or (),
            time=time,
            drop=drop or (),
            positive=positive or (),
            bins=options.parse_bins(bins),
            weight=weight,
            dialect=csv.dialect(),
            notes=notes,
            on_rows=on_rows,
        )
    said = _app.give_notes(notes)
    if as_json:
        _app.give_json("check", {**content, "notes": said})
    else:
        _app.give(checked(content, str(file)))
