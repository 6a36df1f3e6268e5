"""Members, one by one and all at once: every way to ask a pool gives the same answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from cape._learners import Scorer, read_rows
from cape.evidence import GroupEvidence
from cape.histogram import HALF, ONE, ScoreHistogram, edges_for, round_scores
from cape.pool import MemberRates, ResampledPool, ThresholdPool, fit_member
from cape.sampling import pp_sampling

THETAS = np.array([0.2, 0.5, 0.8])
some_scores = st.lists(st.integers(0, ONE), min_size=1, max_size=25).map(
    lambda s: np.array(s, dtype=np.int64)
)


def resampled(train, learner):
    made = [
        fit_member(learner, train.X, train.y, 1, theta, seed=i)
        for i, theta in enumerate(THETAS)
    ]
    return ResampledPool.of(THETAS, made, 1)


def threshold(train, learner, *, shares_scores):
    scores = round_scores(learner.predict_proba(train.X)[:, 1])
    edges = edges_for(scores[train.y == 1], scores[train.y == 0])
    histograms = [
        ScoreHistogram.of(scores[train.y == label], edges) for label in (1, 0)
    ]
    return ThresholdPool.of(learner, 1, *histograms, shares_scores=shares_scores), edges


@pytest.fixture(scope="module", params=["linear", "bayes", "mixed"])
def models(request, train):
    """The scorer of batches, and the learner of the pool: both linear, neither, or one of each."""
    made = {"linear": LogisticRegression, "bayes": GaussianNB}
    first, second = (
        made.get(request.param, GaussianNB),
        made.get(request.param, LogisticRegression),
    )
    return Scorer(
        [first().fit(train.X, train.y), first().fit(train.X[::2], train.y[::2])], 1
    ), second()


def test_a_resampled_pool_answers_alike_however_it_is_asked(train, batch, models):
    scorer, learner = models
    pool = resampled(train, learner)
    scores, votes = pool.read(batch.X, scorer)
    same_scores, by_member = pool.score_all(batch.X, scorer)
    np.testing.assert_array_equal(scores, scorer(batch.X))
    np.testing.assert_array_equal(same_scores, scores)
    np.testing.assert_array_equal(pool.read_of(by_member), votes)
    np.testing.assert_array_equal(pool.decide_each(votes), votes.T)
    np.testing.assert_array_equal(pool.tally(votes, None), votes.sum(axis=1))
    for member, model in enumerate(pool.models):
        proba = model.predict_proba(batch.X)[:, 1]
        assert np.abs(by_member[pool.model_of(member)] - round_scores(proba)).max() <= 1
        np.testing.assert_array_equal(
            pool.scores_of(batch.X, member), by_member[member]
        )
        np.testing.assert_array_equal(votes[member], proba > 0.5)
        np.testing.assert_array_equal(pool.decide_by(votes, member), votes[member])
        np.testing.assert_array_equal(
            pool.decide(by_member[member], member), votes[member]
        )
        np.testing.assert_allclose(
            pool.probability(by_member[member], member), proba, atol=2**-31
        )


@pytest.mark.parametrize("shares_scores", [True, False])
def test_a_threshold_pool_answers_alike_however_it_is_asked(
    train, batch, models, shares_scores
):
    scorer, learner = models
    pool, edges = threshold(
        train, learner.fit(train.X, train.y), shares_scores=shares_scores
    )
    scorer = Scorer([learner], 1) if shares_scores else scorer
    scores, decisive = pool.read(batch.X, scorer)
    same_scores, by_model = pool.score_all(batch.X, scorer)
    np.testing.assert_array_equal(scores, scorer(batch.X))
    np.testing.assert_array_equal(same_scores, scores)
    np.testing.assert_array_equal(pool.read_of(by_model), decisive)
    assert by_model.shape == (1, 200) and pool.models == [learner]
    assert (
        np.abs(decisive - round_scores(learner.predict_proba(batch.X)[:, 1])).max() <= 1
    )
    each = pool.decide_each(decisive)
    tally = pool.tally(decisive, edges)
    assert (tally is None) == shares_scores
    evidence = GroupEvidence(ScoreHistogram.of(scores, edges, unit=len(scores)), tally)
    np.testing.assert_allclose(pool.predicted_prevalences(evidence), each.mean(axis=0))
    for member in range(0, len(pool.cuts), 97):
        assert pool.model_of(member) == 0
        np.testing.assert_array_equal(pool.decide_by(decisive, member), each[:, member])
        np.testing.assert_array_equal(pool.scores_of(batch.X, member), decisive)


def test_no_rows_are_no_votes_and_no_scores(train, models):
    scorer, learner = models
    pools = [
        resampled(train, learner),
        threshold(train, learner.fit(train.X, train.y), shares_scores=False)[0],
        threshold(train, learner.fit(train.X, train.y), shares_scores=True)[0],
    ]
    for pool in pools:
        scores, read = pool.read(train.X[:0], scorer)
        assert (
            scores.shape == (2, 0)
            and read.shape == pool.nothing().shape
            and read.dtype == pool.nothing().dtype
        )


@given(some_scores, some_scores, some_scores, some_scores)
def test_predicted_prevalences_of_parts_are_those_of_the_whole(
    positives, negatives, first, second
):
    edges = edges_for(positives, negatives)
    histograms = [ScoreHistogram.of(s, edges) for s in (positives, negatives)]
    pool = ThresholdPool.of(None, 1, *histograms, shares_scores=False)
    votes = ResampledPool(THETAS, [None] * 3, MemberRates(*np.ones((4, 3))), 1)
    whole = np.concatenate([first, second])
    for one, cut in (
        (pool, lambda s: s),
        (votes, lambda s: s > np.array([[0], [HALF], [ONE - 1]])),
    ):
        tallies = [one.tally(cut(part), edges) for part in (first, second)]
        parts = GroupEvidence(ScoreHistogram.of(whole, edges), tallies[0] + tallies[1])
        expected = one.decide_each(cut(whole)).mean(axis=0)
        np.testing.assert_allclose(one.predicted_prevalences(parts), expected)


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
    weights = np.random.default_rng(0).uniform(0.1, 2, 600) if weighted else None
    model, counted = fit_member(
        learner, train.X, train.y, 1, theta, weights=weights, seed=11
    )
    sample = pp_sampling(train.y, theta, sample_weight=weights, random_state=11)
    unseen = np.setdiff1d(np.arange(600), sample)
    called = model.predict_proba(train.X[unseen])[:, 1] > 0.5
    worth = np.ones(600) if weights is None else weights / weights.mean()
    truth, worth = train.y[unseen], worth[unseen]
    expected = [
        worth[(truth == label) & mask].sum()
        for label in (1, 0)
        for mask in (called, True)
    ]
    assert counted == pytest.approx(expected)


def test_labels_may_be_anything_and_the_positive_one_is_told(train):
    words = np.where(train.y == 1, "a", "b")  # the lesser word is the positive one
    model, counted = fit_member(GaussianNB(), train.X, words, "a", 0.8, seed=3)
    same, expected = fit_member(GaussianNB(), train.X, train.y, 1, 0.8, seed=3)
    assert counted == expected
    np.testing.assert_allclose(
        model.predict_proba(train.X)[:, 0], same.predict_proba(train.X)[:, 1]
    )


def test_a_vote_at_one_half_is_no_vote(batch):
    coin = DummyClassifier(strategy="uniform").fit(
        batch.X, batch.y
    )  # its probabilities are 1/2
    scores, votes = read_rows(batch.X, 1, scoring=[coin], voting=[coin])
    assert (scores == HALF).all() and not votes.any()
    flat = LogisticRegression().fit(batch.X, batch.y)
    flat.coef_, flat.intercept_ = np.zeros_like(flat.coef_), np.zeros(1)
    scores, votes = read_rows(batch.X, 1, scoring=[flat], voting=[flat])
    assert (scores == HALF).all() and not votes.any()


def test_a_threshold_pool_of_weighted_rows_has_their_prevalence(train):
    scores = round_scores(np.linspace(0.05, 0.95, 600))
    weights = np.where(train.y == 1, 3.0, 1.0)
    edges = edges_for(scores[train.y == 1], scores[train.y == 0])
    histograms = [
        ScoreHistogram.of(
            scores[train.y == label], edges, weights=weights[train.y == label]
        )
        for label in (1, 0)
    ]
    pool = ThresholdPool.of(None, 1, *histograms, shares_scores=True)
    assert pool.thetas[pool.cuts == HALF] == pytest.approx(
        [np.average(train.y, weights=weights)]
    )
    above = scores[train.y == 1][:, None] > pool.cuts
    np.testing.assert_allclose(pool.rates.tpr, above.mean(axis=0), atol=1e-9)
