"""Members, one by one and all at once: every way to ask a pool gives the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from cape._learners import TrainingRows, score_rows, score_with_models, vote_on_rows
from cape.evidence import GroupEvidence
from cape.histogram import HALF, ONE, ScoreHistogram, edges_for, round_scores
from cape.pool import (
    MemberRates,
    ResampledPool,
    ThresholdPool,
    TrainedMember,
    fit_member,
)
from cape.sampling import pp_sampling

THETAS = np.array([0.2, 0.5, 0.8])


def to_array(scores):
    return np.array(scores, dtype=np.int64)


some_scores = st.lists(st.integers(0, ONE), min_size=1, max_size=25).map(to_array)


def resampled(train, learner):
    members = []
    for seed, theta in enumerate(THETAS):
        members.append(fit_member(learner, train.X, train.y, 1, theta, seed=seed))
    return ResampledPool.of(THETAS, members)


def threshold(train, learner, *, shares_scores):
    scores = round_scores(learner.predict_proba(train.X)[:, 1])
    edges = edges_for(scores[train.y == 1], scores[train.y == 0])
    positives = ScoreHistogram.of(scores[train.y == 1], edges)
    negatives = ScoreHistogram.of(scores[train.y == 0], edges)
    pool = ThresholdPool.of(learner, positives, negatives, shares_scores=shares_scores)
    return pool, edges


def counts_of(member):
    return (
        member.true_positives,
        member.positives,
        member.false_positives,
        member.negatives,
    )


@pytest.fixture(scope="module", params=["linear", "bayes"])
def learner(request):
    return {"linear": LogisticRegression(), "bayes": GaussianNB()}[request.param]


def test_a_resampled_pool_decides_as_its_learners_do(train, batch, learner):
    pool = resampled(train, learner)
    assert pool.has_a_model_each
    scores, _ = score_with_models(batch.X, 1, scoring=pool.models)
    _, votes = score_with_models(batch.X, 1, voting=pool.models)
    np.testing.assert_array_equal(pool.tally(votes, None), votes.sum(axis=1))
    np.testing.assert_array_equal(pool.tally(scores, None), votes.sum(axis=1))
    for member, model in enumerate(pool.models):
        assert pool.model_of(member) == member
        proba = model.predict_proba(batch.X)[:, 1]
        assert np.abs(scores[member] - round_scores(proba)).max() <= 1
        np.testing.assert_array_equal(votes[member], proba > 0.5)
        np.testing.assert_array_equal(pool.calls(scores[member], member), proba > 0.5)
        np.testing.assert_allclose(
            pool.probability(scores[member], member), proba, atol=2**-31
        )


@pytest.mark.parametrize("shares_scores", [True, False])
def test_a_threshold_pool_cuts_the_score_of_its_learner(
    train, batch, learner, shares_scores
):
    model = learner.fit(train.X, train.y)
    pool, edges = threshold(train, model, shares_scores=shares_scores)
    assert pool.models == [model]
    assert not pool.has_a_model_each
    scores = score_rows(model, batch.X, 1)
    tally = pool.tally(scores[None], edges)
    assert (tally is None) == shares_scores
    # Where the tally is apart, the quantifier's histogram must not be looked at.
    for_quantifier = scores if shares_scores else np.zeros_like(scores)
    histogram = ScoreHistogram.of(for_quantifier, edges)
    called = pool.called(GroupEvidence(histogram, tally))
    for member in range(0, len(pool.cuts), 97):
        assert pool.model_of(member) == 0
        calls = pool.calls(scores, member)
        np.testing.assert_array_equal(calls, scores > pool.cuts[member])
        assert called[member] == calls.sum()


@given(some_scores, some_scores, some_scores, some_scores)
def test_calls_of_parts_add_up_to_those_of_the_whole(
    positives, negatives, first, second
):
    edges = edges_for(positives, negatives, cuts=20)
    classes = [ScoreHistogram.of(s, edges) for s in (positives, negatives)]
    cuts = ThresholdPool.of(None, *classes, shares_scores=False)
    whole = np.concatenate([first, second])
    parts = GroupEvidence(
        ScoreHistogram.of(whole, edges),
        cuts.tally(first[None], edges) + cuts.tally(second[None], edges),
    )
    calls = [cuts.calls(whole, member).sum() for member in range(len(cuts.cuts))]
    np.testing.assert_array_equal(cuts.called(parts), calls)


@given(some_scores, some_scores)
def test_votes_of_parts_add_up_to_those_of_the_whole(first, second):
    pool = ResampledPool(THETAS, [None] * 3, MemberRates(*np.ones((4, 3))))
    whole = np.concatenate([first, second])

    def by_members(scores):
        return np.array([scores // 2, scores, np.minimum(scores + HALF, ONE)])

    tally = pool.tally(by_members(first), None) + pool.tally(by_members(second), None)
    evidence = GroupEvidence(ScoreHistogram.of(whole, np.array([HALF])), tally)
    votes = by_members(whole) > HALF
    np.testing.assert_array_equal(pool.called(evidence), votes.sum(axis=1))


def test_no_rows_are_counted_as_zero(train, learner):
    model = learner.fit(train.X, train.y)
    pool, edges = threshold(train, model, shares_scores=False)
    no_scores = np.empty((1, 0), dtype=np.int64)
    assert pool.tally(no_scores, edges).size == 0
    no_votes = np.empty((3, 0), dtype=bool)
    tally = resampled(train, learner).tally(no_votes, None)
    assert tally.dtype == np.int64
    assert tally.tolist() == [0, 0, 0]


# Training a member


@pytest.mark.parametrize(
    "learner",
    [
        KNeighborsClassifier(3),
        HistGradientBoostingClassifier(max_iter=3, random_state=0),
        LogisticRegression(C=0.1),
    ],
    ids=["neighbours", "boosting", "logistic"],
)
@pytest.mark.parametrize("theta", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("weighted", [False, True])
def test_rates_out_of_the_bag_are_counted_by_hand(train, learner, theta, weighted):
    weights = None
    worth = np.ones(600)
    if weighted:
        weights = np.random.default_rng(0).uniform(0.1, 2, 600)
        worth = weights / weights.mean()
    member = fit_member(learner, train.X, train.y, 1, theta, weights=weights, seed=11)
    sample = pp_sampling(train.y, theta, sample_weight=weights, random_state=11)
    unseen = np.setdiff1d(np.arange(600), sample)
    called = member.model.predict_proba(train.X[unseen])[:, 1] > 0.5
    truth = train.y[unseen] == 1
    worth = worth[unseen]
    expected = TrainedMember(
        member.model,
        true_positives=worth[truth & called].sum(),
        positives=worth[truth].sum(),
        false_positives=worth[~truth & called].sum(),
        negatives=worth[~truth].sum(),
    )
    assert counts_of(member) == pytest.approx(counts_of(expected))


def test_labels_may_be_anything_and_the_positive_one_is_told(train):
    words = np.where(train.y == 1, "a", "b")  # the lesser word is the positive one
    member = fit_member(GaussianNB(), train.X, words, "a", 0.8, seed=3)
    same = fit_member(GaussianNB(), train.X, train.y, 1, 0.8, seed=3)
    assert counts_of(member) == counts_of(same)
    np.testing.assert_allclose(
        member.model.predict_proba(train.X)[:, 0],
        same.model.predict_proba(train.X)[:, 1],
    )


def test_a_member_may_be_trained_on_rows_of_a_larger_table(train):
    own = np.flatnonzero(train.z == 1)
    alone = fit_member(GaussianNB(), train.X[own], train.y[own], 1, 0.3, seed=5)
    rows = TrainingRows(train.X, own)
    among_others = fit_member(GaussianNB(), rows, train.y[own], 1, 0.3, seed=5)
    assert counts_of(among_others) == counts_of(alone)
    np.testing.assert_array_equal(
        among_others.model.predict_proba(train.X), alone.model.predict_proba(train.X)
    )


def test_a_seed_decides_the_sample(train):
    first = fit_member(GaussianNB(), train.X, train.y, 1, 0.5, seed=1)
    again = fit_member(GaussianNB(), train.X, train.y, 1, 0.5, seed=1)
    other = fit_member(GaussianNB(), train.X, train.y, 1, 0.5, seed=2)
    np.testing.assert_array_equal(first.model.theta_, again.model.theta_)
    assert (first.model.theta_ != other.model.theta_).any()


@pytest.mark.parametrize("theta", [1e-9, 1 - 1e-9])
def test_a_sample_has_at_least_one_row_of_each_class(train, theta):
    member = fit_member(LogisticRegression(), train.X, train.y, 1, theta, seed=0)
    assert member.model.classes_.tolist() == [0, 1]
    # All other rows of the rare class were left out.
    rare = member.positives if theta < 0.5 else member.negatives
    assert rare == 299


def test_a_pool_puts_its_members_together(train):
    members = [
        TrainedMember("low", 8.0, 10.0, 3.0, 30.0),
        TrainedMember("high", 9.0, 10.0, 6.0, 30.0),
    ]
    pool = ResampledPool.of(np.array([0.2, 0.8]), members)
    assert pool.models == ["low", "high"]
    np.testing.assert_allclose(pool.rates.tpr, [0.8, 0.9])
    np.testing.assert_allclose(pool.rates.fpr, [0.1, 0.2])


def test_a_vote_at_one_half_is_no_vote(batch):
    # The probabilities of a uniform guess are 1/2.
    coin = DummyClassifier(strategy="uniform").fit(batch.X, batch.y)
    flat = LogisticRegression().fit(batch.X, batch.y)
    flat.coef_ = np.zeros_like(flat.coef_)
    flat.intercept_ = np.zeros(1)
    for model in (coin, flat):
        assert (score_rows(model, batch.X, 1) == HALF).all()
        assert not vote_on_rows(model, batch.X, 1).any()


def test_a_threshold_pool_of_weighted_rows_has_their_prevalence(train):
    scores = round_scores(np.linspace(0.05, 0.95, 600))
    positive = train.y == 1
    weights = np.where(positive, 3.0, 1.0)
    edges = edges_for(scores[positive], scores[~positive])
    positives = ScoreHistogram.of(scores[positive], edges, weights=weights[positive])
    negatives = ScoreHistogram.of(scores[~positive], edges, weights=weights[~positive])
    pool = ThresholdPool.of(None, positives, negatives, shares_scores=True)
    prevalence = np.average(train.y, weights=weights)
    assert pool.thetas[pool.cuts == HALF] == pytest.approx([prevalence])
    above = scores[positive][:, None] > pool.cuts
    np.testing.assert_allclose(pool.rates.tpr, above.mean(axis=0), atol=1e-9)
