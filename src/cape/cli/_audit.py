"""``cape audit``: from labels and predictions to the fairness table with intervals.

``cape audit --table ll144`` are the tables of a bias audit.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from cape import files
from cape._app_wording._audit import BETWEEN_NAMES
from cape._app_wording._terminal import audited, impact_shown
from cape._wording._audit import RATE_NAMES
from cape.cli import _options as options
from cape.cli._app import progress
from cape.cli._options import command
from cape.cli._output import Finding, Output, parse_conditions
from cape.files._notes import Notes

_MAP_FORM = "PREDICTION=LABEL, such as high=yes"


@dataclass(frozen=True)
class BiasTable:
    """The options of ``--table``: the tables of a bias audit, which needs no labels.

    Parameters
    ----------
    table : NAME
        Instead of an audit with labels: ll144, the selection rates and impact ratios
        that New York City's Local Law 144 requires.
    score : COLUMN
        With --table: the column with the score, without a decision.
    unknown : VALUE
        With --table: a value of a group column that means unknown, like an empty field.
        Repeat the option for more values.
    min_share : NUMBER
        With --table: categories with a smaller share of the rows get no impact ratio.
        Default: 0.02, which the rules allow; 0 compares all categories.
    source : TEXT
        With --table: where the data come from. Default: the file name.
    data_date : TEXT
        With --table: the period of the data, such as 'January to June 2026'. Default:
        when the file was last changed.
    out : FILE
        With --table: write the table as a file (.csv).
    """

    table: str | None = None
    score: str | None = None
    unknown: list[str] | None = None
    min_share: float | None = None
    source: str | None = None
    data_date: str | None = None
    out: Path | None = None

    def is_asked_for(self) -> bool:
        """Tell whether the table is asked for, or raise if the options do not fit."""
        if self.table not in (None, "ll144"):
            raise ValueError(f"--table must be ll144, got {self.table!r}.")
        for field in fields(self):
            if self.table is None and getattr(self, field.name) is not None:
                name = field.name.replace("_", "-")
                raise ValueError(f"--{name} must be given together with --table ll144.")
        return self.table is not None

    def give(
        self,
        source: Any,
        prediction: str | None,
        group: list[str] | None,
        positive: list[str] | None,
        fail_if: list[str] | None,
        csv: options.Csv,
        output: Output,
        **words: Any,
    ) -> None:
        """Make the table and hand it over; parameters are those of ``cape audit``."""
        if not group:
            raise ValueError("--table ll144 needs --group, such as sex and race.")
        column = prediction or self.score
        if column is None or (prediction and self.score):
            raise ValueError("--table ll144 needs either --prediction or --score.")
        conditions = parse_conditions(fail_if, ["impact_ratio"])
        output.check(self.out)
        from cape._tables._write import TableWriter
        from cape.files._audit import LEAST_SHARE, impact_of_file
        from cape.report._audit import impact_summary

        notes = Notes()
        if len(group) < 2:
            notes.say("one_table")
        min_share = LEAST_SHARE if self.min_share is None else self.min_share
        with progress() as on_rows:
            ratios, facts, sha256 = impact_of_file(
                source,
                column,
                is_score=prediction is None,
                group=group,
                positive=positive,
                unknown=self.unknown or [],
                min_share=min_share,
                dialect=csv.dialect(),
                notes=notes,
                on_rows=on_rows,
            )
        summary = impact_summary(
            ratios,
            facts,
            source=source,
            file_sha256=sha256,
            columns={"decision or score": column, "groups": ", ".join(group)},
            min_share=min_share,
            data_source=self.source,
            data_date=self.data_date,
            **words,
        )
        if self.out is not None:
            # A row by itself says what its rate is, and whose.
            named = ratios.rename(columns={"rate": summary["rate"]})
            sourced = named.assign(
                source=summary["source"], data_date=summary["data_date"]
            )
            with TableWriter(self.out, overwrite=output.force) as writer:
                writer.write(sourced)
        findings = []
        for name, rows in summary["tables"].items():
            for row in rows:
                if row["status"] == "compared":
                    where = f"{name}, {row['category']}"
                    findings.append(Finding("impact_ratio", where, row["impact_ratio"]))
        output.give_and_judge(
            "ll144",
            summary,
            impact_shown,
            notes,
            conditions=conditions,
            findings=findings,
            written={"table": self.out},
        )


@command(
    help_values={"rates": ", ".join(RATE_NAMES), "pairs": ", ".join(BETWEEN_NAMES)},
    epilog="Example: cape audit scored.csv --label y --prediction yhat --group race "
    '--report audit.html --fail-if "pd>0.1" --fail-if "pe>0.2"',
)
def audit(
    file: Path | None = None,
    *,
    label: str | None = None,
    prediction: str | None = None,
    group: list[str] | None = None,
    positive: list[str] | None = None,
    mapping: list[str] | None = None,
    threshold: float | None = None,
    fail_if: list[str] | None = None,
    title: str | None = None,
    author: str = "",
    note: str = "",
    level: float = 0.95,
    missing_groups: str | None = None,
    missing_labels: str = "drop",
    bins: list[str] | None = None,
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
    checked; cape names them.

    --table ll144 needs no labels. It shows selection rates and impact ratios of
    decisions (--prediction) or scores (--score), for each group column and for all of
    them combined. --fail-if then takes impact_ratio; the law itself has no threshold.

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
    title : TEXT
        Heading of the page. Default: the name of the file.
    author : TEXT
        Who made the audit; shown on the page.
    note : TEXT
        What readers should know first; shown on the page.
    """
    source = csv.source(file)
    if bias_table.is_asked_for():
        if mapping or missing_groups or bins or threshold is not None:
            raise ValueError(
                "--table cannot be combined with --map, --threshold, --bins or "
                "--missing-groups."
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
    output.check()
    from cape.report._audit import audit_summary

    notes = Notes()
    groups = options.group_columns(source, csv.dialect(), group)
    with progress() as on_rows:
        counts, labels, sha256 = files.count_file(
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
