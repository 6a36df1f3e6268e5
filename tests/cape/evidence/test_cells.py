"""The cells of one column: how many, what is remembered, and what is written."""

import json
import string
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from cape import CapeClassifier
from cape.evidence._columns import (
    UNITS,
    Column,
    ColumnCells,
    TableCells,
    _hash_levels,
    choose_cells,
    column_names,
    far_window,
    hash_of,
    unit_window,
)

CELLS = [
    ColumnCells("n", "number", np.array([1.0, 2.5]), 2.0, 1.0, 2.4),
    ColumnCells("d", "date", np.array([0.0, 86400.0]), 10.0, 0.0, 86400.0),
    ColumnCells("t", "text", levels=("a", "b"), hashes=b"\x05", unseen_rate=0.1),
    ColumnCells("m", "mixed", levels=("1",)),
    ColumnCells("e", "empty"),
]


@pytest.mark.parametrize("cells", CELLS, ids=lambda cells: cells.kind)
def test_cells_come_back_from_json(cells):
    read = ColumnCells.from_json(json.loads(json.dumps(cells.to_json())))
    assert read.to_json() == cells.to_json()
    assert read.n_cells == cells.n_cells
    assert read.is_number == cells.is_number


def test_hashes_are_the_same_on_every_machine():
    # The check value of CRC-32.
    assert hash_of("123456789") == 0xCBF43926
    assert isinstance(hash_of("\ud800"), int)


@given(levels=st.lists(st.text(string.printable), min_size=1, max_size=60, unique=True))
def test_rare_levels_are_known_again(levels):
    cells = ColumnCells("t", "text", hashes=_hash_levels(levels))
    assert all(cells.knows(level) for level in levels)


def test_few_unseen_levels_are_taken_for_known_ones():
    levels = [f"level {number}" for number in range(200)]
    cells = ColumnCells("t", "text", hashes=_hash_levels(levels))
    taken = [cells.knows(f"another {number}") for number in range(2000)]
    assert np.mean(taken) < 0.15


# Cells are chosen so that they tell much, and give nobody away.


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
    allowed += far_window("number", cells.lowest, cells.highest)
    for factor in UNITS:
        allowed += unit_window(cells.median, factor)
    assert np.isin(cells.edges[~inside], allowed).all()


def test_quantile_cells_hold_an_eighth_each():
    values = np.random.default_rng(0).normal(size=5000)
    cells = cells_of(values)
    bounds = [-np.inf, *cells.edges, np.inf]
    held = np.histogram(values.astype(np.float32), bounds)[0]
    # A column around 0 has no unit, so that the only other edges are the far ones.
    assert len(cells.edges) == 9 + 2
    assert held[:2].sum() == held[-2:].sum() == 9
    np.testing.assert_allclose(held[3:-3], 5000 / 8, atol=1)


@pytest.mark.parametrize(
    ("training", "strange", "others"),
    [
        # A fifth beyond the range is what grows from year to year.
        (np.arange(20.0, 80.0).repeat(20), [999, 150, -1], [19, 6, 81, 100, np.nan]),
        (np.arange(-40.0, 0.0).repeat(20), [1, -99], [-45, -40, -1]),
        (np.arange(0.0, 5.0).repeat(20), [9, -1, np.inf], [0, 4, 5, None]),
        (np.array(["a", "b"]).repeat(50), ["a ", "c"], ["a", "b", None]),
        (
            pd.Series(pd.date_range("2010", "2020", periods=500)),
            pd.to_datetime(["1900-01-01", "1970-01-01", "2099-12-31"]),
            pd.to_datetime(["2009-06-01", "2022-01-01"]),
        ),
    ],
)
def test_strange_values_are_told_from_those_that_continue_training(
    training, strange, others
):
    cells = choose_cells("x", Column(training))
    table = TableCells((cells,))
    for values, are_strange in ((strange, True), (others, False)):
        frame = pd.DataFrame({"x": values})
        codes = table.codes(frame)[:, 0]
        assert (np.isin(codes, cells.strange) == are_strange).all(), values


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


@pytest.mark.parametrize("values", [[5.0] * 50, ["a"] * 50, [True] * 50])
def test_a_constant_column(values):
    cells = cells_of(values)
    if cells.is_number:
        assert cells.lowest == cells.highest == cells.median
        assert len(cells.edges) == 2
    else:
        assert cells.levels == ("a",)


# Values of a column are read alike, whatever library and type hold them.


KINDS = {
    "integers": ([1, 2, 3], "number"),
    "floats": ([1.5, np.nan, np.inf], "number"),
    "booleans": ([True, False], "number"),
    "booleans and gaps": ([True, None], "number"),
    "nullable integers": (pd.array([1, None], dtype="Int64"), "number"),
    "nullable booleans": (pd.array([True, None], dtype="boolean"), "number"),
    "decimals": ([Decimal("1.5"), None], "number"),
    "dates": ([date(2020, 1, 1), None], "date"),
    "times": (pd.to_datetime(["2020-01-01", None]), "date"),
    "texts": (["a", None, "b"], "text"),
    "bytes": ([b"a", b"b"], "text"),
    "categories": (pd.Categorical(["a", None, "b"]), "text"),
    "categories of numbers": (pd.Categorical([1, 2]), "mixed"),
    "texts and numbers": (["a", 1, None], "mixed"),
    "nothing": ([None, np.nan], "empty"),
    "no rows": ([], "empty"),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_a_column(name):
    values, kind = KINDS[name]
    column = Column(pd.Series(values))
    assert column.kind == kind
    assert len(column) == len(values)
    np.testing.assert_array_equal(column.missing, pd.isna(pd.Series(values)))


@pytest.mark.parametrize("name", [name for name in KINDS if KINDS[name][1] == "number"])
def test_numbers_are_floats_and_gaps_are_nan(name):
    column = Column(pd.Series(KINDS[name][0]))
    numbers = column.numbers
    assert numbers.dtype == np.float32
    np.testing.assert_array_equal(np.isnan(numbers), column.missing)


def test_dates_are_seconds_in_any_zone_and_precision():
    moment = datetime(2020, 1, 1, 12, tzinfo=UTC)
    naive = pd.Series([moment.replace(tzinfo=None), None])
    zoned = pd.Series(pd.to_datetime([moment, None]).tz_convert("Asia/Tokyo"))
    coarse = naive.astype("datetime64[s]")
    for values in (naive, zoned, coarse, pl.Series([moment, None])):
        numbers = Column(values).numbers
        assert numbers[0] == moment.timestamp()
        assert np.isnan(numbers[1])


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, None],
        [1.5, None],
        [True, None, False],
        ["a", None, "b"],
        [date(2020, 1, 1), None],
        [datetime(2020, 1, 1, 5), None],
        [None, None],
    ],
)
def test_polars_and_pandas_read_the_same(values):
    ours = Column(pl.Series("x", values))
    theirs = Column(pd.Series(values))
    assert ours.kind == theirs.kind
    np.testing.assert_array_equal(ours.missing, theirs.missing)
    if ours.kind in ("number", "date"):
        np.testing.assert_array_equal(ours.numbers, theirs.numbers)
    else:
        assert ours.levels()[1] == theirs.levels()[1]


def test_columns_have_names_or_places():
    frame = pd.DataFrame([[1, 2]], columns=["a", 5])
    assert column_names(frame) == ["a", "5"]
    assert column_names(pl.DataFrame({"b": [1]})) == ["b"]
    assert column_names(np.zeros((2, 3))) == ["x0", "x1", "x2"]


def test_whole_numbers_that_a_gap_made_floats_are_the_categories_of_training():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    code = random.choice([1, 2, 30], 300)
    X = pd.DataFrame({"x": random.normal(size=300) + 2 * y, "code": code})
    X["code"] = X["code"].astype("category")
    learner = make_pipeline(
        ColumnTransformer([("x", "passthrough", ["x"])]), LogisticRegression()
    )
    clf = CapeClassifier(learner, random_state=0).fit(X, y)
    gaps = X.assign(code=np.where(np.arange(300) < 5, np.nan, code))
    assert gaps["code"].dtype == float
    as_categories = X.assign(code=X["code"].where(np.arange(300) >= 5))
    assert clf.evidence(gaps) == clf.evidence(as_categories)
    # Evidence tells a level that training has not seen.
    assert clf.evidence(gaps) != clf.evidence(gaps.assign(code=gaps["code"] + 0.5))


@pytest.mark.parametrize("dtype", ["category", object])
def test_whole_numbers_are_the_same_levels_as_floats_and_text(dtype):
    whole = pd.Series([1, 2] * 40 + ["x"]).astype(dtype)
    floats = pd.Series([1.0, 2.0] * 40 + ["x"]).astype(dtype)
    text = pd.Series(["1", "2"] * 40 + ["x"]).astype(dtype)
    both = pd.Series([1, "1", 2.0, "2"] * 20 + ["x"]).astype(dtype)
    cells = TableCells.of(pd.DataFrame({"code": whole}))
    assert cells.columns[0].levels == ("1", "2")
    expected = cells.count(pd.DataFrame({"code": whole}))
    for same in (floats, text, both):
        counted = cells.count(pd.DataFrame({"code": same}))
        assert counted == expected
        assert not counted.unseen
