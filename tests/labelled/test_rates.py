"""Rates of members, corrected by labels: exact with all labels, honest with a few."""

import sys
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._evidence import GroupEvidence, LabelledEvidence
from cape._group_model import MemberRates, ThresholdPool
from cape._histogram import ONE, ScoreHistogram
from cape._labelled import check_calls, corrected_rates
from cape._labelled._use import LabelledRate

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from label_worlds import Score, draw_from_strata, draw_plainly

N = 1200


def model_of(score):
    pool = ThresholdPool.of([None], score.model.positives, score.model.negatives)
    return SimpleNamespace(pool=pool)


def counted(batch, rows):
    return GroupEvidence(ScoreHistogram.of(batch.scores[rows], batch.score.edges))


def evidence_of(batch, rows, weights):
    """Count a batch and its labelled rows, as `CapeClassifier.evidence` does."""
    labelled = {}
    for weight in np.unique(weights):
        of_weight = rows[weights == weight]
        positive = batch.positive[of_weight]
        probability = round(ONE / weight) if len(set(weights)) > 1 else 0
        labelled[probability] = LabelledEvidence(
            counted(batch, of_weight[positive]), counted(batch, of_weight[~positive])
        )
    scores = counted(batch, slice(None)).scores
    return GroupEvidence(scores, labelled=labelled)


def truth_of(batch, model):
    """Return TPR, FPR and accuracy of every member, from all labels."""
    called = batch.scores[:, None] > model.pool.cuts
    right = called == batch.positive[:, None]
    return {
        "tpr": called[batch.positive].mean(axis=0),
        "fpr": called[~batch.positive].mean(axis=0),
        "accuracy": right.mean(axis=0),
    }


def draw_by_score(random, batch, n):
    starts = np.array([0, int(np.median(batch.cells))])
    return draw_from_strata(random, batch, starts, np.array([n // 3, n - n // 3]))


@pytest.fixture(scope="module")
def score():
    return Score.trained(np.random.default_rng(0), auc=0.85)


@pytest.mark.parametrize("shift", ["prior shift", "concept drift"])
def test_labels_of_all_rows_give_the_true_rates(score, shift):
    batch = score.batch(np.random.default_rng(1), shift, 0.3, 300)
    model = model_of(score)
    everything = evidence_of(batch, np.arange(300), np.ones(300))
    calls = check_calls(model, everything)
    for name, truth in truth_of(batch, model).items():
        rate = getattr(calls, name)
        np.testing.assert_allclose(rate.rate, truth, atol=1e-12)
        np.testing.assert_allclose(rate.variance, 0, atol=1e-12)
        assert rate.interval(40, 0.95) == pytest.approx((truth[40], truth[40]))
    corrected = corrected_rates(model.pool.rates, calls)
    np.testing.assert_allclose(corrected.tpr, truth_of(batch, model)["tpr"], atol=1e-6)
    np.testing.assert_allclose(corrected.fpr, truth_of(batch, model)["fpr"], atol=1e-6)


@pytest.mark.parametrize("draw", [draw_plainly, draw_by_score])
@pytest.mark.parametrize("shift", ["prior shift", "covariate shift", "concept drift"])
def test_intervals_of_rates_hold_whatever_has_moved(score, shift, draw):
    random = np.random.default_rng(2)
    model = model_of(score)
    members = (5, 10, 30, 50, 80, 95)
    held = {pair: [] for pair in product(("tpr", "fpr", "accuracy"), members)}
    for _ in range(10):
        batch = score.batch(random, shift, 0.35, N)
        truth = truth_of(batch, model)
        for _ in range(12):
            evidence = evidence_of(batch, *draw(random, batch, 60))
            calls = check_calls(model, evidence)
            for (name, member), inside in held.items():
                low, high = getattr(calls, name).interval(member, 0.95)
                inside.append(low <= truth[name][member] <= high)
    for cell, inside in held.items():
        # Four standard errors of 120 draws below .95; rates near 0 and 1 as well.
        assert np.mean(inside) > 0.87, cell
    assert 0.93 < np.mean(list(held.values())) < 0.99


def test_intervals_of_rates_close_with_more_labels(score):
    random = np.random.default_rng(8)
    model = model_of(score)
    batch = score.batch(random, "prior shift", 0.35, N)
    widths = []
    for n in (30, 100, 400, N):
        evidence = evidence_of(batch, *draw_plainly(random, batch, n))
        low, high = check_calls(model, evidence).tpr.interval(50, 0.95)
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert widths[0] < 0.5
    assert widths[-1] == 0


def errors_of_rates(score, shift):
    """Return mean errors of corrected rates, of 100 labels alone and of training."""
    random = np.random.default_rng(3)
    model = model_of(score)
    errors = []
    for _ in range(10):
        batch = score.batch(random, shift, 0.35, N)
        truth = truth_of(batch, model)
        for _ in range(10):
            rows, weights = draw_plainly(random, batch, 100)
            calls = check_calls(model, evidence_of(batch, rows, weights))
            corrected = corrected_rates(model.pool.rates, calls)
            called = batch.scores[rows][:, None] > model.pool.cuts
            alone = called[batch.positive[rows]].mean(axis=0)
            for tpr in (corrected.tpr, alone, model.pool.rates.tpr):
                errors.append(np.abs(tpr - truth["tpr"])[20:80].mean())
    return np.reshape(errors, (-1, 3)).mean(axis=0)


def test_corrected_rates_are_better_than_labels_alone_where_training_is_right(score):
    corrected, alone, trained = errors_of_rates(score, "prior shift")
    assert corrected < 0.7 * alone
    assert trained < alone


def test_corrected_rates_follow_labels_where_training_is_wrong(score):
    corrected, alone, trained = errors_of_rates(score, "concept drift")
    assert corrected < 1.1 * alone
    assert corrected < 0.3 * trained


def test_rates_fall_from_cut_to_cut(score):
    random = np.random.default_rng(4)
    model = model_of(score)
    batch = score.batch(random, "label noise", 0.3, N)
    calls = check_calls(model, evidence_of(batch, *draw_plainly(random, batch, 30)))
    corrected = corrected_rates(model.pool.rates, calls)
    for rate in (corrected.tpr, corrected.fpr):
        assert (np.diff(rate) <= 1e-12).all()
        assert 0 <= rate.min() <= rate.max() <= 1
    assert (corrected.positives >= 10).all()


def test_without_labelled_positives_training_knows_their_rate_best(score):
    random = np.random.default_rng(5)
    model = model_of(score)
    batch = score.batch(random, "prior shift", 0.3, N)
    negatives = random.choice(np.flatnonzero(~batch.positive), 40, replace=False)
    evidence = evidence_of(batch, negatives, np.full(40, N / 40))
    calls = check_calls(model, evidence)
    assert calls.positives == 0
    assert calls.negatives == 40
    corrected = corrected_rates(model.pool.rates, calls)
    assert np.isfinite(corrected.tpr).all()
    np.testing.assert_allclose(corrected.tpr, model.pool.rates.tpr)
    assert calls.tpr.interval(50, 0.95) == (0, 1)


@given(
    st.integers(1, 200).flatmap(
        lambda n: st.tuples(st.integers(0, n), st.just(n), st.floats(0.5, 0.99))
    )
)
def test_the_interval_of_a_rate_contains_it(case):
    hits, rows, level = case
    share = hits / rows
    smoothed = (hits + 1) / (rows + 2)
    variance = smoothed * (1 - smoothed) / rows
    rate = LabelledRate(
        np.array([share, np.nan, share]),
        np.array([variance, np.nan, 0.0]),
        np.full(3, float(rows)),
    )
    low, high = rate.interval(0, level)
    assert 0 <= low <= share <= high <= 1
    assert rate.effective_rows()[0] == pytest.approx(rows)
    assert rate.interval(1, level) == (0, 1)
    assert rate.interval(2, level) == (share, share)


def test_rates_that_training_does_not_know_are_those_of_the_labels(score):
    model = model_of(score)
    batch = score.batch(np.random.default_rng(6), "prior shift", 0.3, N)
    rows, weights = draw_plainly(np.random.default_rng(7), batch, 100)
    calls = check_calls(model, evidence_of(batch, rows, weights))
    nothing = np.zeros(len(model.pool.cuts))
    corrected = corrected_rates(MemberRates(*[nothing] * 4), calls)
    np.testing.assert_allclose(corrected.tpr, calls.tpr.rate)
    np.testing.assert_allclose(corrected.fpr, calls.fpr.rate)
