"""Cells of a run: pieces of work that are computed once and kept by joblib.

A run that was interrupted takes its finished cells from the folder and goes on. Most
results are records of estimates, which are judged by the truth and averaged.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import logging
import os
import platform
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from joblib import Memory, Parallel, delayed

from cape import Estimate
from cape_paper._stamp import defaults_hash

Results = dict[str, Any]
"""Numbers of a run, or a part of them, as JSON can hold them."""

_PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "pandas", "aif360", "fairlearn"),
    *("quapy", "mlquantify", "tensorflow-cpu", "cape-fair"),
)
"""Packages that a result can depend on."""

_LOG = logging.getLogger("cape_paper")
_ONLY_SHOW = ("notes.toml", "__main__.py", "_pages.py", "_tables.py", "_stamp.py")
"""Files of `cape_paper` that no number of a cell depends on."""


class Cell(NamedTuple):
    """One piece of work: a function of a module, and all that its result depends on."""

    name: str
    work: Callable[..., Results]
    arguments: tuple[Any, ...]


def run_cells(
    cells: Sequence[Cell], folder: Path | None = None, *, n_jobs: int | None = None
) -> Results:
    """Compute all cells, except those whose results are in ``folder``.

    Parameters
    ----------
    cells : sequence of Cell
        The work; every result is a dict of lists.
    folder : Path, default=None
        Where results are kept; None keeps none. A result is used only if function,
        arguments and the source of `cape` and `cape_paper` are the same.
    n_jobs : int or None, default=None
        Number of cells computed at the same time, as in joblib.

    Returns
    -------
    dict
        The lists of all results by name, joined in the order of ``cells``; ``failed``,
        the errors of cells that raised, by their names; and when and with what the run
        was made. What failed is not kept, so the next run tries again.

    Examples
    --------
    >>> run_cells([Cell("one", dict, ([("rows", [2])],))])["rows"]
    [2]
    """
    compute = Memory(folder, verbose=0).cache(_compute)
    jobs = [delayed(_attempt)(compute, cell, source_hash()) for cell in cells]
    finished: list[Results] = []
    with warnings.catch_warnings():
        # joblib replaces workers now and then, and warns. No job is lost by it.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
        for result in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
            finished.append(result)
            _LOG.info("%d of %d cells", len(finished), len(cells))
    return _joined(cells, finished)


def _joined(cells: Sequence[Cell], finished: Sequence[Results]) -> Results:
    """Join the results of cells, and say what the run was made with."""
    joined: Results = {"failed": {}}
    for cell, result in zip(cells, finished, strict=True):
        if "error" in result:
            joined["failed"][cell.name] = result["error"]
            continue
        for part, entries in result["parts"].items():
            joined.setdefault(part, []).extend(entries)
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            versions[package] = version(package)
    # The time of work that was stored counts too: it says what the whole run costs.
    seconds = sum(result.get("seconds", 0) for result in finished)
    return {
        **joined,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "cells": len(cells),
        "defaults": defaults_hash(),
        "versions": versions,
    }


def judged(estimate: Any, truth: float) -> Results:
    """Compare an estimate, with or without an interval, with the truth."""
    if not isinstance(estimate, Estimate):
        return {"estimate": float(estimate), "error": abs(float(estimate) - truth)}
    return {
        "estimate": estimate.value,
        "error": abs(estimate.value - truth),
        "low": estimate.low,
        "high": estimate.high,
        # Numbers, so that the mean is a share.
        "holds": float(estimate.low <= truth <= estimate.high),
        "width": estimate.high - estimate.low,
    }


def mean_records(records: Sequence[Results], keys: list[str]) -> list[Any]:
    """Average records that agree in all keys, and count them as ``times``.

    Examples
    --------
    >>> records = [{"case": "a", "error": 0.1}, {"case": "a", "error": 0.3}]
    >>> mean_records(records, ["case"])
    [{'case': 'a', 'error': 0.2, 'times': 2}]
    """
    groups = pd.DataFrame(records).groupby(keys, sort=False)
    means = groups.mean().assign(times=groups.size()).reset_index()
    # JSON has no NaN: an estimate without an interval has no width.
    return [row.dropna().to_dict() for _, row in means.iterrows()]


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


def _attempt(compute: Callable[..., Results], cell: Cell, source: str) -> Results:
    """Do the work; an error becomes a result, so that the other cells go on."""
    try:
        return compute(cell.work, cell.arguments, source)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _compute(
    work: Callable[..., Results], arguments: tuple[Any, ...], source: str
) -> Results:
    """Do the work, and note the processor time that it took.

    joblib keeps the result by these arguments; the source is there for that alone.
    """
    start = _processor_seconds()
    with warnings.catch_warnings():
        # Verdicts are recorded, and what is undefined is None.
        warnings.simplefilter("ignore")
        parts = work(*arguments)
    return {"parts": parts, "seconds": _processor_seconds() - start}


def _processor_seconds() -> float:
    """Return the processor time of this process and of those that it waited for.

    Whatever else the machine does, it is what the work costs.
    """
    return sum(os.times()[:4])
