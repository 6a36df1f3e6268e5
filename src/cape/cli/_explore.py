"""``cape explore``: a page with sliders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cape.cli._app import app, give_path
from cape.cli._options import Force, Model


@app.command(epilog="Example: cape explore model.cape --out explore.html")
def explore(
    model: Model,
    out: Annotated[
        Path,
        typer.Option(
            help="The page (.html), or its numbers (.json).", show_default=False
        ),
    ],
    force: Force = False,
) -> None:
    """Make a page on which to move each group's share of positives and see what every classifier would do."""
    from cape.files import load_model
    from cape.report import check_report, explorer_summary, write_report

    check_report(out, overwrite=force)
    path = write_report(explorer_summary(load_model(model)), out, overwrite=force)
    give_path("page", path)
