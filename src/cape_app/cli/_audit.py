"""``cape audit``: from labels and predictions to the fairness table with intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cape.shown import _audit
from cape_app import files
from cape_app.cli import _options as options
from cape_app.cli._app import progress
from cape_app.cli._options import command
from cape_app.cli._output import Finding, Output, parse_conditions
from cape_app.files._notes import Notes
from cape_app.words._page import BETWEEN_NAMES

_MAP_FORM = "PREDICTION=LABEL, such as high=yes"


@command(
    help_values={
        "rates": ", ".join(_audit.RATE_NAMES),
        "pairs": ", ".join(BETWEEN_NAMES),
    },
    epilog="Example: cape audit scored.csv --label y --prediction yhat --group race "
    '--report audit.html --fail-if "pd>0.1" --fail-if "pe>0.2"',
)
def audit(
    file: Path,
    *,
    label: str | None = None,
    prediction: str | None = None,
    group: list[str] | None = None,
    positive: list[str] | None = None,
    mapping: list[str] | None = None,
    threshold: float | None = None,
    fail_if: list[str] | None = None,
    note: str = "",
    level: float = 0.95,
    missing_groups: str | None = None,
    missing_labels: str = "drop",
    bins: list[str] | None = None,
    weight: str | None = None,
    table: str | None = None,
    csv: options.Csv,
    output: Output,
) -> None:
    """Compare predictions with labels: rates, PD and PE of the groups, with intervals.

    PD is the distance between a group's predicted and true share of positives; PE is
    the distance between the predicted and the true ratio of two groups' shares. Both
    are 0 if predictions match the true shares.

    --fail-if takes rates of a group ({rates}) and of a pair of groups ({pairs}). The
    exit code is 1 if a condition is met. Values from fewer than ten rows are not
    checked; cape names them.

    --table ll144 needs no labels: it shows how often --positive is predicted, and
    impact ratios, for each group column and for all of them combined. --fail-if then
    takes impact_ratio; the law itself has no threshold.

    Parameters
    ----------
    file : FILE
        A table with labels and predictions: {sources}
    label : COLUMN
        Column with the label. If it has more than two values, see --positive.
    prediction : COLUMN
        Column with the prediction: a value of the label (or see --map), or a
        probability (see --threshold).
    mapping : PREDICTION=LABEL
        Which label a prediction stands for, such as high=yes. Repeat the option for the
        other prediction.
    threshold : NUMBER
        For numeric predictions, such as probabilities: those above it are positive.
    weight : COLUMN
        Column with the weight of each row: how many members of a population it stands
        for.
    table : NAME
        Instead of an audit with labels: ll144, the selection rates and impact ratios
        that New York City's Local Law 144 requires.
    note : TEXT
        What readers should know first; shown on the page.
    """
    metrics = (*_audit.RATE_NAMES, *BETWEEN_NAMES)
    if table is not None:
        if table != "ll144" or label or not prediction or not group:
            raise ValueError("--table must be ll144, of --prediction by --group.")
        # Predictions alone: they stand in for the labels, which nobody looks at.
        label, metrics = prediction, ("impact_ratio",)
    if label is None or prediction is None:
        raise ValueError("--label and --prediction must name columns of the file.")
    # A misspelt condition is found before hours of reading.
    conditions = parse_conditions(fail_if, metrics)
    output.check()
    from cape_app.pages._audit import audit_summary

    notes = Notes()
    groups = group or []
    with progress() as on_rows:
        counts, labels, sha256 = files.count_file(
            file,
            label=label,
            prediction=prediction,
            group=groups,
            missing_groups=missing_groups or ("group" if table else "error"),
            positive=positive,
            mapping=options.parse_pairs(mapping, "--map", _MAP_FORM),
            threshold=threshold,
            missing_labels=missing_labels,
            bins=options.parse_bins(bins),
            weight=weight,
            dialect=csv.dialect(),
            notes=notes,
            on_rows=on_rows,
        )
    if table is not None and not positive and threshold is None:
        # The greater of two words would often be the wrong one.
        raise ValueError(
            f"--positive must be {labels[0]!r} or {labels[1]!r}, which means selected."
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
        file=file.name,
        file_sha256=sha256,
        group_columns=groups,
        columns=columns,
        note=note,
        table=table,
    )
    content = summary.get("observed", {}).get("cape", {})
    output.give(
        table or "audit",
        {**content, **summary},
        notes,
        conditions=conditions,
        findings=_findings(summary),
    )


def _findings(summary: dict[str, Any]) -> list[Finding]:
    """Collect the metrics of all groups, then those of all ordered pairs."""
    findings = []
    for name, table in summary.get("tables", {}).items():
        for row in table["categories"]:
            where = f"{name}, {row['category']}"
            findings.append(Finding("impact_ratio", where, row["impact_ratio"]))
    content = summary.get("observed", {}).get("cape", {"groups": [], "pairs": []})
    for entry in [*content["groups"], *content["pairs"]]:
        where = entry["group"]
        if "other" in entry:
            # PE is not symmetric: a / b and b / a are two findings.
            where = f"{entry['group']} / {entry['other']}"
        why = entry["why"] or ""
        findings.append(Finding(entry["metric"], where, entry["value"], why))
    return findings
