"""What all quantifiers promise, ours at once."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from cape.histogram import ONE, ScoreHistogram, edges_for, round_scores
from cape.quantify import (
    QUANTIFIERS,
    DyS,
    HistogramPosterior,
    Quantifier,
    make_quantifier,
)

CORRECTED = sorted(set(QUANTIFIERS) - {"cc", "pcc"})
every_quantifier = pytest.mark.parametrize("name", QUANTIFIERS)

scores = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def fit(name, positives, negatives, *, unit=1):
    positives, negatives = round_scores(positives), round_scores(negatives)
    edges = edges_for(positives, negatives)
    quantifier = make_quantifier(name)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the scores cannot tell the classes apart")
        quantifier.fit(
            ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges)
        )
    return quantifier, lambda batch: ScoreHistogram.of(
        round_scores(batch), edges, unit=unit
    )


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
    batch = np.concatenate(
        [np.linspace(1 - noise, 1, 20 * rho), np.linspace(0, noise, 400 - 20 * rho)]
    )
    estimate = quantifier.estimate(of(batch))
    # A posterior median under a flat prior stays log(2) / n inside at the ends.
    assert estimate == pytest.approx(rho / 20, abs=0.02)
    low, high = quantifier.interval(of(batch))
    assert low - 0.02 <= rho / 20 <= high + 0.02


def calibrated(x):
    """The probability that x is of Beta(4, 2) and not of Beta(2, 4)."""
    return x**2 / (x**2 + (1 - x) ** 2)


@every_quantifier
def test_more_positives_never_lower_the_estimate(name, random):
    positives, negatives = (
        calibrated(random.beta(4, 2, 1000)),
        calibrated(random.beta(2, 4, 1000)),
    )
    quantifier, of = fit(name, positives, negatives)
    new_positives, new_negatives = (
        calibrated(random.beta(4, 2, 1000)),
        calibrated(random.beta(2, 4, 1000)),
    )
    estimates = [
        quantifier.estimate(
            of(
                np.concatenate(
                    [new_positives[: 100 * k], new_negatives[: 100 * (10 - k)]]
                )
            )
        )
        for k in range(11)
    ]
    assert np.diff(estimates).min() >= 0
    if name in CORRECTED:
        assert estimates == pytest.approx(np.linspace(0, 1, 11), abs=0.1)


@pytest.mark.parametrize("name", CORRECTED)
@pytest.mark.parametrize("constant", [0.5, 0.0, 1.0, 0.3])
def test_constant_scores_give_the_training_prevalence_and_no_certainty(name, constant):
    edges = edges_for(*[round_scores([constant] * 3)] * 2)
    positives, negatives = (
        ScoreHistogram.of(round_scores([constant] * n), edges) for n in (30, 10)
    )
    with pytest.warns(
        UserWarning,
        match="cannot tell the classes apart .* training prevalence, with interval",
    ):
        quantifier = make_quantifier(name).fit(positives, negatives)
    batch = ScoreHistogram.of(round_scores([constant, 0.9]), edges)
    assert quantifier.estimate(batch) == 0.75
    assert quantifier.interval(batch) == (0.0, 1.0)
    assert quantifier.estimate_each(round_scores([[0.1, 0.9]])).tolist() == [0.75, 0.75]


@every_quantifier
def test_estimate_each_is_estimate_row_by_row(name, random):
    quantifier, _ = fit(name, random.beta(4, 2, 60), random.beta(2, 4, 60))
    several_models = round_scores(random.uniform(size=(2, 25)))
    one_by_one = [
        quantifier.estimate(ScoreHistogram.of(row, quantifier.positives_.edges, unit=2))
        for row in several_models.T
    ]
    assert quantifier.estimate_each(several_models) == pytest.approx(
        one_by_one, abs=1e-12
    )


@every_quantifier
def test_a_batch_scored_by_several_models_counts_each_row_once(name, random):
    """K copies of a batch, in units of 1/K, are the batch: the interval does not shrink."""
    positives, negatives = random.beta(4, 2, 200), random.beta(2, 4, 200)
    quantifier, of = fit(name, positives, negatives)
    batch = random.beta(3, 3, 40)
    once, thrice = (
        of(batch),
        ScoreHistogram.of(np.tile(round_scores(batch), 3), of(batch).edges, unit=3),
    )
    assert quantifier.estimate(thrice) == pytest.approx(
        quantifier.estimate(once), abs=1e-9
    )
    assert quantifier.interval(thrice) == pytest.approx(
        quantifier.interval(once), abs=1e-9
    )


@pytest.mark.parametrize(
    "name", sorted(set(CORRECTED) - {"emq"})
)  # EMQ takes the score for a probability
def test_scores_may_point_the_other_way(name, random):
    """A score that falls with the label still tells the classes apart."""
    quantifier, of = fit(name, random.beta(2, 4, 500), random.beta(4, 2, 500))
    assert (
        quantifier.estimate(
            of(np.concatenate([random.beta(2, 4, 400), random.beta(4, 2, 100)]))
        )
        > 0.65
    )


@every_quantifier
def test_bad_input(name, random):
    quantifier, of = fit(name, [0.9, 0.8], [0.1, 0.2])
    empty = of([])
    with pytest.raises(
        ValueError, match="batch must hold at least one row, got an empty histogram"
    ):
        quantifier.estimate(empty)
    with pytest.raises(ValueError, match="batch must hold at least one row"):
        quantifier.interval(empty)
    with pytest.raises(ValueError, match=r"level must be in \(0, 1\), got 1.5"):
        quantifier.interval(of([0.5]), 1.5)
    with pytest.raises(
        ValueError,
        match="negatives must hold at least one score, got an empty histogram",
    ):
        make_quantifier(name).fit(of([0.9]), empty)
    with pytest.raises(ValueError, match="same edges"):
        make_quantifier(name).fit(
            of([0.9]), ScoreHistogram.of(round_scores([0.1]), np.array([ONE // 2]))
        )
    with pytest.raises(ValueError, match="not fitted"):
        make_quantifier(name).estimate(of([0.5]))


def test_settings_are_checked():
    with pytest.raises(
        ValueError, match="divergence must be one of 'topsoe', 'hellinger', got 'kl'"
    ):
        fit(DyS(divergence="kl"), [0.9], [0.1])
    with pytest.raises(
        ValueError, match="n_bins must be a divisor of 10, 20, ..., or 110, got 13"
    ):
        fit(DyS(n_bins=13), [0.9], [0.1])
    with pytest.raises(ValueError, match="cells must be at least 2, got 1"):
        fit(HistogramPosterior(cells=1), [0.9], [0.1])


class MeanOfTheBatch(Quantifier):
    """All that a new quantifier has to define."""

    def _estimate(self, batch):
        return batch.mean


def test_an_own_quantifier_needs_one_method(random):
    quantifier, of = fit(
        MeanOfTheBatch(), random.beta(4, 2, 100), random.beta(2, 4, 100)
    )
    batch = of([0.4, 0.6])
    assert quantifier.estimate(batch) == pytest.approx(0.5)
    low, high = quantifier.interval(batch)
    assert low <= 0.5 <= high
    assert quantifier.estimate_each(round_scores([[0.2, 0.7]])) == pytest.approx(
        [0.2, 0.7]
    )
    assert isinstance(clone(quantifier), MeanOfTheBatch)
    with pytest.raises(TypeError, match=r"must define _estimate\(batch\)"):
        fit(Quantifier(), [0.9], [0.1])[0].estimate(batch)
