"""EMQ and its one-step correction, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import norm

from cape.quantify import (
    EMQ,
    OneStepEMQ,
    ScoreHistogram,
    edges_for,
    round_scores,
)
from cape.quantify._base import Likelihood, Moments, moment_interval, noise_weights
from cape.quantify._likelihood import (
    _posterior_median,
    best_prevalence,
    decreasing_root,
)


def histograms(seed, n_train, n_batch, rho):
    """Draw histograms of two classes and of a batch with prevalence rho."""
    random = np.random.RandomState(seed)
    positives = round_scores(random.beta(5, 2, n_train))
    negatives = round_scores(random.beta(2, 4, n_train))
    n_positive = round(rho * n_batch)
    high = random.beta(5, 2, n_positive)
    low = random.beta(2, 4, n_batch - n_positive)
    batch = round_scores(np.concatenate([high, low]))
    edges = edges_for(positives, negatives)
    return [ScoreHistogram.of(s, edges) for s in (positives, negatives, batch)]


# The one Newton loop


@given(root=st.floats(-5, 5), start=st.floats(0.01, 0.99), steepness=st.floats(0.5, 50))
def test_the_root_is_found_from_anywhere_or_its_end_is(root, start, steepness):
    def function(x):
        value = np.tanh(steepness * (root - x))
        return value, -steepness * (1 - value**2)

    solved = decreasing_root(function, np.array([start]))
    assert solved[0] == pytest.approx(np.clip(root, 0, 1), abs=1e-8)


# The one-step quantifier, against brute force, theory and simulation.


ONE = 2**32  # the unit of rounded scores

shares = st.floats(0.01, 0.99)


class Normal:
    """Two normal classes at a distance, and their true posterior probabilities.

    With ``distortion`` other than 1 the log-odds are stretched, and the scores are no
    longer probabilities.
    """

    def __init__(self, auc, n_positives, n_negatives, distortion=1.0):
        self.distance = np.sqrt(2) * ndtri(auc)
        self.n_positives = n_positives
        self.n_negatives = n_negatives
        self.distortion = distortion

    def draw(self, random, n_positive, n_negative):
        x = random.normal(size=n_positive + n_negative)
        x[:n_positive] += self.distance
        ratio = self.distortion * self.distance * (x - self.distance / 2)
        log_odds = ratio + np.log(self.n_positives / self.n_negatives)
        return round_scores(1 / (1 + np.exp(-log_odds)))

    def train(self, random):
        positives = self.draw(random, self.n_positives, 0)
        negatives = self.draw(random, 0, self.n_negatives)
        edges = edges_for(positives, negatives)
        return ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges)

    def batch(self, random, n, rho, edges):
        n_positive = round(n * rho)
        return ScoreHistogram.of(self.draw(random, n_positive, n - n_positive), edges)

    def bound(self, rho, n):
        """Return the least standard error that training and batch allow."""
        x = np.linspace(-12, 12, 20_001)
        f1 = norm.pdf(x, self.distance)
        f0 = norm.pdf(x)
        w1 = rho / n + rho**2 / self.n_positives
        w0 = (1 - rho) / n + (1 - rho) ** 2 / self.n_negatives
        integral = ((f1 - f0) ** 2 / (w1 * f1 + w0 * f0)).sum() * (x[1] - x[0])
        return np.sqrt(1 / integral - w0 * w1 / (w0 + w1))


def errors(quantifier, model, n, rho, *, draws, seed=0):
    """Return the errors of a quantifier, each after a training of its own."""
    random = np.random.default_rng(seed)
    result = []
    for _ in range(draws):
        positives, negatives = model.train(random)
        quantifier.fit(positives, negatives)
        batch = model.batch(random, n, rho, positives.edges)
        result.append(quantifier.estimate(batch) - round(n * rho) / n)
    return np.array(result)


def root_mean_square(values):
    return np.sqrt(np.mean(np.square(values)))


def coverage_and_width(quantifier, model, n, rho, *, draws, seed=0):
    random = np.random.default_rng(seed)
    held = []
    widths = []
    for _ in range(draws):
        positives, negatives = model.train(random)
        quantifier.fit(positives, negatives)
        batch = model.batch(random, n, rho, positives.edges)
        low, high = quantifier.interval(batch)
        held.append(low <= rho <= high)
        widths.append(high - low)
    return np.mean(held), np.mean(widths)


@pytest.fixture
def fitted():
    random = np.random.default_rng(0)
    return OneStepEMQ().fit(*Normal(0.85, 600, 900).train(random))


def batch_for(fitted, n, rho, seed=1):
    model = Normal(0.85, 600, 900)
    edges = fitted.positives_.edges
    return model.batch(np.random.default_rng(seed), n, rho, edges)


@pytest.mark.parametrize("rho", [0.2, 0.5, 0.9])
def test_the_estimate_is_newtons_step_from_emqs(fitted, rho):
    """Far from the ends the prior does nothing, up to a little skewness."""
    batch = batch_for(fitted, 5000, rho)
    positives, negatives, mean_of_batch = fitted.likelihood(batch)
    start = EMQ().fit(fitted.positives_, fitted.negatives_).estimate(batch)
    expected = start * positives.mean + (1 - start) * negatives.mean
    slope = positives.mean - negatives.mean
    corrected = start + (mean_of_batch.mean - expected) / slope
    low, high = fitted.interval(batch)
    assert fitted.estimate(batch) == pytest.approx(corrected, abs=0.02 * (high - low))


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("rho", [0.0, 0.4, 1.0])
def test_the_interval_is_fiellers_for_the_same_statistic(fitted, rho, level):
    batch = batch_for(fitted, 300, rho)
    low, high = moment_interval(*fitted.likelihood(batch), level)
    estimate = fitted.estimate(batch)
    expected = min(low, estimate), max(high, estimate)
    assert fitted.interval(batch, level) == expected


@pytest.mark.parametrize("n", [1, 20, 400, 20_000])
@pytest.mark.parametrize("centre", [-0.05, 0.0, 0.1, 0.5, 0.97, 1.1])
def test_the_median_of_one_step_by_brute_force(n, centre):
    positives = Moments(1.2, 2.0, 50)
    negatives = Moments(-0.4, 0.5, 300)
    mean = -0.4 + centre * 1.6
    grid = np.linspace(0, 1, 400_001)
    variance = (grid * 2.0 + (1 - grid) * 0.5) / n
    variance += grid**2 * 2.0 / 50 + (1 - grid) ** 2 * 0.5 / 300
    density = norm.pdf(mean, -0.4 + grid * 1.6, np.sqrt(variance))
    cumulated = np.cumsum(density) / density.sum()
    median = grid[np.searchsorted(cumulated, 0.5)]
    spread = np.diff(np.interp([0.16, 0.84], cumulated, grid))[0]
    batch = Moments(mean, 1.0, n)
    found = _posterior_median(Likelihood(positives, negatives, batch).beside(0))
    assert found == pytest.approx(median, abs=0.02 * spread)


def calibrated_histograms(seed, factor_1, factor_0):
    """Return histograms whose scores are exactly the shares of positives in cells."""
    random = np.random.default_rng(seed)
    edges = np.arange(1, 12) * (ONE // 12)
    n_1 = random.integers(1, 40, 12) * factor_1
    n_0 = random.integers(1, 40, 12) * factor_0
    # Ascending odds, so that the scores are ascending like the cells. Centres may lie
    # anywhere: a histogram does not look at where its sums fall.
    order = np.argsort(n_1 / n_0)
    n_1, n_0 = n_1[order], n_0[order]
    scores = n_1 / (n_1 + n_0)
    return [ScoreHistogram(edges, n, scores * n * ONE) for n in (n_1, n_0)]


def noise_at(quantifier, q, rho, n):
    """Return the variance of the step for a statistic at q, with prevalence rho."""
    t = quantifier.statistic_moments(quantifier.positives_, q)
    f = quantifier.statistic_moments(quantifier.negatives_, q)
    w1, w0 = noise_weights(rho, n, t.size, f.size)
    noise = w1 * t.variance + w0 * f.variance
    return noise / (t.mean - f.mean) ** 2


@given(
    st.integers(0, 2**32),
    st.integers(1, 30),
    st.integers(1, 30),
    st.floats(0.05, 0.95),
    st.integers(10, 100_000),
)
def test_no_other_q_has_less_noise_if_scores_are_calibrated(seed, a, b, rho, n):
    positives, negatives = calibrated_histograms(seed, a, b)
    quantifier = OneStepEMQ().fit(positives, negatives)
    start = (rho * (n + 2) - 1) / n
    best = best_prevalence(start, n, positives.size, negatives.size)
    least = noise_at(quantifier, best, rho, n)
    for q in np.linspace(0.01, 0.99, 25):
        assert least <= noise_at(quantifier, q, rho, n) * (1 + 1e-6) or not (
            0.001 < best < 0.999
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "rho"), [(100, 0.1), (100, 0.5), (1000, 0.1), (10_000, 0.1), (10_000, 0.3)]
)
def test_the_error_is_near_the_cramer_rao_bound(n, rho):
    """150 draws: the standard error of a ratio of 1 is .06."""
    model = Normal(0.85, 500, 500)
    found = errors(OneStepEMQ(), model, n, rho, draws=150, seed=n)
    assert root_mean_square(found) < 1.15 * model.bound(rho, n)


@pytest.mark.parametrize("distortion", [0.6, 1.8])
def test_scores_need_not_be_calibrated(distortion):
    model = Normal(0.8, 2000, 2000, distortion)
    one_step = errors(OneStepEMQ(), model, 2000, 0.2, draws=40)
    emq = errors(EMQ(), model, 2000, 0.2, draws=40)
    # EMQ is off by several standard errors, the one-step estimate by none.
    standard_error = one_step.std() / np.sqrt(40)
    assert abs(one_step.mean()) < 4 * standard_error
    assert abs(emq.mean()) > 10 * standard_error


@pytest.mark.slow
@pytest.mark.parametrize(("auc", "rho"), [(0.7, 0.3), (0.93, 0.05)])
def test_twenty_positives_are_enough_for_the_interval(auc, rho):
    """150 draws: .95 less three standard errors is .90."""
    model = Normal(auc, 20, 2000)
    held, width = coverage_and_width(OneStepEMQ(), model, 500, rho, draws=150)
    assert held >= 0.9
    assert width < 0.65


@given(st.integers(0, 2**32), st.integers(0, 10))
def test_a_mixture_of_the_training_histograms_is_recognised(seed, tenths):
    random = np.random.default_rng(seed)
    positives, negatives = Normal(0.9, 60, 60).train(random)
    factors = 500 * tenths, 500 * (10 - tenths)
    counts = factors[0] * positives.counts + factors[1] * negatives.counts
    sums = factors[0] * positives.sums + factors[1] * negatives.sums
    batch = ScoreHistogram(positives.edges, counts, sums)
    fitted = OneStepEMQ().fit(positives, negatives)
    low, high = fitted.interval(batch)
    assert low <= tenths / 10 <= high
    # At an end the median is .67 standard deviations off it, the interval 1.96.
    tolerance = 0.4 * (high - low) + 0.005
    assert fitted.estimate(batch) == pytest.approx(tenths / 10, abs=tolerance)


@pytest.mark.parametrize("n", [2, 10, 100])
def test_a_flat_prior_keeps_estimates_off_the_ends(fitted, n):
    """EMQ's estimate of a small batch without positives is often 0."""
    emq = EMQ().fit(fitted.positives_, fitted.negatives_)
    batches = [batch_for(fitted, n, 0.0, seed=seed) for seed in range(10)]
    assert min(emq.estimate(batch) for batch in batches) == 0
    for batch in batches:
        assert 0 < fitted.estimate(batch) < 1
