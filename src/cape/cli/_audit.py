"""``cape audit``: from labels and predictions to the fairness table with intervals."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from cape._wording._audit import BETWEEN_NAMES, RATE_NAMES
from cape._wording._terminal import audited
from cape.cli import _options as options
from cape.cli._app import progress
from cape.cli._impact import BiasTable
from cape.cli._options import argument, command, option
from cape.cli._output import Finding, Output, parse_conditions

_MAP_FORM = "PREDICTION=LABEL, such as high=yes"

File = Annotated[
    Path | None,
    argument("FILE", f"A table with labels and predictions: {options.SOURCES}"),
]
Label = Annotated[
    str | None,
    option(
        "Column with the label. It has two values; if more, see --positive.", "COLUMN"
    ),
]
Prediction = Annotated[
    str | None,
    option(
        "Column with the prediction, in the values of the label; or with a "
        "probability, see --threshold.",
        "COLUMN",
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="Which label a prediction stands for, such as high=yes. Repeat the option "
        "for the other prediction.",
        metavar="PREDICTION=LABEL",
    ),
]
Threshold = Annotated[
    float | None,
    option(
        "Predictions are numbers, such as probabilities: above this they are positive.",
        "NUMBER",
    ),
]
Title = Annotated[
    str | None, option("Heading of the page. Default: the name of the file.", "TEXT")
]
Author = Annotated[str, option("Who made the audit, for the page.", "TEXT")]
Note = Annotated[str, option("What readers of the page should know first.", "TEXT")]


@command(
    help_values={"rates": ", ".join(RATE_NAMES), "pairs": ", ".join(BETWEEN_NAMES)},
    epilog="Example: cape audit scored.csv --label y --prediction yhat --group race "
    '--report audit.html --fail-if "pd>0.1" --fail-if "pe>0.2"',
)
def audit(
    file: File = None,
    *,
    label: Label = None,
    prediction: Prediction = None,
    group: options.Group = None,
    positive: options.Positive = None,
    mapping: Map = None,
    threshold: Threshold = None,
    fail_if: options.FailIf = None,
    title: Title = None,
    author: Author = "",
    note: Note = "",
    level: options.Level = 0.95,
    missing_groups: options.MissingGroups = None,
    missing_labels: options.MissingLabels = "drop",
    bins: options.Bins = None,
    bias_table: BiasTable,
    csv: options.Csv,
    output: Output,
) -> None:
    """Compare predictions with labels: rates, PD and PE of the groups, with intervals.

    PD is the distance between a group's predicted and true share of positives; PE is
    the distance between the predicted and the true ratio of two groups' shares. Both
    are 0 if predictions match the true shares.

    --fail-if takes rates of a group ({rates}) and of a pair of groups ({pairs}). The
    exit code is 1 if a condition is met. Values from fewer than ten rows are not
    checked, but named.

    --table ll144 needs no labels: selection rates and impact ratios of decisions
    (--prediction) or scores (--score), for each group column and all combined.
    --fail-if then takes impact_ratio; the law itself has no threshold.
    """
    source = csv.source(file)
    if bias_table.is_asked_for():
        if mapping or missing_groups or bins or threshold is not None:
            raise ValueError(
                "--table takes none of --map, --threshold, --bins and --missing-groups."
            )
        words = {"title": title, "author": author, "note": note}
        group = options.group_columns(source, csv.dialect(), group)
        bias_table.give(
            source, prediction, group, positive, fail_if, csv, output, **words
        )
        return
    if label is None or prediction is None:
        raise ValueError("--label and --prediction must name columns of the file.")
    # A misspelt condition is found before hours of reading.
    conditions = parse_conditions(fail_if, (*RATE_NAMES, *BETWEEN_NAMES))
    output.check([source])
    from cape.files import count_file
    from cape.files._notes import Notes
    from cape.report._audit import audit_summary

    notes = Notes()
    groups = options.group_columns(source, csv.dialect(), group)
    with progress() as on_rows:
        counts, labels, sha256 = count_file(
            source,
            label=label,
            prediction=prediction,
            group=groups,
            missing_groups=missing_groups or "error",
            positive=positive,
            mapping=options.parse_pairs(mapping, "--map", _MAP_FORM),
            threshold=threshold,
            missing_labels=missing_labels,
            bins=options.parse_bins(bins),
            dialect=csv.dialect(),
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
        file=source.name,
        file_sha256=sha256,
        group_columns=groups,
        columns=columns,
        title=title,
        author=author,
        note=note,
    )
    content = summary["observed"]["cape"]
    output.give_and_judge(
        "audit",
        summary,
        partial(audited, verbose=output.verbose),
        notes,
        conditions=conditions,
        findings=_findings(summary),
        **{
            name: content[name]
            for name in ("differences", "groups", "pairs", "worst", "small_groups")
        },
    )


def _findings(summary: dict[str, Any]) -> list[Finding]:
    """Collect the metrics of all groups, then those of all ordered pairs."""
    content = summary["observed"]["cape"]
    findings = []
    for entry in [*content["groups"], *content["pairs"]]:
        where = entry["group"]
        if "other" in entry:
            # PE is not symmetric: a / b and b / a are two findings.
            where = f"{entry['group']} / {entry['other']}"
        why = entry["why"] or ""
        findings.append(Finding(entry["metric"], where, entry["value"], why))
    return findings
