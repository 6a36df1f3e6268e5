"""Columns that are plainly not what they were are found without statistics."""

import numpy as np
import pandas as pd
import pytest

from cape._columns import FIRST, TableCells
from cape._drift._columns import ColumnInBatch, find_fault

RANDOM = np.random.default_rng(0)
N = 400
TRAINING = pd.DataFrame(
    {
        "height": RANDOM.normal(170, 10, N),
        "change": RANDOM.normal(0, 1, N),
        "count": RANDOM.integers(0, 4, N),
        "sex": RANDOM.choice(["Male", "Female"], N),
        "name": [f"person {i}" for i in range(N)],
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(RANDOM.random(N), "D"),
        "gaps": np.where(RANDOM.random(N) < 0.8, np.nan, 1.0),
        "nothing": np.full(N, np.nan),
    }
)
CELLS = TableCells.of(TRAINING)
UNITS = (10, 60, 100, 1000)


def in_batch(name, values, prevalence=0.5):
    """Return a column of a batch beside training, whose halves are the classes."""
    place = list(TRAINING).index(name)
    batch = TRAINING.iloc[: len(values)].copy()
    batch[name] = values
    shares = []
    for table in (TRAINING[: N // 2], TRAINING[N // 2 :], batch):
        counts = CELLS.of_column(CELLS.count(table).counts, place)
        shares.append(counts / counts.sum())
    cells = CELLS.columns[place]
    return ColumnInBatch(cells, *shares, rows=len(values), prevalence=prevalence)


def fault_of(name, values):
    return find_fault(in_batch(name, values))


@pytest.mark.parametrize("name", list(TRAINING))
def test_training_is_not_at_fault(name):
    assert fault_of(name, TRAINING[name]) == ""


@pytest.mark.parametrize(
    ("name", "values", "fault"),
    [
        ("height", ["tall"] * 50, "type"),
        ("nothing", [1.0] * 50, "type"),
        ("sex", [1, 2] * 25, "type"),
        ("height", [np.nan] * 50, "missing"),
        ("sex", [None] * 50, "missing"),
        ("gaps", [np.nan] * 50, ""),
        ("sex", ["M", "F"] * 25, "unseen"),
        ("sex", ["Male", "Female", "F"] * 20, ""),
        ("name", [f"new {i}" for i in range(50)], ""),
        ("day", TRAINING["day"] + pd.Timedelta("400D"), "range"),
        ("change", TRAINING["change"] - 50, "range"),
        ("count", [3] * 50, "constant"),
        ("count", [0, 3] * 25, ""),
        ("height", [1e9] * 19, ""),
    ],
)
def test_faults(name, values, fault):
    assert fault_of(name, values) == fault


@pytest.mark.parametrize("factor", [*UNITS, *(1 / factor for factor in UNITS)])
def test_other_units(factor):
    column = in_batch("height", TRAINING["height"] * factor)
    assert find_fault(column) == "units"
    assert find_fault(in_batch("height", TRAINING["height"] * -factor)) == "range"


@pytest.mark.parametrize("factor", [0.9, 1.1, 2])
def test_a_smaller_factor_is_no_unit(factor):
    assert fault_of("height", TRAINING["height"] * factor) in ("", "range")


def test_values_outside_the_range_are_below_or_above_it():
    column = in_batch("height", [-1.0] * 30 + [1e7] * 10)
    assert column.batch[column.below].sum() == 0.75
    assert column.batch[column.above].sum() == 0.25
    inside = np.setdiff1d(
        np.arange(FIRST, column.cells.n_cells), [*column.below, *column.above]
    )
    assert column.positives[inside].sum() > 0.9


def test_the_expected_shares_are_the_mixture():
    column = in_batch("sex", ["Male"] * 40, prevalence=0.25)
    mixture = 0.25 * column.positives + 0.75 * column.negatives
    np.testing.assert_allclose(column.expected, mixture)
    assert column.expected.sum() == pytest.approx(1)
    assert (column.most_expected >= column.expected - 1e-12).all()


def test_a_few_hundred_years_are_no_fault_of_a_mixture():
    """A class that lies elsewhere explains where most of the batch is."""
    values = np.concatenate([RANDOM.normal(10, 1, 200), RANDOM.normal(100, 1, 200)])
    cells = TableCells.of(pd.DataFrame({"x": values}))
    shares = []
    for rows in (slice(0, 200), slice(200, 400), slice(200, 400)):
        counts = cells.count(pd.DataFrame({"x": values[rows]})).counts
        shares.append(counts / counts.sum())
    at_truth = ColumnInBatch(cells.columns[0], *shares, rows=200, prevalence=0.02)
    assert find_fault(at_truth) == ""
