"""``python -m cape_paper`` from the outside."""

import json
import re
import sys
from functools import partial

import pandas as pd
import pytest

from cape_paper import _commands, compare_methods, run_synthetic, table_problem

SMALL = (
    *("reproduce", "synthetic", "--rows", "300", "--test-rows", "100"),
    *("--repetitions", "1", "--jobs", "1"),
)
METHODS = ["CAPE default", "Max_Acc", "AD"]
COLUMNS = ("--label", "y", "--group", "race")


@pytest.fixture
def run(capsys):
    """Run a command; gives the exit code, what it printed, and its errors."""

    def call(*arguments):
        code = _commands.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture(scope="module")
def synthetic_run(tmp_path_factory):
    """One repetition at four pairs of prevalences, where the command has 81."""
    folder = tmp_path_factory.mktemp("synthetic")
    few = partial(run_synthetic, prevalences=(0.1, 0.5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_commands, "run_synthetic", few)
        assert _commands.main([*SMALL, "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def tables(people_folder):
    return people_folder / "train.csv", people_folder / "new.csv"


def test_a_missing_package_is_named_before_the_work(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tabulate", None)
    code, _, err = run(*SMALL, "--out", tmp_path)
    assert code == 2 and "cape-fair[paper]" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_synthetic_writes_numbers_a_page_and_pictures(synthetic_run):
    files = {path.name for path in synthetic_run.iterdir()}
    assert {"results.json", "results.md", "cells"} <= files
    assert {"synthetic-figure.png", "synthetic-pairs.html"} <= files
    results = json.loads((synthetic_run / "results.json").read_text())
    assert len(results["pairs"]) == 4
    assert (results["n_train"], results["n_test"]) == (300, 100)


@pytest.mark.slow
def test_a_page_of_runs_has_their_pictures_beside_it(synthetic_run, run, tmp_path):
    page = tmp_path / "docs" / "results.md"
    assert run("page", synthetic_run, "--out", page) == (0, "", "")
    assert page.read_text().count("0.1 0.1") >= 1
    assert (page.parent / "images" / f"{synthetic_run.name}-figure.png").exists()


def test_compare_has_the_numbers_of_the_python_function(run, tables, tmp_path):
    methods = []
    for name in METHODS:
        methods += ["--method", name]
    code, shown, _ = run(
        *("compare", *tables, *COLUMNS, "--positive", 0, "--learner", "logistic"),
        *("--seeds", 1, "--jobs", 1, "--drop", "free", *methods, "--out", tmp_path),
    )
    assert code == 0
    train, new = (pd.read_csv(path).drop(columns="free") for path in tables)
    problem = table_problem(train, new, label="y", group=["race"], positive=0)
    expected = compare_methods(problem, methods=METHODS, seeds=1, learner="logistic")
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["groups"] == ["blue", "green"]
    for row, of_python in zip(results["rows"], expected["rows"], strict=True):
        assert row.get("mean") == of_python.get("mean")
    for place, group in enumerate(results["groups"]):
        value = f"{expected['rows'][0]['mean'][f'pd_{place}']:.3f}".removeprefix("0")
        assert re.search(rf"{group}\b.*{re.escape(value)}", shown)
    # Tables fit a terminal of 80 columns.
    rules = [line for line in shown.splitlines() if line.startswith("---")]
    assert max(map(len, rules)) <= 80
    assert "own-methods.png" in shown


def test_compare_reads_other_dialects_and_groups_as_text(run, tables, tmp_path):
    """The numbers of one table are the text of the other, and nobody needs the id."""
    paths = []
    for path, races in zip(tables, ([1, 2], ["1", "unknown"]), strict=True):
        table = pd.read_csv(path)[["age", "race", "y"]].rename(columns={"age": "größe"})
        table["race"] = table["race"].map(
            dict(zip(["blue", "green"], races, strict=True))
        )
        paths.append(tmp_path / path.name)
        table.to_csv(paths[-1], sep=";", decimal=",", encoding="latin-1", index=False)
    dialect = ("--separator", ";", "--encoding", "latin-1", "--decimal", ",")
    code, _, err = run("compare", *paths, *COLUMNS, *dialect)
    assert code == 2
    assert "got ['unknown']" in err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--label", "why", "--group", "race"), "columns ['why']"),
        (("--label", "y", "--group", "rase"), "no column 'rase'"),
        (("--label", "y"), "'--group'"),
        ((*COLUMNS, "--positive", "2"), "positive must be one of"),
        ((*COLUMNS, "--seeds", 0), "'--seeds'"),
        ((*COLUMNS, "--drop", "nothing"), "no column 'nothing'"),
        ((*COLUMNS, "--method", "Nope"), "got 'Nope'"),
        ((*COLUMNS, "--favourable", "Nope"), "got 'Nope'"),
        ((*COLUMNS, "--learner", "Nope"), "got 'Nope'"),
        (("compare", "none.csv", "none.csv", *COLUMNS), "there is no file none.csv"),
        (("reproduce", "compas", "--features", "all"), "'narrow', 'wide'"),
        (("reproduce", "meps", "--features", "wide"), "--features"),
        (("reproduce", "shifts", "--case", "adult"), "got 'adult'"),
        (("reproduce", "logged", "--nannyml", "no/python"), "no file no/python"),
        (("reproduce", "synthetic", "--rows", 5), "100"),
    ],
)
def test_mistakes_are_told_in_one_line_before_anything_is_run(
    run, tables, tmp_path, options, says
):
    folder = tmp_path / "o"
    command = ("compare", *tables, *options) if options[0] == "--label" else options
    code, out, err = run(*command, "--out", folder)
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1
    assert says in err
    assert not folder.exists()


def test_the_help_names_the_experiments(run):
    code, shown, _ = run("reproduce", "--help")
    assert code == 0
    for name in ("synthetic", "compas", "meps", "shifts", "logged", "quantifiers"):
        assert name in shown
