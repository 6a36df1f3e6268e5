"""``cape explore`` and ``cape info``: what a model file holds."""

from __future__ import annotations

from pathlib import Path

from cape import files
from cape._io import check_report
from cape._wording._terminal import groups_table, model_facts
from cape.cli import _app
from cape.cli._options import check_files, command


@command(epilog="Example: cape explore model.cape --out explore.html")
def explore(
    model: Path, *, out: Path, key_file: Path | None = None, force: bool = False
) -> None:
    """Write a page with a slider for the share of positives of each group.

    Move the sliders to see which member of the pool CAPE would choose, and what every
    member would predict.

    Parameters
    ----------
    out : FILE
        The page to write (.html), or its numbers (.json).
    """
    check_report(out, overwrite=force)
    check_files([model], [out], overwrite=force)
    from cape.report import write_report
    from cape.report._model import explorer_summary, file_provenance

    loaded = files.load_model(model, key=key_file)
    title = loaded.details["data"]["file"]
    provenance = file_provenance(loaded)
    summary = explorer_summary(loaded.clf, title=title, provenance=provenance)
    _app.give_path("page", write_report(summary, out, overwrite=force))


@command(epilog="Example: cape info model.cape")
def info(model: Path, *, key_file: Path | None = None, as_json: bool = False) -> None:
    """Show what a model was trained on, and how."""
    check_files([model], overwrite=False)
    from cape.files._model import describe_file

    content = describe_file(model, key=key_file)
    if as_json:
        _app.give_json("info", content)
        return
    for name, value in model_facts(content).items():
        # A terminal shows long facts on several lines; a pipe gets one line a fact.
        _app.give_line(f"{name + ':':<13}{value}", wrap=_app.console.is_terminal)
    _app.give([groups_table("", content["groups"])])
