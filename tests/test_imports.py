"""What imports load, what is said of extras that are missing, the installed command."""

import json
import os
import platform
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import cape
from cape.base._packages import MissingExtra, package_versions, require_extra

EXTRAS = ["aif360", "altair", "dask", "distributed", "fairlearn", "jinja2"]
EXTRAS += ["matplotlib", "polars", "pooch", "pyarrow", "quapy", "rich", "skops"]
EXTRAS += ["skrub", "tensorflow", "typer", "vl_convert"]

# The core works; then every statement is tried, and what it says is kept.
WITHOUT_EXTRAS = """
import contextlib, io, json
import cape.examination, cape.persist, cape.quantify, cape.training, cape.watch
import cape_app.files
from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.metrics import fairness_table

d = make_synthetic(300, random_state=0)
z = d.sensitive_features
clf = CapeClassifier(cv=2, prevalences=2, random_state=0)
clf.fit(d.data, d.target, sensitive_features=z)
y_pred = clf.predict(d.data, sensitive_features=z)
table = fairness_table(d.target, y_pred, sensitive_features=z)
assert table["accuracy", 0] > 0.8
says = {}
for statement in %r:
    try:
        exec(statement)
    except ImportError as error:
        says[statement] = f"{type(error).__name__}: {error}"
import runpy
with contextlib.redirect_stderr(io.StringIO()) as errors:
    try:
        runpy.run_module("cape_app", run_name="__main__")
    except SystemExit as end:
        assert end.code == 2
says["main"] = errors.getvalue()
print(json.dumps(says))
"""

NEEDS = {
    "import cape_app.pages": "MissingExtra: cape_app.pages needs altair",
    "from cape.persist import load; load('x')": "MissingExtra: cape.persist needs",
    "cape.persist.save(clf, 'no/m.cape')": "MissingExtra: cape.persist needs",
    "import cape.elsewhere.dask": 'pip install "cape-fair[dask]"',
    "clf.fit(d.data.assign(city='Rome'), d.target)": "'city'",
    "main": "error: the command line needs ",
}


def test_the_core_needs_no_extra_and_the_rest_says_what_it_needs(run_without):
    result = run_without(EXTRAS, WITHOUT_EXTRAS % list(NEEDS)[:-1])
    assert result.returncode == 0, result.stderr
    says = json.loads(result.stdout)
    assert list(says) == list(NEEDS)
    for statement, words in NEEDS.items():
        assert words in says[statement]
    assert says["main"].count("\n") == 1


LOADED = """
import json, sys
heavy = ["sklearn", "scipy", "pandas", "altair", "jinja2", "skops", "skrub", "typer"]
loaded = []
import cape
loaded.append([name for name in heavy if name in sys.modules])
from cape.base._packages import package_versions
package_versions()
loaded.append([name for name in heavy if name in sys.modules])
from cape import CapeClassifier, Adaptation, Evidence
loaded.append([name for name in heavy if name in sys.modules])
print(json.dumps(loaded))
"""


def test_an_import_loads_what_it_needs_and_no_more(run_without):
    result = run_without([], LOADED)
    assert json.loads(result.stdout) == [[], [], ["sklearn", "scipy", "pandas"]]


def test_all_that_is_missing_is_named():
    require_extra("app", "numpy", "scipy", what="this")
    with pytest.raises(MissingExtra, match=r"^x needs no_a, no_b, which are not inst"):
        require_extra("app", "no_a", "numpy", "no_b", what="x")


def test_versions_are_those_of_the_installed_packages_in_the_given_order():
    own = {"python": platform.python_version(), "cape": cape.__version__}
    assert package_versions() == own
    packages = ["scikit-learn", "no-such-package", "numpy"]
    expected = own | {name: version(name) for name in ("scikit-learn", "numpy")}
    assert list(package_versions(packages).items()) == list(expected.items())


def test_the_installed_command_runs():
    command = shutil.which("cape", path=os.fspath(Path(sys.executable).parent))
    assert command, (
        "the package must be installed for the command to be there: make test does it"
    )
    result = subprocess.run(
        [command, "demo", "--help"], capture_output=True, text=True, check=True
    )
    assert "the paper's synthetic data" in result.stdout
    assert "--out" in result.stdout
