"""What is quick because nothing large is imported, and pipes that close early."""

import json
import os
import subprocess
import sys

import pytest

RUN = """
import json, sys
from cape.cli import _app
code = _app.run(sys.argv[1:])
loaded = {name.partition(".")[0] for name in sys.modules}
print(json.dumps([code, sorted(loaded & {"sklearn", "scipy", "pandas", "pyarrow"})]))
"""


def run(folder, *arguments):
    """Run a command in a process of its own; give its code, and what it imported."""
    call = [sys.executable, "-c", RUN, *arguments]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True)
    code, loaded = json.loads(done.stdout.splitlines()[-1])
    return code, loaded, done.stderr


@pytest.mark.parametrize(
    "call",
    [
        "train train.csv --label y --out taken.csv",
        "train train.csv --label y --out train.csv --force",
        "train train.csv --label y --out nowhere/m.cape",
        "predict m.cape new.csv --out taken.csv",
        "predict m.cape new.csv --out new.csv --force",
        "predict m.cape new.csv --report page.pdf",
        "predict m.cape new.csv --report taken.html",
        "sample m.cape new.csv --out taken.csv",
        "monitor m.cape new.csv --report taken.html",
        "audit new.csv --label y --prediction y --report taken.html",
        "explore m.cape --out taken.html",
    ],
)
def test_errors_about_the_output_come_before_imports(tmp_path, call):
    for name in ("train.csv", "new.csv", "m.cape", "taken.csv", "taken.html"):
        (tmp_path / name).write_text("x\n")
    code, loaded, err = run(tmp_path, *call.split())
    assert code == 2
    assert err.startswith("error: ")
    assert loaded == []


def test_a_model_is_described_without_scikit_learn(people_folder):
    code, loaded, _ = run(people_folder, "info", "m.cape")
    assert code == 0
    assert not {"sklearn", "scipy"} & set(loaded)


@pytest.mark.parametrize("arguments", [["--help"], ["info", "--help"]])
def test_a_reader_that_leaves_is_no_error(arguments):
    read, write = os.pipe()
    os.close(read)
    call = [sys.executable, "-m", "cape", *arguments]
    try:
        done = subprocess.run(call, stdout=write, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_nor_where_a_result_is_printed(people_folder, options):
    read, write = os.pipe()
    os.close(read)
    call = [sys.executable, "-m", "cape", "info", "m.cape", *options]
    try:
        done = subprocess.run(
            call, stdout=write, stderr=subprocess.PIPE, text=True, cwd=people_folder
        )
    finally:
        os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""
