"""``python -m cape_paper`` from the outside."""

import json
import sys
from functools import partial

import pytest

from cape_paper import _commands, run_synthetic

SMALL = (
    *("reproduce", "synthetic", "--rows", "300", "--test-rows", "100"),
    *("--seeds", "1", "--jobs", "1"),
)


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


def test_a_missing_package_is_named_before_the_work(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tabulate", None)
    code, _, err = run(*SMALL, "--out", tmp_path)
    assert code == 2 and "cape-fair[paper]" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_synthetic_writes_numbers_and_a_page(synthetic_run):
    files = {path.name for path in synthetic_run.iterdir()}
    assert {"results.json", "results.md", "cells"} <= files
    results = json.loads((synthetic_run / "results.json").read_text())
    assert len(results["pairs"]) == 4
    assert (results["n_train"], results["n_test"]) == (300, 100)


@pytest.mark.slow
def test_a_page_of_runs_is_made_of_their_numbers(synthetic_run, run, tmp_path):
    page = tmp_path / "docs" / "results.md"
    assert run("page", synthetic_run, "--out", page) == (0, "", "")
    assert page.read_text().count("0.1 0.1") >= 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("reproduce", "adult"), "got 'adult'"),
        (("reproduce", "compas", "--seeds", 0), "'--seeds'"),
        (("reproduce", "compas", "--method", "Nope"), "got 'Nope'"),
        (("reproduce", "compas", "--favourable", "Nope"), "got 'Nope'"),
        (("reproduce", "compas", "--learner", "Nope"), "got 'Nope'"),
        (("reproduce", "compas", "--features", "all"), "'narrow', 'wide'"),
        (("reproduce", "meps", "--features", "wide"), "--features"),
        (("reproduce", "shifts", "--case", "adult"), "got 'adult'"),
        (("reproduce", "logged", "--nannyml", "no/python"), "no file no/python"),
        (("reproduce", "synthetic", "--rows", 5), "100"),
    ],
)
def test_mistakes_are_told_in_one_line_before_anything_is_run(
    run, tmp_path, options, says
):
    folder = tmp_path / "o"
    code, out, err = run(*options, "--out", folder)
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1
    assert says in err
    assert not folder.exists()


def test_the_help_names_the_experiments(run):
    code, shown, _ = run("reproduce", "--help")
    assert code == 0
    for name in ("synthetic", "compas", "meps", "shifts", "logged", "quantifiers"):
        assert name in shown
