"""Missing extras are named in one line; versions and imports are what is in use."""

import json
import platform
import subprocess
import sys
from importlib.metadata import version

import pytest

import cape
from cape._packages import MissingExtra, package_versions, require_extra


def test_what_is_installed_is_not_missed():
    require_extra("app", "numpy", "scipy", what="this")


def test_all_that_is_missing_is_named():
    with pytest.raises(MissingExtra, match=r"^x needs no_a, no_b, which are not inst"):
        require_extra("app", "no_a", "numpy", "no_b", what="x")


def test_the_command_line_says_it_in_one_line(run_without):
    result = run_without(["typer"], "from cape.__main__ import main; main()")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == (
        "error: the command line needs typer, which is not installed: pip install "
        '"cape-fair[app]".\n'
    )


@pytest.mark.parametrize(
    ("hidden", "code", "says"),
    [
        ("altair", "import cape.report", "cape.report needs altair"),
        ("jinja2", "import cape.report", "cape.report needs jinja2"),
        ("skops", "from cape.persist import load; load('x')", "cape.persist needs"),
        ("skops", "from cape.persist import save; save(1, 'x')", "cape.persist needs"),
        (
            "distributed",
            "from cape import scale; scale.fit(1, 2, 3)",
            'pip install "cape-fair[dask]"',
        ),
    ],
)
def test_modules_say_what_they_need(run_without, hidden, code, says):
    result = run_without([hidden], code)
    last_line = result.stderr.strip().splitlines()[-1]
    assert last_line.startswith("cape._packages.MissingExtra: ")
    assert says in last_line


def test_the_core_needs_no_extra(run_without):
    hidden = ["typer", "rich", "altair", "jinja2", "skops", "skrub", "pyarrow", "dask"]
    code = """
import numpy as np
from sklearn.linear_model import LogisticRegression
from cape import CapeClassifier
import cape.examination, cape.stream, cape.persist, cape.files, cape.datasets
x = np.random.default_rng(0).normal(size=(200, 2))
clf = CapeClassifier(LogisticRegression()).fit(x, x[:, 0] > 0)
print(clf.predict(x).shape)
"""
    result = run_without(hidden, code)
    assert result.stdout == "(200,)\n", result.stderr


def test_versions_are_those_of_the_installed_packages_in_the_given_order():
    own = {"python": platform.python_version(), "cape": cape.__version__}
    assert package_versions() == own
    packages = ["scikit-learn", "no-such-package", "numpy"]
    expected = own | {name: version(name) for name in ("scikit-learn", "numpy")}
    assert list(package_versions(packages).items()) == list(expected.items())


LOADED = """
import json, sys
{code}
heavy = ["sklearn", "scipy", "pandas", "altair", "jinja2", "skops", "skrub"]
print(json.dumps([name for name in heavy if name in sys.modules]))
"""


@pytest.mark.parametrize(
    ("code", "loads"),
    [
        ("import cape", []),
        ("import cape._packages as p; p.package_versions()", []),
        (
            "from cape import CapeClassifier, Adaptation, Evidence",
            ["sklearn", "scipy", "pandas"],
        ),
    ],
)
def test_an_import_loads_what_it_needs_and_no_more(code, loads):
    program = [sys.executable, "-c", LOADED.format(code=code)]
    shown = subprocess.run(program, capture_output=True, text=True, check=True)
    assert json.loads(shown.stdout) == loads
