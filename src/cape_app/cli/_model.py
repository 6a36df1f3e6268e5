"""``cape info``: what a model file holds."""

from __future__ import annotations

from pathlib import Path

from cape_app.cli._options import command
from cape_app.cli._output import Output


@command(epilog="Example: cape info model.cape")
def info(model: Path, *, key_file: Path | None = None, as_json: bool = False) -> None:
    """Show what a model was trained on, and how."""
    from cape_app.files._model import describe_file
    from cape_app.pages._model import model_summary

    content = describe_file(model, key=key_file)
    Output(as_json=as_json).give("info", model_summary(content), [])
