"""``cape demo``, as a newcomer runs it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cape_app.cli import _demo

NAMES = ("Max_Acc", "CAPE, paper", "CAPE")


def numbers_of(shown):
    """Read the numbers of each classifier from the printed table."""
    numbers = {}
    for line in shown.splitlines():
        values = re.findall(r"\d\.\d{3}", line)
        name = re.split(r"\s{2,}", line.strip())[0]
        if values and name in NAMES:
            numbers[name] = [float(value) for value in values]
    return numbers


@pytest.mark.slow
def test_demo_prints_a_table_and_leaves_a_picture(tmp_path):
    command = shutil.which("cape", path=os.fspath(Path(sys.executable).parent))
    done = subprocess.run(
        [command, "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    numbers = numbers_of(done.stdout)
    assert set(numbers) == set(NAMES)
    # PD of both groups, and PE.
    for ours, max_acc in zip(
        numbers["CAPE"][-3:], numbers["Max_Acc"][-3:], strict=True
    ):
        assert ours < max_acc
    picture = tmp_path / "demo" / "cape-demo.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "picture: demo/cape-demo.png" in done.stdout


def test_the_demo_prints_the_numbers_of_its_seed(cape, tmp_path, monkeypatch):
    found = []

    def small_demo(**settings):
        found.append(run_demo(n_train=3000, n_test=3000, **settings))
        return found[-1]

    run_demo = _demo.run_demo
    monkeypatch.setattr(_demo, "run_demo", small_demo)
    folder = tmp_path / "new" / "pictures"
    code, out, err = cape("demo", "--seed", 7, "--out", folder)
    assert code == 0
    assert err == ""
    assert [path.name for path in folder.iterdir()] == ["cape-demo.png"]
    shown = numbers_of(out)
    (table,) = found
    assert table["prevalence", 0].tolist() == pytest.approx([0.2] * 3)
    assert (table["accuracy", 0] > 0.85).all()
    for column in [("pd", 0), ("pd", 1), ("pe", "worst pair")]:
        assert table[column].idxmax() == "Max_Acc"
    for name, row in table.iterrows():
        expected = []
        for metric in ("accuracy", "predicted_prevalence", "pd"):
            expected += [row[metric, 0], row[metric, 1]]
        expected.append(row["pe", "worst pair"])
        assert shown[name] == pytest.approx(expected, abs=0.0005001)


def test_the_picture_has_a_tick_a_dot_and_the_gap_between_them():
    table = _demo.run_demo(n_train=1000, n_test=500)
    spec = _demo.draw_prevalences(table).to_dict()
    gap, tick, dot = spec["layer"]
    (rows,) = spec["datasets"].values()
    marks = [layer["mark"]["type"] for layer in (gap, tick, dot)]
    assert marks == ["rule", "tick", "circle"]
    assert (gap["encoding"]["x"]["field"], gap["encoding"]["x2"]["field"]) == (
        tick["encoding"]["x"]["field"],
        dot["encoding"]["x"]["field"],
    )
    assert dot["encoding"]["y"]["sort"] == list(table.index)
    for row in rows:
        group = int(row["group"].removeprefix("group "))
        shares = table.loc[row["classifier"]]
        assert row["true prevalence"] == shares["prevalence", group]
        assert row["predicted prevalence"] == shares["predicted_prevalence", group]
