"""Checks of tables, labels, weights and settings, in all the shapes they come in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from cape import CapeClassifier
from cape._validation import (
    HasProbabilities,
    check_binary_labels,
    check_columns,
    check_fitted_cape,
    check_labels,
    check_prevalence,
    check_same_length,
    check_weights,
    number_of_columns,
    number_of_rows,
    pickable,
    positive_label,
    take_columns,
    take_rows,
)

ARRAY = np.arange(12.0).reshape(4, 3)

TABLES = {
    "array": ARRAY,
    "list": ARRAY.tolist(),
    "pandas": pd.DataFrame(ARRAY, columns=list("abc")),
    "polars": pl.DataFrame(ARRAY, schema=list("abc")),
    "csr": sparse.csr_array(ARRAY),
    "csc": sparse.csc_array(ARRAY),
}


def as_array(table):
    if sparse.issparse(table):
        return table.toarray()
    return np.asarray(table)


@pytest.mark.parametrize("clf", [None, 3, LogisticRegression(), CapeClassifier().fit])
def test_what_is_no_cape_classifier_is_refused_by_name(clf):
    with pytest.raises(TypeError, match="clf must be a fitted CapeClassifier, got"):
        check_fitted_cape(clf)


def test_a_cape_classifier_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        check_fitted_cape(CapeClassifier())


@pytest.mark.parametrize("X", TABLES.values(), ids=TABLES)
def test_rows_and_columns_are_counted_in_tables_of_any_kind(X):
    assert number_of_rows(X) == _num_samples(X) == 4
    assert number_of_columns(X) == 3


@pytest.mark.parametrize(
    "X", [np.array(3), 3, object()], ids=["array", "number", "object"]
)
def test_rows_of_what_has_none_cannot_be_counted(X):
    with pytest.raises(TypeError):
        number_of_rows(X)


@pytest.mark.parametrize("X", TABLES.values(), ids=TABLES)
def test_rows_are_taken_from_tables_of_any_kind(X):
    assert take_rows(X, None) is X
    rows = np.array([2, 0])
    np.testing.assert_array_equal(as_array(take_rows(X, rows)), ARRAY[rows])
    part = take_rows(X, slice(1, 3))
    np.testing.assert_array_equal(as_array(part), ARRAY[1:3])


@pytest.mark.parametrize("name", ["array", "pandas", "polars", "csr"])
def test_columns_are_taken_by_position(name):
    X = TABLES[name]
    part = take_columns(X, [2, 0])
    assert type(part) is type(_safe_indexing(X, [2, 0], axis=1))
    np.testing.assert_array_equal(as_array(part), ARRAY[:, [2, 0]])


@pytest.mark.parametrize("name", TABLES)
def test_tables_whose_rows_can_be_picked_stay_as_they_came(name):
    assert pickable(TABLES[name]) is TABLES[name]


@pytest.mark.parametrize("form", ["coo", "dia", "bsr"])
def test_other_sparse_formats_become_csr(form):
    X = sparse.csr_array(ARRAY).asformat(form)
    converted = pickable(X)
    assert converted.format == "csr"
    np.testing.assert_array_equal(converted.toarray(), ARRAY)


class Table:
    """A table that only numpy can read."""

    def __array__(self, dtype=None, copy=None):
        return ARRAY


def test_a_table_that_cannot_be_indexed_becomes_an_array():
    np.testing.assert_array_equal(pickable(Table()), ARRAY)


@pytest.mark.parametrize("X", [3, None, "data.csv", 0.5], ids=repr)
def test_what_is_no_table_is_refused(X):
    with pytest.raises(ValueError, match="X must be a table of rows and columns, got"):
        pickable(X)


@pytest.fixture(scope="module")
def of_array():
    return LogisticRegression().fit(ARRAY, [0, 1, 0, 1])


@pytest.fixture(scope="module")
def of_frame():
    return LogisticRegression().fit(TABLES["pandas"], [0, 1, 0, 1])


def test_the_columns_of_training_are_accepted(of_array, of_frame):
    check_columns(of_array, ARRAY)
    check_columns(of_array, ARRAY.tolist())
    check_columns(of_frame, TABLES["pandas"])


def test_columns_in_another_number_are_refused(of_array):
    for X in (ARRAY[:, :2], ARRAY[:, :2].tolist(), sparse.csr_array(ARRAY[:, :2])):
        with pytest.raises(ValueError, match="X has 2 features.*expecting 3 features"):
            check_columns(of_array, X)


def test_columns_of_other_names_are_refused(of_frame):
    with pytest.raises(ValueError, match="feature names should match"):
        check_columns(of_frame, TABLES["pandas"].rename(columns={"a": "z"}))


def test_an_array_for_a_model_of_named_columns_gives_a_warning(of_frame):
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        check_columns(of_frame, ARRAY)


def test_a_single_row_must_be_a_table(of_array):
    message = r"shape \(n_samples, 3\), got an array of shape \(3,\). Reshape your data"
    with pytest.raises(ValueError, match=message):
        check_columns(of_array, ARRAY[0])


def test_lengths_that_differ_are_all_named():
    message = (
        "X and y and z must have the same number of rows, but X has 2, y has 3, z has 2"
    )
    with pytest.raises(ValueError, match=message):
        check_same_length(X=[1, 2], y=[1, 2, 3], w=None, z=[0, 0])


@given(st.floats())
def test_a_prevalence_is_a_share(value):
    for closed, accepted in ((True, 0 <= value <= 1), (False, 0 < value < 1)):
        if accepted:
            assert check_prevalence("rho", value, closed=closed) == value
        else:
            with pytest.raises(ValueError, match=r"rho must be in .0, 1., got"):
                check_prevalence("rho", value, closed=closed)


@pytest.mark.parametrize("value", ["half", None, [0.5, 0.5], {}], ids=repr)
def test_a_prevalence_is_a_number(value):
    with pytest.raises(ValueError, match=r"rho must be in \[0, 1\], got"):
        check_prevalence("rho", value)


@pytest.mark.parametrize("value", [1, True, np.float32(0.5), np.int8(0), "0.25"])
def test_a_prevalence_may_be_of_any_type_of_number(value):
    result = check_prevalence("rho", value)
    assert type(result) is float and result == float(value)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_labels_of_any_kind_of_column_are_read(kind):
    assert check_labels(kind(["a", "b"])).tolist() == ["a", "b"]
    assert check_labels(kind([1.5, 2.5])).tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "the target y is None: outcome must be a column of labels"),
        ([1, None], "outcome must have a label in every row, got 1 missing"),
        ([1.0, np.nan, np.nan], "a label in every row, got 2 missing"),
        (pd.array([1, None], dtype="Int64"), "a label in every row, got 1 missing"),
        ([1.0, np.inf], "outcome must have a label in every row, got an infinity"),
        ([1.0, -np.inf], "outcome must have a label in every row, got an infinity"),
        (np.zeros((2, 2)), "should be a 1d array, got an array of shape"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("check", [check_labels, check_binary_labels])
def test_labels_that_cannot_be_read_are_refused(check, y, message):
    with pytest.raises(ValueError, match=message):
        check(y, "outcome")


@pytest.mark.parametrize(
    "labels", [("no", "yes"), (0, 1), (-1, 1), (False, True), (1.0, 2.0)]
)
def test_the_greater_label_is_positive(labels):
    y = [labels[1], labels[0], labels[1]]
    classes, positive = check_binary_labels(y)
    assert classes.tolist() == list(labels)
    assert positive.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([], "at least one row of each of two classes, got 0 rows"),
        ([1, 1], r"must hold two classes, got 1 class: \[1\] \(n_samples = 2\)"),
        ([0, 1, 2], r"got 3 classes \(0, 1, 2\)"),
        (list("abcdef"), r"got 6 classes \('a', 'b', 'c', 'd', 'e', \.\.\.\)"),
        ([0.5, 1.5], "two classes of one type, got continuous values"),
        (np.array([1, "a"], dtype=object), "of one type, got unknown values"),
    ],
    ids=repr,
)
def test_labels_that_are_not_of_two_classes_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        check_binary_labels(y)


@pytest.mark.parametrize(
    ("columns", "positive"),
    [
        (([0, 1], [1, 1]), 1),
        (([-1, -1], [1, -1]), 1),
        ((["no"], ["yes"]), "yes"),
        (([0, 0], [0, 0]), 1),
        (([-1],), 1),
        (([False],), True),
        (([3, 5],), 5),
    ],
    ids=str,
)
def test_the_positive_label_is_the_greater_of_two(columns, positive):
    arrays = [np.array(column) for column in columns]
    assert positive_label(*arrays) == positive


def test_the_positive_label_can_be_chosen():
    y = np.array(["no", "yes"])
    assert positive_label(y, pos_label="no") == "no"
    assert positive_label(np.array(["no"]), pos_label="yes") == "yes"


@pytest.mark.parametrize(
    ("y", "pos_label", "message"),
    [
        ([0, 1, 2], None, r"two labels between them, got 3: \[0, 1, 2\]"),
        ([0, 1], 7, r"pos_label must be one of \[0, 1\], got 7"),
        (["b"], None, r"pos_label must be given when .* one label only, got \['b'\]"),
        ([5], None, "pos_label must be given when"),
    ],
    ids=str,
)
def test_a_positive_label_that_cannot_be_told_is_refused(y, pos_label, message):
    with pytest.raises(ValueError, match=message):
        positive_label(np.array(y), pos_label=pos_label)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_weights_are_numbers_of_double_precision(kind):
    weights = check_weights(kind([1, 0, 2, 3]), ARRAY)
    assert weights.dtype == np.float64
    assert weights.tolist() == [1, 0, 2, 3]
    assert check_weights(None, ARRAY) is None


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "a number for each of 4 rows, got an array of shape (1,)"),
        (np.ones((4, 2)), "for each of 4 rows, got an array of shape (4, 2)"),
        ([1, 1, -2, 1], "must be at least 0 in every row, got -2.0"),
        ([0, 0, 0, 0], "must be positive in some row, got all zeros"),
        ([1, 1, 1, np.nan], "Input sample_weight contains NaN"),
        ([1, 1, 1, np.inf], "Input sample_weight contains infinity"),
    ],
    ids=str,
)
def test_weights_that_cannot_be_used_are_refused(weights, message):
    with pytest.raises(ValueError, match="sample_weight") as caught:
        check_weights(weights, ARRAY)
    assert message in str(caught.value)


def test_a_stack_with_its_default_has_probabilities_once_it_is_fitted():
    """scikit-learn denies them before."""
    default = StackingClassifier([("bayes", GaussianNB())])
    assert not hasattr(default, "predict_proba")
    constraint = HasProbabilities()
    assert constraint.is_satisfied_by(default)
    assert constraint.is_satisfied_by(make_pipeline(StandardScaler(), default))
    assert constraint.is_satisfied_by(GaussianNB())


@pytest.mark.parametrize(
    "learner",
    [
        LinearSVC(),
        make_pipeline(StandardScaler(), LinearSVC()),
        StackingClassifier([("bayes", GaussianNB())], LinearSVC()),
        "a name",
    ],
    ids=str,
)
def test_a_learner_without_probabilities_is_refused(learner):
    assert not HasProbabilities().is_satisfied_by(learner)
