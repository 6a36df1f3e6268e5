"""``cape audit``: from labels and predictions to the fairness table with intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cape.cli._app import app, console, give_line, progress
from cape.cli._fail_if import Finding, parse_conditions
from cape.cli._options import (
    Decimal,
    Encoding,
    FailIf,
    Force,
    Group,
    Json,
    Label,
    Level,
    Positive,
    Report,
    Separator,
    argument,
    dialect_of,
    option,
)
from cape.cli._output import Output
from cape.cli._show import (
    interval,
    number,
    table_of,
    value_or_few,
    values_by_group,
)

_METRICS_OF_A_GROUP = (
    "pd",
    "fpr",
    "fnr",
    "accuracy",
    "precision",
    "prevalence",
    "predicted_prevalence",
)
_METRICS_OF_A_PAIR = (
    "pe",
    "fpr_difference",
    "fnr_difference",
    "accuracy_difference",
    "predicted_prevalence_difference",
    "predicted_prevalence_ratio",
)

File = Annotated[Path, argument("FILE", "A table with labels and predictions.")]
Prediction = Annotated[
    str,
    option("Column with the prediction, which has the same two values.", "COLUMN"),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="What a prediction is called among the labels, such as high=yes. Repeat "
        "the option for the other prediction.",
        metavar="PREDICTION=LABEL",
    ),
]
Title = Annotated[
    str | None, option("Heading of the page. Default: the name of the file.", "TEXT")
]
Author = Annotated[str, option("Who made the audit, for the page.", "TEXT")]
Note = Annotated[str, option("What a reader of the page has to know first.", "TEXT")]


@app.command(
    epilog="Example: cape audit scored.csv --label y --prediction yhat --group race "
    '--report audit.html --fail-if "pd>0.1" --fail-if "pe>0.2"'
)
def audit(
    file: File,
    label: Label,
    prediction: Prediction,
    group: Group = None,
    positive: Positive = None,
    mapping: Map = None,
    fail_if: FailIf = None,
    report: Report = None,
    title: Title = None,
    author: Author = "",
    note: Note = "",
    level: Level = 0.95,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Compare predictions with labels: rates, PD and PE of the groups, with intervals.

    PD is the distance between the predicted and the true share of positives of a group;
    PE is the distance between the predicted and the true ratio of two groups. Both are
    0 if predictions follow the true shares.

    --fail-if takes pd, fpr, fnr, accuracy, precision, prevalence and
    predicted_prevalence of a group, and pe, fpr_difference, fnr_difference,
    accuracy_difference, predicted_prevalence_difference and predicted_prevalence_ratio
    of a pair of groups. The exit code is 1 if a condition is met. What rests on fewer
    than ten rows is not checked, and is named.
    """
    import hashlib

    # A misspelt condition is found before hours of reading.
    conditions = parse_conditions(fail_if, (*_METRICS_OF_A_GROUP, *_METRICS_OF_A_PAIR))
    output = Output(report, force, as_json)
    output.check(inputs=[file])
    from cape._tables import table_length
    from cape.files import Notes, count_file
    from cape.report import audit_summary

    hasher = hashlib.sha256()
    notes = Notes()
    groups = group or []
    with progress(table_length(file)) as on_rows:
        counts, labels = count_file(
            file,
            label=label,
            prediction=prediction,
            group=groups,
            positive=positive,
            mapping=_parse_mapping(mapping),
            dialect=dialect_of(separator, encoding, decimal),
            hasher=hasher,
            notes=notes,
            on_rows=on_rows,
        )
    columns = {
        "label": label,
        "prediction": prediction,
        "groups": ", ".join(groups),
        "positive": labels[1],
        "negative": labels[0],
    }
    summary = audit_summary(
        counts,
        level=level,
        file=file,
        file_sha256=hasher.hexdigest(),
        columns=columns,
        title=title,
        author=author,
        note=note,
    )
    findings = _findings(summary)
    output.give_and_judge(
        summary, conditions, findings, "failed", show=_show, notes=notes
    )


def _parse_mapping(texts: list[str] | None) -> dict[str, str]:
    """Parse the values of ``--map``.

    Parameters
    ----------
    texts : list of str or None
        What the user gave, such as "high=yes".

    Returns
    -------
    dict from str to str

    Raises
    ------
    ValueError
        If a text has no equals sign, or a prediction is mapped twice.

    Examples
    --------
    >>> _parse_mapping(["high=yes", "low=no"])
    {'high': 'yes', 'low': 'no'}
    """
    mapping: dict[str, str] = {}
    for text in texts or []:
        prediction, sign, label = text.partition("=")
        if not sign:
            raise ValueError(
                f"--map must be PREDICTION=LABEL, such as high=yes, got {text!r}."
            )
        if prediction in mapping:
            raise ValueError(f"--map names the prediction {prediction!r} twice.")
        mapping[prediction] = label
    return mapping


def _findings(summary: dict[str, Any]) -> list[Finding]:
    """Collect the values that conditions are checked against.

    Parameters
    ----------
    summary : dict
        From `cape.report.audit_summary`.

    Returns
    -------
    list of Finding
        The metrics of all groups, then those of all ordered pairs.
    """
    content = summary["observed"]["cape"]
    findings = []
    for entry in content["groups"]:
        findings.append(_checked(entry, entry["group"]))
    for entry in content["pairs"]:
        # PE is not symmetric: a / b and b / a are two findings.
        where = f"{entry['group']} / {entry['other']}"
        findings.append(_checked(entry, where))
    return findings


def _checked(entry: dict[str, Any], where: str) -> Finding:
    """Return a finding of the audit as conditions see it."""
    return Finding(entry["metric"], where, entry["value"], entry["why"] or "")


def _show(summary: dict[str, Any]) -> None:
    """Print the fairness table, and the pair of groups with the largest PE.

    Parameters
    ----------
    summary : dict
        From `cape.report.audit_summary`.
    """
    content = summary["observed"]["cape"]
    rows = []
    for name, found in values_by_group(content["groups"]).items():
        rows.append(_row(name, found))
    level = f"{100 * summary['level']:g}% of PD"
    columns = ["group", "rows", "FPR", "FNR", "accuracy", "prevalence", "PD", level]
    labels = summary["made"]["columns"]
    console.print(table_of(f"{summary['rows']} rows", columns, rows))
    give_line(
        f"Positive is {labels['positive']!r}, negative {labels['negative']!r}; "
        "--positive chooses."
    )
    if any(finding["why"] == "too few rows" for finding in content["groups"]):
        give_line("few: fewer than ten rows, too few to say.")
    # There is no pair if there is one group.
    if content["pairs"]:
        give_line(_worst_pair(content["worst"].get("pe")))
    if content["left_out"]:
        give_line(content["left_out"])


def _worst_pair(pair: dict[str, Any] | None) -> str:
    """Return the line about the pair of groups with the largest PE."""
    if pair is None:
        return "PE of the worst pair: none is defined and has enough rows."
    return (
        f"PE of the worst pair, {pair['group']} / {pair['other']}: "
        f"{number(pair['value'])} ({number(pair['low'])} to {number(pair['high'])})"
    )


def _row(name: str, found: dict[str, dict[str, Any]]) -> list[Any]:
    """Return the cells of a group.

    Parameters
    ----------
    name : str
        The group.
    found : dict from metric to finding

    Returns
    -------
    list
        The last is the interval of PD.
    """
    metrics = ("fpr", "fnr", "accuracy", "prevalence", "pd")
    cells = [value_or_few(found[metric]) for metric in metrics]
    range_of_pd = interval(found["pd"]["low"], found["pd"]["high"])
    return [name, found["accuracy"]["rows"], *cells, range_of_pd]
