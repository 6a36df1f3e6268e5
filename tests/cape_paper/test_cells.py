"""Cells are computed once, an interrupted run goes on, a stale cell is not used."""

import json
import warnings
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape_paper import _cells
from cape_paper._cells import Cell, digest, run_cells


def warn_twice():
    warnings.warn("mind the gap", stacklevel=1)
    warnings.warn("deprecated", DeprecationWarning, stacklevel=1)
    return {"done": True}


def leave_trace(folder, name):
    """Note each time the work is done."""
    with (Path(folder) / "trace").open("a") as trace:
        trace.write(f"{name}\n")
    if name == "bad":
        raise ValueError("division by zero cells")
    return {"name": name}


def cells_of(folder, names):
    cells = []
    for name in names:
        work = partial(leave_trace, str(folder), name)
        cells.append(Cell(name, {"name": name}, work))
    return cells


def traces(folder):
    path = folder / "trace"
    if not path.exists():
        return []
    return path.read_text().split()


def names_of(results):
    return [result["name"] for result in results]


def test_warnings_are_kept_with_the_result_and_do_not_stop_it():
    [result] = run_cells([Cell("w", {}, warn_twice)])
    assert result["done"]
    assert result["warnings"] == [
        "UserWarning: mind the gap",
        "DeprecationWarning: deprecated",
    ]


def test_a_result_says_how_long_it_took():
    [result] = run_cells([Cell("d", {}, dict)])
    assert result == {"warnings": [], "seconds": result["seconds"]}
    assert result["seconds"] >= 0


def test_results_come_in_order_and_finished_cells_are_not_done_again(tmp_path):
    cells = cells_of(tmp_path, ["a", "b", "c"])
    first = run_cells(cells, tmp_path / "cells")
    assert names_of(first) == ["a", "b", "c"]
    assert run_cells(cells, tmp_path / "cells") == first
    assert sorted(traces(tmp_path)) == ["a", "b", "c"]


def test_the_order_of_cells_does_not_matter_to_what_is_stored(tmp_path):
    run_cells(cells_of(tmp_path, ["a", "b"]), tmp_path / "cells")
    results = run_cells(cells_of(tmp_path, ["b", "c", "a"]), tmp_path / "cells")
    assert names_of(results) == ["b", "c", "a"]
    assert traces(tmp_path) == ["a", "b", "c"]


def test_parallel_work_gives_the_same(tmp_path):
    cells = cells_of(tmp_path, ["a", "b", "c", "d"])
    results = run_cells(cells, tmp_path / "cells", n_jobs=2)
    assert names_of(results) == ["a", "b", "c", "d"]
    assert len(list((tmp_path / "cells").glob("*.json"))) == 4


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    cells = cells_of(tmp_path, ["a", "b", "c"])

    def stop(name, done, total):
        if name == "b":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cells(cells, tmp_path / "cells", on_step=stop)
    assert traces(tmp_path) == ["a", "b"]
    results = run_cells(cells, tmp_path / "cells")
    assert names_of(results) == ["a", "b", "c"]
    assert traces(tmp_path) == ["a", "b", "c"]
    assert not list((tmp_path / "cells").glob("*.part"))


def test_a_cell_that_fails_gives_its_error_and_the_others_go_on(tmp_path):
    results = run_cells(cells_of(tmp_path, ["a", "bad", "c"]), tmp_path / "cells")
    assert results[1]["error"] == "ValueError: division by zero cells"
    assert results[2]["name"] == "c"


def test_a_cell_that_failed_is_tried_again(tmp_path):
    cells = cells_of(tmp_path, ["a", "bad", "c"])
    run_cells(cells, tmp_path / "cells")
    assert len(list((tmp_path / "cells").iterdir())) == 2
    run_cells(cells, tmp_path / "cells")
    assert traces(tmp_path) == ["a", "bad", "c", "bad"]


@pytest.mark.parametrize("key", [{"name": "a", "seed": 1}, {"name": "A"}, {}])
def test_a_cell_with_another_key_is_not_reused(tmp_path, key):
    run_cells(cells_of(tmp_path, ["a"]), tmp_path / "cells")
    work = partial(leave_trace, str(tmp_path), "a")
    run_cells([Cell("a", key, work)], tmp_path / "cells")
    assert traces(tmp_path) == ["a", "a"]


def test_a_cell_of_another_version_is_not_reused(tmp_path, monkeypatch):
    run_cells(cells_of(tmp_path, ["a"]), tmp_path / "cells")
    monkeypatch.setattr(_cells, "__version__", "another")
    run_cells(cells_of(tmp_path, ["a"]), tmp_path / "cells")
    assert traces(tmp_path) == ["a", "a"]


def test_the_name_of_a_cell_is_no_part_of_its_key(tmp_path):
    first = Cell("one name", {"seed": 1}, dict)
    second = Cell("another name", {"seed": 1}, dict)
    assert first.full_key() == second.full_key()
    assert first.path(tmp_path) == second.path(tmp_path)


keys = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5))


@given(keys, keys)
def test_two_cells_share_a_file_if_and_only_if_they_share_the_key(one, other):
    first = Cell("a", one, dict).path(Path("folder"))
    second = Cell("a", other, dict).path(Path("folder"))
    # A key called "cape" is replaced by the version.
    one = {**one, "cape": ""}
    other = {**other, "cape": ""}
    assert (first == second) == (one == other)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "3", json.dumps({"key": "else", "result": {}}), "{}"],
)
def test_a_damaged_cell_is_done_again(tmp_path, content):
    cells = cells_of(tmp_path, ["a"])
    run_cells(cells, tmp_path / "cells")
    [stored] = (tmp_path / "cells").iterdir()
    stored.write_text(content)
    [result] = run_cells(cells, tmp_path / "cells")
    assert result["name"] == "a"
    assert traces(tmp_path) == ["a", "a"]
    assert json.loads(stored.read_text())["result"] == result


def test_progress_counts_what_was_there_already(tmp_path):
    run_cells(cells_of(tmp_path, ["a", "b"]), tmp_path / "cells")
    steps = []

    def note_step(*step):
        steps.append(step)

    cells = cells_of(tmp_path, ["a", "b", "c"])
    run_cells(cells, tmp_path / "cells", on_step=note_step)
    assert steps == [("", 2, 3), ("c", 3, 3)]


def test_a_digest_is_that_of_a_copy_and_does_not_look_at_the_index():
    table = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    assert digest(table) == digest(table.copy())
    assert digest(table) == digest(table.set_axis([7, 8], axis=0))


def test_a_digest_sees_values_names_and_order():
    table = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    changed = [
        table.rename(columns={"a": "c"}),
        table[["b", "a"]],
        table.assign(a=[1, 3]),
        table.iloc[::-1],
    ]
    digests = {digest(table), *map(digest, changed)}
    assert len(digests) == 5


def test_a_digest_of_several_tables_sees_their_order():
    one = pd.Series([1, 2])
    two = pd.Series([3, 4])
    assert digest(one, two) != digest(two, one)
    assert digest(one, two) != digest(one)


def test_a_cell_that_fails_in_another_process_gives_its_error_too(tmp_path):
    cells = cells_of(tmp_path, ["a", "bad", "c"])
    results = run_cells(cells, n_jobs=2)
    assert results[1]["error"] == "ValueError: division by zero cells"
    assert results[0]["name"] == "a"
    assert results[2]["name"] == "c"
    assert sorted(traces(tmp_path)) == ["a", "bad", "c"]
