"""Cells are computed once; what was interrupted goes on; a stale cell is not used."""

import json
import warnings
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from cape.experiments import _cells
from cape.experiments._cells import Cell, digest, run_cells


def warn():
    warnings.warn("mind the gap", stacklevel=1)
    return {"done": True}


def test_warnings_are_kept_with_the_result_and_do_not_stop_it():
    found = run_cells([Cell("w", {}, warn)])[0]
    assert found["done"] and found["warnings"] == ["UserWarning: mind the gap"]


def note(folder, name):
    """Leave a trace for each time the work is done."""
    with (Path(folder) / "trace").open("a") as trace:
        trace.write(f"{name}\n")
    if name == "bad":
        raise ValueError("no luck")
    return {"name": name}


def cells_of(folder, names):
    return [
        Cell(name, {"name": name}, partial(note, str(folder), name)) for name in names
    ]


def traces(folder):
    path = folder / "trace"
    return path.read_text().split() if path.exists() else []


def test_results_come_in_order_and_finished_cells_are_not_done_again(tmp_path):
    cells = cells_of(tmp_path, ["a", "b", "c"])
    first = run_cells(cells, tmp_path / "cells")
    assert [result["name"] for result in first] == ["a", "b", "c"]
    assert run_cells(cells, tmp_path / "cells") == first
    assert sorted(traces(tmp_path)) == ["a", "b", "c"]


def test_parallel_work_gives_the_same(tmp_path):
    cells = cells_of(tmp_path, ["a", "b", "c", "d"])
    assert [result["name"] for result in run_cells(cells, n_jobs=2)] == [
        "a",
        "b",
        "c",
        "d",
    ]


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    cells = cells_of(tmp_path, ["a", "b", "c"])

    def stop(name, done, total):
        if name == "b":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cells(cells, tmp_path / "cells", on_step=stop)
    assert traces(tmp_path) == ["a", "b"]
    assert [result["name"] for result in run_cells(cells, tmp_path / "cells")] == [
        "a",
        "b",
        "c",
    ]
    assert traces(tmp_path) == ["a", "b", "c"]
    assert not list((tmp_path / "cells").glob("*.part"))


def test_a_cell_that_fails_is_told_and_tried_again(tmp_path):
    cells = cells_of(tmp_path, ["a", "bad", "c"])
    found = run_cells(cells, tmp_path / "cells")
    assert found[1]["error"] == "ValueError: no luck" and found[2]["name"] == "c"
    run_cells(cells, tmp_path / "cells")
    assert traces(tmp_path) == ["a", "bad", "c", "bad"]


@pytest.mark.parametrize("key", [{"name": "a", "seed": 1}, {"name": "A"}])
def test_a_cell_with_another_key_is_not_reused(tmp_path, key):
    run_cells(cells_of(tmp_path, ["a"]), tmp_path / "cells")
    run_cells([Cell("a", key, partial(note, str(tmp_path), "a"))], tmp_path / "cells")
    assert traces(tmp_path) == ["a", "a"]


def test_a_cell_of_another_version_is_not_reused(tmp_path, monkeypatch):
    run_cells(cells_of(tmp_path, ["a"]), tmp_path / "cells")
    monkeypatch.setattr(_cells, "__version__", "another")
    run_cells(cells_of(tmp_path, ["a"]), tmp_path / "cells")
    assert traces(tmp_path) == ["a", "a"]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", json.dumps({"key": "else", "result": {}})]
)
def test_a_damaged_cell_is_done_again(tmp_path, content):
    cells = cells_of(tmp_path, ["a"])
    first = run_cells(cells, tmp_path / "cells")
    next((tmp_path / "cells").iterdir()).write_text(content)
    assert run_cells(cells, tmp_path / "cells")[0]["name"] == first[0]["name"]
    assert traces(tmp_path) == ["a", "a"]


def test_progress_counts_what_was_there_already(tmp_path):
    run_cells(cells_of(tmp_path, ["a", "b"]), tmp_path / "cells")
    steps = []
    run_cells(
        cells_of(tmp_path, ["a", "b", "c"]),
        tmp_path / "cells",
        on_step=lambda *step: steps.append(step),
    )
    assert steps == [("", 2, 3), ("c", 3, 3)]


def test_a_digest_sees_values_names_and_order_of_columns():
    table = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    assert digest(table) == digest(table.copy())
    others = [
        table.rename(columns={"a": "c"}),
        table[["b", "a"]],
        table.assign(a=[1, 3]),
        table.iloc[::-1],
    ]
    assert len({digest(table), *map(digest, others)}) == 5
