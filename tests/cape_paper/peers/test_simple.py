"""The paper's baselines: always positive, CAPE-1 and Max_Acc."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.metrics import fairness_table
from cape_paper._peers import AlwaysPositive, CapeOne, MaxAcc

CAPE_SETTINGS = {"random_state": 0, "cv": 2, "prevalences": 4}


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes"), (False, True), (-1, 1)])
def test_always_positive_predicts_the_greater_label_for_every_row(labels):
    y = np.array([*labels, *labels])
    clf = AlwaysPositive().fit(np.zeros((4, 1)), y)
    predicted = clf.predict(np.zeros((3, 1)), sensitive_features=["a", "b", "c"])
    assert predicted.tolist() == [labels[1]] * 3
    assert clf.classes_.tolist() == sorted(labels)


def test_always_positive_predicts_nothing_for_no_rows():
    clf = AlwaysPositive().fit([[0], [1]], [0, 1])
    assert clf.predict(np.zeros((0, 1))).tolist() == []


def test_always_positive_needs_two_labels():
    with pytest.raises(ValueError, match="y must hold two classes"):
        AlwaysPositive().fit([[0], [1]], [1, 1])


rows_of_four_groups = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=40
)


@given(rows_of_four_groups)
def test_always_positive_has_equal_error_rates_and_the_greatest_pd(rows):
    for group in range(4):
        rows = [*rows, (0, group), (1, group)]
    y, z = np.array(rows).T
    X = np.zeros((len(y), 1))
    y_pred = AlwaysPositive().fit(X, y).predict(X)
    row = fairness_table(y, y_pred, sensitive_features=z)
    assert row["fpr", "difference"] == 0
    assert row["fnr", "difference"] == 0
    np.testing.assert_allclose(row["pd"], 1 - row["prevalence"])


def test_cape_1_does_not_depend_on_the_batch(moved, fit, predict):
    train, test = moved
    clf = fit(CapeOne(LogisticRegression(), **CAPE_SETTINGS), train)
    whole = predict(clf, test)
    half = predict(clf, test, n_rows=50)
    np.testing.assert_array_equal(whole[:50], half)


def test_cape_1_is_cape_on_batches_of_one_row(moved, fit, predict):
    train, test = moved
    cape_1 = fit(CapeOne(LogisticRegression(), **CAPE_SETTINGS), train)
    cape = fit(CapeClassifier(LogisticRegression(), **CAPE_SETTINGS), train)
    one_by_one = []
    for row in range(25):
        X = test.data[row : row + 1]
        z = test.sensitive_features[row : row + 1]
        one_by_one += cape.predict(X, sensitive_features=z).tolist()
    assert predict(cape_1, test, n_rows=25).tolist() == one_by_one


def test_cape_1_is_trained_as_cape_is(moved, fit):
    train, _ = moved
    cape_1 = fit(CapeOne(LogisticRegression(), **CAPE_SETTINGS), train)
    cape = fit(CapeClassifier(LogisticRegression(), **CAPE_SETTINGS), train)
    assert cape_1.fingerprint_ == cape.fingerprint_


def test_max_acc_is_one_model_with_the_group_among_its_features(
    moved, learner, fit_predict
):
    train, test = moved
    features = train.data.assign(group_1=train.sensitive_features == 1)
    model = LogisticRegression().fit(features, train.target)
    expected = model.predict(test.data.assign(group_1=test.sensitive_features == 1))
    np.testing.assert_array_equal(fit_predict(MaxAcc(learner), moved), expected)


def test_max_acc_does_not_fit_the_learner_it_was_given(moved, learner, fit):
    clf = fit(MaxAcc(learner), moved[0])
    assert not hasattr(learner, "coef_")
    assert clf.estimator_ is not learner


def test_max_acc_gives_the_same_from_tables_arrays_and_sparse_matrices(moved, learner):
    train, test = moved
    predicted = []
    for convert in (pd.DataFrame, np.asarray, sparse.csr_array):
        clf = MaxAcc(learner).fit(
            convert(train.data),
            train.target,
            sensitive_features=train.sensitive_features,
        )
        y_pred = clf.predict(
            convert(test.data), sensitive_features=test.sensitive_features
        )
        predicted.append(y_pred)
    np.testing.assert_array_equal(predicted[0], predicted[1])
    np.testing.assert_array_equal(predicted[0], predicted[2])


def test_max_acc_treats_an_unknown_group_as_the_first(moved, learner, fit):
    train, test = moved
    clf = fit(MaxAcc(learner), train)
    n_rows = len(test.data)
    unknown = clf.predict(test.data, sensitive_features=["new"] * n_rows)
    first = clf.predict(test.data, sensitive_features=[0] * n_rows)
    np.testing.assert_array_equal(unknown, first)


def test_max_acc_keeps_labels_that_are_words(three_groups, learner, fit, predict):
    clf = fit(MaxAcc(learner), three_groups)
    assert clf.classes_.tolist() == ["no", "yes"]
    assert clf.groups_ == ["a", "b", "c"]
    accuracy = np.mean(predict(clf, three_groups) == three_groups.target)
    assert accuracy > 0.65


def test_max_acc_is_blind_to_the_prevalence_of_the_batch(moved, learner, fit, predict):
    """The prediction of a row is the same in a batch of few and of many positives."""
    train, test = moved
    clf = fit(MaxAcc(learner), train)
    whole = predict(clf, test)
    positive = (test.target == 1).to_numpy()
    groups = test.sensitive_features[positive]
    part = clf.predict(test.data[positive], sensitive_features=groups)
    np.testing.assert_array_equal(whole[positive], part)


def test_cape_1_takes_no_adaptation(moved, fit):
    """An adaptation belongs to a batch, and every row is one."""
    train, test = moved
    cape_1 = fit(CapeOne(LogisticRegression(), **CAPE_SETTINGS), train)
    groups = test.sensitive_features
    adaptation = cape_1.adapt(test.data, sensitive_features=groups)
    with pytest.raises(TypeError, match="adaptation"):
        cape_1.predict(test.data, sensitive_features=groups, adaptation=adaptation)


def test_always_positive_ignores_features_and_groups():
    y = ["a", "b", "b"]
    clf = AlwaysPositive().fit(None, y, sensitive_features=object())
    assert clf.predict([[1], [2]], sensitive_features=object()).tolist() == ["b", "b"]
