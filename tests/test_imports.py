"""What ``import cape`` loads, and that the installed command runs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

EXTRAS = [
    "typer", "rich", "jinja2", "altair", "vl_convert", "pooch", "skops", "skrub", "pyarrow", "dask", "distributed",
    "aif360", "fairlearn", "tensorflow", "quapy", "polars", "matplotlib",
]  # fmt: skip

BLOCK = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS!r}))"
"""From here on, importing any of them is an ImportError."""


def run(code):
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=one_thread,
    ).stdout


def test_import_loads_none_of_the_extras():
    """Beyond what scikit-learn itself loads where it is installed."""
    code = (
        "import json, sys, sklearn.ensemble, sklearn.linear_model\n"
        "before = set(sys.modules)\n"
        "import cape\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    loaded = {name.partition(".")[0] for name in json.loads(run(code))}
    assert "cape" in loaded
    assert not loaded & set(EXTRAS)


def test_the_core_works_without_any_extra():
    code = (
        f"{BLOCK}\n"
        "import cape.compare, cape.diagnostics, cape.persist, cape.quantify, cape.sampling, cape.stream\n"
        "from cape import CapeClassifier\n"
        "from cape.datasets import make_synthetic\n"
        "from cape.metrics import fairness_table\n"
        "d = make_synthetic(300, random_state=0)\n"
        "clf = CapeClassifier(cv=2, prevalences=2, random_state=0)\n"
        "clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)\n"
        "y_pred = clf.predict(d.data, sensitive_features=d.sensitive_features)\n"
        "print(fairness_table(d.target, y_pred, sensitive_features=d.sensitive_features)['accuracy', 0] > 0.8)"
    )
    assert run(code).strip() == "True"


def test_the_installed_command_runs():
    command = shutil.which("cape", path=os.fspath(Path(sys.executable).parent))
    assert command, (
        "the package must be installed for the command to be there: make test does it"
    )
    shown = subprocess.run(
        [command, "demo", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert "the paper's synthetic data" in shown
    assert "--out" in shown
