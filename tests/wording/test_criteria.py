"""What is said of criteria and rules."""

import numpy as np
import pytest

from cape._wording._criteria import (
    CRITERION_NAMES,
    RULE_NAMES,
    bound_sentence,
    criterion_interval,
    rule_sentence,
)
from cape.rules import CRITERIA, RULES, Constrained
from cape.rules._bounded import BoundedRule, describe_rule, make_rule

TPR = "equal_opportunity_difference"


def entry(name, value=0.04, low=0.0, high=0.12, bound=None, probability=None):
    return {
        "criterion": name,
        "value": value,
        "low": low,
        "high": high,
        "bound": bound,
        "probability": probability,
    }


def said_of(rule):
    bounds = rule.bounds if isinstance(rule, BoundedRule) else {}
    return rule_sentence(describe_rule(rule)["name"], bounds)


def test_every_criterion_and_rule_has_a_name():
    assert set(CRITERION_NAMES) == {"accuracy", *CRITERIA}
    own_names = {describe_rule(make_rule(name))["name"] for name in RULES}
    assert set(RULE_NAMES) == {*own_names, "constrained"}


@pytest.mark.parametrize("name", sorted(RULES))
def test_every_rule_is_said_in_a_sentence(name):
    sentence = said_of(make_rule(name))
    assert sentence.endswith(".") and "None" not in sentence


def test_the_sentence_of_a_rule_has_its_bounds():
    bounds = {"proportional_equality": 0.1, "demographic_parity_ratio": 0.8}
    sentence = said_of(Constrained(**bounds))
    assert "PE) of at most 0.1 and a ratio" in sentence
    assert "(four-fifths rule) of at least 0.8" in sentence
    assert "MiddleMember" in rule_sentence("MiddleMember", {})


def test_the_probability_is_said():
    sentence = bound_sentence(entry(TPR, bound=0.05, probability=0.6123), 0.05)
    assert sentence == (
        "Difference of true positive rates: 0.040 is expected (0.000 to 0.120); at "
        "most 0.05 was asked for, which this batch meets with probability 0.61."
    )


def test_what_is_observed_is_not_expected():
    known = entry("demographic_parity_ratio", 0.81, 0.81, 0.81, 0.8, 1.0)
    sentence = bound_sentence(known, 0.8)
    assert "0.810, as observed in this batch; at least 0.8" in sentence
    assert "four-fifths" in sentence


def test_a_rule_without_a_tolerance_has_no_probability():
    sentence = bound_sentence(entry(TPR), None)
    assert sentence.endswith("0.040 is expected (0.000 to 0.120).")


def test_an_undefined_criterion_is_said_to_be_unknown():
    assert "cannot be told" in bound_sentence(entry(TPR, None, 0.0, None), 0.05)


def test_intervals_may_be_open_or_observed():
    endless = entry("proportional_equality", 0.4, 0.1, None)
    assert criterion_interval(endless) == "0.100 or more"
    assert criterion_interval(entry(TPR)) == "0.000 to 0.120"
    # Quantiles of equal numbers differ in their last digit.
    known = entry("demographic_parity_ratio", 0.4, 0.4, np.nextafter(0.4, 1))
    assert criterion_interval(known) == "observed"
