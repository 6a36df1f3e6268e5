"""Private names of scikit-learn and skops: which, what for, and when to look again.

A private name may change its meaning without notice. Each entry names the version at
which somebody has to look again; with that version installed the test fails. Then read
the changes of the name, mend the module that imports it, and raise the version here.
"""

import ast
import importlib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version

import cape

SKLEARN = ("scikit-learn", "1.10")
SKOPS = ("skops", "0.17")

PRIVATE = {
    "sklearn._loss.HalfBinomialLoss": (*SKLEARN, "put back into loaded boostings"),
    "sklearn._loss._loss.CyHalfBinomialLoss": (*SKLEARN, "where model files find it"),
    "sklearn.base._fit_context": (*SKLEARN, "checks the parameters before fit"),
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": (
        *SKLEARN,
        "its nodes are packed in model files",
    ),
    "sklearn.utils._openmp_helpers._openmp_effective_n_threads": (
        *SKLEARN,
        "how many threads a learner may use",
    ),
    "sklearn.utils._param_validation.HasMethods": (*SKLEARN, "parameter constraint"),
    "sklearn.utils._param_validation.Interval": (*SKLEARN, "parameter constraint"),
    "sklearn.utils._param_validation.StrOptions": (*SKLEARN, "parameter constraint"),
    "sklearn.utils._safe_indexing": (*SKLEARN, "takes rows of any table"),
    "sklearn.utils.parallel._get_threadpool_controller": (
        *SKLEARN,
        "limits the threads of numerical libraries",
    ),
    "sklearn.utils.validation._num_features": (*SKLEARN, "columns of any table"),
    "sklearn.utils.validation._num_samples": (*SKLEARN, "rows of any table"),
    "skops.io._trusted_types.SKLEARN_ESTIMATOR_TYPE_NAMES": (
        *SKOPS,
        "exact types that a model file may hold",
    ),
    "skops.io._trusted_types.SKLEARN_INTERNAL_TYPE_NAMES": (
        *SKOPS,
        "exact types that a model file may hold",
    ),
    "skops.io._utils.SaveContext": (*SKOPS, "writes without indentation"),
    "skops.io._utils.get_state": (*SKOPS, "writes without indentation"),
}


def private_imports():
    """Full names of what modules of cape import from private places."""
    names = set()
    for file in Path(cape.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.ImportFrom) or node.level:
                continue
            if node.module.split(".")[0] not in ("sklearn", "skops"):
                continue
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if "._" in full:
                    names.add(full)
    return names


def test_every_private_import_is_listed_and_every_entry_is_used():
    assert private_imports() == set(PRIVATE)


@pytest.mark.parametrize("name", PRIVATE)
def test_a_private_name_was_looked_at_for_the_version_installed(name):
    package, look_again, purpose = PRIVATE[name]
    module, _, attribute = name.rpartition(".")
    assert hasattr(importlib.import_module(module), attribute), (
        f"{name} ({purpose}) is gone; {package} {version(package)} is installed."
    )
    assert Version(version(package)) < Version(look_again), (
        f"look again at {name} ({purpose}): {package} {look_again} is out."
    )
