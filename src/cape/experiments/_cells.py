"""Pieces of a run that are computed once: an interrupted run goes on where it was."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from cape import __version__
from cape._newfile import new_file

__all__ = ["Cell", "OnStep", "digest", "run_cells"]

OnStep = Callable[[str, int, int], None]
"""Told the name of each cell that is done, how many are, and how many there are in all."""


@dataclass(frozen=True)
class Cell:
    """One piece of work.

    Parameters
    ----------
    name : str
        For people.
    key : dict
        Everything the result depends on, as JSON can hold it; a stored cell is used only where all of it is the same.
    work : callable
        Gives the result, a dict that JSON can hold. It must be picklable.
    """

    name: str
    key: dict[str, Any]
    work: Callable[[], dict[str, Any]]


def digest(*tables: Any) -> str:
    """A fingerprint of tables and columns, for a cell's key.

    Examples
    --------
    >>> import pandas as pd
    >>> digest(pd.Series([1, 2])) == digest(pd.Series([1, 2])) != digest(pd.Series([1, 3]))
    True
    """
    import pandas as pd

    found = hashlib.sha256()
    for table in tables:
        found.update(repr(list(getattr(table, "columns", []))).encode())
        found.update(
            pd.util.hash_pandas_object(table, index=False).to_numpy().tobytes()
        )
    return found.hexdigest()[:16]


def run_cells(
    cells: Sequence[Cell],
    folder: Path | None = None,
    *,
    n_jobs: int | None = None,
    on_step: OnStep = lambda name, done, total: None,
) -> list[dict[str, Any]]:
    """Results of all cells, in order; those found in ``folder`` are not computed again.

    A cell that raises gives ``{"error": ...}``, and is tried again next time. Each result has its ``seconds``
    and the ``warnings`` that were raised.

    Examples
    --------
    >>> run_cells([Cell("one", {"n": 1}, lambda: {"double": 2})])[0]["double"]
    2
    """
    results = [_stored(cell, folder) for cell in cells]
    waiting = [i for i, result in enumerate(results) if result is None]
    done = len(cells) - len(waiting)
    on_step("", done, len(cells))
    jobs = (delayed(_work)(i, cells[i].work) for i in waiting)
    with warnings.catch_warnings():
        # joblib replaces workers now and then, and says so; no job is lost by it
        warnings.filterwarnings(
            "ignore", "A worker stopped while some jobs were given", UserWarning
        )
        for i, result in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs):
            results[i] = result
            done += 1
            if folder is not None and "error" not in result:
                _store(cells[i], result, folder)
            on_step(cells[i].name, done, len(cells))
    return [result for result in results if result is not None]


def _work(place: int, work: Callable[[], dict[str, Any]]) -> tuple[int, dict[str, Any]]:
    start = time.monotonic()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = work()
        except (
            Exception
        ) as error:  # a method that fails is a row of the table, and the table goes on
            result = {"error": f"{type(error).__name__}: {error}"}
    told = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    return place, {
        **result,
        "warnings": told,
        "seconds": round(time.monotonic() - start, 3),
    }


def _path(cell: Cell, folder: Path) -> Path:
    name = hashlib.sha256(_whole_key(cell).encode()).hexdigest()[:24]
    return folder / f"{name}.json"


def _whole_key(cell: Cell) -> str:
    return json.dumps({**cell.key, "cape": __version__}, sort_keys=True)


def _stored(cell: Cell, folder: Path | None) -> dict[str, Any] | None:
    if folder is None or not (path := _path(cell, folder)).exists():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return content["result"] if content["key"] == _whole_key(cell) else None
    except (ValueError, KeyError, TypeError):
        return None


def _store(cell: Cell, result: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with new_file(_path(cell, folder), overwrite=True) as part:
        part.write_text(
            json.dumps({"name": cell.name, "key": _whole_key(cell), "result": result}),
            encoding="utf-8",
        )
