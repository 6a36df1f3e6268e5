"""Labelled rows in cells of their score, and how many rows each stands for."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.evidence._columns import ColumnCounts, TableCells
from cape.evidence._evidence import GroupEvidence, LabelledEvidence
from cape.labels._factor import LabelFactor
from cape.labels._sample import (
    SAMPLE_LEVEL,
    LabelledSample,
    drawn_p_value,
    labelled_sample,
    predictions,
    proportion_interval,
    row_weights,
    score_cells,
)
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
    assert sample.weight.tolist() == [20.0]
    assert sample.counts.tolist() == [[3, 1, 0, 0], [0, 0, 1, 0]]
    assert sample.positive_share == pytest.approx(0.2)
    assert sample.excess.sum() == pytest.approx(5 * (400 - 20))


def test_rows_with_a_probability_stand_for_its_inverse():
    drawn = evidence(
        [40, 40, 10, 10],
        {0.05: ([2, 1, 0, 0], [0, 1, 0, 0]), 0.25: ([0, 0, 1, 0], [0, 0, 2, 2])},
    )
    sample = labelled_sample(drawn)
    assert sample.weight == pytest.approx([20, 4])
    assert sample.positive_share == pytest.approx((20 + 16) / 100)


def test_no_labels_are_no_sample():
    part = evidence([4, 0, 0, 0], {})
    with pytest.raises(ValueError, match="evidence must have labelled rows, got none"):
        labelled_sample(part)


@given(
    st.lists(st.integers(0, 6), min_size=4, max_size=4),
    st.lists(st.integers(0, 6), min_size=4, max_size=4),
    st.integers(1, 40),
)
def test_equal_probabilities_give_the_answer_of_plain_drawing(
    negatives, positives, unlabelled
):
    labelled = np.array(negatives) + positives
    if labelled.sum() < 2:
        labelled[0] += 2
        negatives[0] += 2
    batch = np.add(labelled, [unlabelled, 0, 1, 2])
    share = labelled.sum() / batch.sum()
    plain = alone(evidence(batch, {0: (negatives, positives)}))
    weighted = alone(evidence(batch, {share: (negatives, positives)}))
    assert weighted == pytest.approx(plain, abs=1e-5)


def alone(part, level=0.95):
    """What the labels of a part say by themselves."""
    return LabelFactor.of(MODEL.log_odds, labelled_sample(part)).alone(level)


def test_known_labels_stand_for_those_that_are_missing():
    half_came_back = {0.5: ([6, 2, 1, 0], [1, 2, 2, 1])}
    sample = labelled_sample(evidence([30, 15, 9, 6], half_came_back))
    assert sample.weight == pytest.approx([60 / 15])
    # Whoever says that all rows were drawn, and labels a few, says nothing certain.
    certain = evidence([300, 150, 90, 60], {1: half_came_back[0.5]})
    assert row_weights(certain) == pytest.approx([600 / 15])
    assert alone(certain).width > 0.2


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


# What labels say of the share by themselves: prediction-powered, and true to the facts.

levels = st.floats(0.5, 0.99)


class Rows:
    """Rows one by one: cell and label of each, which are labelled, and their weight."""

    def __init__(self, cells, positive, labelled, weights, log_odds):
        self.cells = np.array(cells)
        self.positive = np.array(positive, dtype=float)
        self.labelled = np.array(labelled)
        self.weights = np.array(weights, dtype=float)
        self.log_odds = np.array(log_odds)

    @property
    def sample(self):
        n_cells = len(self.log_odds)
        weight, stratum = np.unique(self.weights, return_inverse=True)
        strata = np.zeros((len(weight), 2, n_cells))
        labels = self.positive[self.labelled].astype(int)
        np.add.at(strata, (stratum, labels, self.cells[self.labelled]), 1)
        batch = np.bincount(self.cells, minlength=n_cells).astype(float)
        return LabelledSample(batch, strata, weight)

    def factor(self):
        return LabelFactor.of(self.log_odds, self.sample)

    def swapped(self):
        """The same rows, with positives and negatives exchanged."""
        return Rows(
            self.cells, 1 - self.positive, self.labelled, self.weights, -self.log_odds
        )


@st.composite
def rows(draw, plain=True):
    n_rows = draw(st.integers(4, 60))
    n_cells = draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    cells = random.integers(0, n_cells, n_rows)
    log_odds = np.sort(np.round(random.normal(0, 1.5, n_cells), 1))
    positive = random.random(n_rows) < draw(st.floats(0, 1))
    n_labelled = draw(st.integers(2, n_rows))
    labelled = random.choice(n_rows, n_labelled, replace=False)
    weights = np.full(n_labelled, n_rows / n_labelled)
    if not plain and n_labelled < n_rows:
        weights = random.uniform(1.1, 5, n_labelled)
    return Rows(cells, positive, labelled, weights, log_odds)


any_rows = st.one_of(rows(), rows(plain=False))


@given(rows())
def test_labels_of_all_rows_leave_no_doubt(case):
    case.labelled = np.arange(len(case.cells))
    case.weights = np.ones(len(case.cells))
    truth = case.positive.mean()
    factor = case.factor()
    assert factor.known == truth
    assert factor.alone(0.95) == (truth, truth, truth)
    assert factor.p_value(truth, 0.1) == 1
    assert factor.p_value(truth + 0.01, 0.0) == 0
    assert factor.limits == (truth, truth)


@given(any_rows, levels)
def test_the_interval_keeps_to_the_labels_that_are_known(case, level):
    value, low, high = case.factor().alone(level)
    known = case.positive[case.labelled]
    assert known.sum() / len(case.cells) - 1e-12 <= low
    assert high <= 1 - (1 - known).sum() / len(case.cells) + 1e-12
    assert low <= value <= high


@given(any_rows)
def test_no_share_is_possible_beyond_the_labels_that_are_known(case):
    factor = case.factor()
    low, high = factor.limits
    points = np.array([low - 0.01, low, (low + high) / 2, high, high + 0.01])
    likelihood = factor.likelihood(points)
    assert (likelihood[:, [0, -1]] == 0).all()
    assert np.isfinite(likelihood).all() and likelihood.max() == 1


@given(any_rows, st.floats(0.01, 0.99), st.floats(0.01, 0.2), levels)
def test_positives_and_negatives_have_equal_rights(case, label_free, error, level):
    value, low, high = case.factor().alone(level)
    mirrored = case.swapped().factor()
    assert mirrored.alone(level) == pytest.approx(
        (1 - value, 1 - high, 1 - low), abs=3e-3
    )
    p_value = case.factor().p_value(label_free, error)
    assert mirrored.p_value(1 - label_free, error) == pytest.approx(p_value, abs=0.03)


def test_a_no_of_a_high_score_says_more_than_one_of_a_low_score():
    """The share of positives that three negatives speak for, by where they lie."""
    cells = np.repeat([0, 1], 50)
    by_place = []
    for first in (0, 50):
        labelled = np.append(np.arange(first, first + 3), [20, 70])
        positive = np.zeros(100)
        positive[70] = 1
        case = Rows(cells, positive, labelled, np.full(5, 20.0), [-2.0, 2.0])
        by_place.append(case.factor().alone(0.95).value)
    assert by_place[1] < by_place[0] - 0.1


def test_as_many_rows_in_other_cells_say_the_same_if_all_cells_are_alike():
    one = Rows(
        [0] * 30 + [1] * 30, [1] * 20 + [0] * 40, range(0, 60, 4), [4.0] * 15, [0, 0]
    )
    other = Rows([0] * 45 + [1] * 15, one.positive, one.labelled, one.weights, [0, 0])
    assert one.factor().alone(0.95) == other.factor().alone(0.95)


@pytest.mark.parametrize("labelled", [100, 10_000])
def test_many_labels_give_the_interval_of_a_proportion(labelled):
    """The grid is fine enough for any number of labels."""
    n = 10 * labelled
    positive = np.arange(n) % 10 < 3
    every = np.arange(0, n, 10) + np.arange(labelled) % 10
    case = Rows(np.zeros(n, dtype=int), positive, every, np.full(labelled, 10.0), [0.0])
    value, low, high = case.factor().alone(0.95)
    error = 1.96 * np.sqrt(0.3 * 0.7 / labelled * 0.9)
    assert value == pytest.approx(0.3, abs=0.1 * error)
    assert (high - low) / 2 == pytest.approx(error, rel=0.04)


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
