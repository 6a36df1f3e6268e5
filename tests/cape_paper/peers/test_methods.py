"""Methods by name: one interface, and none can be handed a test label."""

import inspect

import pytest
from sklearn.base import clone

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.metrics import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equalized_odds_difference,
    false_positive_rate_difference,
    proportional_equality,
)
from cape.rules import RULES, make_rule
from cape_paper import published
from cape_paper._peers import (
    METHODS,
    CalibratedEqOdds,
    FairlearnReduction,
    FairlearnThreshold,
    MetaFair,
    RejectOption,
    make_method,
    missing_packages,
)

FAMILIES = {"CAPE", "baseline", "pre", "in", "post"}
INSTALLED = [name for name in METHODS if not missing_packages(name)]
# MetaFair takes seconds even of few rows; its own tests train it twice.
QUICK = [
    name
    for name in INSTALLED
    if not METHODS[name].slow and not name.startswith("Meta-fair")
]
every_name = pytest.mark.parametrize("name", list(METHODS))


def test_every_row_of_the_papers_table_has_a_method():
    for rows in published()["table_results"].values():
        assert set(rows) <= set(METHODS)


@every_name
def test_the_interface_is_fit_and_predict_and_predict_takes_no_labels(name, learner):
    method = make_method(name, learner, seed=1)
    fit_parameters = inspect.signature(method.fit).parameters
    assert {"X", "y", "sensitive_features"} <= set(fit_parameters)
    predict_parameters = inspect.signature(method.predict).parameters
    assert set(predict_parameters) <= {"X", "sensitive_features", "adaptation"}


@every_name
def test_a_method_says_what_it_is(name):
    method = METHODS[name]
    assert method.family in FAMILIES
    assert len(method.about) > 10
    assert set(method.needs) <= {"aif360", "fairlearn", "tensorflow"}


@every_name
def test_a_method_of_a_library_names_the_library_in_what_it_says(name):
    method = METHODS[name]
    assert ("aif360" in method.needs) == method.about.startswith("AIF360")
    assert ("fairlearn" in method.needs) == method.about.startswith("Fairlearn")


@every_name
def test_the_seed_reaches_methods_that_draw(name, learner):
    method = make_method(name, learner, seed=17)
    if METHODS[name].random:
        assert method.random_state == 17


@every_name
def test_each_call_makes_a_new_object_around_the_same_learner(name, learner):
    first = make_method(name, learner)
    second = make_method(name, learner)
    assert first is not second
    # With nothing set, CAPE chooses its learner by itself.
    expected = None if name == "CAPE default" else learner
    assert getattr(first, "estimator", expected) is expected
    assert repr(clone(first)) == repr(second)


@pytest.mark.parametrize("name", QUICK)
def test_predicts_a_label_for_every_row_the_same_each_time(
    name, learner, moved, fit_predict
):
    first = fit_predict(make_method(name, learner, seed=1), moved)
    second = fit_predict(make_method(name, learner, seed=1), moved)
    assert first.tolist() == second.tolist()
    assert len(first) == len(moved[1].target)
    assert set(first) <= {0, 1}


@pytest.mark.parametrize(
    ("name", "kind", "parameter", "value"),
    [
        ("Meta-fair-sr", MetaFair, "kind", "sr"),
        ("Meta-fair-fdr", MetaFair, "kind", "fdr"),
        ("CEOP-fpr", CalibratedEqOdds, "cost", "fpr"),
        ("CEOP-fnr", CalibratedEqOdds, "cost", "fnr"),
        ("CEOP-weighted", CalibratedEqOdds, "cost", "weighted"),
        ("ROC-spd", RejectOption, "metric", "spd"),
        ("ROC-aod", RejectOption, "metric", "aod"),
        ("ROC-eod", RejectOption, "metric", "eod"),
        ("ExpGrad-dp", FairlearnReduction, "constraint", "demographic_parity"),
        ("ExpGrad-eo", FairlearnReduction, "constraint", "equalized_odds"),
        ("ThresholdOpt-dp", FairlearnThreshold, "constraint", "demographic_parity"),
        ("ThresholdOpt-eo", FairlearnThreshold, "constraint", "equalized_odds"),
    ],
)
def test_the_end_of_a_name_is_the_setting(name, kind, parameter, value, learner):
    method = make_method(name, learner)
    assert type(method) is kind
    assert getattr(method, parameter) == value


def test_the_favourable_label_reaches_aif360_alone(learner):
    for name, method in METHODS.items():
        made = make_method(name, learner, favourable="negative")
        if "aif360" in method.needs:
            assert made.favourable == "negative"
        else:
            assert not hasattr(made, "favourable")


def test_cape_d_is_the_papers_configuration_and_cape_default_ours(learner):
    paper = CapeClassifier.paper(estimator=learner, random_state=0)
    assert make_method("CAPE-D", learner).get_params() == paper.get_params()
    default = CapeClassifier(random_state=0)
    assert make_method("CAPE default", learner).get_params() == default.get_params()


RULED = {
    "CAPE demographic parity": ("demographic_parity", demographic_parity_difference),
    "CAPE equal opportunity": ("equal_opportunity", equal_opportunity_difference),
    "CAPE predictive equality": ("predictive_equality", false_positive_rate_difference),
    "CAPE equalized odds": ("equalized_odds", equalized_odds_difference),
    "CAPE proportional equality": ("proportional_equality", proportional_equality),
    "CAPE accuracy": ("accuracy", None),
}


@pytest.mark.parametrize(("name", "rule"), [(n, r) for n, (r, _) in RULED.items()])
def test_a_method_named_after_a_rule_has_the_rule_and_the_learner(name, rule, learner):
    method = make_method(name, learner, seed=3)
    expected = CapeClassifier(learner, rule=make_rule(rule), random_state=3)
    assert method.get_params() == expected.get_params()


def test_every_rule_has_a_method_except_the_default():
    """Two names of rules are Fairlearn's, of rules that have a method already."""
    compared = {make_rule(rule) for rule, _ in RULED.values()}
    rules = {make_rule(rule) for rule in RULES}
    assert rules - compared == {make_rule("prevalence")}


@pytest.fixture(scope="module")
def far_apart():
    """Enough rows to measure a criterion, and prevalences that moved far."""
    train = make_synthetic(3000, random_state=0)
    return train, make_synthetic(3000, prevalences=(0.2, 0.8), random_state=1)


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("CAPE demographic parity", 0.01),
        ("CAPE equal opportunity", 0.06),
        ("CAPE predictive equality", 0.06),
        ("CAPE equalized odds", 0.08),
        ("CAPE proportional equality", 0.3),
    ],
)
def test_a_rule_keeps_its_criterion_in_rows_whose_prevalences_moved(
    name, most, learner, far_apart, fit_predict
):
    _, metric = RULED[name]
    y_pred = fit_predict(make_method(name, learner), far_apart)
    test = far_apart[1]
    groups = {"sensitive_features": test.sensitive_features}
    assert metric(test.target, y_pred, **groups) <= most


def test_the_four_fifths_rule_is_kept(learner, moved, fit_predict):
    y_pred = fit_predict(make_method("CAPE four-fifths", learner), moved)
    test = moved[1]
    ratio = demographic_parity_ratio(
        test.target, y_pred, sensitive_features=test.sensitive_features
    )
    assert ratio >= 0.8


def test_reject_option_has_aif360s_own_grid(learner):
    method = make_method("ROC-spd", learner)
    assert method.thresholds == 100
    assert method.margins == 50


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("cape_paper._methods.find_spec", lambda package: None)
    assert missing_packages("AD") == ["aif360", "tensorflow"]
    assert missing_packages("ThresholdOpt-dp") == ["fairlearn"]
    assert missing_packages("CAPE-D") == []


def test_an_unknown_name_is_an_error(learner):
    with pytest.raises(ValueError, match="name must be one of 'CAPE-D'"):
        make_method("Magic", learner)
