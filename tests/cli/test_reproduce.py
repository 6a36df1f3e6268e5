"""``cape reproduce`` from the outside."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cape.cli import _reproduce, app
from cape.cli._results import CORES
from cape.datasets import _compas
from cape.datasets._files import data_folder
from cape.experiments import _shifts

needs_compas = pytest.mark.skipif(
    not (data_folder() / _compas.FILE.path).exists(),
    reason="COMPAS is not here: set CAPE_DATA, or fetch it once",
)
SMALL = (
    *("reproduce", "synthetic", "--rows", "600", "--test-rows", "200"),
    *("--jobs", "1"),
)


def run(*arguments):
    words = [str(argument) for argument in arguments]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def synthetic_run(tmp_path_factory):
    """One repetition of the synthetic experiment: its folder, and what it printed."""
    folder = tmp_path_factory.mktemp("synthetic")
    return folder, run(*SMALL, "--repetitions", 1, "--out", folder)


def test_methods_beside_those_of_the_paper_are_handed_on(monkeypatch, tmp_path):
    handed_on = []

    def record(run, out, *, jobs):
        handed_on.append(run.keywords["also"])

    monkeypatch.setattr("cape.cli._reproduce.run_and_show", record)
    wanted = ["CAPE accuracy", "CAPE four-fifths"]
    run(*SMALL, "--out", tmp_path)
    run(*SMALL, "--out", tmp_path, "--also", wanted[0], "--also", wanted[1])
    assert [list(names) for names in handed_on] == [[], wanted]


def test_synthetic_prints_its_tables(synthetic_run):
    _, shown = synthetic_run
    assert "Table 1" in shown
    assert "Theorem 3 at work" in shown
    assert "print" in shown


def test_synthetic_writes_numbers_a_page_and_pictures(synthetic_run):
    folder, _ = synthetic_run
    files = {path.name for path in folder.iterdir()}
    assert {"results.json", "results.md", "cells"} <= files
    assert {"synthetic-figure.png", "synthetic-pairs.html"} <= files
    results = json.loads((folder / "results.json").read_text())
    assert len(results["pairs"]) == 81
    assert results["n_train"] == 600
    assert results["n_test"] == 200


def test_synthetic_does_not_start_again(synthetic_run, monkeypatch):
    folder, _ = synthetic_run

    def fail(*given):
        pytest.fail("done again")

    monkeypatch.setattr("cape.experiments._synthetic._repetition", fail)
    run(*SMALL, "--repetitions", 1, "--out", folder)


def test_a_page_is_made_of_a_finished_run(synthetic_run, tmp_path):
    folder, _ = synthetic_run
    page = tmp_path / "docs" / "results.md"
    run("reproduce", "page", folder, "--out", page)
    assert page.read_text().count("| 0.1 0.1 |") == 3
    assert (page.parent / "images" / f"{folder.name}-figure.png").exists()


class Recorder:
    """Stands in for `run_and_show`, and keeps what it was given."""

    def __call__(self, run, out, *, jobs):
        self.function = run.func.__name__
        self.problem = run.args
        self.options = run.keywords
        self.out = out
        self.jobs = jobs


@pytest.fixture
def recorder(monkeypatch):
    """Replace the data and the run, so that only options are looked at."""
    recorder = Recorder()
    monkeypatch.setattr(_reproduce, "run_and_show", recorder)
    for name in ("compas", "meps"):

        def load(data_home, name=name, **options):
            recorder.problem_options = options
            return name, data_home

        monkeypatch.setattr(f"cape.experiments.{name}_problem", load)
    return recorder


@pytest.mark.parametrize(
    ("name", "seeds", "slow_seeds"), [("compas", 20, 5), ("meps", 5, 1)]
)
def test_defaults_of_the_real_data(recorder, name, seeds, slow_seeds):
    run("reproduce", name)
    assert recorder.function == "compare_methods"
    assert recorder.problem == ((name, None),)
    assert recorder.options == {
        "seeds": seeds,
        "slow_seeds": slow_seeds,
        "favourable": "positive",
        "methods": None,
        "learner": "boosting",
    }
    assert recorder.out == Path("results") / name
    assert recorder.jobs == CORES


@pytest.mark.parametrize("name", ["compas", "meps"])
def test_options_of_the_real_data_reach_the_comparison(recorder, name):
    run(
        *("reproduce", name, "--seeds", 3, "--slow-seeds", 2, "--jobs", 7),
        *("--favourable", "negative", "--learner", "logistic"),
        *("--method", "CAPE-D", "--method", "AD", "--data", "here", "--out", "there"),
    )
    assert recorder.problem == ((name, Path("here")),)
    assert recorder.options == {
        "seeds": 3,
        "slow_seeds": 2,
        "favourable": "negative",
        "methods": ["CAPE-D", "AD"],
        "learner": "logistic",
    }
    assert recorder.out == Path("there")
    assert recorder.jobs == 7


@pytest.mark.parametrize(
    ("options", "features"), [((), "narrow"), (("--features", "wide"), "wide")]
)
def test_compas_has_two_sets_of_features(recorder, options, features):
    run("reproduce", "compas", *options)
    assert recorder.problem_options == {"features": features}


def test_meps_has_one_set_of_features(recorder):
    run("reproduce", "meps")
    assert recorder.problem_options == {}
    done = CliRunner().invoke(app, ["reproduce", "meps", "--features", "wide"])
    assert done.exit_code == 2


def test_an_unknown_set_of_features_is_named():
    done = CliRunner().invoke(app, ["reproduce", "compas", "--features", "all"])
    assert isinstance(done.exception, ValueError)
    assert "features must be one of 'narrow', 'wide'" in str(done.exception)


@needs_compas
def test_a_run_with_wide_features_has_a_page_without_verdicts(tmp_path):
    run(
        *("reproduce", "compas", "--features", "wide", "--learner", "logistic"),
        *("--seeds", 1, "--jobs", 1, "--method", "Max_Acc", "--out", tmp_path),
    )
    page = (tmp_path / "results.md").read_text()
    assert page.startswith("## COMPAS, 2013 to 2014, wide features")
    assert "### Against print" not in page
    assert "makes no claim against print" in page
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["verdicts"] == []
    assert results["chosen_by_print"]


def test_defaults_of_the_synthetic_experiment_are_the_papers(recorder):
    run("reproduce", "synthetic")
    assert recorder.function == "run_synthetic"
    assert recorder.options == {
        "repetitions": 20,
        "n_train": 50_000,
        "n_test": 10_000,
        "also": (),
    }


def test_defaults_of_the_real_shifts(recorder):
    run("reproduce", "shifts")
    assert recorder.function == "run_shifts"
    # None is every case that can be read.
    assert recorder.problem == (None,)
    assert recorder.options == {"seeds": 3, "data_home": None}
    assert recorder.out == Path("results") / "shifts"
    assert recorder.jobs == CORES


def test_options_of_the_real_shifts_reach_the_run(recorder):
    run(
        *("reproduce", "shifts", "--case", "bank", "--case", "compas-sex"),
        *("--seeds", 2, "--data", "here", "--out", "there", "--jobs", 1),
    )
    assert recorder.problem == (["bank", "compas-sex"],)
    assert recorder.options == {"seeds": 2, "data_home": Path("here")}
    assert recorder.out == Path("there")
    assert recorder.jobs == 1


def test_a_case_that_does_not_exist_is_refused(refused):
    says = ["--case must be one of 'compas'", "got 'adult'"]
    refused("reproduce", "shifts", "--case", "adult", says=says)


def test_a_case_that_is_named_and_not_there_is_refused(refused, tmp_path):
    says = ["bank-full.csv.gz is not in the folder of data", "Put the file"]
    refused("reproduce", "shifts", "--case", "bank", "--data", tmp_path, says=says)


@pytest.mark.parametrize("name", ["compas", "meps"])
def test_help_names_the_data_and_an_example(name):
    shown = " ".join(run("reproduce", name, "--help").split())
    assert f"Example: cape reproduce {name} --seeds 5" in shown
    assert f"on {name.upper()}, 201" in shown


@pytest.mark.parametrize(
    ("command", "option", "value", "least"),
    [
        ("synthetic", "--rows", 5, 100),
        ("synthetic", "--test-rows", 5, 100),
        ("synthetic", "--repetitions", 0, 1),
        ("compas", "--seeds", 0, 1),
        ("meps", "--slow-seeds", 0, 1),
        ("shifts", "--seeds", 0, 1),
    ],
)
def test_numbers_that_are_too_small_are_refused(refused, command, option, value, least):
    # typer's words for it depend on its version.
    says = [f"'{option}'", str(least)]
    refused("reproduce", command, option, value, says=says)


def test_commands_that_do_not_exist_are_refused(refused):
    says = ["No such command 'paper'", "cape reproduce --help"]
    refused("reproduce", "paper", says=says)


def test_a_page_of_no_folders_is_refused(refused):
    refused("reproduce", "page", says="Missing argument")


@needs_compas
def test_compas_on_one_seed(tmp_path):
    shown = run(
        *("reproduce", "compas", "--seeds", 1, "--jobs", 1, "--learner", "logistic"),
        *("--method", "CAPE default", "--method", "Max_Acc"),
        *("--method", "Always positive", "--out", tmp_path),
    )
    assert "African-American" in shown
    results = json.loads((tmp_path / "results.json").read_text())
    means = {row["method"]: row["mean"] for row in results["rows"]}
    # The paper's sanity row.
    assert means["Always positive"]["pd_0"] == pytest.approx(0.364, abs=0.002)
    assert means["Always positive"]["pd_1"] == pytest.approx(0.294, abs=0.002)
    assert means["CAPE default"]["pd_0"] < means["Max_Acc"]["pd_0"]
    assert means["CAPE default"]["pe_01"] < means["Max_Acc"]["pe_01"]


@needs_compas
def test_shifts_of_compas_on_one_seed(tmp_path, monkeypatch):
    # The paper's configuration takes a hundred trainings.
    default = {"CAPE": _shifts.CONFIGURATIONS["CAPE"]}
    monkeypatch.setattr(_shifts, "CONFIGURATIONS", default)
    shown = run(
        *("reproduce", "shifts", "--case", "compas", "--seeds", 1, "--jobs", 1),
        *("--out", tmp_path),
    )
    assert "African-American" in shown
    results = json.loads((tmp_path / "results.json").read_text())
    for entry in results["shifts"]:
        ours = entry["CAPE"]
        moved = abs(entry["prevalence_train"] - entry["prevalence_test"])
        assert ours["error"] < moved
        assert ours["pd"] < ours["max_acc_pd"]
    assert (tmp_path / "shifts-estimates.png").exists()


def wait_for_cells(folder, n_cells, process):
    """Wait until a run has stored some cells, or has ended."""
    while process.poll() is None:
        if len(list(folder.glob("*.json"))) >= n_cells:
            return
        time.sleep(0.02)


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on(tmp_path):
    """The real command, killed after its first cells: those cells stay as they were."""
    code = "from cape.cli import main; main()"
    options = ("--repetitions", "4", "--out", str(tmp_path))
    command = [sys.executable, "-c", code, *SMALL, *options]
    cells = tmp_path / "cells"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as process:
        wait_for_cells(cells, 2, process)
        process.send_signal(signal.SIGKILL)
    times = {path: path.stat().st_mtime_ns for path in cells.glob("*.json")}
    assert 2 <= len(times) < 4
    assert not (tmp_path / "results.json").exists()
    subprocess.run(command, check=True, capture_output=True)
    for path, time_written in times.items():
        assert path.stat().st_mtime_ns == time_written
    assert len(list(cells.glob("*.json"))) == 4
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["repetitions"] == 4
