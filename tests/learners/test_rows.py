"""Rows of a table: picked without a copy where that can be, and never changed."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from cape._learners._scoring import Rows, as_array

X = np.arange(24.0).reshape(8, 3)
KINDS = {
    "numpy": np.asarray,
    "columns first": np.asfortranarray,
    "pandas": lambda X: pd.DataFrame(X, columns=list("abc")),
    "polars": lambda X: pl.DataFrame(X, schema=list("abc")),
    "sparse": sparse.csr_array,
    "list": lambda X: X.tolist(),
}
INDICES = {
    "all": None,
    "slice": slice(2, 6),
    "empty slice": slice(3, 3),
    "numbers": np.array([0, 2, 7]),
    "no numbers": np.array([], dtype=int),
}


def to_numbers(table):
    if sparse.issparse(table):
        return table.toarray()
    return np.asarray(table, dtype=float).reshape(-1, 3)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_rows_of_any_table_are_a_table_of_that_kind(kind, index):
    table = kind(X)
    rows = Rows(table, index)
    expected = X if index is None else X[index]
    assert len(rows) == len(expected)
    assert type(rows.table()) is type(table)
    np.testing.assert_array_equal(to_numbers(rows.table()), expected)


def test_all_rows_and_slices_are_not_copied():
    assert Rows(X).table() is X
    assert np.shares_memory(Rows(X, slice(1, 5)).table(), X)


def test_rows_are_wrapped_once():
    rows = Rows(X, slice(0, 2))
    assert Rows.of(rows) is rows
    assert len(Rows.of(X)) == 8


def test_numbers_that_the_caller_has_are_taken():
    frame = pd.DataFrame(X)
    numbers = frame.to_numpy()
    assert Rows(frame, array=numbers).array is numbers
    assert Rows(X).array is X


# The numbers of a table


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_array_of_floats_is_itself(dtype):
    table = X.astype(dtype)
    assert as_array(table) is table


def test_a_frame_of_one_type_is_not_copied():
    frame = pd.DataFrame(X)
    assert np.shares_memory(as_array(frame), frame.to_numpy())


def test_integers_among_floats_are_numbers():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    np.testing.assert_array_equal(as_array(frame), [[1, 0.5], [2, 1.5]])


@pytest.mark.parametrize(
    "table",
    [
        X.astype(int),
        X.astype(bool),
        X.astype(object),
        X[:, 0],
        X[None],
        np.ma.array(X),
        sparse.csr_array(X),
        X.tolist(),
        pd.DataFrame({"a": [True, False]}),
        pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}),
        pd.DataFrame({"a": [1.0], "b": ["x"]}),
        pd.DataFrame({"a": [1, 2]}),
        pd.DataFrame({"a": pd.array([1.5, 2.5], dtype="Float64")}),
        pl.DataFrame({"a": [1.5, 2.5]}),
        None,
    ],
)
def test_everything_else_goes_to_the_learner_as_it_came(table):
    assert as_array(table) is None
