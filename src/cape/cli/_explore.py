"""``cape explore``: a page with a slider for the prevalence of each group."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cape._newfile import check_apart, check_report
from cape.cli._app import app, give_path
from cape.cli._options import Force, Model, option

Out = Annotated[
    Path, option("The page to write (.html), or its numbers (.json).", "FILE")
]


@app.command(epilog="Example: cape explore model.cape --out explore.html")
def explore(model: Model, out: Out, force: Force = False) -> None:
    """Write a page with a slider for the share of positives of each group.

    Move the sliders to see which member of the pool CAPE would choose, and what every
    member would predict.
    """
    check_apart([out], [model])
    check_report(out, overwrite=force)
    from cape.files import load_model
    from cape.report import explorer_summary, file_provenance, write_report

    loaded = load_model(model)
    fingerprint = loaded.clf.fingerprint_
    provenance = file_provenance(loaded.details, [], fingerprint=fingerprint)
    title = loaded.details["data"]["file"]
    summary = explorer_summary(loaded.clf, title=title, provenance=provenance)
    give_path("page", write_report(summary, out, overwrite=force))
