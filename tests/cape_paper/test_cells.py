"""Cells: computed once, kept with all that they depend on, and never lost."""

import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest

from cape_paper import _cells


def double(number, log=None):
    """Double a number, and leave a line for every time that it was done."""
    if log is not None:
        with open(log, "a") as file:
            file.write(f"{number}\n")
    return {"doubles": [2 * number]}


def fail(log):
    double(0, log)
    raise RuntimeError("out of memory")


def warn():
    warnings.warn("careful", UserWarning, stacklevel=1)
    return {}


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_results_come_in_the_order_of_the_cells(n_jobs):
    cells = [_cells.Cell(f"cell {number}", double, (number,)) for number in range(4)]
    run = _cells.run_cells(cells, n_jobs=n_jobs)
    assert run["doubles"] == [0, 2, 4, 6]
    assert (run["cells"], run["failed"]) == (4, {})
    assert run["versions"]["numpy"] == np.__version__


def test_a_finished_cell_is_not_computed_again(tmp_path):
    log = tmp_path / "log"
    for number in (1, 1, 2):
        cells = [_cells.Cell("one", double, (number, log))]
        run = _cells.run_cells(cells, tmp_path / "cells")
        assert run["doubles"] == [2 * number]
    assert log.read_text().split() == ["1", "2"]


def test_other_source_code_computes_again(tmp_path, monkeypatch):
    log = tmp_path / "log"
    _cells.run_cells([_cells.Cell("one", double, (1, log))], tmp_path / "cells")
    monkeypatch.setattr(_cells, "source_hash", lambda: "other")
    _cells.run_cells([_cells.Cell("one", double, (1, log))], tmp_path / "cells")
    assert log.read_text().split() == ["1", "1"]


def shape(table):
    return {"shapes": [table.shape]}


def test_values_names_and_order_of_columns_count(tmp_path):
    table = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    renamed = table.rename(columns={"a": "c"})
    tables = [table, table.copy(), table.assign(a=5.0), renamed, table[["b", "a"]]]
    counts = []
    for each in tables:
        _cells.run_cells([_cells.Cell("", shape, (each,))], tmp_path)
        counts.append(len(list(tmp_path.rglob("output.pkl"))))
    assert counts == [1, 1, 2, 3, 4]


def test_a_cell_that_failed_is_tried_again_and_the_others_go_on(tmp_path):
    log = tmp_path / "log"
    cells = [
        _cells.Cell("bad", fail, (log,)),
        _cells.Cell("good", double, (1,)),
        _cells.Cell("loud", warn, ()),
    ]
    for _ in range(2):
        run = _cells.run_cells(cells, tmp_path / "cells")
        assert run["failed"] == {"bad": "RuntimeError: out of memory"}
        assert run["doubles"] == [2]
    assert log.read_text().split() == ["0", "0"]


PROGRAM = """
import sys, time
from pathlib import Path
from cape_paper._cells import Cell, run_cells
sys.path.insert(0, {folder!r})
import work
cells = [Cell(str(n), work.slow, (n,)) for n in range(4)]
print(run_cells(cells, Path({folder!r}) / "cells")["n"])
"""
WORK = """
import time
from pathlib import Path
def slow(n):
    time.sleep(0.2)
    with open(Path(__file__).parent / "log", "a") as file:
        file.write(str(n))
    return {"n": [n]}
"""


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on(tmp_path):
    (tmp_path / "work.py").write_text(WORK)
    command = [sys.executable, "-c", PROGRAM.format(folder=str(tmp_path))]
    with subprocess.Popen(command) as process:
        while len(list(tmp_path.rglob("output.pkl"))) < 2 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[0, 1, 2, 3]"
    # Only the cell that was being computed may have been begun twice.
    assert len((tmp_path / "log").read_text()) <= 5
