"""``cape predict``: a batch in, its rows with predictions out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cape.cli._app import app, console, give_json, give_notes, progress
from cape.cli._options import Encoding, Force, Json, Level, Model, Separator, dialect_of
from cape.cli._show import interval, number, table_of


@app.command(epilog="Example: cape predict model.cape march.csv --out predictions.csv --report march.html")
def predict(
    model: Model,
    file: Annotated[Path, typer.Argument(help="The batch: CSV (also .gz), Parquet, Arrow.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(help="Its rows and three columns: prediction, probability, prevalence.", show_default=False),
    ] = None,
    level: Level = 0.95,
    separator: Separator = ",",
    encoding: Encoding = "utf-8",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Adapt to a batch and predict it.

    The file is read twice, in parts, and may be larger than memory: once to see how the share of positives of each
    group has moved, once to predict. A file with labels also gets a fairness table.
    """
    from cape.files import Notes, load_model, predict_file
    from cape.tables import table_length

    notes = Notes()
    loaded = load_model(model)
    with progress(table_length(file)) as on_rows:
        found = predict_file(
            loaded,
            file,
            out,
            level=level,
            dialect=dialect_of(separator, encoding),
            overwrite=force,
            notes=notes,
            on_rows=on_rows,
        )
    give_notes(notes)
    table = found.adaptation.table()
    if as_json:
        give_json({"rows": found.rows, "groups": table.reset_index().to_dict("records")})
        return
    rows = [
        [
            name,
            int(g.rows),
            number(g.training_prevalence),
            number(g.estimate),
            interval(g.low, g.high),
            number(g.theta),
            number(g.pd_bound),
        ]
        for name, g in table.iterrows()
    ]
    console.print(table_of(f"{found.rows} rows", ["group", "rows", "was", "is", "", "for", "PD <="], rows))
    if out is not None:
        console.print(f"predictions: {out}", markup=False, highlight=False)
