"""Both pools: what members decide, how many rows they call, and their rates."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from cape.evidence._evidence import GroupEvidence
from cape.quantify import ScoreHistogram, edges_for, round_scores
from cape.training._fitting import fit_member
from cape.training._group_model import MemberRates, ResampledPool, ThresholdPool
from cape.training._sampling import pp_sampling
from cape.training._scoring import score_rows, score_with_models

ONE = 2**32  # the unit of rounded scores
HALF = ONE // 2

THETAS = np.array([0.2, 0.5, 0.8])


def to_array(scores):
    return np.array(scores, dtype=np.int64)


some_scores = st.lists(st.integers(0, ONE), min_size=1, max_size=25).map(to_array)


def resampled(train, learner):
    members = []
    for seed, theta in enumerate(THETAS):
        members.append(fit_member(learner, train.X, train.y, 1, theta, seed=seed))
    return ResampledPool.of(THETAS, members)


def threshold(train, models):
    scores = round_scores(models[0].predict_proba(train.X)[:, 1])
    edges = edges_for(scores[train.y == 1], scores[train.y == 0])
    positives = ScoreHistogram.of(scores[train.y == 1], edges)
    negatives = ScoreHistogram.of(scores[train.y == 0], edges)
    return ThresholdPool.of(models, positives, negatives), edges


def fitted_to_parts(train, learner, n_models):
    """Fit the learner to each of so many parts of the training rows."""
    models = []
    for part in range(n_models):
        rows = slice(part, None, n_models)
        models.append(clone(learner).fit(train.X[rows], train.y[rows]))
    return models


@pytest.fixture(scope="module", params=["linear", "bayes"])
def learner(request):
    return {"linear": LogisticRegression(), "bayes": GaussianNB()}[request.param]


def test_a_resampled_pool_decides_as_its_learners_do(train, batch, learner):
    pool = resampled(train, learner)
    assert pool.has_a_model_each
    assert not pool.decides_by_scoring_models
    scores, _ = score_with_models(batch.X, 1, scoring=pool.models)
    assert pool.combine(scores) is scores
    _, votes = score_with_models(batch.X, 1, voting=pool.models)
    np.testing.assert_array_equal(pool.tally(votes, None), votes.sum(axis=1))
    np.testing.assert_array_equal(pool.tally(scores, None), votes.sum(axis=1))
    for member, model in enumerate(pool.models):
        assert pool.deciding_row(member) == member
        assert pool.models_of(member) == [model]
        proba = model.predict_proba(batch.X)[:, 1]
        assert np.abs(scores[member] - round_scores(proba)).max() <= 1
        np.testing.assert_array_equal(votes[member], proba > 0.5)
        np.testing.assert_array_equal(pool.calls(scores[member], member), proba > 0.5)
        np.testing.assert_allclose(
            pool.probability(scores[member], member), proba, atol=2**-31
        )


@pytest.mark.parametrize("n_models", [1, 3])
def test_a_threshold_pool_cuts_the_mean_score_of_its_learners(
    train, batch, learner, n_models
):
    models = fitted_to_parts(train, learner, n_models)
    pool, edges = threshold(train, models)
    assert pool.models == models
    assert not pool.has_a_model_each
    assert pool.decides_by_scoring_models
    by_models = np.array([score_rows(model, batch.X, 1) for model in models])
    deciding = pool.combine(by_models)
    assert deciding.shape == (1, len(batch.X))
    scores = deciding[0]
    tally = pool.tally(deciding, edges)
    has_no_tally = tally is None
    assert has_no_tally == (n_models == 1)
    # Where the tally is apart, the quantifier's histogram must not be looked at.
    for_quantifier = scores if has_no_tally else np.zeros_like(scores)
    histogram = ScoreHistogram.of(for_quantifier, edges)
    called = pool.called(GroupEvidence(histogram, tally))
    for member in range(0, len(pool.cuts), 97):
        assert pool.deciding_row(member) == 0
        assert pool.models_of(member) == models
        calls = pool.calls(scores, member)
        np.testing.assert_array_equal(calls, scores > pool.cuts[member])
        assert called[member] == calls.sum()


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, ONE), min_size=n, max_size=n),
            min_size=1,
            max_size=10,
        )
    )
)
def test_the_mean_of_scores_is_an_integer_rounded_half_up(scores_of_rows):
    n_models = len(scores_of_rows[0])
    pool = cuts_at_one_half([None] * n_models)
    deciding = pool.combine(np.array(scores_of_rows).T)
    assert deciding.dtype == np.int64
    half = Fraction(1, 2)
    means = [Fraction(sum(row), n_models) for row in scores_of_rows]
    assert deciding.tolist() == [[floor(mean + half) for mean in means]]


def cuts_at_one_half(models):
    """The threshold pool with the cuts "all rows", 1/2 and "no row"."""
    one_row = ScoreHistogram.of(np.array([0]), np.array([HALF]))
    return ThresholdPool.of(models, one_row, one_row)


@given(some_scores, some_scores, some_scores, some_scores)
def test_calls_of_parts_add_up_to_those_of_the_whole(
    positives, negatives, first, second
):
    edges = edges_for(positives, negatives, cuts=20)
    classes = [ScoreHistogram.of(s, edges) for s in (positives, negatives)]
    cuts = ThresholdPool.of([None, None], *classes)
    whole = np.concatenate([first, second])
    parts = GroupEvidence(
        ScoreHistogram.of(whole, edges),
        cuts.tally(first[None], edges) + cuts.tally(second[None], edges),
    )
    calls = [cuts.calls(whole, member).sum() for member in range(len(cuts.cuts))]
    np.testing.assert_array_equal(cuts.called(parts), calls)


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
    model, counts = fit_member(
        learner, train.X, train.y, 1, theta, weights=weights, seed=11
    )
    sample = pp_sampling(train.y, theta, sample_weight=weights, random_state=11)
    unseen = np.setdiff1d(np.arange(600), sample)
    called = model.predict_proba(train.X[unseen])[:, 1] > 0.5
    truth = train.y[unseen] == 1
    worth = worth[unseen]
    expected = [
        worth[truth & called].sum(),
        worth[truth].sum(),
        worth[~truth & called].sum(),
        worth[~truth].sum(),
    ]
    assert counts == pytest.approx(expected)


@pytest.mark.parametrize("theta", [1e-9, 1 - 1e-9])
def test_a_sample_has_at_least_one_row_of_each_class(train, theta):
    model, counts = fit_member(LogisticRegression(), train.X, train.y, 1, theta, seed=0)
    assert model.classes_.tolist() == [0, 1]
    # All other rows of the rare class were left out.
    _, positives, _, negatives = counts
    assert (positives if theta < 0.5 else negatives) == 299


def test_a_threshold_pool_of_weighted_rows_has_their_prevalence(train):
    scores = round_scores(np.linspace(0.05, 0.95, 600))
    positive = train.y == 1
    weights = np.where(positive, 3.0, 1.0)
    edges = edges_for(scores[positive], scores[~positive])
    positives = ScoreHistogram.of(scores[positive], edges, weights=weights[positive])
    negatives = ScoreHistogram.of(scores[~positive], edges, weights=weights[~positive])
    pool = ThresholdPool.of([None], positives, negatives)
    prevalence = np.average(train.y, weights=weights)
    assert pool.thetas[pool.cuts == HALF] == pytest.approx([prevalence])
    above = scores[positive][:, None] > pool.cuts
    np.testing.assert_allclose(pool.rates.tpr, above.mean(axis=0), atol=1e-9)


# Cuts


def threshold_pool(positives, negatives):
    edges = edges_for(positives, negatives)
    histograms = [ScoreHistogram.of(s, edges) for s in (positives, negatives)]
    return ThresholdPool.of([None], *histograms), edges


@given(some_scores, some_scores, some_scores)
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


@given(some_scores, some_scores, some_scores)
def test_probability_is_above_a_half_just_where_the_member_says_positive(
    positives, negatives, batch
):
    pool, edges = threshold_pool(positives, negatives)
    for member in [0, len(edges) + 1, *range(1, len(edges), 97)]:
        probability = pool.probability(batch, member)
        np.testing.assert_array_equal(probability > 0.5, batch > pool.cuts[member])
        assert ((probability >= 0) & (probability <= 1)).all()


@given(some_scores, some_scores)
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


@given(some_scores, some_scores, st.integers(1, ONE - 1))
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


@given(some_scores, some_scores)
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


def test_a_resampled_member_says_positive_strictly_above_a_half():
    pool = ResampledPool(np.array([0.5]), [None], MemberRates(*np.ones((4, 1))))
    batch = np.array([0, HALF, HALF + 1, ONE])
    assert pool.calls(batch, 0).tolist() == [False, False, True, True]
    assert pool.probability(batch, 0).tolist() == [0, 0.5, 0.5 + 2**-32, 1]
    votes = (batch > HALF)[None]
    histogram = ScoreHistogram.of(batch, np.array([HALF]))
    tally = pool.tally(votes, histogram.edges)
    assert pool.called(GroupEvidence(histogram, tally)).tolist() == [2]


def test_probability_is_the_decision_where_bayes_gives_no_answer():
    """A cut at 0 or 1 leaves 0/0 for the scores 0 or 1."""
    pool, edges = threshold_pool(np.array([ONE]), np.array([0]))
    extremes = np.array([0, ONE])
    last = len(edges) + 1
    assert pool.probability(extremes, 0).tolist() == [1, 1]
    assert pool.probability(extremes, last).tolist() == [0, 0]
