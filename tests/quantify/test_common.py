"""What all quantifiers promise, tested on all of them at once."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from cape._histogram import ONE, ScoreHistogram, edges_for, round_scores
from cape.quantify import (
    QUANTIFIERS,
    DyS,
    HistogramPosterior,
    Quantifier,
    make_quantifier,
)

UNCORRECTED = {"cc", "pcc"}
CORRECTED = sorted(set(QUANTIFIERS) - UNCORRECTED)
every_quantifier = pytest.mark.parametrize("name", QUANTIFIERS)
every_corrected_quantifier = pytest.mark.parametrize("name", CORRECTED)

scores = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def count(batch, edges):
    return ScoreHistogram.of(round_scores(batch), edges)


def fit(name, positives, negatives):
    """Return a fitted quantifier, and a function that counts the scores of a batch."""
    edges = edges_for(round_scores(positives), round_scores(negatives))
    quantifier = make_quantifier(name)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the scores cannot tell the classes apart")
        quantifier.fit(count(positives, edges), count(negatives, edges))
    return quantifier, partial(count, edges=edges)


@every_quantifier
@settings(max_examples=30)
@given(scores, scores, scores, st.floats(0.05, 0.9))
def test_estimates_and_intervals_are_shares_whatever_the_scores(
    name, positives, negatives, batch, level
):
    quantifier, of = fit(name, positives, negatives)
    estimate = quantifier.estimate(of(batch))
    low, high = quantifier.interval(of(batch), level)
    wide_low, wide_high = quantifier.interval(of(batch), (1 + level) / 2)
    assert 0 <= wide_low <= low + 1e-9
    assert low <= estimate <= high
    assert high - 1e-9 <= wide_high <= 1


@every_quantifier
@given(rho=st.integers(0, 20), noise=st.floats(0, 0.02))
def test_the_truth_is_found_when_scores_are_perfect(name, rho, noise):
    """Classes far apart: positives score near 1, negatives near 0."""
    quantifier, of = fit(
        name, np.linspace(1 - noise, 1, 200), np.linspace(0, noise, 200)
    )
    high_scores = np.linspace(1 - noise, 1, 20 * rho)
    low_scores = np.linspace(0, noise, 400 - 20 * rho)
    batch = of(np.concatenate([high_scores, low_scores]))
    # A posterior median under a flat prior stays log(2) / n inside at the ends.
    assert quantifier.estimate(batch) == pytest.approx(rho / 20, abs=0.02)
    low, high = quantifier.interval(batch)
    assert low - 0.02 <= rho / 20 <= high + 0.02


def calibrated(x):
    """The probability that x is of Beta(4, 2) and not of Beta(2, 4)."""
    return x**2 / (x**2 + (1 - x) ** 2)


@every_quantifier
def test_more_positives_never_lower_the_estimate(name, random):
    quantifier, of = fit(
        name,
        calibrated(random.beta(4, 2, 1000)),
        calibrated(random.beta(2, 4, 1000)),
    )
    positives = calibrated(random.beta(4, 2, 1000))
    negatives = calibrated(random.beta(2, 4, 1000))
    estimates = []
    for k in range(11):
        batch = np.concatenate([positives[: 100 * k], negatives[: 100 * (10 - k)]])
        estimates.append(quantifier.estimate(of(batch)))
    assert np.diff(estimates).min() >= 0
    if name not in UNCORRECTED:
        assert estimates == pytest.approx(np.linspace(0, 1, 11), abs=0.1)


@every_corrected_quantifier
@pytest.mark.parametrize("constant", [0.5, 0.0, 1.0, 0.3])
def test_constant_scores_give_the_training_prevalence_and_no_certainty(name, constant):
    rounded = round_scores([constant])
    edges = edges_for(rounded, rounded)
    positives = count([constant] * 30, edges)
    negatives = count([constant] * 10, edges)
    with pytest.warns(
        UserWarning,
        match="cannot tell the classes apart .* training prevalence, with interval",
    ):
        quantifier = make_quantifier(name).fit(positives, negatives)
    batch = count([constant, 0.9], edges)
    assert quantifier.estimate(batch) == 0.75
    assert quantifier.interval(batch) == (0.0, 1.0)
    assert quantifier.estimate_each(round_scores([[0.1, 0.9]])).tolist() == [0.75, 0.75]


@pytest.mark.parametrize("name", sorted(UNCORRECTED))
def test_uncorrected_quantifiers_need_no_difference_between_the_classes(name):
    edges = edges_for(round_scores([0.7]), round_scores([0.7]))
    alike = count([0.7] * 5, edges)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quantifier = make_quantifier(name).fit(alike, alike)
    assert quantifier.informative_
    assert 0 < quantifier.estimate(count([0.7, 0.2], edges)) < 1


@every_quantifier
def test_estimate_each_is_estimate_row_by_row(name, random):
    quantifier, _ = fit(name, random.beta(4, 2, 60), random.beta(2, 4, 60))
    several_models = round_scores(random.uniform(size=(2, 25)))
    one_by_one = []
    for row in several_models.T:
        batch = ScoreHistogram.of(row, quantifier.positives_.edges, unit=2)
        one_by_one.append(quantifier.estimate(batch))
    estimates = quantifier.estimate_each(several_models)
    assert estimates == pytest.approx(one_by_one, abs=1e-12)


@every_quantifier
def test_a_batch_scored_by_several_models_counts_each_row_once(name, random):
    """K copies of a batch, in units of 1/K, have the interval of the batch."""
    quantifier, of = fit(name, random.beta(4, 2, 200), random.beta(2, 4, 200))
    batch = random.beta(3, 3, 40)
    once = of(batch)
    thrice = ScoreHistogram.of(np.tile(round_scores(batch), 3), once.edges, unit=3)
    estimate = quantifier.estimate(once)
    assert quantifier.estimate(thrice) == pytest.approx(estimate, abs=1e-9)
    interval = quantifier.interval(once)
    assert quantifier.interval(thrice) == pytest.approx(interval, abs=1e-9)


# EMQ takes the score for a probability.
@pytest.mark.parametrize("name", sorted(set(CORRECTED) - {"emq"}))
def test_scores_may_point_the_other_way(name, random):
    """A score that falls with the label still tells the classes apart."""
    quantifier, of = fit(name, random.beta(2, 4, 500), random.beta(4, 2, 500))
    batch = np.concatenate([random.beta(2, 4, 400), random.beta(4, 2, 100)])
    assert quantifier.estimate(of(batch)) > 0.65


def test_empty_batches_are_refused():
    quantifier, of = fit("spa", [0.9, 0.8], [0.1, 0.2])
    message = "batch must hold at least one row, got an empty histogram"
    with pytest.raises(ValueError, match=message):
        quantifier.estimate(of([]))
    with pytest.raises(ValueError, match=message):
        quantifier.interval(of([]))


@pytest.mark.parametrize("level", [0, 1, "high"])
def test_levels_outside_0_and_1_are_refused(level):
    quantifier, of = fit("spa", [0.9, 0.8], [0.1, 0.2])
    with pytest.raises(ValueError, match=rf"level must be in \(0, 1\), got {level!r}"):
        quantifier.interval(of([0.5]), level)


def test_empty_classes_are_refused():
    _, of = fit("spa", [0.9, 0.8], [0.1, 0.2])
    message = "must hold at least one score, got an empty histogram"
    with pytest.raises(ValueError, match=f"negatives {message}"):
        make_quantifier("spa").fit(of([0.9]), of([]))
    with pytest.raises(ValueError, match=f"positives {message}"):
        make_quantifier("spa").fit(of([]), of([0.1]))


def test_classes_with_other_edges_are_refused():
    _, of = fit("spa", [0.9, 0.8], [0.1, 0.2])
    other = count([0.1], np.array([ONE // 2]))
    with pytest.raises(ValueError, match="must have the same edges"):
        make_quantifier("spa").fit(of([0.9]), other)


def test_an_unfitted_quantifier_says_so():
    _, of = fit("spa", [0.9, 0.8], [0.1, 0.2])
    quantifier = make_quantifier("spa")
    with pytest.raises(ValueError, match="not fitted"):
        quantifier.estimate(of([0.5]))
    with pytest.raises(ValueError, match="not fitted"):
        quantifier.interval(of([0.5]))
    with pytest.raises(ValueError, match="not fitted"):
        quantifier.estimate_each(round_scores([[0.5]]))


def test_settings_are_checked():
    with pytest.raises(
        ValueError, match="divergence must be one of 'topsoe', 'hellinger', got 'kl'"
    ):
        fit(DyS(divergence="kl"), [0.9], [0.1])
    with pytest.raises(ValueError, match="cells must be at least 2, got 1"):
        fit(HistogramPosterior(cells=1), [0.9], [0.1])


class MeanOfTheBatch(Quantifier):
    """All that a new quantifier has to define."""

    def _estimate(self, batch):
        return batch.mean


def test_your_own_quantifier_needs_one_method(random):
    quantifier, of = fit(
        MeanOfTheBatch(), random.beta(4, 2, 100), random.beta(2, 4, 100)
    )
    batch = of([0.4, 0.6])
    assert quantifier.estimate(batch) == pytest.approx(0.5)
    low, high = quantifier.interval(batch)
    assert low <= 0.5 <= high
    each = quantifier.estimate_each(round_scores([[0.2, 0.7]]))
    assert each == pytest.approx([0.2, 0.7])
    assert isinstance(clone(quantifier), MeanOfTheBatch)


def test_a_quantifier_without_that_method_says_which(random):
    quantifier, of = fit(Quantifier(), [0.9], [0.1])
    with pytest.raises(TypeError, match=r"Quantifier must define _estimate\(batch\)"):
        quantifier.estimate(of([0.5]))


class Outside(Quantifier):
    """An estimate that is no share."""

    def __init__(self, answer=1.7):
        self.answer = answer

    def _estimate(self, batch):
        return self.answer


@pytest.mark.parametrize(("answer", "clipped"), [(1.7, 1.0), (-0.2, 0.0), (0.3, 0.3)])
def test_estimates_of_your_own_are_clipped_and_held_by_the_interval(answer, clipped):
    quantifier, of = fit(Outside(answer), [0.6, 0.9], [0.1, 0.4])
    batch = of([0.5, 0.5, 0.6])
    assert quantifier.estimate(batch) == clipped
    low, high = quantifier.interval(batch)
    assert low <= clipped <= high
