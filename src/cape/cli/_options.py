"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cape._tables import Dialect

__all__ = [
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
    "Separator",
    "dialect_of",
    "trainers",
    "workers",
]

Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="A model file that cape train wrote.", show_default=False
    ),
]
Label = Annotated[
    str,
    typer.Option(
        help="Column with the label, which has two values.",
        metavar="COLUMN",
        show_default=False,
    ),
]
Group = Annotated[
    list[str] | None,
    typer.Option(
        help="Column with the group. Repeat the option to combine several columns; "
        "without it, all rows are one group.",
        metavar="COLUMN",
        show_default=False,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        help="The label that counts as positive. Default: the greater of the two.",
        metavar="LABEL",
        show_default=False,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace files that already exist.", metavar=""),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print JSON for other programs instead of tables.", metavar=""
    ),
]
Level = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Report = Annotated[
    Path | None,
    typer.Option(
        help="Write a page for the browser (.html), or its content (.json).",
        metavar="FILE",
        show_default=False,
    ),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        help="Exit with code 1 if this condition is met, such as 'pd>0.1'. Repeat the "
        "option to give several conditions.",
        metavar="CONDITION",
        show_default=False,
    ),
]
Separator = Annotated[
    str, typer.Option(help="Character between the fields of a CSV, or: tab.")
]
Encoding = Annotated[
    str, typer.Option(help="Encoding of a CSV, such as utf-8 or latin-1.")
]


def dialect_of(separator: str, encoding: str) -> Dialect:
    r"""Return the CSV dialect that the options describe.

    Parameters
    ----------
    separator : str
        A character; ``tab`` and ``\t`` stand for the tabulator, which is hard to type
        in a shell.
    encoding : str

    Returns
    -------
    Dialect

    Raises
    ------
    ValueError
        If the separator is longer than a character, or Python lacks the encoding.

    Examples
    --------
    >>> dialect_of("tab", "utf-8").separator
    '\t'
    """
    if separator in ("tab", "\\t"):
        separator = "\t"
    return Dialect(separator, encoding)


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
    return Client(address, timeout="10s", set_as_default=False)
