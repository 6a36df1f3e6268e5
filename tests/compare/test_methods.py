"""Methods by name: one interface, and none can see a test label."""

import inspect

import pytest

from cape.compare import METHODS, RejectOption, make_method, missing_packages
from cape.experiments import published

QUICK = [
    name
    for name, method in METHODS.items()
    if not method.slow and not missing_packages(name)
]


def test_every_row_of_the_papers_table_has_a_method():
    printed = {name for rows in published()["table_results"].values() for name in rows}
    assert printed <= set(METHODS)


@pytest.mark.parametrize("name", list(METHODS))
def test_the_interface_is_fit_and_predict_and_predict_takes_no_labels(name, learner):
    method = make_method(name, learner, seed=1)
    assert {"X", "y", "sensitive_features"} <= set(
        inspect.signature(method.fit).parameters
    )
    accepted = set(inspect.signature(method.predict).parameters)
    assert accepted <= {"X", "sensitive_features", "adaptation"}


@pytest.mark.parametrize("name", QUICK)
def test_predicts_a_label_for_every_row_the_same_each_time(name, learner, moved):
    train, test = moved
    predicted = []
    for _ in range(2):
        method = make_method(name, learner, seed=1)
        method.fit(
            train.data, train.target, sensitive_features=train.sensitive_features
        )
        predicted.append(
            method.predict(test.data, sensitive_features=test.sensitive_features)
        )
    assert (predicted[0] == predicted[1]).all()
    assert len(predicted[0]) == len(test.target) and set(predicted[0]) <= {0, 1}


def test_the_favourable_label_reaches_aif360_alone(learner):
    assert (
        make_method("Reweigh", learner, favourable="negative").favourable == "negative"
    )
    assert not hasattr(
        make_method("CAPE-D", learner, favourable="negative"), "favourable"
    )


def test_reject_option_has_aif360s_own_grid(learner):
    method = make_method("ROC-spd", learner)
    assert isinstance(method, RejectOption) and (method.thresholds, method.margins) == (
        100,
        50,
    )


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("cape.compare._methods.find_spec", lambda package: None)
    assert missing_packages("AD") == ["aif360", "tensorflow"]
    assert missing_packages("CAPE-D") == []


def test_an_unknown_name_is_an_error(learner):
    with pytest.raises(ValueError, match="name must be one of 'CAPE-D'"):
        make_method("Magic", learner)
