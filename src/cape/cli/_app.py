"""The application that commands register with, and how it speaks."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from cape import __version__

__all__ = ["app", "console"]

app = typer.Typer(
    help="Fair classification under prior probability shift.", no_args_is_help=True, pretty_exceptions_enable=False
)
console = Console()


def _show_version(value: bool) -> None:
    if value:
        console.print(f"cape {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")] = False,
) -> None:
    pass
