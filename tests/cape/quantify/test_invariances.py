"""What estimates must not depend on, and how often intervals hold the truth."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.quantify import (
    ACC,
    QUANTIFIERS,
    SPA,
    DyS,
    HDy,
    ScoreHistogram,
    edges_for,
    make_quantifier,
    round_scores,
)

CORRECTED = sorted(set(QUANTIFIERS) - {"cc", "pcc"})
# Posterior medians depend on how many rows there are. The estimate of every other
# quantifier is a function of the shares of the cells alone.
EXACT_IN_SHARES = sorted(set(QUANTIFIERS) - {"onestep"})
# These take the score for the probability of the positive class.
PROBABILISTIC = {"emq", "onestep"}
seeds = st.integers(0, 2**32)


def quietly(quantifier, positives, negatives):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the scores cannot tell the classes apart")
        return make_quantifier(quantifier).fit(positives, negatives)


def histograms(seed, n_positives=40, n_negatives=60, n_batch=30):
    """Draw histograms of two classes and of a batch of both, often lopsided."""
    random = np.random.default_rng(seed)
    a = random.uniform(1, 5, 2)
    b = random.uniform(1, 5, 2)
    k = random.binomial(n_batch, random.random())
    positives = round_scores(random.beta(*a, n_positives))
    negatives = round_scores(random.beta(*b, n_negatives))
    batch = np.concatenate([random.beta(*a, k), random.beta(*b, n_batch - k)])
    edges = edges_for(positives, negatives)
    samples = positives, negatives, round_scores(batch)
    return [ScoreHistogram.of(scores, edges) for scores in samples]


def times(histogram, factor):
    """Return the histogram of rows that stand there several times."""
    return ScoreHistogram(
        histogram.edges,
        histogram.counts * factor,
        histogram.sums * factor,
        histogram.unit,
    )


@pytest.mark.parametrize("name", sorted(set(CORRECTED) - PROBABILISTIC))
@settings(max_examples=15)
@given(seeds)
def test_the_other_class_has_the_rest(name, seed):
    positives, negatives, batch = histograms(seed)
    one = quietly(name, positives, negatives)
    other = quietly(name, negatives, positives)
    assert one.estimate(batch) + other.estimate(batch) == pytest.approx(1, abs=1e-6)
    low, high = one.interval(batch)
    # The interval of the histogram posterior integrates over draws, which differ when
    # classes change places. The statistic of HDy and DyS takes the score for the
    # probability of the positive class.
    if name in ("spa", "acc"):
        assert other.interval(batch) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@pytest.mark.parametrize("name", sorted(PROBABILISTIC))
@given(seeds)
def test_classes_and_scores_turned_round_together_leave_the_rest(name, seed):
    """Where scores are probabilities, the class and the score are swapped together.

    Cells hold one score each, so that nothing is lost.
    """
    random = np.random.default_rng(seed)
    levels = np.arange(1, 16) / 16
    edges = np.sort(round_scores(np.concatenate([levels, levels - 1e-6])))
    s1 = random.choice(levels, 30)
    s0 = random.choice(levels, 50)
    s = random.choice(levels, 20)

    def of(scores):
        return ScoreHistogram.of(round_scores(scores), edges)

    one = quietly(name, of(s1), of(s0))
    other = quietly(name, of(1 - s0), of(1 - s1))
    total = one.estimate(of(s)) + other.estimate(of(1 - s))
    assert total == pytest.approx(1, abs=1e-6)
    low, high = one.interval(of(s))
    assert other.interval(of(1 - s)) == pytest.approx((1 - high, 1 - low), abs=1e-6)


@pytest.mark.parametrize("name", EXACT_IN_SHARES)
@settings(max_examples=10)
@given(seeds, st.integers(2, 1000))
def test_a_batch_repeated_has_the_same_estimate_and_no_wider_interval(
    name, seed, factor
):
    positives, negatives, batch = histograms(seed)
    quantifier = quietly(name, positives, negatives)
    more = times(batch, factor)
    estimate = quantifier.estimate(batch)
    assert quantifier.estimate(more) == pytest.approx(estimate, abs=1e-8)
    low, high = quantifier.interval(batch)
    shorter_low, shorter_high = quantifier.interval(more)
    assert shorter_high - shorter_low <= high - low + 1e-8


@pytest.mark.parametrize("name", sorted(set(EXACT_IN_SHARES) - {"emq"}))
@settings(max_examples=10)
@given(seeds, st.integers(2, 50))
def test_estimates_do_not_depend_on_the_training_prevalence(name, seed, factor):
    positives, negatives, batch = histograms(seed)
    plain = quietly(name, positives, negatives)
    moved = quietly(name, times(positives, factor), negatives)
    assert moved.prevalence_ > plain.prevalence_
    if plain.informative_:
        assert moved.estimate(batch) == pytest.approx(plain.estimate(batch), abs=1e-8)


@given(seeds)
def test_a_mixture_of_the_training_histograms_themselves_is_recognised(seed):
    """A batch with the very shares of rho P + (1 - rho) N has the prevalence rho."""
    positives, negatives, _ = histograms(seed)
    tenths = seed % 11
    n1, n0 = positives.counts.sum(), negatives.counts.sum()
    batch = times(positives, tenths * n0) + times(negatives, (10 - tenths) * n1)
    for quantifier in (
        SPA(),
        ACC(),
        HDy(),
        DyS(),
        DyS(n_bins=10, divergence="hellinger"),
    ):
        fitted = quietly(quantifier, positives, negatives)
        if not fitted.informative_:
            continue
        counts_tell_nothing = (
            isinstance(quantifier, ACC)
            and fitted.positive_mean_ == fitted.negative_mean_
        )
        if not counts_tell_nothing:
            assert fitted.estimate(batch) == pytest.approx(tenths / 10, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", CORRECTED)
@pytest.mark.parametrize(("n", "rho"), [(25, 0.3), (150, 0.8)])
def test_intervals_hold_the_realised_prevalence_as_often_as_they_say(name, n, rho):
    """400 batches; four standard errors of a share of .9 are 4 sqrt(.09 / 400) = .06.

    Training is new for every ten batches, which therefore are not quite independent.
    The upper limit is for intervals that would hold everything.
    """
    random = np.random.default_rng(n)

    def draw(n_positive, n_negative):
        positives = random.beta(4, 2, n_positive)
        negatives = random.beta(2, 4, n_negative)
        x = np.concatenate([positives, negatives])
        # The posterior probability of the positive class.
        return round_scores(x**2 / (x**2 + (1 - x) ** 2))

    held = []
    widths = []
    for _ in range(40):
        s1 = draw(250, 0)
        s0 = draw(0, 250)
        edges = edges_for(s1, s0)
        quantifier = make_quantifier(name)
        quantifier.fit(ScoreHistogram.of(s1, edges), ScoreHistogram.of(s0, edges))
        for _ in range(10):
            k = random.binomial(n, rho)
            batch = ScoreHistogram.of(draw(k, n - k), edges)
            low, high = quantifier.interval(batch, 0.9)
            held.append(low - 1e-9 <= k / n <= high + 1e-9)
            widths.append(high - low)
    assert 0.84 <= np.mean(held) < 0.995
    assert np.mean(widths) < 0.6
