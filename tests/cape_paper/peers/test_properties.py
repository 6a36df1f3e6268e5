"""What every method of the comparison promises, whatever its library."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from cape_paper._peers import (
    METHODS,
    AlwaysPositive,
    CalibratedEqOdds,
    FairlearnReduction,
    FairlearnThreshold,
    MaxAcc,
    MetaFair,
    RejectOption,
    Reweighing,
    make_method,
)

LEARNER = LogisticRegression()
EVERY_METHOD = [
    MaxAcc(LEARNER),
    AlwaysPositive(),
    Reweighing(LEARNER),
    MetaFair(),
    CalibratedEqOdds(LEARNER),
    RejectOption(LEARNER, thresholds=4, margins=3),
    FairlearnReduction(LEARNER),
    FairlearnThreshold(LEARNER),
]
QUICK_METHODS = [
    MaxAcc(LEARNER),
    Reweighing(LEARNER),
    CalibratedEqOdds(LEARNER),
    FairlearnThreshold(LEARNER),
]


def name_of(method):
    return type(method).__name__


every_method = pytest.mark.parametrize("method", EVERY_METHOD, ids=name_of)
quick_method = pytest.mark.parametrize("method", QUICK_METHODS, ids=name_of)


@every_method
def test_a_clone_has_the_same_parameters_and_is_not_fitted(method):
    copy = clone(method)
    assert repr(copy) == repr(method)
    assert copy is not method


@every_method
def test_prediction_before_training_is_an_error(method):
    with pytest.raises(NotFittedError):
        clone(method).predict([[0.0, 1.0]], sensitive_features=["a"])


@quick_method
def test_training_returns_the_method_and_leaves_the_rows_alone(method, moved, fit):
    train, _ = moved
    before = train.data.copy()
    unfitted = clone(method)
    assert fit(unfitted, train) is unfitted
    pd.testing.assert_frame_equal(train.data, before)


@quick_method
def test_groups_of_another_length_are_an_error_in_training(method, moved):
    train, _ = moved
    groups = train.sensitive_features[:-1]
    with pytest.raises(ValueError, match="must have the same number of rows"):
        clone(method).fit(train.data, train.target, sensitive_features=groups)


@quick_method
def test_groups_of_another_length_are_an_error_in_prediction(method, moved, fit):
    train, test = moved
    fitted = fit(clone(method), train)
    groups = test.sensitive_features[:-1]
    with pytest.raises(ValueError, match="must have the same number of rows"):
        fitted.predict(test.data, sensitive_features=groups)


@quick_method
def test_rows_without_a_group_are_an_error(method, moved):
    train, _ = moved
    groups = np.array(train.sensitive_features, dtype=object)
    groups[3] = None
    with pytest.raises(ValueError, match="must name a group in every row, got 1"):
        clone(method).fit(train.data, train.target, sensitive_features=groups)


@quick_method
def test_names_of_groups_do_not_matter(method, moved, fit_predict):
    train, test = moved
    renamed = []
    for part in moved:
        groups = part.sensitive_features.to_numpy()
        renamed.append(pd.DataFrame({"one": "g", "two": groups}))
    expected = fit_predict(clone(method), moved)
    named = clone(method)
    named.fit(train.data, train.target, sensitive_features=renamed[0])
    predicted = named.predict(test.data, sensitive_features=renamed[1])
    np.testing.assert_array_equal(predicted, expected)


@pytest.mark.parametrize("make", [MaxAcc, Reweighing])
def test_the_order_of_a_batch_does_not_matter(make, moved, learner, fit, predict):
    """Methods that draw lots for one row after another are not tried."""
    train, test = moved
    clf = fit(make(learner), train)
    expected = predict(clf, test)
    order = np.random.default_rng(0).permutation(len(test.target))
    groups = test.sensitive_features.iloc[order]
    shuffled = clf.predict(test.data.iloc[order], sensitive_features=groups)
    np.testing.assert_array_equal(shuffled, expected[order])


@pytest.mark.parametrize("name", ["Max_Acc", "Always positive", "Reweigh"])
def test_a_method_that_is_said_not_to_draw_ignores_the_seed(
    name, moved, learner, fit_predict
):
    assert not METHODS[name].random
    first = fit_predict(make_method(name, learner, seed=0), moved)
    second = fit_predict(make_method(name, learner, seed=12345), moved)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", ["CEOP-weighted", "ThresholdOpt-eo", "CAPE-D"])
def test_a_method_that_is_said_to_draw_depends_on_the_seed(
    name, moved, learner, fit_predict
):
    assert METHODS[name].random
    predictions = set()
    for seed in range(4):
        method = make_method(name, learner, seed=seed)
        predictions.add(tuple(fit_predict(method, moved)))
    assert len(predictions) > 1


@quick_method
def test_a_fitted_method_survives_pickling(method, moved, fit, predict):
    train, test = moved
    fitted = fit(clone(method), train)
    restored = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(predict(restored, test), predict(fitted, test))


@quick_method
@pytest.mark.parametrize("convert", [list, np.asarray, pd.DataFrame])
def test_groups_may_be_a_list_an_array_or_a_table(method, convert, moved, fit_predict):
    train, test = moved
    expected = fit_predict(clone(method), moved)
    fitted = clone(method)
    fitted.fit(
        train.data,
        train.target,
        sensitive_features=convert(train.sensitive_features),
    )
    groups = convert(test.sensitive_features)
    predicted = fitted.predict(test.data, sensitive_features=groups)
    np.testing.assert_array_equal(predicted, expected)


@quick_method
def test_a_second_training_forgets_the_first(method, moved, three_groups, fit, predict):
    _, test = moved
    once = fit(clone(method), test)
    twice = fit(fit(clone(method), three_groups), test)
    np.testing.assert_array_equal(predict(twice, test), predict(once, test))


@quick_method
def test_prediction_does_not_change_the_method(method, moved, fit, predict):
    train, test = moved
    fitted = fit(clone(method), train)
    first = predict(fitted, test)
    predict(fitted, train)
    np.testing.assert_array_equal(predict(fitted, test), first)


@quick_method
def test_labels_may_be_any_two_values(method, moved, fit_predict):
    """The greater of the two is positive; the decisions stay the same."""
    expected = fit_predict(clone(method), moved)
    train, test = moved
    words = np.where(train.target == 1, "yes", "no")
    fitted = clone(method)
    fitted.fit(train.data, words, sensitive_features=train.sensitive_features)
    predicted = fitted.predict(test.data, sensitive_features=test.sensitive_features)
    np.testing.assert_array_equal(predicted == "yes", expected == 1)
