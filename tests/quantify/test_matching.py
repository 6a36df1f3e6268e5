"""HDy and DyS: minima by brute force, and what HDy is bad at."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._histogram import ONE, ScoreHistogram, edges_for, round_scores
from cape.quantify import DyS, HDy, HistogramPosterior

EDGES = edges_for(round_scores([0.5]), round_scores([0.5]))
seeds = st.integers(0, 2**32)


def random_histograms(seed, n_training=60, n_batch=40):
    random = np.random.default_rng(seed)
    a = random.uniform(1, 5, 2)
    b = random.uniform(1, 5, 2)
    k = random.binomial(n_batch, random.random())
    batch = np.concatenate([random.beta(*a, k), random.beta(*b, n_batch - k)])
    samples = random.beta(*a, n_training), random.beta(*b, n_training), batch
    return [ScoreHistogram.of(round_scores(scores), EDGES) for scores in samples]


def binned(histogram, n_bins):
    borders = round_scores(np.arange(1, n_bins) / n_bins)
    return histogram.merged(borders) / histogram.counts.sum()


def hellinger(mixed, b):
    return 1 - np.sqrt(mixed * b).sum()


def topsoe(mixed, b):
    total = mixed + b
    with np.errstate(all="ignore"):
        left = np.where(mixed > 0, mixed * np.log(2 * mixed / total), 0)
        right = np.where(b > 0, b * np.log(2 * b / total), 0)
    return (left + right).sum()


DISTANCES = {"hellinger": hellinger, "topsoe": topsoe}


@pytest.mark.parametrize("divergence", DISTANCES)
@pytest.mark.parametrize("n_bins", [2, 5, 8, 11, 22])
@given(seed=seeds)
def test_dys_is_no_worse_than_any_prevalence_on_a_grid(divergence, n_bins, seed):
    positives, negatives, batch = random_histograms(seed)
    quantifier = DyS(n_bins=n_bins, divergence=divergence).fit(positives, negatives)
    p, n, b = (binned(h, n_bins) for h in (positives, negatives, batch))

    def distance(rho):
        return DISTANCES[divergence](rho * p + (1 - rho) * n, b)

    least = min(distance(rho) for rho in np.linspace(0, 1, 101))
    assert distance(quantifier.estimate(batch)) <= least + 1e-12


@given(seeds)
def test_hdy_is_the_median_over_its_binnings(seed):
    positives, negatives, batch = random_histograms(seed)
    estimates = []
    for n_bins in range(10, 111, 10):
        part = DyS(n_bins=n_bins, divergence="hellinger").fit(positives, negatives)
        estimates.append(part.estimate(batch))
    hdy = HDy().fit(positives, negatives)
    assert hdy.estimate(batch) == pytest.approx(np.median(estimates), abs=1e-9)


def test_a_batch_where_training_had_no_scores_gives_the_training_prevalence():
    positives = ScoreHistogram.of(round_scores([0.95] * 3), EDGES)
    negatives = ScoreHistogram.of(round_scores([0.05]), EDGES)
    batch = ScoreHistogram.of(round_scores([0.5, 0.52]), EDGES)
    assert HDy().fit(positives, negatives).estimate(batch) == 0.75


@pytest.mark.parametrize("n_bins", [-1, 0, 1, 7, 8, 9, 11, 22, 55, 110, 111, 120])
def test_numbers_of_bins_are_the_divisors_of_those_that_histograms_have(n_bins):
    positives, negatives, batch = random_histograms(1)
    quantifier = DyS(n_bins=n_bins)
    multiples = range(10, 111, 10)
    if n_bins > 0 and any(multiple % n_bins == 0 for multiple in multiples):
        assert 0 <= quantifier.fit(positives, negatives).estimate(batch) <= 1
        assert len(quantifier.positive_shares_) == n_bins
    else:
        with pytest.raises(
            ValueError,
            match=f"n_bins must be a divisor of 10, 20, ..., or 110, got {n_bins}",
        ):
            quantifier.fit(positives, negatives)


def test_one_bin_cannot_tell_anything():
    positives, negatives, batch = random_histograms(2)
    assert DyS(n_bins=1).fit(positives, negatives).estimate(batch) == 0.5


def test_scores_on_a_border_belong_to_the_bin_below():
    """Cells are closed on the right, and so are bins."""
    border = round_scores([0.5])[0]
    positives = ScoreHistogram.of(np.array([border + 1]), EDGES)
    negatives = ScoreHistogram.of(np.array([border]), EDGES)
    quantifier = DyS(n_bins=2).fit(positives, negatives)
    assert quantifier.positive_shares_.tolist() == [0, 1]
    assert quantifier.negative_shares_.tolist() == [1, 0]
    assert 2 * border == ONE


def mean_absolute_error(quantifier, n_batch, n_repeats, seed):
    """On normal scores through a logistic link, with a training prevalence of .3."""
    random = np.random.default_rng(seed)

    def draw(n_positive, n_negative):
        x = np.concatenate(
            [random.normal(1, 1, n_positive), random.normal(-1, 1, n_negative)]
        )
        odds = 3 / 7 * np.exp(2 * x)
        return round_scores(odds / (1 + odds))

    positives, negatives = draw(1500, 0), draw(0, 3500)
    edges = edges_for(positives, negatives)
    quantifier.fit(
        ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges)
    )
    errors = []
    for _ in range(n_repeats):
        k = random.binomial(n_batch, random.random())
        batch = ScoreHistogram.of(draw(k, n_batch - k), edges)
        errors.append(abs(quantifier.estimate(batch) - k / n_batch))
    return np.mean(errors)


@pytest.mark.slow
def test_hdy_is_much_worse_than_the_histogram_posterior_with_twenty_rows():
    """As its docstring says."""
    hdy = mean_absolute_error(HDy(), 20, 300, seed=0)
    posterior = mean_absolute_error(HistogramPosterior(), 20, 300, seed=0)
    assert hdy > 1.3 * posterior
    many_rows = mean_absolute_error(HDy(), 2000, 30, seed=0)
    assert many_rows < 0.3 * hdy
