"""What quantifiers and their intervals must not depend on, and how often the intervals hold."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.histogram import ScoreHistogram, edges_for, round_scores
from cape.quantify import (
    ACC,
    EMQ,
    QUANTIFIERS,
    SPA,
    DyS,
    HDy,
    HistogramPosterior,
    make_quantifier,
)

CORRECTED = sorted(set(QUANTIFIERS) - {"cc", "pcc"})
EXACT_IN_SHARES = sorted(
    set(QUANTIFIERS) - {"histogram"}
)  # whose estimate is a function of the shares of cells
seeds = st.integers(0, 2**32)


def quietly(quantifier, positives, negatives):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the scores cannot tell the classes apart")
        return make_quantifier(quantifier).fit(positives, negatives)


def histograms(seed, n_positives=40, n_negatives=60, n_batch=30):
    """Of two classes and of a batch of both, as likely lopsided as not."""
    random = np.random.default_rng(seed)
    a, b, share = random.uniform(1, 5, 2), random.uniform(1, 5, 2), random.random()
    s1, s0 = (
        round_scores(random.beta(*a, n_positives)),
        round_scores(random.beta(*b, n_negatives)),
    )
    k = random.binomial(n_batch, share)
    s = round_scores(np.concatenate([random.beta(*a, k), random.beta(*b, n_batch - k)]))
    edges = edges_for(s1, s0)
    return [ScoreHistogram.of(scores, edges) for scores in (s1, s0, s)]


def times(histogram, factor):
    return ScoreHistogram(
        histogram.edges,
        histogram.counts * factor,
        histogram.sums * factor,
        histogram.unit,
    )


@pytest.mark.parametrize("name", sorted(set(CORRECTED) - {"emq"}))
@settings(max_examples=15)
@given(seeds)
def test_the_other_class_has_the_rest(name, seed):
    positives, negatives, batch = histograms(seed)
    one, other = (
        quietly(name, positives, negatives),
        quietly(name, negatives, positives),
    )
    assert one.estimate(batch) + other.estimate(batch) == pytest.approx(1, abs=1e-6)
    low, high = one.interval(batch)
    # The histogram's interval integrates over draws, which are others when classes change places; EMQ-like
    # statistics take the score for the probability of the positive class.
    if name in ("spa", "acc"):
        assert other.interval(batch) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(seeds)
def test_emq_turned_round_with_its_scores_has_the_rest(seed):
    """Its scores are probabilities: what is swapped is the class and the score, here on cells of one score each."""
    random = np.random.default_rng(seed)
    levels = np.arange(1, 16) / 16
    edges = np.sort(round_scores(np.concatenate([levels, levels - 1e-6])))
    s1, s0, s = (random.choice(levels, n) for n in (30, 50, 20))
    of = lambda scores: ScoreHistogram.of(round_scores(scores), edges)  # noqa: E731
    one, other = quietly(EMQ(), of(s1), of(s0)), quietly(EMQ(), of(1 - s0), of(1 - s1))
    assert one.estimate(of(s)) + other.estimate(of(1 - s)) == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("name", EXACT_IN_SHARES)
@settings(max_examples=10)
@given(seeds, st.integers(2, 1000))
def test_a_batch_repeated_has_the_same_estimate_and_no_wider_interval(
    name, seed, factor
):
    positives, negatives, batch = histograms(seed)
    quantifier = quietly(name, positives, negatives)
    more = times(batch, factor)
    assert quantifier.estimate(more) == pytest.approx(
        quantifier.estimate(batch), abs=1e-8
    )
    (low, high), (less_low, less_high) = (
        quantifier.interval(batch),
        quantifier.interval(more),
    )
    assert less_high - less_low <= high - low + 1e-8


@pytest.mark.parametrize("name", EXACT_IN_SHARES)
@settings(max_examples=10)
@given(seeds, st.integers(2, 50))
def test_training_repeated_has_the_same_estimate(name, seed, factor):
    positives, negatives, batch = histograms(seed)
    more = quietly(name, times(positives, factor), times(negatives, factor))
    assert more.estimate(batch) == pytest.approx(
        quietly(name, positives, negatives).estimate(batch), abs=1e-8
    )


@pytest.mark.parametrize("name", sorted(set(QUANTIFIERS) - {"histogram", "emq"}))
@settings(max_examples=10)
@given(seeds, st.integers(2, 50))
def test_estimates_of_the_rest_do_not_rest_on_the_training_prevalence(
    name, seed, factor
):
    positives, negatives, batch = histograms(seed)
    plain, moved = (
        quietly(name, positives, negatives),
        quietly(name, times(positives, factor), negatives),
    )
    assert moved.prevalence_ > plain.prevalence_
    if plain.informative_:
        assert moved.estimate(batch) == pytest.approx(plain.estimate(batch), abs=1e-8)


@pytest.mark.parametrize("name", QUANTIFIERS)
@settings(max_examples=10)
@given(seeds, st.lists(st.integers(0, 60), max_size=5))
def test_a_batch_cut_into_parts_is_the_batch(name, seed, cuts):
    positives, negatives, _ = histograms(seed)
    scores = np.random.default_rng(seed).integers(0, 2**32, 60)
    quantifier = quietly(name, positives, negatives)
    edges = positives.edges
    parts = [ScoreHistogram.of(part, edges) for part in np.split(scores, sorted(cuts))]
    added = sum(parts[1:], parts[0])
    backwards = ScoreHistogram.of(scores[::-1], edges)
    assert quantifier.estimate(added) == quantifier.estimate(backwards)
    assert quantifier.interval(added) == quantifier.interval(backwards)


@given(seeds)
def test_a_mixture_of_the_training_histograms_themselves_is_recognised(seed):
    """A batch with the very shares of rho P + (1 - rho) N has the prevalence rho, in all that correct."""
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
        if fitted.informative_ and not (
            isinstance(quantifier, ACC)
            and fitted.positive_mean_ == fitted.negative_mean_
        ):
            assert fitted.estimate(batch) == pytest.approx(tenths / 10, abs=1e-6)
    posterior = quietly(HistogramPosterior(), positives, negatives)
    if posterior.informative_:
        low, high = posterior.interval(batch)
        assert low <= tenths / 10 + 0.05 and tenths / 10 - 0.05 <= high


@pytest.mark.parametrize("name", CORRECTED)
@pytest.mark.parametrize(("n", "rho"), [(25, 0.3), (150, 0.8)])
def test_intervals_hold_the_realised_prevalence_as_often_as_they_say(name, n, rho):
    """400 batches; four standard errors of a share of .9 are 4 sqrt(.09 / 400) = .06.

    Training is new for every ten batches, which therefore are not quite independent, and intervals may be wide; the
    upper limit is for those that would hold everything.
    """
    random = np.random.default_rng(n)
    calibrated = lambda x: x**2 / (x**2 + (1 - x) ** 2)  # noqa: E731
    held, widths = [], []
    for _ in range(40):
        s1, s0 = (
            round_scores(calibrated(random.beta(*shape, 250)))
            for shape in ((4, 2), (2, 4))
        )
        edges = edges_for(s1, s0)
        quantifier = make_quantifier(name).fit(
            ScoreHistogram.of(s1, edges), ScoreHistogram.of(s0, edges)
        )
        for _ in range(10):
            k = random.binomial(n, rho)
            scores = np.concatenate([random.beta(4, 2, k), random.beta(2, 4, n - k)])
            low, high = quantifier.interval(
                ScoreHistogram.of(round_scores(calibrated(scores)), edges), 0.9
            )
            held.append(low - 1e-9 <= k / n <= high + 1e-9)
            widths.append(high - low)
    assert 0.84 <= np.mean(held) < 0.995
    assert np.mean(widths) < 0.6


def test_estimates_worked_by_hand():
    """Positives score .2 .6 .7 .9 (mean .6, three of four above 1/2), negatives .1 .2 .3 .6 (mean .3, one of four)."""
    s1, s0, s = (
        round_scores(scores)
        for scores in ([0.2, 0.6, 0.7, 0.9], [0.1, 0.2, 0.3, 0.6], [0.1, 0.6, 0.5])
    )
    edges = edges_for(s1, s0)
    positives, negatives, batch = (
        ScoreHistogram.of(scores, edges) for scores in (s1, s0, s)
    )
    fitted = {
        name: make_quantifier(name).fit(positives, negatives) for name in QUANTIFIERS
    }
    assert fitted["cc"].estimate(batch) == pytest.approx(1 / 3)  # .5 is not above 1/2
    assert fitted["pcc"].estimate(batch) == pytest.approx(0.4)
    assert fitted["acc"].estimate(batch) == pytest.approx(
        (1 / 3 - 1 / 4) / (3 / 4 - 1 / 4)
    )
    assert fitted["spa"].estimate(batch) == pytest.approx((0.4 - 0.3) / (0.6 - 0.3))
    # At training prevalence 1/2 a score s adds the factor 1 + e (2 s - 1) to the likelihood, with e = 2 q - 1.
    for scores, e in (
        ([0.1, 0.6, 0.5], -1),
        ([0.4, 0.75], 1),
        ([0.25, 0.8], 1 / 6),
        ([0.5, 0.25, 0.75], 0),
    ):
        found = fitted["emq"].estimate(ScoreHistogram.of(round_scores(scores), edges))
        assert found == pytest.approx((1 + e) / 2, abs=1e-6)


@pytest.mark.parametrize("name", CORRECTED)
def test_one_row_moves_the_estimate_its_way_and_leaves_it_open(name):
    random = np.random.default_rng(0)
    s1, s0 = round_scores(random.beta(4, 2, 300)), round_scores(random.beta(2, 4, 300))
    edges = edges_for(s1, s0)
    quantifier = make_quantifier(name).fit(
        ScoreHistogram.of(s1, edges), ScoreHistogram.of(s0, edges)
    )
    low, high = (
        ScoreHistogram.of(round_scores([score]), edges) for score in (0.25, 0.75)
    )
    assert quantifier.estimate(low) < 0.5 < quantifier.estimate(high)
    for row in (low, high):
        left, right = quantifier.interval(row)
        assert right - left > 0.4
