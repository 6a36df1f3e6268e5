"""EMQ and the histogram posterior, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import norm

from cape.quantify import (
    EMQ,
    HistogramPosterior,
    OneStepEMQ,
    ScoreHistogram,
    edges_for,
    round_scores,
)
from cape.quantify._base import Likelihood, Moments, moment_interval, noise_weights
from cape.quantify._likelihood import (
    _central_interval,
    _posterior_median,
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


@pytest.mark.parametrize("n_batch", [1, 5, 60, 3000])
@pytest.mark.parametrize("rho", [0, 0.3, 0.95])
@pytest.mark.parametrize("cells", [3, 10])
def test_the_posterior_median_by_brute_force(n_batch, rho, cells):
    p, n, batch = histograms(1, 400, n_batch, rho)
    fitted = HistogramPosterior(cells=cells).fit(p, n)
    a, b = (h.merged(fitted.cuts_) + 0.5 for h in (p, n))
    a, b = a / a.sum(), b / b.sum()
    grid = np.linspace(0, 1, 200_001)
    log_likelihood = sum(
        count * np.log(grid * x + (1 - grid) * y)
        for count, x, y in zip(batch.merged(fitted.cuts_), a, b, strict=True)
    )
    weight = np.exp(log_likelihood - log_likelihood.max())
    below = np.cumsum(weight) / weight.sum()
    median = grid[np.searchsorted(below, 0.5)]
    spread = grid[np.searchsorted(below, 0.84)] - grid[np.searchsorted(below, 0.16)]
    assert fitted.estimate(batch) == pytest.approx(median, abs=0.01 * spread)


def few_positives(n_positive, seed=0):
    """Draw histograms of few positives and of 2,000 negatives."""
    random = np.random.default_rng(seed)
    positives = round_scores(random.beta(3, 3, n_positive))
    negatives = round_scores(random.beta(2, 4, 2000))
    edges = edges_for(positives, negatives)
    return ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges)


@pytest.mark.parametrize(
    ("n_positive", "n_cells"),
    [(3, 2), (19, 2), (59, 2), (60, 3), (99, 4), (100, 10), (5000, 10)],
)
def test_a_rare_class_has_twenty_rows_for_each_cell(n_positive, n_cells):
    fitted = HistogramPosterior().fit(*few_positives(n_positive))
    assert len(fitted.cuts_) == n_cells - 1
    assert fitted.positive_shares_.shape == (n_cells,)


@pytest.mark.parametrize("n_positive", [20, 50, 90])
def test_both_classes_weigh_equally_in_the_cells_of_a_rare_class(n_positive):
    positives, negatives = few_positives(n_positive)
    fitted = HistogramPosterior().fit(positives, negatives)
    in_positives = positives.merged(fitted.cuts_) / n_positive
    in_negatives = negatives.merged(fitted.cuts_) / 2000
    n_cells = len(in_positives)
    # Cuts are edges of the histogram, so a cell is off by a row of the rare class.
    np.testing.assert_allclose(
        (in_positives + in_negatives) / 2, 1 / n_cells, atol=1.5 / n_positive
    )


@pytest.mark.slow
def test_intervals_hold_the_truth_with_twenty_positives_and_weak_scores():
    """120 draws: .95 less three standard errors is .89. With ten cells it was .64."""
    random = np.random.default_rng(0)
    distance = 0.74  # an AUC of .70

    def draw(n_positive, n_negative):
        x = random.normal(size=n_positive + n_negative)
        x[:n_positive] += distance
        return round_scores(norm.cdf(x))

    held = []
    for _ in range(120):
        positives = draw(20, 0)
        negatives = draw(0, 2000)
        edges = edges_for(positives, negatives)
        fitted = HistogramPosterior().fit(
            ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges)
        )
        low, high = fitted.interval(ScoreHistogram.of(draw(150, 350), edges))
        held.append(low <= 0.3 <= high)
    assert np.mean(held) >= 0.89


def test_draws_of_the_shares_scatter_as_multinomial_shares_do():
    """Dirichlet: mean a / sum a and variance m (1 - m) / (sum a + 1)."""
    p, n, _ = histograms(5, 800, 10, 0.5)
    fitted = HistogramPosterior(cells=5).fit(p, n)
    mean = fitted.positive_shares_
    variance = mean * (1 - mean) / (800 + 0.5 * len(mean) + 1)
    draws = fitted.positive_draws_
    # 128 draws: four standard errors of the mean, and a third of the variance.
    errors = np.abs(draws.mean(axis=0) - mean)
    assert (errors < 4 * np.sqrt(variance / 128)).all()
    np.testing.assert_allclose(draws.var(axis=0), variance, rtol=0.6)
    np.testing.assert_allclose(draws.sum(axis=1), 1, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_interval_is_that_of_simulated_labels(level):
    """Draw shares, a prevalence and every label, and take quantiles of the shares."""
    p, n, batch = histograms(6, 300, 80, 0.3)
    fitted = HistogramPosterior().fit(p, n)
    counts = batch.merged(fitted.cuts_)
    random = np.random.default_rng(0)
    a = fitted.positive_draws_
    b = fitted.negative_draws_
    grid = np.linspace(0, 1, 2001)[1:-1]
    realised = []
    for positive, negative in zip(a, b, strict=True):
        mixed = grid[:, None] * positive + (1 - grid[:, None]) * negative
        log_likelihood = np.log(mixed) @ counts
        weights = np.exp(log_likelihood - log_likelihood.max())
        for rho in random.choice(grid, 300, p=weights / weights.sum()):
            r = rho * positive / (rho * positive + (1 - rho) * negative)
            realised.append(random.binomial(counts, r).sum() / counts.sum())
    tails = [(1 - level) / 2, (1 + level) / 2]
    expected = np.quantile(realised, tails)
    # The number of positives is a whole number: half a row on both sides.
    assert fitted.interval(batch, level) == pytest.approx(expected, abs=0.6 / 80)


@given(
    st.lists(
        st.tuples(st.floats(0.1, 0.9), st.floats(0.01, 0.1), st.floats(0.1, 1)),
        min_size=1,
        max_size=6,
    ),
    st.floats(0.1, 0.98),
)
def test_quantiles_of_a_mixture_cut_off_equal_tails(components, level):
    centres, spreads, weights = np.array(components).T
    low, high = _central_interval(centres, spreads, weights, level)
    share = weights / weights.sum()
    tail = (1 - level) / 2
    if low > 0:
        assert share @ norm.cdf((low - centres) / spreads) == pytest.approx(
            tail, abs=1e-3
        )
    if high < 1:
        assert share @ norm.sf((high - centres) / spreads) == pytest.approx(
            tail, abs=1e-3
        )


# The one Newton loop


@given(
    root=st.floats(-20, 30),
    low=st.floats(-10, 0),
    width=st.floats(0.5, 20),
    remainder=st.sampled_from([1 / 64, 0.25, 0.5]),
)
def test_any_bracket_and_any_remainder_give_the_same_root(root, low, width, remainder):
    high = low + width

    def function(x):
        return np.tanh(root - x), -1 / np.cosh(root - x) ** 2

    solved = decreasing_root(
        function,
        np.array([low + width / 3]),
        low=low,
        high=high,
        remainder=remainder,
    )
    assert solved[0] == pytest.approx(np.clip(root, low, high), abs=1e-8)


@pytest.mark.parametrize("probability", [0.1, 0.25, 0.6, 0.9])
def test_bisection_crosses_gaps_in_which_the_function_is_flat(probability):
    """Quantiles of two normal distributions that are far apart and very narrow."""
    centres = np.array([0.2, 0.8])
    spread = 1e-4

    def function(x):
        z = (x[:, None] - centres) / spread
        value = probability - norm.cdf(z).mean(axis=1)
        return value, -norm.pdf(z).mean(axis=1) / spread

    solved = decreasing_root(function, np.array([0.5]), remainder=0.5)
    expected = 0.2 + spread * norm.ppf(2 * probability)
    if probability > 0.5:
        expected = 0.8 + spread * norm.ppf(2 * probability - 1)
    assert solved[0] == pytest.approx(expected, abs=1e-9)


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
    found = _posterior_median(Likelihood(positives, negatives, Moments(mean, 1.0, n)))
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
    best = quantifier._best_prevalence(start, n)
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
