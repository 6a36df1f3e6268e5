"""A table as people have them, drawn from two classes that differ in most columns, and a model trained on it."""

import numpy as np
import pandas as pd
import pytest

from cape.files import load_model, train_file


def make_people(n, prevalences=None, seed=0):
    """Rows of two groups; columns with numbers, levels, flags and gaps."""
    random = np.random.default_rng(seed)
    race = random.choice(["blue", "green"], size=n, p=[0.6, 0.4])
    share = pd.Series(race).map(prevalences or {"blue": 0.3, "green": 0.5}).to_numpy()
    y = random.random(n) < share
    frame = pd.DataFrame(
        {
            "age": np.where(random.random(n) < 0.1, np.nan, np.round(random.normal(40 - 12 * y, 10))),
            "degree": np.where(y, random.choice(["F", "M"], n, p=[0.8, 0.2]), random.choice(["F", "M"], n)),
            "free": random.random(n) < 0.5,
            "race": race,
            "y": y.astype(int),
        }
    )
    frame.loc[frame.index % 11 == 0, "degree"] = None
    return frame


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    make_people(900).to_csv(folder / "train.csv", index=False)
    make_people(700, {"blue": 0.7, "green": 0.2}, seed=1).to_csv(folder / "new.csv", index=False)
    train_file(
        folder / "train.csv", folder / "m.cape", label="y", group=["race"], learner="logistic", settings={"cv": 2}
    )
    return folder


@pytest.fixture(scope="session")
def model(folder):
    return load_model(folder / "m.cape")
