"""Intervals of shares and of drawn values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.metrics import wilson_interval
from cape.metrics._intervals import (
    Interval,
    absolute_interval,
    central_interval,
)

ends = st.tuples(st.floats(-5, 5), st.floats(-5, 5)).map(sorted)


def test_wilson_takes_arrays_and_broadcasts():
    successes = np.array([[0], [5], [10]])
    trials = np.array([10, 20])
    low, high = wilson_interval(successes, trials)
    assert low.shape == high.shape == (3, 2)
    for row in range(3):
        for column in range(2):
            alone = wilson_interval(successes[row, 0], trials[column])
            assert low[row, column] == alone[0]
            assert high[row, column] == alone[1]


@given(st.floats(0, 1), st.floats(0.5, 500), st.floats(0.5, 0.99))
def test_wilson_of_fractions_of_rows_holds_the_share(share, trials, level):
    low, high = wilson_interval(share * trials, trials, level)
    assert 0 <= low <= share + 1e-9
    assert share - 1e-9 <= high <= 1


@given(st.integers(0, 20), st.integers(2, 50))
def test_wilson_narrows_with_the_number_of_trials(successes, factor):
    low, high = wilson_interval(successes, 20)
    low_of_more, high_of_more = wilson_interval(successes * factor, 20 * factor)
    assert high_of_more - low_of_more < high - low


def test_wilson_begins_at_zero_and_ends_at_one_exactly():
    for trials in (1, 3, 7, 1000, 12345):
        low, _ = wilson_interval(0, trials)
        _, high = wilson_interval(trials, trials)
        assert (low, high) == (0, 1)


@given(st.floats(0.5, 0.95))
def test_the_central_interval_has_the_percentiles_of_the_draws(level):
    draws = np.arange(1001) / 1000
    interval = central_interval(draws, level, value=0.5, widest=Interval(-9.0, 9.0))
    assert interval.low == pytest.approx((1 - level) / 2)
    assert interval.high == pytest.approx((1 + level) / 2)


@given(st.floats(-2, 2), st.floats(0.5, 0.99))
def test_the_central_interval_holds_the_observed_value(value, level):
    draws = np.linspace(0, 1, 101)
    interval = central_interval(draws, level, value=value, widest=Interval(-9.0, 9.0))
    assert interval.low <= value <= interval.high


def test_of_an_undefined_value_everything_is_possible():
    widest = Interval(-np.inf, np.inf)
    draws = np.linspace(0, 1, 100)
    assert central_interval(draws, 0.95, value=np.nan, widest=widest) == widest


@given(ends, st.data())
def test_the_interval_of_the_absolute_value_holds_all_absolute_values(bounds, data):
    signed = Interval(*bounds)
    interval = absolute_interval(signed)
    inside = data.draw(st.floats(signed.low, signed.high))
    assert interval.low <= abs(inside) <= interval.high


@given(ends)
def test_the_interval_of_the_absolute_value_is_no_wider_than_needed(bounds):
    signed = Interval(*bounds)
    interval = absolute_interval(signed)
    assert interval.high in (abs(signed.low), abs(signed.high))
    reaches_zero = signed.low <= 0 <= signed.high
    assert (interval.low == 0) == reaches_zero or 0 in bounds
    mirrored = absolute_interval(Interval(-signed.high, -signed.low))
    assert mirrored == interval


def test_examples_of_absolute_intervals():
    assert absolute_interval(Interval(-0.2, 0.5)) == (0, 0.5)
    assert absolute_interval(Interval(-0.5, -0.2)) == (0.2, 0.5)
    assert absolute_interval(Interval(0.2, 0.5)) == (0.2, 0.5)
    assert absolute_interval(Interval(-np.inf, np.inf)) == (0, np.inf)
