"""``cape reproduce`` and ``cape compare`` from the outside."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from cape.cli import app
from cape.datasets import _compas
from cape.datasets._files import data_folder

needs_compas = pytest.mark.skipif(
    not (data_folder() / _compas.FILE.path).exists(),
    reason="COMPAS is not here: set CAPE_DATA, or fetch it once",
)


def run(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_synthetic_prints_tables_writes_files_and_does_not_start_again(
    tmp_path, monkeypatch
):
    arguments = (
        "reproduce",
        "synthetic",
        "--repetitions",
        1,
        "--rows",
        600,
        "--test-rows",
        200,
        "--jobs",
        1,
    )
    shown = run(*arguments, "--out", tmp_path)
    assert "Table 1" in shown and "Theorem 3 at work" in shown and "print" in shown
    files = {path.name for path in tmp_path.iterdir()}
    assert {
        "results.json",
        "results.md",
        "synthetic-figure.png",
        "synthetic-pairs.html",
    } <= files
    results = json.loads((tmp_path / "results.json").read_text())
    assert len(results["pairs"]) == 81
    monkeypatch.setattr(
        "cape.experiments._synthetic._repetition",
        lambda *given: pytest.fail("done again"),
    )
    run(*arguments, "--out", tmp_path)

    page = tmp_path / "docs" / "results.md"
    run("reproduce", "page", tmp_path, "--out", page)
    assert page.read_text().count("| 0.1 0.1 |") == 3


def own_table(n, seed):
    """Text, dates, missing values; three groups, labels that are words."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"age": rng.normal(40, 10, n), "race": rng.choice(["x", "y", "z"], n)}
    )
    table["job"] = rng.choice(["nurse", "teacher", None], n)
    table["note"] = [f"seen {rng.integers(100)} times" for _ in range(n)]
    table["when"] = [f"2020-{1 + i % 12:02d}-15" for i in range(n)]
    table["outcome"] = np.where(
        table["age"] + rng.normal(0, 8, n) > 40, "repaid", "default"
    )
    table.loc[::9, "age"] = np.nan
    return table


@pytest.fixture
def own(tmp_path):
    for name, seed in (("train", 0), ("test", 1)):
        own_table(300, seed).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def test_compare_on_tables_never_seen_before(own, monkeypatch):
    monkeypatch.setattr("sys.argv", ["cape", "compare", "train.csv", "a b.csv"])
    shown = run(
        *(
            "compare",
            own / "train.csv",
            own / "test.csv",
            "--label",
            "outcome",
            "--group",
            "race",
        ),
        *("--learner", "logistic", "--seeds", 1, "--jobs", 1, "--out", own / "out"),
        *(
            "--method",
            "CAPE threshold",
            "--method",
            "Max_Acc",
            "--method",
            "CEOP-fpr",
            "--method",
            "AD",
        ),
    )
    assert "CAPE threshold" in shown and "Max_Acc" in shown
    results = json.loads((own / "out" / "results.json").read_text())
    assert results["groups"] == ["x", "y", "z"]
    assert [row["status"] for row in results["rows"][:3]] == ["ok"] * 3
    assert results["rows"][1]["mean"]["accuracy_0"] > 0.6
    assert (own / "out" / "own-methods.png").exists()
    assert results["command"] == "cape compare train.csv 'a b.csv'"


@needs_compas
def test_compas_on_few_seeds(tmp_path):
    shown = run(
        *(
            "reproduce",
            "compas",
            "--seeds",
            1,
            "--jobs",
            1,
            "--out",
            tmp_path,
            "--learner",
            "logistic",
        ),
        *(
            "--method",
            "CAPE threshold",
            "--method",
            "Max_Acc",
            "--method",
            "Always positive",
        ),
    )
    assert "African-American" in shown
    results = json.loads((tmp_path / "results.json").read_text())
    always = next(row for row in results["rows"] if row["method"] == "Always positive")[
        "mean"
    ]
    assert [always["pd_0"], always["pd_1"]] == pytest.approx(
        [0.364, 0.294], abs=0.002
    )  # the paper's sanity row
    threshold, max_acc = (
        next(row for row in results["rows"] if row["method"] == name)["mean"]
        for name in ("CAPE threshold", "Max_Acc")
    )
    assert threshold["pd_0"] < max_acc["pd_0"] and threshold["pe_01"] < max_acc["pe_01"]


def test_a_run_that_was_killed_goes_on(tmp_path):
    """The real command, killed after its first cells, started again: those cells stay as they were."""
    code = "from cape.cli import main; main()"
    arguments = [
        "reproduce",
        "synthetic",
        "--repetitions",
        "6",
        "--rows",
        "600",
        "--test-rows",
        "200",
        "--jobs",
        "1",
    ]
    command = [sys.executable, "-c", code, *arguments, "--out", str(tmp_path)]
    cells = tmp_path / "cells"
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while (
            not (cells.is_dir() and len(list(cells.glob("*.json"))) >= 2)
            and process.poll() is None
        ):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    finished = {path.name: path.stat().st_mtime_ns for path in cells.glob("*.json")}
    assert 2 <= len(finished) < 6 and not (tmp_path / "results.json").exists()
    subprocess.run(command, check=True, capture_output=True)
    assert {name: (cells / name).stat().st_mtime_ns for name in finished} == finished
    assert len(list(cells.glob("*.json"))) == 6
    assert json.loads((tmp_path / "results.json").read_text())["repetitions"] == 6
