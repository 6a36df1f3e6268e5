"""Cells of a run: pieces of work that are computed once and kept by joblib.

A run that was interrupted takes its finished cells from the folder and goes on.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import platform
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Memory, Parallel, delayed

from cape_paper._stamp import defaults_hash

Results = dict[str, Any]
"""Numbers of a run, or a part of them, as JSON can hold them."""

OnStep = Callable[[str, int, int], None]
"""Called with the name of a finished cell, how many are finished, and how many are."""


_PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "pandas", "aif360", "fairlearn"),
    *("quapy", "mlquantify", "tensorflow-cpu", "cape-fair"),
)
"""Packages that a result can depend on."""

_ONLY_SHOW = (
    *("notes.toml", "_commands.py", "_sentences.py", "_pages.py", "_tables.py"),
    "_stamp.py",
)
"""Files of `cape_paper` that no number of a cell depends on."""


class Cell(NamedTuple):
    """One piece of work: a function of a module, and all that its result depends on."""

    name: str
    work: Callable[..., Results]
    arguments: tuple[Any, ...]


def run_cells(
    cells: Sequence[Cell],
    folder: Path | None = None,
    *,
    n_jobs: int | None = None,
    on_step: OnStep = lambda name, done, total: None,
) -> list[Results]:
    """Compute all cells, except those whose results are in ``folder``.

    Parameters
    ----------
    cells : sequence of Cell
        The work.
    folder : Path, default=None
        Where results are kept; None keeps none. A result is used only if function,
        arguments and the source of `cape` and `cape_paper` are the same.
    n_jobs : int or None, default=None
        Number of cells computed at the same time, as in joblib.
    on_step : callable, optional
        See `OnStep`.

    Returns
    -------
    list of dict
        Results in the order of ``cells``, each with its ``seconds`` of processor time
        and the ``warnings`` that were raised. The result of a cell that raised is
        ``{"error": ...}``; it is not kept, so the next run tries again.

    Examples
    --------
    >>> run_cells([Cell("one", dict, ([("double", 2)],))])[0]["double"]
    2
    """
    compute = Memory(folder, verbose=0).cache(_compute)
    jobs = []
    for place, cell in enumerate(cells):
        jobs.append(delayed(_attempt)(place, compute, cell, source_hash()))
    results: dict[int, Results] = {}
    with warnings.catch_warnings():
        # joblib replaces workers now and then, and warns. No job is lost by it.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
        # Unordered, so that progress is shown as soon as there is any.
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        for place, result in parallel(jobs):
            results[place] = result
            on_step(cells[place].name, len(results), len(cells))
    return [results[place] for place in range(len(cells))]


def run_parts(cells: Sequence[Cell], parts: Sequence[str], **running: Any) -> Results:
    """Compute all cells, and join the lists that their results have.

    Parameters
    ----------
    cells : sequence of Cell
    parts : sequence of str
        Names of the lists.
    **running
        ``folder``, ``n_jobs`` and ``on_step``, as in `run_cells`.

    Returns
    -------
    dict
        The joined lists by name; ``failed``, a sentence for each cell that failed; and
        the facts of the run.
    """
    start = time.monotonic()
    finished = run_cells(cells, **running)
    joined: Results = {part: [] for part in parts}
    failed = []
    for cell, result in zip(cells, finished, strict=True):
        if "error" in result:
            failed.append(f"{cell.name} failed: {result['error']}")
            continue
        for part, entries in joined.items():
            entries += result[part]
    return {**joined, "failed": failed, **run_facts(start, finished)}


@cache
def source_hash() -> str:
    """Hash the source that numbers depend on: other code may give other numbers.

    It is that of `cape` and `cape_paper`, but for the modules that only show numbers.
    """
    content = hashlib.sha256()
    for package in ("cape", "cape_paper"):
        for path in sorted(Path(str(files(package))).rglob("*")):
            source = path.suffix in (".py", ".json", ".toml")
            if source and path.name not in _ONLY_SHOW:
                content.update(path.read_bytes())
    return content.hexdigest()


def run_facts(start: float, results: Sequence[Results]) -> Results:
    """Say when, where and with what a run was made, and what it cost.

    Parameters
    ----------
    start : float
        When it began, by `time.monotonic`.
    results : sequence of dict
        Results of all cells.

    Returns
    -------
    dict
        As JSON can hold it.
    """
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    # Whether anything else was running; Windows does not tell.
    load = None
    if hasattr(os, "getloadavg"):
        load = round(os.getloadavg()[0], 1)
    # The time of work that was stored counts too: it says what the whole run costs.
    seconds = sum(result["seconds"] for result in results)
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "wall_seconds": round(time.monotonic() - start, 1),
        "cell_seconds": round(seconds, 1),
        "cells": len(results),
        "cores": os.cpu_count(),
        "load": load,
        "defaults": defaults_hash(),
        "versions": versions,
    }


def _attempt(
    place: int, compute: Callable[..., Results], cell: Cell, source: str
) -> tuple[int, Results]:
    """Do the work; an error becomes a result, so that the other cells go on.

    The place comes back with the result, since results arrive in any order.
    """
    try:
        return place, compute(cell.work, cell.arguments, source)
    except Exception as error:
        # A method that fails is a row of the table, with the reason in it.
        reason = f"{type(error).__name__}: {error}"
        return place, {"error": reason, "warnings": [], "seconds": 0.0}


def _compute(
    work: Callable[..., Results], arguments: tuple[Any, ...], source: str
) -> Results:
    """Do the work, and note its warnings and the processor time that it took.

    joblib keeps the result by these arguments; the source is there for that alone.
    """
    start = _processor_seconds()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = work(*arguments)
    messages = [f"{entry.category.__name__}: {entry.message}" for entry in caught]
    seconds = round(_processor_seconds() - start, 3)
    return {**result, "warnings": messages, "seconds": seconds}


def _processor_seconds() -> float:
    """Return the processor time of this process and of those that it waited for.

    Whatever else the machine does, it is what the work costs.
    """
    return sum(os.times()[:4])
