"""``cape monitor``: the prevalences of many batches over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cape.cli._app import app, console, give_json, give_notes, give_path, progress
from cape.cli._fail_if import breaches, parse_conditions
from cape.cli._options import (
    Encoding,
    FailIf,
    Force,
    Json,
    Level,
    Model,
    Report,
    Separator,
    dialect_of,
)
from cape.cli._show import give_breaches, number, table_of

_METRICS = ("moved", "pd", "pe", "fpr", "fnr", "accuracy", "unexplained")


@app.command(
    epilog='Example: cape monitor model.cape 2024-*.csv --report year.html --fail-if "moved>0.2"'
)
def monitor(
    model: Model,
    batches: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES",
            help="One file a batch, in order of time; or a folder.",
            show_default=False,
        ),
    ],
    fail_if: FailIf = None,
    report: Report = None,
    level: Level = 0.95,
    separator: Separator = ",",
    encoding: Encoding = "utf-8",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Follow the share of positives of each group over batches without labels.

    Files are read one at a time, in parts. --fail-if takes what can be known without labels: moved (how far a group's
    prevalence is from training), pd (the bound on PD), pe, fpr, fnr and accuracy (expected), unexplained (share of rows
    that speak against the assumption). The exit code is 1 if one is met in any batch.
    """
    from cape.files import Notes, load_model, monitor_files
    from cape.report import check_report, monitor_summary, write_report

    conditions = parse_conditions(fail_if, _METRICS)
    if report is not None:
        check_report(report, overwrite=force)
    paths = _files(batches)
    loaded, notes = load_model(model), Notes()
    with progress(len(paths), "batches") as on_batch:
        found = list(
            monitor_files(
                loaded,
                paths,
                level=level,
                dialect=dialect_of(separator, encoding),
                notes=notes,
                on_batch=on_batch,
            )
        )
    files = [(batch.name, batch.rows, batch.sha256) for batch in found]
    summary = monitor_summary(loaded, found, files, level=level)
    failed = list(breaches(conditions, _findings(summary)))
    if report is not None:
        write_report(summary, report, overwrite=force)
    give_notes(notes)
    if as_json:
        give_json(summary | {"breaches": failed})
    else:
        _show(summary, report)
        give_breaches(failed)
    if failed:
        raise typer.Exit(1)


def _files(paths: list[Path]) -> list[Path]:
    """Files as given; a folder stands for its files by name."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                file
                for file in path.iterdir()
                if file.is_file() and not file.name.startswith(".")
            )
            if not inside:
                raise ValueError(f"the folder {path} holds no files.")
            files += inside
        else:
            files.append(path)
    return files


def _findings(summary: dict[str, Any]) -> list[dict[str, Any]]:
    findings = [
        {"metric": "pe", "where": batch["batch"], "value": batch["expected_pe"]}
        for batch in summary["batches"]
    ]
    for entry in summary["groups"]:
        for b in entry["batches"]:
            values = {"moved": abs(b["estimate"] - b["training"]), "pd": b["pd_bound"]}
            values |= {
                name: b[name] for name in ("fpr", "fnr", "accuracy", "unexplained")
            }
            where = f"{b['batch']}, {entry['group']}"
            findings += [
                {"metric": name, "where": where, "value": value}
                for name, value in values.items()
            ]
    return findings


def _show(summary: dict[str, Any], report: Path | None) -> None:
    for entry in summary["groups"]:
        rows = [
            [
                b["batch"],
                b["rows"],
                number(b["estimate"]),
                f"{number(b['low'])}-{number(b['high'])}",
                f"{b['estimate'] - b['training']:+.3f}",
                number(b["pd_bound"]),
                b["assumption"],
            ]
            for b in entry["batches"]
        ]
        title = f"{entry['group']}: {number(entry['training'])} in training"
        columns = [
            "batch",
            "rows",
            "is",
            f"{summary['level']:.0%}",
            "moved",
            "PD <=",
            "assumption",
        ]
        console.print(table_of(title, columns, rows))
    verdict = summary["verdict"]
    console.print(f"{verdict['head']} {verdict['text']}", markup=False, highlight=False)
    if report is not None:
        give_path("report", report)
