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
    "Json",
    "Level",
    "Model",
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
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Level = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Report = Annotated[
    Path | None,
    typer.Option(
        help="Write a page to look at (.html), or the same as .json.",
        show_default=False,
    ),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        help="Exit with 1 if this is met, such as 'pd>0.1'; may be given several times.",
        show_default=False,
    ),
]
Separator = Annotated[
    str, typer.Option(help="What separates the fields of a CSV; tab for a tabulator.")
]
Encoding = Annotated[str, typer.Option(help="Encoding of a CSV.")]


def dialect_of(separator: str, encoding: str) -> Dialect:
    """The CSV dialect that the options name."""
    return Dialect("\t" if separator in ("tab", "\\t") else separator, encoding)


@contextmanager
def workers(address: str | None) -> Iterator[Any]:
    """Who does the parts of a file: this process, or the workers behind the address of a Dask scheduler."""
    from cape.files import here

    if address is None:
        yield here
        return
    with _cluster(address) as client:
        from cape.scale import on_workers

        yield on_workers(client)


@contextmanager
def trainers(address: str | None) -> Iterator[None]:
    """Who does the trainings: this process, or the workers behind the address of a Dask scheduler."""
    if address is None:
        yield
        return
    with _cluster(address) as client:
        from cape.scale import training_on

        with training_on(client):
            yield


def _cluster(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "--dask needs Dask: pip install 'cape-fair[dask]'."
        ) from error
    return Client(address, timeout="10s", set_as_default=False)
