"""``cape predict``: a batch in, its rows with predictions out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cape.cli._app import app, console, give_json, give_notes, give_path, progress
from cape.cli._options import (
    Encoding,
    Force,
    Json,
    Level,
    Model,
    Report,
    Separator,
    dialect_of,
    workers,
)
from cape.cli._show import number, table_of


@app.command(
    epilog="Example: cape predict model.cape march.csv --out predictions.csv --report march.html"
)
def predict(
    model: Model,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The batch: CSV (also .gz), Parquet, Arrow.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Its rows and three columns: prediction, probability, prevalence.",
            show_default=False,
        ),
    ] = None,
    report: Report = None,
    level: Level = 0.95,
    separator: Separator = ",",
    encoding: Encoding = "utf-8",
    dask: Annotated[
        str | None,
        typer.Option(
            help="Address of a Dask scheduler whose workers do the parts.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Adapt to a batch and predict it.

    The file is read twice, in parts, and may be larger than memory: once to see how the share of positives of each
    group has moved, once to predict. A file with labels also gets a fairness table.
    """
    from cape._tables import table_length
    from cape.files import Notes, file_hash, load_model, predict_file
    from cape.report import batch_summary, check_report, write_report

    if report is not None:
        check_report(report, overwrite=force)
    notes = Notes()
    loaded = load_model(model)
    length, sha256 = (
        table_length(file),
        file_hash(file),
    )  # before it is replaced, if it is its own output
    with progress(length) as on_rows, workers(dask) as each:
        found = predict_file(
            loaded,
            file,
            out,
            level=level,
            dialect=dialect_of(separator, encoding),
            overwrite=force,
            notes=notes,
            on_rows=on_rows,
            each=each,
        )
    summary = batch_summary(loaded, found, file, sha256)
    if report is not None:
        write_report(summary, report, overwrite=force)
    give_notes(notes)
    if as_json:
        give_json(
            summary | {"out": None if out is None else str(out), "notes": list(notes)}
        )
        return
    _show(summary)
    for name, path in (("predictions", out), ("report", report)):
        if path is not None:
            give_path(name, path)


def _show(summary: dict[str, Any]) -> None:
    rows = [
        [
            g["group"],
            g["rows"],
            number(g["training_prevalence"]),
            number(g["estimate"]),
            f"{number(g['low'])}-{number(g['high'])}",
            number(g["theta"]),
            number(g["pd_bound"]),
        ]
        for g in summary["groups"]
    ]
    columns = ["group", "rows", "was", "is", f"{summary['level']:.0%}", "for", "PD <="]
    console.print(
        table_of(
            f"{summary['rows']} rows; prevalence was, is; classifier for", columns, rows
        )
    )
    console.print(
        f"assumption: {summary['assumption']['verdict']['text']}",
        markup=False,
        highlight=False,
    )
    if summary["observed"]:
        _show_observed(summary["observed"])


def _show_observed(observed: dict[str, Any]) -> None:
    rows = []
    for who, name in (("cape", "CAPE"), ("unadapted", "as trained")):
        groups: dict[str, dict[str, float]] = {}
        for finding in observed[who]["groups"]:
            groups.setdefault(finding["group"], {})[finding["metric"]] = finding[
                "value"
            ]
        rows += [
            [
                group,
                name,
                *(
                    number(values[m])
                    for m in ("fpr", "fnr", "accuracy", "prevalence", "pd")
                ),
            ]
            for group, values in groups.items()
        ]
    columns = ["group", "classifier", "FPR", "FNR", "accuracy", "true", "PD"]
    console.print(table_of("What the labels say", columns, rows))
    worst = [
        f"{name} {number(observed[who]['worst']['pe']['value'])}"
        for who, name in (("cape", "CAPE"), ("unadapted", "as trained"))
        if "pe" in observed[who]["worst"]
    ]
    if worst:
        console.print(
            f"PE of the worst pair: {', '.join(worst)}", markup=False, highlight=False
        )
