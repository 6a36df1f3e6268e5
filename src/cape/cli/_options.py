"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cape._tables import Dialect

__all__ = [
    "Decimal",
    "Drift",
    "Encoding",
    "FailIf",
    "Force",
    "Group",
    "Json",
    "Label",
    "Level",
    "Model",
    "Positive",
    "Report",
    "Rule",
    "Scheduler",
    "Separator",
    "argument",
    "dialect_of",
    "flag",
    "option",
    "trainers",
    "workers",
]


def argument(metavar: str, text: str) -> Any:
    """Make a required argument.

    Parameters
    ----------
    metavar : str
        How it is called in the help.
    text : str
        What it is.

    Returns
    -------
    typer.Argument
    """
    return typer.Argument(metavar=metavar, help=text, show_default=False)


def option(text: str, metavar: str, **more: Any) -> Any:
    """Make an option whose default, if it has one, is in its text.

    Parameters
    ----------
    text : str
        What it does.
    metavar : str
        What its value is. Typer would show the type, and ``<list[str]>`` tells a user
        nothing.
    **more
        Passed to typer.

    Returns
    -------
    typer.Option
    """
    return typer.Option(help=text, metavar=metavar, show_default=False, **more)


def flag(name: str, text: str, **more: Any) -> Any:
    """Make an option without a value.

    Parameters
    ----------
    name : str
        With both dashes. Named explicitly, it has no opposite ``--no-...``.
    text : str
        What it does.
    **more
        Passed to typer.

    Returns
    -------
    typer.Option
    """
    return typer.Option(name, help=text, metavar="", **more)


_TIMEOUT = 10
"""Seconds to wait for a Dask scheduler: a wrong address should be told soon."""

Model = Annotated[Path, argument("MODEL", "A model file that cape train wrote.")]
Label = Annotated[str, option("Column with the label, which has two values.", "COLUMN")]
Group = Annotated[
    list[str] | None,
    option(
        "Column with the group. Repeat the option to combine several columns; without "
        "it, all rows are one group.",
        "COLUMN",
    ),
]
Positive = Annotated[
    str | None,
    option(
        "The label that counts as positive. Default: the greater number, or the later "
        "word in the alphabet.",
        "LABEL",
    ),
]
Force = Annotated[bool, flag("--force", "Replace files that already exist.")]
Json = Annotated[bool, flag("--json", "Print JSON instead of tables.")]
Level = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Drift = Annotated[
    str | None,
    option(
        "Where more than the share of positives has moved: cautious (hold the estimate "
        "back and widen its interval) or ignore. Default: that of the model.",
        "NAME",
    ),
]
Rule = Annotated[
    str | None,
    option("What to aim at: {rules}. Default: that of the model.", "NAME"),
]
Report = Annotated[
    Path | None,
    option("Write a page for the browser (.html), or its content (.json).", "FILE"),
]
FailIf = Annotated[
    list[str] | None,
    option(
        "Exit with code 1 if this condition is met, such as 'pd>0.1'. Repeat the "
        "option to give several conditions.",
        "CONDITION",
    ),
]
Scheduler = Annotated[
    str | None,
    option("Address of a Dask scheduler whose workers do the work.", "ADDRESS"),
]
_AS_TRAINED = "with a model, as in its training file."

Separator = Annotated[
    str | None,
    option(
        "Character between the fields of a CSV, or: tab. "
        f"Default: a comma; {_AS_TRAINED}",
        "CHARACTER",
    ),
]
Encoding = Annotated[
    str | None,
    option(
        f"Encoding of a CSV, such as utf-8 or latin-1. Default: utf-8; {_AS_TRAINED}",
        "NAME",
    ),
]
Decimal = Annotated[
    str | None,
    option(
        "What stands before the decimals of a number in a CSV: a point or a comma. "
        f"Default: a point; {_AS_TRAINED}",
        "CHARACTER",
    ),
]


def dialect_of(
    separator: str | None,
    encoding: str | None,
    decimal: str | None,
    *,
    default: Dialect | None = None,
) -> Dialect:
    r"""Return the CSV dialect that the options describe.

    Parameters
    ----------
    separator : str or None
        A character; ``tab`` and ``\t`` stand for the tabulator, which is hard to type
        in a shell.
    encoding : str or None
    decimal : str or None
    default : Dialect, optional
        What holds where an option is None; by default a comma, UTF-8 and points.

    Returns
    -------
    Dialect

    Raises
    ------
    ValueError
        If the separator is longer than a character, Python lacks the encoding, or the
        decimal sign is neither a point nor a comma.

    Examples
    --------
    >>> dialect_of("tab", None, ",")
    Dialect(separator='\t', encoding='utf-8', decimal=',')
    """
    if separator in ("tab", "\\t"):
        separator = "\t"
    given = {"separator": separator, "encoding": encoding, "decimal": decimal}
    changes = {name: value for name, value in given.items() if value is not None}
    return replace(default or Dialect(), **changes)


@contextmanager
def workers(address: str | None) -> Iterator[Any]:
    """Choose who works on the parts of a file.

    Parameters
    ----------
    address : str or None
        Address of a Dask scheduler; None stays in this process.

    Yields
    ------
    callable
        To be passed to `cape.files.predict_file` as ``each``.
    """
    from cape.files import here

    if address is None:
        yield here
        return
    with _cluster(address) as client:
        # Imported here because Dask is an optional dependency.
        from cape.scale import on_workers

        yield on_workers(client)


@contextmanager
def trainers(address: str | None) -> Iterator[None]:
    """Choose who trains learners inside a ``with`` block.

    Parameters
    ----------
    address : str or None
        Address of a Dask scheduler; None stays in this process.
    """
    if address is None:
        yield
        return
    with _cluster(address) as client:
        from cape.scale import training_on

        with training_on(client):
            yield


def _cluster(address: str) -> Any:
    """Connect to a Dask scheduler, or say how to install Dask."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "--dask needs Dask: pip install 'cape-fair[dask]'."
        ) from error
    _check_reachable(address)
    # The client is passed explicitly, and must not become the default of other code.
    return Client(address, timeout=_TIMEOUT, set_as_default=False)


def _check_reachable(address: str) -> None:
    """Raise in one line if no Dask scheduler answers.

    A client that could not connect waits for an answer once more when it is deleted,
    and then prints a traceback. So none is made before the address has been tried.
    """
    import asyncio

    from distributed import Security
    from distributed.comm import connect

    async def knock() -> None:
        settings = Security().get_connection_args("client")
        connection = await connect(address, timeout=_TIMEOUT, **settings)
        await connection.close()

    try:
        asyncio.run(knock())
    # Dask raises ValueError, OSError or TypeError, by what is wrong with the address.
    except Exception as error:
        reason = str(error).split("\n")[0]
        raise ValueError(
            "--dask must be the address of a running Dask scheduler, such as "
            f"tcp://127.0.0.1:8786, got {address!r}: {reason}."
        ) from error
