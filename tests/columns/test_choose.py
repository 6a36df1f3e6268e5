"""Cells are chosen so that they tell much, and give nobody away."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._columns import UNITS, unit_window
from cape._columns._cells import Column, choose_cells


def cells_of(values):
    return choose_cells("x", Column(pd.Series(values)))


numbers = st.lists(
    st.floats(-1e6, 1e6, allow_nan=False) | st.integers(0, 5).map(float),
    min_size=1,
    max_size=120,
)


@given(values=numbers)
def test_edges_grow_and_the_outer_ones_are_the_tenth_values(values):
    cells = cells_of(values)
    ordered = np.sort(np.array(values, dtype=np.float32))
    tenth = min(10, (len(values) + 1) // 2) - 1
    assert cells.lowest == ordered[tenth]
    assert cells.highest == ordered[len(ordered) - 1 - tenth]
    assert (np.diff(cells.edges) > 0).all()
    assert cells.lowest in cells.edges
    assert cells.edges[cells.edges > cells.highest].size > 0


@given(values=numbers)
def test_an_edge_outside_the_range_is_one_of_units(values):
    """No value of the nine smallest and largest is written down."""
    cells = cells_of(values)
    inside = (cells.edges >= cells.lowest) & (cells.edges <= cells.highest)
    allowed = [np.nextafter(np.float32(cells.highest), np.float32(np.inf))]
    for factor in UNITS:
        allowed += unit_window(cells.median, factor)
    assert np.isin(cells.edges[~inside], allowed).all()


def test_quantile_cells_hold_an_eighth_each():
    values = np.random.default_rng(0).normal(size=5000)
    cells = cells_of(values)
    bounds = [-np.inf, *cells.edges, np.inf]
    held = np.histogram(values.astype(np.float32), bounds)[0]
    # A column around 0 has no unit, so that there are no other edges.
    assert len(cells.edges) == 9
    assert held[0] == held[-1] == 9
    np.testing.assert_allclose(held[2:-2], 5000 / 8, atol=1)


def test_few_values_have_a_cell_each():
    cells = cells_of([0] * 40 + [1] * 30 + [7] * 20 + [9] * 3)
    assert cells.edges[:-1].tolist() == [0, 1, 7]
    # The nine of three people are above the tenth largest value.
    assert cells.edges[-1] == np.nextafter(np.float32(7), np.float32(8))


def test_a_value_that_many_share_has_a_cell_of_its_own():
    values = [0.0] * 600 + list(np.linspace(1, 100, 400))
    cells = cells_of(values)
    assert cells.edges[:2].tolist() == [0, 1]


def test_units_have_edges_if_a_column_may_have_units():
    heights = np.random.default_rng(0).normal(170, 10, 500)
    cells = cells_of(heights)
    for factor in UNITS:
        assert np.isin(unit_window(cells.median, factor), cells.edges).all()
    for without in (heights - 170, [1, 2, 3] * 100, pd.to_datetime(heights * 1e9)):
        assert len(cells_of(without).edges) <= 2 + 18


@given(
    rows=st.lists(st.integers(1, 200), min_size=1, max_size=40),
)
def test_only_frequent_levels_are_named(rows):
    values = []
    for number, times in enumerate(rows):
        values += [f"level {number}"] * times
    cells = cells_of(values)
    assert len(cells.levels) <= 11
    assert cells.levels == tuple(sorted(cells.levels))
    for level in cells.levels:
        times = rows[int(level.split()[1])]
        assert times >= 30
    for number in range(len(rows)):
        level = f"level {number}"
        assert level in cells.levels or cells.knows(level)
    assert cells.unseen_rate == pytest.approx(rows.count(1) / sum(rows))


def test_levels_that_are_about_equally_frequent_are_chosen_by_name():
    """The most frequent ones would be chosen by luck, and a test of them biased."""
    random = np.random.default_rng(0)
    names = [f"{number:02d}" for number in range(20)]
    rows = random.permutation(np.arange(70, 110, 2))
    cells = cells_of(np.repeat(names, rows))
    assert cells.levels == tuple(names[:11])


def test_luck_decides_of_few_levels():
    """Forty equal levels of 25 rows: the few with 30 would be expected too often."""
    random = np.random.default_rng(0)
    for total, named in ((1000, 0), (5000, 11)):
        level = random.integers(0, 40, total)
        cells = cells_of([f"level {number:02d}" for number in level])
        assert len(cells.levels) == named
        assert cells.levels == tuple(f"level {i:02d}" for i in range(named))


def test_frequent_levels_are_named_beside_rare_ones():
    values = ["a"] * 500 + ["b"] * 200 + [f"rare {i % 50}" for i in range(300)]
    assert cells_of(values).levels == ("a", "b")


def test_thousands_of_levels_are_a_small_thing():
    values = [f"person {number}" for number in range(5000)]
    cells = cells_of(values)
    assert cells.levels == ()
    assert cells.unseen_rate == 1
    assert len(cells.hashes) <= 1024


@pytest.mark.parametrize("values", [[5.0] * 50, ["a"] * 50, [True] * 50])
def test_a_constant_column(values):
    cells = cells_of(values)
    if cells.is_number:
        assert cells.lowest == cells.highest == cells.median
        assert len(cells.edges) == 2
    else:
        assert cells.levels == ("a",)


def test_a_column_without_values_is_empty():
    assert cells_of([None] * 40).kind == "empty"


def test_one_value_is_enough():
    cells = cells_of([3.0])
    assert (cells.lowest, cells.median, cells.highest) == (3, 3, 3)
