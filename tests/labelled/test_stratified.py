"""Estimates from rows that were drawn by strata, on data whose truth is known."""

import numpy as np
import pytest
from scipy.special import expit, ndtri
from sklearn.utils import Bunch

from cape import Estimate, ScoreHistogram
from cape._labelled import (
    LabelledSample,
    RowDraw,
    labels_for_width,
    predictions,
    stratify,
)
from cape._labelled._sample import estimate_with_labels
from cape.quantify import edges_for, round_scores

ONE = 2**32  # the unit of rounded scores


def scores_of(random, y, auc):
    distance = np.sqrt(2) * ndtri(auc)
    x = random.normal(size=len(y)) + distance * y
    return round_scores(expit(distance * x - distance**2 / 2))


def make_model(random, auc):
    y = np.arange(2000) % 2 == 1
    scores = scores_of(random, y, auc)
    edges = edges_for(scores[y], scores[~y])
    return Bunch(
        positives=ScoreHistogram.of(scores[y], edges),
        negatives=ScoreHistogram.of(scores[~y], edges),
        prevalence=0.5,
        edges=edges,
    )


def sample_of(batch, y, cells, rows, probabilities):
    weight, place = np.unique(1 / probabilities, return_inverse=True)
    strata = np.zeros((len(weight), 2, len(batch)))
    np.add.at(strata, (place, y[rows].astype(int), cells[rows]), 1)
    return LabelledSample(batch, strata, weight)


def draw_batch(random, model, prevalence, auc, by_strata, m=100, n_rows=3000):
    """Draw a batch and labels; return its true prevalence and the estimate."""
    y = random.random(n_rows) < prevalence
    scores = scores_of(random, y, auc)
    cells = np.searchsorted(model.edges, scores)
    batch = np.bincount(cells, minlength=len(model.edges) + 1)
    if by_strata:
        strata = stratify(model, batch, m, prevalence, scores.mean() / ONE)
        draw = RowDraw([strata], random)
        draw.add(np.zeros(n_rows, dtype=int), cells)
        drawn = draw.result()
        sample = sample_of(batch, y, cells, drawn.rows, drawn.probabilities)
    else:
        rows = random.choice(n_rows, m, replace=False)
        sample = sample_of(batch, y, cells, rows, np.full(m, m / n_rows))
    prediction = predictions(model, prevalence)
    if by_strata is None:
        prediction = np.zeros(len(batch))
    return y.mean(), estimate_with_labels(sample, prediction), batch


@pytest.mark.slow
@pytest.mark.parametrize("prevalence", [0.1, 0.5])
def test_intervals_hold_and_strata_save_a_third_of_the_labels(prevalence):
    random = np.random.default_rng(1)
    model = make_model(random, 0.88)
    covered = 0
    errors = []
    widths = {True: 0.0, None: 0.0}
    repetitions = 250
    for _ in range(repetitions):
        for by_strata in widths:
            truth, found, _ = draw_batch(random, model, prevalence, 0.88, by_strata)
            low, high = found.interval(0.95)
            widths[by_strata] += high - low
            if by_strata:
                covered += low <= truth <= high
                errors.append(found.estimate - truth)
    assert 0.92 <= covered / repetitions <= 0.99
    assert abs(np.mean(errors)) < 3.5 * np.std(errors) / np.sqrt(repetitions)
    # Widths fall with the root of the number of labels.
    assert (widths[True] / widths[None]) ** 2 < 0.7


@pytest.mark.slow
def test_a_score_that_tells_nothing_any_more_costs_little():
    random = np.random.default_rng(2)
    model = make_model(random, 0.9)
    widths = {True: 0.0, False: 0.0}
    for _ in range(60):
        for by_strata in widths:
            _, found, _ = draw_batch(random, model, 0.3, 0.5, by_strata)
            low, high = found.interval(0.95)
            widths[by_strata] += high - low
    assert (widths[True] / widths[False]) ** 2 < 1.1


@pytest.mark.parametrize("auc", [0.7, 0.9])
def test_as_many_labels_as_planned_give_the_width(auc):
    random = np.random.default_rng(3)
    model = make_model(random, auc)
    *_, batch = draw_batch(random, model, 0.3, auc, True)
    label_free = Estimate(0.3, 0.25, 0.3)
    need = labels_for_width(model, batch, label_free, 0.95, 0.35, 0.12)
    assert need.prevalence == 0.3
    assert 10 < need.labels < need.plain < 3000
    assert need.saving == 1 - need.labels / need.plain
    widths = []
    for _ in range(60):
        _, found, _ = draw_batch(random, model, 0.3, auc, True, m=need.labels)
        low, high = found.interval(0.95)
        widths.append(high - low)
    assert np.mean(widths) == pytest.approx(0.12, rel=0.06)


def test_the_plan_for_labels_alone_is_that_of_a_proportion():
    random = np.random.default_rng(4)
    model = make_model(random, 0.7)
    batch = np.full(len(model.edges) + 1, 1000)
    label_free = Estimate(0.5, 0.4, 0.6)
    need = labels_for_width(model, batch, label_free, 0.95, 0.5, 0.1)
    # 4 * 1.96^2 * 0.25 / 0.1^2, in a batch so large that it does not matter.
    assert need.plain == pytest.approx(384, abs=8)


def test_a_small_group_is_labelled_completely_for_a_width_it_cannot_reach():
    random = np.random.default_rng(5)
    model = make_model(random, 0.7)
    batch = np.zeros(len(model.edges) + 1, dtype=int)
    batch[::40] = 1
    label_free = Estimate(0.5, 0.0, 1.0)
    need = labels_for_width(model, batch, label_free, 0.95, 0.5, 1e-9)
    assert need.labels == need.plain == batch.sum()
    assert labels_for_width(model, batch, label_free, 0.95, 0.5, 0.99).labels == 10
