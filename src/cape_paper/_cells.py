"""Cells of a run: pieces of work that are computed once and kept.

A run that was interrupted takes its finished cells from the folder and goes on.
"""

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
from cape_paper._rows import Results

__all__ = ["Cell", "OnStep", "digest", "run_cells"]

OnStep = Callable[[str, int, int], None]
"""Called with the name of a finished cell, how many are finished, and how many are."""


@dataclass(frozen=True)
class Cell:
    """One piece of work.

    Parameters
    ----------
    name : str
        Shown while the run goes on.
    key : dict
        Everything the result depends on, as JSON can hold it. A stored result is used
        only if its whole key is the same.
    work : callable
        Returns the result, a dict that JSON can hold. It must be picklable.

    Examples
    --------
    >>> Cell("one", {"n": 1}, dict).work()
    {}
    """

    name: str
    key: Results
    work: Callable[[], Results]

    def full_key(self) -> str:
        """Return the key with the version of cape, as text that does not vary."""
        # Another version may give other numbers.
        full_key = {**self.key, "cape": __version__}
        return json.dumps(full_key, sort_keys=True)

    def path(self, folder: Path) -> Path:
        """Return the file of the result in ``folder``."""
        key = self.full_key().encode()
        name = hashlib.sha256(key).hexdigest()
        # 24 hexadecimal digits are enough to tell any number of cells apart.
        return folder / f"{name[:24]}.json"


def digest(*tables: Any) -> str:
    """Hash the values, the column names and the order of tables, for a cell's key.

    Parameters
    ----------
    *tables : DataFrame or Series
        What the result of a cell depends on; the index does not count.

    Returns
    -------
    str
        16 hexadecimal digits.

    Examples
    --------
    >>> digest(pd.Series([1, 2])) == digest(pd.Series([1, 2]))
    True
    >>> digest(pd.Series([1, 2])) == digest(pd.Series([1, 3]))
    False
    """
    import pandas as pd

    content = hashlib.sha256()
    for table in tables:
        # pandas hashes values only: without the names, two columns could be swapped.
        names = list(getattr(table, "columns", []))
        content.update(repr(names).encode())
        hashes = pd.util.hash_pandas_object(table, index=False)
        content.update(hashes.to_numpy().tobytes())
    return content.hexdigest()[:16]


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
        Where results are kept; None keeps none.
    n_jobs : int or None, default=None
        Number of cells computed at the same time, as in joblib.
    on_step : callable, optional
        See `OnStep`. The first call has an empty name, and counts the stored results.

    Returns
    -------
    list of dict
        Results in the order of ``cells``, each with its ``seconds`` and the
        ``warnings`` that were raised. The result of a cell that raised is
        ``{"error": ...}``; it is not kept, so the next run tries again.

    Examples
    --------
    >>> run_cells([Cell("one", {"n": 1}, lambda: {"double": 2})])[0]["double"]
    2
    """
    results: dict[int, Results] = {}
    for place, cell in enumerate(cells):
        stored = _stored_result(cell, folder)
        if stored is not None:
            results[place] = stored
    on_step("", len(results), len(cells))

    jobs = []
    for place, cell in enumerate(cells):
        if place not in results:
            jobs.append(delayed(_compute)(place, cell.work))
    with warnings.catch_warnings():
        # joblib replaces workers now and then, and warns. No job is lost by it.
        warnings.filterwarnings(
            "ignore", "A worker stopped while some jobs were given", UserWarning
        )
        # Unordered, so that every result is stored as soon as it is there.
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        for place, result in parallel(jobs):
            cell = cells[place]
            results[place] = result
            _store(cell, result, folder)
            on_step(cell.name, len(results), len(cells))
    return [results[place] for place in range(len(cells))]


def _compute(
    place: int,
    work: Callable[[], Results],
) -> tuple[int, Results]:
    """Do the work; an error becomes a result, so that the other cells go on.

    The place comes back with the result, since results arrive in any order.
    """
    start = time.monotonic()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = work()
        except Exception as error:
            # A method that fails is a row of the table, with the reason in it.
            result = {"error": f"{type(error).__name__}: {error}"}
    messages = []
    for warning in caught:
        category = warning.category.__name__
        messages.append(f"{category}: {warning.message}")
    seconds = round(time.monotonic() - start, 3)
    return place, {**result, "warnings": messages, "seconds": seconds}


def _stored_result(cell: Cell, folder: Path | None) -> Results | None:
    """Read the result of a cell; None if there is none, or the file is damaged."""
    if folder is None:
        return None
    path = cell.path(folder)
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        # The name of the file is a short hash; the whole key decides.
        if content["key"] == cell.full_key():
            return content["result"]
    except (ValueError, KeyError, TypeError):
        # A damaged file is computed again, and replaced.
        return None
    return None


def _store(
    cell: Cell,
    result: Results,
    folder: Path | None,
) -> None:
    """Keep a result, unless the cell failed or there is no folder.

    The name is stored for people who look into the folder; it is not read.
    """
    if folder is None or "error" in result:
        return
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "name": cell.name,
        "key": cell.full_key(),
        "result": result,
    }
    with new_file(cell.path(folder), overwrite=True) as part:
        part.write_text(json.dumps(content), encoding="utf-8")
