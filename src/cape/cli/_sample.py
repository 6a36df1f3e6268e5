"""``cape rows-needed`` and ``cape sample``: how many rows or labels, and which ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cape._wording._terminal import rows_needed as said_of_needs
from cape._wording._terminal import sampled as said_of_sample
from cape.cli._app import give, give_json, give_notes, give_path, progress
from cape.cli._options import (
    Csv,
    Force,
    Json,
    KeyFile,
    Level,
    Model,
    Scheduler,
    argument,
    check_files,
    command,
    option,
    workers,
)

Planned = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="A batch, to plan for batches like it: what else has moved in it counts, "
        "and so do labels. CSV (also .gz), Parquet or Arrow.",
        show_default=False,
    ),
]
PlannedWidth = Annotated[
    float,
    option(
        "Width of the interval, from its low end to its high end. Default: 0.1.",
        "NUMBER",
    ),
]
Prevalence = Annotated[
    float | None,
    option(
        "Share of positives to plan rows for. Default: the one that needs the most.",
        "NUMBER",
    ),
]
File = Annotated[
    Path,
    argument("FILE", "The batch to draw rows from: CSV (also .gz), Parquet or Arrow."),
]
Out = Annotated[
    Path,
    option(
        "Write the rows to check (.csv): all their columns, cape_row, "
        "cape_probability, cape_key, and an empty label column to fill in.",
        "FILE",
    ),
]
Rows = Annotated[
    int | None,
    option("How many rows to draw, in all groups together. Default: 100.", "NUMBER"),
]
Spread = Annotated[
    str,
    option(
        "Share the rows out over the groups: equal (as many of each; default) or "
        "proportional (to their rows). A small group is drawn completely.",
        "NAME",
    ),
]
Width = Annotated[
    float | None,
    option(
        "In place of --rows: as many rows of each group as a 95 % interval of this "
        "width needs, such as 0.1.",
        "NUMBER",
    ),
]
Seed = Annotated[int, option("Seed of the draw. Default: 0.", "NUMBER")]

_DEFAULT_ROWS = 100


@command("rows-needed", epilog="Example: cape rows-needed model.cape --width 0.1")
def rows_needed(
    model: Model,
    file: Planned = None,
    *,
    width: PlannedWidth = 0.1,
    level: Level = 0.95,
    prevalence: Prevalence = None,
    csv: Csv,
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Tell how many rows a batch needs for intervals of a given width.

    The noise of training does not shrink with the batch, and neither does what else has
    moved in a file: some widths cannot be reached by any number of rows. Labels of a
    few rows can reach them; with a file, their number is told, too, and cape sample
    --width draws the rows.
    """
    check_files([model] if file is None else [model, file], overwrite=False)
    from cape._tables import table_length
    from cape.files import load_model, rows_needed_of_file
    from cape.files._notes import Notes

    loaded = load_model(model, key=key_file)
    notes = Notes()
    length = None if file is None else table_length(file)
    with progress(length) as on_rows:
        needs = rows_needed_of_file(
            loaded,
            file,
            width,
            level=level,
            prevalence=prevalence,
            dialect=csv.dialect(loaded.dialect),
            notes=notes,
            on_rows=on_rows,
        )
    said = give_notes(notes)
    if as_json:
        content = {"width": width, "level": level, "groups": needs, "notes": said}
        give_json(content)
        return
    give(said_of_needs(needs, width, level, worst=prevalence is None))


@command(
    epilog="Example: cape sample model.cape march.csv --rows 100 --out to_check.csv. "
    "Fill in the label column, then: cape predict model.cape march.csv --checked "
    "to_check.csv --out predictions.csv"
)
def sample(
    model: Model,
    file: File,
    *,
    out: Out,
    rows: Rows = None,
    spread: Spread = "equal",
    width: Width = None,
    seed: Seed = 0,
    csv: Csv,
    key_file: KeyFile = None,
    dask: Scheduler = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Draw rows of a batch at random, for a person to look up their labels.

    Labels of a few rows confirm, correct or refute what is estimated without labels,
    whatever has moved. That is true of a random sample only: take the rows that were
    drawn, and no others. Rows whose outcome is known early, or that are easy to check,
    are not a random sample. More rows are drawn where the score tells less of the
    label; cape_probability says with which probability. Rows come in random order, so
    that you can stop early. The sheet may be sorted, and other columns deleted or
    added: keep cape_key and the label column.
    """
    check_files([model, file], [out], overwrite=force)
    from cape._tables import table_length
    from cape._wording._numbers import group_name
    from cape.files import load_model, sample_file
    from cape.files._notes import Notes

    if rows is None and width is None:
        rows = _DEFAULT_ROWS
    loaded = load_model(model, key=key_file)
    notes = Notes()
    with progress(table_length(file)) as on_rows, workers(dask) as each:
        sampled = sample_file(
            loaded,
            file,
            out,
            n=rows,
            spread=spread,
            width=width,
            seed=seed,
            dialect=csv.dialect(loaded.dialect),
            overwrite=force,
            notes=notes,
            on_rows=on_rows,
            each=each,
        )
    groups = []
    for group, drawn in sampled.drawn.items():
        name = group_name(group)
        groups.append({"group": name, "rows": sampled.rows[group], "drawn": drawn})
    said = give_notes(notes)
    if as_json:
        give_json({"out": str(out), "groups": groups, "notes": said})
        return
    give(said_of_sample(groups, loaded.columns.label))
    give_path("rows to check", out)
