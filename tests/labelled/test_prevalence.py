"""The estimate from labels is prediction-powered inference, and keeps to the facts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cape._labelled import LabelledSample, compare_with_labels, proportion_interval
from cape._labelled._sample import combine, estimate_with_labels

shares = st.floats(0, 1)
levels = st.floats(0.5, 0.99)


class Rows:
    """Rows one by one: cell and label of each, which are labelled, and their weight."""

    def __init__(self, cells, positive, labelled, weights, prediction):
        self.cells = np.array(cells)
        self.positive = np.array(positive, dtype=float)
        self.labelled = np.array(labelled)
        self.weights = np.array(weights, dtype=float)
        self.prediction = np.array(prediction)

    @property
    def sample(self):
        n_cells = len(self.prediction)
        weight, stratum = np.unique(self.weights, return_inverse=True)
        strata = np.zeros((len(weight), 2, n_cells))
        labels = self.positive[self.labelled].astype(int)
        np.add.at(strata, (stratum, labels, self.cells[self.labelled]), 1)
        batch = np.bincount(self.cells, minlength=n_cells).astype(float)
        return LabelledSample(batch, strata, weight)

    def estimate(self):
        return estimate_with_labels(self.sample, self.prediction)

    def swapped(self):
        """The same rows, with positives and negatives exchanged."""
        mirrored = 1 - self.prediction
        return Rows(
            self.cells, 1 - self.positive, self.labelled, self.weights, mirrored
        )


@st.composite
def rows(draw, plain=True):
    n_rows = draw(st.integers(4, 60))
    n_cells = draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    cells = random.integers(0, n_cells, n_rows)
    prediction = np.round(random.uniform(0.01, 0.99, n_cells), 3)
    positive = random.random(n_rows) < draw(shares)
    n_labelled = draw(st.integers(2, n_rows))
    labelled = random.choice(n_rows, n_labelled, replace=False)
    weights = np.full(n_labelled, n_rows / n_labelled)
    if not plain and n_labelled < n_rows:
        weights = random.uniform(1, 5, n_labelled)
    return Rows(cells, positive, labelled, weights, prediction)


any_rows = st.one_of(rows(), rows(plain=False))


def by_row(case):
    """Prediction-powered inference as the papers have it, one row at a time."""
    f = case.prediction[case.cells]
    y = case.positive[case.labelled]
    f_labelled = f[case.labelled]
    w = case.weights
    m = len(y)
    y_bar = (w * y).sum() / w.sum()
    f_bar = (w * f_labelled).sum() / w.sum()
    u = w**2 - w
    g = f_labelled - f_bar
    prior = 8 * f.var() * u.mean()
    slope = ((u * (y - y_bar) * g).sum() + prior) / ((u * g**2).sum() + prior)
    slope = min(max(slope, 0), 1.5)
    theta = y_bar + slope * (f.mean() - f_bar)
    raw = m / (m - 1) * (u * (y - y_bar - slope * g) ** 2).sum() / w.sum() ** 2
    smoothed = (m * y_bar + 1) / (m + 2)
    one_row = smoothed * (1 - smoothed)
    no_help = max(1, m * w.max() / w.sum()) * (1 - m / len(f))
    design = (m * raw + 5 * one_row / m * no_help) / (
        y_bar * (1 - y_bar) + 5 * one_row / m
    )
    return theta, one_row * design / m, design


@given(any_rows)
def test_cells_give_what_rows_give(case):
    assume((case.weights > 1).all())
    assume(len(set(case.prediction[case.cells])) > 1)
    theta, variance, design_effect = by_row(case)
    found = case.estimate()
    assert found.estimate == pytest.approx(
        min(max(theta, found.lowest), found.highest), abs=1e-9
    )
    assert found.variance == pytest.approx(variance, abs=1e-12)
    assert found.design_effect == pytest.approx(design_effect, abs=1e-9)


@given(rows())
def test_labels_of_all_rows_leave_no_doubt(case):
    case.labelled = np.arange(len(case.cells))
    case.weights = np.ones(len(case.cells))
    labels = case.estimate()
    truth = case.positive.mean()
    assert labels.estimate == pytest.approx(truth, abs=1e-12)
    assert labels.interval(0.95) == (labels.estimate, labels.estimate)
    assert combine(labels, 0.5, 0.01, 0.95) == labels.estimate
    assert labels.lowest == pytest.approx(labels.highest) == pytest.approx(truth)


@given(any_rows, levels)
def test_the_interval_keeps_to_the_labels_that_are_known(case, level):
    labels = case.estimate()
    low, high = labels.interval(level)
    known = case.positive[case.labelled]
    assert known.sum() / len(case.cells) - 1e-12 <= low
    assert high <= 1 - (1 - known).sum() / len(case.cells) + 1e-12
    assert low <= labels.estimate <= high


@given(any_rows, shares, st.floats(0, 0.2), levels)
def test_positives_and_negatives_have_equal_rights(case, label_free, error, level):
    labels = case.estimate()
    mirrored = case.swapped().estimate()
    assert mirrored.estimate == pytest.approx(1 - labels.estimate, abs=1e-9)
    assert mirrored.variance == pytest.approx(labels.variance, abs=1e-9)
    low, high = labels.interval(level)
    assert mirrored.interval(level) == pytest.approx((1 - high, 1 - low), abs=1e-6)
    combined = combine(labels, label_free, error, level)
    of_mirror = combine(mirrored, 1 - label_free, error, level)
    assert of_mirror == pytest.approx(1 - combined, abs=1e-6)
    p_value = compare_with_labels(labels, label_free, error).p_value
    of_mirror = compare_with_labels(mirrored, 1 - label_free, error).p_value
    assert of_mirror == pytest.approx(p_value, abs=1e-6)


@given(any_rows)
def test_predictions_that_are_all_equal_are_no_help(case):
    case.prediction = np.full(len(case.prediction), 0.37)
    labels = case.estimate()
    y_bar = (case.weights @ case.positive[case.labelled]) / case.weights.sum()
    expected = np.clip(y_bar, labels.lowest, labels.highest)
    assert labels.estimate == pytest.approx(expected)


@given(any_rows, shares, st.floats(0, 0.3), levels)
def test_the_combination_lies_between_both_and_inside_the_interval(
    case, label_free, error, level
):
    labels = case.estimate()
    combined = combine(labels, label_free, error, level)
    low, high = labels.interval(level)
    assert low <= combined <= high
    ends = sorted((labels.estimate, label_free))
    assert ends[0] - 1e-12 <= combined <= ends[1] + 1e-12


@pytest.mark.parametrize("n", [10, 25, 100, 400])
def test_intervals_of_proportions_hold_as_often_as_they_say(n):
    from scipy.stats import binom

    hits = np.arange(n + 1)
    low, high = proportion_interval(hits / n, n, 0.95)
    held = []
    for truth in np.linspace(0.02, 0.98, 49):
        is_inside = (low <= truth) & (truth <= high)
        held.append(binom.pmf(hits, n, truth) @ is_inside)
    assert min(held) > 0.9
    assert 0.94 < np.mean(held) < 0.97


def test_verdicts_of_clear_cases():
    random = np.random.default_rng(1)
    n = 2000
    cells = random.integers(0, 2, n)
    positive = random.random(n) < np.where(cells, 0.6, 0.1)
    labelled = random.choice(n, 1000, replace=False)
    case = Rows(cells, positive, labelled, np.full(1000, 2.0), [0.1, 0.6])
    labels = case.estimate()
    truth = labels.estimate
    assert compare_with_labels(labels, truth, 0.01).verdict == "confirmed"
    refuted = compare_with_labels(labels, truth + 0.15, 0.01)
    assert refuted.verdict == "refuted"
    assert refuted.p_value < 1e-6
    # A vague label-free estimate cannot be refuted, and is too far to be confirmed.
    vague = compare_with_labels(labels, truth + 0.15, 0.2)
    assert vague.verdict == "not_contradicted"
    # All labels, and an estimate that claims to be exact.
    exact = replace(labels, variance=0.0, design_effect=0.0)
    assert compare_with_labels(exact, truth, 0.0).p_value == 1
    assert compare_with_labels(exact, truth + 0.01, 0.0).p_value == 0
