"""``cape explore`` and ``cape info``: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cape._io import check_report
from cape._wording._terminal import groups_table, model_facts
from cape.cli._app import console, give, give_json, give_line, give_path
from cape.cli._options import (
    Force,
    Json,
    KeyFile,
    Model,
    check_files,
    command,
    option,
)

Out = Annotated[
    Path, option("The page to write (.html), or its numbers (.json).", "FILE")
]


@command(epilog="Example: cape explore model.cape --out explore.html")
def explore(
    model: Model, out: Out, key_file: KeyFile = None, force: Force = False
) -> None:
    """Write a page with a slider for the share of positives of each group.

    Move the sliders to see which member of the pool CAPE would choose, and what every
    member would predict.
    """
    check_report(out, overwrite=force)
    check_files([model], [out], overwrite=force)
    from cape.files import load_model
    from cape.report import write_report
    from cape.report._model import explorer_summary, file_provenance

    loaded = load_model(model, key=key_file)
    title = loaded.details["data"]["file"]
    provenance = file_provenance(loaded)
    summary = explorer_summary(loaded.clf, title=title, provenance=provenance)
    give_path("page", write_report(summary, out, overwrite=force))


@command(epilog="Example: cape info model.cape")
def info(model: Model, key_file: KeyFile = None, as_json: Json = False) -> None:
    """Show what a model was trained on, and how."""
    check_files([model], overwrite=False)
    from cape.files._model import describe_file

    content = describe_file(model, key=key_file)
    if as_json:
        give_json("info", content)
        return
    for name, value in model_facts(content).items():
        # A terminal shows long facts on several lines; a pipe gets one line a fact.
        give_line(f"{name + ':':<13}{value}", wrap=console.is_terminal)
    give([groups_table("", content["groups"])])
