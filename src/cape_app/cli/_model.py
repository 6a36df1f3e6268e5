"""``cape info``: what a model file holds."""

from __future__ import annotations

from pathlib import Path

from cape_app.cli import _app
from cape_app.cli._options import command
from cape_app.words._terminal import groups_table, model_facts


@command(epilog="Example: cape info model.cape")
def info(model: Path, *, key_file: Path | None = None, as_json: bool = False) -> None:
    """Show what a model was trained on, and how."""
    from cape_app.files._model import describe_file

    content = describe_file(model, key=key_file)
    if as_json:
        _app.give_json("info", content)
        return
    for name, value in model_facts(content).items():
        # A terminal shows long facts on several lines; a pipe gets one line a fact.
        _app.give_line(f"{name + ':':<13}{value}", wrap=_app.console.is_terminal)
    _app.give([groups_table("", content["groups"])])
