"""Intervals of shares and of drawn values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from cape.metrics._intervals import estimate_of_draws, wilson_interval


@given(
    st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.floats(0.5, 0.99),
)
def test_wilson_is_scipys(share, level):
    k, n = share
    expected = binomtest(k, n).proportion_ci(level, method="wilson")
    low, high = wilson_interval(k, n, level)
    np.testing.assert_allclose([low, high], [expected.low, expected.high], atol=1e-12)


@given(st.integers(1, 300), st.data(), st.floats(0.5, 0.99))
def test_wilson_of_failures_is_that_of_successes_turned_round(n, data, level):
    k = data.draw(st.integers(0, n))
    low, high = map(float, wilson_interval(k, n, level))
    other_low, other_high = map(float, wilson_interval(n - k, n, level))
    assert (1 - other_high, 1 - other_low) == pytest.approx((low, high), abs=1e-12)
    wider_low, wider_high = map(float, wilson_interval(k, n, (1 + level) / 2))
    assert wider_low <= low <= k / n <= high <= wider_high


def test_wilson_covers_as_often_as_it_says_on_average():
    """Exact: the cover over k ~ Binomial(n, p) and p uniform is an average of sums."""
    n, p = 40, np.linspace(0.005, 0.995, 199)
    low, high = wilson_interval(np.arange(n + 1), n, 0.9)
    inside = (low[:, None] <= p) & (p <= high[:, None])
    cover = (binom.pmf(np.arange(n + 1)[:, None], n, p) * inside).sum(axis=0)
    assert cover.mean() == pytest.approx(0.9, abs=0.01)


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


def test_wilson_begins_at_zero_and_ends_at_one_exactly():
    for trials in (1, 3, 7, 1000, 12345):
        low, _ = wilson_interval(0, trials)
        _, high = wilson_interval(trials, trials)
        assert (low, high) == (0, 1)


@given(st.floats(0.5, 0.95))
def test_an_estimate_of_draws_has_their_percentiles(level):
    draws = np.arange(1001) / 1000
    _, low, high = estimate_of_draws(0.5, draws, level, lowest=-9, highest=9)
    assert low == pytest.approx((1 - level) / 2)
    assert high == pytest.approx((1 + level) / 2)


@given(st.floats(-2, 2), st.floats(0.5, 0.99), st.booleans())
def test_an_estimate_of_draws_holds_the_observed_value(value, level, absolute):
    draws = np.linspace(-1, 1, 101) + 0.4
    found = estimate_of_draws(
        value, draws, level, lowest=-9, highest=9, absolute=absolute
    )
    assert found.value == (abs(value) if absolute else value)
    assert found.low <= found.value <= found.high


def test_of_an_undefined_value_everything_is_possible():
    for absolute, low in ((False, -9), (True, 0)):
        found = estimate_of_draws(
            np.nan, np.ones(9), 0.95, lowest=-9, highest=9, absolute=absolute
        )
        assert found == (np.nan, low, 9)


@given(st.floats(-2, 2), st.floats(0, 2))
def test_the_interval_of_an_absolute_value_is_no_wider_than_needed(centre, width):
    draws = np.linspace(centre - width, centre + width, 51)
    settings = {"level": 0.9, "lowest": -9, "highest": 9}
    signed = estimate_of_draws(centre, draws, **settings)
    size = estimate_of_draws(centre, draws, **settings, absolute=True)
    mirrored = estimate_of_draws(-centre, -draws[::-1], **settings, absolute=True)
    assert tuple(mirrored) == pytest.approx(tuple(size))
    assert size.high == max(abs(signed.low), abs(signed.high))
    if signed.low <= 0 <= signed.high:
        assert size.low == 0
    else:
        assert size.low == min(abs(signed.low), abs(signed.high))
