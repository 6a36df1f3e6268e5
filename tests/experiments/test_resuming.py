"""Runs that stop and go on: which cells are taken, which are done again, and that the numbers are the same."""

import json
import sys
from functools import partial
from pathlib import Path

import pytest

from cape.experiments import compare_methods, run_synthetic
from cape.experiments._cells import Cell, run_cells

sys.path.insert(0, str(Path(__file__).parent))
from conftest import small_problem

OPTIONS = {"methods": ["Max_Acc", "Always positive"], "seeds": 2, "learner": "logistic"}
FACTS = ("date", "wall_seconds", "cell_seconds", "load")


def numbers(results):
    """All of a run but when it was made and how long it took."""
    kept = {name: value for name, value in results.items() if name not in FACTS}
    return json.loads(
        json.dumps(kept),
        object_hook=lambda found: {k: v for k, v in found.items() if k != "seconds"},
    )


class Stopped(Exception):
    """The power has gone."""


def stop_after(n):
    def on_step(name, done, total):
        if done == n:
            raise Stopped

    return on_step


def taken(work, **options):
    """How many cells a run finds done, and how many it has; it is stopped before it does another."""
    steps = []

    def look(name, done, total):
        steps.append((done, total))
        raise Stopped

    with pytest.raises(Stopped):
        work(**options, on_step=look)
    return steps[0]


def test_a_comparison_that_was_stopped_ends_with_the_numbers_of_one_that_was_not(
    tmp_path,
):
    n = 3
    whole = compare_methods(small_problem(), **OPTIONS)
    with pytest.raises(Stopped):
        compare_methods(
            small_problem(), **OPTIONS, folder=tmp_path, on_step=stop_after(n)
        )
    assert len(list(tmp_path.glob("*.json"))) == n
    steps = []
    again = compare_methods(
        small_problem(),
        **OPTIONS,
        folder=tmp_path,
        on_step=lambda *s: steps.append(s[1:]),
    )
    assert steps == [(done, 4) for done in range(n, 5)]
    assert numbers(again) == numbers(whole)


def test_more_seeds_keep_those_that_were_done_and_other_learners_do_not(tmp_path):
    few = {"methods": ["Max_Acc"], "folder": tmp_path}
    compare_methods(small_problem(), **few, seeds=1, learner="logistic")
    look = partial(taken, partial(compare_methods, small_problem()), **few)
    assert look(seeds=1, learner="logistic") == (2, 2)
    assert look(seeds=3, learner="logistic") == (2, 4)
    half = small_problem().X_test / 2
    assert taken(
        partial(compare_methods, small_problem(X_test=half)),
        **few,
        seeds=1,
        learner="logistic",
    ) == (0, 2)


def test_repetitions_of_the_synthetic_experiment_go_on_and_other_settings_begin_anew(
    tmp_path,
):
    small = {
        "n_train": 300,
        "n_test": 200,
        "prevalences": (0.5,),
        "folder": tmp_path,
        "repetitions": 1,
    }
    run_synthetic(**small)
    assert taken(run_synthetic, **small) == (1, 1)
    assert taken(run_synthetic, **{**small, "repetitions": 3}) == (1, 3)
    for change in ({"n_test": 150}, {"n_train": 400}, {"prevalences": (0.4,)}):
        assert taken(run_synthetic, **{**small, **change}) == (0, 1)


def value(x):
    return {"x": x}


def test_a_stored_cell_holds_its_key_and_its_result_as_json(tmp_path):
    cells = [
        Cell(f"c{x}", {"x": x, "nested": {"b": [1], "a": None}}, partial(value, x))
        for x in range(3)
    ]
    found = run_cells(cells, tmp_path / "new" / "folder")
    stored = [
        json.loads(path.read_text()) for path in (tmp_path / "new" / "folder").iterdir()
    ]
    assert sorted(entry["name"] for entry in stored) == ["c0", "c1", "c2"]
    for entry in stored:
        assert (
            json.loads(entry["key"])["x"]
            == entry["result"]["x"]
            == found[entry["result"]["x"]]["x"]
        )
        assert "cape" in json.loads(entry["key"])


def test_the_order_of_a_key_does_not_matter_and_its_values_do(tmp_path):
    run_cells([Cell("a", {"p": 1, "q": 2}, partial(value, "first"))], tmp_path)
    same = run_cells([Cell("b", {"q": 2, "p": 1}, partial(value, "second"))], tmp_path)
    other = run_cells([Cell("a", {"p": 2, "q": 1}, partial(value, "third"))], tmp_path)
    assert (same[0]["x"], other[0]["x"]) == ("first", "third")


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [run_cells([Cell("a", {}, partial(value, x))])[0]["x"] for x in (1, 2)] == [
        1,
        2,
    ]
    assert list(tmp_path.iterdir()) == []
    assert run_cells([]) == []
