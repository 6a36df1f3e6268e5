"""``cape audit``: labels, predictions and groups in, the fairness table with intervals out."""

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
    Report,
    Separator,
    dialect_of,
)
from cape.cli._show import give_breaches, number, table_of

_OF_GROUP = ("pd", "fpr", "fnr", "accuracy", "prevalence", "predicted_prevalence")
_OF_PAIR = (
    "pe",
    "fpr_difference",
    "fnr_difference",
    "accuracy_difference",
    "predicted_prevalence_difference",
)


@app.command(
    epilog="Example: cape audit scored.csv --label y --prediction yhat --group race --report audit.html "
    '--fail-if "pd>0.1" --fail-if "pe>0.2"'
)
def audit(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Table with labels, predictions and groups.",
            show_default=False,
        ),
    ],
    label: Annotated[
        str, typer.Option(help="Column with the label.", show_default=False)
    ],
    prediction: Annotated[
        str, typer.Option(help="Column with the prediction.", show_default=False)
    ],
    group: Annotated[
        list[str] | None,
        typer.Option(
            help="Column with the group; give several for combinations.",
            show_default=False,
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            help="The positive label; else the greater one.", show_default=False
        ),
    ] = None,
    fail_if: FailIf = None,
    report: Report = None,
    level: Level = 0.95,
    separator: Separator = ",",
    encoding: Encoding = "utf-8",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Judge predictions by their labels: rates, PD and PE of every group, with intervals.

    --fail-if takes pd, fpr, fnr, accuracy, prevalence, predicted_prevalence of a group, and pe, fpr_difference,
    fnr_difference, accuracy_difference, predicted_prevalence_difference of a pair. The exit code is 1 if one is met.
    """
    from cape._tables import table_length
    from cape.files import Notes, count_file, file_hash
    from cape.report import audit_summary, check_report, write_report

    conditions = parse_conditions(fail_if, (*_OF_GROUP, *_OF_PAIR))
    if report is not None:
        check_report(report, overwrite=force)
    notes = Notes()
    with progress(table_length(file)) as on_rows:
        counts, labels = count_file(
            file,
            label=label,
            prediction=prediction,
            group=group or [],
            positive=positive,
            dialect=dialect_of(separator, encoding),
            notes=notes,
            on_rows=on_rows,
        )
    columns = {
        "label": label,
        "prediction": prediction,
        "groups": ", ".join(group or []),
        "positive": labels[1],
    }
    summary = audit_summary(
        counts, level=level, file=file, file_sha256=file_hash(file), columns=columns
    )
    found = list(breaches(conditions, _findings(summary["observed"]["cape"])))
    if report is not None:
        write_report(summary, report, overwrite=force)
    give_notes(notes)
    if as_json:
        give_json(summary | {"failed": found})
    else:
        _show(summary, report)
        give_breaches(found)
    if found:
        raise typer.Exit(1)


def _findings(content: dict[str, Any]) -> list[dict[str, Any]]:
    of_group = [{**f, "where": f["group"]} for f in content["groups"]]
    return of_group + [
        {**f, "where": f"{f['group']} / {f['other']}"} for f in content["pairs"]
    ]


def _show(summary: dict[str, Any], report: Path | None) -> None:
    content = summary["observed"]["cape"]
    groups: dict[str, dict[str, Any]] = {}
    for finding in content["groups"]:
        groups.setdefault(finding["group"], {})[finding["metric"]] = finding
    rows = []
    for name, found in groups.items():
        cells = [
            number(found[metric]["value"])
            for metric in ("fpr", "fnr", "accuracy", "prevalence", "pd")
        ]
        pd = found["pd"]
        few = "" if pd["enough"] else " few"
        rows.append(
            [
                name,
                found["accuracy"]["rows"],
                *cells,
                f"{number(pd['low'])}-{number(pd['high'])}{few}",
            ]
        )
    columns = [
        "group",
        "rows",
        "FPR",
        "FNR",
        "acc.",
        "true",
        "PD",
        f"{summary['level']:.0%}",
    ]
    console.print(table_of(f"{summary['rows']} rows", columns, rows))
    if "pe" in content["worst"]:
        pair = content["worst"]["pe"]
        ends = f"{number(pair['low'])} to {number(pair['high'])}"
        text = f"PE of the worst pair, {pair['group']} / {pair['other']}: {number(pair['value'])} ({ends})"
        console.print(text, markup=False, highlight=False)
    if report is not None:
        give_path("report", report)
