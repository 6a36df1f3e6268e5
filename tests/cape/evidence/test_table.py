"""A table is counted the same however it is cut, held or read."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from cape.evidence._columns import FOREIGN, MISSING, ColumnCounts, TableCells


def table_of(n=120, seed=0):
    """Columns of every kind, with gaps."""
    random = np.random.default_rng(seed)
    text = random.choice(["a", "b", "c"], n).astype(object)
    text[::7] = None
    number = random.normal(size=n)
    number[::5] = np.nan
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 99, n), "D")
    mixed = pd.Series(random.choice(["x", "1"], n)).astype(object)
    mixed[::3] = 1
    return pd.DataFrame(
        {
            "number": number,
            "whole": random.integers(0, 5, n),
            "text": text,
            "flag": random.random(n) < 0.3,
            "day": days,
            "zoned": days.tz_localize("Europe/Berlin"),
            "mixed": mixed,
            "nothing": np.full(n, None),
            "constant": 7,
            "level": pd.Categorical(random.choice(["u", "v"], n)),
            "nullable": pd.array(random.integers(0, 3, n), dtype="Int64"),
            "person": [f"person {number}" for number in range(n)],
        }
    )


TABLE = table_of()
CELLS = TableCells.of(TABLE)
NEW = table_of(80, seed=1)


@settings(max_examples=10)
@given(cuts=st.lists(st.integers(0, len(NEW)), max_size=5))
def test_counts_add_up_however_rows_are_cut(cuts):
    total = CELLS.nothing()
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), len(NEW)], strict=True):
        total = total + CELLS.count(NEW[start:stop])
    whole = CELLS.count(NEW)
    np.testing.assert_array_equal(total.counts, whole.counts)
    # More than 20 names of one part are forgotten, and few of each are kept.
    assert set(total.unseen) == set(whole.unseen)


@settings(max_examples=10)
@given(rows=st.lists(st.integers(0, len(NEW) - 1), max_size=30))
def test_codes_and_counts_agree(rows):
    """Rows may be repeated, in any order, or be missing at all."""
    batch = NEW.iloc[rows]
    codes = CELLS.codes(batch)
    counts = CELLS.count(batch).counts
    assert codes.shape == (len(rows), len(CELLS.columns))
    for place, column in enumerate(CELLS.columns):
        of_codes = np.bincount(codes[:, place], minlength=column.n_cells)
        np.testing.assert_array_equal(of_codes, CELLS.of_column(counts, place))
        assert of_codes.sum() == len(rows)


def test_training_is_where_it_was_found():
    counts = CELLS.count(TABLE).counts
    for place, column in enumerate(CELLS.columns):
        own = CELLS.of_column(counts, place)
        assert own[MISSING] == TABLE.iloc[:, place].isna().sum(), column.name
        assert own[FOREIGN] == 0
        if column.kind in ("text", "mixed"):
            assert own[-1] == 0
    assert CELLS.count(TABLE).unseen == {}


columns_of_numbers = st.lists(
    st.floats(allow_infinity=True, allow_nan=True, width=32) | st.integers(-3, 3),
    min_size=24,
    max_size=24,
)


@given(
    values=columns_of_numbers,
    new=columns_of_numbers,
    dtype=st.sampled_from([np.float32, np.float64]),
    order=st.sampled_from("CF"),
)
def test_an_array_is_counted_as_its_columns_are(values, new, dtype, order):
    """The fast twin counts inf, NaN and ties as the plain one does."""
    training = np.array(values, dtype=float).reshape(8, 3)
    training[0] = 1.0
    cells = TableCells.of(training)
    X = np.array(new, dtype=dtype, order=order).reshape(8, 3)
    fast = cells.count(X)
    plain = cells.count(pd.DataFrame(X))
    assert fast == plain
    assert fast.counts.dtype == np.int64
    np.testing.assert_array_equal(cells.codes(X), cells.codes(pd.DataFrame(X)))


@pytest.mark.parametrize("skipped", [(), (0, 7)])
def test_many_rows_and_columns_of_an_array_are_counted_as_their_columns_are(skipped):
    """More than fit into one block, with gaps, in few sets and in many."""
    random = np.random.default_rng(0)
    X = 2 + random.lognormal(size=(9001, 40)) * random.choice([1, np.nan], (9001, 1))
    cells = TableCells.of(X[:500], skipped)
    for n_sets in (3, 12):
        codes = random.integers(0, n_sets, len(X))
        for code, fast in enumerate(cells.count_each(X, codes, n_sets)):
            assert fast == cells.count(pd.DataFrame(X[codes == code]))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, bool])
def test_whole_numbers_are_counted_as_floats(dtype):
    random = np.random.default_rng(0)
    X = random.integers(0, 9, (200, 3)).astype(dtype)
    cells = TableCells.of(X)
    assert cells == TableCells.of(X.astype(float))
    assert cells.count(X) == cells.count(X.astype(float))


def as_polars(table):
    """Return a table in polars; its gaps are null."""
    columns = {}
    for name in table:
        values = table[name].astype(object)
        columns[name] = values.where(values.notna(), None).tolist()
    return pl.DataFrame(columns)


def test_polars_is_counted_as_pandas():
    names = [name for name in TABLE if name not in ("mixed", "nothing")]
    cells = TableCells.of(TABLE[names])
    new = as_polars(NEW[names])
    assert cells.count(new) == cells.count(NEW[names])
    categories = new.with_columns(pl.col("level", "text").cast(pl.Categorical))
    assert cells.count(categories) == cells.count(new)


def test_weights_are_added_up():
    weights = np.random.default_rng(0).uniform(0.5, 2, len(TABLE))
    everyone = np.zeros(len(TABLE), dtype=int)
    (weighted,) = CELLS.count_each(TABLE, everyone, 1, weights)
    assert weighted.counts.dtype == np.float64
    total = weights.sum() * len(CELLS.columns)
    assert weighted.counts.sum() == pytest.approx(total)
    (ones,) = CELLS.count_each(TABLE, everyone, 1, np.ones(len(TABLE)))
    assert ones == CELLS.count(TABLE)


@pytest.mark.parametrize("X", [NEW, NEW[["number", "whole"]].to_numpy()])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_sets_of_rows_are_counted_as_each_by_itself(X, is_weighted):
    random = np.random.default_rng(0)
    cells = CELLS if X is NEW else TableCells.of(X)
    codes = random.choice([0, 1, 3], len(NEW), p=[0.6, 0.39, 0.01])
    weights = random.random(len(NEW)) if is_weighted else None
    for code, counted in enumerate(cells.count_each(X, codes, 4, weights)):
        rows = codes == code
        part = X.iloc[rows] if X is NEW else X[rows]
        alone = cells.count(part)
        if is_weighted:
            codes_of_part = np.zeros(len(part), dtype=int)
            (alone,) = cells.count_each(part, codes_of_part, 1, weights[rows])
        np.testing.assert_allclose(counted.counts, alone.counts, rtol=1e-12)
        assert counted.unseen == alone.unseen


def column_of(name, values):
    """Count one column in its cells."""
    new = NEW.copy()
    new[name] = values
    place = list(TABLE).index(name)
    counted = CELLS.count(new)
    return CELLS.of_column(counted.counts, place), counted.unseen.get(place)


def test_values_of_another_kind_are_foreign():
    n = len(NEW)
    for name, values in {
        "number": "a text",
        "text": 5,
        "day": 3.5,
        "nothing": 1,
        "whole": pd.Timestamp("2020-01-01"),
    }.items():
        own, _ = column_of(name, values)
        assert own[FOREIGN] == n, name


def test_unseen_levels_are_counted_and_named():
    own, unseen = column_of("text", ["M"] * 30 + ["F"] * 40 + ["a"] * 10)
    assert own[-1] == 70
    assert unseen == {"F": 40, "M": 30}
    own, unseen = column_of("text", [f"new {number}" for number in range(80)])
    assert own[-1] == 80
    assert unseen == {}


def test_levels_of_few_rows_are_never_written():
    """A model names no level of fewer than 30 rows, and no extreme value."""
    table = pd.DataFrame(
        {
            "city": ["Rome"] * 100 + ["Atlantis"] * 29,
            "income": [50_000.25 + i for i in range(120)] + [123456789.5] * 9,
        }
        | {"name": [f"person {i}" for i in range(129)]},
        index=range(129),
    )
    text = TableCells.of(table).text
    assert "Rome" in text
    for secret in ("Atlantis", "123456789", "person"):
        assert secret not in text
    assert TableCells.of(table).columns[1].lowest == 50_009.25


def test_of_many_columns_the_first_500_are_counted():
    X = np.random.default_rng(0).normal(size=(40, 510))
    cells = TableCells.of(X)
    assert len(cells.columns) == 500
    assert cells.count(X).counts.sum() == 500 * 40
    assert cells.count(X) == cells.count(pd.DataFrame(X))


@pytest.mark.parametrize("X", [csr_array((4, 2)), ["a", "b"], np.zeros(4)])
def test_tables_without_columns_have_no_cells(X):
    assert TableCells.of(X) is None


def test_cells_come_back_from_json_and_pickle():
    for again in (
        TableCells.from_json(CELLS.text),
        pickle.loads(pickle.dumps(CELLS)),
    ):
        assert again == CELLS
        assert again.count(NEW) == CELLS.count(NEW)
    assert TableCells.of(NEW) != CELLS
    assert CELLS != "cells"
    assert repr(CELLS).startswith("TableCells(12 columns")


# Counts of columns add up, and names of unseen values go with them.


N_CELLS = 5
names = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), min_size=1)
counts = st.builds(
    lambda numbers, unseen: ColumnCounts(np.array(numbers), unseen),
    st.lists(st.integers(0, 50), min_size=N_CELLS, max_size=N_CELLS),
    st.dictionaries(st.integers(0, 2), names, max_size=3),
)


@given(a=counts, b=counts, c=counts)
def test_addition_has_its_laws(a, b, c):
    zero = ColumnCounts(np.zeros(N_CELLS, dtype=int))
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + zero == zero + a == a


@given(a=counts, b=counts)
def test_subtracting_undoes_adding(a, b):
    assert (a + b) - b == a


def test_rows_that_were_never_added_cannot_be_taken_away():
    one = ColumnCounts(np.array([1, 0]))
    other = ColumnCounts(np.array([0, 1]))
    with pytest.raises(ValueError, match="never added"):
        one - other


def test_counts_of_other_cells_do_not_add_up():
    one = ColumnCounts(np.array([1, 0]))
    other = ColumnCounts(np.array([0, 1, 3]))
    for operate in (lambda: one + other, lambda: one - other):
        with pytest.raises(ValueError, match="same cells"):
            operate()


def test_more_than_20_unseen_values_are_not_named():
    few = ColumnCounts(np.array([15]), {0: {f"a{i}": 1 for i in range(15)}})
    more = ColumnCounts(np.array([15]), {0: {f"b{i}": 1 for i in range(15)}})
    both = few + more
    assert both.unseen == {0: {}}
    # Nobody knows any more which they were.
    assert (both + few).unseen == {0: {}}
    assert (both - more).unseen == {0: {}}
    assert (few + few).unseen[0]["a3"] == 2
