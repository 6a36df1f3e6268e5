"""Both pools: what members decide, how many they call positive, and what is known of their rates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape.evidence import GroupEvidence
from cape.histogram import HALF, ONE, ScoreHistogram, edges_for, round_scores
from cape.pool import MemberRates, ResampledPool, ThresholdPool, fit_member

scores = st.lists(st.integers(0, ONE), min_size=1, max_size=30).map(
    lambda s: np.array(s, dtype=np.int64)
)


def threshold_pool(positives, negatives):
    edges = edges_for(positives, negatives)
    histograms = [ScoreHistogram.of(s, edges) for s in (positives, negatives)]
    return ThresholdPool.of(None, 1, *histograms, shares_scores=True), edges


@given(scores, scores, scores)
def test_every_cut_is_a_member(positives, negatives, batch):
    pool, edges = threshold_pool(positives, negatives)
    assert pool.cuts.tolist() == [
        -1,
        *edges.tolist(),
        ONE,
    ]  # "all" and "none" are cuts too
    evidence = GroupEvidence(ScoreHistogram.of(batch, edges))
    called = batch[:, None] > pool.cuts
    assert pool.predicted_prevalences(evidence) == pytest.approx(called.mean(axis=0))
    np.testing.assert_array_equal(pool.decide_each(batch), called)
    for member in (0, len(edges) // 2, len(edges) + 1):
        np.testing.assert_array_equal(pool.decide(batch, member), called[:, member])


@given(scores, scores, scores)
def test_probability_is_above_a_half_just_where_the_member_says_positive(
    positives, negatives, batch
):
    pool, edges = threshold_pool(positives, negatives)
    for member in [0, len(edges) + 1, *range(1, len(edges), 97)]:
        probability = pool.probability(batch, member)
        np.testing.assert_array_equal(probability > 0.5, batch > pool.cuts[member])
        assert ((probability >= 0) & (probability <= 1)).all()


@given(scores, scores)
def test_a_cut_stands_for_the_prevalence_at_which_it_is_best(positives, negatives):
    """At theta the odds of a score are scaled by theta (1 - pi) / ((1 - theta) pi): the cut then has odds 1."""
    pool, edges = threshold_pool(positives, negatives)
    pi = len(positives) / (len(positives) + len(negatives))
    c, theta = edges / ONE, pool.thetas[1:-1]
    np.testing.assert_allclose(
        c / (1 - c) * theta * (1 - pi) / ((1 - theta) * pi), 1, rtol=1e-6
    )
    assert (np.diff(pool.thetas) < 0).all() or len(edges) < 2
    assert (pool.thetas[0], pool.thetas[-1]) == (1.0, 0.0)
    assert pool.thetas[pool.cuts == HALF] == pytest.approx([pi])


@given(scores, scores, st.integers(1, ONE - 1))
def test_probability_is_the_posterior_at_theta(positives, negatives, score):
    pool, edges = threshold_pool(positives, negatives)
    pi, member, s = (
        len(positives) / (len(positives) + len(negatives)),
        len(edges) // 3,
        score / ONE,
    )
    theta = pool.thetas[member]
    odds = s / (1 - s) * theta * (1 - pi) / ((1 - theta) * pi)
    assert pool.probability(np.array([score]), member)[0] == pytest.approx(
        odds / (1 + odds), abs=1e-9
    )


@given(scores, scores)
def test_rates_of_cuts_come_from_the_two_histograms(positives, negatives):
    pool, _ = threshold_pool(positives, negatives)
    tpr, fpr = pool.rates.tpr, pool.rates.fpr
    for rate, of_class in ((tpr, positives), (fpr, negatives)):
        if len(of_class) < 10:
            assert np.isnan(rate).all()
        else:
            np.testing.assert_allclose(
                rate, (of_class[:, None] > pool.cuts).mean(axis=0)
            )


def test_rates_from_few_rows_are_unknown():
    rates = MemberRates(*np.array([[9.0, 5.0], [9.0, 10.0], [1.0, 3.0], [12.0, 9.0]]))
    np.testing.assert_array_equal(rates.tpr, [np.nan, 0.5])
    np.testing.assert_array_equal(rates.fpr, [1 / 12, np.nan])


def test_a_member_is_trained_on_its_resample(train):
    model, called = fit_member(LogisticRegression(), train.X, train.y, 1, 0.9, seed=4)
    lower, _ = fit_member(LogisticRegression(), train.X, train.y, 1, 0.1, seed=4)
    assert model.predict(train.X).mean() > lower.predict(train.X).mean() + 0.1
    true_positives, positives, false_positives, negatives = called
    assert 0 < true_positives <= positives < 300
    assert 0 < false_positives <= negatives < 300


def test_unseen_rows_count_by_their_weight(train):
    weights = np.where(train.y == 1, 2.0, 1.0)
    _, plain = fit_member(
        LogisticRegression(), train.X, train.y, 1, 0.5, weights=np.ones(600), seed=4
    )
    _, weighted = fit_member(
        LogisticRegression(), train.X, train.y, 1, 0.5, weights=weights, seed=4
    )
    assert weighted[1] / weighted[3] == pytest.approx(2 * plain[1] / plain[3], rel=0.2)


def test_a_resampled_member_says_positive_strictly_above_a_half():
    pool = ResampledPool(np.array([0.5]), [None], MemberRates(*np.ones((4, 1))), 1)
    batch = np.array([0, HALF, HALF + 1, ONE])
    assert pool.decide(batch, 0).tolist() == [False, False, True, True]
    assert pool.probability(batch, 0).tolist() == [0, 0.5, 0.5 + 2**-32, 1]
    votes = (batch > HALF)[None]
    histogram = ScoreHistogram.of(batch, np.array([HALF]))
    tally = pool.tally(votes, histogram.edges)
    assert pool.predicted_prevalences(GroupEvidence(histogram, tally)).tolist() == [0.5]


def test_members_of_a_fitted_model_agree_with_their_learners(fitted, batch):
    pool = fitted().models_[0].pool
    for member, learner in enumerate(pool.members):
        expected = learner.predict_proba(batch.X)[:, 1]
        assert (
            np.abs(pool.scores_of(batch.X, member) - round_scores(expected)).max() <= 1
        )
        assert pool.thetas[member] == pytest.approx((member + 0.5) / 10)
