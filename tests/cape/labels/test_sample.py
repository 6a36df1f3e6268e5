"""Labelled rows in cells of their score, and how many rows each stands for."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cape.evidence._columns import ColumnCounts, TableCells
from cape.evidence._evidence import GroupEvidence, LabelledEvidence
from cape.labels._sample import (
    LabelledSample,
    combine,
    compare_with_labels,
    drawn_p_value,
    estimate_with_labels,
    labelled_sample,
    predictions,
    proportion_interval,
    row_weights,
    score_cells,
)
from cape.labels._use import SAMPLE_LEVEL, label_estimate
from cape.quantify import ScoreHistogram, round_scores
from cape.training._group_model import GroupModel

ONE = 2**32  # the unit of rounded scores

EDGES = np.array([1, 2, 3]) * (ONE // 4)


def histogram(in_cells, unit=1):
    in_cells = np.array(in_cells)
    middles = (2 * np.arange(len(in_cells)) + 1) * (ONE // (2 * len(in_cells)))
    return ScoreHistogram(EDGES, in_cells, in_cells * middles, unit)


def evidence(batch, labelled):
    """Make evidence of rows in four cells; (negatives, positives) by probability."""
    parts = {}
    for probability, (negatives, positives) in labelled.items():
        parts[round(probability * ONE)] = LabelledEvidence(
            GroupEvidence(histogram(positives)), GroupEvidence(histogram(negatives))
        )
    return GroupEvidence(histogram(batch), labelled=parts)


def model_of(positives, negatives):
    """A group with these training scores."""
    return GroupModel(
        size=0,
        prevalence=positives.size / (positives.size + negatives.size),
        positives=positives,
        negatives=negatives,
        positive=1,
        scoring_models=[],
        quantifier=None,
        pool=None,
    )


MODEL = model_of(histogram([5, 10, 30, 55]), histogram([80, 40, 20, 10]))


def test_rows_drawn_plainly_stand_for_an_equal_share_of_the_batch():
    sample = labelled_sample(
        evidence([50, 30, 15, 5], {0: ([3, 1, 0, 0], [0, 0, 1, 0])})
    )
    assert sample.n_rows == 100
    assert sample.n_labelled == 5
    assert sample.unlabelled_share == 0.95
    assert sample.weight.tolist() == [20.0]
    assert sample.counts.tolist() == [[3, 1, 0, 0], [0, 0, 1, 0]]
    assert sample.positive_share == pytest.approx(0.2)
    assert sample.design_effect == 1
    assert sample.excess.sum() == pytest.approx(5 * (400 - 20))


def test_rows_with_a_probability_stand_for_its_inverse():
    drawn = evidence(
        [40, 40, 10, 10],
        {0.05: ([2, 1, 0, 0], [0, 1, 0, 0]), 0.25: ([0, 0, 1, 0], [0, 0, 2, 2])},
    )
    sample = labelled_sample(drawn)
    assert sample.weight == pytest.approx([20, 4])
    assert sample.is_stratified
    assert sample.positive_share == pytest.approx((20 + 16) / 100)
    assert sample.design_effect == pytest.approx(20 / (100 / 9))


def test_no_labels_are_no_sample():
    part = evidence([4, 0, 0, 0], {})
    with pytest.raises(ValueError, match="evidence must have labelled rows, got none"):
        label_estimate(MODEL, part, 0.5)


@given(
    st.lists(st.integers(0, 6), min_size=4, max_size=4),
    st.lists(st.integers(0, 6), min_size=4, max_size=4),
    st.integers(1, 40),
    st.floats(0.05, 0.95),
)
def test_equal_probabilities_give_the_answer_of_plain_drawing(
    negatives, positives, unlabelled, label_free
):
    labelled = np.array(negatives) + positives
    if labelled.sum() < 2:
        labelled[0] += 2
        negatives[0] += 2
    batch = np.add(labelled, [unlabelled, 0, 1, 2])
    share = labelled.sum() / batch.sum()
    plain = evidence(batch, {0: (negatives, positives)})
    weighted = evidence(batch, {share: (negatives, positives)})
    one = label_estimate(MODEL, plain, label_free)
    other = label_estimate(MODEL, weighted, label_free)
    assert other.estimate == pytest.approx(one.estimate, abs=1e-6)
    assert other.variance == pytest.approx(one.variance, abs=1e-6)
    assert other.interval(0.95) == pytest.approx(one.interval(0.95), abs=1e-5)


def test_known_labels_stand_for_those_that_are_missing():
    half_came_back = {0.5: ([6, 2, 1, 0], [1, 2, 2, 1])}
    sample = labelled_sample(evidence([30, 15, 9, 6], half_came_back))
    assert sample.weight == pytest.approx([60 / 15])
    # Whoever says that all rows were drawn, and labels a few, says nothing certain.
    certain = evidence([300, 150, 90, 60], {1: half_came_back[0.5]})
    assert row_weights(certain) == pytest.approx([600 / 15])
    low, high = label_estimate(MODEL, certain, 0.5).interval(0.95)
    assert high - low > 0.2


def test_weights_of_independent_draws_may_fall_short_by_chance():
    drawn = evidence([200, 100, 60, 40], {0.05: ([10, 3, 1, 0], [0, 1, 1, 1])})
    assert row_weights(drawn) == pytest.approx([20.0])


@pytest.mark.parametrize("unit", [1, 3])
def test_a_row_counts_once_in_the_cells_of_its_scores(unit):
    scores = histogram([3, 6, 3, 0], unit=unit)
    assert score_cells(GroupEvidence(scores)).tolist() == [
        3 / unit,
        6 / unit,
        3 / unit,
        0,
    ]
    # With several scores a row, the mean of them decides and is tallied. With one, the
    # tally is that of decisions that were made.
    tally = histogram([1, 2, 1, 0])
    expected = [1, 2, 1, 0] if unit > 1 else [3, 6, 3, 0]
    assert score_cells(GroupEvidence(scores, tally)).tolist() == expected


@given(st.floats(0, 1), st.floats(0, 1))
def test_predictions_rise_with_the_score_and_with_the_prevalence(one, other):
    low = predictions(MODEL, min(one, other))
    high = predictions(MODEL, max(one, other))
    assert (np.diff(low) >= 0).all()
    assert (low <= high + 1e-12).all()
    assert 0 < low[0] <= high[-1] < 1


def test_predictions_are_those_of_training_at_its_prevalence():
    found = predictions(MODEL, 0.4)
    expected = np.array([5, 10, 30, 55]) / np.array([85, 50, 50, 65])
    np.testing.assert_allclose(found, expected, atol=0.01)
    flipped = model_of(MODEL.negatives, MODEL.positives)
    # A score that falls with the label has nothing to say: it cannot rise.
    assert np.ptp(predictions(flipped, 0.4)) == pytest.approx(0, abs=1e-9)


# The test whether labelled rows look drawn from the batch: its level and its power.


N = 1000
FINE_EDGES = np.linspace(0, ONE, 41)[1:-1].astype(np.int64)


class Table:
    """A batch of rows with a score, a column of numbers and one of texts."""

    def __init__(self, random, columns=True):
        self.positive = random.random(N) < 0.3
        self.scores = round_scores(random.beta(1 + 2 * self.positive, 2))
        self.amount = random.normal(size=N) + self.positive
        self.place = random.choice(["here", "there", "far"], N, p=[0.6, 0.3, 0.1])
        table = pd.DataFrame({"amount": self.amount, "place": self.place})
        self.cells = TableCells.of(table)
        self.codes = self.cells.codes(table) + self.cells.starts[:-1]
        self.columns = columns

    @property
    def model(self):
        columns = SimpleNamespace(cells=self.cells) if self.columns else None
        return SimpleNamespace(columns=columns)

    def part(self, rows):
        counts = None
        if self.columns:
            n_cells = self.cells.starts[-1]
            in_cells = np.bincount(self.codes[rows].ravel(), minlength=n_cells)
            counts = ColumnCounts(in_cells)
        return GroupEvidence(
            ScoreHistogram.of(self.scores[rows], FINE_EDGES), columns=counts
        )

    def evidence(self, labelled):
        """Count all rows, and the labelled ones by their probability (0: plain)."""
        parts = {}
        for probability, rows in labelled.items():
            positive = self.positive[rows]
            parts[round(probability * ONE)] = LabelledEvidence(
                self.part(rows[positive]), self.part(rows[~positive])
            )
        everything = self.part(np.arange(N))
        return GroupEvidence(
            everything.scores, columns=everything.columns, labelled=parts
        )

    def p_value(self, labelled):
        evidence = self.evidence(labelled)
        return drawn_p_value(self.model, evidence, labelled_sample(evidence))


def draw_plainly(random, table, n):
    return {0: random.choice(N, n, replace=False)}


def draw_twice_as_often_above(random, table, n):
    """Draw by strata of the score."""
    high = np.argsort(table.scores)[N // 2 :]
    low = np.argsort(table.scores)[: N // 2]
    n_high = 2 * n // 3
    n_low = n - n_high
    return {
        n_low / len(low): random.choice(low, n_low, replace=False),
        n_high / len(high): random.choice(high, n_high, replace=False),
    }


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 100, 400])
@pytest.mark.parametrize("draw", [draw_plainly, draw_twice_as_often_above])
def test_samples_are_rejected_in_one_of_a_hundred_batches(draw, n):
    random = np.random.default_rng(n)
    tables = [Table(random) for _ in range(8)]
    rejected = []
    for table in tables * 60:
        rejected.append(table.p_value(draw(random, table, n)) < SAMPLE_LEVEL)
    # Two and a half standard errors of 480 draws above .01.
    assert np.mean(rejected) < 0.0215


def only_large_amounts(table):
    return np.flatnonzero(table.amount > np.median(table.amount))


def only_high_scores(table):
    return np.flatnonzero(table.scores > np.median(table.scores))


def only_one_place(table):
    return np.flatnonzero(table.place != "there")


@pytest.mark.parametrize(
    "known", [only_large_amounts, only_high_scores, only_one_place]
)
def test_outcomes_that_are_known_early_are_no_sample(known):
    random = np.random.default_rng(5)
    rejected = []
    for _ in range(20):
        table = Table(random)
        rows = random.choice(known(table), 100, replace=False)
        rejected.append(table.p_value({0: rows}) < SAMPLE_LEVEL)
    assert np.mean(rejected) > 0.9


def test_a_plain_sample_is_none_of_other_probabilities():
    random = np.random.default_rng(6)
    table = Table(random)
    drawn = draw_twice_as_often_above(random, table, 300)
    assert table.p_value(drawn) > SAMPLE_LEVEL
    rows = np.concatenate(list(drawn.values()))
    assert table.p_value({0: rows}) < SAMPLE_LEVEL


def test_without_columns_the_scores_are_tested_alone():
    random = np.random.default_rng(7)
    table = Table(random, columns=False)
    early = random.choice(only_high_scores(table), 100, replace=False)
    assert table.p_value({0: early}) < SAMPLE_LEVEL
    elsewhere = random.choice(np.flatnonzero(table.place == "far"), 60, replace=False)
    assert table.p_value({0: elsewhere}) > SAMPLE_LEVEL


def test_all_rows_are_a_sample_and_a_few_rows_cannot_be_told():
    table = Table(np.random.default_rng(8))
    assert table.p_value({0: np.arange(N)}) == 1
    assert table.p_value({0: np.arange(N)[:4]}) == 1


# The estimate from labels is prediction-powered inference, and keeps to the facts.

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
        float(np.clip(theta, *found.sample.limits)), abs=1e-9
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
    assert labels.sample.limits == pytest.approx((truth, truth))


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
    p_value = compare_with_labels(labels, label_free, error)[1]
    of_mirror = compare_with_labels(mirrored, 1 - label_free, error)[1]
    assert of_mirror == pytest.approx(p_value, abs=1e-6)


@given(any_rows)
def test_predictions_that_are_all_equal_are_no_help(case):
    case.prediction = np.full(len(case.prediction), 0.37)
    labels = case.estimate()
    y_bar = (case.weights @ case.positive[case.labelled]) / case.weights.sum()
    expected = np.clip(y_bar, *labels.sample.limits)
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
    assert compare_with_labels(labels, truth, 0.01)[0] == "confirmed"
    refuted = compare_with_labels(labels, truth + 0.15, 0.01)
    assert refuted[0] == "refuted" and refuted[1] < 1e-6
    # A vague label-free estimate cannot be refuted, and is too far to be confirmed.
    vague = compare_with_labels(labels, truth + 0.15, 0.2)
    assert vague[0] == "not_contradicted"
    # All labels, and an estimate that claims to be exact.
    exact = replace(labels, variance=0.0, design_effect=0.0)
    assert compare_with_labels(exact, truth, 0.0)[1] == 1
    assert compare_with_labels(exact, truth + 0.01, 0.0)[1] == 0
