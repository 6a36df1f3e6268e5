"""Copies of rows are told from people who happen to be equal."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier

from cape import CapeClassifier


def warnings_of(X, y, z=None):
    """Collect what is said about copies when a learner is trained that reads no X."""
    clf = CapeClassifier(DummyClassifier(), quantifier="pcc", cv=2, drift="ignore")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.set_params(pool="threshold").fit(X, y, sensitive_features=z)
    messages = [str(warning.message) for warning in caught]
    return [message for message in messages if "more than once" in message]


def measured(n, seed=0):
    """Rows with numbers of many digits beside levels."""
    random = np.random.default_rng(seed)
    X = np.column_stack([random.normal(size=(n, 2)), random.integers(0, 3, n)])
    return X, random.integers(0, 2, n)


def counted(n, seed=0):
    """Rows of people who answered three questions with few answers."""
    random = np.random.default_rng(seed)
    return random.integers(0, [2, 30, 12], size=(n, 3)), random.integers(0, 2, n)


def _as_list(X):
    return X.tolist()


KINDS = [np.asarray, pd.DataFrame, pl.DataFrame, _as_list]


@pytest.mark.parametrize("kind", KINDS)
def test_the_warning_has_the_numbers(kind):
    X, y = measured(2000)
    # A thousand rows once, a thousand four times.
    rows = np.concatenate([np.arange(1000), np.repeat(np.arange(1000, 2000), 4)])
    (message,) = warnings_of(kind(X[rows]), y[rows])
    assert message.startswith("4,000 of 5,000 rows occur more than once")
    assert "sample_weight" in message


@pytest.mark.parametrize("make", [measured, counted])
@pytest.mark.parametrize("n", [400, 3000, 20_000])
def test_independent_rows_are_no_copies(make, n):
    X, y = make(n)
    assert warnings_of(X, y) == []
    assert warnings_of(pd.DataFrame(X).astype(str), y) == []


@pytest.mark.parametrize("make", [measured, counted])
@pytest.mark.parametrize("times", [2, 5])
@pytest.mark.parametrize("n", [500, 5000])
def test_a_table_that_was_repeated_is_found(make, times, n):
    X, y = make(n)
    (message,) = warnings_of(np.tile(X, (times, 1)), np.tile(y, times))
    assert message.startswith(f"{n * times:,} of {n * times:,} rows")


def test_a_class_that_was_repeated_is_found():
    """As some do who want balanced classes, even if all columns have few levels."""
    X, y = counted(3000)
    rows = np.concatenate([np.arange(3000), np.tile(np.flatnonzero(y == 1), 2)])
    assert len(warnings_of(X[rows], y[rows])) == 1


def test_rows_that_differ_in_label_or_group_are_no_copies():
    X, _ = measured(500)
    twice = np.tile(X, (2, 1))
    y = np.repeat([0, 1], 500)
    assert warnings_of(twice, y) == []
    random = np.random.default_rng(0).integers(0, 2, 500)
    assert warnings_of(twice, np.tile(random, 2), z=np.repeat(["a", "b"], 500)) == []


def test_missing_values_are_equal():
    X, y = measured(500)
    X[::3, 0] = np.nan
    frame = pd.DataFrame(X, columns=list("abc")).assign(text=None)
    assert len(warnings_of(pd.concat([frame, frame]), np.tile(y, 2))) == 1


@pytest.mark.parametrize("usual", [np.nan, 0.0])
def test_people_without_a_measurement_are_no_copies(usual):
    """A tenth has no value in the only column that tells people apart."""
    random = np.random.default_rng(0)
    X, y = measured(3000)
    X = X[:, [0, 2]]
    X[random.random(3000) < 0.1, 0] = usual
    assert warnings_of(X, y) == []
    # Of the copies, only those of the other nine tenths are sure.
    (message,) = warnings_of(np.vstack([X, X[:2000]]), np.r_[y, y[:2000]])
    assert "of 5,000 rows" in message


def test_what_has_no_columns_is_passed_over():
    X, y = measured(100)
    twice = np.tile(y, 2)
    assert warnings_of(["a text"] * 200, twice) == []
    assert warnings_of(sparse.csr_matrix(np.tile(X, (2, 1))), twice) == []
