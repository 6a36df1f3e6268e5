"""The hash in a report is that of the bytes that were read, whatever came after."""

import hashlib
import os
import subprocess
import sys

import pandas as pd
import pytest

from cape._tables import TableError, iter_table
from cape.cli._app import run
from cape.files import count_file, train_file

ENDINGS = ["csv", "parquet", "arrow"]


def write(frame, path):
    """Write a table in the format of its name."""
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_feather(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def replace_after_reading(monkeypatch, module, path):
    """Let the file be another one as soon as its rows have been read."""
    original = iter_table

    def then_replaced(*arguments, **settings):
        yield from original(*arguments, **settings)
        path.write_bytes(b"something else")

    monkeypatch.setattr(f"cape.files.{module}.iter_table", then_replaced)


@pytest.fixture
def people(people_folder):
    return pd.read_csv(people_folder / "train.csv").head(300)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_model_names_the_bytes_that_it_was_trained_on(
    monkeypatch, tmp_path, people, ending
):
    path = tmp_path / f"train.{ending}"
    digest = write(people, path)
    replace_after_reading(monkeypatch, "_training_table", path)
    settings = {"cv": 2}
    model = train_file(
        path, None, label="y", group=["race"], learner="logistic", settings=settings
    )
    assert model.details["data"]["sha256"] == digest


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_audit_names_the_bytes_that_it_counted(
    monkeypatch, tmp_path, people, ending, capsys
):
    path = tmp_path / f"scored.{ending}"
    digest = write(people.assign(yhat=people["y"]), path)
    replace_after_reading(monkeypatch, "_audit", path)
    code = run(["audit", str(path), "--label", "y", "--prediction", "yhat", "--json"])
    assert code == 0
    assert digest in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, people, ending):
    path = tmp_path / f"t.{ending}"
    write(people, path)
    parts = iter_table(path, 100, hasher=hashlib.sha256())
    next(parts)
    # As most programs replace files: the old one stays open, under no name.
    write(people.head(20), tmp_path / f"other.{ending}")
    (tmp_path / f"other.{ending}").replace(path)
    with pytest.raises(TableError, match="has changed while it was read"):
        list(parts)


def test_a_pipe_is_refused_in_words(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with pytest.raises(TableError, match="a pipe or a device"):
        count_file(pipe, label="y", prediction="yhat")


def test_a_pipe_is_no_model(tmp_path, capsys):
    pipe = tmp_path / "pipe.cape"
    os.mkfifo(pipe)
    assert run(["info", str(pipe)]) == 2
    assert "a pipe or a device" in capsys.readouterr().err


_AUDIT = """
import sys
from cape.cli._app import run
sys.exit(run(["audit", "/dev/stdin", "--label", "y", "--prediction", "y", "--json"]))
"""


def test_standard_input_is_read_from_a_file_and_refused_from_a_pipe(tmp_path):
    content = "y,x\n" + "1,2\n0,3\n" * 20
    path = tmp_path / "t.csv"
    path.write_text(content)
    command = [sys.executable, "-c", _AUDIT]
    with path.open() as redirected:
        done = subprocess.run(command, stdin=redirected, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(command, input=content, capture_output=True, text=True)
    assert done.returncode == 2
    assert "a pipe or a device" in done.stderr
