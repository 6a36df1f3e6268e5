"""CC, PCC, ACC and SPA against their formulas on the rows."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cape.quantify import (
    ACC,
    CC,
    PCC,
    SPA,
    DyS,
    HDy,
    ScoreHistogram,
    edges_for,
    round_scores,
)

ONE = 2**32  # the unit of rounded scores
HALF = ONE // 2

grid_scores = st.lists(st.integers(0, ONE), min_size=1, max_size=40).map(
    lambda s: np.array(s, dtype=np.int64)
)


def histograms(positives, negatives, batch):
    edges = edges_for(positives, negatives)
    return [ScoreHistogram.of(s, edges) for s in (positives, negatives, batch)]


@given(grid_scores, grid_scores, grid_scores)
def test_uncorrected_estimates_are_the_formulas_on_the_rows(
    positives, negatives, batch
):
    p, n, b = histograms(positives, negatives, batch)
    assert CC().fit(p, n).estimate(b) == (batch > HALF).mean()
    assert PCC().fit(p, n).estimate(b) == pytest.approx(batch.mean() / ONE, abs=1e-12)


@given(grid_scores, grid_scores, grid_scores)
def test_spa_is_the_formula_on_the_rows(positives, negatives, batch):
    tppa = positives.mean() / ONE
    fppa = negatives.mean() / ONE
    assume(abs(tppa - fppa) > 0.05)
    p, n, b = histograms(positives, negatives, batch)
    expected = (batch.mean() / ONE - fppa) / (tppa - fppa)
    spa = SPA().fit(p, n)
    assert spa.estimate(b) == pytest.approx(np.clip(expected, 0, 1), abs=1e-9)
    assert (spa.positive_mean_, spa.negative_mean_) == pytest.approx((tppa, fppa))


@given(grid_scores, grid_scores, grid_scores)
def test_acc_is_the_formula_on_the_rows(positives, negatives, batch):
    assume(abs(positives.mean() - negatives.mean()) > 0.05 * ONE)
    p, n, b = histograms(positives, negatives, batch)
    tpr = (positives > HALF).mean()
    fpr = (negatives > HALF).mean()
    estimate = ACC().fit(p, n).estimate(b)
    if tpr == fpr:
        assert estimate == len(positives) / (len(positives) + len(negatives))
    else:
        expected = ((batch > HALF).mean() - fpr) / (tpr - fpr)
        assert estimate == pytest.approx(np.clip(expected, 0, 1), abs=1e-12)


def test_a_score_of_just_a_half_is_not_counted():
    p, n, b = histograms(
        round_scores([0.9, 0.6]),
        round_scores([0.1, 0.5]),
        round_scores([0.5, 0.5 + 2**-32]),
    )
    assert CC().fit(p, n).estimate(b) == 0.5


@pytest.mark.parametrize("rows", [[0.2], [0.2, 0.9, 0.9]])
def test_counts_that_tell_nothing_give_the_training_prevalence(rows):
    """Mean scores differ, but both classes have half of their rows above 1/2."""
    p, n, b = histograms(
        round_scores([0.4, 0.9]), round_scores([0.1, 0.6]), round_scores(rows)
    )
    quantifier = ACC().fit(p, n)
    assert quantifier.informative_
    assert quantifier.estimate(b) == 0.5
    assert quantifier.estimate_each(round_scores([rows])).tolist() == [0.5] * len(rows)
    assert quantifier.interval(b) == (0.0, 1.0)


# HDy and DyS: minima by brute force, and what HDy is bad at.


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
@pytest.mark.parametrize("n_bins", [2, 8, 22])
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
