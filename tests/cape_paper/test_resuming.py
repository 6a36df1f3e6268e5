"""Runs that stop and go on: which cells are used again, and that the numbers agree."""

import json
import sys
from functools import partial
from pathlib import Path

import pytest

from cape_paper import compare_methods, run_synthetic
from cape_paper._cells import Cell, run_cells

sys.path.insert(0, str(Path(__file__).parent))
from conftest import small_problem

OPTIONS = {"methods": ["Max_Acc", "Always positive"], "seeds": 2, "learner": "logistic"}
TIMES = ("date", "wall_seconds", "cell_seconds", "load", "seconds")


def without_times(part):
    """Drop from results, at any depth, what differs from run to run."""
    if isinstance(part, dict):
        return {
            name: without_times(value)
            for name, value in part.items()
            if name not in TIMES
        }
    if isinstance(part, list):
        return [without_times(value) for value in part]
    return part


class Stopped(Exception):
    """The power has gone."""


def stop_after(n_cells):
    def on_step(name, done, total):
        if done == n_cells:
            raise Stopped

    return on_step


def stored_and_all(work, **options):
    """Count the stored cells of a run, and all of them; nothing is computed."""
    steps = []

    def stop_at_once(name, done, total):
        steps.append((done, total))
        raise Stopped

    with pytest.raises(Stopped):
        work(**options, on_step=stop_at_once)
    return steps[0]


def test_a_run_that_was_stopped_keeps_its_finished_cells(tmp_path):
    with pytest.raises(Stopped):
        compare_methods(
            small_problem(), **OPTIONS, folder=tmp_path, on_step=stop_after(3)
        )
    assert len(list(tmp_path.glob("*.json"))) == 3


def test_a_run_that_was_stopped_ends_with_the_numbers_of_one_that_was_not(tmp_path):
    whole = compare_methods(small_problem(), **OPTIONS)
    with pytest.raises(Stopped):
        compare_methods(
            small_problem(), **OPTIONS, folder=tmp_path, on_step=stop_after(3)
        )
    steps = []

    def note_step(name, done, total):
        steps.append((done, total))

    again = compare_methods(
        small_problem(), **OPTIONS, folder=tmp_path, on_step=note_step
    )
    assert steps == [(3, 4), (4, 4)]
    assert without_times(again) == without_times(whole)


@pytest.fixture(scope="module")
def one_seed(tmp_path_factory):
    """The folder of a run with one seed of Max_Acc."""
    folder = tmp_path_factory.mktemp("one_seed")
    compare_methods(
        small_problem(), methods=["Max_Acc"], seeds=1, learner="logistic", folder=folder
    )
    return folder


@pytest.mark.parametrize(("seeds", "expected"), [(1, (2, 2)), (3, (2, 4))])
def test_more_seeds_keep_those_that_were_done(one_seed, seeds, expected):
    run = partial(compare_methods, small_problem(), learner="logistic")
    counts = stored_and_all(run, methods=["Max_Acc"], seeds=seeds, folder=one_seed)
    assert counts == expected


def test_other_rows_begin_anew(one_seed):
    other = small_problem(X_test=small_problem().X_test / 2)
    run = partial(compare_methods, other, learner="logistic")
    counts = stored_and_all(run, methods=["Max_Acc"], seeds=1, folder=one_seed)
    assert counts == (0, 2)


def test_another_order_of_groups_begins_anew(one_seed):
    other = small_problem(groups=["two", "one"])
    run = partial(compare_methods, other, learner="logistic")
    counts = stored_and_all(run, methods=["Max_Acc"], seeds=1, folder=one_seed)
    assert counts == (0, 2)


SMALL = {"n_train": 300, "n_test": 200, "prevalences": (0.5,), "repetitions": 1}


@pytest.fixture(scope="module")
def one_repetition(tmp_path_factory):
    """The folder of one repetition of the synthetic experiment."""
    folder = tmp_path_factory.mktemp("one_repetition")
    run_synthetic(**SMALL, folder=folder)
    return folder


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, (1, 1)),
        ({"repetitions": 3}, (1, 3)),
        ({"n_test": 150}, (0, 1)),
        ({"n_train": 400}, (0, 1)),
        ({"prevalences": (0.4,)}, (0, 1)),
    ],
)
def test_repetitions_go_on_and_other_settings_begin_anew(
    one_repetition, change, expected
):
    options = {**SMALL, **change, "folder": one_repetition}
    assert stored_and_all(run_synthetic, **options) == expected


def value(x):
    return {"x": x}


def test_a_stored_cell_holds_its_key_and_its_result_as_json(tmp_path):
    folder = tmp_path / "new" / "folder"
    cells = []
    for x in range(3):
        key = {"x": x, "nested": {"b": [1], "a": None}}
        cells.append(Cell(f"c{x}", key, partial(value, x)))
    results = run_cells(cells, folder)
    stored = [json.loads(path.read_text()) for path in folder.iterdir()]
    assert sorted(entry["name"] for entry in stored) == ["c0", "c1", "c2"]
    for entry in stored:
        key = json.loads(entry["key"])
        assert "cape" in key
        assert key["x"] == entry["result"]["x"]
        assert entry["result"] == results[key["x"]]


def test_the_order_of_a_key_does_not_matter_and_its_values_do(tmp_path):
    run_cells([Cell("a", {"p": 1, "q": 2}, partial(value, "first"))], tmp_path)
    [same] = run_cells([Cell("b", {"q": 2, "p": 1}, partial(value, "2nd"))], tmp_path)
    [other] = run_cells([Cell("a", {"p": 2, "q": 1}, partial(value, "3rd"))], tmp_path)
    assert same["x"] == "first"
    assert other["x"] == "3rd"


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for x in (1, 2):
        [result] = run_cells([Cell("a", {}, partial(value, x))])
        assert result["x"] == x
    assert list(tmp_path.iterdir()) == []


def test_no_cells_have_no_results():
    assert run_cells([]) == []
