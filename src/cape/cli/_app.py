"""The application that commands register with, how it speaks, and how it fails: in one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console

from cape import __version__

__all__ = ["app", "console", "give_json", "give_notes", "give_path", "progress", "run"]

app = typer.Typer(
    help="Fair classification under prior probability shift.",
    epilog="Start with: cape demo. Then: cape train --help",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
console = Console()
aside = Console(stderr=True)
"""Notes, progress and errors; what the command finds goes to the other."""

BAD_INPUT = 2
_BUG = 3
_STOPPED = 130
"""What typer makes of Ctrl-C."""

_OURS = (ValueError, OSError, ImportError)


def _show_version(value: bool) -> None:
    if value:
        console.print(f"cape {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show it."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the whole trace of an error.")
    ] = False,
) -> None:
    pass


def run(argv: list[str] | None = None) -> int:
    """Run a command; gives the exit code: 0, 1 if a --fail-if was met, 2 for bad input, 3 for a mistake of ours."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments  # wherever it stands
    try:
        code = app(
            [a for a in arguments if a != "--debug"],
            prog_name="cape",
            standalone_mode=False,
        )
    except Exception as error:
        if debug:
            raise
        return _explain(error, arguments)
    if code == _STOPPED:
        aside.print("stopped.")
    return code if isinstance(code, int) else 0


def _explain(error: Exception, arguments: list[str]) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":  # help has been shown
        return BAD_INPUT
    if hasattr(
        error, "format_message"
    ):  # a mistake in the command itself, found by typer
        command = next((f" {a}" for a in arguments if not a.startswith("-")), "")
        message, code = f"{error.format_message()} See: cape{command} --help", BAD_INPUT
    elif isinstance(error, _OURS):
        message, code = str(error) or type(error).__name__, BAD_INPUT
    else:
        message, code = (
            f"unexpected {type(error).__name__}: {error}. Run again with --debug to see where.",
            _BUG,
        )
    aside.print(
        f"error: {' '.join(message.split())}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    return code


def give_json(content: Any) -> None:
    """Print for machines."""
    typer.echo(json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False))


def give_path(name: str, path: Any) -> None:
    """Print where something was written, on one line however long, so that it can be copied."""
    console.print(f"{name}: {path}", markup=False, highlight=False, soft_wrap=True)


def give_notes(notes: Iterable[str]) -> None:
    """Print remarks beside the result, on the error stream."""
    for note in notes:
        aside.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def progress(
    total: int | None, unit: str = "rows"
) -> Iterator[Callable[[str, int], None]]:
    """A bar for each stage with rows per second, on a terminal only; gives the function to tell what was done."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )

    if not aside.is_terminal:
        yield lambda stage, done: None
        return
    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=aside, transient=True) as bar:

        def advance(stage: str, done: int) -> None:
            if (
                stage not in tasks
            ):  # a second stage has as many rows as the first was found to have
                known = bar.tasks[-1].completed if tasks and total is None else total
                tasks[stage] = bar.add_task(stage, total=known, speed=unit)
            bar.advance(tasks[stage], done)
            speed = bar.tasks[-1].speed
            bar.update(tasks[stage], speed=f"{speed:,.0f} {unit}/s" if speed else unit)

        yield advance
