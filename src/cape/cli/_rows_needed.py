"""``cape rows-needed``: how many rows, or labels, an interval takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cape.cli._app import app, console, give_json, give_line, give_notes, progress
from cape.cli._options import (
    Decimal,
    Encoding,
    Json,
    Level,
    Model,
    Separator,
    dialect_of,
    option,
)
from cape.cli._show import number, table_of

File = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="A batch, to plan for batches like it: what else has moved in it counts, "
        "and so do labels. CSV (also .gz), Parquet or Arrow.",
        show_default=False,
    ),
]
Width = Annotated[
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


@app.command("rows-needed", epilog="Example: cape rows-needed model.cape --width 0.1")
def rows_needed(
    model: Model,
    file: File = None,
    width: Width = 0.1,
    level: Level = 0.95,
    prevalence: Prevalence = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    as_json: Json = False,
) -> None:
    """Tell how many rows a batch needs for intervals of a given width.

    The noise of training does not shrink with the batch, and neither does what else has
    moved in a file: some widths cannot be reached by any number of rows. Labels of a
    few rows can reach them; with a file, their number is told, too, and cape sample
    --width draws the rows.
    """
    from cape._tables import table_length
    from cape.files import Notes, load_model, rows_needed_of_file

    loaded = load_model(model)
    notes = Notes()
    length = None if file is None else table_length(file)
    with progress(length) as on_rows:
        needs = rows_needed_of_file(
            loaded,
            file,
            width,
            level=level,
            prevalence=prevalence,
            dialect=dialect_of(separator, encoding, decimal, default=loaded.dialect),
            notes=notes,
            on_rows=on_rows,
        )
    give_notes(notes)
    if as_json:
        content = {"width": width, "level": level, "groups": needs}
        give_json(content | {"notes": list(notes)})
        return
    _show(needs, width, level)
    if prevalence is None:
        give_line(
            "Rows are planned for the share of positives that needs the most; at "
            "another share, intervals may be narrower (--prevalence)."
        )


def _show(needs: list[dict[str, Any]], width: float, level: float) -> None:
    """Print what each group needs."""
    of_file = "rows" in needs[0]
    columns = ["group", "rows needed", "narrowest"]
    if of_file:
        columns += ["rows here", "labels needed", "drawn plainly"]
    lines = []
    for need in needs:
        rows = need["rows_needed"]
        line = [need["group"], "none is enough" if rows is None else rows]
        line.append(number(need["narrowest"]))
        if of_file:
            line += [need["rows"], need["labels_needed"]]
            line.append(need["labels_needed_drawn_plainly"])
        lines.append(line)
    title = f"For {100 * level:g}% intervals of the share of positives, {width:g} wide"
    console.print(table_of(title, columns, lines))
    give_line("narrowest: the width that no number of rows goes below.")
    if of_file:
        give_line(
            "labels needed: if rows are drawn by cape sample --width; drawn plainly: "
            "if they are drawn with equal chances, and the score is not used."
        )
