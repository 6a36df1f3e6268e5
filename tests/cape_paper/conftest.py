"""A small problem whose truth is known, and one comparison that several tests use."""

import numpy as np
import pandas as pd
import pytest

from cape.datasets import make_synthetic
from cape_paper import Problem, compare_methods, published

METHODS = [
    "CAPE-D",
    "CAPE default",
    "Max_Acc",
    "Always positive",
    "Reweigh",
    "AD",
]


def rows_of(bunch):
    names = np.array(["one", "two"])
    z = pd.Series(names[bunch.sensitive_features])
    return bunch.data, bunch.target.to_numpy(), z


@pytest.fixture(scope="session")
def make_problem():
    """Make a problem of 400 training rows and 300 test rows."""
    train = rows_of(make_synthetic(400, random_state=0))
    test = make_synthetic(300, prevalences=(0.3, 0.7), random_state=1)
    parts = {
        "name": "small",
        "title": "Small data",
        "groups": ["one", "two"],
        "train": train,
        "test": rows_of(test),
        "notes": ["Invented."],
        "printed": published()["table_results"]["compas"],
        "printed_prevalences": published()["table_quantifier"]["compas"],
        "same_data": True,
    }

    def make(**changes):
        return Problem(**{**parts, **changes})

    return make


@pytest.fixture(scope="session")
def compared(make_problem):
    return compare_methods(make_problem(), METHODS, seeds=2, learner="logistic")
