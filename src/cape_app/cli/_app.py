"""The application: what commands register with, how they print, and how they fail.

Results go to standard output. Notes, progress bars and errors go to the error stream,
so that ``cape ... --json`` can be piped. An error is one line, and never a traceback
unless ``--debug`` asks for it; with ``--json`` it is an object on standard output, too.

``--json`` prints the fields that ``schema.json`` names, and no others. A page needs
sentences and pictures; a program needs codes and numbers. The schema says which, and
every answer has its name and version. So what is documented is what is printed. A
version may gain fields; a field that goes or changes makes a new version.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cape import __version__
from cape.base._io import NO_ROOM
from cape_app.words._notes import note_text
from cape_app.words._terminal import Styled, TextTable, error_text, in_options

if TYPE_CHECKING:
    from rich.progress import TaskID

app = typer.Typer(
    help="Fair classification under prior probability shift.",
    epilog="Start with: cape demo. Then: cape train --help",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
"""The typer application: the commands and their options."""

console = Console()
"""Prints results."""

aside = Console(stderr=True)
"""Prints notes, progress bars and errors."""

BAD_INPUT = 2
_BUG = 3
_STOPPED = 130  # what typer returns after Ctrl-C
PIPE_CLOSED = 141  # what a shell reports of a program that SIGPIPE has ended

# Errors that the library raises on purpose, with a message for the user.
_EXPECTED_ERRORS = (ValueError, OSError, ImportError)

_STYLES = {"bad": "bold red", "warn": "bold yellow", "good": "bold", "open": "bold"}
_STYLES |= {"command": "cyan", "line": "", "fault": "red", "failed": "red"}

_WIDEST_TABLE = 500
_LONGEST_HEAD = 8
_FEWEST_LETTERS = 12
_LONGEST_NUMBER = len("0.500 (0.400-0.600)")


def _show_version(value: bool) -> None:
    """Print the version and exit, if ``--version`` was given."""
    if value:
        console.print(f"cape {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version",
        callback=_show_version,
        is_eager=True,
        help="Print the version and exit.",
        metavar="",
    ),
]
# Listed here for the help; `run` takes it out before typer parses the arguments.
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show the full traceback of an error.", metavar=""),
]


@app.callback()
def _options(version: Version = False, debug: Debug = False) -> None:
    """Declare the options that stand before a command."""


def run(argv: list[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; by default those that the process was started with.

    Returns
    -------
    int
        The exit code: 0 for success, 1 if a ``--fail-if`` was met, 2 for bad input, 3
        for a mistake in cape, 130 after Ctrl-C, 141 if the reader of a pipe has left.

    Examples
    --------
    >>> run(["--version"])
    cape ...
    0
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    # People add --debug at the end of a command that failed, where typer would not
    # accept an option of the application.
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        # Standalone, typer would print errors itself, in a frame of many lines.
        code = app(arguments, prog_name="cape", standalone_mode=False)
    except SystemExit as error:
        # So rich and typer end if nobody reads on, as after ``cape ... | head -1``.
        # Conditions of --fail-if return their 1.
        if error.code == 1:
            return PIPE_CLOSED
        raise
    except Exception as error:
        if debug:
            raise
        # By name, because click and typer both have such a class.
        if type(error).__name__ == "NoArgsIsHelpError":  # typer has printed the help
            return BAD_INPUT
        told = explain(error)
        if "--json" in arguments:
            # Standard output may be what failed.
            with suppress(OSError):
                give_json("failed", {"error": told})
        return told["exit_code"]
    if code == _STOPPED:
        aside.print("stopped.")
    if isinstance(code, int):
        return code
    return 0


def explain(error: Exception) -> dict[str, Any]:
    """Print an error in one line on the error stream.

    Parameters
    ----------
    error : Exception

    Returns
    -------
    dict
        What ``--json`` says of it: ``code``, ``exit_code`` and ``message``.
    """
    code = "input"
    if hasattr(error, "format_message"):  # typer could not parse the arguments
        # Click may end with a question and a full stop: "Did you mean 'predict'?."
        fault = error.format_message().rstrip(".")
        end = "" if fault.endswith("?") else "."
        context = getattr(error, "ctx", None)
        called = context.command_path if context else "cape"
        message = f"{fault}{end} See: {called} --help"
        code = "usage"
    elif isinstance(error, OSError) and error.strerror and error.filename:
        # Without the number of an error of the system.
        message = f"{error.filename}: {error.strerror}."
    elif isinstance(error, OSError) and error.errno in NO_ROOM:
        # `new_file` names files.
        places = f"standard output or {tempfile.gettempdir()}"
        message = f"{places}: {os.strerror(error.errno)}."
    elif isinstance(error, _EXPECTED_ERRORS):
        message = error_text(error) or type(error).__name__
    else:
        message = (
            f"unexpected {type(error).__name__}: {error}. Run again with --debug to "
            "see where."
        )
        code = "bug"
    if isinstance(error, OSError):
        code = "file"
    elif isinstance(error, ImportError):
        code = "package"
    message = " ".join(message.split())
    _give_aside(f"error: {message}")
    exit_code = _BUG if code == "bug" else BAD_INPUT
    return {"code": code, "exit_code": exit_code, "message": message}


def give(blocks: Iterable[str | Styled | TextTable]) -> None:
    """Print the blocks of a result.

    Parameters
    ----------
    blocks : iterable of str, Styled or TextTable
        From `cape_app.words._terminal`.
    """
    for block in blocks:
        if isinstance(block, TextTable):
            if block.title:
                give_line(block.title)
            # In a pipe, a line of a table is one line.
            width = None if console.is_terminal else _WIDEST_TABLE
            console.print(_rich_table(block), width=width, crop=False)
        elif isinstance(block, Styled):
            style = _STYLES.get(block.style, block.style)
            # A command is pasted, and so never wrapped; programs read lines.
            soft_wrap = block.style == "command" or (
                block.style == "line" and not console.is_terminal
            )
            console.print(Text(block.text, style=style), soft_wrap=soft_wrap)
        else:
            give_line(block)


def _rich_table(content: TextTable) -> Table:
    """Make a table that fits 80 columns."""
    # Plain rules instead of a frame: the table can be pasted into a message.
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
    )
    columns = list(zip_longest(content.columns, *content.rows, fillvalue=""))
    widths = [max(len(str(cell)) for cell in cells[1:]) for cells in columns]
    n_words = 1 + sum(width > _LONGEST_NUMBER for width in widths[1:])
    numbers = sum(width + 1 for width in widths[1:] if width <= _LONGEST_NUMBER)
    # What numbers and their heads leave for names, if each other text has a little.
    free = console.width
    for name, width in zip(content.columns[1:], widths[1:], strict=True):
        head = max(map(len, name.rsplit(" ", len(name) > _LONGEST_HEAD)))
        is_number = width <= _LONGEST_NUMBER
        free -= 2 + max(head, width if is_number else _FEWEST_LETTERS)
    names_fit = widths[0] <= min(free, _LONGEST_NUMBER)
    numbers_fit = numbers + n_words * _FEWEST_LETTERS <= console.width
    for name, width in zip(content.columns, widths, strict=True):
        # Words may wrap; numbers are short and do not.
        is_number = bool(table.columns) and width <= _LONGEST_NUMBER
        table.add_column(
            "\n".join(name.rsplit(" ", len(name) > _LONGEST_HEAD)),
            justify="right" if is_number else "left",
            # Where all do not fit, an interval stands below its number.
            no_wrap=numbers_fit if is_number else names_fit and not table.columns,
            # Of a name, enough is seen to know it.
            min_width=None if table.columns else min(width, _FEWEST_LETTERS),
            overflow="fold",
        )
    for row in content.rows:
        # Text instead of str: a group called [red] is no markup.
        table.add_row(*(Text(str(cell)) for cell in row))
    return table


def give_line(text: str, *, wrap: bool = True) -> None:
    """Print a line of a result as it is: a group called [red] is no markup.

    Parameters
    ----------
    text : str
    wrap : bool, default=True
        Whether to wrap at the width of the terminal.
    """
    console.print(text, markup=False, highlight=False, soft_wrap=not wrap)


def give_path(name: str, path: Any) -> None:
    """Print where something was written, on one line, so that it can be copied.

    Parameters
    ----------
    name : str
        What was written.
    path : str or Path
    """
    where = f"{name}: {path}"
    if os.path.islink(path):
        where += f", a link to {os.path.realpath(path)}"
    give_line(where, wrap=False)


def give_json(name: str, content: dict[str, Any]) -> None:
    """Print one object of strict JSON and nothing else.

    Parameters
    ----------
    name : str
        The definition in ``schema.json``, which is called as the command is.
    content : dict
        May hold more than the schema names. Numbers that are not finite become null.
    """
    text = files("cape_app.cli").joinpath("schema.json").read_text(encoding="utf-8")
    definitions = json.loads(text)["$defs"]
    version = definitions[name]["properties"]["schema"]["const"]
    answer = _named({"schema": version, **content}, definitions[name], definitions)
    # Not by rich, which wraps lines at the width of the terminal.
    typer.echo(json.dumps(answer, indent=1, allow_nan=False, ensure_ascii=False))


def _named(content: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """Return the part of the content that a schema names."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if isinstance(content, dict) and "properties" in schema:
        part = {}
        for name, field in schema["properties"].items():
            if name in content:
                part[name] = _named(content[name], field, definitions)
        return part
    if isinstance(content, dict):
        # Names of the user, such as columns.
        field = schema.get("additionalProperties", {})
        return {
            name: _named(value, field, definitions) for name, value in content.items()
        }
    if isinstance(content, (list, tuple)):
        field = schema.get("items", {})
        return [_named(value, field, definitions) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content


def give_notes(notes: Iterable[Any]) -> list[str]:
    """Print notes on the error stream, a line each, and return their words.

    Parameters
    ----------
    notes : iterable of Note

    Returns
    -------
    list of str
    """
    texts = [in_options(note_text(note.code, note.values)) for note in notes]
    for text in texts:
        _give_aside(f"note: {text}")
    return texts


def _give_aside(text: str) -> None:
    """Print a line on the error stream, unwrapped."""
    # One error is one line, however narrow the terminal: scripts read it.
    aside.print(text, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def progress(
    total: int | None = None, *, stop_at: str | None = None
) -> Iterator[Callable[[str, int], None]]:
    """Show a progress bar for each stage of the work, if there is a terminal.

    Parameters
    ----------
    total : int, default=None
        How many units each stage has. None if it is not known, or told as a stage
        "length"; then the second stage takes the number that the first had when it was
        done.
    stop_at : str, optional
        A stage that shows a bar of its own: ours ends when that stage begins.

    Yields
    ------
    callable
        To be called with the stage and the number of units that have just been done.
    """
    if not aside.is_terminal:
        yield lambda stage, done: None
        return
    from rich import progress as rich_progress

    # It vanishes when it is done.
    with rich_progress.Progress(console=aside, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        # The caller knows nothing about bars: it gets a function to call.
        def advance(stage: str, done: int) -> None:
            nonlocal total
            if stage == "length":
                total = done
                return
            if stage == stop_at:
                # Two bars on one terminal would overwrite each other.
                bar.stop()
                return
            if stage not in tasks:
                n_units: float | None = total
                # A CSV does not tell its length, but stages go over the same rows.
                if total is None and tasks:
                    n_units = bar.tasks[0].completed
                tasks[stage] = bar.add_task(stage, total=n_units)
            bar.advance(tasks[stage], done)

        yield advance
