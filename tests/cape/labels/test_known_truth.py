"""Estimates from labels, by simulation: the truth of every batch is known.

The long run, with more batches, scores and draws, is benchmarks/labels.py.
"""

import sys
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cape.evidence._evidence import GroupEvidence, LabelledEvidence
from cape.labels._factor import LabelFactor
from cape.labels._rates import check_calls, corrected_rates
from cape.quantify import ScoreHistogram
from cape.training._group_model import ThresholdPool

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
from label_worlds import SHIFTS, Score, draw_from_strata, draw_plainly

PREVALENCES = (0.03, 0.2, 0.5)
N = 1200


@pytest.fixture(scope="module")
def score():
    return Score.trained(np.random.default_rng(0), auc=0.85)


def draw_by_score(random, batch, n):
    """Draw twice as often among the upper half of the scores."""
    middle = int(np.median(batch.cells))
    starts = np.array([0, middle])
    n_high = 2 * n // 3
    return draw_from_strata(random, batch, starts, np.array([n - n_high, n_high]))


DRAWINGS = {"plain": draw_plainly, "stratified": draw_by_score}


def batches(score, shift, prevalence, n_batches, rows=N):
    """Draw batches."""
    random = np.random.default_rng([SHIFTS.index(shift), int(100 * prevalence)])
    for _ in range(n_batches):
        yield random, score.batch(random, shift, prevalence, rows)


def factor_of(score, batch, rows, weights):
    return LabelFactor.of(score.model.log_odds, batch.sample(rows, weights))


@pytest.mark.slow
@pytest.mark.parametrize("drawing", DRAWINGS)
@pytest.mark.parametrize("shift", SHIFTS)
def test_intervals_hold_whatever_has_moved(score, shift, drawing):
    draw = DRAWINGS[drawing]
    for n in (10, 25, 100, 400):
        held = []
        for prevalence in PREVALENCES:
            inside = []
            for random, batch in batches(score, shift, prevalence, 10):
                for _ in range(24):
                    factor = factor_of(score, batch, *draw(random, batch, n))
                    _, low, high = factor.alone(0.95)
                    inside.append(low <= batch.prevalence <= high)
            # Four standard errors of 240 draws below .93.
            assert np.mean(inside) > 0.87, (n, prevalence)
            held += inside
        assert 0.91 < np.mean(held) < 0.995, n


@pytest.mark.slow
@pytest.mark.parametrize("shift", SHIFTS)
def test_scores_make_labels_better_and_hardly_worse(score, shift):
    errors, of_labels = [], []
    for random, batch in batches(score, shift, 0.3, 25):
        for _ in range(40):
            rows, weights = draw_plainly(random, batch, 100)
            labels = factor_of(score, batch, rows, weights).alone(0.95)
            errors.append(abs(labels.value - batch.prevalence))
            of_labels.append(abs(batch.positive[rows].mean() - batch.prevalence))
    ratio = np.mean(errors) / np.mean(of_labels)
    most = {"prior shift": 0.85, "covariate shift": 0.95}
    assert ratio < most.get(shift, 1.05)


def share_refuted(score, bias, n, shift="prior shift", error=0.01):
    """Return how often labels refute an estimate that is wrong by a bias."""
    refuted = []
    for random, batch in batches(score, shift, 0.2, 25, rows=4000):
        for _ in range(20):
            claimed = batch.prevalence + bias + error * random.normal()
            factor = factor_of(score, batch, *draw_plainly(random, batch, n))
            refuted.append(factor.p_value(claimed, error) < 0.05)
    return np.mean(refuted)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 50, 200])
def test_a_right_estimate_is_refuted_in_five_of_a_hundred_batches(score, n):
    # Ten labels are hardly normal; three standard errors of 500 draws above .05.
    most = 0.11 if n == 10 else 0.08
    assert share_refuted(score, 0.0, n) < most
    assert share_refuted(score, 0.0, n, shift="label noise") < most


def test_wrong_estimates_are_refuted_the_more_the_more_labels():
    score = Score.trained(np.random.default_rng(0), auc=0.8)
    by_labels = [share_refuted(score, 0.1, n) for n in (50, 100, 200)]
    # Trials had .45, .74 and .95.
    assert np.abs(np.array(by_labels) - [0.45, 0.74, 0.95]).max() < 0.12
    assert share_refuted(score, 0.2, 100) > 0.97


# Rates of members, corrected by labels: exact with all labels, honest with a few.


ONE = 2**32  # the unit of rounded scores


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


@pytest.mark.slow
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
