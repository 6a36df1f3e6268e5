"""Commands on batches: ``cape predict``, ``evidence``, ``sample``, ``monitor`` ..."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import typer

from cape import files
from cape._io import check_apart, check_free
from cape._tables import source_files
from cape._wording import _terminal as words
from cape._wording._numbers import unique_names
from cape.cli import _app
from cape.cli import _options as options
from cape.cli._options import command
from cape.cli._output import Finding, Output, parse_conditions
from cape.files._notes import Notes


@command(
    epilog="Example: cape predict model.cape march.csv --out predictions.csv --report "
    "march.html",
)
def predict(
    model: Path,
    file: Path | None = None,
    *,
    out: Path | None = None,
    fail_if: list[str] | None = None,
    level: float = 0.95,
    rule: str | None = None,
    costs: options.Costs,
    drift: str | None = None,
    checked: Path | None = None,
    blank_means: str | None = None,
    counts: bool = False,
    batch: options.Batch,
    dask: str | None = None,
    output: Output,
) -> None:
    """Adapt to a batch and predict its labels.

    The file is read twice, in parts, and may be larger than memory: first to estimate
    each group's share of positives, then to predict. If the file has labels, cape
    compares estimates and predictions with them. It names broken columns before any
    number.

    --fail-if takes the conditions of cape monitor, such as 'moved>0.2' or do_not_use.
    If one is met, the exit code is 1; predictions and report are still written.

    Parameters
    ----------
    file : FILE
        The batch to predict: {sources}
    out : FILE
        Write the rows with three more columns: prediction, probability (of a positive)
        and estimated_prevalence (of the group).
    checked : FILE
        A sheet from cape sample with labels filled in, for all rows or some. The labels
        confirm or refute the estimates, and correct them. Only cape_key and the label
        are read. Name FILE again to let its own labels do so, if they are of all rows
        or of rows drawn at random.
    blank_means : LABEL
        With --checked: the label that a blank stands for. Without it, a blank means no
        label.
    """
    conditions = parse_conditions(fail_if, _METRICS, _VERDICTS)
    # What can be wrong with files is found before the work is done, and before anything
    # that takes long to import.
    source = batch.source(file)
    output.check(out)
    from cape.files._batch import summarise
    from cape.report._batch import batch_summary
    from cape.report._model import file_provenance
    from cape.report._monitor import monitor_summary

    aim = costs.of_rule(rule)
    loaded = batch.load(model)
    notes = Notes()
    with _app.progress() as on_rows, options.workers(dask) as each:
        prediction = files.predict_file(
            loaded,
            source,
            out,
            level=level,
            dialect=batch.dialect(loaded.dialect),
            rule=aim,
            drift=drift,
            checked=checked,
            blank_means=blank_means,
            counts=counts,
            overwrite=output.force,
            notes=notes,
            on_rows=on_rows,
            each=each,
        )
    examination = prediction.examination
    read = [(source.name, prediction.rows, prediction.sha256)]
    examination.provenance = file_provenance(loaded, read)
    came_back = None
    if prediction.checked is not None:
        came_back = []
        for group, found in prediction.checked.items():
            name = examination.names[group]
            came_back.append({"group": name, **found._asdict()})
    findings = []
    if conditions:
        # A monitor of one batch.
        monitored = summarise(source.name, prediction.sha256, examination)
        findings = _findings(monitor_summary([monitored], level=level, provenance={}))
    sample = "" if counts else batch.to_paste("sample", model, file, out=_SHEET)
    action = examination.action
    if not action.labels and "given" in {a.reason for a in action.groups.values()}:
        sample = batch.to_paste("predict", model, file, checked=file, out=_PREDICTIONS)
    for_page = output.as_json or output.report is not None
    summary = batch_summary(examination, title=source.name, for_page=for_page)
    output.give_and_judge(
        "predict",
        {**summary, "sample": sample},
        partial(
            words.predicted, checked=came_back, sample=sample, verbose=output.verbose
        ),
        notes,
        conditions=conditions,
        findings=findings,
        written={"predictions": out},
        out=None if out is None else str(out),
        checked=came_back,
    )


@command(
    epilog="Example: cape evidence watch.cape --sql --table loans > count.sql. Run it, "
    "save its result, then: cape predict watch.cape --counts counts.parquet",
)
def evidence(
    model: Path,
    *,
    sql: bool = False,
    table: str = "batch",
    dialect: str = "duckdb",
    label: str | None = None,
    group: list[str] | None = None,
    key_file: Path | None = None,
) -> None:
    """Print a SELECT that counts a batch inside its database.

    Its result, which holds counts and no rows, is the input of cape predict --counts
    and cape monitor --counts. The model must be from cape train --score. Needs the
    extra sql.

    Parameters
    ----------
    sql : bool
        Print the statement.
    table : NAME
        What follows FROM: a table, a view, or a SELECT in parentheses.
        Default: batch.
    dialect : NAME
        SQL dialect: duckdb (default), sqlite, postgres, spark, or any other that
        sqlglot knows.
    label : COLUMN
        Column with the labels of randomly drawn rows, and NULL in the others. The
        labels correct the estimates.
    group : COLUMN
        Column with the group, if it has another name than in training. Repeat the
        option for several columns, in the order of training.
    """
    if not sql:
        raise ValueError("--sql must be given: cape evidence prints only SQL.")
    from cape.sql import query

    clf = files.load_model(model, key=key_file).clf
    # Not by rich, which wraps lines and draws what stands between colons.
    typer.echo(query(clf, table, dialect, label, groups=group))


@command("rows-needed", epilog="Example: cape rows-needed model.cape --width 0.1")
def rows_needed(
    model: Path,
    file: Path | None = None,
    *,
    width: float = 0.1,
    level: float = 0.95,
    prevalence: float | None = None,
    batch: options.Batch,
    as_json: bool = False,
) -> None:
    """Say how many rows a batch needs for intervals of a given width.

    A larger batch reduces neither the noise of training nor drift, so no number of rows
    reaches some widths. A few labels can. With a file, you also see how many labels,
    and cape sample --width draws the rows.

    Parameters
    ----------
    file : FILE
        A batch: plan for batches like it, with its drift and labels. {sources}
    width : NUMBER
        Width of the interval, from its low end to its high end. Default: 0.1.
    prevalence : NUMBER
        Share of positives to plan rows for. Default: the one that needs the most.
    """
    source = batch.source(file, needed=False)
    loaded = batch.load(model)
    notes = Notes()
    with _app.progress() as on_rows:
        needs = files.rows_needed_of_file(
            loaded,
            source,
            width,
            level=level,
            prevalence=prevalence,
            dialect=batch.dialect(loaded.dialect),
            notes=notes,
            on_rows=on_rows,
        )
    content = {"width": width, "level": level, "groups": needs}
    said = words.rows_needed(needs, width, level, worst=prevalence is None)
    Output(as_json=as_json).give("rows-needed", content, lambda _: said, notes)


@command(
    epilog="Example: cape sample model.cape march.csv --rows 100 --out to_check.csv. "
    "Fill in the label column, then: cape predict model.cape march.csv --checked "
    "to_check.csv --out predictions.csv"
)
def sample(
    model: Path,
    file: Path | None = None,
    *,
    out: Path,
    rows: int | None = None,
    spread: str = "equal",
    width: float | None = None,
    seed: int = 0,
    batch: options.Batch,
    dask: str | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Draw random rows of a batch, for a person to label.

    A few labels confirm or refute the estimates, and correct them, whatever has
    changed. This works only for a random sample: label the rows that were drawn, and no
    others. Rows with early outcomes, or that are easy to check, are not a random
    sample. cape draws more rows where the score says less about the label;
    cape_probability is the probability that a row is drawn. The order is random, so you
    can stop early. You may sort the sheet and add or delete columns, but keep cape_key
    and the label column.

    Parameters
    ----------
    file : FILE
        The batch to draw rows from: {sources}
    out : FILE
        Write the rows to check (.csv): all their columns, cape_row, cape_probability,
        cape_key, and an empty label column to fill in.
    rows : NUMBER
        Number of rows to draw, in all groups together. Default: as many as cape predict
        asks for, or 100 if it asks for none.
    spread : NAME
        How to divide the rows among the groups: equal (the same number each; default)
        or proportional (to their rows). A small group is drawn completely.
    width : NUMBER
        Instead of --rows: draw as many rows of each group as a 95% interval of this
        width takes, such as 0.1.
    seed : NUMBER
        Seed of the draw. Default: 0.
    """
    source = batch.source(file)
    check_free(out, overwrite=force)
    from cape._groups import combined_columns

    loaded = batch.load(model)
    notes = Notes()
    with _app.progress() as on_rows, options.workers(dask) as each:
        sampled = files.sample_file(
            loaded,
            source,
            out,
            n=rows,
            spread=spread,
            width=width,
            seed=seed,
            dialect=batch.dialect(loaded.dialect),
            overwrite=force,
            notes=notes,
            on_rows=on_rows,
            each=each,
        )
    groups = []
    names = unique_names(sampled.drawn, combined_columns(loaded.clf.group_columns))
    for group, drawn in sampled.drawn.items():
        groups.append(
            {"group": names[group], "rows": sampled.rows[group], "drawn": drawn}
        )
    enough = sampled.enough
    if rows is None and width is None:
        # The plan knows the scores, and draws what the actions ask for.
        enough = sum(sampled.drawn.values())
    said = _app.give_notes(notes)
    if as_json:
        content = {"out": str(out), "groups": groups, "enough": enough}
        _app.give_json("sample", {**content, "notes": said})
        return
    then = batch.to_paste("predict", model, file, checked=out, out=_PREDICTIONS)
    _app.give_path("rows to label", out)
    _app.give(words.sampled(groups, loaded.columns.label, enough, then))


_METRICS = ("moved", "pd", "pe", "fpr", "fnr", "accuracy", "unexplained")
_VERDICTS = (
    "not_use",
    "do_not_use",
    "label",
    "not_adapted",
    "moved_clearly",
    "drifted",
    "too_little_known",
    "cannot_tell",
    "fault",
)


@command(
    epilog="Example: cape monitor model.cape 2024-*.csv --report year.html --fail-if "
    '"moved>0.2" --fail-if do_not_use',
)
def monitor(
    model: Path,
    batches: list[Path] | None = None,
    *,
    fail_if: list[str] | None = None,
    level: float = 0.95,
    rule: str | None = None,
    costs: options.Costs,
    drift: str | None = None,
    counts: bool = False,
    batch: options.Batch,
    output: Output,
) -> None:
    """Track each group's share of positives over batches without labels.

    Files are read one at a time, in parts. --fail-if takes conditions that need no
    labels: moved (how far a group's estimated prevalence is from training; 0 if noise
    explains it; groups of fewer than ten rows are skipped), pd (the bound on PD), pe,
    fpr, fnr and accuracy (expected values), and unexplained (share of rows whose scores
    no mixture of the classes explains). It also takes an action (do_not_use, label,
    not_adapted; label is met wherever rows need labels first, not_use by any of them)
    or a verdict: moved_clearly, drifted (more than the share changed, or a column is
    broken), too_little_known, cannot_tell or fault. The exit code is 1 if a condition
    is met in any batch. If a file cannot be read, cape names it, reads the others, and
    ends with exit code 2.

    Parameters
    ----------
    batches : FILES
        One file per batch, oldest first, or a pattern in quotes for one batch in
        several files; a folder stands for its files, in order of name.
    """
    # A misspelt condition is found before hours of reading.
    conditions = parse_conditions(fail_if, _METRICS, _VERDICTS)
    paths: list[Any] = _files(batches or [])
    if batch.sql is not None or not paths:
        paths.append(batch.source(None))
    output.check()
    for path in paths:
        if not (isinstance(path, Path) and path.is_dir()):
            check_apart([output.report], source_files(path))
    from cape.report._model import file_provenance
    from cape.report._monitor import monitor_summary

    aim = costs.of_rule(rule)
    loaded = batch.load(model)
    notes = Notes()
    errors: list[Exception] = []
    with _app.progress(len(paths), "batches") as on_batch:
        # Only a few numbers of each batch are kept, so that a list of all is small.
        monitored = list(
            files.monitor_files(
                loaded,
                paths,
                level=level,
                dialect=batch.dialect(loaded.dialect),
                rule=aim,
                drift=drift,
                counts=counts,
                notes=notes,
                on_batch=on_batch,
                on_error=errors.append,
            )
        )
    if not monitored:
        raise errors[0]
    for error in errors:
        notes.say("not_read", why=str(error))
    read = [(one.name, one.rows, one.sha256) for one in monitored]
    provenance = file_provenance(loaded, read)
    summary = monitor_summary(monitored, level=level, provenance=provenance)
    last = None if batch.sql is not None else paths[-1]
    sample = "" if counts else batch.to_paste("sample", model, last, out=_SHEET)
    output.give_and_judge(
        "monitor",
        {**summary, "sample": sample},
        partial(words.monitored, sample=sample, verbose=output.verbose),
        notes,
        conditions=conditions,
        findings=_findings(summary),
        incomplete=bool(errors),
    )


_SHEET = "to_label.csv"
_PREDICTIONS = "predictions.csv"


def _files(paths: list[Path]) -> list[Path]:
    """Replace each folder by the files and folders in it.

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
    found: list[Path] = []
    for path in paths:
        inside = [path]
        if path.is_dir():
            # Hidden files, such as those of file managers, are no batches.
            inside = [file for file in path.iterdir() if file.name[0] != "."]
        if not inside:
            raise ValueError(f"the folder {path} holds no files.")
        found += sorted(inside)
    return found


# A batch with a column at fault has drifted, and its prevalence cannot be told.
_CONDITIONS_MET = {
    "fault": ("fault", "drifted", "cannot_tell"),
    "drifted": ("drifted",),
    "ignored": ("drifted",),
    "cannot_tell": ("cannot_tell", "too_little_known"),
    "too_little_known": ("too_little_known",),
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
        batch; a column at fault comes once for all groups of a batch.
    """
    # Imported here, since they take scikit-learn along.
    from cape.metrics._rates import FEWEST_ROWS
    from cape.report._batch import columns_at_fault

    findings = []
    columns: dict[str, list[Any]] = {}
    for batch in summary["batches"]:
        findings.append(Finding("pe", batch["batch"], batch["expected_pe"]))
    for group in summary["groups"]:
        for batch in group["batches"]:
            where = f"{batch['batch']}, {group['group']}"
            enough = batch["rows"] >= FEWEST_ROWS
            # An estimate is never that of training: a distance that noise explains,
            # or what else moved, counts as none.
            distance = 0.0
            if batch["moved"]:
                distance = abs(batch["estimate"] - batch["training_prevalence"])
            if not enough:
                findings.append(Finding("moved", where, None, "too few rows"))
            elif words.moved_by(batch) == "?":
                findings.append(Finding("moved", where, None, "cannot be told"))
            else:
                findings.append(Finding("moved", where, distance))
            if batch["moved"] and enough:
                findings.append(Finding("moved_clearly", where, 1.0))
            findings.append(Finding("pd", where, batch["pd_bound"]))
            for metric in ("fpr", "fnr", "accuracy", "unexplained"):
                findings.append(Finding(metric, where, batch[metric]))
            action = batch["action"]
            met = {action["code"]}
            if action["labels"]:
                # A group that is not adapted may ask for labels, too.
                met.add("label")
            if action["code"] != "use":
                met.add("not_use")
            findings += [Finding(code, where, 1.0) for code in met]
            if batch["verdict"] == "fault":
                pairs = [(group["group"], column) for column in batch["columns"]]
                columns.setdefault(batch["batch"], []).extend(pairs)
                continue
            for verdict in _CONDITIONS_MET.get(batch["verdict"], ()):
                reason = batch["reason"] or batch["verdict_text"]
                findings.append(Finding(verdict, f"{where}: {reason}", 1.0))
    for name, of_groups in columns.items():
        for fault in columns_at_fault(of_groups, "groups"):
            where = f"{name}, {words.fault_line(fault, 'groups')}"
            for verdict in _CONDITIONS_MET["fault"]:
                findings.append(Finding(verdict, where, 1.0))
    return findings
