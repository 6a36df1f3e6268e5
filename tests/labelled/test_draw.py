"""Drawing rows: seeded, without replacement, whatever the parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._labelled import RowDraw, Strata, returned_p_value

GROUPS = np.array([0, 1] * 300)
CELLS = np.random.default_rng(0).integers(0, 10, 600)


def strata_of(code, drawn):
    """Cells 0 to 4 and 5 to 9 of a group."""
    low = (CELLS[code == GROUPS] < 5).sum()
    return Strata(np.array([0, 5]), np.array([low, 300 - low]), np.array(drawn))


STRATA = [strata_of(0, (10, 30)), strata_of(1, (5, 0))]


def drawn_in_parts(cuts, seed=0):
    draw = RowDraw(STRATA, seed)
    probabilities = []
    for part in np.split(np.arange(600), sorted(cuts)):
        probabilities.append(draw.add(GROUPS[part], CELLS[part]))
    return draw.result(), np.concatenate(probabilities)


@given(st.lists(st.integers(0, 600), max_size=5), st.integers(0, 3))
def test_rows_do_not_depend_on_the_parts_they_come_in(cuts, seed):
    drawn, probabilities = drawn_in_parts(cuts, seed)
    at_once, same = drawn_in_parts([], seed)
    assert drawn.rows.tolist() == at_once.rows.tolist()
    assert probabilities.tolist() == same.tolist()


@given(st.integers(0, 1000))
def test_each_stratum_gives_its_number_of_rows_and_no_row_twice(seed):
    drawn, probabilities = drawn_in_parts([], seed)
    assert len(set(drawn.rows.tolist())) == len(drawn) == 45
    assert drawn.groups.tolist() == GROUPS[drawn.rows].tolist()
    assert drawn.cells.tolist() == CELLS[drawn.rows].tolist()
    assert drawn.strata.tolist() == (drawn.cells >= 5).astype(int).tolist()
    counts = np.bincount(2 * drawn.groups + drawn.strata, minlength=4)
    assert counts.tolist() == [10, 30, 5, 0]
    assert drawn.probabilities.tolist() == probabilities[drawn.rows].tolist()
    assert probabilities.sum() == pytest.approx(45)


def test_every_row_is_drawn_as_often_as_its_probability_says():
    times = np.zeros(600)
    for seed in range(2000):
        drawn, probabilities = drawn_in_parts([], seed)
        times[drawn.rows] += 1
    deviation = np.sqrt(2000 * probabilities * (1 - probabilities))
    assert (np.abs(times - 2000 * probabilities) <= 4.5 * deviation).all()


def test_the_first_rows_are_a_sample_as_well():
    drawn, _ = drawn_in_parts([])
    first = slice(0, 18)
    counts = np.bincount(2 * drawn.groups[first] + drawn.strata[first], minlength=4)
    # 18 of 45 rows: two fifths of 10, 30 and 5.
    assert counts.tolist() == [4, 12, 2, 0]


def test_other_seeds_draw_other_rows():
    assert set(drawn_in_parts([], 0)[0].rows) != set(drawn_in_parts([], 1)[0].rows)


def test_rows_that_came_back_at_random_pass_and_chosen_ones_do_not():
    random = np.random.default_rng(0)
    cells = np.arange(100)
    p_values = [returned_p_value(cells, random.random(100) < 0.7) for _ in range(200)]
    assert np.mean(np.array(p_values) < 0.05) < 0.1
    assert returned_p_value(cells, cells < 70) < 0.001
    # Ten missing rows, all of the highest scores.
    assert returned_p_value(cells, cells < 90) < 0.01


def test_there_is_nothing_to_test_if_all_or_none_or_few_came_back():
    cells = np.arange(100)
    assert returned_p_value(cells, np.ones(100, dtype=bool)) == 1
    assert returned_p_value(cells, np.zeros(100, dtype=bool)) == 1
    assert returned_p_value(np.arange(9), np.arange(9) < 4) == 1
