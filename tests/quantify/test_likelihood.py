"""EMQ and the histogram posterior, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from cape._histogram import ScoreHistogram, edges_for, round_scores
from cape.quantify import EMQ, HistogramPosterior
from cape.quantify._likelihood import _central_interval


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


def test_cells_are_cut_at_quantiles_of_the_training_scores():
    p, n, _ = histograms(0, 2000, 10, 0.5)
    fitted = HistogramPosterior(cells=10).fit(p, n)
    both = p + n
    assert len(fitted.cuts_) == 9
    np.testing.assert_allclose(both.merged(fitted.cuts_) / both.size, 0.1, atol=0.01)


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


def test_rare_negatives_have_few_cells_as_well():
    positives, negatives = few_positives(40)
    fitted = HistogramPosterior().fit(negatives, positives)
    other = HistogramPosterior().fit(positives, negatives)
    np.testing.assert_array_equal(fitted.cuts_, other.cuts_)
    np.testing.assert_array_equal(fitted.positive_shares_, other.negative_shares_)


def test_fewer_cells_than_affordable_are_as_many_as_were_asked_for():
    fitted = HistogramPosterior(cells=3).fit(*few_positives(60))
    assert len(fitted.cuts_) == 2
    rare = HistogramPosterior(cells=2).fit(*few_positives(15))
    assert len(rare.cuts_) == 1


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


def test_its_interval_is_no_wider_for_more_rows_of_either_kind():
    widths = []
    for n_train, n_batch in ((100, 50), (100, 1000), (3000, 1000)):
        p, n, batch = histograms(2, n_train, n_batch, 0.4)
        low, high = HistogramPosterior().fit(p, n).interval(batch)
        widths.append(high - low)
    assert widths[0] > widths[1] > widths[2] > 0


@pytest.mark.parametrize("rho", [0, 0.2, 0.7, 1])
def test_emq_is_where_the_likelihood_is_greatest(rho):
    p, n, batch = histograms(3, 500, 800, rho)
    fitted = EMQ().fit(p, n)
    used = batch.counts > 0
    s, counts = batch.centres[used], batch.counts[used]

    def cost(q):
        return -counts @ np.log(q * s / 0.5 + (1 - q) * (1 - s) / 0.5)

    best = minimize_scalar(
        cost, bounds=(0, 1), method="bounded", options={"xatol": 1e-10}
    )
    assert cost(fitted.estimate(batch)) <= best.fun + 1e-9


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


def test_emq_of_one_row_is_an_end():
    """The likelihood of one row is linear in the prevalence."""
    p, n, _ = histograms(7, 100, 10, 0.5)
    fitted = EMQ().fit(p, n)
    sure = ScoreHistogram.of(round_scores([0.9]), p.edges)
    unsure = ScoreHistogram.of(round_scores([0.2]), p.edges)
    assert fitted.estimate(sure) == 1.0
    assert fitted.estimate(unsure) == 0.0
