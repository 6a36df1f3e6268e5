"""Commands on batches: ``cape predict``, ``evidence``, ``sample``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cape.base._io import check_apart, check_free
from cape.base._numbers import unique_names
from cape_app import files
from cape_app.cli import _app
from cape_app.cli import _options as options
from cape_app.cli._options import command
from cape_app.cli._output import Finding, Output, parse_conditions
from cape_app.files._notes import Notes
from cape_app.tables import source_files
from cape_app.words._page import fault_line

if TYPE_CHECKING:
    pass


_METRICS = ("moved", "pd", "pe", "fpr", "fnr", "accuracy", "unexplained")
_VERDICTS = (
    "not_use",
    "do_not_use",
    "label",
    "hold_off",
    "shares",
    "moved_clearly",
    "drifted",
    "uncertain",
    "fault",
)

# A batch with a column at fault has drifted, and its prevalence cannot be told.
_CONDITIONS_MET = {
    "fault": ("fault", "drifted", "uncertain"),
    "drifted": ("drifted",),
    "ignored": ("drifted",),
    "uncertain": ("uncertain",),
}

_SHEET = "to_label.csv"
_PREDICTIONS = "predictions.csv"


@command(
    epilog="Example: cape predict model.cape march.csv --out predictions.csv --report "
    "march.html",
)
def predict(
    model: Path,
    paths: list[Path],
    *,
    out: Path | None = None,
    fail_if: list[str] | None = None,
    level: float = 0.95,
    within: float = 0.05,
    rule: str | None = None,
    costs: options.Costs,
    drift: str | None = None,
    checked: Path | None = None,
    blank_means: str | None = None,
    counts: bool = False,
    batch: options.Batch,
    output: Output,
) -> None:
    """Adapt to a batch and predict its labels; or to many batches, one after another.

    A file is read twice, in parts, and may be larger than memory: first to estimate
    each group's share of positives, then to predict. If it has labels, cape compares
    estimates and predictions with them. It names broken columns before any number.

    With several files, each is a batch by itself, oldest first: terminal and page show
    the shares of all groups over time. If a file cannot be read, cape names it, reads
    the others, and ends with exit code 2.

    --fail-if takes conditions that need no labels: moved (how far a group's estimated
    prevalence is from training; 0 if noise explains it; groups of fewer than ten rows
    are skipped), pd (the bound on PD), pe, fpr, fnr and accuracy (expected values), and
    unexplained (share of rows whose scores no mixture of the classes explains). It also
    takes an action (do_not_use, label, hold_off, shares; label is met wherever rows
    need labels first, not_use by any of them) or a verdict: moved_clearly, drifted
    (more than the share changed, or a column is broken), uncertain or
    fault. If one is met, in any batch, the exit code is 1; predictions and report
    are still written.

    Parameters
    ----------
    paths : FILE
        The batch to predict: {sources}
    out : FILE
        Write the rows with three more columns: prediction, probability (of a positive)
        and estimated_prevalence (of the group). With several files, a folder that
        exists, in which each of them gets its name.
    checked : FILE
        A sheet from cape sample with labels filled in, for all rows or some. The labels
        confirm or refute the estimates, and correct them. Only cape_key and the label
        are read. Name FILE again to let its own labels do so, if they are of all rows
        or of rows drawn at random.
    within : NUMBER
        How far off an estimate of the share may be to be used: the action is "use"
        where it is that near with a chance of 80%.
    blank_means : LABEL
        With --checked: the label that a blank stands for. Without it, a blank means no
        label.
    """
    conditions = parse_conditions(fail_if, _METRICS, _VERDICTS)
    # What can be wrong with files is found before the work is done, and before anything
    # that takes long to import.
    several = len(paths) > 1
    outs = _outs(paths, out) if several else [out]
    if several and checked is not None:
        raise ValueError("--checked must be given together with a single FILE.")
    output.check(*outs)
    from cape_app.pages._batch import batch_facts, batch_summary
    from cape_app.pages._model import file_provenance
    from cape_app.pages._over_time import batches_summary

    aim = costs.of_rule(rule)
    loaded = batch.load(model)
    notes = Notes()
    read = []
    batches = []
    errors: list[Exception] = []
    with _app.progress(len(paths) if several else None) as advance:
        for path, written in zip(paths, outs, strict=True):
            try:
                prediction = files.predict_file(
                    loaded,
                    path,
                    written,
                    level=level,
                    tolerance=within,
                    dialect=batch.dialect(loaded.dialect),
                    rule=aim,
                    drift=drift,
                    checked=checked,
                    blank_means=blank_means,
                    counts=counts,
                    overwrite=output.force,
                    notes=notes,
                    on_rows=None if several else advance,
                )
            except (ValueError, OSError) as error:
                if not several:
                    raise
                errors.append(error)
                notes.say("not_read", why=str(error))
                continue
            read.append((path.name, prediction.rows, prediction.sha256))
            if several:
                # Only a few numbers of each batch are kept.
                batches.append(batch_facts(prediction.examination, path.name))
                advance("batches", 1)
    if not read:
        raise errors[0]
    provenance = {**file_provenance(loaded, read), "model": model.name}
    if several:
        name = "batches"
        summary = batches_summary(batches, level=level, provenance=provenance)
    else:
        name = "predict"
        examination = prediction.examination
        examination.provenance = provenance
        summary = batch_summary(
            examination,
            title=paths[0].name,
            for_page=bool(output.in_full or conditions),
        )
        summary["checked"] = prediction.came_back
        batches = [summary]
    # The command that draws rows of the last batch to label, or uses its labels.
    last = paths[-1]
    sample = "" if counts else batch.to_paste("sample", model, last, out=_SHEET)
    action = batches[-1]["action"]
    if not action["labels"] and any(a["reason"] == "given" for a in action["groups"]):
        sample = batch.to_paste("predict", model, last, checked=last, out=_PREDICTIONS)
    output.give(
        name,
        {**summary, "sample": sample, "out": None if out is None else str(out)},
        notes,
        conditions=conditions,
        findings=_findings(batches) if conditions else [],
        incomplete=bool(errors),
        written={"predictions": out},
    )


def _outs(paths: list[Path], folder: Path | None) -> list[Path | None]:
    """Return where the predictions of several files are written."""
    if folder is None:
        return [None] * len(paths)
    if not folder.is_dir():
        raise ValueError(
            "--out must be a folder that exists, because there are several files, got "
            f"{str(folder)!r}."
        )
    outs: list[Path | None] = [folder / path.name for path in paths]
    for path in paths:
        check_apart(outs, source_files(path))
    return outs


def _findings(batches: list[dict[str, Any]]) -> list[Finding]:
    """Collect the values that conditions are checked against.

    Parameters
    ----------
    batches : list of dict
        From `batch_facts`, or `batch_summary`.

    Returns
    -------
    list of Finding
        PE of each batch, and the other metrics and the verdict of each group in each
        batch; a column at fault comes once for all groups of a batch.
    """
    # Imported here, since it takes scikit-learn along.
    from cape.metrics._rates import FEWEST_ROWS

    findings = []
    for batch in batches:
        findings.append(Finding("pe", batch["title"], batch["expected_pe"]))
        for group in batch["groups"]:
            where = f"{batch['title']}, {group['group']}"
            is_small = group["rows"] < FEWEST_ROWS
            distance = None
            if group["change"] is not None and not is_small:
                # An estimate is never that of training: a distance that noise explains,
                # or what else moved, counts as none.
                distance = abs(group["change"]) if group["moved"] else 0.0
                if group["moved"]:
                    findings.append(Finding("moved_clearly", where, 1.0))
            why = "too few rows" if is_small else "cannot be told"
            findings.append(Finding("moved", where, distance, why))
            findings.append(Finding("pd", where, group["pd_bound"]))
            for metric in ("fpr", "fnr", "accuracy", "unexplained"):
                findings.append(Finding(metric, where, group[metric]))
            action = group["action"]
            met = {action["code"]}
            if action["labels"]:
                # A group that is not adapted may ask for labels, too.
                met.add("label")
            if action["code"] != "use":
                met.add("not_use")
            findings += [Finding(code, where, 1.0) for code in met]
            if group["verdict"] != "fault":
                reason = group["reason"] or group["verdict_text"]
                for verdict in _CONDITIONS_MET.get(group["verdict"], ()):
                    findings.append(Finding(verdict, f"{where}: {reason}", 1.0))
        for fault in batch["verdict"]["faults"]:
            where = f"{batch['title']}, {fault_line(fault, 'groups')}"
            for verdict in _CONDITIONS_MET["fault"]:
                findings.append(Finding(verdict, where, 1.0))
    return findings


@command(
    epilog="Example: cape evidence watch.cape --table loans > count.sql. Run it, "
    "save its result, then: cape predict watch.cape --counts counts.parquet",
)
def evidence(
    model: Path,
    *,
    table: str = "batch",
    dialect: str = "duckdb",
    label: str | None = None,
    group: list[str] | None = None,
    weight: str | None = None,
    key_file: Path | None = None,
) -> None:
    """Print a SELECT that counts a batch inside its database.

    Its result, which holds counts and no rows, is the input of cape predict --counts.
    The model must be from cape train --score. Needs the
    extra sql.

    Parameters
    ----------
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
    from cape.elsewhere.sql import query

    clf = files.load_model(model, key=key_file).clf
    # Not by rich, which wraps lines and draws what stands between colons.
    typer.echo(query(clf, table, dialect, label, groups=group, weight=weight))


@command(
    epilog="Example: cape sample model.cape march.csv --rows 100 --out to_check.csv. "
    "Fill in the label column, then: cape predict model.cape march.csv --checked "
    "to_check.csv --out predictions.csv"
)
def sample(
    model: Path,
    file: Path,
    *,
    out: Path,
    rows: int | None = None,
    spread: str = "equal",
    width: float | None = None,
    seed: int = 0,
    batch: options.Batch,
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
    check_free(out, overwrite=force)
    from cape.base._groups import combined_columns

    loaded = batch.load(model)
    notes = Notes()
    with _app.progress() as on_rows:
        sampled = files.sample_file(
            loaded,
            file,
            out,
            n=rows,
            spread=spread,
            width=width,
            seed=seed,
            dialect=batch.dialect(loaded.dialect),
            overwrite=force,
            notes=notes,
            on_rows=on_rows,
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
    summary = {
        "kind": "sample",
        "groups": groups,
        "enough": enough,
        "label": loaded.columns.label,
        "then": batch.to_paste("predict", model, file, checked=out, out=_PREDICTIONS),
        "out": str(out),
    }
    written = {"rows to label": out}
    Output(as_json=as_json).give("sample", summary, notes, written=written)
