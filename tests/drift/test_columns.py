"""A column that is a mixture of its classes passes the test, another one does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._columns import ColumnCells, TableCells
from cape._drift._columns import ColumnFit, _merge, fit_column

SHARES_OF_POSITIVES = np.array([0, 0, 0.01, 0.1, 0.2, 0.3, 0.3, 0.09])
SHARES_OF_NEGATIVES = np.array([0, 0, 0.09, 0.3, 0.3, 0.2, 0.1, 0.01])
NUMBER = ColumnCells("x", "number", np.arange(5.0), 2.0, 0.0, 4.0)
TEXT = ColumnCells("x", "text", levels=("a", "b", "c", "d"))


def draw(random, rho, rows, training=2000):
    positives = random.multinomial(training // 2, SHARES_OF_POSITIVES)
    negatives = random.multinomial(training // 2, SHARES_OF_NEGATIVES)
    mixture = rho * SHARES_OF_POSITIVES + (1 - rho) * SHARES_OF_NEGATIVES
    return positives, negatives, random.multinomial(rows, mixture)


@pytest.mark.parametrize("cells", [NUMBER, TEXT], ids=["number", "text"])
@pytest.mark.parametrize("training", [200, 2000])
def test_the_level_is_kept_at_the_true_prevalence(cells, training):
    random = np.random.default_rng(0)
    rejected = []
    for _ in range(600):
        rho = random.uniform(0.1, 0.9)
        counts = draw(random, rho, 1000, training)
        rejected.append(fit_column(cells, *counts, rho).p_value < 0.05)
    # Three binomial standard errors above 5 %.
    assert np.mean(rejected) < 0.077


def test_a_prevalence_that_the_column_contradicts_is_rejected():
    random = np.random.default_rng(0)
    counts = draw(random, 0.3, 2000)
    fit = fit_column(NUMBER, *counts, 0.7)
    assert fit.p_value < 1e-6
    assert fit.prevalence == pytest.approx(0.3, abs=4 * fit.error)
    assert fit.effect > 0.05
    right = fit_column(NUMBER, *counts, 0.3)
    assert right.effect < 0.05


def test_the_prevalence_of_a_column_has_the_error_that_is_stated():
    random = np.random.default_rng(1)
    standardized = []
    for _ in range(300):
        fit = fit_column(NUMBER, *draw(random, 0.4, 800), 0.4)
        standardized.append((fit.prevalence - 0.4) / fit.error)
    assert np.mean(standardized) == pytest.approx(0, abs=0.2)
    assert np.std(standardized) == pytest.approx(1, abs=0.15)


def test_a_column_that_does_not_tell_the_classes_apart_speaks_for_no_prevalence():
    counts = np.array([0, 0, 0, 500, 500, 0, 0, 0])
    fit = fit_column(NUMBER, counts, counts, counts, 0.5)
    assert fit.df > 0
    assert fit.error == np.inf or fit.error > 10
    assert fit.p_value == pytest.approx(1)


@given(
    counts=st.lists(
        st.lists(st.integers(0, 30), min_size=8, max_size=8), min_size=3, max_size=3
    ),
    rho=st.floats(0.02, 0.98),
    cells=st.sampled_from([NUMBER, TEXT]),
)
def test_any_counts_give_a_p_value(counts, rho, cells):
    positives, negatives, batch = np.array(counts) + 1
    fit = fit_column(cells, positives, negatives, batch, rho)
    assert 0 <= fit.p_value <= 1
    assert 0 <= fit.effect <= 1
    assert fit.statistic >= 0
    assert fit.error > 0


@given(
    rows=st.lists(st.integers(0, 30), min_size=8, max_size=8),
    cells=st.sampled_from([NUMBER, TEXT]),
)
def test_merged_cells_hold_every_cell_once_and_enough_rows(rows, cells):
    rows = np.array(rows)
    merged = _merge(cells, rows, rows)
    assert sorted(cell for group in merged for cell in group) == list(range(8))
    if len(merged) > 1:
        assert min(rows[group].sum() for group in merged) >= 8


@pytest.mark.parametrize("rows", [1, 7])
def test_too_few_rows_cannot_be_tested(rows):
    random = np.random.default_rng(0)
    fit = fit_column(NUMBER, *draw(random, 0.5, rows), 0.5)
    assert fit == ColumnFit()
    assert (fit.df, fit.p_value) == (0, 1)


def test_columns_with_one_cell_cannot_be_tested():
    empty = ColumnCells("x", "empty")
    fit = fit_column(empty, *[np.array([50, 0])] * 3, 0.5)
    assert fit.df == 0
    constant = TableCells.of(np.full((80, 1), 3.0))
    counts = constant.count(np.full((80, 1), 3.0)).counts
    assert fit_column(constant.columns[0], counts, counts, counts, 0.5).df == 0


def test_missing_values_are_tested():
    training = np.array([100, 0, 0, 100, 100, 100, 100, 0])
    batch = np.array([300, 0, 0, 50, 50, 50, 50, 0])
    assert fit_column(NUMBER, training, training, batch, 0.5).p_value < 1e-6
