"""Identifiers and row numbers are recognised, and measurements are neither."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.examination._suspicious import (
    read_column,
    reason_identifier,
    reason_row_number,
)

SIZES = st.sampled_from([60, 300, 3000])
SEEDS = st.integers(0, 10_000)


def reason(values):
    return reason_identifier(read_column(values))


def draw_incomes(n, seed=0):
    return np.exp(np.random.default_rng(seed).normal(10, 1, n))


@pytest.mark.parametrize("start", [0, 1, 1000])
def test_row_numbers(start):
    rows = np.arange(60)
    column = read_column(start + rows)
    assert reason_row_number(column, rows) == "counts the rows"
    assert reason_row_number(read_column(start + rows[::-1]), rows) is None
    assert reason_row_number(read_column(np.repeat(start, 60)), rows) is None


def test_row_numbers_are_found_in_a_sample_of_rows():
    rows = np.sort(np.random.default_rng(0).choice(10_000, 100, replace=False))
    assert reason_row_number(read_column(rows + 1), rows) == "counts the rows"
    # The rows of another sample are not counted, but they are in order.
    column = read_column(rows + 1)
    assert reason_row_number(column, np.arange(100)) is None
    assert reason_identifier(column) == "all 100 values differ and increase"


@pytest.mark.parametrize(
    "values",
    [
        np.r_[np.arange(99.0), np.nan],
        np.arange(100) * 2,
        np.arange(40),
        np.array([f"{i}" for i in range(100)]),
    ],
)
def test_what_does_not_count_the_rows(values):
    assert reason_row_number(read_column(values), np.arange(len(values))) is None


@given(SIZES, SEEDS, st.integers(2, 10**6), st.booleans(), st.booleans())
def test_whole_numbers_in_the_order_of_rows(n, seed, largest_step, down, with_gaps):
    random = np.random.default_rng(seed)
    numbers = np.cumsum(random.integers(1, largest_step, n)).astype(float)
    if down:
        numbers = -numbers
    if with_gaps:
        numbers[::13] = np.nan
    n_present = int(np.isfinite(numbers).sum())
    direction = "decrease" if down else "increase"
    assert reason(numbers) == f"all {n_present:,} values differ and {direction}"


def test_files_in_order_one_after_the_other():
    numbers = np.r_[50_000:90_000:100, 10_000:50_000:100, 0:10_000:100] ** 2
    expected = "all 900 values differ and increase in 99.8% of the rows"
    assert reason(numbers) == expected


@given(SEEDS, st.floats(1, 20))
def test_numbers_that_were_given_out_once(seed, sparsity):
    n = 1000
    n_possible = int(sparsity * n)
    numbers = np.random.default_rng(seed).permutation(n_possible)[:n]
    assert reason(numbers).startswith("all 1,000 values differ, among ")
    # Five persons who come twice do not hide it.
    numbers[:5] = numbers[-5:]
    if sparsity < 5:
        assert reason(numbers).startswith("995 of 1,000 values differ, among ")


@given(
    SIZES,
    SEEDS,
    st.lists(st.floats(0.01, 1), min_size=1, max_size=300),
    st.integers(1, 50),
)
def test_whole_numbers_that_were_drawn_are_no_identifiers(n, seed, weights, step):
    # Any distribution: the bound of the birthday problem holds for all of them.
    random = np.random.default_rng(seed)
    shares = np.array(weights) / np.sum(weights)
    assert reason(step * random.choice(len(weights), n, p=shares)) is None


@given(SIZES, SEEDS)
def test_measurements_are_no_identifiers(n, seed):
    incomes = draw_incomes(n, seed)
    assert reason(incomes) is None
    assert reason(np.sort(incomes)) is None
    assert reason(incomes.round()) is None
    assert reason((100 * incomes).round()) is None


def test_numbers_spread_over_a_wide_range_look_like_amounts():
    numbers = np.random.default_rng(0).integers(0, 2**31, 5000)
    assert len(np.unique(numbers)) == 5000
    assert reason(numbers) is None


def test_text_of_which_nearly_all_values_differ():
    names = pd.Series([f"person {i}" for i in range(1000)])
    assert reason(names) == "all 1,000 values differ"
    names[:10] = "miguel hernandez"
    assert reason(names) == "991 of 1,000 values differ"
    names[::13] = None
    assert "values differ" in reason(names)
    names[1::5] = "miguel hernandez"
    assert reason(names) is None
    assert reason(names.astype("category")) is None


def test_the_words_of_sentences_come_again():
    sentences = [f"the rent of month {i} was late" for i in range(100)]
    assert reason(np.array(sentences)) is None


@pytest.mark.parametrize(
    "values",
    [
        np.arange(49),
        [f"case {i}" for i in range(49)],
        np.full(100, np.nan),
        np.r_[np.arange(40.0), np.full(60, np.nan)],
        np.r_[np.arange(99.0), np.inf],
        np.arange(100) / 2,
        np.resize(np.arange(31), 3100),
        np.zeros(100),
        pd.date_range("2013-01-01", periods=100),
    ],
)
def test_what_is_no_identifier(values):
    assert reason(pd.Series(values)) is None
