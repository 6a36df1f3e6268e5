"""The test whether labelled rows look drawn from the batch: its level and its power."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cape._columns import ColumnCounts, TableCells
from cape._evidence import GroupEvidence, LabelledEvidence
from cape._histogram import ONE, ScoreHistogram, round_scores
from cape._labelled import SAMPLE_LEVEL, labelled_sample
from cape._labelled._sample import drawn_p_value

N = 1000
EDGES = np.linspace(0, ONE, 41)[1:-1].astype(np.int64)


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
            ScoreHistogram.of(self.scores[rows], EDGES), columns=counts
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
