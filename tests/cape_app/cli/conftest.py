"""How tests of the command line call it and read what it prints."""

import re

import pandas as pd
import pytest

from cape_app.cli import run


@pytest.fixture
def cape(capsys):
    """Run a command; gives the exit code, what it printed, and what it said beside."""

    def call(*arguments):
        code = run([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def refused(cape, tmp_path):
    """Run a command that must fail in one line and leave all files as they were."""

    def files():
        return {
            path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
        }, set(tmp_path.rglob("*"))

    def call(*arguments, says):
        before = files()
        code, out, err = cape(*arguments)
        assert code == 2, (code, out)
        assert out == "", (code, out)
        assert err.startswith("error: "), err
        assert err.count("\n") == 1, err
        assert err.endswith("\n"), err
        for words in [says] if isinstance(says, str) else says:
            assert words in err, err
        assert files() == before

    return call


@pytest.fixture(scope="session")
def read_rows():
    """Read printed tables: the cells of each line that begins with a given name."""

    def read(out, *names):
        lines = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()]
        return [cells for cells in lines if cells[0] in names]

    return read


@pytest.fixture
def scored(tmp_path):
    """Labels and predictions of people in two groups by two others."""
    n = range(240)
    frame = pd.DataFrame(
        {
            "y": [int(i % 3 == 0) for i in n],
            "yhat": [int((i % 3 == 0 and i % 5 > 0) or i % 7 == 0) for i in n],
            "race": ["blue" if i % 8 < 5 else "green" for i in n],
            "sex": ["f" if i % 11 < 6 else "m" for i in n],
        }
    )
    frame.to_csv(tmp_path / "scored.csv", index=False)
    return frame
