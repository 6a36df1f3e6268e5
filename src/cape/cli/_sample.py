"""``cape sample``: from a batch to a sheet of rows for a person to check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cape.cli._app import (
    app,
    console,
    give_json,
    give_line,
    give_notes,
    give_path,
    progress,
)
from cape.cli._options import (
    Decimal,
    Encoding,
    Force,
    Json,
    Model,
    Scheduler,
    Separator,
    argument,
    dialect_of,
    option,
    workers,
)
from cape.cli._output import check_outputs
from cape.cli._show import table_of

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


@app.command(
    epilog="Example: cape sample model.cape march.csv --rows 100 --out to_check.csv. "
    "Fill in the label column, then: cape predict model.cape march.csv --checked "
    "to_check.csv --out predictions.csv"
)
def sample(
    model: Model,
    file: File,
    out: Out,
    rows: Rows = None,
    spread: Spread = "equal",
    width: Width = None,
    seed: Seed = 0,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
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
    check_outputs([out], inputs=[file, model], overwrite=force)
    from cape._groups import group_name
    from cape._tables import table_length
    from cape.files import Notes, load_model, sample_file

    if rows is None and width is None:
        rows = _DEFAULT_ROWS
    loaded = load_model(model)
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
            dialect=dialect_of(separator, encoding, decimal, default=loaded.dialect),
            overwrite=force,
            notes=notes,
            on_rows=on_rows,
            each=each,
        )
    groups = []
    for group, drawn in sampled.drawn.items():
        entry = {
            "group": group_name(group),
            "rows": sampled.rows[group],
            "drawn": drawn,
        }
        groups.append(entry)
    give_notes(notes)
    if as_json:
        give_json({"out": str(out), "groups": groups, "notes": list(notes)})
        return
    _show(groups, loaded.columns.label, out)


def _show(groups: list[dict[str, Any]], label: str, out: Path) -> None:
    """Print how many rows were drawn, and what to do next."""
    lines = [[entry["group"], entry["rows"], entry["drawn"]] for entry in groups]
    n_drawn = sum(entry["drawn"] for entry in groups)
    console.print(
        table_of(f"{n_drawn} rows to check", ["group", "rows", "drawn"], lines)
    )
    give_line(
        f"Fill in {label!r} for as many rows as you can, from the top, and leave the "
        "rest empty. Then: cape predict ... --checked"
    )
    give_path("rows to check", out)
