"""A small problem whose truth is known, and one comparison that several tests use."""

import numpy as np
import pandas as pd
import pytest

from cape.datasets import make_synthetic
from cape_paper import Problem, compare_methods, published

METHODS = [
    "CAPE-D",
    "CAPE-1",
    "CAPE default",
    "Max_Acc",
    "Always positive",
    "Reweigh",
    "AD",
]


def small_problem(**changes):
    """Make a problem of 400 training rows and 300 test rows."""
    train = make_synthetic(400, random_state=0)
    test = make_synthetic(300, prevalences=(0.3, 0.7), random_state=1)
    names = np.array(["one", "two"])
    parts = {
        "name": "small",
        "title": "Small data",
        "groups": ["one", "two"],
        "X_train": train.data,
        "y_train": train.target.to_numpy(),
        "z_train": pd.Series(names[train.sensitive_features]),
        "X_test": test.data,
        "y_test": test.target.to_numpy(),
        "z_test": pd.Series(names[test.sensitive_features]),
        "notes": ["Invented."],
        "printed": published()["table_results"]["compas"],
        "printed_prevalences": published()["table_quantifier"]["compas"],
        "same_data": True,
    }
    return Problem(**{**parts, **changes})


@pytest.fixture(scope="session")
def compared():
    return compare_methods(
        small_problem(), methods=METHODS, seeds=2, learner="logistic"
    )


@pytest.fixture(scope="session")
def row_of():
    """Find the row of a method."""

    def find(results, name):
        [row] = [row for row in results["rows"] if row["method"] == name]
        return row

    return find
