"""``cape demo``, as a newcomer runs it."""

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from cape.cli import _demo
from cape.cli._demo import _demo_table

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


@pytest.fixture
def small_demo(monkeypatch):
    small = functools.partial(_demo.run_demo, n_train=1000, n_test=600)
    monkeypatch.setattr(_demo, "run_demo", small)
    return small


def test_the_demo_prints_the_numbers_of_its_seed(cape, tmp_path, small_demo):
    folder = tmp_path / "new" / "pictures"
    code, out, err = cape("demo", "--seed", 7, "--out", folder)
    assert code == 0
    assert err == ""
    assert [path.name for path in folder.iterdir()] == ["cape-demo.png"]
    shown = numbers_of(out)
    for name, row in small_demo(random_state=7).iterrows():
        expected = []
        for metric in ("accuracy", "predicted_prevalence", "pd"):
            expected += [row[metric, 0], row[metric, 1]]
        expected.append(row["pe", "worst pair"])
        assert shown[name] == pytest.approx(expected, abs=0.0005001)


def test_the_fairest_values_are_green_and_others_are_not():
    columns = [
        ("accuracy", 0),
        ("accuracy", 1),
        ("predicted_prevalence", 0),
        ("predicted_prevalence", 1),
        ("pd", 0),
        ("pd", 1),
        ("pe", "worst pair"),
    ]
    table = pd.DataFrame(
        [[0.9, 0.8, 0.2, 0.7, 0.10, 0.01, 0.5], [0.8, 0.9, 0.3, 0.6, 0.05, 0.02, 0.5]],
        index=["Max_Acc", "CAPE"],
        columns=pd.MultiIndex.from_tuples(columns),
    )
    shown = _demo_table(table)
    names, *cells = [list(column.cells) for column in shown.columns]
    assert names == ["[bold]Max_Acc[/]", "[bold]CAPE[/]"]
    assert cells[0] == ["0.900", "0.800"]
    assert cells[2] == ["0.200", "0.300"]
    assert cells[4] == ["0.100", "[green]0.050[/]"]
    assert cells[5] == ["[green]0.010[/]", "0.020"]
    # Both are the least.
    assert cells[6] == ["[green]0.500[/]", "[green]0.500[/]"]


PD_AND_PE = [("pd", 0), ("pd", 1), ("pe", "worst pair")]


@pytest.fixture(scope="module")
def table():
    return _demo.run_demo(n_train=3000, n_test=3000, random_state=1)


@pytest.mark.parametrize("column", PD_AND_PE)
@pytest.mark.parametrize("name", ["CAPE, paper", "CAPE"])
def test_cape_is_fairer_than_max_acc_where_both_groups_move(table, column, name):
    assert table.loc[name, column] < table.loc["Max_Acc", column]


def test_fairness_does_not_cost_accuracy(table):
    assert (table["accuracy", 0] > 0.85).all()


def test_steps_are_told_in_the_order_of_the_table():
    steps = []
    table = _demo.run_demo(n_train=1000, n_test=500, on_step=steps.append)
    assert steps == table.index.tolist() == list(NAMES)


def test_the_batch_has_the_prevalences_that_were_asked_for():
    table = _demo.run_demo(prevalences=(0.1, 0.6), n_train=1000, n_test=500)
    assert table["prevalence", 0].tolist() == pytest.approx([0.1] * 3)
    assert table["prevalence", 1].tolist() == pytest.approx([0.6] * 3)


def test_the_same_seed_gives_the_same_table_and_another_does_not():
    options = {"n_train": 1000, "n_test": 500}
    first = _demo.run_demo(**options, random_state=3)
    pd.testing.assert_frame_equal(first, _demo.run_demo(**options, random_state=3))
    assert not first.equals(_demo.run_demo(**options, random_state=4))
