"""``cape predict``: from a batch to its rows with predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from rich.table import Table
from rich.text import Text

from cape.cli._app import app, console, give_line, give_path, progress
from cape.cli._checked import show_checked
from cape.cli._help import CommandWithNames
from cape.cli._options import (
    Decimal,
    Drift,
    Encoding,
    Force,
    Json,
    Level,
    Model,
    Report,
    Rule,
    Scheduler,
    Separator,
    argument,
    dialect_of,
    option,
    workers,
)
from cape.cli._output import Output
from cape.cli._rule import CostFn, CostFp, Tolerance, described, rule_of
from cape.cli._show import (
    interval,
    number,
    show_faults,
    table_of,
    value_or_few,
    values_by_group,
)

# The model as trained, cut at 1/2, is what the user would have without CAPE.
_CLASSIFIERS = {"cape": "CAPE", "unadapted": "as trained"}
_METRICS = ("fpr", "fnr", "accuracy", "prevalence", "pd")
_MOST_COLUMNS = 3
_PAPER_RULE = "prevalence"
_STYLES = {"bad": "bold red", "warn": "bold yellow", "good": "bold", "open": "bold"}

# Beside the estimate stands what it is to be compared with.
_LABEL_COLUMNS = {True: "label-free", False: "by labels"}

Batch = Annotated[
    Path,
    argument("FILE", "The batch to predict: CSV (also .gz), Parquet or Arrow."),
]
Out = Annotated[
    Path | None,
    option(
        "Write the rows with three more columns: prediction, probability (of a "
        "positive) and estimated_prevalence (of the group).",
        "FILE",
    ),
]

Checked = Annotated[
    Path | None,
    option(
        "A sheet of cape sample whose label column was filled in, for all rows or for "
        "some. Its labels correct the estimates, confirm or refute them, and count for "
        "the decisions. Only cape_key and the label are read.",
        "FILE",
    ),
]


@app.command(
    cls=CommandWithNames,
    epilog="Example: cape predict model.cape march.csv --out predictions.csv --report "
    "march.html",
)
def predict(
    model: Model,
    file: Batch,
    out: Out = None,
    report: Report = None,
    level: Level = 0.95,
    rule: Rule = None,
    tolerance: Tolerance = None,
    cost_fp: CostFp = None,
    cost_fn: CostFn = None,
    drift: Drift = None,
    checked: Checked = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    dask: Scheduler = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Adapt to a batch and predict it.

    The file is read twice, in parts, and may be larger than memory: first to estimate
    the share of positives of each group, then to predict. If the file has labels,
    estimates and predictions are compared with them, too. What else has moved, such as
    a column in other units, is named before any number.
    """
    output = Output(report, force, as_json)
    # What can be wrong with the output is found before the work is done, and before
    # anything that takes long to import.
    output.check(inputs=[file, model], outputs=[out])
    from cape._tables import table_length
    from cape.files import Notes, load_model, predict_file
    from cape.report import batch_summary, file_provenance

    aim = rule_of(rule, tolerance=tolerance, cost_fp=cost_fp, cost_fn=cost_fn)
    loaded = load_model(model)
    notes = Notes()
    length = table_length(file)
    with progress(length) as on_rows, workers(dask) as each:
        prediction = predict_file(
            loaded,
            file,
            out,
            level=level,
            dialect=dialect_of(separator, encoding, decimal, default=loaded.dialect),
            rule=aim,
            drift=drift,
            checked=checked,
            overwrite=force,
            notes=notes,
            on_rows=on_rows,
            each=each,
        )
    provenance = file_provenance(
        loaded.details,
        [(file.name, prediction.rows, prediction.sha256)],
        fingerprint=loaded.clf.fingerprint_,
    )
    examination = prediction.examination
    examination.provenance = provenance
    summary = batch_summary(examination, title=file.name)
    written = None if out is None else str(out)
    came_back = None if prediction.checked is None else prediction.checked.to_dict()
    output.give(
        summary,
        show=lambda summary: _show(summary, came_back, out),
        notes=notes,
        more={"out": written, "checked": came_back},
    )


def _show(
    summary: dict[str, Any], checked: list[dict[str, Any]] | None, out: Path | None
) -> None:
    """Print what was estimated, and what the labels say if there are any.

    Parameters
    ----------
    summary : dict
        From `cape.report.batch_summary`.
    checked : list of dict or None
        What came back of a sheet of checked rows.
    out : Path or None
        Where the predictions were written.
    """
    show_faults(summary["verdict"], "groups")
    _show_label_verdict(summary["labels"])
    console.print(_prevalence_table(summary))
    legend = (
        "PD <=: bound on the prevalence difference; it is right if the interval is."
    )
    if summary["labels"] is None:
        member = "member: the prevalence that the chosen classifier is made for."
        legend = f"{member} {legend}"
    give_line(legend)
    if summary["rule"]["name"] != _PAPER_RULE:
        give_line(f"rule: {described(summary['rule'])}.")
        for sentence in summary["aims"]:
            give_line(f"  {sentence}")
    _show_verdicts(summary)
    if checked is not None:
        show_checked(checked, summary)
    if summary["observed"]:
        _show_observed(summary["observed"])
    if summary["compared"]:
        give_line(summary["compared"]["text"])
    if out is not None:
        give_path("predictions", out)


def _show_label_verdict(labels: dict[str, Any] | None) -> None:
    """Print what labels say of the estimates, before the estimates are printed.

    Parameters
    ----------
    labels : dict or None
        Of a summary; None if no row has a label.
    """
    if labels is None:
        return
    verdict = labels["verdict"]
    head = Text(verdict["head"], style=_STYLES[verdict["mark"]])
    console.print(head)
    if verdict["text"]:
        give_line(verdict["text"])
    console.print()


def _show_verdicts(summary: dict[str, Any]) -> None:
    """Print what speaks against a prior shift in each group, and which columns moved.

    Groups of which the same is said are named together: there may be hundreds of them.
    """
    columns: dict[str, list[str]] = {}
    for entry in summary["columns"]["moved"]:
        # Columns at fault have been named above, before all numbers.
        if entry["fault"]:
            continue
        columns.setdefault(entry["group"], []).append(entry["what_happened"])
    alike: dict[str, list[str]] = {}
    for group in summary["groups"]:
        name = group["group"]
        lines = [group["verdict_text"]]
        moved = columns.get(name, [])
        lines += [f"  {sentence}" for sentence in moved[:_MOST_COLUMNS]]
        if len(moved) > _MOST_COLUMNS:
            lines.append(f"  and {len(moved) - _MOST_COLUMNS} more columns")
        alike.setdefault("\n".join(lines), []).append(name)
    console.print()
    for text, names in alike.items():
        give_line(f"{', '.join(names)}: {text}")
    if not summary["columns"]["counted"]:
        give_line("No column was looked at: the model has no counts of columns.")


def _prevalence_table(summary: dict[str, Any]) -> Table:
    """Make the table of prevalences, a row for each group."""
    level = f"{100 * summary['level']:g}%"
    columns = ["group", "rows", "training", "estimate", level, "member", "PD <="]
    rows = []
    for group in summary["groups"]:
        rows.append(
            [
                group["group"],
                group["rows"],
                number(group["training_prevalence"]),
                number(group["estimate"]),
                interval(group["low"], group["high"]),
                number(group["made_for"]),
                number(group["pd_bound"]),
            ]
        )
    if summary["labels"] is not None:
        # In place of the member: one more column would not fit into 80 characters.
        place = columns.index("member")
        columns[place] = _LABEL_COLUMNS[summary["labels"]["decide"]]
        for cells, check in zip(rows, summary["labels"]["groups"], strict=True):
            cells[place] = _label_cell(check, summary["labels"]["decide"])
    title = f"{summary['rows']} rows; prevalence in training, and estimate in this file"
    return table_of(title, columns, rows)


def _label_cell(check: dict[str, Any], decide: bool) -> str:
    """Write what labels say; or, where they decide, what was estimated without them."""
    if check["label_verdict"] is None:
        return "-"
    if decide:
        return number(check["without_labels"])
    return number(check["label_estimate"])


def _show_observed(observed: dict[str, Any]) -> None:
    """Print how CAPE and the model as trained compare with the labels.

    Parameters
    ----------
    observed : dict
        The audit of either, as ``cape`` and ``unadapted``.
    """
    rows = []
    worst = []
    for who, name in _CLASSIFIERS.items():
        for group, found in values_by_group(observed[who]["groups"]).items():
            cells = [value_or_few(found[metric]) for metric in _METRICS]
            rows.append([group, name, *cells])
        if "pe" in observed[who]["worst"]:
            worst.append(f"{name} {number(observed[who]['worst']['pe']['value'])}")
    columns = ["group", "classifier", "FPR", "FNR", "accuracy", "prevalence", "PD"]
    console.print(table_of("What the labels say", columns, rows))
    if worst:
        give_line(f"PE of the worst pair: {', '.join(worst)}")
    if observed["cape"]["left_out"]:
        give_line(observed["cape"]["left_out"])
