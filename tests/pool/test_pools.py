"""Both pools: what members decide, how many rows they call, and their rates."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import Evidence
from cape._learners import Rows, score_rows
from cape._prediction import adapt, read_member, read_rows
from cape.evidence import GroupEvidence
from cape.histogram import HALF, ONE, ScoreHistogram, edges_for, round_scores
from cape.pool import MemberRates, Pool, ResampledPool, ThresholdPool, fit_member

scores = st.lists(st.integers(0, ONE), min_size=1, max_size=30).map(
    lambda s: np.array(s, dtype=np.int64)
)


def threshold_pool(positives, negatives):
    edges = edges_for(positives, negatives)
    histograms = [ScoreHistogram.of(s, edges) for s in (positives, negatives)]
    return ThresholdPool.of([None], *histograms), edges


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
    np.testing.assert_array_equal(pool.called(evidence), called.sum(axis=0))
    for member in (0, len(edges) // 2, len(edges) + 1):
        np.testing.assert_array_equal(pool.calls(batch, member), called[:, member])


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
    """At theta, odds are scaled by theta (1 - pi) / ((1 - theta) pi): to 1 there."""
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
    pi = len(positives) / (len(positives) + len(negatives))
    member = len(edges) // 3
    s = score / ONE
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
    high = fit_member(LogisticRegression(), train.X, train.y, 1, 0.9, seed=4)
    low = fit_member(LogisticRegression(), train.X, train.y, 1, 0.1, seed=4)
    called_by_high = high.model.predict(train.X).mean()
    assert called_by_high > low.model.predict(train.X).mean() + 0.1
    assert 0 < high.true_positives <= high.positives < 300
    assert 0 < high.false_positives <= high.negatives < 300


def test_unseen_rows_count_by_their_weight(train):
    weights = np.where(train.y == 1, 2.0, 1.0)
    plain = fit_member(
        LogisticRegression(), train.X, train.y, 1, 0.5, weights=np.ones(600), seed=4
    )
    weighted = fit_member(
        LogisticRegression(), train.X, train.y, 1, 0.5, weights=weights, seed=4
    )
    ratio = weighted.positives / weighted.negatives
    assert ratio == pytest.approx(2 * plain.positives / plain.negatives, rel=0.2)


def test_a_resampled_member_says_positive_strictly_above_a_half():
    pool = ResampledPool(np.array([0.5]), [None], MemberRates(*np.ones((4, 1))))
    batch = np.array([0, HALF, HALF + 1, ONE])
    assert pool.calls(batch, 0).tolist() == [False, False, True, True]
    assert pool.probability(batch, 0).tolist() == [0, 0.5, 0.5 + 2**-32, 1]
    votes = (batch > HALF)[None]
    histogram = ScoreHistogram.of(batch, np.array([HALF]))
    tally = pool.tally(votes, histogram.edges)
    assert pool.called(GroupEvidence(histogram, tally)).tolist() == [2]


def test_members_of_a_fitted_model_agree_with_their_learners(fitted, batch):
    pool = fitted(pool="resampled").models_[0].pool
    for member, learner in enumerate(pool.models):
        expected = learner.predict_proba(batch.X)[:, 1]
        (asked,) = pool.models_of(member)
        assert asked is learner
        assert pool.deciding_row(member) == member
        scores = score_rows(asked, batch.X, 1)
        assert np.abs(scores - round_scores(expected)).max() <= 1
        assert pool.thetas[member] == pytest.approx((member + 0.5) / 10)


@given(scores, scores)
def test_a_higher_cut_calls_fewer_and_stands_for_a_lower_prevalence(
    positives, negatives
):
    pool, _ = threshold_pool(positives, negatives)
    assert (np.diff(pool.cuts) > 0).all()
    assert (np.diff(pool.rates.true_positives) <= 0).all()
    assert (np.diff(pool.rates.false_positives) <= 0).all()
    assert pool.rates.true_positives[0] == len(positives)
    assert pool.rates.true_positives[-1] == pool.rates.false_positives[-1] == 0


def test_probability_is_the_decision_where_bayes_gives_no_answer():
    """A cut at 0 or 1 leaves 0/0 for the scores 0 or 1."""
    pool, edges = threshold_pool(np.array([ONE]), np.array([0]))
    extremes = np.array([0, ONE])
    last = len(edges) + 1
    assert pool.probability(extremes, 0).tolist() == [1, 1]
    assert pool.probability(extremes, last).tolist() == [0, 0]


def test_probability_ascends_with_the_score():
    pool, edges = threshold_pool(np.array([ONE]), np.array([0]))
    steps = np.linspace(0, ONE, 50).astype(np.int64)
    for member in (0, len(edges) // 4, len(edges) // 2, len(edges) + 1):
        assert (np.diff(pool.probability(steps, member)) >= 0).all()


class ConstantPool(Pool):
    """A pool of one's own: member 0 calls nobody, member 1 everybody."""

    thetas = np.array([0.0, 1.0])
    rates = MemberRates(*np.array([[0.0, 9.0], [9.0, 9.0], [0.0, 9.0], [9.0, 9.0]]))

    def __init__(self, model):
        self.models = [model]

    def deciding_row(self, member):
        return 0

    def models_of(self, member):
        return self.models

    def calls(self, scores, member):
        return np.full(len(scores), member == 1)

    def probability(self, scores, member):
        return np.full(len(scores), float(member))

    def tally(self, deciding, edges):
        return None

    def called(self, evidence):
        return np.array([0, evidence.scores.size])


def test_a_pool_defines_six_methods():
    with pytest.raises(TypeError, match="abstract"):
        Pool()
    pool = ConstantPool(None)
    assert not pool.has_a_model_each
    assert not pool.decides_by_scoring_models
    scores = np.array([[1, 2]])
    assert pool.combine(scores) is scores
    evidence = GroupEvidence(ScoreHistogram.of(np.array([1, 2]), np.array([HALF])))
    for member in (0, 1):
        calls = pool.calls(np.array([1, 2]), member)
        assert pool.called(evidence)[member] == calls.sum()


def test_a_model_predicts_with_any_pool(fitted, batch):
    """The road asks a pool for nothing else: a pool of one's own can take its place."""
    clf = fitted(pool="threshold")
    own = clf.models_[0]
    model = replace(own, pool=ConstantPool(own.scoring_models[0]))
    rows = Rows(batch.X)
    reading = read_rows(0, model, rows, probabilities=True)
    evidence = Evidence("f", {0: reading.evidence()})
    adapted = adapt({0: model}, evidence, drift="ignore").groups[0]
    assert (
        adapted.predicted_prevalence
        == adapted.classifier
        == round(adapted.estimate.value)
    )
    assert read_member(0, model, rows, 1).calls(1).all()
