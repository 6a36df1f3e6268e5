"""Estimates from labels, by simulation: the truth of every batch is known.

The long run, with more batches, scores and draws, is benchmarks/labels.py.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from cape._labelled import compare_with_labels
from cape._labelled._prevalence import combine, estimate_with_labels

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
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
    """Draw batches with their label-free estimates and predictions."""
    random = np.random.default_rng([SHIFTS.index(shift), int(100 * prevalence)])
    for _ in range(n_batches):
        batch = score.batch(random, shift, prevalence, rows)
        label_free = batch.label_free(random, shift)
        yield random, batch, label_free, batch.predictions(label_free)


@pytest.mark.slow
@pytest.mark.parametrize("drawing", DRAWINGS)
@pytest.mark.parametrize("shift", SHIFTS)
def test_intervals_hold_whatever_has_moved(score, shift, drawing):
    draw = DRAWINGS[drawing]
    for n in (10, 25, 100, 400):
        held = []
        for prevalence in PREVALENCES:
            inside = []
            for random, batch, _, prediction in batches(score, shift, prevalence, 10):
                for _ in range(24):
                    sample = batch.sample(*draw(random, batch, n))
                    labels = estimate_with_labels(sample, prediction)
                    low, high = labels.interval(0.95)
                    inside.append(low <= batch.prevalence <= high)
            # Two standard errors of 240 draws below .93.
            assert np.mean(inside) > 0.9, (n, prevalence)
            held += inside
        assert 0.93 < np.mean(held) < 0.995, n


@pytest.mark.parametrize("shift", SHIFTS)
def test_the_combination_is_hardly_worse_than_labels_alone(score, shift):
    errors, of_labels = [], []
    for random, batch, label_free, prediction in batches(score, shift, 0.3, 25):
        for _ in range(40):
            rows, weights = draw_plainly(random, batch, 100)
            labels = estimate_with_labels(batch.sample(rows, weights), prediction)
            combined = combine(labels, label_free, 0.02, 0.95)
            errors.append(abs(combined - batch.prevalence))
            of_labels.append(abs(batch.positive[rows].mean() - batch.prevalence))
    ratio = np.mean(errors) / np.mean(of_labels)
    # Where the label-free estimate is right, it helps much; where not, it costs little.
    if shift == "prior shift":
        assert ratio < 0.6
    elif shift == "covariate shift":
        assert ratio < 0.9
    else:
        assert ratio < 1.05


@pytest.mark.parametrize("bias", [0.05, 0.15, 0.4])
def test_a_wrong_label_free_estimate_costs_at_most_five_percent(score, bias):
    errors, of_labels = [], []
    for random, batch, _, _ in batches(score, "prior shift", 0.3, 25):
        wrong = batch.prevalence + bias
        prediction = batch.predictions(wrong)
        for n in (25, 100):
            for _ in range(20):
                rows, weights = draw_plainly(random, batch, n)
                labels = estimate_with_labels(batch.sample(rows, weights), prediction)
                combined = combine(labels, wrong, 0.01, 0.95)
                errors.append(abs(combined - batch.prevalence))
                of_labels.append(abs(batch.positive[rows].mean() - batch.prevalence))
    assert np.mean(errors) < 1.05 * np.mean(of_labels)


def share_refuted(score, bias, n, shift="prior shift", error=0.01):
    """Return how often labels refute an estimate that is wrong by a bias."""
    refuted = []
    for random, batch, _, _ in batches(score, shift, 0.2, 25, rows=4000):
        label_free = batch.prevalence + bias
        prediction = batch.predictions(label_free)
        for _ in range(20):
            claimed = label_free + error * random.normal()
            sample = batch.sample(*draw_plainly(random, batch, n))
            labels = estimate_with_labels(sample, prediction)
            verdict = compare_with_labels(labels, claimed, error).verdict
            refuted.append(verdict == "refuted")
    return np.mean(refuted)


@pytest.mark.parametrize("n", [10, 50, 200])
def test_a_right_estimate_is_refuted_in_five_of_a_hundred_batches(score, n):
    # Three standard errors of 500 draws above .05.
    assert share_refuted(score, 0.0, n) < 0.08
    assert share_refuted(score, 0.0, n, shift="label noise") < 0.08


def test_wrong_estimates_are_refuted_the_more_the_more_labels():
    score = Score.trained(np.random.default_rng(0), auc=0.8)
    by_labels = [share_refuted(score, 0.1, n) for n in (50, 100, 200)]
    # Trials had .45, .74 and .95.
    assert np.abs(np.array(by_labels) - [0.45, 0.74, 0.95]).max() < 0.12
    assert share_refuted(score, 0.2, 100) > 0.97


def test_a_batch_without_positives_is_inside_its_interval(score):
    random = np.random.default_rng(3)
    batch = score.batch(random, "prior shift", 0.0, N)
    labels = estimate_with_labels(
        batch.sample(*draw_plainly(random, batch, 50)), batch.predictions(0.05)
    )
    low, high = labels.interval(0.95)
    assert low == 0.0
    assert 0 < high < 0.12
