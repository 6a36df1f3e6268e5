"""Small problems whose truth is known, and one run of each experiment on few rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape.datasets import make_synthetic
from cape_paper import (
    Problem,
    _logged,
    _problem,
    _quantifiers,
    _shifts,
    _small_groups,
    compare_methods,
    published,
    run_logged,
    run_quantifiers,
    run_shifts,
    run_small_groups,
    run_synthetic,
)

METHODS = ["CAPE-D", "CAPE default", "Max_Acc", "Always positive", "Reweigh", "AD"]
LEARNER = make_pipeline(StandardScaler(), LogisticRegression())


def rows_of(bunch):
    names = np.array(["one", "two"])
    z = pd.Series(names[bunch.sensitive_features])
    return bunch.data, bunch.target.to_numpy(), z


@pytest.fixture(scope="session")
def learner():
    return LEARNER


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
        "printed_estimates": published()["table_quantifier"]["compas"]["estimate"],
    }

    def make(**changes):
        return Problem(**{**parts, **changes})

    return make


@pytest.fixture(scope="session")
def compared(make_problem):
    return compare_methods(make_problem(), methods=METHODS, seeds=2, learner=LEARNER)


@pytest.fixture(scope="session")
def synthetic():
    prevalences = np.array([0.1, 0.5])
    return run_synthetic(seeds=2, rows=1200, test_rows=600, prevalences=prevalences)


@pytest.fixture(scope="session")
def text_problem():
    """A shift whose rows have text and gaps."""
    parts = []
    for seed, prevalences in ((0, (0.3, 0.5)), (1, (0.6, 0.2))):
        d = make_synthetic(500, prevalences=prevalences, random_state=seed)
        X = d.data.assign(kind=np.where(d.data["U"] > 8, "high", "low"))
        X.loc[::7, "V"] = np.nan
        z = d.sensitive_features.map({0: "a", 1: "b"})
        parts.append((X, d.target.to_numpy(), z))
    return Problem("case", "Case", ["a", "b"], *parts)


def run_on(problems, run, **options):
    """Run an experiment on problems instead of the cases of the table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_problem, "load_cases", lambda *given: (problems, ["gone"]))
        patch.setattr(_shifts, "SIZES", (30,))
        patch.setattr(_quantifiers, "SIZES", (20, 200))
        patch.setattr(_logged, "LEARNERS", {"logistic": LogisticRegression()})
        return run(seeds=1, **options)


@pytest.fixture(scope="session")
def shifts(text_problem):
    # Too few rows to train on: the case fails, and the other goes on.
    X, y, z = text_problem.train
    few = Problem("few", "", ["a"], (X[:3], y[:3], z[:3]), text_problem.test)
    return run_on([text_problem, few], run_shifts, draws=1)


@pytest.fixture(scope="session")
def quantifiers(text_problem):
    return run_on([text_problem], run_quantifiers, draws=3)


# Answers as NannyML would give them.
STAND_IN = """#!/bin/sh
echo '{"version": "0.13", "groups": {"a": RATES, "b": RATES}}'
"""
RATES = '{"accuracy": [0.5, 0, 1], "fnr": [0.5, 0, 0], "fpr": [0.5, 0, 1]}'


@pytest.fixture(scope="session")
def logged(text_problem, tmp_path_factory):
    python = tmp_path_factory.mktemp("nannyml") / "python"
    python.write_text(STAND_IN.replace("RATES", RATES))
    python.chmod(0o755)
    return run_on([text_problem], run_logged, nannyml=python)


@pytest.fixture(scope="session")
def small_groups():
    """Two years of a survey with the columns of BRFSS, and four groups."""

    def read(path, folder):
        year = int(Path(path).name.split("_")[1])
        d = make_synthetic(1600, prevalences=(0.3, 0.5), random_state=year)
        random = np.random.default_rng(year)
        return d.data.assign(
            SEX=d.sensitive_features + 1,
            EDUCATION_LEVEL=random.integers(1, 3, 1600),
            AGE_CATEGORIES=5,
            POOR_HEALTH=d.target,
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_small_groups, "read_table", read)
        patch.setattr(_small_groups, "TRAINING_ROWS", (20,))
        patch.setattr(_small_groups, "SIZES", (30,))
        return run_small_groups(seeds=1)
