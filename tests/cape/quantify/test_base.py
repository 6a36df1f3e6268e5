"""Moments and the interval that inverts a test of them."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm

from cape.quantify import (
    QUANTIFIERS,
    ScoreHistogram,
    edges_for,
    make_quantifier,
    round_scores,
)
from cape.quantify._base import Moments, moment_interval
from cape.quantify._likelihood import posterior_statistic

moments = st.builds(
    Moments, st.floats(0, 1), st.floats(1e-6, 0.25), st.integers(5, 10_000).map(float)
)
levels = st.floats(0.3, 0.99)
shares = st.floats(0.01, 0.99)


def is_separated(positives, negatives):
    """Whether the two means differ by five standard errors."""
    gap = abs(positives.mean - negatives.mean)
    variance = positives.variance / positives.size + negatives.variance / negatives.size
    return gap > 5 * np.sqrt(variance) + 1e-3


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.integers(0, 2**32))
def test_moments_are_those_of_the_rows(scores, seed):
    scores = round_scores(scores)
    edges = round_scores([0.2, 0.4, 0.6, 0.8])
    values = np.random.default_rng(seed).normal(size=5)
    rows = values[np.searchsorted(edges, scores)]
    result = Moments.of(values, ScoreHistogram.of(scores, edges))
    assert result.mean == pytest.approx(rows.mean(), abs=1e-12)
    assert result.variance == pytest.approx(rows.var(), abs=1e-12)
    assert result.size == len(scores)


@given(moments, moments, moments, levels, st.floats(0.01, 100), st.floats(-5, 5))
def test_the_interval_has_no_unit(positives, negatives, batch, level, scale, shift):
    """The statistic may be stretched, moved or reversed: the prevalence is the same."""
    assume(is_separated(positives, negatives))
    expected = moment_interval(positives, negatives, batch, level)
    for factor in (scale, -scale):
        changed = []
        for mean, variance, size in (positives, negatives, batch):
            changed.append(Moments(shift + factor * mean, factor**2 * variance, size))
        assert moment_interval(*changed, level) == pytest.approx(expected, abs=1e-6)


@given(shares, st.integers(20, 5000), st.integers(50, 5000), st.floats(0.5, 0.99))
def test_the_interval_holds_just_what_its_test_does_not_reject(rho, n, training, level):
    positives = Moments(0.7, 0.04, training)
    negatives = Moments(0.35, 0.05, 2 * training)
    batch = Moments(0.35 + rho * 0.35, 0.0, n)
    low, high = moment_interval(positives, negatives, batch, level)

    def p_value(q):
        variance = (q * 0.04 + (1 - q) * 0.05) / n
        variance += q**2 * 0.04 / training + (1 - q) ** 2 * 0.05 / (2 * training)
        return 2 * norm.sf(abs(rho - q) * 0.35 / np.sqrt(variance))

    assert low <= rho <= high
    for end in (low, high):
        if 0 < end < 1:
            assert p_value(end) == pytest.approx(1 - level, abs=1e-6)
    for q in np.linspace(low, high, 7)[1:-1]:
        assert p_value(q) >= 1 - level - 1e-9


@pytest.mark.parametrize("distance", [0.01, 0.1, 0.5, 2.0])
def test_a_mean_beyond_a_pure_batch_leaves_that_end_and_its_noise(distance):
    """Far beyond an end no prevalence passes the test, but there is an interval."""
    positives = Moments(0.7, 0.04, 1000)
    negatives = Moments(0.3, 0.04, 1000)
    noise = 1.96 * np.sqrt(0.04 * (1 / 100 + 1 / 1000)) / 0.4
    above = Moments(0.7 + distance, 0.04, 100)
    low, high = moment_interval(positives, negatives, above, 0.95)
    assert high == 1.0
    assert low <= 1 - noise + 1e-4
    below = Moments(0.3 - distance, 0.04, 100)
    assert moment_interval(positives, negatives, below, 0.95) == pytest.approx(
        (0.0, 1 - low), abs=1e-9
    )


def test_statistics_without_noise_give_a_point():
    perfect = Moments(1.0, 0.0, 30), Moments(0.0, 0.0, 30)
    interval = moment_interval(*perfect, Moments(0.25, 0.1875, 8), 0.95)
    assert interval == pytest.approx((0.25, 0.25))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "k", "most"),
    [(30, 9, 0.92), (300, 90, 0.92), (300, 150, 0.92), (300, 0, 1), (300, 285, 1)],
)
def test_the_level_is_kept_when_the_statistic_is_normal(n, k, most):
    """2,000 draws: .9 give or take three standard errors, .02.

    Near pure batches the interval is never shorter than the noise of such a batch.
    """
    assert 0.88 <= share_of_intervals_that_hold(n, k) <= most


def share_of_intervals_that_hold(n, k):
    """Draw training and batch anew; k of the n rows of a batch are positive."""
    random = np.random.default_rng(n)
    held = []
    for _ in range(2000):
        s1 = random.normal(1, 1, 200)
        s0 = random.normal(-1, 1.5, 300)
        s = np.concatenate([random.normal(1, 1, k), random.normal(-1, 1.5, n - k)])
        parts = [Moments(x.mean(), x.var(), len(x)) for x in (s1, s0, s)]
        low, high = moment_interval(*parts, 0.9)
        held.append(low <= k / n <= high)
    return np.mean(held)


@given(shares, shares, shares)
def test_the_posterior_statistic_is_the_slope_of_the_log_likelihood(s, prevalence, q):
    def log_likelihood(x):
        return np.log(x * s / prevalence + (1 - x) * (1 - s) / (1 - prevalence))

    step = 1e-6
    slope = (log_likelihood(q + step) - log_likelihood(q - step)) / (2 * step)
    result = posterior_statistic(np.array([s]), prevalence, q)
    assert result[0] == pytest.approx(slope, rel=1e-4, abs=1e-4)


@pytest.fixture(scope="module")
def histograms():
    random = np.random.default_rng(0)
    s1 = round_scores(random.beta(4, 2, 300))
    s0 = round_scores(random.beta(2, 4, 500))
    edges = edges_for(s1, s0)
    return ScoreHistogram.of(s1, edges), ScoreHistogram.of(s0, edges)


@pytest.mark.parametrize("name", QUANTIFIERS)
def test_the_statistic_of_a_mixture_has_the_mixed_mean(name, histograms):
    """This is what makes every statistic a guide to the prevalence."""
    positives, negatives = histograms
    quantifier = make_quantifier(name).fit(positives, negatives)
    batch = ScoreHistogram(
        positives.edges,
        5 * positives.counts + 2 * negatives.counts,
        5 * positives.sums + 2 * negatives.sums,
    )
    rho = 5 * positives.size / batch.size

    # The mean score of a cell of the mixture is a mixture as well, so statistics that
    # bend within a cell are off by a little.
    t = quantifier.statistic_moments(positives, 0.4)
    f = quantifier.statistic_moments(negatives, 0.4)
    m = quantifier.statistic_moments(batch, 0.4)
    assert m.mean == pytest.approx(rho * t.mean + (1 - rho) * f.mean, abs=1e-3)
    assert (t.size, f.size, m.size) == (300, 500, batch.size)


# The statistic of the one-step quantifier is chosen at another prevalence.
@pytest.mark.parametrize("name", sorted(set(QUANTIFIERS) - {"onestep"}))
def test_the_interval_is_the_moment_interval_of_the_statistic(name, histograms):
    """Stretched, if it must be, to hold the estimate."""
    positives, negatives = histograms
    quantifier = make_quantifier(name).fit(positives, negatives)
    batch = ScoreHistogram.of(round_scores([0.2, 0.4, 0.4, 0.9]), positives.edges)
    estimate = quantifier.estimate(batch)
    parts = [
        quantifier.statistic_moments(histogram, estimate)
        for histogram in (positives, negatives, batch)
    ]
    low, high = moment_interval(*parts, 0.8)
    expected = min(low, estimate), max(high, estimate)
    assert quantifier.interval(batch, 0.8) == expected
