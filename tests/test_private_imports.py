"""Private names of scikit-learn and skops: which, what for, and when to look again.

A private name may change its meaning without notice. Each entry names the version at
which somebody has to look again; with that version installed the test fails. Then read
the changes of the name, mend the module that imports it, and raise the version here.
"""

import ast
import importlib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from packaging.version import Version
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import cape

SKLEARN = ("scikit-learn", "1.10")
SKOPS = ("skops", "0.17")

PRIVATE = {
    "sklearn.base._fit_context": (*SKLEARN, "checks the parameters before fit"),
    "sklearn.ensemble._gb.BaseGradientBoosting": (
        *SKLEARN,
        "its trees are checked against it when a file is loaded",
    ),
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting."
    "BaseHistGradientBoosting": (
        *SKLEARN,
        "its trees are checked against it when a file is loaded",
    ),
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": (
        *SKLEARN,
        "its nodes are packed, and checked when a file is loaded",
    ),
    "sklearn.neighbors._base.NeighborsBase": (
        *SKLEARN,
        "its tree is left out of files and built again",
    ),
    "sklearn.tree._tree.Tree": (*SKLEARN, "its nodes are checked"),
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


# Private attributes that the checks of model files read; in these versions they exist.
ATTRIBUTES = {
    GradientBoostingClassifier: ["_loss", "estimators_", "init_"],
    HistGradientBoostingClassifier: ["_predictors", "_preprocessor", "_bin_mapper"],
    KNeighborsClassifier: ["_fit_X", "_y", "_tree", "_fit_method", "outputs_2d_"],
    SVC: ["_n_support", "_dual_coef_", "_intercept_", "_probA", "_probB", "_sparse"],
    DecisionTreeClassifier: ["tree_", "n_features_in_"],
}


@pytest.mark.parametrize("learner", ATTRIBUTES, ids=lambda learner: learner.__name__)
def test_private_attributes_are_where_the_checks_look(learner, random):
    """Look again at scikit-learn 1.10, as for the names above."""
    X = random.normal(size=(60, 2))
    fitted = learner().fit(X, X[:, 0] > 0)
    for attribute in ATTRIBUTES[learner]:
        assert hasattr(fitted, attribute), attribute


def test_nodes_have_the_fields_that_the_checks_read(random):
    """Look again at scikit-learn 1.10: a new field may be one that is indexed with."""
    X = random.normal(size=(60, 2))
    boosted = HistGradientBoostingClassifier(max_iter=1).fit(X, X[:, 0] > 0)
    assert boosted._predictors[0][0].nodes.dtype.names == (
        "value",
        "count",
        "feature_idx",
        "num_threshold",
        "missing_go_to_left",
        "left",
        "right",
        "gain",
        "depth",
        "is_leaf",
        "bin_threshold",
        "is_categorical",
        "bitset_idx",
    )
    tree = DecisionTreeClassifier().fit(X, X[:, 0] > 0).tree_
    assert tree.__getstate__()["nodes"].dtype.names == (
        "left_child",
        "right_child",
        "feature",
        "threshold",
        "impurity",
        "n_node_samples",
        "weighted_n_node_samples",
        "missing_go_to_left",
    )
    assert np.array_equal(tree.children_left == -1, tree.children_right == -1)
