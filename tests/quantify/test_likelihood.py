"""EMQ and the histogram posterior, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from cape.histogram import ScoreHistogram, edges_for, round_scores
from cape.quantify import EMQ, HistogramPosterior
from cape.quantify._base import decreasing_root


def histograms(seed, n_train, n_batch, rho):
    random = np.random.RandomState(seed)
    positives, negatives = (
        round_scores(random.beta(5, 2, n_train)),
        round_scores(random.beta(2, 4, n_train)),
    )
    n_positive = round(rho * n_batch)
    batch = round_scores(
        np.r_[random.beta(5, 2, n_positive), random.beta(2, 4, n_batch - n_positive)]
    )
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


@given(
    st.lists(st.floats(-5, 5).filter(lambda x: abs(x) > 0.01), min_size=1, max_size=8),
    st.floats(-4, 4),
)
def test_roots_of_decreasing_functions(slopes, shift):
    """Of sums of d / (1 + d x), the slope of a likelihood, moved up or down."""
    d = np.array(slopes) / 5.1

    def value(x):
        return float((d / (1 + d * x)).sum() + shift)

    def slope(x):
        terms = d / (1 + d * x[:, None])
        return terms.sum(axis=1) + shift, -(terms**2).sum(axis=1)

    found = decreasing_root(slope, np.array([0.5]))[0]
    expected = (
        1.0
        if value(1) >= 0
        else 0.0
        if value(0) <= 0
        else brentq(value, 0, 1, xtol=1e-13)
    )
    assert found == pytest.approx(expected, abs=1e-8)
