"""What ``import cape`` loads, and that the installed command runs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXTRAS = [
    "aif360",
    "altair",
    "dask",
    "distributed",
    "fairlearn",
    "jinja2",
    "matplotlib",
    "polars",
    "pooch",
    "pyarrow",
    "quapy",
    "rich",
    "skops",
    "skrub",
    "tensorflow",
    "typer",
    "vl_convert",
]

BLOCK = f"""
import sys

class Blocked:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Blocked)
"""
"""Code after which importing any extra is an ImportError."""

WITHOUT_EXTRAS = f"""
{BLOCK}
import cape.examination, cape.persist, cape.quantify
import cape.sampling, cape.stream
from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.metrics import fairness_table

d = make_synthetic(300, random_state=0)
z = d.sensitive_features
clf = CapeClassifier(cv=2, prevalences=2, random_state=0)
clf.fit(d.data, d.target, sensitive_features=z)
y_pred = clf.predict(d.data, sensitive_features=z)
table = fairness_table(d.target, y_pred, sensitive_features=z)
print(table["accuracy", 0] > 0.8)
"""

NEWLY_LOADED = """
import json, sys, sklearn.ensemble, sklearn.linear_model
before = set(sys.modules)
import cape
print(json.dumps(sorted(set(sys.modules) - before)))
"""

SAVED_WITHOUT_SKOPS = f"""
{BLOCK}
from sklearn.linear_model import LogisticRegression
from cape import CapeClassifier, persist
from cape.datasets import make_synthetic

d = make_synthetic(300, random_state=0)
clf = CapeClassifier(LogisticRegression(), cv=2).fit(d.data, d.target)
try:
    persist.save(clf, "model.cape")
except ImportError as error:
    print("skops" in str(error))
"""


def run(code, **settings):
    """What a fresh interpreter prints."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        **settings,
    )
    return result.stdout.strip()


@pytest.mark.slow
def test_import_loads_none_of_the_extras():
    """Beyond what scikit-learn itself loads where it is installed."""
    loaded = {name.partition(".")[0] for name in json.loads(run(NEWLY_LOADED))}
    assert "cape" in loaded
    assert not loaded & set(EXTRAS)


def test_the_core_works_without_any_extra():
    assert run(WITHOUT_EXTRAS) == "True"


def test_saving_without_skops_says_what_is_missing(tmp_path):
    assert run(SAVED_WITHOUT_SKOPS, cwd=tmp_path) == "True"
    assert list(tmp_path.iterdir()) == []


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
