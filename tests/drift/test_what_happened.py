"""What happened to a column is said in words that a person can act on."""

import numpy as np
import pandas as pd
import pytest

from cape._columns import TableCells
from cape._drift import ColumnDrift
from cape._drift._columns import ColumnFit, ColumnInBatch, find_fault

N = 600
RANDOM = np.random.default_rng(0)
TRAINING = pd.DataFrame(
    {
        "height": RANDOM.normal(170, 10, N),
        "priors_count": RANDOM.poisson(2, N),
        "sex": ["Male", "Female"] * (N // 2),
        "date": pd.Timestamp("2013-01-01") + pd.to_timedelta(np.arange(N) % 300, "D"),
        "nothing": np.full(N, None),
        "name": [f"person {i}" for i in range(N)],
    }
)
CELLS = TableCells.of(TRAINING)


def words(name, values, effect=0.5):
    place = list(TRAINING).index(name)
    batch = TRAINING.iloc[: len(values)].copy()
    batch[name] = values
    counted = CELLS.count(batch)
    trained = CELLS.of_column(CELLS.count(TRAINING).counts, place) / N
    counts = CELLS.of_column(counted.counts, place)
    column = ColumnInBatch(
        CELLS.columns[place],
        trained,
        trained,
        counts / counts.sum(),
        rows=len(values),
        prevalence=0.5,
    )
    drift = ColumnDrift(
        column,
        ColumnFit(effect=effect),
        find_fault(column),
        counted.unseen.get(place, {}),
    )
    return f"`{drift.name}`: {drift.what_happened}"


LATER = TRAINING["date"] + pd.Timedelta("400D")
EARLIER = TRAINING["date"] - pd.Timedelta("400D")


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("date", LATER, "all 600 values are later than in training (up to 2013-10-"),
        ("date", EARLIER, "all 600 values are earlier than in training (from 2013-01-"),
        ("height", TRAINING["height"] * 100, "values are about 100 times those of"),
        ("height", TRAINING["height"] * 1000, "values are about 1,000 times those of"),
        ("height", TRAINING["height"] / 10, "values are about 0.1 times those of"),
        ("height", TRAINING["height"] + 500, "all 600 values are greater than in"),
        ("height", ["tall"] * 90, "100% are of another type; training held numbers"),
        ("height", [np.nan] * 40 + [170.0] * 60, "40% are missing, 0% expected"),
        (
            "sex",
            ["M"] * 60 + ["F"] * 40,
            "100% are values never seen in training: M, F",
        ),
        ("sex", ["M"] * 29 + ["F"] * 31, "100% are values never seen in training: F"),
        ("sex", ["Male"] * 90 + ["Female"] * 10, "10% are 'Female', 50% expected"),
        ("priors_count", [3, 4] * 40, "median 4, 2 expected"),
        ("priors_count", [3, 9] * 40, "50% of the values are greater than in"),
        ("priors_count", [3] * 90, "all values are about 3"),
        (
            "nothing",
            [1] * 90,
            "100% are of another type; training held no value at all",
        ),
        ("name", [f"person {i}" for i in range(90)], "50% of the values have moved"),
    ],
)
def test_sentences(name, values, expected):
    sentence = words(name, values)
    assert sentence.startswith(f"`{name}`: {expected}")


@pytest.mark.parametrize("name", list(TRAINING))
def test_training_is_described_too(name):
    sentence = words(name, TRAINING[name], effect=0.0)
    assert sentence.startswith(f"`{name}`: ")
    assert "nan" not in sentence


def test_single_people_are_not_named():
    sentence = words("sex", [f"new {i}" for i in range(100)])
    assert sentence == "`sex`: 100% are values never seen in training"


def test_a_long_value_is_cut():
    sentence = words("sex", ["x" * 500] * 90)
    assert sentence.endswith(": " + "x" * 40)


def test_a_spread_around_the_same_median_is_said():
    values = [152.0, 171.0, 188.0] * 30
    assert " are below " in words("priors_count", [1, 2, 4] * 30)
    assert "expected" in words("height", values)
