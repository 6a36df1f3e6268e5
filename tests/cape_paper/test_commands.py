"""``python -m cape_paper`` from the outside."""

import json

import pytest

from cape_paper.__main__ import main

SMALL = (
    *("reproduce", "synthetic", "--rows", "300", "--test-rows", "100"),
    *("--seeds", "1", "--jobs", "1"),
)


@pytest.fixture
def run(capsys):
    """Run a command; gives the exit code, what it printed, and its errors."""

    def call(*arguments):
        code = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as exit:
            code = exit.code
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.mark.slow
def test_a_run_and_its_page_are_written(run, tmp_path):
    folder = tmp_path / "run"
    assert run(*SMALL, "--out", folder)[0] == 0
    files = {path.name for path in folder.iterdir()}
    assert files == {"results.json", "results.md", "cells"}
    results = json.loads((folder / "results.json").read_text())
    assert len(results["rows"]) == 81 * 3
    assert results["settings"]["training rows"] == 300
    page = tmp_path / "docs" / "results.md"
    assert run("page", folder, "--out", page)[0] == 0
    assert page.read_text().count("0.1 0.1") >= 1
    index = tmp_path / "docs" / "index.md"
    assert run("index", page, "--out", index)[0] == 0
    assert "[Synthetic data](results.md)" in index.read_text()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("reproduce", "adult"), "'adult'"),
        (("reproduce", "compas", "--seeds", 0), "--seeds: at least 1"),
        (("reproduce", "compas", "--methods", "Nope"), "'Nope'"),
        (("reproduce", "compas", "--favourable", "Nope"), "'Nope'"),
        (("reproduce", "meps", "--features", "wide"), "--features"),
        (("reproduce", "shifts", "--cases", "adult"), "'adult'"),
        (("reproduce", "logged", "--nannyml", "no/python"), "no file no/python"),
        (("page", "nowhere"), "has no results.json"),
    ],
)
def test_mistakes_are_told_before_anything_is_run(run, tmp_path, options, says):
    folder = tmp_path / "o"
    code, out, err = run(*options, "--out", folder)
    assert (code, out) == (2, "")
    assert says in err.splitlines()[-1]
    assert not folder.exists()
