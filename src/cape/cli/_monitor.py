"""``cape monitor``: the prevalences of many batches over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cape._wording._terminal import monitored as said_of_batches
from cape.cli._app import progress
from cape.cli._fail_if import Finding, parse_conditions
from cape.cli._options import (
    Costs,
    Csv,
    Drift,
    FailIf,
    KeyFile,
    Level,
    Model,
    Rule,
    argument,
    command,
)
from cape.cli._output import Output

_METRICS = ("moved", "pd", "pe", "fpr", "fnr", "accuracy", "unexplained")
_VERDICTS = ("moved_clearly", "drifted", "cannot_tell", "fault")

Batches = Annotated[
    list[Path],
    argument(
        "FILES",
        "A file for each batch, in order of time; a folder stands for its files, in "
        "order of their names.",
    ),
]


@command(
    epilog="Example: cape monitor model.cape 2024-*.csv --report year.html --fail-if "
    '"moved>0.2" --fail-if fault',
)
def monitor(
    model: Model,
    batches: Batches,
    *,
    fail_if: FailIf = None,
    level: Level = 0.95,
    rule: Rule = None,
    costs: Costs,
    drift: Drift = None,
    csv: Csv,
    key_file: KeyFile = None,
    output: Output,
) -> None:
    """Follow the share of positives of each group over batches without labels.

    Files are read one at a time, in parts. --fail-if takes what can be computed without
    labels: moved (how far the estimated prevalence of a group has clearly moved from
    training: 0 if noise explains it; groups of fewer than ten rows are left out), pd
    (the bound on PD), pe, fpr, fnr and accuracy (expected values), unexplained (share
    of rows whose scores no mixture of the classes explains). It also takes a verdict by
    itself: moved_clearly, drifted (more moved than the prevalence, or a column is at
    fault), cannot_tell, or fault. The exit code is 1 if a condition is met in any
    batch.
    """
    # A misspelt condition is found before hours of reading.
    conditions = parse_conditions(fail_if, _METRICS, _VERDICTS)
    paths = _files(batches)
    output.check([model, *paths])
    from cape.files import load_model, monitor_files
    from cape.files._notes import Notes
    from cape.report._made import file_provenance
    from cape.report._monitor import monitor_summary

    aim = costs.of_rule(rule)
    loaded = load_model(model, key=key_file)
    notes = Notes()
    with progress(len(paths), "batches") as on_batch:
        # Only a few numbers of each batch are kept, so that a list of all is small.
        monitored = list(
            monitor_files(
                loaded,
                paths,
                level=level,
                dialect=csv.dialect(loaded.dialect),
                rule=aim,
                drift=drift,
                notes=notes,
                on_batch=on_batch,
            )
        )
    files = [(batch.name, batch.rows, batch.sha256) for batch in monitored]
    fingerprint = loaded.clf.fingerprint_
    provenance = file_provenance(loaded.details, files, fingerprint=fingerprint)
    summary = monitor_summary(monitored, level=level, provenance=provenance)
    output.give_and_judge(
        summary,
        said_of_batches,
        notes,
        conditions=conditions,
        findings=_findings(summary),
        key="breaches",
    )


def _files(paths: list[Path]) -> list[Path]:
    """Replace each folder by the files in it.

    Parameters
    ----------
    paths : list of Path

    Returns
    -------
    list of Path
        In the given order; those of a folder in the order of their names, without
        hidden ones.

    Raises
    ------
    ValueError
        If a folder has no files.
    """
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        inside = []
        # Hidden files, such as those of file managers, are no batches.
        for file in sorted(path.iterdir()):
            if file.is_file() and not file.name.startswith("."):
                inside.append(file)
        if not inside:
            raise ValueError(f"the folder {path} holds no files.")
        files += inside
    return files


# A batch with a column at fault has drifted, and its prevalence cannot be told.
_CONDITIONS_MET = {
    "fault": ("fault", "drifted", "cannot_tell"),
    "drifted": ("drifted",),
    "ignored": ("drifted",),
    "cannot_tell": ("cannot_tell",),
    "some_drift": (),
    "not_tested": (),
    "consistent": (),
}


def _findings(summary: dict[str, Any]) -> list[Finding]:
    """Collect the values that conditions are checked against.

    Parameters
    ----------
    summary : dict
        From `monitor_summary`.

    Returns
    -------
    list of Finding
        PE of each batch, and the other metrics and the verdict of each group in each
        batch.
    """
    # Imported here, since it takes scikit-learn along.
    from cape.metrics._rates import FEWEST_ROWS

    findings = []
    for batch in summary["batches"]:
        findings.append(Finding("pe", batch["batch"], batch["expected_pe"]))
    for group in summary["groups"]:
        for batch in group["batches"]:
            where = f"{batch['batch']}, {group['group']}"
            enough = batch["rows"] >= FEWEST_ROWS
            findings.append(_moved(batch, where, enough))
            if batch["moved"] and enough:
                findings.append(Finding("moved_clearly", where, 1.0))
            findings.append(Finding("pd", where, batch["pd_bound"]))
            for metric in ("fpr", "fnr", "accuracy", "unexplained"):
                findings.append(Finding(metric, where, batch[metric]))
            for verdict in _CONDITIONS_MET[batch["verdict"]]:
                reason = batch["worst_column"] or batch["verdict_text"]
                findings.append(Finding(verdict, f"{where}: {reason}", 1.0))
    return findings


def _moved(batch: dict[str, Any], where: str, enough: bool) -> Finding:
    """Return how far a group has clearly moved.

    An estimate is never that of training. A distance that noise explains, or what else
    moved, counts as none; a group of fewer than ten rows is not judged.
    """
    if not enough:
        return Finding("moved", where, None, "too few rows")
    distance = 0.0
    if batch["moved"]:
        distance = abs(batch["estimate"] - batch["training"])
    return Finding("moved", where, distance)
