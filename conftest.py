"""Names that every doctest can use.

An example then shows one thing and not its set-up.
"""

import os

# Learners that stop once their steps are small stop elsewhere where OpenBLAS rounds
# otherwise. Haswell's kernels run on every processor since, and all tests use them.
os.environ["OPENBLAS_CORETYPE"] = "Haswell"

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic


@pytest.fixture(scope="session")
def _doctest_names():
    """Make the names; both groups have prevalence .5 in ``train``, not in ``new``."""
    train = make_synthetic(2000, random_state=0)
    new = make_synthetic(1000, prevalences=(0.2, 0.8), random_state=2)
    clf = CapeClassifier(LogisticRegression(), pool="threshold", random_state=0)
    clf.fit(train.data, train.target, sensitive_features=train.sensitive_features)
    return {
        "np": np,
        "pd": pd,
        "LogisticRegression": LogisticRegression,
        "CapeClassifier": CapeClassifier,
        "make_synthetic": make_synthetic,
        "train": train,
        "new": new,
        "clf": clf,
    }


@pytest.fixture(autouse=True)
def _fill_doctest_namespace(request, doctest_namespace, tmp_path):
    """Fill the namespace of doctests; other tests do not see these names."""
    if type(request.node).__name__ == "DoctestItem":
        doctest_namespace.update(request.getfixturevalue("_doctest_names"))
        doctest_namespace["folder"] = tmp_path
